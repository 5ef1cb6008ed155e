#!/usr/bin/env python3
"""Records ten optimiser steps of each network on rule-based data in PyTorch, for the engine's parity tests.

Usage: python3 tests/parity/make_rule_fixtures.py

Writes fixtures/rules-NAME.safetensors beside this file. The networks are written from the paper's formulas, module by
module, with nothing merged: what the engine does in one product is done in several here.
"""

import json
import math
import os
import pathlib

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import torch
from torch import nn
from torch.nn import functional

from tensor_file import write_tensors

STEPS = 10
# A run is recorded only if the same run in float64 and, since contributions of rows may cancel, the same run with the
# samples of each batch the other way round stay this close: then rounding does not matter.
ROUNDING_DRIFT = 2e-6
SEEDS_TRIED = 200


def mlp2(inputs, hidden, outputs, bias=True):
    return nn.Sequential(nn.Linear(inputs, hidden, bias=bias), nn.ReLU(), nn.Linear(hidden, outputs, bias=bias))


class Network(nn.Module):
    """What all families have in common: the gate, and how tensors are called in the fixture."""

    def __init__(self, case):
        super().__init__()
        self.case = case
        self.model = case["model"]
        self.rules = case["rules"]
        self.modules_ = case["modules"]
        self.e = case["width"]
        self.d = 4 * self.e

    def shares(self, one_hot, scores):
        if self.model == "gt-modular":
            chosen = one_hot.argmax(-1) % self.modules_
            return functional.one_hot(chosen, self.modules_).to(one_hot.dtype)
        return torch.softmax(scores, -1)

    def stacked(self, seconds, units, scored):
        """The last layers of all modules as the engine has them: weights of all, then biases; scores apart."""
        out = seconds[0].weight.shape[0] - (1 if scored else 0)
        weight = torch.cat([second.weight[:out] for second in seconds], 1)
        bias = torch.stack([second.bias[:out] for second in seconds], 1)
        found = {"modules.layer1.weight": torch.cat([weight, bias], 1)}
        if scored:
            found["scores.weight"] = torch.cat([second.weight[out] for second in seconds])
            found["scores.bias"] = torch.stack([second.bias[out] for second in seconds])
        return found


def named(name, layer):
    found = {name + ".weight": layer.weight}
    if layer.bias is not None:
        found[name + ".bias"] = layer.bias
    return found


def named2(name, pair):
    return {**named(name + ".layer0", pair[0]), **named(name + ".layer1", pair[2])}


class Mlp(Network):
    def __init__(self, case):
        super().__init__(case)
        e, d = self.e, self.d
        self.encoder_x = mlp2(1, e, e)
        self.encoder_c = mlp2(self.rules, e, e)
        self.decoder = mlp2(d, e, 1)
        if self.model == "monolithic":
            self.core = mlp2(3 * e, d, d)
            return
        self.units = d // self.modules_
        self.scored = self.model == "modular"
        self.first = nn.ModuleList(nn.Linear(3 * e, self.units) for _ in range(self.modules_))
        self.second = nn.ModuleList(nn.Linear(self.units, d + (1 if self.scored else 0)) for _ in range(self.modules_))
        if self.model == "modular-op":
            self.gate = nn.Linear(e, self.modules_)

    def forward(self, data, one_hot):
        data, one_hot = data[:, 0], one_hot[:, 0]
        code = self.encoder_c(one_hot)
        z = torch.cat([self.encoder_x(data[:, :1]), self.encoder_x(data[:, 1:2]), code], -1)
        if self.model == "monolithic":
            return self.decoder(self.core(z))[:, None]
        outputs = torch.stack([second(torch.relu(first(z))) for first, second in zip(self.first, self.second)], 1)
        scores = outputs[..., -1] if self.scored else self.gate(code) if self.model == "modular-op" else None
        shares = self.shares(one_hot, scores)
        return self.decoder((shares[..., None] * outputs[..., : self.d]).sum(1))[:, None]

    def tensors(self):
        found = {**named2("encoder_x", self.encoder_x), **named2("encoder_c", self.encoder_c)}
        if self.model == "monolithic":
            found.update(named2("core", self.core))
        else:
            found["modules.layer0.weight"] = torch.cat([layer.weight for layer in self.first])
            found["modules.layer0.bias"] = torch.cat([layer.bias for layer in self.first])
            found.update(self.stacked(self.second, self.units, self.scored))
            if self.model == "modular-op":
                found.update(named("gate", self.gate))
        return {**found, **named2("decoder", self.decoder)}


class Mha(Network):
    def __init__(self, case):
        super().__init__(case)
        e, a = self.e, self.d
        self.head = a // (2 * self.modules_)
        self.encoder = mlp2(case["data_columns"] + self.rules, e, e)
        self.query, self.key, self.value = (nn.Linear(e, a) for _ in range(3))
        self.decoder = mlp2(e, e, 1)
        if self.model == "monolithic":
            self.self_path = nn.Linear(e, self.head)
            self.core = mlp2(a + self.head, 2 * e, e)
            return
        r = self.modules_
        self.units = math.floor(2 * e * (2 * r * (a + e) + a) / (r * (3 * a + 2 * r * e)))
        self.scored = self.model == "modular"
        self.self_path = nn.Linear(e, self.head * r)
        self.first = nn.ModuleList(nn.Linear(3 * self.head, self.units) for _ in range(r))
        self.second = nn.ModuleList(nn.Linear(self.units, e + (1 if self.scored else 0)) for _ in range(r))
        if self.model == "modular-op":
            self.gate = mlp2(self.rules, self.head, r)

    def forward(self, data, one_hot):
        samples, length = data.shape[:2]
        code = self.encoder(torch.cat([data, one_hot], -1))

        def heads(layer):
            return layer(code).reshape(samples, length, 2 * self.modules_, self.head).transpose(1, 2)

        scores = heads(self.query) / math.sqrt(self.head) @ heads(self.key).transpose(-1, -2)
        scores = scores.masked_fill(torch.eye(length, dtype=torch.bool), -math.inf)
        found = (torch.softmax(scores, -1) @ heads(self.value)).transpose(1, 2)
        own = self.self_path(code)
        if self.model == "monolithic":
            return self.decoder(self.core(torch.cat([found.reshape(samples, length, -1), own], -1)))
        outputs = []
        for module in range(self.modules_):
            pair = found[:, :, 2 * module : 2 * module + 2].reshape(samples, length, -1)
            part = own[..., module * self.head : (module + 1) * self.head]
            outputs.append(self.second[module](torch.relu(self.first[module](torch.cat([pair, part], -1)))))
        outputs = torch.stack(outputs, 2)
        scores = outputs[..., -1] if self.scored else self.gate(one_hot) if self.model == "modular-op" else None
        return self.decoder((self.shares(one_hot, scores)[..., None] * outputs[..., : self.e]).sum(2))

    def tensors(self):
        found = named2("encoder", self.encoder)
        for name in ("query", "key", "value"):
            found.update(named(name, getattr(self, name)))
        found.update(named("self", self.self_path))
        if self.model == "monolithic":
            found.update(named2("core", self.core))
        else:
            for module, layer in enumerate(self.first):
                found.update(named(f"module{module}.layer0", layer))
            found.update(self.stacked(self.second, self.units, self.scored))
            if self.model == "modular-op":
                found.update(named2("gate", self.gate))
        return {**found, **named2("decoder", self.decoder)}


class Rnn(Network):
    def __init__(self, case):
        super().__init__(case)
        e, r = self.e, self.modules_
        self.encoder = mlp2(case["data_columns"] + self.rules, e, e)
        if self.model == "monolithic":
            self.size = self.d
            self.cell = nn.LSTMCell(e, self.size)
        else:
            linear, square = 4 * r * e + 1, 4 * r + 1
            root = math.sqrt(linear**2 + 4 * square * (5 * self.d**2 + self.d * (4 * e + 1)))
            self.size = math.floor((-linear + root) / (2 * square))
            self.inputs = nn.ModuleList(nn.Linear(e, 4 * self.size, bias=False) for _ in range(r))
            self.states = nn.ModuleList(nn.Linear(self.size, 4 * self.size, bias=False) for _ in range(r))
            if self.model == "modular":
                self.scores = nn.ModuleList(nn.Linear(8 * self.size, 1, bias=False) for _ in range(r))
            elif self.model == "modular-op":
                self.gate = mlp2(self.rules, self.size, r, bias=False)
        self.decoder = mlp2(self.size, self.size, case["outputs"])

    def forward(self, data, one_hot):
        samples, length = data.shape[:2]
        code = self.encoder(torch.cat([data, one_hot], -1))
        h = c = torch.zeros(samples, self.size, dtype=data.dtype)
        states = []
        for step in range(length):
            if self.model == "monolithic":
                h, c = self.cell(code[:, step], (h, c))
                states.append(h)
                continue
            hs, cs, scores = [], [], []
            for module in range(self.modules_):
                from_input, from_state = self.inputs[module](code[:, step]), self.states[module](h)
                i, f, o, g = (from_input + from_state).chunk(4, -1)
                cs.append(torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g))
                hs.append(torch.sigmoid(o) * torch.tanh(cs[-1]))
                if self.model == "modular":
                    scores.append(self.scores[module](torch.relu(torch.cat([from_input, from_state], -1))))
            rule = one_hot[:, step]
            said = torch.cat(scores, -1) if scores else self.gate(rule) if self.model == "modular-op" else None
            shares = self.shares(rule, said)[..., None]
            h, c = (shares * torch.stack(hs, 1)).sum(1), (shares * torch.stack(cs, 1)).sum(1)
            states.append(h)
        return self.decoder(torch.stack(states, 1))

    def tensors(self):
        found = named2("encoder", self.encoder)
        if self.model == "monolithic":
            # The engine has the slices in the order input, forget, output, candidate; torch the last two the other way.
            def ordered(tensor):
                i, f, g, o = tensor.chunk(4)
                return torch.cat([i, f, o, g])

            found["cell.input.weight"] = ordered(self.cell.weight_ih)
            found["cell.state.weight"] = ordered(self.cell.weight_hh)
            found["cell.input.bias"] = ordered(self.cell.bias_ih)
            found["cell.state.bias"] = ordered(self.cell.bias_hh)
        else:
            for module in range(self.modules_):
                found.update(named(f"module{module}.input", self.inputs[module]))
                found.update(named(f"module{module}.state", self.states[module]))
            if self.model == "modular":
                found["scores.weight"] = torch.cat([layer.weight for layer in self.scores])
                found["scores.bias"] = torch.zeros(self.modules_)  # the published code has it and never uses it
            elif self.model == "modular-op":
                found.update({"gate.layer0.weight": self.gate[0].weight, "gate.layer1.weight": self.gate[2].weight})
        return {**found, **named2("decoder", self.decoder)}


FAMILIES = {"rules-mlp": Mlp, "rules-mha": Mha, "rules-rnn": Rnn}


def case_of(task, model, rules=3, modules=None, width=6, task_type="regression", length=4, samples=12, **more):
    length = 1 if task == "rules-mlp" else length
    case = {"task": task, "model": model, "rules": rules, "modules": modules or rules, "width": width}
    case.update({"task_type": task_type, "length": length, "samples": samples, "lr": 0.003, "clip": 0.0, "dim": 5, **more})
    case["data_columns"] = {"rules-mlp": 2, "rules-mha": 4 * rules, "rules-rnn": case["dim"]}[task]
    case["outputs"] = case["dim"] if task == "rules-rnn" and task_type == "regression" else 1
    return case


def all_cases():
    found = {}
    for task in FAMILIES:
        short = task.removeprefix("rules-")
        clip = {"clip": 1.0} if task == "rules-rnn" else {}
        for model in ("monolithic", "modular", "modular-op", "gt-modular"):
            found[f"{short}-{model}"] = case_of(task, model, **clip)
        found[f"{short}-modular-classes"] = case_of(task, "modular", rules=2, task_type="classification", **clip)
    found["mlp-modular-op-few"] = case_of("rules-mlp", "modular-op", rules=5, modules=2)
    return found


def flat(network):
    return torch.cat([tensor.detach().reshape(-1).double() for tensor in network.tensors().values()])


def train(case, seed, dtype, turned=False):
    torch.manual_seed(seed)
    network = FAMILIES[case["task"]](case).to(dtype)
    initial = flat(network)
    optimizer = torch.optim.Adam(network.parameters(), lr=case["lr"])
    shape = (STEPS, case["samples"], case["length"])
    data = torch.randn(*shape, case["data_columns"])
    rules = torch.randint(case["rules"], shape)
    targets = torch.randn(*shape, case["outputs"])
    if case["task_type"] == "classification":
        targets = (targets >= 0).float()
    losses = []
    if turned:
        data, rules, targets = data.flip(1), rules.flip(1), targets.flip(1)
    for step in range(STEPS):
        one_hot = functional.one_hot(rules[step], case["rules"]).to(dtype)
        said = network(data[step].to(dtype), one_hot)
        wanted = targets[step].to(dtype)
        if case["task_type"] == "classification":
            loss = functional.binary_cross_entropy_with_logits(said, wanted)
        else:
            loss = (said - wanted).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        if case["clip"] > 0:
            nn.utils.clip_grad_norm_(network.parameters(), case["clip"])
        optimizer.step()
        losses.append(loss.item())
    return {"initial": initial, "final": flat(network), "losses": torch.tensor(losses, dtype=torch.float64),
            "data": data, "rules": rules.float(), "targets": targets}


def record(name, case, folder):
    for seed in range(SEEDS_TRIED):
        found = train(case, seed, torch.float32)
        others = train(case, seed, torch.float64), train(case, seed, torch.float32, turned=True)
        drift = max((found["final"] - other["final"]).abs().max().item() for other in others)
        if drift < ROUNDING_DRIFT:
            write_tensors(folder / f"rules-{name}.safetensors", found, {"settings": json.dumps(case)})
            print(f"{name}: seed {seed}, drift {drift:.1e}, {found['initial'].numel()} parameters")
            return
    raise SystemExit(f"{name}: every seed drifts")


def main():
    folder = pathlib.Path(__file__).parent / "fixtures"
    for name, case in all_cases().items():
        record(name, case, folder)


if __name__ == "__main__":
    main()
