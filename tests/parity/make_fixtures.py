#!/usr/bin/env python3
"""Records ten optimiser steps of each architecture in PyTorch, for the engine's parity tests.

Usage: python3 tests/parity/make_fixtures.py

Writes fixtures/NAME.safetensors beside this file. The result depends on nothing but this source and the
PyTorch build. What each tensor means is written in `record`.
"""

import json
import math
import os
import pathlib

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import torch

import golden
import networks
from tensor_file import write_tensors
from truth_tables import INPUTS, OUTPUTS, ROWS, input_table, target_table, task_parts

STEPS = 10
SPARSE_DENSITY = 0.25
SEEDS_TRIED = 400

# A pick is a jump, and so is a rectifier's slope, and Adam magnifies a gradient that is nearly nothing. A run
# is recorded only if rounding cannot matter: no competing logits come closer than CLOSEST_CALL, and the same
# run in float64 stays within ROUNDING_DRIFT of it. An engine that sums in another order then agrees as well.
CLOSEST_CALL = 1e-4
ROUNDING_DRIFT = 1e-6

RATES = {"lr": 0.01, "weight_decay": 1e-3}
ROUTED = {**RATES, "lr_input": 0.1, "tau": 2.0, "noise": 0.1, "fan_in": 2, "module_widths": [2, 12, 1]}
FIXED = {**RATES, "noise": 0.1, "fan_in": 2, "module_widths": [2, 12, 1]}
DENSE = {"model": "dense", **RATES, "noise": 0.1, "hidden": [36, 36, 36]}
MODULAR = {"model": "modular", **ROUTED, "modules": [3, 2]}
SHARED = {"model": "modular-shared", **ROUTED, "lr_module": 0.1, "slots": [3, 2], "pool": 2}

# The steps of these optimisers are larger than Adam's at the same rate, or much smaller.
OPTIMISER_RATES = {
    "adamw": {"weight_decay": 0.01},
    "sgd": {"lr": 0.1, "lr_input": 0.5, "lr_module": 0.5},
    "momentum": {"lr": 0.05, "lr_input": 0.2, "lr_module": 0.2},
    "rmsprop": {"lr": 0.001, "lr_input": 0.01, "lr_module": 0.01},
}


def fixture(base, task="depth2", batch_size=32, optimizer="adam", loss="bce", **changes):
    return {**base, "task": task, "batch_size": batch_size, "optimizer": optimizer, "loss": loss, **changes}


def all_fixtures():
    found = {
        "dense-depth2": fixture(DENSE),
        "dense-depth1": fixture(DENSE, task="depth1", hidden=[36], noise=0.0),
        "dense-batch5": fixture(DENSE, batch_size=5),
        "sparse-depth2": fixture(DENSE, model="sparse"),
        "modular-depth2": fixture(MODULAR),
        "modular-clean": fixture(MODULAR, noise=0.0),
        "modular-batch5": fixture(MODULAR, batch_size=5),
        "modular-fc-depth2": fixture({"model": "modular-fc", **FIXED, "modules": [3, 2]}),
        "modular-shared-depth2": fixture(SHARED),
        "modular-shared-batch5": fixture(SHARED, batch_size=5),
        "modular-shared-fcms-depth2": fixture({"model": "modular-shared-fcms", **FIXED, "slots": [3, 2], "pool": 2}),
        "modular-depth3": fixture(MODULAR, task="depth3", modules=[3, 3, 2]),
        # Unequal structural rates show whether a parameter is in the right group.
        "modular-shared-depth3": fixture(SHARED, task="depth3", slots=[3, 3, 2], pool=3, lr_module=0.05),
        "modular-shared-depth1": fixture(SHARED, task="depth1", slots=[2], pool=1),
        "modular-shared-no-tau": fixture(SHARED, tau=None),
        "modular-no-tau": fixture(MODULAR, tau=None),
        "modular-wide": fixture(MODULAR, modules=[6, 4]),
        "modular-shared-wide": fixture(SHARED, slots=[6, 4], pool=4),
        "modular-fan-in-1": fixture(MODULAR, fan_in=1, module_widths=[1, 12, 1]),
        "modular-fan-in-3": fixture(MODULAR, fan_in=3, module_widths=[3, 12, 1], modules=[4, 3]),
        "modular-fan-in-4": fixture(MODULAR, fan_in=4, module_widths=[4, 12, 1], modules=[5, 3]),
        "modular-shared-fan-in-3": fixture(SHARED, fan_in=3, module_widths=[3, 12, 1], slots=[4, 3]),
        "modular-deep-modules": fixture(MODULAR, module_widths=[2, 7, 5, 1]),
        "modular-shared-deep-modules": fixture(SHARED, module_widths=[2, 7, 5, 1]),
        "modular-known-outputs": fixture(MODULAR, known_outputs=True),
        "modular-shared-known-outputs": fixture(SHARED, known_outputs=True),
        "dense-mse": fixture(DENSE, loss="mse"),
        "modular-shared-mse": fixture(SHARED, loss="mse"),
    }
    for gumbel in ("batch", "sample"):
        found[f"modular-gumbel-{gumbel}"] = fixture(MODULAR, gumbel=gumbel)
        found[f"modular-shared-gumbel-{gumbel}"] = fixture(SHARED, gumbel=gumbel)
    for optimizer, rates in OPTIMISER_RATES.items():
        dense_rates = {key: value for key, value in rates.items() if key in DENSE}
        found[f"dense-{optimizer}"] = fixture(DENSE, optimizer=optimizer, **dense_rates)
        found[f"modular-shared-{optimizer}"] = fixture(SHARED, optimizer=optimizer, **rates)
    two_tasks = {
        "dense-onehot": fixture(DENSE, task_input="onehot"),
        "dense-scalar": fixture(DENSE, task_input="scalar"),
        "modular": fixture(MODULAR, modules=[6, 4]),
        "modular-all-levels": fixture(MODULAR, modules=[6, 4], outputs_from="all"),
        "modular-gumbel-batch": fixture(MODULAR, modules=[6, 4], gumbel="batch"),
        "modular-shared": fixture(SHARED, pool=3),
        "modular-shared-all-levels": fixture(SHARED, pool=3, outputs_from="all"),
        "modular-shared-gumbel-sample": fixture(SHARED, pool=3, gumbel="sample"),
    }
    found.update({f"two-tasks-{name}": {**settings, "task": "A+B"} for name, settings in two_tasks.items()})
    for settings in found.values():
        settings["init"] = "torch"
        if settings["model"] in ("modular", "modular-shared"):
            settings.setdefault("gumbel", "off")
            settings.setdefault("outputs_from", "last")
            settings.setdefault("known_outputs", False)
    return found


def draw_batches(settings, generator):
    """Ten batches of distinct rows, of all tasks together: noisy inputs, task ids or None, targets."""
    parts = task_parts(settings["task"])
    clean = input_table()
    targets_of_tasks = torch.stack([target_table(part) for part in parts])
    inputs, tasks, targets = [], [], []
    for _ in range(STEPS):
        drawn = torch.randperm(ROWS * len(parts), generator=generator)[: settings["batch_size"]]
        task, row = drawn // ROWS, drawn % ROWS
        noise = torch.randn(len(drawn), INPUTS, generator=generator)
        inputs.append(clean[row] + settings["noise"] * noise)
        tasks.append(task)
        targets.append(targets_of_tasks[task, row])
    return torch.stack(inputs), torch.stack(tasks) if len(parts) > 1 else None, torch.stack(targets)


def draw_gumbel(settings, network, generator):
    """Standard Gumbel noise for every structural logit, or None."""
    kind = settings.get("gumbel", "off")
    if kind == "off":
        return None
    logits = sum(parameter.numel() for parameter in network.structural)
    shape = (STEPS, logits) if kind == "batch" else (STEPS, settings["batch_size"], logits)
    return -torch.empty(shape).exponential_(generator=generator).log()


def split_noise(network, noise):
    """Cuts the flat noise of one step into tensors shaped like the logits, rows leading if it has rows."""
    rows = noise.shape[:-1]
    sizes = [parameter.numel() for parameter in network.structural]
    pieces = noise.split(sizes, dim=-1)
    return [piece.reshape(*rows, *parameter.shape) for piece, parameter in zip(pieces, network.structural)]


def train(network, settings, inputs, task, targets, gumbel):
    """Runs the ten steps and gives what they leave behind, with the closest call of all picks."""
    optimiser = networks.make_optimiser(network, settings)
    losses, after, closest_call = [], [], math.inf
    for step in range(STEPS):
        selector = networks.Selector(
            settings.get("tau"),
            None if gumbel is None else split_noise(network, gumbel[step]),
            settings.get("gumbel") == "sample",
            None if task is None else task[step],
        )
        optimiser.zero_grad(set_to_none=True)
        outputs = network(inputs[step], selector)
        loss = networks.loss_function(settings)(outputs, targets[step])
        loss.backward()
        if step == 0:
            gradient, probabilities = networks.flat_gradient(network), outputs.detach()
        optimiser.step()
        closest_call = min(closest_call, selector.closest_call)
        losses.append(loss.detach())
        after.append(networks.flat(network.parameters()))
    results = {
        "loss": torch.stack(losses),
        "gradient": gradient,
        "after": torch.stack(after),
        "probabilities": probabilities,
    }
    return results, closest_call


def record(settings, seed):
    """The tensors of one fixture, and how far rounding is from mattering in it."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    network = networks.build(settings)
    if settings["model"] == "sparse":
        network.prune_at_random(SPARSE_DENSITY, generator)
    inputs, task, targets = draw_batches(settings, generator)
    gumbel = draw_gumbel(settings, network, generator)

    # Initial parameters in the flat order of networks.py; then each step's batch, [step, row, ...].
    tensors = {"params": networks.flat(network.parameters()), "inputs": inputs}
    if task is not None:
        tensors["task"] = task.float()
    tensors["targets"] = targets
    if gumbel is not None:
        # What is added to each logit, in the order of the logits in params: [step, logit] or [step, row, logit].
        tensors["gumbel"] = gumbel
    if network_masks := getattr(network, "masks", None):
        tensors["mask"] = networks.flat(network_masks)

    # The loss before each step, the first step's loss gradient (no weight decay, zeros where frozen), the
    # parameters after each step, and the first forward pass.
    results, closest_call = train(network, settings, inputs, task, targets, gumbel)
    tensors.update(results)

    replica = networks.build(settings).double()
    if network_masks:
        replica.masks = network_masks
    networks.load_flat(replica, tensors["params"].double())
    exact, _ = train(replica, settings, inputs.double(), task, targets.double(),
                     None if gumbel is None else gumbel.double())
    drift = (exact["after"] - results["after"].double()).abs().max().item()
    return tensors, closest_call, drift


def check_shapes(settings, tensors):
    rows, count = settings["batch_size"], len(tensors["params"])
    assert tensors["inputs"].shape == (STEPS, rows, INPUTS)
    assert tensors["targets"].shape == (STEPS, rows, OUTPUTS)
    assert tensors["after"].shape == (STEPS, count)
    assert tensors["gradient"].shape == (count,)
    assert tensors["probabilities"].shape == (rows, OUTPUTS)
    if settings["model"] == "sparse":
        kept = tensors["mask"] == 1
        assert (tensors["after"][:, ~kept] == 0).all() and (tensors["gradient"][~kept] == 0).all()


def make(name, settings, directory):
    for seed in range(SEEDS_TRIED):
        tensors, closest_call, drift = record(settings, seed)
        if closest_call > CLOSEST_CALL and drift < ROUNDING_DRIFT:
            break
    else:
        raise RuntimeError(f"{name}: no seed below {SEEDS_TRIED} is safe from rounding")
    check_shapes(settings, tensors)
    path = directory / f"{name}.safetensors"
    write_tensors(path, tensors, {"settings": json.dumps(settings)})
    print(f"{name:38} seed {seed:3}  closest call {closest_call:.1e}  drift {drift:.1e}  {path.stat().st_size:7} bytes")


def main():
    torch.set_num_threads(1)
    golden.check_all()
    directory = pathlib.Path(__file__).resolve().parent / "fixtures"
    directory.mkdir(exist_ok=True)
    for name, settings in all_fixtures().items():
        make(name, settings, directory)


if __name__ == "__main__":
    main()
