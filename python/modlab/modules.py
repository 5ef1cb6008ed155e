"""Modules: found in networks, carved out of them, and how much each is used."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy

from . import _core
from ._arguments import take, takes_settings, thread_number
from ._display import Drawn, preformatted
from ._progress import carry_out
from ._tables import table
from .masks import array_of
from .population import Network, Population
from .tasks import Task, graph


class Modules(Drawn):
    """A network of layers and the modules found in it. Draws itself in a notebook; called, it answers.

    >>> found = modlab.detect([[[1, 1, 0, 0], [0, 0, 1, 1]], [[1, 0], [0, 1]]])
    >>> len(found.modules), found.modules[0]["inputs"]
    (2, [0, 1])
    """

    def __init__(self, core):
        self._core = core
        self._facts = json.loads(core.json())

    @property
    def id(self) -> str:
        return self._core.id

    @property
    def modules(self) -> list[dict[str, Any]]:
        """Each module: its name, level, and units by layer, from the inputs up."""
        return self._facts["hierarchy"]["modules"]

    @property
    def weights(self) -> dict[str, numpy.ndarray]:
        """The matrices [out, in] and biases of its layers, by name."""
        return self._core.weights()

    def logits(self, x: Any) -> numpy.ndarray:
        """What it says of each sample, [sample, output], hidden units with ReLU."""
        return self._core.answers(numpy.asarray(x))

    def __call__(self, x: Any) -> numpy.ndarray:
        """The probability of each output."""
        return 1 / (1 + numpy.exp(-self.logits(x).astype(float)))

    def to_dict(self) -> dict[str, Any]:
        """Everything that was looked at, as `modlab detect --json` prints it."""
        return self._facts

    def __len__(self):
        return len(self.modules)

    def __repr__(self):
        return f"Modules({self.id}: {len(self)} in layers {'-'.join(str(len(one)) for one in self._facts['live'])})"


def detect(
    network: Any,
    biases: Any = None,
    *,
    task: str | Task | None = None,
    tensors: Sequence[str] = (),
    inputs_first: bool = False,
    threshold: float = 0.2,
    merging: float = 0.9,
    merge_at_equal: bool = False,
    features: str = "",
    weighted: bool = False,
    hops: int = 0,
    linkage: str = "",
    distance: str = "",
    index: str = "",
    lesion: bool = False,
    null: int = 0,
    stability: bool = False,
    seed: int = 0,
) -> Any:
    """The modules of a sparse network of layers, as Neural Sculpting finds them. Zeros are no edges.

    network: matrices [out, in] from the inputs up; a dictionary of arrays such as a torch model's state_dict(), whose
        matrices are taken in order, each X.weight with X.bias; a Network without modules; or the path of a file, which
        gives a list where it has several networks
    biases: of the matrices, where they have any
    task: what the network has learned, a name or a Task: is it right, and are these its modules?
    tensors: which matrices of a dictionary or file, from the inputs up; default: all
    inputs_first: matrices are [in, out]
    lesion, null, stability: which outputs fail without a module; random networks to compare with; other thresholds
    The other arguments are the options of `modlab detect`, whose --help explains them.

    >>> import numpy
    >>> first, second = numpy.kron(numpy.eye(2), [[1, 1]]), numpy.eye(2)
    >>> print(len(modlab.detect([first, second])), "modules")
    2 modules
    """
    options = _core.LookOptions()
    for name, value in dict(
        threshold=threshold, merging=merging, merge_at_equal=merge_at_equal, features=features, weighted=weighted,
        hops=hops, linkage=linkage, distance=distance, index=index, lesion=lesion, null=null, stability=stability,
        seed=seed,
    ).items():
        setattr(options, name, value)
    known = graph(task)._core if task is not None else None
    if isinstance(network, (str, os.PathLike)):
        found = [
            Modules(one)
            for one in _core.detect_file(os.fspath(network), list(tensors), inputs_first, False, options, known)
        ]
        return found[0] if len(found) == 1 else found
    if isinstance(network, (Population, Trials)):
        raise _core.ConfigError("detect looks at one network; take one of these, such as the first: [0]")
    if isinstance(network, Trial):
        network = network.network
    if isinstance(network, Modules):
        network = network.weights
    if isinstance(network, Network):
        if network.routing is not None:
            raise _core.ConfigError("this network has modules of its own; detect looks for those of dense and sparse ones")
        network = network.weights
    if hasattr(network, "state_dict"):
        network = network.state_dict()
    if hasattr(network, "items"):
        arrays = [(str(name), array_of(value)) for name, value in network.items()]
    else:
        arrays = _layers(network, biases)
    return Modules(_core.detect(arrays, "network", list(tensors), inputs_first, options, known))


def _layers(matrices, biases):
    arrays = []
    matrices = [array_of(one) for one in matrices]
    if biases is not None and len(biases) != len(matrices):
        raise _core.ConfigError(f"there are {len(matrices)} matrices, but {len(biases)} biases")
    for at, matrix in enumerate(matrices):
        if matrix.ndim != 2:
            raise _core.ConfigError(f"matrix {at + 1} must have the shape (out, in), not {matrix.shape}")
        arrays.append((f"layer{at}.weight", matrix))
        if biases is not None and biases[at] is not None:
            bias = array_of(biases[at])
            if bias.shape != matrix.shape[:1]:
                raise _core.ConfigError(f"bias {at + 1} must have the shape ({matrix.shape[0]},), not {bias.shape}")
            arrays.append((f"layer{at}.bias", bias))
    return arrays


@takes_settings(kinds=["sculpt"], model="sculpted")
def sculpt(*, threads: int | None = None, progress: bool | None = None, **settings: Any) -> Trials:
    """Trains dense networks, prunes them as far as accuracy allows, in many ways at once, and keeps the sparsest.

    >>> trials = modlab.sculpt(task="sculpt/4-2-4", hidden=[24, 24], seed=[0, 1])
    >>> trials[0].learned, len(trials[0].network.modules)
    (True, 2)

    threads, progress: as train has them
    """
    asked, tasks = take(settings)
    core = _core.Sculpting(asked, tasks, thread_number(threads))
    carry_out(core, progress)
    return Trials(core)


class Trial:
    """One dense network and the sparsest ones that were carved out of it.

    >>> trial = modlab.sculpt(task="sculpt/4-2-4", hidden=[24, 24], seed=0)[0]
    >>> trial.network(modlab.graph("sculpt/4-2-4").rows).shape
    (16, 4)
    """

    def __init__(self, core, place):
        self._core = core
        self._place = place
        #: What is said of it, as `modlab sculpt --json` prints it.
        self.facts = json.loads(core.json(place))

    @property
    def id(self) -> str:
        return self._core.id(self._place)

    @property
    def learned(self) -> bool:
        """Whether the dense network met the threshold; otherwise it was not pruned."""
        return bool(self.networks)

    @property
    def networks(self) -> list[Modules]:
        """All that are tied for the fewest edges."""
        return [Modules(one) for one in self._core.networks(self._place)]

    @property
    def network(self) -> Modules | None:
        """The first of them; None if there is none."""
        return next(iter(self.networks), None)

    @property
    def dense(self) -> Modules:
        """The network before pruning."""
        return Modules(self._core.dense(self._place))

    def __repr__(self):
        return f"Trial({self.id}: {self.network if self.learned else 'not learned'!r})"

    def _repr_html_(self):
        return self.network._repr_html_() if self.learned else preformatted(repr(self))


class Trials(Sequence):
    """Trials of sculpting, in the order of their settings.

    >>> trials = modlab.sculpt(task="sculpt/4-2-4", hidden=[24, 24], seed=range(2))
    >>> trials.table()["learned"].tolist()
    [100, 100]
    """

    def __init__(self, core):
        self._core = core

    def __len__(self):
        return len(self._core)

    def __getitem__(self, place):
        if isinstance(place, slice):
            return [self[at] for at in range(len(self))[place]]
        return Trial(self._core, range(len(self))[place])

    def table(self) -> Any:
        """One line a trial: settings and measures, as train's."""
        return table(self._core.csv())

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self._core.seconds

    def __repr__(self):
        return f"Trials({len(self)}, {self._core.trainings} trainings in {self.seconds:.2f} s)"


class Use(Drawn):
    """Which module serves which rule. Draws itself in a notebook.

    >>> modlab.collapse([[0.9, 0.1], [0.2, 0.8]]).measures["dead_modules"]
    0
    """

    def __init__(self, core):
        self._core = core

    @property
    def measures(self) -> dict[str, Any]:
        """Whether modules specialise or collapse, as `modlab collapse --json` prints it."""
        return json.loads(self._core.json())

    def __repr__(self):
        return f"Use({self.measures})"


def collapse(use: Any, rules: Sequence[str] = (), modules: Sequence[str] = ()) -> Use:
    """Do modules specialise, or do a few do everything? From a matrix of module use, rules by modules, in shares or
    counts.

    rules, modules: their names

    >>> round(modlab.collapse([[1, 0], [1, 0]]).measures["collapse_worst"], 3)
    1.0
    """
    return Use(_core.collapse(array_of(use), [str(one) for one in rules], [str(one) for one in modules]))
