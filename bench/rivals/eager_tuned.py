#!/usr/bin/env python3
"""One network at a time in eager PyTorch, tuned by hand.

The networks are the functions of common.py, Adam and the gradient of the loss are written out: everything eager
PyTorch allows that saves operations, at the price of clarity. eager.py is the same training as usually written.
"""

import common

import torch

from common import LR, LR_STRUCTURAL, NOISE, TRAIN_ROWS, WORKS, Task


class Trainer:
    """A network whose parameters are leaves that share one flat storage.

    Adam then works on the storage in a handful of operations, instead of a handful for every tensor: for
    networks this small that is the largest saving eager PyTorch offers.
    """

    def __init__(self, network, seed):
        self.network = network
        generator = torch.Generator().manual_seed(seed)
        flat = torch.cat([tensor.initial(1, generator).view(-1) for tensor in network.tensors])
        pieces = flat.split([tensor.size for tensor in network.tensors])
        self.values = [piece.view(tensor.shape) for piece, tensor in zip(pieces, network.tensors)]
        self.leaves = [value.detach().requires_grad_(True) for value in self.values]
        functional_size = sum(tensor.size for tensor in network.tensors if not tensor.structural)
        parts = [(0, 0, functional_size, flat, LR)]
        if functional_size < flat.numel():
            parts.append((0, functional_size, flat.numel(), flat, LR_STRUCTURAL))
        self.adam = common.Adam(parts)

    def step(self, inputs, targets):
        logits = self.network.train_logits(self.leaves, inputs)
        # The training loss itself is never read, so its gradient is written down instead of derived.
        upstream = torch.sigmoid(logits.detach()).sub_(targets).mul_(1 / targets.numel())
        gradients = torch.autograd.grad(logits, self.leaves, upstream)
        self.adam.step([torch.cat([gradient.reshape(-1) for gradient in gradients])])

    def evaluate(self, task):
        return common.splits_record(task, self.network.evaluate_logits(self.values, task.inputs))


def train_loop(trainer, task, batch, epochs):
    """Gives the test accuracy at the first epoch of best validation accuracy."""
    history = torch.empty(epochs, 6)
    for epoch in range(epochs):
        inputs, targets = task.train_inputs, task.train_targets
        if batch < TRAIN_ROWS:  # the order within a full batch has no effect
            order = torch.randperm(TRAIN_ROWS)
            inputs, targets = inputs[:, order], targets[:, order]
        inputs = torch.randn(inputs.shape).mul_(NOISE).add_(inputs)
        for batch_inputs, batch_targets in zip(inputs.split(batch, dim=1), targets.split(batch, dim=1)):
            trainer.step(batch_inputs, batch_targets)
        with torch.inference_mode():
            history[epoch] = trainer.evaluate(task)
    return common.accuracy_at_best_validation(history)


def train_steps(trainer, task, batch, steps):
    inputs, targets = task.inputs[:, :batch].contiguous(), task.targets[:, :batch].contiguous()
    for _ in range(steps):
        trainer.step(inputs, targets)


def main():
    arguments = common.parse_arguments("eager-tuned", ensembles=False)
    task_name, build = WORKS[arguments.work]
    network, task = build(), Task(task_name)
    train = train_loop if arguments.mode == "loop" else train_steps
    common.measure(
        "eager-tuned",
        arguments,
        prepare=lambda seed: Trainer(network, seed),
        run=lambda trainer, epochs: train(trainer, task, arguments.batch, epochs),
    )


if __name__ == "__main__":
    main()
