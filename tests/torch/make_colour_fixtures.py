#!/usr/bin/env python3
"""Records what PyTorch makes of small networks on images in colour, for tests/torch/colour_network_test.cc.

Usage: python3 tests/torch/make_colour_fixtures.py

Writes files/colour-NAME.safetensors beside this file: images and labels, the weights of modules of torch.nn by the
names that modlab gives them, what the network says of the images and the gradient of its loss as it is used, the same
while weights are trained, and what norms remember after that.
"""

import os
import pathlib
import sys

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import torch
from torch import nn
from torch.nn import functional

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "parity"))
from tensor_file import write_tensors  # noqa: E402

IMAGES = 6
SIDE = 8
CLASSES = 3
MEAN = (120.0, 115.0, 110.0)
DEVIATION = (60.0, 62.0, 64.0)


class Cnn(nn.Module):
    def __init__(self, channels):
        super().__init__()
        widths = [3, *channels]
        conv = [nn.Conv2d(widths[at], widths[at + 1], 3, padding=1) for at in range(4)]
        # Dropout has the rate 0 here: what it draws is the engine's own.
        self.features = nn.Sequential(
            conv[0], nn.ReLU(), nn.MaxPool2d(2), conv[1], nn.ReLU(), nn.MaxPool2d(2), conv[2], nn.Dropout(0), nn.ReLU(),
            nn.MaxPool2d(2), conv[3], nn.ReLU(), nn.Dropout(0),
        )
        self.out_layer = nn.Linear(channels[-1], CLASSES)

    def forward(self, images):
        return self.out_layer(self.features(images).mean((2, 3)))


class Shortcut(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.conv = nn.Conv2d(inputs, width, 1, stride=2, bias=False)
        self.norm = nn.BatchNorm2d(width)

    def forward(self, x):
        return self.norm(self.conv(x))


class Block(nn.Module):
    def __init__(self, inputs, width, enters):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, stride=2 if enters else 1, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(width)
        self.shortcut = Shortcut(inputs, width) if enters else nn.Identity()

    def forward(self, x):
        y = functional.relu(self.norm1(self.conv1(x)))
        return functional.relu(self.norm2(self.conv2(y)) + self.shortcut(x))


class ResNet(nn.Module):
    def __init__(self, channels, blocks):
        super().__init__()
        self.conv = nn.Conv2d(3, channels[0], 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels[0])
        groups, inputs = [], channels[0]
        for group, width in enumerate(channels):
            made = []
            for block in range(blocks):
                made.append(Block(inputs, width, group > 0 and block == 0))
                inputs = width
            groups.append(nn.Sequential(*made))
        self.groups = nn.Sequential(*groups)
        self.out_layer = nn.Linear(inputs, CLASSES)

    def forward(self, images):
        x = self.groups(functional.relu(self.norm(self.conv(images))))
        return self.out_layer(x.mean((2, 3)))


def norms(network):
    return [module for module in network.modules() if isinstance(module, nn.BatchNorm2d)]


def statistics(network):
    parts = [part for norm in norms(network) for part in (norm.running_mean, norm.running_var)]
    return torch.cat(parts) if parts else torch.zeros(0)


def record(name, network):
    torch.manual_seed(11)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))  # norms are not 1 and 0, biases not small
        for norm in norms(network):
            norm.running_mean.normal_(0, 0.3)
            norm.running_var.uniform_(0.5, 2)
    pixels = torch.randint(0, 256, (IMAGES, 3, SIDE, SIDE)).float()
    labels = torch.arange(IMAGES) % CLASSES
    scaled = (pixels - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(DEVIATION).view(3, 1, 1)
    tensors = {"pixels": pixels, "labels": labels.float(), "before": statistics(network)}
    for parameter_name, parameter in network.named_parameters():
        tensors[f"weight/{parameter_name}"] = parameter.clone()
    for mode in ("eval", "train"):
        network.train(mode == "train")
        network.zero_grad()
        said = network(scaled)
        loss = functional.cross_entropy(said, labels)
        loss.backward()
        tensors[f"{mode}/said"] = said
        tensors[f"{mode}/loss"] = loss.reshape(1)
        for parameter_name, parameter in network.named_parameters():
            tensors[f"{mode}/gradient/{parameter_name}"] = parameter.grad.clone()
    tensors["after"] = statistics(network)
    path = pathlib.Path(__file__).parent / "files" / f"colour-{name}.safetensors"
    write_tensors(path, tensors, {})
    print(path, path.stat().st_size)


torch.manual_seed(3)
record("cnn", Cnn([4, 5, 6, 7]))
record("resnet", ResNet([4, 5, 6], 2))
