"""Tasks: built in, from files, and made of Python's functions."""

from __future__ import annotations

import inspect
import json
import os
from typing import Any, Callable, Sequence

import numpy

from . import _core
from ._display import Drawn

_MOST_INPUTS = 16


class Task(Drawn):
    """A Boolean function to learn, with its structure where that is known. Draws itself in a notebook.

    >>> xor = modlab.task(lambda a, b: a ^ b, name="my-xor")
    >>> xor.inputs, xor.table[:, 0].tolist()
    (['a', 'b'], [False, True, True, False])
    """

    def __init__(self, core, source):
        self._core = core
        self._is_made = source is None
        #: What train takes for it: a name or a path.
        self.source = core.name if source is None else source

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def about(self) -> str:
        return self._core.about

    @property
    def inputs(self) -> list[str]:
        """The names of the inputs."""
        return self._core.inputs

    @property
    def outputs(self) -> list[str]:
        """The names of the outputs."""
        return self._core.outputs

    @property
    def table(self) -> numpy.ndarray:
        """The truth table, [row, output], rows counting upwards in binary with the first input as the highest bit."""
        return self._core.truth_table()

    @property
    def rows(self) -> numpy.ndarray:
        """The inputs of each row of the truth table, [row, input]: what a network is asked to answer for all of them."""
        return _rows(len(self.inputs))

    def to_dict(self) -> dict[str, Any]:
        """Everything there is to say, as `modlab graph --json` prints it."""
        return json.loads(self._core.json())

    def __repr__(self):
        return f"Task({self.name!r}, {', '.join(self.inputs)} -> {', '.join(self.outputs)})"


def _rows(inputs):
    numbers = numpy.arange(2**inputs)[:, None]
    return (numbers >> numpy.arange(inputs)[::-1] & 1).astype(bool)


class _Listed(str):
    """A text that shows itself as it is."""

    def __repr__(self):
        return str(self)


def graph(task: str | os.PathLike | Task | Callable[..., Any] | None = None) -> Any:
    """A task, which draws itself in a notebook: a built-in name, the path of a YAML or CSV file, or a task or function of
    yours. Without one, a list of the built-in tasks.

    >>> modlab.graph("depth2").outputs
    ['y0', 'y1']
    """
    if task is None:
        return _Listed(_core.task_list())
    if isinstance(task, Task):
        return task
    if callable(task):
        return _task(task)
    return Task(_core.load_task(os.fspath(task)), os.fspath(task))


def task(
    function_or_table: Callable[..., Any] | Any,
    inputs: int | Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    name: str | None = None,
    about: str = "",
) -> Task:
    """A task of your own, from a function of bits or from a truth table.

    A function is called with truth values, once for each row, and returns one or several. `inputs` are the inputs' names
    or their number; otherwise they are the names of the function's parameters. A truth table is an array [row] or [row,
    output] of zeros and ones, rows counting upwards in binary with the first input as the highest bit. The name stands
    in results; runs of two functions must not have the same one.

    >>> def majority(a, b, c):
    ...     return a + b + c >= 2
    >>> modlab.task(majority)
    Task('majority', a, b, c -> y0)
    >>> modlab.task([0, 1, 1, 0], name="parity").table[:, 0].tolist()
    [False, True, True, False]
    """
    if callable(function_or_table):
        name = name or getattr(function_or_table, "__name__", "")
        if name == "<lambda>":
            raise _core.ConfigError("a function without a name needs one here: modlab.task(..., name='mine')")
        if inputs is None:
            parameters = inspect.signature(function_or_table).parameters.values()
            if any(one.kind not in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in parameters):
                raise _core.ConfigError(f"{name} takes any number of bits; say how many with inputs=")
            inputs = [one.name for one in parameters]
        names = _names(inputs, "x")
        table = _answers(function_or_table, len(names), name)
    else:
        table = _bits(function_or_table, "a truth table")
        table = table.reshape(len(table), -1) if table.ndim else table
        count = max(len(table) - 1, 0).bit_length() if table.ndim else 0
        if table.ndim != 2 or len(table) != 2**count or count == 0:
            raise _core.ConfigError(
                f"a truth table has a row for each of 2, 4, 8, ... combinations of inputs, not the shape {table.shape}"
            )
        names = _names(count if inputs is None else inputs, "x")
        if len(names) != count:
            raise _core.ConfigError(f"{len(table)} rows are those of {count} inputs, not of {len(names)}")
        if name is None:
            raise _core.ConfigError("a truth table needs a name here: modlab.task(table, name='mine')")
    labels = _names(table.shape[1] if outputs is None else outputs, "y")
    if len(labels) != table.shape[1]:
        raise _core.ConfigError(f"there are {table.shape[1]} outputs, but {len(labels)} names for them")
    text = {"about": about, "inputs": names, "table": {label: _hex(table[:, at]) for at, label in enumerate(labels)}}
    return Task(_core.make_task(json.dumps(text), name), None)


def _names(given, letter):
    if isinstance(given, int):
        if not 1 <= given <= _MOST_INPUTS:
            raise _core.ConfigError(f"a task has 1 to {_MOST_INPUTS} inputs and outputs, not {given}")
        return [f"{letter}{number}" for number in range(given)]
    return [str(one) for one in given]


def _bits(values, what):
    """An array of truth values from zeros and ones."""
    try:
        array = numpy.asarray(values)
    except ValueError:
        array = numpy.asarray(None)
    if array.dtype.kind not in "biuf" or not numpy.isin(array, (0, 1)).all():
        raise _core.ConfigError(f"{what} has zeros and ones, not {str(values)[:60]}")
    return array.astype(bool)


def _answers(function, inputs, name):
    if not 1 <= inputs <= _MOST_INPUTS:
        raise _core.ConfigError(f"a task has 1 to {_MOST_INPUTS} inputs, not {inputs}")
    answers = [numpy.atleast_1d(_bits(function(*row), f"an answer of {name}")) for row in _rows(inputs).tolist()]
    sizes = {answer.shape for answer in answers}
    if len(sizes) > 1 or answers[0].ndim != 1:
        raise _core.ConfigError(f"{name} must return as many bits for every row; it returns {sorted(sizes)}")
    return numpy.array(answers)


def _hex(bits):
    """A column of a truth table as the word that task files have, row 0 first."""
    return f"{int(''.join('1' if bit else '0' for bit in bits), 2):0{max(len(bits) // 4, 1)}x}"


_task = task  # by another name where an argument has this one
