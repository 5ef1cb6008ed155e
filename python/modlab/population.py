"""Networks that are trained, alone or by the thousand."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Sequence
from typing import Any

import numpy

from . import _core
from ._arguments import take, takes_settings, thread_number
from ._display import Drawn, preformatted
from ._progress import carry_out
from ._tables import columns, table


@takes_settings()
def train(
    *, threads: int | None = None, progress: bool | None = None, networks: bool = True, **settings: Any
) -> Population:
    """Trains networks and returns them as a Population.

    Settings have the names and the meaning that they have in the program; lists and ranges multiply into a population.
    The results are a function of the settings alone: the same bits as those of ``modlab train``.

    >>> pop = modlab.train(task="depth2", model="modular-shared", seed=range(8), epochs=200)
    >>> pop.table()["seed"].tolist()
    [0, 1, 2, 3, 4, 5, 6, 7]

    threads: how many to train on; default: all cores
    progress: True for a bar, False for none; default: where there is a terminal or a notebook
    networks: False keeps the results alone, of a population too large for memory; a network that is asked for is then
        trained again, to the same bits
    """
    asked, tasks = take(settings)
    core = _core.Population(asked, None, tasks, thread_number(threads), networks)
    carry_out(core, progress)
    return Population(core, settings if not networks else None)


def load(path: str | os.PathLike, snapshot: str = "best") -> Network:
    """A network that ``modlab train --save`` or Network.save wrote.

    >>> net = modlab.train(seed=0, epochs=20)[0]
    >>> net.save("/tmp/modlab-doctest.safetensors")
    >>> modlab.load("/tmp/modlab-doctest.safetensors").id == net.id
    True
    """
    with open(path, "rb") as file:
        return Network(file.read(), os.fspath(path), snapshot=snapshot)


class Network(Drawn):
    """A trained network, at its best epoch by validation; ``last`` is the same one at its last epoch.

    Called with an array of inputs it gives the probability of each output. In a notebook it draws its wiring over that
    of its task.

    >>> net = modlab.train(task="depth2", model="modular-fc", seed=0, epochs=400).best()
    >>> net(modlab.graph("depth2").rows).shape
    (64, 2)
    >>> net.weights["level1.module0.layer0.weight"].shape
    (12, 2)
    """

    def __init__(self, data, name, curve="", snapshot="best"):
        self._data = data
        self._name = name
        self._curve = curve
        self._core = _core.Network(data, name, snapshot)
        #: best or last.
        self.snapshot = snapshot
        #: What is known of it: its settings and, under best and last, its measures.
        self.facts = json.loads(self._core.run())

    @property
    def id(self) -> str:
        """The name of the run, a hash of its settings."""
        return self.facts["id"]

    @property
    def settings(self) -> dict[str, Any]:
        """Its settings by name."""
        return {name: value for name, value in self.facts.items() if not isinstance(value, dict) and name != "id"}

    @property
    def measures(self) -> dict[str, float]:
        """What was measured of this snapshot, by name."""
        return self.facts[self.snapshot]

    @property
    def last(self) -> Network:
        """The same network after its last epoch."""
        return Network(self._data, self._name, self._curve, "last")

    @property
    def weights(self) -> dict[str, numpy.ndarray]:
        """Every tensor by name, as arrays that nobody can write to: they are the network's own memory."""
        return self._core.weights()

    @property
    def routing(self) -> Any:
        """What modules read: `inputs` [level][slot][position], `modules` (of a shared pool) [level][slot] and `outputs`;
        of a mixture, `use`: how much each module counts for each rule; None for a network without modules."""
        return json.loads(self._core.routing())

    @property
    def curve(self) -> Any:
        """Losses and accuracies along training, as a table; None where nobody kept them."""
        return table(self._curve) if self._curve else None

    def logits(self, x: Any, task: int = 0) -> numpy.ndarray:
        """What it says of each sample, before it becomes a probability. See ``__call__``."""
        return self._core.answers(numpy.asarray(x), task)

    def __call__(self, x: Any, task: int = 0) -> numpy.ndarray:
        """Its answers, [sample, output]: probabilities, or numbers where numbers were to be learned.

        x: bits as [sample, input], images as bytes [sample, image, row, column], of rules [sample, column] or [sample,
            token, column] with a column for each rule last
        task: which of the tasks that it has learned, where there are several
        """
        said = self.logits(x, task)
        return 1 / (1 + numpy.exp(-said.astype(float))) if self._core.is_logit else said

    def to_dict(self) -> dict[str, Any]:
        """What it reads and follows, as `modlab show --json` prints it."""
        return json.loads(self._core.json())

    def save(self, path: str | os.PathLike) -> None:
        """Writes the network for other programs (safetensors), or its picture if the path ends in .svg or .png."""
        if str(path).lower().endswith((".svg", ".png")):
            super().save(path)
            return
        with open(path, "wb") as file:
            file.write(self._data)

    def __repr__(self):
        return f"Network({self.id}: {self.facts['task']}, {self.facts['model']}, seed {self.facts['seed']})"


class Population(Sequence):
    """Trained networks, in the order of their settings with the seed varying fastest. Of other kinds of run than networks
    that are trained once (sculpted, masked), the table alone.

    >>> pop = modlab.train(seed=range(3), epochs=20)
    >>> [net.settings["seed"] for net in pop]
    [0, 1, 2]
    """

    def __init__(self, core, again=None):
        self._core = core
        self._again = again

    def __len__(self) -> int:
        return len(self._core)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[at] for at in range(len(self))[place]]
        return self._network(range(len(self))[place])

    def _network(self, place):
        core = self._core
        if self._again is not None:
            asked, tasks = take({**self._again, **self.settings(place)})
            core = _core.Population(asked, None, tasks, 1, True)
            carry_out(core, False)
            place = 0
        if "safetensors" not in core.files(place):
            raise _core.ConfigError(
                f"runs of {core.kind(place)} leave no single network; see modlab.sculpt and modlab.mask"
            )
        return Network(core.file(place, "safetensors"), core.id(place), core.curve_csv(place))

    def settings(self, place: int) -> dict[str, Any]:
        """The settings of a run by name."""
        return json.loads(self._core.settings(range(len(self))[place]))

    @property
    def ids(self) -> list[str]:
        """The names of all runs."""
        return [self._core.id(place) for place in range(len(self))]

    @property
    def runs(self) -> list[dict[str, Any]]:
        """Every run with its settings and measures, as `modlab train --json` prints them."""
        return [json.loads(self._core.run_json(place)) for place in range(len(self))]

    def table(self) -> Any:
        """One line a run: settings and measures. A pandas.DataFrame if pandas is installed, else a dictionary of numpy
        arrays."""
        return table(self._core.csv())

    def best(self) -> Any:
        """The network that validation chooses: the best validation accuracy or score, then the lowest validation loss.

        >>> modlab.train(seed=range(3), epochs=20).best().settings["task"]
        'depth2'
        """
        return self[self._core.best()]

    def compare(self, setting: str = "") -> Comparisons:
        """Differences between the values of a setting (default: models), paired by split and seed, with intervals.

        >>> pop = modlab.train(model=["dense", "modular-shared"], split_seed=range(40, 46), epochs=30)
        >>> pop.compare()[0]["reference"]
        'dense'
        """
        return Comparisons(self._core.compare(setting))

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self._core.seconds

    def __repr__(self):
        runs = f"{len(self)} run{'' if len(self) == 1 else 's'}"
        return f"Population({runs} in {self.seconds:.2f} s, {self._core.target}, {self._core.threads} threads)"

    def _repr_html_(self):
        """The first runs: what they differ in, and their headline."""
        most = 20
        found = columns(self._core.csv())
        settings = set().union(*(self.settings(place) for place in range(0, len(self), max(1, len(self) // 100))))
        names = [name for name in found if name in settings and len(set(found[name])) > 1]
        names = ["run", "id", *names, self._core.headline(0)]
        rows = [[_cell(found[name][row]) for name in names] for row in range(min(most, len(self)))]
        lines = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
        header = "".join(f"<th>{name}</th>" for name in names)
        more = f"<p>{len(self) - most} more: table() has all of them</p>" if len(self) > most else ""
        return f"<p>{self!r}</p><table><tr>{header}</tr>{lines}</table>{more}"


class Comparisons(Sequence):
    """Differences with their intervals: dictionaries, as `modlab train --compare --json` prints them."""

    def __init__(self, found):
        self._found = [json.loads(facts) for facts, _ in found]
        #: In words.
        self.text = "\n".join(words for _, words in found)

    def __len__(self):
        return len(self._found)

    def __getitem__(self, place):
        return self._found[place]

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"Comparisons({len(self)})"

    def _repr_html_(self):
        return preformatted(self.text)


def _cell(value):
    return f"{value:.4g}" if isinstance(value, float) else html.escape(str(value))


