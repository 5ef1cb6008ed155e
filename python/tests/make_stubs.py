"""python3 tests/make_stubs.py > modlab/__init__.pyi: the package for type checkers and editors, with every setting as an argument.

Made from the package itself, whose arguments come from the library's table of settings; a test compares the two.
"""

import inspect

import modlab

_HEAD = '''# Made by python/tests/make_stubs.py; do not edit.
from typing import Any

__version__: str

'''


def _functions():
    """The functions whose arguments are settings, with those that they have besides."""
    for name in modlab.__all__:
        function = getattr(modlab, name)
        if inspect.isfunction(function) and hasattr(function, "__signature__"):
            yield name, inspect.signature(function).parameters, function.__annotations__


def text():
    stub = _HEAD
    made = {name for name, _, _ in _functions()}
    for name in modlab.__all__:
        if name not in made:
            module = getattr(modlab, name).__module__.rpartition(".")[2].replace("modlab", "_core")
            stub += f"from .{module} import {name} as {name}\n"
    for name, parameters, annotations in _functions():
        stub += f"\ndef {name}(\n    *,\n"
        for parameter in parameters:
            about = getattr(parameters[parameter].default, "about", "")
            stub += f"    {parameter}: {annotations.get(parameter, 'Any')} = ...,{about and '  # ' + about}\n"
        stub += f") -> {annotations['return']}: ...\n"
    return stub


if __name__ == "__main__":
    print(text(), end="")
