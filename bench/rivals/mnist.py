#!/usr/bin/env python3
"""The published MNIST protocol in eager PyTorch: pairs of digits, some combinations of which are never trained on.

By default this is what a careful researcher writes, like eager.py: modules, autograd, torch.optim.Adam, all data in
memory. --tuned is the same training with what saves eager PyTorch most of its time. Values are [row, unit].
"""

import argparse
import json
import math
import pathlib
import random
import time

import common

import numpy
import torch
from torch import nn
from torch.nn import functional

from common import BETA1, BETA2, EPSILON
from eager import ADAM_FOREACH, mlp, straight_through

DIGITS, PIXELS, BITS, OUTPUTS = 8, 784, 3, 2
FAN_IN, IMAGES = 2, 2
DENSE_WIDTHS = (IMAGES * PIXELS, 256, 128, 36, 36, 36, 36, OUTPUTS)
IMAGE_WIDTHS = (PIXELS, 128, 64, BITS)
MODULE_WIDTHS = (FAN_IN, 12, 1)
LEVELS = [3, 2]
CANDIDATES = [IMAGES * BITS] + LEVELS
POOL = 2

# The true structure, for the networks that know it: what each module of a level reads, and which member it uses.
KNOWN_INPUTS = [[(0, 3), (1, 4), (2, 5)], [(0, 1), (1, 2)], [(0, 1)]]
KNOWN_MEMBER_OF_LEVEL = [0, 1]

WARM_UP_STEPS = 20
EVALUATION_BATCH = 1000


def read_idx(path):
    """An uncompressed IDX file of bytes."""
    data = path.read_bytes()
    dimensions = data[3]
    shape = numpy.frombuffer(data, ">u4", dimensions, offset=4)
    return numpy.frombuffer(data, numpy.uint8, offset=4 + 4 * dimensions).reshape(shape)


class Pictures:
    """One of MNIST's two sets of images."""

    def __init__(self, directory, name):
        images = read_idx(directory / f"{name}-images-idx3-ubyte")
        labels = read_idx(directory / f"{name}-labels-idx1-ubyte")
        self.pixels = torch.from_numpy(images.reshape(len(images), PIXELS) / numpy.float32(255))
        self.of_digit = [numpy.flatnonzero(labels == digit) for digit in range(DIGITS)]


class Samples:
    """Pairs of images and their targets; `pictures` are the images that the pairs number."""

    def __init__(self, pictures, combinations, count, seed):
        generator = random.Random(seed)
        pairs, targets = [], []
        for first, second in combinations:
            of_first, of_second = pictures.of_digit[first], pictures.of_digit[second]
            candidates = len(of_first) * len(of_second)
            # The same draws as from a list of all pairs, first image major.
            drawn = numpy.array(generator.sample(range(candidates), min(count, candidates)))
            pairs.append(numpy.stack([of_first[drawn // len(of_second)], of_second[drawn % len(of_second)]], axis=1))
            targets += [target_of(first, second)] * len(drawn)
        self.pixels = pictures.pixels
        self.pairs = torch.from_numpy(numpy.concatenate(pairs))  # [sample, image]
        self.targets = torch.tensor(targets)

    def batch(self, rows):
        """[row, image, pixel] and targets."""
        pairs = self.pairs[rows]
        return self.pixels.index_select(0, pairs.view(-1)).view(-1, IMAGES, PIXELS), self.targets[rows]


def target_of(first, second):
    high, middle, low = ((first ^ second) >> 2) & 1, ((first ^ second) >> 1) & 1, (first ^ second) & 1
    return [float(high & middle), float(middle & low)]


def split_combinations(ratio, seed):
    """Training, validation and unseen combinations."""
    combinations = [(first, second) for first in range(DIGITS) for second in range(DIGITS)]
    if ratio >= 1:
        return [combinations] * 3
    random.Random(seed).shuffle(combinations)
    train = int(len(combinations) * ratio)
    validation = (len(combinations) - train) // 2
    return combinations[:train], combinations[train : train + validation], combinations[train + validation :]


class Data:
    def __init__(self, arguments):
        train, validation, unseen = split_combinations(arguments.ratio, arguments.split_seed)
        learned, tested = Pictures(arguments.data, "train"), Pictures(arguments.data, "t10k")
        self.train = Samples(learned, train, arguments.samples, arguments.split_seed)
        self.evaluated = {
            "validation": Samples(learned, validation, arguments.test_samples, arguments.split_seed),
            "seen": Samples(tested, train, arguments.test_samples, arguments.split_seed),
            "unseen": Samples(tested, unseen, arguments.test_samples, arguments.split_seed),
        }


def one_hot(picks, logits):
    return functional.one_hot(picks, logits.shape[1]).to(logits.dtype)


class ImageSelection(nn.Module):
    """Each slot reads its best image."""

    def __init__(self, slots, tau):
        super().__init__()
        self.logits = nn.Parameter(torch.randn(slots, IMAGES))
        self.tau = tau

    def forward(self, images):
        """[row, image, pixel] gives [row, slot, pixel]."""
        one_hots = one_hot(self.logits.argmax(dim=1), self.logits)
        if self.training:
            one_hots = straight_through(one_hots, torch.softmax(self.logits / self.tau, dim=1))
        return torch.einsum("si,rip->rsp", one_hots, images)


class InputSelection(nn.Module):
    """Each chooser reads its best candidates, best first."""

    def __init__(self, candidates, choosers, tau):
        super().__init__()
        self.logits = nn.Parameter(torch.randn(choosers, candidates))
        self.tau = tau

    def forward(self, values):
        """[row, candidate] gives [row, chooser, pick]."""
        one_hots = one_hot(self.logits.topk(FAN_IN, dim=1).indices, self.logits)
        if self.training:
            one_hots = straight_through(one_hots, torch.sigmoid(self.logits / self.tau).unsqueeze(1))
        return functional.linear(values, one_hots.flatten(0, 1)).view(-1, len(self.logits), FAN_IN)


class KnownInputs(nn.Module):
    def __init__(self, picks):
        super().__init__()
        self.register_buffer("picks", torch.tensor(picks))

    def forward(self, values):
        return values[:, self.picks]


class MemberSelection(nn.Module):
    """Each slot uses its best member of a pool."""

    def __init__(self, slots, pool, tau):
        super().__init__()
        self.logits = nn.Parameter(torch.randn(slots, pool))
        self.tau = tau

    def forward(self, read, pool):
        """The pool's modules on [row, slot, input] give [row, slot, output]."""
        one_hots = one_hot(self.logits.argmax(dim=1), self.logits)
        if self.training:
            one_hots = straight_through(one_hots, torch.softmax(self.logits / self.tau, dim=1))
        # A member takes all slots in one call.
        of_members = torch.stack([member(read) for member in pool], dim=3)
        return (of_members * one_hots.unsqueeze(1)).sum(dim=3)


class KnownMember(nn.Module):
    """All slots use one known member of a pool."""

    def __init__(self, member):
        super().__init__()
        self.member = member

    def forward(self, read, pool):
        return pool[self.member](read)


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = mlp(*DENSE_WIDTHS)

    def forward(self, images):
        return self.layers(images.flatten(1))


def input_selections(known, tau):
    """One for every level, and one with a single chooser whose picks are the network's outputs."""
    if known:
        return nn.ModuleList(map(KnownInputs, KNOWN_INPUTS))
    return nn.ModuleList(InputSelection(*shape, tau) for shape in zip(CANDIDATES, LEVELS + [1]))


def image_selection(known, tau):
    """Slot by slot, the known image is the image at the slot's place."""
    return nn.Identity() if known else ImageSelection(IMAGES, tau)


class Modular(nn.Module):
    def __init__(self, known, tau):
        super().__init__()
        self.select_images = image_selection(known, tau)
        self.inputs_of_level = input_selections(known, tau)
        self.image_modules = nn.ModuleList(mlp(*IMAGE_WIDTHS) for _ in range(IMAGES))
        self.levels = nn.ModuleList(nn.ModuleList(mlp(*MODULE_WIDTHS) for _ in range(width)) for width in LEVELS)

    def forward(self, images):
        *selections, select_outputs = self.inputs_of_level
        seen = self.select_images(images).unbind(dim=1)
        values = torch.cat([module(image) for module, image in zip(self.image_modules, seen)], dim=1)
        for select, modules in zip(selections, self.levels):
            read = select(values).unbind(dim=1)
            values = torch.cat([module(inputs) for module, inputs in zip(modules, read)], dim=1)
        return select_outputs(values).squeeze(1)


class Shared(nn.Module):
    def __init__(self, known, tau):
        super().__init__()
        self.image_pool = nn.ModuleList([mlp(*IMAGE_WIDTHS)])
        self.pool = nn.ModuleList(mlp(*MODULE_WIDTHS) for _ in range(POOL))
        if known:
            self.image_members = KnownMember(0)
            self.members_of_level = nn.ModuleList(map(KnownMember, KNOWN_MEMBER_OF_LEVEL))
        else:
            self.image_members = MemberSelection(IMAGES, len(self.image_pool), tau)
            self.members_of_level = nn.ModuleList(MemberSelection(width, POOL, tau) for width in LEVELS)
        self.select_images = image_selection(known, tau)
        self.inputs_of_level = input_selections(known, tau)

    def forward(self, images):
        *selections, select_outputs = self.inputs_of_level
        values = self.image_members(self.select_images(images), self.image_pool).flatten(1)
        for select, run_members in zip(selections, self.members_of_level):
            values = run_members(select(values), self.pool).squeeze(2)
        return select_outputs(values).squeeze(1)


MODELS = {
    "dense": lambda tau: Dense(),
    "modular": lambda tau: Modular(False, tau),
    "modular-fc": lambda tau: Modular(True, tau),
    "modular-shared": lambda tau: Shared(False, tau),
    "modular-shared-fcms": lambda tau: Shared(True, tau),
}


class Trainer:
    def __init__(self, arguments):
        torch.manual_seed(arguments.seed)
        self.model = MODELS[arguments.model](arguments.tau)
        named = list(self.model.named_parameters())
        functional_part = [parameter for name, parameter in named if not name.endswith("logits")]
        structural_part = [parameter for name, parameter in named if name.endswith("logits")]
        groups = [{"params": functional_part, "lr": arguments.lr}]
        if structural_part:
            groups.append({"params": structural_part, "lr": arguments.lr_structural})
        self.optimizer = torch.optim.Adam(groups, weight_decay=arguments.weight_decay, foreach=ADAM_FOREACH)

    def step(self, images, targets):
        self.optimizer.zero_grad(set_to_none=True)
        loss = functional.binary_cross_entropy_with_logits(self.model(images), targets)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    @torch.inference_mode()
    def evaluation_logits(self, images):
        self.model.eval()
        logits = self.model(images)
        self.model.train()
        return logits


class ChosenFirstLayer(torch.autograd.Function):
    """The first layers of image modules on the images that their slots choose, straight-through.

    images [row, image, pixel], weight [module, unit, pixel], bias [module, unit], soft [slot, image]; gives
    [row, slot, unit]. There is a module for each slot, or one for all. Since the layer is linear, choosing an image is
    choosing among the layer's outputs for all images: the soft vectors then learn without a gradient of pixels.
    """

    @staticmethod
    def forward(context, images, weight, bias, soft):
        picks = soft.argmax(dim=1).tolist()
        modules = range(len(weight)) if len(weight) > 1 else [0] * len(picks)
        of_images = torch.addmm(bias.view(-1), images.flatten(0, 1), weight.flatten(0, 1).t())
        of_images = of_images.view(*images.shape[:2], *bias.shape)
        context.choices = list(zip(picks, modules))
        context.save_for_backward(images, weight, of_images)
        return torch.stack([of_images[:, pick, module] for pick, module in context.choices], dim=1)

    @staticmethod
    def backward(context, upstream):
        images, weight, of_images = context.saved_tensors
        weight_gradient, bias_gradient = torch.zeros_like(weight), torch.zeros(weight.shape[:2])
        soft_gradient = torch.empty(len(context.choices), IMAGES)
        for slot, (pick, module) in enumerate(context.choices):
            own = upstream[:, slot]
            weight_gradient[module].addmm_(own.t(), images[:, pick])
            bias_gradient[module] += own.sum(dim=0)
            soft_gradient[slot] = (of_images[:, :, module] * own.unsqueeze(1)).sum(dim=(0, 2))
        return None, weight_gradient, bias_gradient, soft_gradient


class TunedDense:
    def __init__(self):
        self.tensors = []
        for width_in, width_out in zip(DENSE_WIDTHS, DENSE_WIDTHS[1:]):
            self.tensors += [common.Tensor((width_out, width_in), width_in), common.Tensor((width_out,), width_in)]

    def logits(self, parameters, images, _training):
        values = functional.linear(images.flatten(1), parameters[0], parameters[1])
        for layer in range(2, len(parameters), 2):
            values = functional.linear(values.relu(), parameters[layer], parameters[layer + 1])
        return values


class TunedKnownLevels:
    """The levels of common.py with known structure; with members, a level's modules are one member of a pool."""

    def __init__(self, member_of_level=None):
        self.member_of_level = member_of_level
        self.tensors = [tensor for count in (LEVELS if member_of_level is None else [POOL])
                        for tensor in common.module_tensors(count)]
        self.picks = [torch.tensor(picks).view(-1) for picks in KNOWN_INPUTS]

    def train_logits(self, parameters, values):
        for level, width in enumerate(LEVELS):
            read = values.index_select(0, self.picks[level]).view(width, FAN_IN, -1)
            if self.member_of_level is None:
                values = common.run_modules(parameters[4 * level : 4 * level + 4], read)
            else:
                member = self.member_of_level[level]
                weights = [weight[member : member + 1] for weight in parameters]
                values = common.run_modules(weights, read.transpose(0, 1).reshape(1, FAN_IN, -1)).view(width, -1)
        return values[self.picks[-1]]

    evaluate_logits = train_logits


class TunedRouted:
    """Image modules, [module, unit out, unit in], below levels as in common.py, whose values are [unit, row]."""

    def __init__(self, image_modules, levels):
        self.levels = levels
        self.known = isinstance(levels, TunedKnownLevels)
        self.tensors = []
        for width_in, width_out in zip(IMAGE_WIDTHS, IMAGE_WIDTHS[1:]):
            self.tensors.append(common.Tensor((image_modules, width_out, width_in), width_in))
            self.tensors.append(common.Tensor((image_modules, width_out), width_in))
        self.first_of_levels = len(self.tensors)
        self.tensors += levels.tensors
        if not self.known:
            # The choice among a single image module is none, so only images are chosen.
            self.tensors.append(common.Tensor((IMAGES, IMAGES)))

    def layer(self, weight, bias, values):
        """[row, slot, unit] gives the same; there is a module for each slot, or one for all."""
        if len(weight) == 1:
            return functional.linear(values, weight[0], bias[0])
        return torch.baddbmm(bias.unsqueeze(1), values.transpose(0, 1), weight.transpose(1, 2)).transpose(0, 1)

    def logits(self, parameters, images, training):
        first, first_bias, *others = parameters[: self.first_of_levels]
        level_parameters = parameters[self.first_of_levels :]
        if self.known:
            values = self.layer(first, first_bias, images)
        else:
            *level_parameters, image_logits = level_parameters
            if training:
                soft = torch.softmax(image_logits / common.TAU, dim=1)
                values = ChosenFirstLayer.apply(images, first, first_bias, soft)
            else:
                values = self.layer(first, first_bias, images[:, image_logits.argmax(dim=1)])
        for weight, bias in zip(others[::2], others[1::2]):
            values = self.layer(weight, bias, values.relu())
        values = values.reshape(-1, IMAGES * BITS).t()
        run = self.levels.train_logits if training else self.levels.evaluate_logits
        return run(level_parameters, values).t()


TUNED_NETWORKS = {
    "dense": TunedDense,
    "modular": lambda: TunedRouted(IMAGES, common.Modular(LEVELS)),
    "modular-fc": lambda: TunedRouted(IMAGES, TunedKnownLevels()),
    "modular-shared": lambda: TunedRouted(1, common.Shared(LEVELS, POOL)),
    "modular-shared-fcms": lambda: TunedRouted(1, TunedKnownLevels(KNOWN_MEMBER_OF_LEVEL)),
}


class Adam:
    """Adam with coupled weight decay on one flat storage, in pieces that stay in the second-level cache.

    As common.Adam, but the decay is an argument, and two operations replace lerp_, which is slow on long tensors.
    """

    PIECE = 1 << 16

    def __init__(self, flat, rated_sizes, weight_decay):
        self.step_count = 0
        self.weight_decay = weight_decay
        self.pieces = []
        for part, (_, rate) in zip(flat.split([size for size, _ in rated_sizes]), rated_sizes):
            self.pieces += [(piece, *torch.zeros(3, len(piece)), rate) for piece in part.split(self.PIECE)]
        self.sizes = [len(piece[0]) for piece in self.pieces]

    @torch.no_grad()
    def step(self, gradient):
        self.step_count += 1
        root_correction2 = math.sqrt(1 - BETA2**self.step_count)
        scale, epsilon = -root_correction2 / (1 - BETA1**self.step_count), EPSILON * root_correction2
        for part, (values, moment1, moment2, scratch, rate) in zip(gradient.split(self.sizes), self.pieces):
            part.add_(values, alpha=self.weight_decay)
            moment1.mul_(BETA1).add_(part, alpha=1 - BETA1)
            moment2.mul_(BETA2).addcmul_(part, part, value=1 - BETA2)
            torch.sqrt(moment2, out=scratch).add_(epsilon)
            values.addcdiv_(moment1, scratch, value=scale * rate)


class TunedTrainer:
    """As in eager_tuned.py, the parameters are leaves that share one flat storage, on which Adam works."""

    def __init__(self, arguments):
        common.TAU = arguments.tau  # what the levels of common.py read
        torch.manual_seed(arguments.seed)
        self.network = TUNED_NETWORKS[arguments.model]()
        tensors = self.network.tensors
        flat = torch.cat([tensor.initial(1, torch.default_generator).view(-1) for tensor in tensors])
        pieces = flat.split([tensor.size for tensor in tensors])
        self.values = [piece.view(tensor.shape) for piece, tensor in zip(pieces, tensors)]
        self.leaves = [value.detach().requires_grad_(True) for value in self.values]
        functional_size = sum(tensor.size for tensor in tensors if not tensor.structural)
        rated_sizes = [(functional_size, arguments.lr)]
        if functional_size < len(flat):
            rated_sizes.append((len(flat) - functional_size, arguments.lr_structural))
        self.adam = Adam(flat, rated_sizes, arguments.weight_decay)

    def step(self, images, targets):
        logits = self.network.logits(self.leaves, images, True)
        loss = functional.binary_cross_entropy_with_logits(logits, targets)
        gradients = torch.autograd.grad(loss, self.leaves)
        self.adam.step(torch.cat([gradient.reshape(-1) for gradient in gradients]))
        return loss.detach()

    @torch.inference_mode()
    def evaluation_logits(self, images):
        return self.network.logits(self.values, images, False)


def accuracy(trainer, samples):
    """Per bit, in per cent."""
    right = 0
    for rows in torch.arange(len(samples.targets)).split(EVALUATION_BATCH):
        images, targets = samples.batch(rows)
        right += ((trainer.evaluation_logits(images) > 0) == (targets > 0.5)).sum().item()
    return 100 * right / samples.targets.numel()


def shuffled_batches(samples, batch):
    for rows in torch.randperm(len(samples.targets)).split(batch):
        yield samples.batch(rows)


def time_steps(trainer, samples, arguments):
    def run(steps):
        while steps > 0:
            for images, targets in shuffled_batches(samples, arguments.batch):
                if steps == 0:
                    break
                trainer.step(images, targets)
                steps -= 1

    run(WARM_UP_STEPS)
    seconds, processor_seconds = [], []
    for _ in range(arguments.repeats):
        start, processor_start = time.perf_counter(), time.process_time()
        run(arguments.steps)
        seconds.append(time.perf_counter() - start)
        processor_seconds.append(time.process_time() - processor_start)
    return {
        "us_per_step": round(1e6 * min(seconds) / arguments.steps, 1),
        "processor_us_per_step": round(1e6 * min(processor_seconds) / arguments.steps, 1),
    }


def train(trainer, data, arguments):
    history = {f"{name}_accuracy": [] for name in data.evaluated}
    history["training_loss"] = []
    start = time.perf_counter()
    for _ in range(arguments.epochs):
        losses = [trainer.step(*batch) for batch in shuffled_batches(data.train, arguments.batch)]
        history["training_loss"].append(round(torch.stack(losses).mean().item(), 6))
        for name, samples in data.evaluated.items():
            history[f"{name}_accuracy"].append(accuracy(trainer, samples))
    return {**history, "seconds": round(time.perf_counter() - start, 2)}


def parse_arguments():
    parser = argparse.ArgumentParser(description="PyTorch on the published MNIST protocol.")
    parser.add_argument("--data", type=pathlib.Path, required=True, help="directory of the four uncompressed IDX files")
    parser.add_argument("--model", choices=sorted(MODELS), default="modular-shared")
    parser.add_argument("--mode", choices=("steps", "train"), default="steps")
    parser.add_argument("--tuned", action="store_true", help="the same training with fewer operations")
    parser.add_argument("--ratio", type=float, default=0.8, help="share of the combinations that are trained on")
    parser.add_argument("--split-seed", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--samples", type=int, default=100, help="training pairs for each combination")
    parser.add_argument("--test-samples", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=10, help="in train mode")
    parser.add_argument("--steps", type=int, default=200, help="in steps mode")
    parser.add_argument("--repeats", type=int, default=3, help="in steps mode; the best counts")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--lr-structural", type=float, default=0.01)
    parser.add_argument("--tau", type=float, default=0.5)
    parser.add_argument("--weight-decay", type=float, default=1e-4)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    data = Data(arguments)
    trainer = TunedTrainer(arguments) if arguments.tuned else Trainer(arguments)
    if arguments.mode == "steps":
        report = time_steps(trainer, data.train, arguments)
    else:
        report = train(trainer, data, arguments)
    report["torch"] = torch.__version__
    report["blas"] = "openblas" if common.uses_openblas() else "other"
    print(json.dumps(report))


if __name__ == "__main__":
    main()
