#!/usr/bin/env python3
"""Trains the mask of an operation once more in PyTorch, over networks that `modlab mask --task add-mul --save DIR` left.

    ./modlab mask --task add-mul --hidden 400,400,200 --steps 10000 --mask-steps 10000 --controls false --save out
    python3 bench/rivals/check_mask.py out                    the same networks, the mask of addition
    python3 bench/rivals/check_mask.py out --own-weights      networks of the same settings that PyTorch trains as well

Prints, of both, the weights that are kept in each layer and how questions are answered, and ends with 1 if the number of
kept weights is more than 5 % apart, or accuracy more than a point. With --own-weights networks differ, and so do
their masks: then it only prints.
"""

import argparse
import json
import pathlib
import struct
import sys

import mask
import numpy
import torch
from torch import nn
from torch.nn import functional

OPERATIONS = ("add", "mul")


def read_safetensors(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    found = {}
    for name, about in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__":
            begin, end = (8 + size + offset for offset in about["data_offsets"])
            found[name] = torch.from_numpy(numpy.frombuffer(data[begin:end], "<f4").reshape(about["shape"]).copy())
    return found


def questions(a, b, operation):
    digits = [functional.one_hot(digit, 10) for digit in (a % 10, a // 10, b % 10, b // 10)]
    return torch.cat([*digits, functional.one_hot(operation, 2)], 1).float()


def results(a, b, operation):
    return torch.where(operation == 0, a + b, a * b) % 100


def draw(rows, operation=None):
    a, b = torch.randint(100, (rows,)), torch.randint(100, (rows,))
    asked = torch.randint(2, (rows,)) if operation is None else torch.full((rows,), operation)
    right = results(a, b, asked)
    return questions(a, b, asked), torch.stack([right % 10, right // 10], 1)


def trained_weights(run):
    shape = argparse.Namespace(hidden=run["hidden"], state=0, layers=0)
    trainer = mask.WeightTrainer(shape)
    for _ in range(run["steps"]):
        trainer.step(*draw(run["batch_size"]))
    return {name: value.detach() for name, value in trainer.weights.items()}


def trained_mask(run, weights, operation):
    """The logits. As the logit of a uniform number is a logistic one, no quotient of exponentials can overflow."""
    network = mask.Network(argparse.Namespace(hidden=run["hidden"], state=0))
    logits = {name: nn.Parameter(torch.full_like(value, run["mask_init"])) for name, value in weights.items()
              if name.endswith("weight")}
    optimizer = torch.optim.Adam(logits.values(), lr=run["mask_lr"])
    alpha = run["beta_used"] / run["mask_batch"]
    for _ in range(run["mask_steps"]):
        masked = dict(weights)
        for name, logit in logits.items():
            uniform = torch.rand(run["samples"], *logit.shape)
            soft = torch.sigmoid(logit + torch.logit(uniform, 1e-7))
            masked[name] = weights[name] * (((soft > 0.5).float() - soft).detach() + soft)
        inputs, digits = draw(run["mask_batch"], operation)
        loss = mask.task_loss(network(masked, inputs), digits) + alpha * sum(logit.sum() for logit in logits.values())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(logits.values(), run["mask_clip"])
        optimizer.step()
    return {name: logit.detach() for name, logit in logits.items()}


def answers(run, weights):
    """[asked for][answered with] percent of all questions of two-digit numbers."""
    network = mask.Network(argparse.Namespace(hidden=run["hidden"], state=0))
    numbers = torch.arange(10_000)
    a, b = numbers % 100, numbers // 100
    found = []
    for asked in range(2):
        said = network(weights, questions(a, b, torch.full_like(a, asked))).view(-1, 2, 10).argmax(2)
        said = said[:, 0] + 10 * said[:, 1]
        found.append([100 * (said == results(a, b, torch.full_like(a, other))).float().mean().item()
                      for other in range(2)])
    return found


def shown(who, kept, percents):
    layers = ", ".join(f"{count}" for count in kept)
    asked = "; ".join(f"asked to {OPERATIONS[at]}: sum {row[0]:.1f} %, product {row[1]:.1f} %"
                      for at, row in enumerate(percents))
    print(f"  {who:8} keeps {sum(kept)} ({layers}); {asked}", flush=True)


def check(folder, identity, arguments):
    run = json.loads((folder / f"{identity}.json").read_text())
    if run["task"] != "add-mul" or run["network"] != "fnn" or run["digits"] != 2:
        sys.exit(f"{identity} is no feed-forward network on two-digit add-mul")
    operation = OPERATIONS.index(arguments.target)
    weights = read_safetensors(folder / f"{identity}.network.safetensors")
    ours = read_safetensors(folder / f"{identity}.masked-{arguments.target}.safetensors")
    names = [name for name in weights if name.endswith("weight")]
    our_kept = [int((ours[name] != 0).sum()) for name in names]
    our_answers = answers(run, ours)
    print(f"{identity}, seed {run['seed']}, mask of {arguments.target}")
    shown("ours", our_kept, our_answers)
    if arguments.own_weights:
        weights = trained_weights(run)
    logits = trained_mask(run, weights, operation)
    masked = {name: value * (logits[name] > 0) if name in logits else value for name, value in weights.items()}
    kept = [int((logits[name] > 0).sum()) for name in names]
    percents = answers(run, masked)
    shown("PyTorch", kept, percents)
    return arguments.own_weights or (
        abs(sum(kept) / sum(our_kept) - 1) < 0.05
        and abs(percents[operation][operation] - our_answers[operation][operation]) < 1
    )


def main():
    parser = argparse.ArgumentParser(description="Masks of ours against PyTorch's.")
    parser.add_argument("folder", type=pathlib.Path, help="of modlab mask --save")
    parser.add_argument("--target", choices=OPERATIONS, default="add")
    parser.add_argument("--own-weights", action="store_true", help="PyTorch trains the networks too")
    parser.add_argument("--most", type=int, default=100, help="networks to look at")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    found = sorted(path.name.split(".")[0] for path in arguments.folder.glob("*.network.safetensors"))
    if not found:
        sys.exit(f"{arguments.folder} has no networks; make some with `modlab mask --save`")
    checks = [check(arguments.folder, identity, arguments) for identity in found[: arguments.most]]
    sys.exit(0 if all(checks) else 1)


if __name__ == "__main__":
    main()
