#!/usr/bin/env python3
"""Makes the networks in tests/torch/files that are trained on our tasks: copies of our own architectures, and networks
that name their gates, rightly and wrongly. Needs PyTorch (Debian's python3-torch): python3 tests/torch/make_task_scripts.py"""

import math
from typing import NamedTuple

import torch
import torch.nn as nn

from make_scripts import write

RULES = 2


def mlp2(inputs, hidden, outputs):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


class Mlp(nn.Module):
    """Our network without modules on rules-mlp, parameters in the same order."""

    def __init__(self, e):
        super().__init__()
        self.x, self.c = mlp2(1, e, e), mlp2(RULES, e, e)
        self.core, self.out = mlp2(3 * e, 4 * e, 4 * e), mlp2(4 * e, e, 1)

    def forward(self, inputs):
        return self.out(self.core(torch.cat([self.x(inputs[:, :1]), self.x(inputs[:, 1:2]), self.c(inputs[:, 2:])], 1)))


class Mha(nn.Module):
    """The same on rules-mha."""

    def __init__(self, e):
        super().__init__()
        self.head = 4 * e // (2 * RULES)
        self.encoder = mlp2(5 * RULES, e, e)
        self.query, self.key, self.value = nn.Linear(e, 4 * e), nn.Linear(e, 4 * e), nn.Linear(e, 4 * e)
        self.own = nn.Linear(e, self.head)
        self.core, self.out = mlp2(4 * e + self.head, 2 * e, e), mlp2(e, e, 1)

    def heads(self, x):
        return x.reshape(x.size(0), x.size(1), -1, self.head).transpose(1, 2)

    def forward(self, inputs):
        code = self.encoder(inputs)
        scores = self.heads(self.query(code)) / math.sqrt(self.head) @ self.heads(self.key(code)).transpose(2, 3)
        scores = scores.masked_fill(torch.eye(inputs.size(1)) > 0, -math.inf)
        found = (torch.softmax(scores, -1) @ self.heads(self.value(code))).transpose(1, 2).flatten(2)
        return self.out(self.core(torch.cat([found, self.own(code)], -1)))


class Cell(nn.Module):
    """An LSTM whose gates stand in our order: input, forget, output, candidate."""

    def __init__(self, e, h):
        super().__init__()
        self.input, self.state = nn.Parameter(torch.randn(4 * h, e)), nn.Parameter(torch.randn(4 * h, h))
        self.input_bias, self.state_bias = nn.Parameter(torch.randn(4 * h)), nn.Parameter(torch.randn(4 * h))

    def forward(self, x):
        h = torch.zeros(x.size(0), self.state.size(1))
        c = h
        states = []
        for step in range(x.size(1)):
            units = x[:, step] @ self.input.t() + self.input_bias + h @ self.state.t() + self.state_bias
            i, f, o, g = units.chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            states.append(h)
        return torch.stack(states, 1)


class Rnn(nn.Module):
    """The same on rules-rnn."""

    def __init__(self, dim, e):
        super().__init__()
        self.encoder, self.cell, self.out = mlp2(dim + RULES, e, e), Cell(e, 4 * e), mlp2(4 * e, 4 * e, dim)

    def forward(self, inputs):
        return self.out(self.cell(self.encoder(inputs)))


class Said(NamedTuple):
    answer: torch.Tensor
    gates: torch.Tensor


class Gated(nn.Module):
    """Two numbers and a rule in; what `gates` makes of the rule is named."""

    def __init__(self, inputs, outputs, gates: str):
        super().__init__()
        self.out = nn.Linear(inputs, outputs)
        self.gates = gates

    def forward(self, x):
        rule = x[..., -2:]
        gates = rule
        if self.gates == "collapsed":  # always the first of two
            gates = torch.stack([torch.ones_like(rule[..., 0]), torch.zeros_like(rule[..., 0])], -1)
        elif self.gates == "counts":  # three times as much as the others, whatever the rule; one of four is dead
            gates = torch.stack([3 + 0 * rule[..., 0], 1 + 0 * rule[..., 0], 1 + 0 * rule[..., 0], 0 * rule[..., 0]], -1)
        elif self.gates == "negative":
            gates = rule - 0.5
        elif self.gates == "rows":
            gates = rule[1:]
        elif self.gates == "shape":
            gates = rule[:, 0]
        return Said(self.out(x), gates)


def main():
    torch.manual_seed(2)
    write(nn.Sequential(nn.Flatten(), nn.Linear(128, 24), nn.ReLU(), nn.Linear(24, 2)), "images")
    write(nn.Sequential(nn.Linear(128, 24), nn.ReLU(), nn.Linear(24, 2)), "images_flat")
    write(Mlp(4), "rules_mlp")
    write(Mha(4), "rules_mha")
    write(Rnn(3, 2), "rules_rnn")
    for kind in ["rule", "collapsed", "counts", "negative", "rows", "shape"]:
        write(Gated(4, 1, kind), f"gates_{kind}")
    write(Gated(5, 3, "rule"), "gates_rnn")


if __name__ == "__main__":
    main()
