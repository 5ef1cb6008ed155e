#!/usr/bin/env python3
"""Records ten training steps of networks on digits in PyTorch: of their weights, and of masks over them; of networks on
numbers, of masks and weights together, some of which stay as they are.

Usage: python3 tests/parity/make_digit_fixtures.py

Writes fixtures/digits-NAME.safetensors beside this file. The uniform numbers of the masks are those of the engine: its
generator is written out here.
"""

import json
import os
import pathlib

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy
import torch
from torch import nn
from torch.nn import functional

from tensor_file import write_tensors

STEPS = 10
# A run is recorded only if the same run in float64 stays this close: then rounding does not matter.
ROUNDING_DRIFT = {"weights": 1e-6, "masks": 2e-5, "weights with masks": 5e-6}
SEEDS_TRIED = 100
ROTATIONS = ((10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20))
ROUNDS, PARITY, MASK_NOISE = 13, 0x1BD11BDA, 11


def threefry(counter, key):
    """Four arrays of words for four words, each a number or an array."""
    words = [numpy.asarray(word, dtype=numpy.uint64) for word in counter]
    schedule = [*key, PARITY ^ key[0] ^ key[1] ^ key[2] ^ key[3]]
    low = numpy.uint64(0xFFFFFFFF)
    x = [(word + numpy.uint64(part)) & low for word, part in zip(words, schedule)]
    for turn in range(ROUNDS):
        first = 1 if turn % 2 == 0 else 3
        for to, by, bits in ((0, first, ROTATIONS[turn % 8][0]), (2, 4 - first, ROTATIONS[turn % 8][1])):
            x[to] = (x[to] + x[by]) & low
            x[by] = ((x[by] << numpy.uint64(bits) | x[by] >> numpy.uint64(32 - bits)) & low) ^ x[to]
        if turn % 4 == 3:
            injection = turn // 4 + 1
            x = [(word + numpy.uint64(schedule[(injection + place) % 5])) & low for place, word in enumerate(x)]
            x[3] = (x[3] + numpy.uint64(injection)) & low
    return x


def uniforms(seed, stage, step, call, tensor, samples, count):
    """[sample, weight]: how far the words' upper 31 bits are from 1."""
    found = []
    for group in range((samples + 3) // 4):
        words = threefry((numpy.arange(count), step, call << 16 | tensor << 8 | group, 0),
                         (seed & 0xFFFFFFFF, seed >> 32, MASK_NOISE, stage))
        found += [1 - ((numpy.broadcast_to(word, (count,)) >> numpy.uint64(1)).astype(numpy.float64) + 0.5) * 2.0**-31
                  for word in words]
    return torch.from_numpy(numpy.stack(found[:samples]))


class Fnn(nn.Module):
    def __init__(self, case):
        super().__init__()
        widths = [case["inputs"], *case["hidden"], case["outputs"]]
        self.layers = nn.ModuleList(nn.Linear(below, width) for below, width in zip(widths, widths[1:]))

    def forward(self, shown, weights):
        x = shown[:, 0]
        for layer, linear in enumerate(self.layers):
            x = functional.linear(x, weights[f"layers.{layer}.weight"], weights[f"layers.{layer}.bias"])
            x = torch.relu(x) if layer + 1 < len(self.layers) else x
        return [x]


class Cell(nn.Module):
    def __init__(self, inputs, state):
        super().__init__()
        self.weight_ih = nn.Parameter(torch.randn(4 * state, inputs) / (inputs + state) ** 0.5)
        self.weight_hh = nn.Parameter(torch.randn(4 * state, state) / (2 * state) ** 0.5)
        self.bias = nn.Parameter(torch.cat([torch.zeros(state), torch.ones(state), torch.zeros(2 * state)]))


class Lstm(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.state = case["state"]
        self.lstm_cells = nn.ModuleList(
            Cell(case["inputs"] if layer == 0 else self.state, self.state) for layer in range(case["layers"]))
        self.output_projection = nn.Linear(self.state, case["outputs"])

    def forward(self, shown, weights):
        states = [[shown.new_zeros(len(shown), self.state) for _ in range(2)] for _ in self.lstm_cells]
        said = []
        for step in range(shown.shape[1]):
            x = shown[:, step]
            for layer, state in enumerate(states):
                name = f"lstm_cells.{layer}."
                z = x @ weights[name + "weight_ih"].t() + state[0] @ weights[name + "weight_hh"].t()
                i, f, g, o = (z + weights[name + "bias"]).chunk(4, 1)
                state[1] = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(g)
                state[0] = x = torch.sigmoid(o) * torch.tanh(state[1])
            said.append(functional.linear(x, weights["output_projection.weight"], weights["output_projection.bias"]))
        return said


CASES = {
    "fnn": {"kind": "fnn", "inputs": 24, "outputs": 20, "hidden": [20, 18], "steps": 1, "read_at": [0, 0]},
    "lstm": {"kind": "lstm", "inputs": 24, "outputs": 20, "state": 9, "layers": 2, "steps": 3, "read_at": [2, 2]},
    "lstm-forced": {"kind": "lstm", "inputs": 24, "outputs": 20, "state": 9, "layers": 2, "steps": 4, "read_at": [1, 3]},
    "fnn-numbers": {"kind": "fnn", "inputs": 26, "outputs": 10, "hidden": [20, 18], "steps": 1, "read_at": [0],
                    "numbers": True, "masks_biases": True, "samples": 8, "weight_lr": 0.01, "frozen_every": 5},
}
ROWS, ACTIVE, SAMPLES = 24, 3, 4
SETTINGS = {"lr": 3e-3, "clip": 0.5, "mask_lr": 0.05, "alpha": 1e-3, "mask_clip": 0.02, "stage": 2}


def draw_batches(case, seed):
    generator = torch.Generator().manual_seed(seed)
    if case.get("numbers"):
        return (torch.randn(STEPS, ROWS, 1, case["inputs"], generator=generator),
                torch.randint(10, (STEPS, ROWS, 1), generator=generator))
    third = case["inputs"] // ACTIVE
    inputs = torch.randint(third, (STEPS, ROWS, case["steps"], ACTIVE), generator=generator)
    inputs = inputs + third * torch.arange(ACTIVE)
    digits = torch.randint(10, (STEPS, ROWS, len(case["read_at"])), generator=generator)
    return inputs, digits


def what_is_shown(case, inputs, dtype):
    return inputs.to(dtype) if case.get("numbers") else functional.one_hot(inputs, case["inputs"]).sum(2).to(dtype)


def task_loss(case, said, digits):
    losses = []
    for group, step in enumerate(case["read_at"]):
        losses.append(functional.cross_entropy(said[step][:, 10 * group : 10 * group + 10], digits[:, group]))
    return sum(losses) / len(losses)


def flat(tensors):
    return torch.cat([tensor.detach().reshape(-1).double() for tensor in tensors])


def train(case, seed, dtype):
    torch.manual_seed(seed)
    network = (Fnn if case["kind"] == "fnn" else Lstm)(case).to(dtype)
    inputs, digits = draw_batches(case, seed)
    weights = dict(network.named_parameters())
    initial = flat(weights.values())
    found = {"initial": initial, "inputs": inputs.float(), "digits": digits.float()}
    optimizer = torch.optim.Adam(network.parameters(), lr=SETTINGS["lr"])
    losses = []
    for step in range(STEPS):
        shown = what_is_shown(case, inputs[step], dtype)
        loss = task_loss(case, network(shown, weights), digits[step])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), SETTINGS["clip"])
        optimizer.step()
        losses.append(loss.item())
    found.update(losses=torch.tensor(losses), trained=flat(weights.values()))

    # Masks over what the weights were in the beginning, so that both parts stand alone.
    masked_weights, stays, at = {}, {}, 0
    for name, weight in weights.items():
        places = torch.arange(at, at + weight.numel())
        masked_weights[name] = nn.Parameter(initial[places].view(weight.shape).to(dtype))
        stays[name] = (places % case.get("frozen_every", 1) == 0).view(weight.shape)
        at += weight.numel()
    masked = [name for name in masked_weights if case.get("masks_biases") or not name.endswith("bias")]
    logits = {name: nn.Parameter(torch.full_like(masked_weights[name], 1.0)) for name in masked}
    groups = [{"params": list(logits.values()), "lr": SETTINGS["mask_lr"]}]
    if "weight_lr" in case:
        groups.append({"params": list(masked_weights.values()), "lr": case["weight_lr"]})
    trained = [parameter for group in groups for parameter in group["params"]]
    optimizer = torch.optim.Adam(groups)
    samples = case.get("samples", SAMPLES)
    losses, part = [], ROWS // samples
    for step in range(STEPS):
        shown = what_is_shown(case, inputs[step], dtype)
        masks = {}
        for tensor, (name, weight) in enumerate(masked_weights.items()):
            if name in logits:
                u = uniforms(seed, SETTINGS["stage"], step, 0, tensor, samples, weight.numel())
                noise = (u.log() - (1 - u).log()).to(dtype).view(samples, *weight.shape)
                soft = torch.sigmoid(logits[name] + noise)
                masks[name] = ((soft > 0.5).to(dtype) - soft).detach() + soft
        loss = 0
        for sample in range(samples):
            kept = {name: value * masks[name][sample] if name in masks else value
                    for name, value in masked_weights.items()}
            rows = slice(sample * part, (sample + 1) * part)
            loss = loss + task_loss(case, network(shown[rows], kept), digits[step, rows]) / samples
        total = loss + SETTINGS["alpha"] * sum(value.sum() for value in logits.values())
        optimizer.zero_grad()
        total.backward()
        for name, weight in masked_weights.items():
            weight.grad[stays[name]] = 0
        nn.utils.clip_grad_norm_(trained, SETTINGS["mask_clip"])
        optimizer.step()
        losses.append(loss.item())
    found.update(mask_losses=torch.tensor(losses),
                 logits=flat([logits.get(name, torch.ones_like(value)) for name, value in masked_weights.items()]))
    if "weight_lr" in case:
        found.update(trained_with_masks=flat(masked_weights.values()))
    return found


def record(name, case, folder):
    for seed in range(SEEDS_TRIED):
        found, exact = train(case, seed, torch.float32), train(case, seed, torch.float64)
        drifts = {"weights": "trained", "masks": "logits"}
        drifts.update({"weights with masks": "trained_with_masks"} if "weight_lr" in case else {})
        drifts = {what: (found[key] - exact[key]).abs().max().item() for what, key in drifts.items()}
        if all(drift < ROUNDING_DRIFT[what] for what, drift in drifts.items()):
            settings = {**case, **SETTINGS, "rows": ROWS, "active": ACTIVE, "samples": case.get("samples", SAMPLES),
                        "seed": seed}
            write_tensors(folder / f"digits-{name}.safetensors", found, {"settings": json.dumps(settings)})
            print(f"{name}: seed {seed}, drifts {drifts}, {found['initial'].numel()} parameters")
            return
    raise SystemExit(f"{name}: every seed drifts")


def main():
    folder = pathlib.Path(__file__).parent / "fixtures"
    for name, case in CASES.items():
        record(name, case, folder)


if __name__ == "__main__":
    main()
