#!/usr/bin/env python3
"""Checks that every rival makes the same training steps as the reference networks of tests/parity."""

import pathlib
import sys

import common

import torch

import bmm
import eager
import eager_tuned
import vmap

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "parity"))
import networks

NETWORKS, STEPS, TOLERANCE = 3, 10, 1e-5
COMMON = {
    "lr": common.LR, "lr_input": common.LR_STRUCTURAL, "lr_module": common.LR_STRUCTURAL,
    "weight_decay": common.WEIGHT_DECAY, "tau": common.TAU, "fan_in": common.FAN_IN,
    "module_widths": [common.FAN_IN, common.MODULE_HIDDEN, 1], "optimizer": "adam", "loss": "bce",
}
SETTINGS = {
    "dense-depth2": {"model": "dense", "hidden": [common.HIDDEN] * 3},
    "dense-depth3": {"model": "dense", "hidden": [common.HIDDEN] * 5},
    "modular-depth2": {"model": "modular", "modules": [3, 2]},
    "modular-shared-depth2": {"model": "modular-shared", "slots": [3, 2], "pool": 2},
    "modular-shared-depth3": {"model": "modular-shared", "slots": [3, 3, 2], "pool": 3},
}


def reference_order(values, settings):
    """One network's rival tensors in the flat parameter order of the reference."""
    if settings["model"] == "dense":
        return torch.cat([value.reshape(-1) for value in values])
    widths = settings.get("modules") or settings["slots"]
    input_logits, first = [], 0
    for choosers, candidates in zip(widths + [1], [common.INPUTS] + widths):
        input_logits.append(values[-1][first : first + choosers, :candidates].t())
        first += choosers
    groups = [values[4 * level : 4 * level + 4] for level in range(len(widths) if "modules" in settings else 1)]
    modules = [layer[index] for group in groups for index in range(len(group[0])) for layer in group]
    if "modules" in settings:
        ordered = input_logits + modules
    else:
        ordered = modules + list(values[4].split(widths, dim=1)) + input_logits
    return torch.cat([value.reshape(-1) for value in ordered])


def module_reference_order(model):
    """The parameters of an eager model are registered in the order of the reference; only its logits lie across."""
    named = model.named_parameters()
    ordered = [parameter.t() if name.endswith("logits") else parameter for name, parameter in named]
    return torch.cat([parameter.detach().reshape(-1) for parameter in ordered])


def train_reference(flat, settings, task):
    network = networks.build(settings)
    networks.load_flat(network, flat)
    optimiser = networks.make_optimiser(network, settings)
    for _ in range(STEPS):
        optimiser.zero_grad(set_to_none=True)
        outputs = network(task.inputs.t(), networks.Selector(common.TAU, None, False, None))
        networks.loss_function(settings)(outputs, task.targets.t()).backward()
        optimiser.step()
    outputs = network(task.inputs.t(), networks.Selector(None, None, False, None))
    return networks.flat(network.parameters()), outputs.detach().t()


def report(rival, work, got, expected):
    worst = max((a - b).abs().max().item() for a, b in zip(got, expected))
    print(f"{work:22} {rival:11} differs by {worst:.1e}")
    return worst <= TOLERANCE


def check(work):
    task_name, build = common.WORKS[work]
    network, task = build(), common.Task(task_name)
    settings = {**COMMON, **SETTINGS[work], "task": task_name}
    inputs = task.inputs.expand(NETWORKS, -1, -1).contiguous()
    agree = True

    makers = {"bmm": bmm.Ensemble} if vmap.vmap is None else {"bmm": bmm.Ensemble, "vmap": vmap.Ensemble}
    for rival, make_ensemble in makers.items():
        ensemble = make_ensemble(network, NETWORKS, seed=1)
        starts = [reference_order([value[index] for value in ensemble.values], settings) for index in range(NETWORKS)]
        for _ in range(STEPS):
            ensemble.step(inputs, task.targets)
        outputs = torch.sigmoid(ensemble.evaluate_logits(ensemble.values, inputs))
        for index, start in enumerate(starts):
            expected = train_reference(start, settings, task)
            values = reference_order([value[index] for value in ensemble.values], settings)
            agree &= report(rival, work, (values, outputs[index]), expected)

    for seed in range(NETWORKS):
        trainer = eager_tuned.Trainer(network, seed)
        expected = train_reference(reference_order(trainer.values, settings), settings, task)
        for _ in range(STEPS):
            trainer.step(task.inputs, task.targets)
        outputs = torch.sigmoid(network.evaluate_logits(trainer.values, task.inputs))
        agree &= report("eager-tuned", work, (reference_order(trainer.values, settings), outputs), expected)

    rows_first = task.inputs.t().contiguous(), task.targets.t().contiguous()
    for seed in range(NETWORKS):
        trainer = eager.Trainer(work, seed)
        expected = train_reference(module_reference_order(trainer.model), settings, task)
        for _ in range(STEPS):
            trainer.step(*rows_first)
        trainer.model.eval()
        outputs = trainer.model(rows_first[0]).detach().t()
        agree &= report("eager", work, (module_reference_order(trainer.model), outputs), expected)
    return agree


if __name__ == "__main__":
    sys.exit(0 if all([check(work) for work in common.WORKS]) else 1)
