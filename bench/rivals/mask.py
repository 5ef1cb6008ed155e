#!/usr/bin/env python3
"""Training steps of weight masks on a frozen network, and of its weights, in PyTorch on one thread.

    python3 bench/rivals/mask.py --hidden 800,800,800,800 --what masks --steps 5
    python3 bench/rivals/mask.py --state 256 --layers 2 --what masks --steps 20 --tuned

As published: a mask's noise is the difference of two Gumbel numbers, from two uniform ones with two logarithms; K samples
of every weight are multiplied with it, straight through; batched products; the penalty on the logits, the length of
the gradient and torch.optim.Adam. The weights keep their gradients, as they do there. mask_tuned.py is the same with no
needless work.
"""

import argparse
import json
import math
import time

import torch
from torch import nn
from torch.nn import functional

import common

ALPHA = 1e-4 / 128
EPSILON = 1e-10
STEPS_SHOWN = 3  # of an LSTM


def batches(rows, count):
    """Two numbers of two digits and an operation, as one-hot inputs; two digits of the result."""
    found = []
    for _ in range(count):
        a, b, op = torch.randint(100, (rows,)), torch.randint(100, (rows,)), torch.randint(2, (rows,))
        result = torch.where(op == 0, a + b, a * b) % 100
        digits = [functional.one_hot(digit, 10) for digit in (a % 10, a // 10, b % 10, b // 10)]
        inputs = torch.cat([*digits, functional.one_hot(op, 2)], 1).float()
        found.append((inputs, torch.stack([result % 10, result // 10], 1)))
    return found


def initial_weights(shape):
    """Names, and tensors as PyTorch has them."""
    found = {}

    def linear(name, inputs, outputs):
        bound = 1 / math.sqrt(inputs)
        found[name + ".weight"] = torch.empty(outputs, inputs).uniform_(-bound, bound)
        found[name + ".bias"] = torch.empty(outputs).uniform_(-bound, bound)

    if shape.state == 0:
        widths = [42, *shape.hidden, 20]
        for layer in range(len(widths) - 1):
            linear(f"layers.{layer}", widths[layer], widths[layer + 1])
        return found
    h = shape.state
    for layer in range(shape.layers):
        below = 42 if layer == 0 else h
        found[f"lstm_cells.{layer}.weight_ih"] = torch.randn(4 * h, below) * math.sqrt(1 / (below + h))
        found[f"lstm_cells.{layer}.weight_hh"] = torch.randn(4 * h, h) * math.sqrt(1 / (2 * h))
        found[f"lstm_cells.{layer}.bias"] = torch.cat([torch.zeros(h), torch.ones(h), torch.zeros(2 * h)])
    linear("output_projection", h, 20)
    return found


class Network:
    """Forward passes with weights [output, input], or [K, output, input] and rows in K blocks."""

    def __init__(self, shape):
        self.shape = shape

    def product(self, x, weight, bias=None):
        if weight.dim() == 2:
            return functional.linear(x, weight, bias)
        blocks = x.view(weight.shape[0], -1, x.shape[-1])
        y = torch.bmm(blocks, weight.transpose(1, 2)).reshape(x.shape[0], -1)
        return y if bias is None else y + bias

    def __call__(self, weights, x):
        if self.shape.state == 0:
            for layer in range(len(self.shape.hidden) + 1):
                if layer > 0:
                    x = torch.relu(x)
                x = self.product(x, weights[f"layers.{layer}.weight"], weights[f"layers.{layer}.bias"])
            return x
        states = [(x.new_zeros(x.shape[0], self.shape.state),) * 2 for _ in range(self.shape.layers)]
        for _ in range(STEPS_SHOWN):
            y = x
            for layer in range(self.shape.layers):
                name = f"lstm_cells.{layer}."
                h, c = states[layer]
                z = self.product(y, weights[name + "weight_ih"], weights[name + "bias"])
                z = z + self.product(h, weights[name + "weight_hh"])
                i, f, g, o = z.chunk(4, 1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                y = torch.sigmoid(o) * torch.tanh(c)
                states[layer] = (y, c)
        return self.product(y, weights["output_projection.weight"], weights["output_projection.bias"])


def published_mask(logits, samples):
    """Samples of a mask as published: two uniform numbers and two logarithms each, cut to 0 or 1 straight through."""
    uniform = torch.rand(2, samples, *logits.shape)
    noise = -torch.log(torch.log(uniform[0] + EPSILON) / torch.log(uniform[1] + EPSILON) + EPSILON)
    soft = torch.sigmoid(logits + noise)
    hard = (soft > 0.5).float()
    return (hard - soft).detach() + soft


def task_loss(said, digits):
    return functional.cross_entropy(said.view(-1, 10), digits.reshape(-1))


class WeightTrainer:
    def __init__(self, shape):
        self.network = Network(shape)
        self.weights = {name: nn.Parameter(value) for name, value in initial_weights(shape).items()}
        self.optimizer = torch.optim.Adam(self.weights.values(), lr=1e-3)

    def step(self, inputs, digits):
        loss = task_loss(self.network(self.weights, inputs), digits)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.weights.values(), 1.0)
        self.optimizer.step()
        return loss.item()


class MaskTrainer:
    def __init__(self, shape):
        self.samples = shape.samples
        self.network = Network(shape)
        self.weights = {name: nn.Parameter(value) for name, value in initial_weights(shape).items()}
        self.logits = {name: nn.Parameter(torch.full_like(value, 2.0))
                       for name, value in self.weights.items() if not name.endswith("bias")}
        self.optimizer = torch.optim.Adam(self.logits.values(), lr=1e-2)

    def step(self, inputs, digits):
        masked = {name: weight * published_mask(self.logits[name], self.samples) if name in self.logits else weight
                  for name, weight in self.weights.items()}
        loss = task_loss(self.network(masked, inputs), digits)
        total = loss + ALPHA * sum(logits.sum() for logits in self.logits.values())
        self.optimizer.zero_grad()
        total.backward()
        nn.utils.clip_grad_norm_(self.logits.values(), 1.0)
        self.optimizer.step()
        return loss.item()


def measure(arguments):
    import mask_tuned  # which is made of what is defined here

    torch.manual_seed(arguments.seed)
    kinds = {"weights": (WeightTrainer, mask_tuned.WeightTrainer), "masks": (MaskTrainer, mask_tuned.MaskTrainer)}
    trainer = kinds[arguments.what][1 if arguments.tuned else 0](arguments)
    data = batches(arguments.batch, 8)
    best, best_processor, loss = math.inf, math.inf, 0
    trainer.step(*data[0])
    for step in range(arguments.steps):
        start, processor_start = time.perf_counter(), time.process_time()
        loss = trainer.step(*data[step % len(data)])
        best = min(best, time.perf_counter() - start)
        best_processor = min(best_processor, time.process_time() - processor_start)
    return {"us_per_step": round(1e6 * best, 1), "processor_us_per_step": round(1e6 * best_processor, 1), "loss": loss}


def parse_arguments():
    parser = argparse.ArgumentParser(description="Weight masks in PyTorch.")
    parser.add_argument("--hidden", type=lambda text: [int(width) for width in text.split(",")], default=[400, 400, 200])
    parser.add_argument("--state", type=int, default=0, help="units of an LSTM cell; 0: fully connected layers")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--what", choices=("weights", "masks"), default="masks")
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tuned", action="store_true", help="the same training with fewer operations")
    return parser.parse_args()


def main():
    report = measure(parse_arguments())
    report["torch"] = torch.__version__
    report["blas"] = "openblas" if common.uses_openblas() else "other"
    print(json.dumps(report))


if __name__ == "__main__":
    main()
