#!/usr/bin/env python3
"""Networks on rule-based data in PyTorch, one at a time: as usually written, and tuned.

A step is all of it: the samples are drawn, the network says something of them, the gradient and Adam follow. The rules
are those of the engine, drawn from the task's seed; samples and initial weights are PyTorch's own.
"""

import argparse
import json
import math
import time

import common  # sets one thread before PyTorch is loaded

import numpy
import torch
from torch import nn
from torch.nn import functional

import rules_tuned

WARM_UP_STEPS = 3


class Task:
    """The rules of a family, as the published generator draws them."""

    def __init__(self, arguments):
        self.family = arguments.family
        self.rules = arguments.rules
        self.batch = arguments.batch
        self.length = 1 if self.family == "mlp" else arguments.length
        self.dim = arguments.dim
        self.outputs = self.dim if self.family == "rnn" else 1
        self.data_columns = {"mlp": 2, "mha": 4 * self.rules, "rnn": self.dim}[self.family]
        random = numpy.random.RandomState(arguments.task_seed)
        if self.family == "rnn":
            self.transition = random.randn(self.rules, self.dim, self.dim) / math.sqrt(self.dim)
            self.drive = random.randn(self.rules, self.dim, self.dim) / math.sqrt(self.dim)
        else:
            self.alpha = random.randn(self.rules)
            self.beta = random.randn(self.rules)

    def draw(self):
        """A batch as a plain script draws it, in numpy: inputs and one-hot rules in one tensor, and what to say."""
        rules = numpy.random.randint(self.rules, size=(self.batch, self.length))
        data, targets = {"mlp": self.sums, "mha": self.searches, "rnn": self.states}[self.family](rules)
        inputs = numpy.concatenate([data, numpy.eye(self.rules)[rules]], -1)
        return torch.from_numpy(inputs).float(), torch.from_numpy(targets).float()

    def sums(self, rules):
        x = numpy.random.randn(self.batch, 1, 2)
        return x, (self.alpha[rules] * x[..., 0] + self.beta[rules] * x[..., 1])[..., None]

    def searches(self, rules):
        """What every rule would find is computed, and each token takes what its own does."""
        data = numpy.random.randn(self.batch, self.length, self.rules, 4)
        itself = numpy.where(numpy.eye(self.length, dtype=bool), numpy.inf, 0)[..., None]
        wanted = 0
        for which, factors in enumerate((self.alpha, self.beta)):
            asked = data[..., which]
            found = (numpy.abs(asked[:, :, None] - asked[:, None]) + itself).argmin(2)
            wanted = wanted + factors * numpy.take_along_axis(data[..., 2 + which], found, 1)
        targets = numpy.take_along_axis(wanted, rules[..., None], -1)
        return data.reshape(self.batch, self.length, -1), targets

    def states(self, rules):
        x = numpy.random.randn(self.batch, self.length, self.dim)
        state = numpy.zeros((self.batch, 1, self.dim))
        states = []
        for step in range(self.length):
            rule = rules[:, step]
            state = state @ self.transition[rule] + x[:, step : step + 1] @ self.drive[rule]
            states.append(state)
        return x, numpy.concatenate(states, 1)


class Grouped(nn.Module):
    """One affine map for each module: [module, row, input] gives [module, row, output]."""

    def __init__(self, modules, inputs, outputs, bias=True):
        super().__init__()
        bound = 1 / math.sqrt(inputs)
        self.weight = nn.Parameter(torch.empty(modules, inputs, outputs).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(modules, 1, outputs).uniform_(-bound, bound)) if bias else None

    def forward(self, x):
        y = torch.matmul(x, self.weight)
        return y if self.bias is None else y + self.bias


class Grouped2(nn.Module):
    def __init__(self, modules, inputs, hidden, outputs):
        super().__init__()
        self.first = Grouped(modules, inputs, hidden)
        self.second = Grouped(modules, hidden, outputs)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


def mlp2(inputs, hidden, outputs, bias=True):
    return nn.Sequential(nn.Linear(inputs, hidden, bias=bias), nn.ReLU(), nn.Linear(hidden, outputs, bias=bias))


def shares_of(model, rule, scores):
    return rule if model == "gt-modular" else torch.softmax(scores, -1)


class Mlp(nn.Module):
    def __init__(self, model, task, e):
        super().__init__()
        self.model, self.rules, self.d = model, task.rules, 4 * e
        self.encoder_x = mlp2(1, e, e)
        self.encoder_c = mlp2(task.rules, e, e)
        self.decoder = mlp2(self.d, e, 1)
        if model == "monolithic":
            self.core = mlp2(3 * e, self.d, self.d)
            return
        self.modules_ = Grouped2(task.rules, 3 * e, self.d // task.rules, self.d + (model == "modular"))
        if model == "modular-op":
            self.gate = nn.Linear(e, task.rules)

    def forward(self, inputs):
        inputs = inputs[:, 0]
        rule = inputs[:, 2:]
        code = self.encoder_c(rule)
        z = torch.cat([self.encoder_x(inputs[:, :1]), self.encoder_x(inputs[:, 1:2]), code], -1)
        if self.model == "monolithic":
            return self.decoder(self.core(z))[:, None]
        outputs = self.modules_(z)
        scores = outputs[..., -1].t() if self.model == "modular" else None
        scores = self.gate(code) if self.model == "modular-op" else scores
        shares = shares_of(self.model, rule, scores)
        return self.decoder((shares.t()[..., None] * outputs[..., : self.d]).sum(0))[:, None]


class Mha(nn.Module):
    def __init__(self, model, task, e):
        super().__init__()
        r, a = task.rules, 4 * e
        self.model, self.rules, self.e, self.head = model, r, e, a // (2 * r)
        self.encoder = mlp2(5 * r, e, e)
        self.decoder = mlp2(e, e, 1)
        self.query, self.key, self.value = (nn.Linear(e, a) for _ in range(3))
        if model == "monolithic":
            self.own = nn.Linear(e, self.head)
            self.core = mlp2(a + self.head, 2 * e, e)
            return
        self.own = nn.Linear(e, self.head * r)
        hidden = math.floor(2 * e * (2 * r * (a + e) + a) / (r * (3 * a + 2 * r * e)))
        self.modules_ = Grouped2(r, 3 * self.head, hidden, e + (model == "modular"))
        if model == "modular-op":
            self.gate = mlp2(r, self.head, r)

    def forward(self, inputs):
        samples, length = inputs.shape[:2]
        rule = inputs[..., 4 * self.rules :]
        code = self.encoder(inputs)

        def heads(layer):
            return layer(code).reshape(samples, length, 2 * self.rules, self.head).transpose(1, 2)

        scores = heads(self.query) / math.sqrt(self.head) @ heads(self.key).transpose(-1, -2)
        scores = scores.masked_fill(torch.eye(length, dtype=torch.bool), -math.inf)
        found = (torch.softmax(scores, -1) @ heads(self.value)).transpose(1, 2)
        own = self.own(code)
        if self.model == "monolithic":
            return self.decoder(self.core(torch.cat([found.reshape(samples, length, -1), own], -1)))
        pairs = found.reshape(samples * length, self.rules, 2 * self.head)
        read = torch.cat([pairs, own.reshape(samples * length, self.rules, self.head)], -1).transpose(0, 1)
        outputs = self.modules_(read)
        rule = rule.reshape(samples * length, self.rules)
        scores = outputs[..., -1].t() if self.model == "modular" else None
        scores = self.gate(rule) if self.model == "modular-op" else scores
        shares = shares_of(self.model, rule, scores)
        mixture = (shares.t()[..., None] * outputs[..., : self.e]).sum(0)
        return self.decoder(mixture).reshape(samples, length, 1)


class Rnn(nn.Module):
    def __init__(self, model, task, e):
        super().__init__()
        r, h = task.rules, 4 * e
        self.model, self.rules, self.dim = model, r, task.dim
        self.encoder = mlp2(task.dim + r, e, e)
        if model == "monolithic":
            self.size = h
            self.cell = nn.LSTMCell(e, h)
        else:
            self.size = rules_tuned.shared_state(r, e)
            self.inputs = Grouped(r, e, 4 * self.size, bias=False)
            self.states = Grouped(r, self.size, 4 * self.size, bias=False)
            if model == "modular":
                self.scores = Grouped(r, 8 * self.size, 1, bias=False)
            elif model == "modular-op":
                self.gate = mlp2(r, self.size, r, bias=False)
        self.decoder = mlp2(self.size, self.size, task.outputs)

    def forward(self, inputs):
        samples, length = inputs.shape[:2]
        code = self.encoder(inputs)
        h = c = torch.zeros(samples, self.size)
        states = []
        for step in range(length):
            if self.model == "monolithic":
                h, c = self.cell(code[:, step], (h, c))
            else:
                h, c = self.mixed_step(code[:, step], inputs[:, step, self.dim :], h, c)
            states.append(h)
        return self.decoder(torch.stack(states, 1))

    def mixed_step(self, code, rule, h, c):
        from_input, from_state = self.inputs(code), self.states(h)
        i, f, o, g = (from_input + from_state).chunk(4, -1)
        cs = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        hs = torch.sigmoid(o) * torch.tanh(cs)
        scores = None
        if self.model == "modular":
            scores = self.scores(torch.relu(torch.cat([from_input, from_state], -1)))[..., 0].t()
        elif self.model == "modular-op":
            scores = self.gate(rule)
        shares = shares_of(self.model, rule, scores).t()[..., None]
        return (shares * hs).sum(0), (shares * cs).sum(0)


NETWORKS = {"mlp": Mlp, "mha": Mha, "rnn": Rnn}


class Trainer:
    def __init__(self, arguments, task):
        self.task = task
        self.clip = 1.0 if arguments.family == "rnn" else 0
        self.network = NETWORKS[arguments.family](arguments.model, task, arguments.width)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=arguments.lr)

    def step(self):
        inputs, targets = self.task.draw()
        loss = functional.l1_loss(self.network(inputs), targets)
        self.optimizer.zero_grad()
        loss.backward()
        if self.clip:
            nn.utils.clip_grad_norm_(self.network.parameters(), self.clip)
        self.optimizer.step()
        return loss.item()


def measure(arguments):
    """Several networks from their first step on; the best times, and the mean loss of the last quarter of the steps."""
    task = Task(arguments)
    kind = rules_tuned.Trainer if arguments.tuned else Trainer
    seconds, processor_seconds, losses = [], [], []
    for repeat in range(arguments.repeats):
        torch.manual_seed(arguments.seed + repeat)
        numpy.random.seed(arguments.seed + repeat)
        if repeat == 0:
            warmed = kind(arguments, task)
            for _ in range(WARM_UP_STEPS):
                warmed.step()
        trainer = kind(arguments, task)
        start, processor_start = time.perf_counter(), time.process_time()
        curve = [trainer.step() for _ in range(arguments.steps)]
        seconds.append(time.perf_counter() - start)
        processor_seconds.append(time.process_time() - processor_start)
        losses.append(sum(curve[-(arguments.steps // 4) :]) / (arguments.steps // 4))
    return {
        "us_per_step": round(1e6 * min(seconds) / arguments.steps, 1),
        "processor_us_per_step": round(1e6 * min(processor_seconds) / arguments.steps, 1),
        "losses": losses,
    }


def parse_arguments():
    parser = argparse.ArgumentParser(description="PyTorch on rule-based data.")
    parser.add_argument("--family", choices=sorted(NETWORKS), default="mlp")
    parser.add_argument("--model", choices=("monolithic", "modular", "modular-op", "gt-modular"), default="modular")
    parser.add_argument("--tuned", action="store_true", help="the same training with fewer operations")
    parser.add_argument("--rules", type=int, default=2)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--dim", type=int, default=32)
    parser.add_argument("--length", type=int, default=10)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--task-seed", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0, help="of the first network")
    parser.add_argument("--steps", type=int, default=100, help="at least 4")
    parser.add_argument("--repeats", type=int, default=2, help="networks; the best times count")
    return parser.parse_args()


def main():
    report = measure(parse_arguments())
    report["torch"] = torch.__version__
    report["blas"] = "openblas" if common.uses_openblas() else "other"
    print(json.dumps(report))


if __name__ == "__main__":
    main()
