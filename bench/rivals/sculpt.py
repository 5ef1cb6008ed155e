#!/usr/bin/env python3
"""One trial of Neural Sculpting in idiomatic PyTorch: train, prune, train again, over the whole grid of first steps.

As in eager.py, this is what a careful researcher writes, one network at a time and without waste. The dense training is
shared by the whole grid, and what comes before the edges by all edge steps.
"""

import argparse
import json
import math
import time
from typing import NamedTuple

import common

import torch
from torch import nn
from torch.nn import functional

from eager import ADAM_FOREACH

UNIT_STEPS = (70, 65, 60, 55, 50, 45, 40, 35, 30, 25, 20, 15, 10, 5)
EDGE_STEPS = (2.5, 2.0, 1.5, 1.0, 0.5)
WEIGHT_DECAY, NOISE, THRESHOLD = 1e-4, 0.1, 100.0


class Table:
    """A truth table from hexadecimal words, one for each output, row 0 as the most significant bit."""

    def __init__(self, text):
        words = text.split(",")
        rows = 4 * len(words[0])
        inputs = rows.bit_length() - 1
        if rows != 1 << inputs or any(4 * len(word) != rows for word in words):
            raise ValueError("the words of a truth table have one length, a power of two")
        shifts = torch.arange(inputs - 1, -1, -1)
        self.inputs = ((torch.arange(rows).unsqueeze(1) >> shifts) & 1).float()  # [row, input]
        bits = [[(int(word, 16) >> (rows - 1 - row)) & 1 for word in words] for row in range(rows)]
        self.targets = torch.tensor(bits, dtype=torch.float32)  # [row, output]
        self.truth = self.targets > 0.5


class Mlp(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(below, above) for below, above in zip(widths, widths[1:]))
        for layer in self.layers:
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)

    def forward(self, values):
        """Logits."""
        return self.with_activations(values)[0]

    def with_activations(self, values):
        *hidden, output = self.layers
        activations = []
        for layer in hidden:
            values = torch.relu(layer(values))
            activations.append(values)
        return output(values), activations


class Network(NamedTuple):
    """Weights and biases in turns, zero where they are pruned, and a mask of each."""

    values: list
    masks: list

    def edges(self):
        return sum(int(mask.sum()) for mask in self.masks[::2])


class Trained(NamedTuple):
    network: Network
    accuracy: float  # percent of all bits


def pruned(network, weight_masks):
    """A bias goes with the last edge into its unit."""
    masks = []
    for mask in weight_masks:
        masks += [mask, mask.any(dim=1).float()]
    return Network([value * mask for value, mask in zip(network.values, masks)], masks)


def prune_units(network, scores, percent):
    """`scores` are of the hidden units, layer by layer; those that are gone have zero and count."""
    threshold = torch.quantile(torch.cat(scores), percent / 100)
    weight_masks = [mask.clone() for mask in network.masks[::2]]
    for layer, layer_scores in enumerate(scores):
        gone = layer_scores <= threshold
        weight_masks[layer][gone] = 0
        weight_masks[layer + 1][:, gone] = 0
    return pruned(network, weight_masks)


def prune_edges(network, percent):
    magnitudes = [weight.abs().double() for weight in network.values[::2]]
    threshold = torch.quantile(torch.cat([layer.flatten() for layer in magnitudes]), percent / 100)
    return pruned(network, [(layer > threshold).float() for layer in magnitudes])


class Trial:
    def __init__(self, table, arguments):
        torch.manual_seed(arguments.seed)
        self.table = table
        self.lr, self.batch, self.epochs = arguments.lr, arguments.batch, arguments.epochs
        self.model = Mlp([table.inputs.shape[1], *arguments.hidden, table.targets.shape[1]])
        self.parameters = list(self.model.parameters())
        self.data = [parameter.detach() for parameter in self.parameters]
        self.hidden_units = sum(arguments.hidden)
        self.weights = sum(value.numel() for value in self.data[::2])
        self.trainings = 0
        self.steps = 0

    def initial(self):
        return Network([value.clone() for value in self.data], [torch.ones_like(value) for value in self.data])

    def load(self, network):
        for value, loaded in zip(self.data, network.values):
            value.copy_(loaded)

    def step(self, optimizer, inputs, targets, masks):
        optimizer.zero_grad(set_to_none=True)
        functional.binary_cross_entropy_with_logits(self.model(inputs), targets).backward()
        optimizer.step()
        # Cheaper than masks in the forward pass, and the same: what is pruned is zero whenever it is used.
        for value, mask in zip(self.data, masks):
            value.mul_(mask)

    @torch.inference_mode()
    def evaluate(self):
        """Right bits and loss on the whole table, without noise."""
        logits = self.model(self.table.inputs)
        loss = functional.binary_cross_entropy_with_logits(logits, self.table.targets)
        return ((logits > 0) == self.table.truth).sum().item(), loss.item()

    def train(self, network):
        """Gives the most accurate of all epochs' networks, of several the one with the lowest loss."""
        self.trainings += 1
        self.load(network)
        optimizer = torch.optim.Adam(self.parameters, lr=self.lr, weight_decay=WEIGHT_DECAY, foreach=ADAM_FOREACH)
        # Orders and noise of all epochs at once.
        orders = torch.rand(self.epochs, len(self.table.inputs)).argsort(dim=1)
        inputs = self.table.inputs[orders]
        inputs += NOISE * torch.randn_like(inputs)
        targets = self.table.targets[orders]
        best, best_right, best_loss = None, -1, math.inf
        for epoch_inputs, epoch_targets in zip(inputs, targets):
            for batch in zip(epoch_inputs.split(self.batch), epoch_targets.split(self.batch)):
                self.step(optimizer, *batch, network.masks)
                self.steps += 1
            right, loss = self.evaluate()
            if right > best_right or (right == best_right and loss <= best_loss):
                best, best_right, best_loss = [value.clone() for value in self.data], right, loss
        return Trained(Network(best, network.masks), 100 * best_right / self.table.targets.numel())

    def unit_scores(self, network):
        """Mean over rows of |dL/da| |a| for each hidden unit, where L is a row's loss: a list of layers."""
        self.load(network)
        logits, activations = self.model.with_activations(self.table.inputs)
        targets = self.table.targets
        # Rows do not meet, so the gradient of the sum of their losses has each row's own.
        losses = functional.binary_cross_entropy_with_logits(logits, targets, reduction="sum") / targets.shape[1]
        gradients = torch.autograd.grad(losses, activations)
        return [(a.detach() * d).abs().double().mean(dim=0) for a, d in zip(activations, gradients)]

    def prune(self, start, prune, step, done, least):
        """Goes on in steps as long as they are accepted, halves them if not, to `least`: one unit, or one edge."""
        current, step = start, max(step, least)
        while True:
            accepted = False
            if done + step < 100:
                attempt = self.train(prune(current.network, done + step))
                accepted = attempt.accuracy >= THRESHOLD
            if accepted:
                current, done = attempt, done + step
            elif step > least:
                step = max(step / 2, least)
            else:
                return current

    def without_units(self, dense, step):
        """The end of the unit stage, trained once more."""
        by_score = lambda network, percent: prune_units(network, self.unit_scores(network), percent)
        small = self.prune(dense, by_score, step, 0, 100 / self.hidden_units)
        retrained = self.train(small.network)
        return retrained if retrained.accuracy >= THRESHOLD else small

    def without_edges(self, small, step):
        done = 100 - 100 * small.network.edges() / self.weights
        return self.prune(small, prune_edges, step, done, 100 / self.weights)

    def run(self, points):
        """Gives the dense network and all that have the fewest edges; none if the dense one did not learn."""
        dense = self.train(self.initial())
        if dense.accuracy < THRESHOLD:
            return dense, []
        smalls = [self.without_units(dense, step) for step in UNIT_STEPS[:points]]
        grid = [self.without_edges(small, step).network for step in EDGE_STEPS for small in smalls]
        fewest = min(network.edges() for network in grid)
        return dense, [network for network in grid if network.edges() == fewest]


def parse_arguments():
    parser = argparse.ArgumentParser(description="Times PyTorch on one trial of Neural Sculpting.")
    parser.add_argument("--task-table", default="0ff0,f00f,6666,9999", help="a hexadecimal word for each output")
    parser.add_argument("--hidden", type=lambda text: [int(width) for width in text.split(",")], default=[24, 24])
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--points", type=int, default=len(UNIT_STEPS), help="only so many of the first unit steps")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    table = Table(arguments.task_table)
    warm_up = Trial(table, arguments)
    warm_up.train(warm_up.initial())
    trial = Trial(table, arguments)
    start, processor_start = time.perf_counter(), time.process_time()
    dense, winners = trial.run(arguments.points)
    report = {
        "seconds": time.perf_counter() - start,
        "processor_seconds": time.process_time() - processor_start,
        "trainings": trial.trainings,
        "steps": trial.steps,
        "points": len(UNIT_STEPS[: arguments.points]) * len(EDGE_STEPS),
        "dense_accuracy": dense.accuracy,
        "learned": bool(winners),
        "edges": winners[0].edges() if winners else 0,
        "ties": len(winners),
        "torch": torch.__version__,
        "blas": "openblas" if common.uses_openblas() else "other",
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
