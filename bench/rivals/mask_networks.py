#!/usr/bin/env python3
"""Training steps of weight masks on frozen networks on sequences and on images, in PyTorch on one thread.

    python3 bench/rivals/mask_networks.py --network cnn --batch 128 --steps 5
    python3 bench/rivals/mask_networks.py --network lstm --batch 2 --samples 2 --commands c9:00,98:1234

As published: noise as in mask.py, K samples of every masked tensor with a leading dimension, rows in K blocks, one pass for
all of them (batched products, grouped convolutions); embeddings are not masked, biases of networks on sequences neither;
the weights keep their gradients. `--passes` runs a block at a time instead, which the published code says is the same.

Commands are pairs of words, a hexadecimal digit for a token, as modlab has drawn them; images are noise. Besides the whole
step the report has what the draws of masks and their gradients take by themselves, and Adam with clipping.
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

INPUT_TOKENS, OUTPUT_TOKENS = 13, 6
SIDE, CLASSES = 32, 10
CNN_CHANNELS = (32, 64, 128, 256)
RESNET_CHANNELS = (16, 32, 64)
RESNET_BLOCKS = 18


def blocks_of(x, samples):
    return x.view(samples, -1, *x.shape[1:])


class Weights:
    """Tensors by name; those that are asked for with samples have a leading dimension K."""

    def __init__(self):
        self.tensors = {}
        self.unmasked = set()

    def add(self, name, *shape, scale=None, masked=True, value=None):
        fan = math.prod(shape[1:]) if len(shape) > 1 else shape[0]
        bound = scale or 1 / math.sqrt(fan)
        self.tensors[name] = torch.full(shape, value) if value is not None else torch.empty(shape).uniform_(-bound, bound)
        if not masked:
            self.unmasked.add(name)


def linear(x, weight, bias=None):
    """Rows [row, ..., input] of K blocks, weights [K, output, input] or [output, input]."""
    if weight.dim() == 2:
        return functional.linear(x, weight, bias)
    y = torch.bmm(x.reshape(weight.shape[0], -1, x.shape[-1]), weight.transpose(1, 2)).view(*x.shape[:-1], -1)
    return y if bias is None else y + bias


class Sequences:
    def __init__(self, arguments):
        pairs = [pair.split(":") for pair in arguments.commands.split(",")]
        self.read, self.lengths = self.padded([pair[0] for pair in pairs], INPUT_TOKENS)
        self.wanted, written = self.padded([pair[1] for pair in pairs], OUTPUT_TOKENS)
        self.counts = torch.arange(self.wanted.shape[1]) < written[:, None]
        start = torch.full((len(pairs), 1), OUTPUT_TOKENS)
        self.shown = torch.cat([start, self.wanted[:, :-1]], 1)

    @staticmethod
    def padded(words, end):
        lengths = torch.tensor([len(word) + 1 for word in words])
        tokens = torch.full((len(words), int(lengths.max())), end)
        for row, word in enumerate(words):
            tokens[row, : len(word)] = torch.tensor([int(digit, 16) for digit in word])
        return tokens, lengths

    def rows(self, part):
        """A network's inputs and targets of these rows."""
        return (self.read[part], self.lengths[part], self.shown[part]), (self.wanted[part], self.counts[part])

    @staticmethod
    def loss(said, target):
        wanted, counts = target
        tokens = functional.cross_entropy(said.flatten(0, 1), wanted.flatten(), reduction="none")
        return (tokens * counts.flatten()).sum() / len(wanted)


class Lstm(Sequences):
    STATE, LAYERS, EMBEDDING = 200, 2, 16

    def weights(self):
        found = Weights()
        found.add("input_embedding", INPUT_TOKENS + 1, self.EMBEDDING, scale=1.0, masked=False)
        for side in ("encoder", "decoder"):
            for layer in range(self.LAYERS):
                below = self.EMBEDDING if layer == 0 else self.STATE
                found.add(f"{side}.{layer}.weight_ih", 4 * self.STATE, below)
                found.add(f"{side}.{layer}.weight_hh", 4 * self.STATE, self.STATE)
                found.add(f"{side}.{layer}.bias", 4 * self.STATE, masked=False)
        found.add("output_embedding", OUTPUT_TOKENS + 1, self.EMBEDDING, scale=1.0, masked=False)
        found.add("output_projection.weight", OUTPUT_TOKENS + 1, self.STATE)
        found.add("output_projection.bias", OUTPUT_TOKENS + 1, masked=False)
        return found

    def cells(self, w, side, x, states):
        new = []
        for layer, (h, c) in enumerate(states):
            name = f"{side}.{layer}."
            z = linear(x, w[name + "weight_ih"], w[name + "bias"]) + linear(h, w[name + "weight_hh"])
            i, f, g, o = z.chunk(4, -1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            x = torch.sigmoid(o) * torch.tanh(c)
            new.append((x, c))
        return x, new

    def __call__(self, w, inputs):
        read, lengths, shown = inputs
        zeros = torch.zeros(len(read), self.STATE)
        states = [(zeros, zeros)] * self.LAYERS
        words = functional.embedding(read, w["input_embedding"])
        for place in range(read.shape[1]):
            _, new = self.cells(w, "encoder", words[:, place], states)
            goes_on = (place < lengths)[:, None]
            states = [tuple(torch.where(goes_on, *pair) for pair in zip(*both)) for both in zip(new, states)]
        actions, said = functional.embedding(shown, w["output_embedding"]), []
        for place in range(shown.shape[1]):
            x, states = self.cells(w, "decoder", actions[:, place], states)
            said.append(x)
        return linear(torch.stack(said, 1), w["output_projection.weight"], w["output_projection.bias"])


class Transformer(Sequences):
    WIDTH, INNER, HEADS, LAYERS = 100, 200, 4, 3

    def weights(self):
        found = Weights()
        width = self.WIDTH

        def attention(name):
            found.add(name + ".query", width, width)
            found.add(name + ".key_value", 2 * width, width)
            found.add(name + ".merge", width, width)

        def norm(name):
            found.add(name + ".gamma", width, value=1.0)
            found.add(name + ".beta", width, value=0.0)

        def inner(name):
            for at, (outputs, inputs) in enumerate(((self.INNER, width), (width, self.INNER))):
                found.add(f"{name}.linear{at}.weight", outputs, inputs)
                found.add(f"{name}.linear{at}.bias", outputs, masked=False)

        found.add("input_embedding", INPUT_TOKENS + 1, width, scale=1.0, masked=False)
        found.add("output_embedding", OUTPUT_TOKENS + 1, width, scale=1.0, masked=False)
        for layer in range(self.LAYERS):
            for side, parts in (("encoder", ("self",)), ("decoder", ("self", "cross"))):
                name = f"{side}.{layer}"
                for part in parts:
                    attention(f"{name}.{part}")
                    norm(f"{name}.{part}.norm")
                inner(name)
                norm(f"{name}.norm")
        found.add("output_projection.weight", OUTPUT_TOKENS + 1, width)
        found.add("output_projection.bias", OUTPUT_TOKENS + 1, masked=False)
        return found

    @staticmethod
    def norm(w, name, x):
        y = (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5)
        gamma, beta = w[name + ".gamma"], w[name + ".beta"]
        if gamma.dim() == 1:
            return gamma * y + beta
        blocks = y.view(gamma.shape[0], -1, y.shape[-1])
        return (gamma[:, None] * blocks + beta[:, None]).view_as(y)

    def attention(self, w, name, x, other, hidden):
        size = self.WIDTH // self.HEADS
        query = linear(x, w[name + ".query"]).view(*x.shape[:2], self.HEADS, size).transpose(1, 2)
        both = linear(other, w[name + ".key_value"]).view(*other.shape[:2], self.HEADS, 2 * size).transpose(1, 2)
        scores = query @ both[..., :size].transpose(2, 3) / math.sqrt(size)
        found = torch.softmax(scores.masked_fill(hidden, -math.inf), -1) @ both[..., size:]
        return linear(found.transpose(1, 2).reshape(x.shape), w[name + ".merge"])

    def inner(self, w, name, x):
        y = torch.relu(linear(x, w[name + ".linear0.weight"], w[name + ".linear0.bias"]))
        return linear(y, w[name + ".linear1.weight"], w[name + ".linear1.bias"])

    def placed(self, table, tokens):
        places = torch.arange(tokens.shape[1])[:, None]
        angle = places * torch.exp(torch.arange(0, self.WIDTH, 2) * (-math.log(10000) / self.WIDTH))
        return functional.embedding(tokens, table) + torch.stack([angle.sin(), angle.cos()], 2).flatten(1)

    def __call__(self, w, inputs):
        read, lengths, shown = inputs
        padding = (torch.arange(read.shape[1]) >= lengths[:, None])[:, None, None]
        memory = self.placed(w["input_embedding"], read)
        for layer in range(self.LAYERS):
            name = f"encoder.{layer}"
            memory = self.norm(w, f"{name}.self.norm", memory + self.attention(w, f"{name}.self", memory, memory, padding))
            memory = self.norm(w, f"{name}.norm", memory + self.inner(w, name, memory))
        later = torch.ones(shown.shape[1], shown.shape[1], dtype=torch.bool).triu(1)
        x = self.placed(w["output_embedding"], shown)
        for layer in range(self.LAYERS):
            name = f"decoder.{layer}"
            x = self.norm(w, f"{name}.self.norm", x + self.attention(w, f"{name}.self", x, x, later))
            x = self.norm(w, f"{name}.cross.norm", x + self.attention(w, f"{name}.cross", x, memory, padding))
            x = self.norm(w, f"{name}.norm", x + self.inner(w, name, x))
        return linear(x, w["output_projection.weight"], w["output_projection.bias"])


class Images:
    """Activations are [row of a block, K * channel, ...] where weights have samples, for grouped convolutions."""

    def __init__(self, arguments):
        self.images = torch.randn(arguments.batch, 3, SIDE, SIDE)
        self.labels = torch.randint(CLASSES, (arguments.batch,))

    def rows(self, part):
        return self.images[part], self.labels[part]

    @staticmethod
    def loss(said, labels):
        return functional.cross_entropy(said, labels)

    @staticmethod
    def convolved(x, weight, bias=None, stride=1, padding=1):
        if weight.dim() == 4:
            return functional.conv2d(x, weight, bias, stride, padding)
        return functional.conv2d(x, weight.flatten(0, 1), None if bias is None else bias.flatten(), stride, padding,
                                 groups=weight.shape[0])

    @staticmethod
    def side_by_side(images, samples):
        return blocks_of(images, samples).transpose(0, 1).flatten(1, 2)

    @staticmethod
    def out(w, x):
        weight, bias, means = w["out_layer.weight"], w["out_layer.bias"], x.mean((2, 3))
        if weight.dim() == 2:
            return functional.linear(means, weight, bias)
        samples = weight.shape[0]
        rows = means.view(len(means), samples, -1).transpose(0, 1)
        return torch.baddbmm(bias[:, None], rows, weight.transpose(1, 2)).flatten(0, 1)


class Cnn(Images):
    def weights(self):
        found = Weights()
        below = 3
        for at, width in enumerate(CNN_CHANNELS):
            found.add(f"conv{at}.weight", width, below, 3, 3)
            found.add(f"conv{at}.bias", width)
            below = width
        found.add("out_layer.weight", CLASSES, below)
        found.add("out_layer.bias", CLASSES)
        return found

    def __call__(self, w, x):
        if w["conv0.weight"].dim() == 5:
            x = self.side_by_side(x, w["conv0.weight"].shape[0])
        for at in range(len(CNN_CHANNELS)):
            x = torch.relu(self.convolved(x, w[f"conv{at}.weight"], w[f"conv{at}.bias"]))
            x = functional.max_pool2d(x, 2) if at < 3 else x
        return self.out(w, x)


class Resnet(Images):
    def weights(self):
        found = Weights()

        def conv(name, width, below, size=3):
            found.add(name + ".weight", width, below, size, size)
            found.add(name + ".norm.weight", width, value=1.0)
            found.add(name + ".norm.bias", width, value=0.0)

        conv("conv", RESNET_CHANNELS[0], 3)
        below = RESNET_CHANNELS[0]
        for group, width in enumerate(RESNET_CHANNELS):
            for block in range(RESNET_BLOCKS):
                conv(f"{group}.{block}.conv1", width, below)
                conv(f"{group}.{block}.conv2", width, width)
                if below != width:
                    conv(f"{group}.{block}.shortcut", width, below, 1)
                below = width
        found.add("out_layer.weight", CLASSES, below)
        found.add("out_layer.bias", CLASSES)
        return found

    def normed(self, w, name, x, stride=1, padding=1):
        y = self.convolved(x, w[name + ".weight"], None, stride, padding)
        mean, variance = torch.zeros(y.shape[1]), torch.ones(y.shape[1])
        return functional.batch_norm(y, mean, variance, w[name + ".norm.weight"].flatten(), w[name + ".norm.bias"].flatten())

    def __call__(self, w, x):
        if w["conv.weight"].dim() == 5:
            x = self.side_by_side(x, w["conv.weight"].shape[0])
        x = torch.relu(self.normed(w, "conv", x))
        for group in range(len(RESNET_CHANNELS)):
            for block in range(RESNET_BLOCKS):
                name, enters = f"{group}.{block}", group > 0 and block == 0
                y = torch.relu(self.normed(w, name + ".conv1", x, 2 if enters else 1))
                y = self.normed(w, name + ".conv2", y)
                x = torch.relu(y + (self.normed(w, name + ".shortcut", x, 2, 0) if enters else x))
        return self.out(w, x)


NETWORKS = {"lstm": Lstm, "transformer": Transformer, "cnn": Cnn, "resnet": Resnet}


class MaskTrainer:
    def __init__(self, arguments):
        self.samples, self.passes = arguments.samples, arguments.passes
        self.network = NETWORKS[arguments.network](arguments)
        made = self.network.weights()
        self.weights = {name: nn.Parameter(value) for name, value in made.tensors.items()}
        self.logits = {name: nn.Parameter(torch.full_like(value, 2.0))
                       for name, value in made.tensors.items() if name not in made.unmasked}
        self.optimizer = torch.optim.Adam(self.logits.values(), lr=1e-2)
        self.alpha = 1e-4 / arguments.batch
        self.batch = arguments.batch

    def masked(self):
        return {name: self.weights[name] * published_mask(logits, self.samples) for name, logits in self.logits.items()}

    def run(self, masked):
        if not self.passes:
            inputs, target = self.network.rows(slice(None))
            return self.network.loss(self.network({**self.weights, **masked}, inputs), target)
        loss, each = 0, self.batch // self.samples
        for sample in range(self.samples):
            inputs, target = self.network.rows(slice(sample * each, (sample + 1) * each))
            drawn = {name: value[sample] for name, value in masked.items()}
            loss = loss + self.network.loss(self.network({**self.weights, **drawn}, inputs), target) / self.samples
        return loss

    def change(self):
        nn.utils.clip_grad_norm_(self.logits.values(), 1.0)
        self.optimizer.step()

    def step(self):
        loss = self.run(self.masked())
        total = loss + self.alpha * sum(logits.sum() for logits in self.logits.values())
        self.optimizer.zero_grad()
        total.backward()
        self.change()
        return loss.item()

    def draw(self, gradients):
        """What masks cost without the network: drawn, and their gradients found."""
        masked = self.masked()
        torch.autograd.backward(list(masked.values()), [gradients[name] for name in masked])


def best_of(count, work):
    best = [math.inf, math.inf]
    for _ in range(count):
        start = time.perf_counter(), time.process_time()
        work()
        best = [min(best[0], time.perf_counter() - start[0]), min(best[1], time.process_time() - start[1])]
    return best


def measure(arguments):
    torch.manual_seed(arguments.seed)
    trainer = MaskTrainer(arguments)
    loss = trainer.step()
    step = best_of(arguments.steps, trainer.step)
    gradients = {name: torch.randn_like(value) for name, value in trainer.masked().items()}
    trainer.draw(gradients)
    parts = {"sampler": lambda: trainer.draw(gradients), "optimizer": trainer.change}
    report = {"us_per_step": 1e6 * step[0], "processor_us_per_step": 1e6 * step[1], "loss": loss,
              "masked": sum(logits.numel() for logits in trainer.logits.values())}
    for name, work in parts.items():
        wall, processor = best_of(arguments.steps, work)
        report[f"{name}_us"], report[f"processor_{name}_us"] = 1e6 * wall, 1e6 * processor
    return report


def parse_arguments():
    parser = argparse.ArgumentParser(description="Weight masks of networks on sequences and images in PyTorch.")
    parser.add_argument("--network", choices=NETWORKS, required=True)
    parser.add_argument("--commands", help="sequences: pairs of words, as many as the batch has rows")
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--passes", action="store_true", help="a pass for each sample instead of one for all")
    return parser.parse_args()


def main():
    report = measure(parse_arguments())
    report["torch"] = torch.__version__
    report["blas"] = "openblas" if common.uses_openblas() else "other"
    print(json.dumps(report))


if __name__ == "__main__":
    main()
