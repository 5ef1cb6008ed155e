#!/usr/bin/env python3
"""Records ten optimiser steps of each architecture that reads images, for the engine's parity tests.

Usage: python3 tests/parity/make_image_fixtures.py

Writes fixtures/images-NAME.safetensors beside this file, by the rules of make_fixtures.py. What each tensor means is
written in `record`.
"""

import json
import math
import os
import pathlib

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import torch
from torch.nn import functional

import golden
import image_networks
import networks
from image_networks import PIXELS, SIDE
from make_fixtures import CLOSEST_CALL, ROUNDING_DRIFT, SEEDS_TRIED, SPARSE_DENSITY, STEPS
from tensor_file import write_tensors
from truth_tables import OUTPUTS

BATCH = 16
DIGITS = 8
BITS = 3
PICTURE_SEED = 7
BORDER = 4
INK = 0.2

COMMON = {"batch_size": BATCH, "images": 2, "lr": 0.01, "weight_decay": 1e-3, "optimizer": "adam", "loss": "bce"}
# First layers are narrow: a unit has a weight for every pixel, and a fixture holds every weight four times.
DENSE = {"model": "dense", **COMMON, "hidden": [3, 6]}
IMAGE_MLP = {"image_module": "mlp", "image_widths": [PIXELS, 2, 5, BITS], "image_slots": 2}
IMAGE_CONV = {"image_module": "conv", "image_widths": [image_networks.MODULE_FEATURES, BITS]}
FIXED = {**COMMON, **IMAGE_MLP, "fan_in": 2, "module_widths": [2, 12, 1]}
# Unequal structural rates show whether a parameter is in the right group.
ROUTED = {**FIXED, "lr_input": 0.1, "tau": 0.5}
MODULAR = {"model": "modular", **ROUTED, "modules": [3, 2]}
POOLS = {"image_pool": 1, "slots": [3, 2], "pool": 2}
SHARED = {"model": "modular-shared", **ROUTED, **POOLS, "lr_module": 0.05}

FIXTURES = {
    "dense": {**DENSE},
    "dense-three-images": {**DENSE, "images": 3, "hidden": [2, 6]},
    "sparse": {**DENSE, "model": "sparse", "hidden": [2, 6]},
    "cnn": {**DENSE, "model": "cnn"},
    "modular": {**MODULAR, "image_widths": [PIXELS, 3, 5, BITS]},
    "modular-same-image": {**MODULAR},
    "modular-three-images": {**MODULAR, "images": 3, "image_slots": 3, "modules": [4, 3]},
    "modular-fc": {**FIXED, "model": "modular-fc", "modules": [3, 2]},
    "modular-sgd": {**MODULAR, "optimizer": "sgd", "lr": 0.1, "lr_input": 0.5},
    "modular-conv": {**MODULAR, **IMAGE_CONV},
    "modular-shared": {**SHARED, "image_widths": [PIXELS, 4, 5, BITS]},
    "modular-shared-no-tau": {**SHARED, "tau": None},
    "modular-shared-two-image-modules": {**SHARED, "image_pool": 2},
    "modular-shared-fcms": {**FIXED, **POOLS, "model": "modular-shared-fcms"},
    "modular-shared-conv": {**SHARED, **IMAGE_CONV},
}

# Parameter counts of the published sizes.
PUBLISHED_SCALARS = [
    ({**DENSE, "hidden": [256, 128, 36, 36, 36, 36]}, 443274),
    ({**MODULAR, "image_widths": [PIXELS, 128, 64, BITS]}, 218137),
    ({**SHARED, "image_widths": [PIXELS, 128, 64, BITS]}, 109071),
]


def check_scalars():
    for settings, expected in PUBLISHED_SCALARS:
        count = sum(parameter.numel() for parameter in image_networks.build(settings).parameters())
        assert count == expected, f"{settings['model']} has {count} scalars, not {expected}"


def draw_pictures():
    """One picture of each digit: smooth spots of bytes within an empty border, [digit, pixel], as byte / 255."""
    generator = torch.Generator().manual_seed(PICTURE_SEED)
    inner = SIDE - 2 * BORDER
    smooth = functional.avg_pool2d(torch.rand(DIGITS, inner, inner, generator=generator), 3, stride=1, padding=1)
    inked = smooth.flatten(1).topk(round(INK * PIXELS)).indices
    spots = torch.zeros(DIGITS, inner * inner).scatter_(1, inked, 1).view(DIGITS, inner, inner)
    bytes_ = torch.randint(1, 256, (DIGITS, inner, inner), generator=generator) * spots
    return functional.pad(bytes_, [BORDER] * 4).flatten(1) / 255


def target_of(digits):
    """With k the exclusive or of the digits, most significant bit first: k0 and k1, k1 and k2."""
    code = 0
    for digit in digits:
        code ^= digit
    high, middle, low = (code >> 2) & 1, (code >> 1) & 1, code & 1
    return [float(high & middle), float(middle & low)]


def draw_batches(settings, generator):
    """Ten batches of combinations: picture numbers, [step, row, image], and targets."""
    numbers = torch.randint(DIGITS, (STEPS, BATCH, settings["images"]), generator=generator)
    targets = [[target_of(digits) for digits in batch] for batch in numbers.tolist()]
    return numbers, torch.tensor(targets)


def train(network, settings, pictures, numbers, targets):
    """Runs the ten steps: what they leave behind, the closest call of all picks, and the images first picked."""
    optimiser = networks.make_optimiser(network, settings)
    losses, after, closest_call = [], [], math.inf
    for step in range(STEPS):
        selector = networks.Selector(settings.get("tau"), None, False, None)
        optimiser.zero_grad(set_to_none=True)
        outputs = network(pictures[numbers[step]], selector)
        loss = image_networks.loss_function(settings)(outputs, targets[step])
        loss.backward()
        if step == 0:
            gradient, first_outputs = networks.flat_gradient(network), outputs.detach()
            images_read = images_that_matter(network, selector)
        optimiser.step()
        closest_call = min(closest_call, selector.closest_call)
        losses.append(loss.detach())
        after.append(networks.flat(network.parameters()))
    results = {
        "losses": torch.stack(losses),
        "gradient": gradient,
        "outputs": first_outputs,
        "after1": after[0],
        "after10": after[-1],
    }
    return results, closest_call, images_read


def images_that_matter(network, selector):
    """Which image each slot reads, or None if a slot learns nothing because nobody reads its values."""
    if not network.structural:
        return []
    image_logits = network.input_logits[0]
    if image_logits.requires_grad and (image_logits.grad == 0).any():
        return None
    return selector.picks[0]


def wanted(name, images_read):
    """Every slot matters, and each reads another image, but for the fixture where both read one."""
    if images_read is None:
        return False
    return len(set(images_read)) == (1 if name == "modular-same-image" else len(images_read))


def record(settings, seed):
    """The tensors of one fixture, how far rounding is from mattering in it, and the images it reads first."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    network = image_networks.build(settings)
    if settings["model"] == "sparse":
        network.prune_at_random(SPARSE_DENSITY, generator)
    pictures = draw_pictures()
    numbers, targets = draw_batches(settings, generator)

    # All pictures, [picture, pixel]; each step's batch as picture numbers, [step, row, image], and as targets,
    # [step, row, output]; initial parameters in the flat order of image_networks.py.
    tensors = {
        "images": pictures,
        "batches.images": numbers.float(),
        "batches.targets": targets,
        "initial": networks.flat(network.parameters()),
    }
    network_masks = getattr(network, "masks", None)
    if network_masks:
        tensors["mask"] = networks.flat(network_masks)

    # The loss before each step; of the first step the loss gradient (no weight decay, zeros where frozen) and the
    # logits of the outputs, [row, output]; the parameters after one step and after ten.
    results, closest_call, images_read = train(network, settings, pictures, numbers, targets)
    tensors.update(results)

    replica = image_networks.build(settings).double()
    replica.masks = network_masks
    networks.load_flat(replica, tensors["initial"].double())
    exact, _, _ = train(replica, settings, pictures.double(), numbers, targets.double())
    drift = max((exact[name] - results[name].double()).abs().max().item() for name in ("after1", "after10"))
    return tensors, closest_call, drift, images_read


def check_shapes(settings, tensors):
    count = len(tensors["initial"])
    assert tensors["images"].shape == (DIGITS, PIXELS)
    assert tensors["batches.images"].shape == (STEPS, BATCH, settings["images"])
    assert tensors["batches.targets"].shape == (STEPS, BATCH, OUTPUTS)
    assert tensors["outputs"].shape == (BATCH, OUTPUTS)
    assert all(tensors[name].shape == (count,) for name in ("gradient", "after1", "after10"))
    if settings["model"] == "sparse":
        kept = tensors["mask"] == 1
        assert all((tensors[name][~kept] == 0).all() for name in ("gradient", "after1", "after10"))


def make(name, settings, directory):
    for seed in range(SEEDS_TRIED):
        tensors, closest_call, drift, images_read = record(settings, seed)
        if closest_call > CLOSEST_CALL and drift < ROUNDING_DRIFT and wanted(name, images_read):
            break
    else:
        raise RuntimeError(f"{name}: no seed below {SEEDS_TRIED} is safe from rounding")
    check_shapes(settings, tensors)
    path = directory / f"images-{name}.safetensors"
    write_tensors(path, tensors, {"settings": json.dumps(settings)})
    print(f"{name:38} seed {seed:3}  closest call {closest_call:.1e}  drift {drift:.1e}  {path.stat().st_size:7} bytes")


def main():
    torch.set_num_threads(1)
    golden.check_all()
    check_scalars()
    directory = pathlib.Path(__file__).resolve().parent / "fixtures"
    directory.mkdir(exist_ok=True)
    for name, settings in FIXTURES.items():
        make(name, settings, directory)


if __name__ == "__main__":
    main()
