#!/usr/bin/env python3
"""Ensembles stacked by hand: every parameter has a leading network dimension, every layer is one batched product.

Values are [network, unit, row].
"""

import common

import torch

from common import FAN_IN, INPUTS, MODULE_HIDDEN, NOISE, TAU, TRAIN_ROWS, WORKS, Dense, Shared, Task

# Up to this many columns two broadcast products replace a batched one: faster at depth 3, no clear loss at depth 2.
SHORT_ROWS = 16


class ReadPicks(torch.autograd.Function):
    """Straight-through reading of chosen candidates: rows are copied forward, the soft vector learns backward.

    values [network, candidate, row], soft [network, chooser, candidate], picks [network, pick, chooser];
    gives [network, pick, chooser, row]. A product with one-hots would do, but costs two more batched products.
    """

    @staticmethod
    def forward(context, values, soft, picks):
        networks, candidates, rows = values.shape
        first = torch.arange(0, networks * candidates, candidates).view(-1, 1, 1)
        sources = (picks + first).view(-1)
        context.save_for_backward(values, sources)
        return values.reshape(-1, rows).index_select(0, sources).view(*picks.shape, rows)

    @staticmethod
    def backward(context, upstream):
        values, sources = context.saved_tensors
        values_gradient = None
        if context.needs_input_grad[0]:
            rows = values.shape[2]
            values_gradient = torch.zeros(values.shape[0] * values.shape[1], rows)
            values_gradient.index_add_(0, sources, upstream.reshape(-1, rows))
            values_gradient = values_gradient.view(values.shape)
        # All picks of a chooser share one soft vector.
        soft_gradient = torch.bmm(upstream.sum(dim=1), values.transpose(1, 2))
        return values_gradient, soft_gradient, None


def read_rows(values, picks):
    """ReadPicks without the learning: picks [network, chooser, pick] gives [network, chooser, pick, row]."""
    networks, candidates, rows = values.shape
    first = torch.arange(0, networks * candidates, candidates).view(-1, 1, 1)
    return values.reshape(-1, rows).index_select(0, (picks + first).view(-1)).view(*picks.shape, rows)


def dense_logits(parameters, values):
    values = torch.baddbmm(parameters[1], parameters[0], values)
    for layer in range(2, len(parameters), 2):
        values = torch.baddbmm(parameters[layer + 1], parameters[layer], values.relu_())
    return values


def pool_first_layer(weight, bias, read):
    """weight [network, unit, pick] on read [network, pick, slot and row]."""
    if read.shape[2] <= SHORT_ROWS:
        return weight[:, :, :1] * read[:, :1] + (weight[:, :, 1:] * read[:, 1:]).add_(bias)
    return torch.baddbmm(bias, weight, read)


def second_layer(weight, bias, hidden):
    """[..., unit, row] gives [..., row]. With a single output this beats a batched product at full batches."""
    return (weight.transpose(-1, -2) * hidden).sum(dim=-2) + bias.squeeze(-1)


def run_modules(weights, read):
    """read [network, module, pick, row] gives [network, module, row]; networks and modules are one batch."""
    first, first_bias, second, second_bias = weights
    hidden = torch.baddbmm(first_bias.flatten(0, 1), first.flatten(0, 1), read.flatten(0, 1)).relu_()
    return second_layer(second, second_bias, hidden.view(*read.shape[:2], MODULE_HIDDEN, -1))


class Routing:
    """The input choices of all levels of all networks."""

    def __init__(self, selection, logits, training):
        picks = selection.picks(logits)
        self.picks = picks.split(selection.choosers, dim=1)
        if training:
            self.picks = [level.transpose(1, 2).contiguous() for level in self.picks]
            self.soft = torch.sigmoid(logits / TAU).split(selection.choosers, dim=1)

    def read(self, level, values):
        """[network, pick, chooser, row]"""
        return ReadPicks.apply(values, self.soft[level][:, :, : values.shape[1]], self.picks[level])


def modular_logits(network, parameters, values):
    routing = Routing(network.selection, parameters[-1], training=True)
    for level in range(len(network.widths)):
        read = routing.read(level, values).transpose(1, 2)
        values = run_modules(parameters[4 * level : 4 * level + 4], read)
    return routing.read(-1, values).squeeze(2)


def modular_evaluate(network, parameters, values):
    picks = Routing(network.selection, parameters[-1], training=False).picks
    for level in range(len(network.widths)):
        values = run_modules(parameters[4 * level : 4 * level + 4], read_rows(values, picks[level]))
    return read_rows(values, picks[-1]).squeeze(1)


def shared_logits(network, parameters, values):
    first, first_bias, second, second_bias, module_logits, input_logits = parameters
    ensemble, pool = first.shape[:2]
    routing = Routing(network.selection, input_logits, training=True)
    soft = torch.softmax(module_logits / TAU, dim=1)
    hard = network.identity[module_logits.detach().argmax(dim=1)].transpose(1, 2)
    chosen = (hard + (soft - soft.detach())).unsqueeze(3).split(network.widths, dim=2)
    first, first_bias = first.view(ensemble, -1, FAN_IN), first_bias.view(ensemble, -1, 1)
    for level, width in enumerate(network.widths):
        read = routing.read(level, values).view(ensemble, FAN_IN, -1)
        hidden = pool_first_layer(first, first_bias, read).relu_().view(ensemble, pool, MODULE_HIDDEN, -1)
        of_members = second_layer(second, second_bias, hidden).view(ensemble, pool, width, -1)
        values = (of_members * chosen[level]).sum(dim=1)
    return routing.read(-1, values).squeeze(2)


def shared_evaluate(network, parameters, values):
    ensemble, pool = parameters[0].shape[:2]
    members = parameters[4].argmax(dim=1) + torch.arange(0, ensemble * pool, pool).unsqueeze(1)
    weights = [weight.flatten(0, 1)[members].split(network.widths, dim=1) for weight in parameters[:4]]
    picks = Routing(network.selection, parameters[5], training=False).picks
    for level in range(len(network.widths)):
        values = run_modules([weight[level] for weight in weights], read_rows(values, picks[level]))
    return read_rows(values, picks[-1]).squeeze(1)


class Ensemble:
    def __init__(self, network, count, seed):
        self.count = count
        generator = torch.Generator().manual_seed(seed)
        self.values = [tensor.initial(count, generator) for tensor in network.tensors]
        self.leaves = [value.detach().requires_grad_(True) for value in self.values]
        self.adam = common.adam_for_tensors(network.tensors, self.values)
        if isinstance(network, Dense):
            self.train_logits = self.evaluate_logits = dense_logits
        elif isinstance(network, Shared):
            self.train_logits = lambda *arguments: shared_logits(network, *arguments)
            self.evaluate_logits = lambda *arguments: shared_evaluate(network, *arguments)
        else:
            self.train_logits = lambda *arguments: modular_logits(network, *arguments)
            self.evaluate_logits = lambda *arguments: modular_evaluate(network, *arguments)

    def step(self, inputs, targets):
        """targets may be one network's, shared by all; the loss is a mean within a network, a sum over them."""
        logits = self.train_logits(self.leaves, inputs)
        upstream = torch.sigmoid(logits.detach()).sub_(targets).mul_(1 / logits[0].numel())
        self.adam.step(torch.autograd.grad(logits, self.leaves, upstream))

    def evaluate(self, task, inputs):
        return common.splits_record(task, self.evaluate_logits(self.values, inputs))


def train_loop(ensemble, task, batch, epochs):
    """Trains the networks with their own shuffles and noise; gives the epochs' records [epoch, network, 6]."""
    count = ensemble.count
    evaluation_inputs = task.inputs.expand(count, -1, -1).contiguous()
    history = torch.empty(epochs, count, 6)
    noise = torch.empty(count, INPUTS, TRAIN_ROWS)
    for epoch in range(epochs):
        inputs, targets = task.train_inputs, task.train_targets
        if batch < TRAIN_ROWS:  # the order within a full batch has no effect
            order = torch.rand(count, TRAIN_ROWS).argsort(dim=1)
            inputs = inputs.t()[order].transpose(1, 2)
            targets = targets.t()[order].transpose(1, 2)
        inputs = noise.normal_(std=NOISE).add_(inputs)
        for batch_inputs, batch_targets in zip(inputs.split(batch, dim=-1), targets.split(batch, dim=-1)):
            ensemble.step(batch_inputs, batch_targets)
        with torch.inference_mode():
            history[epoch] = ensemble.evaluate(task, evaluation_inputs)
    return history


def train_steps(ensemble, task, batch, steps):
    inputs = task.inputs[:, :batch].expand(ensemble.count, -1, -1).contiguous()
    targets = task.targets[:, :batch].contiguous()
    for _ in range(steps):
        ensemble.step(inputs, targets)


def measure_ensembles(rival, make_ensemble):
    arguments = common.parse_arguments(rival)
    task_name, build = WORKS[arguments.work]
    network, task = build(), Task(task_name)

    def run(ensemble, epochs):
        if arguments.mode == "step":
            return train_steps(ensemble, task, arguments.batch, epochs)
        return common.accuracy_at_best_validation(train_loop(ensemble, task, arguments.batch, epochs))

    common.measure(rival, arguments, lambda seed: make_ensemble(network, arguments.ensemble, seed), run)


if __name__ == "__main__":
    measure_ensembles("bmm", Ensemble)
