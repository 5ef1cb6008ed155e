"""The architectures in plain PyTorch, written for clarity: the reference that the fixtures record.

Parameters are registered in the order of the flat vector in a fixture:
  dense, sparse   per layer weight, bias
  modular         S_1, S_2, ..., output vector, then per level, per module, per layer weight, bias
  shared          per pool member, per layer weight, bias; module logits level by level; S_1, ..., output vector
Logit tensors are candidate x module; with several tasks they have a leading task dimension.
"""

import math

import torch
from torch import nn
from torch.nn import functional

from truth_tables import INPUT_ROUTING, INPUTS, MODULE_ROUTING, OUTPUT_ROUTING, OUTPUTS, task_parts

FIRST_PICK_LOGIT = 1.1
SECOND_PICK_LOGIT = 1.0
FIXED_MODULE_LOGIT = 1.0


class StraightThrough(torch.autograd.Function):
    """Forward gives the hard choice unchanged, backward hands the whole gradient to the soft one."""

    @staticmethod
    def forward(_context, _soft, hard):
        return hard

    @staticmethod
    def backward(_context, gradient):
        return gradient, None


class Selector:
    """Makes the choices of one forward pass and remembers how close the closest of them was.

    `noise` holds one tensor for every logit tensor, in parameter order, or is None. Per batch a noise tensor
    has the shape of its logits, per sample it has a leading row dimension.
    """

    def __init__(self, tau, noise, noise_per_sample, task):
        self.tau = tau
        self.noise = noise
        self.noise_per_sample = noise_per_sample
        self.task = task
        self.closest_call = math.inf
        self.picks = []

    def noisy_logits(self, logits, noise_index):
        """The logits every row sees: [rows or 1, candidates, choosers]."""
        noise = None if self.noise is None else self.noise[noise_index]
        if noise is not None and not self.noise_per_sample:
            logits = logits + noise
        rows_see = logits.unsqueeze(0) if self.task is None else logits[self.task]
        if noise is not None and self.noise_per_sample:
            own = noise if self.task is None else noise[torch.arange(len(self.task)), self.task]
            rows_see = rows_see + own
        return rows_see

    def record(self, logits, picks):
        """Competing logits are each pick and its successor in rank, down to the first one left out."""
        ranked = logits.detach().sort(dim=1, descending=True).values[:, : picks + 1]
        if ranked.shape[1] > 1:
            gaps = ranked[:, :-1] - ranked[:, 1:]
            self.closest_call = min(self.closest_call, gaps.min().item())

    def top(self, logits, noise_index, picks):
        """One-hots of the best candidates by rank: [rows or 1, candidates, choosers, picks]."""
        seen = self.noisy_logits(logits, noise_index)
        soft = torch.sigmoid(seen if self.tau is None else seen / self.tau)
        chosen = seen.topk(picks, dim=1).indices  # [rows, picks, choosers]
        self.record(seen, picks)
        self.picks.append(chosen[0].t().tolist())
        hard = functional.one_hot(chosen, seen.shape[1]).to(soft.dtype).permute(0, 3, 2, 1)
        return StraightThrough.apply(soft.unsqueeze(3).expand_as(hard), hard)

    def one(self, logits, noise_index):
        """One-hot of the best candidate: [rows or 1, candidates, choosers]."""
        seen = self.noisy_logits(logits, noise_index)
        soft = torch.softmax(seen if self.tau is None else seen / self.tau, dim=1)
        chosen = seen.argmax(dim=1)  # [rows, choosers]
        self.record(seen, 1)
        self.picks.append(chosen[0].tolist())
        hard = functional.one_hot(chosen, seen.shape[1]).to(soft.dtype).permute(0, 2, 1)
        return StraightThrough.apply(soft, hard)


def module_mlp(widths):
    layers = []
    for width_in, width_out in zip(widths, widths[1:]):
        layers += [nn.Linear(width_in, width_out), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Dense(nn.Module):
    """A plain network; with several tasks the task is appended to the inputs."""

    structural = ()

    def __init__(self, settings):
        super().__init__()
        self.tasks = len(task_parts(settings["task"]))
        self.task_input = settings.get("task_input", "none")
        appended = {"none": 0, "onehot": self.tasks, "scalar": 1}[self.task_input]
        self.layers = module_mlp([INPUTS + appended] + settings["hidden"] + [OUTPUTS])
        self.masks = None

    def linear_layers(self):
        return [layer for layer in self.layers if isinstance(layer, nn.Linear)]

    def prune_at_random(self, density, generator):
        """One threshold for the whole network; a unit that reads nothing loses its bias too."""
        scores = [torch.rand(layer.weight.shape, generator=generator) for layer in self.linear_layers()]
        ordered = torch.cat([score.flatten() for score in scores]).sort().values.double()
        position = (len(ordered) - 1) * (1 - density)
        below = math.floor(position)
        threshold = ordered[below] + (position - below) * (ordered[below + 1] - ordered[below])
        self.masks = []
        for layer, score in zip(self.linear_layers(), scores):
            weight_mask = (score.double() > threshold).to(layer.weight.dtype)
            bias_mask = (weight_mask.sum(dim=1) > 0).to(layer.weight.dtype)
            self.masks += [weight_mask, bias_mask]
            with torch.no_grad():
                layer.weight.mul_(weight_mask)
                layer.bias.mul_(bias_mask)

    def forward(self, inputs, selector):
        hidden = inputs
        if self.task_input == "onehot":
            hidden = torch.cat([inputs, functional.one_hot(selector.task, self.tasks).to(inputs.dtype)], dim=1)
        elif self.task_input == "scalar":
            hidden = torch.cat([inputs, selector.task.to(inputs.dtype).unsqueeze(1)], dim=1)
        if self.masks is None:
            return torch.sigmoid(self.layers(hidden))
        linear = self.linear_layers()
        for index, layer in enumerate(linear):
            weight_mask, bias_mask = (mask.to(inputs.dtype) for mask in self.masks[2 * index : 2 * index + 2])
            hidden = functional.linear(hidden, layer.weight * weight_mask, layer.bias * bias_mask)
            if index + 1 < len(linear):
                hidden = torch.relu(hidden)
        return torch.sigmoid(hidden)


def make_logits(settings, candidates, choosers):
    tasks = len(task_parts(settings["task"]))
    shape = (candidates, choosers) if tasks == 1 else (tasks, candidates, choosers)
    return nn.Parameter(torch.randn(shape))


def make_input_logits(settings, widths):
    """S_1, S_2, ..., then the output vector as a candidate x 1 matrix, which is the same flat order."""
    levels = [make_logits(settings, below, width) for below, width in zip([INPUTS] + widths, widths)]
    candidates = sum(widths) if settings.get("outputs_from") == "all" else widths[-1]
    return nn.ParameterList(levels + [make_logits(settings, candidates, 1)])


@torch.no_grad()
def fix_picks(logits, picks_of_choosers):
    """Sets each chooser's logits so that it reads the listed candidates, and takes them from the optimiser."""
    logits.zero_()
    for chooser, picks in enumerate(picks_of_choosers):
        for candidate, value in zip(picks, (FIRST_PICK_LOGIT, SECOND_PICK_LOGIT)):
            logits[candidate, chooser] = value
    logits.requires_grad_(False)


@torch.no_grad()
def fix_modules(logits, module_of_slot):
    logits.zero_()
    for slot, module in enumerate(module_of_slot):
        logits[module, slot] = FIXED_MODULE_LOGIT
    logits.requires_grad_(False)


def fix_input_logits(settings, input_logits):
    task = settings["task"]
    if settings["model"] in ("modular-fc", "modular-shared-fcms"):
        for logits, routing in zip(input_logits, INPUT_ROUTING[task]):
            fix_picks(logits, routing)
        fix_picks(input_logits[-1], [OUTPUT_ROUTING[task]])
    elif settings.get("known_outputs"):
        fix_picks(input_logits[-1], [OUTPUT_ROUTING[task]])


def read_selected(values, one_hots):
    """[rows, candidates] seen through one-hots gives [rows, choosers, picks]."""
    return (values[:, :, None, None] * one_hots).sum(dim=1)


def read_outputs(settings, selector, levels, logits, noise_index):
    values = torch.cat(levels, dim=1) if settings.get("outputs_from") == "all" else levels[-1]
    one_hots = selector.top(logits, noise_index, OUTPUTS)
    return torch.sigmoid(read_selected(values, one_hots).squeeze(1))


class Modular(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings
        widths = settings["modules"]
        self.input_logits = make_input_logits(settings, widths)
        self.levels = nn.ModuleList(
            nn.ModuleList(module_mlp(settings["module_widths"]) for _ in range(width)) for width in widths
        )
        fix_input_logits(settings, self.input_logits)
        self.structural = tuple(self.input_logits)

    def forward(self, inputs, selector):
        values = inputs
        outputs_of_levels = []
        for level, modules in enumerate(self.levels):
            one_hots = selector.top(self.input_logits[level], level, self.settings["fan_in"])
            read = read_selected(values, one_hots)
            values = torch.cat([module(read[:, index]) for index, module in enumerate(modules)], dim=1)
            outputs_of_levels.append(values)
        level = len(self.levels)
        return read_outputs(self.settings, selector, outputs_of_levels, self.input_logits[level], level)


class Shared(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings
        widths = settings["slots"]
        pool = settings["pool"]
        self.pool = nn.ModuleList(module_mlp(settings["module_widths"]) for _ in range(pool))
        self.module_logits = nn.ParameterList(make_logits(settings, pool, width) for width in widths)
        self.input_logits = make_input_logits(settings, widths)
        fix_input_logits(settings, self.input_logits)
        if settings["model"] == "modular-shared-fcms":
            for logits, routing in zip(self.module_logits, MODULE_ROUTING[settings["task"]]):
                fix_modules(logits, routing)
        self.structural = tuple(self.module_logits) + tuple(self.input_logits)

    def forward(self, inputs, selector):
        values = inputs
        outputs_of_levels = []
        level_count = len(self.module_logits)
        for level in range(level_count):
            one_hots = selector.top(self.input_logits[level], level_count + level, self.settings["fan_in"])
            read = read_selected(values, one_hots)
            of_members = torch.stack([member(read).squeeze(2) for member in self.pool], dim=1)
            values = (of_members * selector.one(self.module_logits[level], level)).sum(dim=1)
            outputs_of_levels.append(values)
        logits = self.input_logits[level_count]
        return read_outputs(self.settings, selector, outputs_of_levels, logits, 2 * level_count)


def build(settings):
    model = settings["model"]
    if model in ("dense", "sparse"):
        return Dense(settings)
    return Shared(settings) if model.startswith("modular-shared") else Modular(settings)


def optimiser_groups(network, settings):
    """Functional parameters, input and output logits, module logits; frozen tensors belong to none."""
    structural = set(network.structural)
    groups = [{"params": [p for p in network.parameters() if p not in structural], "lr": settings["lr"]}]
    for part, rate in (("input_logits", "lr_input"), ("module_logits", "lr_module")):
        learned = [parameter for parameter in getattr(network, part, ()) if parameter.requires_grad]
        if learned:
            groups.append({"params": learned, "lr": settings[rate]})
    return groups


def make_optimiser(network, settings):
    groups = optimiser_groups(network, settings)
    decay = settings["weight_decay"]
    optimiser = settings["optimizer"]
    if optimiser == "adam":
        return torch.optim.Adam(groups, weight_decay=decay)
    if optimiser == "adamw":
        return torch.optim.AdamW(groups, weight_decay=decay)
    if optimiser == "sgd":
        return torch.optim.SGD(groups, lr=settings["lr"], weight_decay=decay)
    if optimiser == "momentum":
        return torch.optim.SGD(groups, lr=settings["lr"], weight_decay=decay, momentum=0.9, nesterov=True)
    if optimiser == "rmsprop":
        return torch.optim.RMSprop(groups, weight_decay=decay)
    raise ValueError(f"unknown optimiser {optimiser}")


def loss_function(settings):
    return {"bce": functional.binary_cross_entropy, "mse": functional.mse_loss}[settings["loss"]]


def flat(tensors):
    return torch.cat([tensor.detach().flatten() for tensor in tensors])


def flat_gradient(network):
    return flat([torch.zeros_like(p) if p.grad is None else p.grad for p in network.parameters()])


@torch.no_grad()
def load_flat(network, values):
    offset = 0
    for parameter in network.parameters():
        parameter.copy_(values[offset : offset + parameter.numel()].view_as(parameter))
        offset += parameter.numel()
    assert offset == len(values)
