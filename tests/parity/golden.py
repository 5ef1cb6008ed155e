"""Checks the reference networks against the published golden vectors before anything is recorded with them."""

import torch

import networks
from truth_tables import input_table, target_table

COMMON = {"task": "depth2", "batch_size": 64, "lr": 0.01, "weight_decay": 1e-3, "optimizer": "adam", "loss": "bce"}
ROUTED = {"lr_input": 0.1, "lr_module": 0.1, "tau": 2.0, "fan_in": 2, "module_widths": [2, 12, 1]}

GOLDEN = [
    {
        "settings": {**COMMON, "model": "dense", "hidden": [36, 36, 36]},
        "scalars": 2990,
        "loss": 0.766202,
        "probabilities": {0: (0.255446, 0.670003), 21: (0.258523, 0.744969), 63: (0.263645, 0.700733)},
        "gradient_norm": 0.977703,
        "gradient_sum": 4.439290,
        "later_losses": (0.639704, 0.606338, 0.588817, 0.569357, 0.560200),
    },
    {
        "settings": {**COMMON, **ROUTED, "model": "modular", "modules": [3, 2]},
        "scalars": 271,
        "loss": 0.697642,
        "probabilities": {0: (0.543888, 0.448058), 21: (0.571727, 0.432885), 63: (0.564225, 0.436140)},
        "gradient_norm": 0.312027,
        "gradient_sum": 0.463397,
        "later_losses": (0.676890, 0.659487, 0.640923, 0.633340, 0.625414),
        "picks": [[[3, 0], [1, 3], [4, 1]], [[1, 2], [2, 0]], [[0, 1]]],
        "picks_after_five": [[[4, 1], [0, 5], [4, 1]], [[2, 1], [2, 0]], [[1, 0]]],
        "gradients": {
            24: (0.00680241, -0.00742508),
            18: (0.00097172, 0.00159133, 0.00177276, 0.00268999, -0.00062534, -0.00117041),
            0: (-0.00011704, -0.00004224, 0.00032862),
        },
    },
    {
        "settings": {**COMMON, **ROUTED, "model": "modular-shared", "slots": [3, 2], "pool": 2},
        "scalars": 134,
        "loss": 0.676010,
        "probabilities": {0: (0.452643, 0.493721), 21: (0.450392, 0.513931), 63: (0.433377, 0.532760)},
        "gradient_norm": 0.281100,
        "gradient_sum": 0.434568,
        "later_losses": (0.647983, 0.636795, 0.626424, 0.608929, 0.606989),
        # A level picks its inputs first, then its modules.
        "picks": [[[4, 1], [5, 2], [3, 0]], [1, 1, 0], [[2, 0], [1, 2]], [1, 0], [[0, 1]]],
        "picks_after_five": [[[0, 5], [3, 0], [3, 0]], [1, 0, 0], [[2, 1], [1, 0]], [1, 1], [[0, 1]]],
        "gradients": {
            132: (-0.00650428, 0.00171466),
            98: (0.00020045, -0.00081781, 0.00112220, -0.00020045, 0.00081781, -0.00112220),
            104: (0.00185981, 0.00296493, -0.00185981, -0.00296493),
        },
    },
]


def assert_close(what, got, expected, tolerance):
    got = torch.as_tensor(got, dtype=torch.float64)
    expected = torch.as_tensor(expected, dtype=torch.float64)
    worst = (got - expected).abs().max().item()
    assert worst <= tolerance, f"{what}: {got.tolist()} is not {expected.tolist()}"


def check(golden):
    settings = golden["settings"]
    model = settings["model"]
    network = networks.build(settings)
    count = sum(parameter.numel() for parameter in network.parameters())
    assert count == golden["scalars"], f"{model} has {count} scalars"
    index = torch.arange(1, count + 1, dtype=torch.float64)
    networks.load_flat(network, ((7919 * index) % 10007 / 10007 - 0.5).float())

    inputs, targets = input_table(), target_table("depth2")
    optimiser = networks.make_optimiser(network, settings)
    losses = []
    for step in range(6):
        selector = networks.Selector(settings.get("tau"), None, False, None)
        optimiser.zero_grad(set_to_none=True)
        probabilities = network(inputs, selector)
        loss = networks.loss_function(settings)(probabilities, targets)
        losses.append(loss.item())
        loss.backward()
        if step == 0:
            gradient = networks.flat_gradient(network)
            for row, expected in golden["probabilities"].items():
                assert_close(f"{model} row {row}", probabilities[row].detach(), expected, 1e-6)
            assert_close(f"{model} gradient norm", gradient.norm(), golden["gradient_norm"], 1e-6)
            assert_close(f"{model} gradient sum", gradient.sum(), golden["gradient_sum"], 5e-6)
            for offset, expected in golden.get("gradients", {}).items():
                part = gradient[offset : offset + len(expected)]
                assert_close(f"{model} gradient at {offset}", part, expected, 2e-8)
            assert selector.picks == golden.get("picks", []), f"{model} picks {selector.picks}"
        elif step == 5:
            assert selector.picks == golden.get("picks_after_five", []), f"{model} picks {selector.picks}"
        optimiser.step()
    assert_close(f"{model} loss", losses[0], golden["loss"], 1e-6)
    assert_close(f"{model} later losses", losses[1:], golden["later_losses"], 2e-6)


# Published parameter counts with two tasks.
TWO_TASK_SCALARS = [
    ({"model": "dense", "hidden": [36, 36, 36], "task_input": "onehot"}, 3062),
    ({"model": "dense", "hidden": [36, 36, 36], "task_input": "scalar"}, 3026),
    ({"model": "modular", "modules": [6, 4]}, 618),
    ({"model": "modular", "modules": [6, 4], "outputs_from": "all"}, 630),
    ({"model": "modular-shared", "slots": [3, 2], "pool": 3}, 229),
    ({"model": "modular-shared", "slots": [3, 2], "pool": 3, "outputs_from": "all"}, 235),
]


def check_all():
    for golden in GOLDEN:
        check(golden)
    for settings, expected in TWO_TASK_SCALARS:
        network = networks.build({**COMMON, **ROUTED, **settings, "task": "A+B"})
        count = sum(parameter.numel() for parameter in network.parameters())
        assert count == expected, f"{settings} has {count} scalars, not {expected}"
