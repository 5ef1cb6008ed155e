#!/usr/bin/env python3
"""Checks that the tuned networks and samples of rules_tuned.py are those of rules.py, from the same weights."""

import sys
from types import SimpleNamespace

import rules
import rules_tuned

import numpy
import torch
from torch.nn import functional

TOLERANCE = 2e-5


def layers(name, pair):
    found = {}
    for number, layer in enumerate((pair[0], pair[2])):
        found[f"{name}.layer{number}.weight"] = layer.weight.t()
        if layer.bias is not None:
            found[f"{name}.layer{number}.bias"] = layer.bias
    return found


def side_by_side(weight):
    """[module, input, unit] as [input, module and unit]."""
    return weight.permute(1, 0, 2).reshape(weight.shape[1], -1)


def last_layers(model, layer, outputs):
    if model == "gt-modular":
        return {"modules.layer1.weight": layer.weight, "modules.layer1.bias": layer.bias}
    found = {"modules.layer1.weight": layer.weight[..., :outputs], "modules.layer1.bias": layer.bias[:, 0, :outputs]}
    if model == "modular":
        found.update({"scores.weight": layer.weight[..., outputs], "scores.bias": layer.bias[:, 0, outputs]})
    return found


def of_mlp(network):
    found = {**layers("encoder_x", network.encoder_x), **layers("encoder_c", network.encoder_c)}
    found.update(layers("decoder", network.decoder))
    if network.model == "monolithic":
        return {**found, **layers("core", network.core)}
    first = network.modules_.first
    whole = network.model == "gt-modular"
    found["modules.layer0.weight"] = first.weight if whole else side_by_side(first.weight)
    found["modules.layer0.bias"] = first.bias if whole else first.bias.reshape(-1)
    found.update(last_layers(network.model, network.modules_.second, network.d))
    if network.model == "modular-op":
        found.update({"gate.weight": network.gate.weight.t(), "gate.bias": network.gate.bias})
    return found


def of_mha(network):
    found = {**layers("encoder", network.encoder), **layers("decoder", network.decoder)}
    paths = (network.query, network.key, network.value, network.own)
    found["paths.weight"] = torch.cat([path.weight for path in paths]).t()
    found["paths.bias"] = torch.cat([path.bias for path in paths])
    if network.model == "monolithic":
        return {**found, **layers("core", network.core)}
    first = network.modules_.first
    found.update({"modules.layer0.weight": first.weight, "modules.layer0.bias": first.bias})
    found.update(last_layers(network.model, network.modules_.second, network.e))
    if network.model == "modular-op":
        found.update(layers("gate", network.gate))
    return found


def of_rnn(network):
    found = {**layers("encoder", network.encoder), **layers("decoder", network.decoder)}
    if network.model == "monolithic":
        cell = network.cell
        parts = {"input": cell.weight_ih, "state": cell.weight_hh, "input_bias": cell.bias_ih, "state_bias": cell.bias_hh}
        return {**found, **{"cell." + name: value for name, value in parts.items()}}
    arrange = (lambda weight: weight) if network.model == "gt-modular" else side_by_side
    found.update({"input": arrange(network.inputs.weight), "state": arrange(network.states.weight)})
    if network.model == "modular":
        scores = network.scores.weight[..., 0]
        found.update({"scores.input": scores[:, : 4 * network.size], "scores.state": scores[:, 4 * network.size :]})
    elif network.model == "modular-op":
        found.update({"gate.layer0": network.gate[0].weight.t(), "gate.layer1": network.gate[2].weight.t()})
    return found


WEIGHTS = {"mlp": of_mlp, "mha": of_mha, "rnn": of_rnn}


def targets_of(task, x, rules_of_tokens):
    """As rules.py computes them, from given samples."""
    drawn = numpy.random.randn
    numpy.random.randn = lambda *shape: x.reshape(shape)
    try:
        compute = {"mlp": task.sums, "mha": task.searches, "rnn": task.states}[task.family]
        return torch.from_numpy(compute(rules_of_tokens)[1]).float()
    finally:
        numpy.random.randn = drawn


def difference(family, model, rules_count):
    torch.manual_seed(1)
    arguments = SimpleNamespace(family=family, rules=rules_count, batch=12, length=4, dim=5, task_seed=2)
    task = rules.Task(arguments)
    eager = rules.NETWORKS[family](model, task, 20)
    tuned = rules_tuned.NETWORKS[family](model, task, 20)
    weights = WEIGHTS[family](eager)
    assert list(sorted(weights)) == list(sorted(tuned.parameters().shapes)), (family, model)
    x, rule, targets = rules_tuned.Samples(task).draw()
    said = tuned.forward(weights, x, rule)
    if family == "rnn":  # step by step
        x, rule, targets, said = (value.transpose(0, 1) for value in (x, rule, targets, said))
    elif family == "mlp":
        x, rule, targets, said = (value[:, None] for value in (x, rule, targets, said))
    wanted = eager(torch.cat([x, functional.one_hot(rule, rules_count).float()], -1))
    expected = targets_of(task, x.double().numpy(), rule.numpy())
    return (said - wanted).abs().max().item(), (targets - expected).abs().max().item()


def main():
    failed = False
    for family in rules.NETWORKS:
        for model in ("monolithic", "modular", "modular-op", "gt-modular"):
            for rules_count in (2, 5):
                said, targets = difference(family, model, rules_count)
                bad = said > TOLERANCE or targets > TOLERANCE
                failed = failed or bad
                print(f"{family} {model} {rules_count}: said {said:.1e}, targets {targets:.1e}{' DIFFERS' if bad else ''}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
