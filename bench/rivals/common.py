"""What the rivals share: the tasks, the networks as functions of a parameter list, Adam, timing and the report.

A network's values are laid out features first, [unit, row], so that one layer is one matrix product without
transposes. Parameters are named tensors; the functional ones come first, the structural ones last.
"""

import argparse
import json
import math
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import torch
from torch.nn import functional

torch.set_num_threads(1)

ROWS, INPUTS, OUTPUTS = 64, 6, 2
HIDDEN, MODULE_HIDDEN, FAN_IN = 36, 12, 2
LR, LR_STRUCTURAL, WEIGHT_DECAY, TAU, NOISE = 0.01, 0.1, 1e-3, 2.0, 0.1
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
TRAIN_ROWS, VALIDATION_ROWS, TEST_ROWS = 32, 16, 16
SPLIT_SEED = 40
TRAIN, VALIDATION, TEST = range(3)

# Row 0 is the most significant bit.
OUTPUT_WORDS = {
    "depth2": (0x00000FF00FF00000, 0x0660066006600660),
    "depth3": (0x00006FF66FF60000, 0x0660666666660660),
}


class Task:
    """The truth table with its rows in split order: train, validation, test."""

    def __init__(self, name, split_seed=SPLIT_SEED):
        order = torch.randperm(ROWS, generator=torch.Generator().manual_seed(split_seed))
        shifts = torch.arange(INPUTS - 1, -1, -1)
        words = OUTPUT_WORDS[name]
        bits = [[(word >> (ROWS - 1 - row)) & 1 for row in range(ROWS)] for word in words]
        self.inputs = ((order >> shifts.unsqueeze(1)) & 1).float()  # [input, row]
        self.targets = torch.tensor(bits, dtype=torch.float32)[:, order].contiguous()
        self.train_inputs = self.inputs[:, :TRAIN_ROWS].contiguous()
        self.train_targets = self.targets[:, :TRAIN_ROWS].contiguous()
        # One product with this matrix turns per-row sums over outputs into the three splits' means.
        sizes = torch.tensor([TRAIN_ROWS, VALIDATION_ROWS, TEST_ROWS])
        split_of_row = torch.repeat_interleave(torch.arange(3), sizes)
        self.mean_of_split = functional.one_hot(split_of_row, 3) / (sizes * float(OUTPUTS))


class Tensor:
    """One parameter tensor of a network: its shape, how it starts, and whether it is structural."""

    def __init__(self, shape, fan_in=None, used=None):
        self.shape = shape
        self.size = math.prod(shape)
        self.fan_in = fan_in
        self.used = used  # for padded logits: 1 where the entry is a logit, 0 where it is padding

    @property
    def structural(self):
        return self.fan_in is None

    def initial(self, count, generator):
        """PyTorch's default for linear layers, standard normal for logits: [count, *shape]."""
        if self.structural:
            logits = torch.randn((count, *self.shape), generator=generator)
            return logits if self.used is None else logits * self.used
        bound = 1 / math.sqrt(self.fan_in)
        return torch.empty((count, *self.shape)).uniform_(-bound, bound, generator=generator)


class Dense:
    def __init__(self, hidden_layers):
        widths = [INPUTS] + [HIDDEN] * hidden_layers + [OUTPUTS]
        self.tensors = []
        for width_in, width_out in zip(widths, widths[1:]):
            self.tensors += [Tensor((width_out, width_in), width_in), Tensor((width_out, 1), width_in)]

    def train_logits(self, parameters, inputs):
        values = torch.addmm(parameters[1], parameters[0], inputs)
        for layer in range(2, len(parameters), 2):
            values = torch.addmm(parameters[layer + 1], parameters[layer], values.relu())
        return values

    evaluate_logits = train_logits


def module_tensors(modules):
    """The two layers of MODULES module networks, [module, unit out, unit in]."""
    return [
        Tensor((modules, MODULE_HIDDEN, FAN_IN), FAN_IN),
        Tensor((modules, MODULE_HIDDEN, 1), FAN_IN),
        Tensor((modules, 1, MODULE_HIDDEN), MODULE_HIDDEN),
        Tensor((modules, 1, 1), MODULE_HIDDEN),
    ]


def run_modules(weights, read):
    """Each module on its own inputs: read [module, pick, row] gives [module, row]."""
    first, first_bias, second, second_bias = weights
    hidden = torch.baddbmm(first_bias, first, read).relu()
    return torch.baddbmm(second_bias, second, hidden).squeeze(-2)


class InputSelection:
    """Every input and output choice of a network in one padded logit matrix, [chooser, candidate].

    All choosers then share one sigmoid, one top-k and one lookup, whatever their level. Padding has no
    gradient, starts at zero and so stays there.
    """

    def __init__(self, widths):
        self.widths = widths
        self.choosers = widths + [1]
        self.candidates = [INPUTS] + widths
        used = torch.zeros(sum(self.choosers), INPUTS)
        first = 0
        for choosers, candidates in zip(self.choosers, self.candidates):
            used[first : first + choosers, :candidates] = 1
            first += choosers
        self.tensor = Tensor(tuple(used.shape), used=used)
        self.never_pick_padding = torch.zeros_like(used).masked_fill_(used == 0, -math.inf)
        self.identity = torch.eye(INPUTS)

    def picks(self, logits):
        """The candidates each chooser reads, best first: [..., chooser, pick]."""
        return (logits.detach() + self.never_pick_padding).topk(FAN_IN, sorted=True).indices

    def one_hots(self, logits):
        """Straight-through one-hots of each level: a list of [pick, chooser, candidate].

        Adding soft minus itself adds exactly nothing forward and passes the whole gradient to soft.
        """
        soft = torch.sigmoid(logits / TAU)
        hard = self.identity[self.picks(logits).transpose(-1, -2)]
        return (hard + (soft - soft.detach())).split(self.choosers, dim=1)


class Modular:
    def __init__(self, widths):
        self.widths = widths
        self.selection = InputSelection(widths)
        self.tensors = [tensor for width in widths for tensor in module_tensors(width)]
        self.tensors.append(self.selection.tensor)

    def train_logits(self, parameters, values):
        one_hots = self.selection.one_hots(parameters[-1])
        for level, width in enumerate(self.widths):
            seen = one_hots[level][:, :, : values.shape[0]].reshape(FAN_IN * width, -1)
            read = torch.mm(seen, values).view(FAN_IN, width, -1).transpose(0, 1)
            values = run_modules(parameters[4 * level : 4 * level + 4], read)
        return torch.mm(one_hots[-1][:, 0, : values.shape[0]], values)

    def evaluate_logits(self, parameters, values):
        picks = self.selection.picks(parameters[-1]).split(self.selection.choosers)
        for level in range(len(self.widths)):
            values = run_modules(parameters[4 * level : 4 * level + 4], values[picks[level]])
        return values[picks[-1][0]]


class Shared:
    def __init__(self, widths, pool):
        self.widths = widths
        self.pool = pool
        self.selection = InputSelection(widths)
        self.tensors = module_tensors(pool) + [Tensor((pool, sum(widths))), self.selection.tensor]
        self.identity = torch.eye(pool)

    def train_logits(self, parameters, values):
        first, first_bias, second, second_bias, module_logits, input_logits = parameters
        one_hots = self.selection.one_hots(input_logits)
        soft = torch.softmax(module_logits / TAU, dim=0)
        hard = self.identity[:, module_logits.detach().argmax(dim=0)]
        chosen = (hard + (soft - soft.detach())).unsqueeze(2).split(self.widths, dim=1)
        # Every member sees every slot's inputs, so the pool's first layers are one matrix product.
        first, first_bias = first.reshape(-1, FAN_IN), first_bias.reshape(-1, 1)
        for level, width in enumerate(self.widths):
            seen = one_hots[level][:, :, : values.shape[0]].reshape(FAN_IN * width, -1)
            read = torch.mm(seen, values).view(FAN_IN, -1)
            hidden = torch.addmm(first_bias, first, read).relu().view(self.pool, MODULE_HIDDEN, -1)
            of_members = torch.baddbmm(second_bias, second, hidden).view(self.pool, width, -1)
            values = (of_members * chosen[level]).sum(dim=0)
        return torch.mm(one_hots[-1][:, 0, : values.shape[0]], values)

    def evaluate_logits(self, parameters, values):
        member_of_slot = parameters[4].argmax(dim=0)
        weights = [weight[member_of_slot].split(self.widths) for weight in parameters[:4]]
        picks = self.selection.picks(parameters[5]).split(self.selection.choosers)
        for level in range(len(self.widths)):
            values = run_modules([weight[level] for weight in weights], values[picks[level]])
        return values[picks[-1][0]]


WORKS = {
    "dense-depth2": ("depth2", lambda: Dense(3)),
    "dense-depth3": ("depth3", lambda: Dense(5)),
    "modular-depth2": ("depth2", lambda: Modular([3, 2])),
    "modular-shared-depth2": ("depth2", lambda: Shared([3, 2], 2)),
    "modular-shared-depth3": ("depth3", lambda: Shared([3, 3, 2], 3)),
}


class Adam:
    """Adam with coupled weight decay over a few large tensors, in place, with a learning rate for each part.

    `parts` are (index, first, last, parameter, lr): the flat range of a parameter that has this rate, and which
    gradient of a step belongs to it. Passes work on pieces that stay in the second-level cache, because a
    stacked ensemble's state does not fit as a whole.
    """

    PIECE = 1 << 16

    def __init__(self, parts):
        self.step_count = 0
        self.pieces = []
        for index, first, last, parameter, rate in parts:
            for start in range(first, last, self.PIECE):
                stop = min(start + self.PIECE, last)
                state = torch.zeros(3, stop - start)
                view = parameter.detach().view(-1)[start:stop]
                self.pieces.append((index, start, stop, view, *state, rate))

    @torch.no_grad()
    def step(self, gradients):
        self.step_count += 1
        correction1 = 1 - BETA1**self.step_count
        root_correction2 = math.sqrt(1 - BETA2**self.step_count)
        # Both corrections folded into the rate and epsilon: one pass less over the second moment.
        scale, epsilon = -root_correction2 / correction1, EPSILON * root_correction2
        flats = [gradient.reshape(-1) for gradient in gradients]
        for index, start, stop, values, moment1, moment2, scratch, rate in self.pieces:
            gradient = flats[index][start:stop]
            gradient.add_(values, alpha=WEIGHT_DECAY)
            moment1.lerp_(gradient, 1 - BETA1)
            moment2.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
            torch.sqrt(moment2, out=scratch)
            scratch.add_(epsilon)
            values.addcdiv_(moment1, scratch, value=scale * rate)


def adam_for_tensors(tensors, parameters):
    """Adam over one parameter for each tensor of the network."""
    rates = [LR_STRUCTURAL if tensor.structural else LR for tensor in tensors]
    numbered = enumerate(zip(parameters, rates))
    return Adam([(index, 0, parameter.numel(), parameter, rate) for index, (parameter, rate) in numbered])


def splits_record(task, logits):
    """Mean loss and per-bit accuracy on the three splits from the logits of all rows: [..., 6]."""
    targets = task.targets.expand_as(logits)
    loss = functional.binary_cross_entropy_with_logits(logits, targets, reduction="none").sum(dim=-2)
    hits = ((logits > 0) == (targets > 0)).sum(dim=-2).float()
    return torch.cat([loss @ task.mean_of_split, hits @ task.mean_of_split], dim=-1)


def accuracy_at_best_validation(history):
    """Test accuracy in per cent at the first epoch of best validation accuracy; history is [epoch, ..., 6]."""
    validation = history[..., 3 + VALIDATION]
    best = validation.max(dim=0).values
    first = (validation == best).float().argmax(dim=0)
    return 100 * history[..., 3 + TEST].gather(0, first.unsqueeze(0)).squeeze(0)


def steps_per_epoch(batch):
    return -(-TRAIN_ROWS // batch)


def uses_openblas():
    try:
        with open("/proc/self/maps", encoding="utf-8") as maps:
            return any("openblas" in line for line in maps)
    except OSError:
        return False


def parse_arguments(rival, ensembles=True):
    """A rival without ensembles accepts --ensemble like the others, but trains one network at a time."""
    parser = argparse.ArgumentParser(description=f"Times PyTorch on small networks: {rival}.")
    parser.add_argument("--work", choices=sorted(WORKS), default="dense-depth2")
    parser.add_argument("--batch", type=int, default=64, help="64 is the full batch in loop mode")
    parser.add_argument("--mode", choices=("loop", "step"), default="loop")
    parser.add_argument("--epochs", type=int, default=1000, help="epochs in loop mode, steps in step mode")
    parser.add_argument("--ensemble", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    if not ensembles:
        arguments.ensemble = 1
    return arguments


def measure(rival, arguments, prepare, run):
    """Times run(prepare(seed), epochs), which gives test accuracies or None, and prints the report.

    Building the networks is not timed.
    """
    run(prepare(0), max(3, min(50, arguments.epochs // 10)))
    seconds, accuracies = [], []
    for repeat in range(arguments.repeats):
        torch.manual_seed(repeat)
        networks = prepare(repeat)
        start = time.perf_counter()
        accuracy = run(networks, arguments.epochs)
        seconds.append(time.perf_counter() - start)
        if accuracy is not None:
            accuracies.append(accuracy.reshape(-1))
    per_epoch = 1e6 * min(seconds) / arguments.epochs / arguments.ensemble
    steps = steps_per_epoch(arguments.batch) if arguments.mode == "loop" else 1
    report = {
        "rival": rival,
        "work": arguments.work,
        "batch": arguments.batch,
        "mode": arguments.mode,
        "ensemble": arguments.ensemble,
        "epochs": arguments.epochs,
        "us_per_net_step": round(per_epoch / steps, 3),
        "us_per_net_epoch": round(per_epoch, 3),
    }
    if accuracies:
        report["test_accuracy"] = round(torch.cat(accuracies).mean().item(), 3)
    report["torch"] = torch.__version__
    report["blas"] = "openblas" if uses_openblas() else "other"
    print(json.dumps(report))
