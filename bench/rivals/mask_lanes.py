#!/usr/bin/env python3
"""Training steps of weight masks over one small network (6-36-36-36-2, depth 2) in PyTorch on one thread.

    python3 bench/rivals/mask_lanes.py --steps 50              one mask, as published
    python3 bench/rivals/mask_lanes.py --steps 20 --stack 256  so many masks at once, stacked by hand, no needless work
"""

import argparse
import json
import math
import time

import torch
from torch import nn
from torch.nn import functional

import common
from mask import published_mask

WIDTHS = [6, 36, 36, 36, 2]
ALPHA = 1e-2 / 128


def truth_table():
    """The rows of depth 2: XOR of pairs, then AND of neighbours."""
    rows = torch.arange(64)
    bits = torch.stack([(rows >> (5 - place)) & 1 for place in range(6)], 1)
    xors = [bits[:, 2 * pair] ^ bits[:, 2 * pair + 1] for pair in range(3)]
    return bits.float(), torch.stack([xors[0] & xors[1], xors[1] & xors[2]], 1).float()


def initial_weights():
    found = []
    for inputs, outputs in zip(WIDTHS, WIDTHS[1:]):
        bound = 1 / math.sqrt(inputs)
        found.append((torch.empty(outputs, inputs).uniform_(-bound, bound), torch.empty(outputs).uniform_(-bound, bound)))
    return found


class OneMask:
    """The published expression: two uniform numbers and two logarithms for each weight and sample."""

    def __init__(self, samples):
        self.samples = samples
        self.weights = initial_weights()
        self.logits = [nn.Parameter(torch.full_like(weight, 2.0)) for weight, _ in self.weights]
        self.optimizer = torch.optim.Adam(self.logits, lr=1e-2)

    def step(self, inputs, targets):
        x = inputs.view(self.samples, -1, inputs.shape[-1])
        for layer, (weight, bias) in enumerate(self.weights):
            x = torch.relu(x) if layer > 0 else x
            x = torch.baddbmm(bias, x, (weight * published_mask(self.logits[layer], self.samples)).transpose(1, 2))
        loss = functional.binary_cross_entropy_with_logits(x.reshape(-1, 2), targets)
        total = loss + ALPHA * sum(logits.sum() for logits in self.logits)
        self.optimizer.zero_grad()
        total.backward()
        nn.utils.clip_grad_norm_(self.logits, 1.0)
        self.optimizer.step()
        return loss.item()


class ManyMasks:
    """Masks side by side: one uniform number, no logarithm, batched over masks and samples, Adam written out."""

    def __init__(self, samples, stack):
        self.samples, self.stack = samples, stack
        self.weights = initial_weights()
        self.logits = [nn.Parameter(torch.full((stack, 1, *weight.shape), 2.0)) for weight, _ in self.weights]
        self.first = [torch.zeros_like(logits) for logits in self.logits]
        self.second = [torch.zeros_like(logits) for logits in self.logits]
        self.steps = 0

    def mask(self, logits):
        uniform = torch.rand(self.stack, self.samples, *logits.shape[2:])
        soft = uniform / torch.addcmul(uniform, 1 - uniform, torch.exp(-logits))
        return ((soft > 0.5).float() - soft).detach() + soft

    def step(self, inputs, targets):
        rows = inputs.view(self.stack * self.samples, -1, inputs.shape[-1])
        x = rows
        for layer, (weight, bias) in enumerate(self.weights):
            x = torch.relu(x) if layer > 0 else x
            masked = (weight * self.mask(self.logits[layer])).view(self.stack * self.samples, *weight.shape)
            x = torch.baddbmm(bias, x, masked.transpose(1, 2))
        loss = functional.binary_cross_entropy_with_logits(x.reshape(-1, 2), targets) * self.stack
        gradients = torch.autograd.grad(loss, self.logits)
        self.steps += 1
        with torch.no_grad():
            for logits, gradient, first, second in zip(self.logits, gradients, self.first, self.second):
                gradient = gradient + ALPHA
                first.lerp_(gradient, 0.1)
                second.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
                scale = math.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps)
                logits.addcdiv_(first, second.sqrt().add_(1e-8), value=-1e-2 * scale)
        return loss.item() / self.stack


def main():
    parser = argparse.ArgumentParser(description="Masks over a small network in PyTorch.")
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--stack", type=int, default=0, help="masks at once; 0: one, as published")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    inputs, targets = truth_table()
    masks = max(1, arguments.stack)
    trainer = ManyMasks(arguments.samples, masks) if arguments.stack else OneMask(arguments.samples)
    best, loss = math.inf, 0
    for step in range(arguments.steps + 3):
        start = time.process_time()
        rows = torch.randint(64, (arguments.batch * masks,))
        loss = trainer.step(inputs[rows], targets[rows])
        if step >= 3:  # the first ones make room
            best = min(best, time.process_time() - start)
    print(json.dumps({"us_per_mask_step": round(1e6 * best / masks, 2), "loss": loss, "torch": torch.__version__,
                      "blas": "openblas" if common.uses_openblas() else "other"}))


if __name__ == "__main__":
    main()
