"""A laboratory for modularity in neural networks.

>>> import modlab
>>> pop = modlab.train(task="depth2", model=["dense", "modular-shared"], seed=range(4), epochs=50)
>>> len(pop), pop[0].settings["model"]
(8, 'dense')

``train``, ``sculpt`` and ``mask`` take every setting of the program as an argument, by its name. What they return draws
itself in a notebook. docs/python.md is the guide, docs/settings.md lists the settings.
"""

from ._core import ConfigError, Error, FormatError
from ._core import version as __version__
from .masks import Masked, MaskedNetwork, Overlap, mask, overlap
from .modules import Modules, Trial, Trials, Use, collapse, detect, sculpt
from .population import Network, Population, load, train
from .study import Figure, Study, studies
from .tasks import Task, graph, task

for _error in (Error, ConfigError, FormatError):
    _error.__module__ = __name__  # where people know them from

__all__ = [
    "ConfigError",
    "Error",
    "Figure",
    "FormatError",
    "Masked",
    "MaskedNetwork",
    "Modules",
    "Network",
    "Overlap",
    "Population",
    "Study",
    "Task",
    "Trial",
    "Trials",
    "Use",
    "collapse",
    "detect",
    "graph",
    "load",
    "mask",
    "overlap",
    "sculpt",
    "studies",
    "task",
    "train",
]
