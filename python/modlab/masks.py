"""Masks over the weights of trained networks, and what they share."""

from __future__ import annotations

import json
from typing import Any

import numpy

from . import _core
from ._arguments import SETTINGS, take, takes_settings, thread_number
from ._display import preformatted
from ._progress import carry_out
from .population import Population


@takes_settings(kinds=[kind["name"] for kind in SETTINGS["kinds"] if SETTINGS["masked"] in kind["models"]], model="masked")
def mask(*, threads: int | None = None, progress: bool | None = None, **settings: Any) -> Masked:
    """Trains networks, freezes them, and learns for each target a binary mask that keeps the weights it needs.

    >>> masked = modlab.mask(task="depth2", network="dense", epochs=100, mask_steps=100, seed=0)
    >>> sorted(masked[0].masks)
    ['all', 'y0', 'y1']

    A PyTorch model is masked on samples of its own, docs/pytorch.md: modlab.mask(model="net.pt", data="samples.npz").

    threads, progress: as train has them
    """
    # To a run they are what every mask has, its network and its task.
    for said, meant in (("model", "network"), ("data", "task")):
        if said in settings:
            settings[meant] = settings.pop(said)
    asked, tasks = take(settings)
    core = _core.Population(asked, SETTINGS["masked"], tasks, thread_number(threads), True)
    carry_out(core, progress)
    return Masked(core)


class MaskedNetwork:
    """A frozen network and its masks.

    >>> net = modlab.mask(task="depth2", network="dense", epochs=100, mask_steps=100, seed=0)[0]
    >>> {array.dtype.name for array in net.masks["y0"].values()}
    {'bool'}
    """

    def __init__(self, core, place):
        self._core = core
        self._place = place
        #: Everything that was measured, as `modlab mask --json` prints it.
        self.facts = json.loads(core.run_json(place))

    @property
    def id(self) -> str:
        return self._core.id(self._place)

    @property
    def weights(self) -> dict[str, numpy.ndarray]:
        """The tensors of the network, before any mask."""
        return self._tensors("network")

    @property
    def masks(self) -> dict[str, dict[str, numpy.ndarray]]:
        """By target: which weights its mask keeps, tensor by tensor."""
        stages = [name[len("mask-") :].rsplit(".", 1)[0] for name in self._files() if name.startswith("mask-")]
        return {
            stage: {name: values == 1 for name, values in self._tensors("mask-" + stage).items()} for stage in stages
        }

    @property
    def text(self) -> str:
        """In words, as `modlab mask` prints it."""
        return self._core.masked_text(self._place)

    def overlap(self) -> Overlap:
        """What the masks of its targets share."""
        return overlap({stage: kept for stage, kept in self.masks.items() if stage != "all"})

    def _files(self):
        return self._core.files(self._place)

    def _tensors(self, name):
        return _core.tensors(self._core.file(self._place, name + ".safetensors"), name)

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"MaskedNetwork({self.id})"

    def _repr_html_(self):
        return preformatted(self.text)


class Masked(Population):
    """Networks with their masks, as `modlab.mask` returns them.

    >>> masked = modlab.mask(task="depth2", network="dense", epochs=100, mask_steps=100, seed=[0, 1])
    >>> len(masked), masked.table()["seed"].tolist()
    (2, [0, 1])
    """

    def _network(self, place):
        return MaskedNetwork(self._core, place)

    def best(self) -> MaskedNetwork:
        """The first: masks are not chosen by validation."""
        return self[0]

    @property
    def text(self) -> str:
        """Means over networks, as `modlab mask` prints them."""
        return self._core.masked_text()

    def __str__(self):
        return self.text

    def _repr_html_(self):
        return preformatted(self.text)


class Overlap:
    """Which weights masks share, beside what chance would.

    >>> modlab.overlap([[1, 1, 0, 0], [0, 1, 1, 0]]).pairs[0]["kept_by_both"]
    1
    """

    def __init__(self, core):
        self._core = core
        self._facts = json.loads(core.json())

    @property
    def pairs(self) -> list[dict[str, Any]]:
        """For each two masks what they keep, share, and would share by chance, of all weights and of each tensor."""
        return self._facts["pairs"]

    @property
    def iou(self) -> numpy.ndarray:
        """What both keep of what any keeps, [mask, mask]."""
        names = self.names
        matrix = numpy.eye(len(names))
        for pair in self.pairs:
            first, second = names.index(pair["first"]), names.index(pair["second"])
            matrix[first, second] = matrix[second, first] = pair["iou"]
        return matrix

    @property
    def names(self) -> list[str]:
        """The names of the masks."""
        return [one["name"] for one in self._facts["masks"]]

    @property
    def text(self) -> str:
        return self._core.text()

    def to_dict(self) -> dict[str, Any]:
        """As `modlab overlap --json` prints it."""
        return self._facts

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"Overlap({len(self.names)} masks)"

    def _repr_html_(self):
        return preformatted(self.text)


def _tensors(mask):
    """The arrays of a mask by name: a dictionary, a list, or one array."""
    if isinstance(mask, MaskedNetwork):
        raise _core.ConfigError("a masked network has several masks; take net.masks, or net.overlap()")
    named = mask.items() if hasattr(mask, "items") else [("mask", mask)]
    return [(str(name), array_of(value)) for name, value in named]


def array_of(value):
    """An array of numpy's, of a torch tensor too."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    try:
        return numpy.asarray(value)
    except ValueError as error:
        raise _core.ConfigError(f"rows of an array differ in length ({error})") from None


def overlap(masks: Any, nonzero: bool = False, logits: bool = False) -> Overlap:
    """Which weights masks share, beside what random masks of these sizes would.

    masks: two or more, as a list or by name; each an array of zeros and ones, or a dictionary of them by tensor
    nonzero: they are weights of pruned networks, of which all but zeros are kept
    logits: what is above zero is kept

    >>> modlab.overlap([[1, 1, 0, 0], [0, 1, 1, 0]]).iou.round(2).tolist()
    [[1.0, 0.33], [0.33, 1.0]]
    """
    named = masks.items() if hasattr(masks, "items") else ((f"mask {at + 1}", one) for at, one in enumerate(masks))
    return Overlap(_core.overlap([(str(name), _tensors(mask)) for name, mask in named], nonzero, logits))
