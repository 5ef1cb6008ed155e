#!/usr/bin/env python3
"""One network at a time in idiomatic PyTorch: modules, autograd, torch.optim.Adam, all data in memory.

This is what a careful researcher writes, clear first and without waste; eager_tuned.py goes on from here.
Values are [row, unit], as is usual in PyTorch.
"""

import common

import torch
from torch import nn
from torch.nn import functional

from common import (
    FAN_IN, HIDDEN, INPUTS, LR, LR_STRUCTURAL, MODULE_HIDDEN, NOISE, OUTPUTS, TAU, TEST_ROWS, TRAIN_ROWS,
    VALIDATION_ROWS, WEIGHT_DECAY, WORKS, Task,
)

# Faster than the plain loop over tensors on dense and modular networks, about as fast on shared ones.
ADAM_FOREACH = True


def mlp(*widths):
    layers = []
    for width_in, width_out in zip(widths, widths[1:]):
        layers += [nn.Linear(width_in, width_out), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def straight_through(hard, soft):
    # In this order the sum is exactly `hard`; (hard - soft) + soft would round.
    return hard + (soft - soft.detach())


class InputSelection(nn.Module):
    """Each chooser reads its best candidates, best first."""

    def __init__(self, candidates, choosers):
        super().__init__()
        self.logits = nn.Parameter(torch.randn(choosers, candidates))

    def forward(self, values):
        """[row, candidate] gives [row, chooser, pick]."""
        choosers, candidates = self.logits.shape
        picks = self.logits.topk(FAN_IN, dim=1).indices
        one_hots = functional.one_hot(picks, candidates).to(values.dtype)
        if self.training:
            one_hots = straight_through(one_hots, torch.sigmoid(self.logits / TAU).unsqueeze(1))
        return functional.linear(values, one_hots.flatten(0, 1)).view(-1, choosers, FAN_IN)


class ModuleSelection(nn.Module):
    """Each slot uses its best member of the pool."""

    def __init__(self, slots, pool):
        super().__init__()
        self.logits = nn.Parameter(torch.randn(slots, pool))

    def forward(self, of_members):
        """[row, slot, member] gives [row, slot]."""
        one_hots = functional.one_hot(self.logits.argmax(dim=1), self.logits.shape[1]).to(of_members.dtype)
        if self.training:
            one_hots = straight_through(one_hots, torch.softmax(self.logits / TAU, dim=1))
        return (of_members * one_hots).sum(dim=2)


def input_selections(widths):
    """One for every level, and one with a single chooser whose picks are the network's outputs."""
    return nn.ModuleList(map(InputSelection, [INPUTS] + widths, widths + [1]))


class Dense(nn.Module):
    def __init__(self, hidden_layers):
        super().__init__()
        self.layers = mlp(INPUTS, *[HIDDEN] * hidden_layers, OUTPUTS)

    def forward(self, inputs):
        return torch.sigmoid(self.layers(inputs))


class Modular(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.inputs_of_level = input_selections(widths)
        self.levels = nn.ModuleList(
            nn.ModuleList(mlp(FAN_IN, MODULE_HIDDEN, 1) for _ in range(width)) for width in widths
        )

    def forward(self, values):
        *selections, select_outputs = self.inputs_of_level
        for select, modules in zip(selections, self.levels):
            read = select(values)
            values = torch.cat([module(read[:, index]) for index, module in enumerate(modules)], dim=1)
        return torch.sigmoid(select_outputs(values).squeeze(1))


class Shared(nn.Module):
    def __init__(self, widths, pool):
        super().__init__()
        self.pool = nn.ModuleList(mlp(FAN_IN, MODULE_HIDDEN, 1) for _ in range(pool))
        self.members_of_level = nn.ModuleList(ModuleSelection(width, pool) for width in widths)
        self.inputs_of_level = input_selections(widths)

    def forward(self, values):
        *selections, select_outputs = self.inputs_of_level
        for select, select_members in zip(selections, self.members_of_level):
            read = select(values)
            # Training needs every member's output. Evaluation does not, but a member takes all slots in one
            # call, so running only the chosen ones, slot by slot, would take more calls.
            values = select_members(torch.cat([member(read) for member in self.pool], dim=2))
        return torch.sigmoid(select_outputs(values).squeeze(1))


MODELS = {
    "dense-depth2": lambda: Dense(3),
    "dense-depth3": lambda: Dense(5),
    "modular-depth2": lambda: Modular([3, 2]),
    "modular-shared-depth2": lambda: Shared([3, 2], 2),
    "modular-shared-depth3": lambda: Shared([3, 3, 2], 3),
}


class Trainer:
    def __init__(self, work, seed):
        torch.manual_seed(seed)
        self.model = MODELS[work]()
        self.loss = nn.BCELoss()
        named = list(self.model.named_parameters())
        functional_part = [parameter for name, parameter in named if not name.endswith("logits")]
        structural_part = [parameter for name, parameter in named if name.endswith("logits")]
        groups = [{"params": functional_part, "lr": LR}]
        if structural_part:
            groups.append({"params": structural_part, "lr": LR_STRUCTURAL})
        self.optimizer = torch.optim.Adam(groups, weight_decay=WEIGHT_DECAY, foreach=ADAM_FOREACH)

    def step(self, inputs, targets):
        self.optimizer.zero_grad(set_to_none=True)
        self.loss(self.model(inputs), targets).backward()
        self.optimizer.step()

    @torch.inference_mode()
    def evaluate(self, splits):
        """Losses, then per-bit accuracies, of the splits: each split is one batch."""
        self.model.eval()
        losses, accuracies = [], []
        for inputs, targets in splits:
            outputs = self.model(inputs)
            losses.append(self.loss(outputs, targets))
            accuracies.append(((outputs > 0.5) == (targets > 0.5)).float().mean())
        self.model.train()
        return torch.stack(losses + accuracies)


def train_loop(trainer, task, batch, epochs):
    """Gives the test accuracy at the first epoch of best validation accuracy."""
    sizes = [TRAIN_ROWS, VALIDATION_ROWS, TEST_ROWS]
    inputs, targets = task.inputs.t().contiguous(), task.targets.t().contiguous()
    splits = list(zip(inputs.split(sizes), targets.split(sizes)))
    train_inputs, train_targets = splits[common.TRAIN]
    history = []
    for _ in range(epochs):
        for rows in torch.randperm(TRAIN_ROWS).split(batch):
            inputs = train_inputs[rows]
            trainer.step(inputs + NOISE * torch.randn_like(inputs), train_targets[rows])
        history.append(trainer.evaluate(splits))
    return common.accuracy_at_best_validation(torch.stack(history))


def train_steps(trainer, task, batch, steps):
    inputs, targets = task.inputs[:, :batch].t().contiguous(), task.targets[:, :batch].t().contiguous()
    for _ in range(steps):
        trainer.step(inputs, targets)


def main():
    arguments = common.parse_arguments("eager", ensembles=False)
    task = Task(WORKS[arguments.work][0])
    train = train_loop if arguments.mode == "loop" else train_steps
    common.measure(
        "eager",
        arguments,
        prepare=lambda seed: Trainer(arguments.work, seed),
        run=lambda trainer, epochs: train(trainer, task, arguments.batch, epochs),
    )


if __name__ == "__main__":
    main()
