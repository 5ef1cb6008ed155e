"""The architectures that read images, in plain PyTorch: networks.py with an image level below the first one.

Parameters are registered in the order of the flat vector in a fixture:
  dense, sparse   per layer weight, bias
  cnn             per convolution, then per layer: weight, bias
  modular         image logits, S_1, S_2, ..., output vector, the image modules, then the modules level by level
  shared          the image pool, the pool; module logits of the image slots, of level 1, 2, ...; then image logits,
                  S_1, S_2, ..., output vector
A module is per convolution, then per layer, weight and bias. Logit tensors are candidate x module.

Images are [row, image, pixel]. Every network gives the logits of its outputs, before the sigmoid.
"""

import torch
from torch import nn
from torch.nn import functional

import networks
from networks import module_mlp, read_selected
from truth_tables import OUTPUTS

SIDE = 28
PIXELS = SIDE * SIDE
KERNEL = 5
CNN_CHANNELS = [12, 32]
MODULE_CHANNELS = [1, 6, 16]
CNN_FEATURES = 512
MODULE_FEATURES = 256

# Which image a slot reads and which image module it uses; below them, by level and slot, inputs and modules.
IMAGE_ROUTING = (0, 1)
IMAGE_MODULE_ROUTING = (0, 0)
INPUT_ROUTING = [[(0, 3), (1, 4), (2, 5)], [(0, 1), (1, 2)]]
OUTPUT_ROUTING = (0, 1)
MODULE_ROUTING = [(0, 0, 0), (1, 1)]


def convolutions(channels):
    """Each halves the side after its kernel: 28, 12, 4."""
    layers = []
    for channels_in, channels_out in zip(channels, channels[1:]):
        layers += [nn.Conv2d(channels_in, channels_out, KERNEL), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.Flatten())


class Dense(networks.Dense):
    """A plain network on all images, one after the other."""

    def __init__(self, settings):
        nn.Module.__init__(self)
        self.layers = module_mlp([settings["images"] * PIXELS] + settings["hidden"] + [OUTPUTS])
        self.masks = None

    def forward(self, images, _selector):
        if self.masks is None:
            return self.layers(images.flatten(1))
        hidden = images.flatten(1)
        linear = self.linear_layers()
        for index, layer in enumerate(linear):
            weight_mask, bias_mask = (mask.to(hidden.dtype) for mask in self.masks[2 * index : 2 * index + 2])
            hidden = functional.linear(hidden, layer.weight * weight_mask, layer.bias * bias_mask)
            if index + 1 < len(linear):
                hidden = torch.relu(hidden)
        return hidden


class Cnn(nn.Module):
    """The images are the channels of one picture."""

    structural = ()

    def __init__(self, settings):
        super().__init__()
        self.features = convolutions([settings["images"]] + CNN_CHANNELS)
        self.layers = module_mlp([CNN_FEATURES] + settings["hidden"] + [OUTPUTS])

    def forward(self, images, _selector):
        return self.layers(self.features(images.unflatten(2, (SIDE, SIDE))))


class ImageModule(nn.Module):
    """From an image to a few values: [row, slot, pixel] gives [row, slot, value]."""

    def __init__(self, settings):
        super().__init__()
        self.layers = module_mlp(settings["image_widths"])
        if settings["image_module"] == "conv":
            assert settings["image_widths"][0] == MODULE_FEATURES
            picture = nn.Unflatten(1, (1, SIDE, SIDE))
            self.layers = nn.Sequential(picture, convolutions(MODULE_CHANNELS), self.layers)

    def forward(self, images):
        return self.layers(images.flatten(0, 1)).unflatten(0, images.shape[:2])


def make_input_logits(settings, widths):
    """Image logits, S_1, S_2, ..., then the output vector as a candidate x 1 matrix, which is the same flat order."""
    slots = settings["image_slots"]
    values = slots * settings["image_widths"][-1]
    candidates = [settings["images"], values] + widths
    choosers = [slots] + widths + [1]
    return nn.ParameterList(nn.Parameter(torch.randn(shape)) for shape in zip(candidates, choosers))


def fix_input_logits(input_logits):
    image_logits, *level_logits, output_logits = input_logits
    networks.fix_modules(image_logits, IMAGE_ROUTING)
    for logits, routing in zip(level_logits, INPUT_ROUTING):
        networks.fix_picks(logits, routing)
    networks.fix_picks(output_logits, [OUTPUT_ROUTING])


def read_images(images, one_hots):
    """[row, image, pixel] seen through [1, image, slot] gives [row, slot, pixel]."""
    return (images[:, :, None, :] * one_hots[..., None]).sum(dim=1)


class Modular(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.fan_in = settings["fan_in"]
        widths = settings["modules"]
        self.input_logits = make_input_logits(settings, widths)
        self.image_modules = nn.ModuleList(ImageModule(settings) for _ in range(settings["image_slots"]))
        self.levels = nn.ModuleList(
            nn.ModuleList(module_mlp(settings["module_widths"]) for _ in range(width)) for width in widths
        )
        if settings["model"] == "modular-fc":
            fix_input_logits(self.input_logits)
        self.structural = tuple(self.input_logits)

    def forward(self, images, selector):
        image_logits, *level_logits, output_logits = self.input_logits
        seen = read_images(images, selector.one(image_logits, None))
        of_slots = [module(seen[:, [slot]]) for slot, module in enumerate(self.image_modules)]
        values = torch.cat(of_slots, dim=1).flatten(1)
        for logits, modules in zip(level_logits, self.levels):
            read = read_selected(values, selector.top(logits, None, self.fan_in))
            values = torch.cat([module(read[:, index]) for index, module in enumerate(modules)], dim=1)
        return read_selected(values, selector.top(output_logits, None, OUTPUTS)).squeeze(1)


class Shared(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.fan_in = settings["fan_in"]
        widths = settings["slots"]
        image_pool, pool = settings["image_pool"], settings["pool"]
        self.image_pool = nn.ModuleList(ImageModule(settings) for _ in range(image_pool))
        self.pool = nn.ModuleList(module_mlp(settings["module_widths"]) for _ in range(pool))
        shapes = [(image_pool, settings["image_slots"])] + [(pool, width) for width in widths]
        self.module_logits = nn.ParameterList(nn.Parameter(torch.randn(shape)) for shape in shapes)
        self.input_logits = make_input_logits(settings, widths)
        if settings["model"] == "modular-shared-fcms":
            fix_input_logits(self.input_logits)
            for logits, routing in zip(self.module_logits, [IMAGE_MODULE_ROUTING] + MODULE_ROUTING):
                networks.fix_modules(logits, routing)
        self.structural = tuple(self.module_logits) + tuple(self.input_logits)

    def forward(self, images, selector):
        image_logits, *level_logits, output_logits = self.input_logits
        image_module_logits, *level_module_logits = self.module_logits
        seen = read_images(images, selector.one(image_logits, None))
        of_members = torch.stack([member(seen) for member in self.image_pool], dim=1)
        # All values of an image module are chosen together.
        values = (of_members * selector.one(image_module_logits, None)[..., None]).sum(dim=1).flatten(1)
        for logits, module_logits in zip(level_logits, level_module_logits):
            read = read_selected(values, selector.top(logits, None, self.fan_in))
            of_members = torch.stack([member(read).squeeze(2) for member in self.pool], dim=1)
            values = (of_members * selector.one(module_logits, None)).sum(dim=1)
        return read_selected(values, selector.top(output_logits, None, OUTPUTS)).squeeze(1)


def build(settings):
    model = settings["model"]
    if model in ("dense", "sparse"):
        return Dense(settings)
    if model == "cnn":
        return Cnn(settings)
    return Shared(settings) if model.startswith("modular-shared") else Modular(settings)


def loss_function(settings):
    return {"bce": functional.binary_cross_entropy_with_logits}[settings["loss"]]
