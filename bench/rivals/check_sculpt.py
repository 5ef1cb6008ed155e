#!/usr/bin/env python3
"""Checks sculpt.py against what Neural Sculpting says, written out step by step and without thought for time."""

import sys
from types import SimpleNamespace

import sculpt

import torch
from torch.nn import functional

TABLE = "0ff0,f00f,6666,9999"
TOLERANCE = 1e-5


def new_trial(seed, epochs):
    return sculpt.Trial(sculpt.Table(TABLE), SimpleNamespace(seed=seed, lr=0.05, batch=16, epochs=epochs, hidden=[9, 7]))


def sparse(trial, share):
    """The initial network without some of its edges, with biases that are not zero."""
    network = trial.initial()
    values = [value + 0.1 * torch.randn_like(value) for value in network.values]
    masks = [(torch.rand_like(mask) > share).float() for mask in network.masks[::2]]
    return sculpt.pruned(network._replace(values=values), masks)


def logits_of(network, inputs):
    """Masks where they are in the paper: on weights and biases whenever these are used."""
    effective = [value * mask for value, mask in zip(network.values, network.masks)]
    for layer in range(0, len(effective), 2):
        inputs = functional.linear(inputs, effective[layer], effective[layer + 1])
        if layer + 2 < len(effective):
            inputs = inputs.relu()
    return inputs


def check_training(seed):
    """Without noise and in full batches nothing is random: the last epoch is Adam on masked weights."""
    sculpt.NOISE = 0.0
    trial = new_trial(seed, epochs=12)
    network = sparse(trial, 0.3)
    values = [value.clone().requires_grad_() for value in network.values]
    optimizer = torch.optim.Adam(values, lr=0.05, weight_decay=sculpt.WEIGHT_DECAY)
    table, kept, best = trial.table, None, (-1, 0.0)
    for _ in range(trial.epochs):
        optimizer.zero_grad()
        outputs = torch.sigmoid(logits_of(network._replace(values=values), table.inputs))
        functional.binary_cross_entropy(outputs, table.targets).backward()
        optimizer.step()
        with torch.no_grad():
            outputs = torch.sigmoid(logits_of(network._replace(values=values), table.inputs))
            right = int(((outputs > 0.5) == table.truth).sum())
            score = (right, -functional.binary_cross_entropy(outputs, table.targets).item())
            if score >= best:
                best, kept = score, [value.detach().clone() for value in values]
    trained = trial.train(network)
    worst = max((a - b).abs().max().item() for a, b in zip(trained.network.values, kept))
    zero = all(bool((value[mask == 0] == 0).all()) for value, mask in zip(trained.network.values, network.masks))
    accuracy = 100 * best[0] / table.targets.numel()
    print(f"training {seed}: weights differ by {worst:.1e}, accuracies are {trained.accuracy:.2f} and {accuracy:.2f}")
    return worst <= TOLERANCE and zero and trained.accuracy == accuracy


def check_scores(seed):
    """One row at a time."""
    trial = new_trial(seed, epochs=1)
    network = sparse(trial, 0.3)
    scores = [torch.zeros(9, dtype=torch.double), torch.zeros(7, dtype=torch.double)]
    trial.load(network)
    for row, targets in zip(trial.table.inputs, trial.table.targets):
        logits, activations = trial.model.with_activations(row)
        loss = functional.binary_cross_entropy(torch.sigmoid(logits), targets)
        for score, a, d in zip(scores, activations, torch.autograd.grad(loss, activations)):
            score += (d.abs() * a.detach().abs()).double() / len(trial.table.inputs)
    worst = max((a - b).abs().max().item() for a, b in zip(scores, trial.unit_scores(network)))
    print(f"unit scores {seed}: differ by {worst:.1e}")
    return worst <= TOLERANCE


def check_control_loop(seed):
    """Where only a network's size decides, every first step ends at the smallest size that is accepted."""
    trial = new_trial(seed, epochs=1)
    start = sculpt.Trained(trial.initial(), 100.0)
    units = lambda network: sum(int(mask.any(dim=1).sum()) for mask in network.masks[:-2:2])
    found = {}
    for size, smallest, run, steps in (
        (sculpt.Network.edges, 23, trial.without_edges, sculpt.EDGE_STEPS),
        (units, 5, trial.without_units, sculpt.UNIT_STEPS),
    ):
        trial.train = lambda network: sculpt.Trained(network, 100.0 if size(network) >= smallest else 99.0)
        found[smallest] = {size(run(start, step).network) for step in steps}
    print(f"control loop {seed}: ends at {found}")
    return all(ends == {smallest} for smallest, ends in found.items())


if __name__ == "__main__":
    checks = [check(seed) for seed in range(4) for check in (check_training, check_scores, check_control_loop)]
    sys.exit(0 if all(checks) else 1)
