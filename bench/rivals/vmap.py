#!/usr/bin/env python3
"""Ensembles through functorch: the single network's functions of common.py under vmap and grad."""

import sys

import common

import torch

try:
    from functorch import grad, vmap
except ImportError:
    grad = vmap = None

from bmm import measure_ensembles


class Ensemble:
    def __init__(self, network, count, seed):
        self.count = count
        generator = torch.Generator().manual_seed(seed)
        self.values = [tensor.initial(count, generator) for tensor in network.tensors]
        self.adam = common.adam_for_tensors(network.tensors, self.values)

        def loss(parameters, inputs, targets):
            logits = network.train_logits(parameters, inputs)
            return torch.nn.functional.binary_cross_entropy_with_logits(logits, targets)

        self.gradients_own_targets = vmap(grad(loss))
        self.gradients_same_targets = vmap(grad(loss), in_dims=(0, 0, None))
        self.evaluate_logits = vmap(network.evaluate_logits)

    def step(self, inputs, targets):
        gradients = self.gradients_own_targets if targets.dim() == 3 else self.gradients_same_targets
        self.adam.step(gradients(self.values, inputs, targets))

    def evaluate(self, task, inputs):
        return common.splits_record(task, self.evaluate_logits(self.values, inputs))


if __name__ == "__main__":
    if vmap is None:
        sys.exit("functorch is not installed, so there is nothing to measure.")
    measure_ensembles("vmap", Ensemble)
