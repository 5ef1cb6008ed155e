"""Arguments of train, sculpt and mask: the library's own table of settings, and Python's values as its words."""

import inspect
import json

from . import _core

SETTINGS = json.loads(_core.settings())


def word(value):
    """One value as the command line has it."""
    if value is None:
        return "none"
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "true" if value else "false"
    return str(value)


def _items(value):
    """The values of a list, a range or an array; None for a single one."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0:
        return None
    return list(value)


def words(value, is_list):
    """The words of a setting: 0.1 is one, [0.1, 0.01] two; of a setting that is a list, [24, 24] is one, and
    [[24, 24], [36, 36]] are two."""
    if isinstance(value, range) and not is_list and value.step == 1 and len(value) > 0:
        return [f"{value.start}..{value.stop - 1}"]
    items = _items(value)
    if items is None:
        return [word(value)]
    if not is_list:
        return [word(item) for item in items]
    if any(_items(item) is not None or isinstance(item, str) and "," in item for item in items):
        return [";".join(",".join(word(part) for part in _items(item) or [item]) for item in items)]
    return [",".join(word(item) for item in items)]


def take(settings):
    """Settings as the library takes them, and the tasks among them that were made in Python."""
    from .tasks import Task, task

    tasks = []
    asked = []
    lists = {setting["name"]: setting for kind in SETTINGS["kinds"] for setting in kind["settings"]}
    for name, value in settings.items():
        known = lists.get(name, {})
        if known.get("is_task"):
            given = value if isinstance(value, (list, tuple)) else [value]
            given = [task(one) if callable(one) else one for one in given]
            tasks += [one._core for one in given if isinstance(one, Task) and one._is_made]
            value = [one.source if isinstance(one, Task) else one for one in given]
        asked.append((name, words(value, known.get("is_list", False))))
    return asked, tasks


def thread_number(threads):
    """How many threads, or None; the library says how many there may be."""
    if threads is not None and not hasattr(threads, "__index__"):
        raise _core.ConfigError(f"threads must be a whole number, not {threads!r}")
    return threads


class _Default:
    """What a setting is where nothing is said of it, as help shows it."""

    def __init__(self, row):
        self.text = row["default"]
        self.about = f"{row['help']} ({row['value']}; default {row['default']})"

    def __repr__(self):
        return self.text


def _rows(kinds, model):
    """The first row of each setting of some kinds, in the order of the program's list."""
    rows = {}
    for kind in SETTINGS["kinds"]:
        if kinds is None or kind["name"] in kinds:
            for setting in kind["settings"]:
                if not (model and setting["is_model"]):
                    rows.setdefault(setting["name"], setting)
    return [rows[name] for name in SETTINGS["order"] if name in rows]


def takes_settings(kinds=None, model=None):
    """Gives a function the signature and the words of the settings: those of some kinds, or of all; without a model
    where the function stands for one."""

    def decorate(function):
        rows = _rows(kinds, model)
        own = [
            parameter
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        settings = [
            inspect.Parameter(row["name"], inspect.Parameter.KEYWORD_ONLY, default=_Default(row))
            for row in rows
        ]
        function.__signature__ = inspect.Signature(settings + own)
        lines = [f"    {row['name']}: {_Default(row).about}" for row in rows]
        function.__doc__ = inspect.cleandoc(function.__doc__) + "\n\nSettings:\n" + "\n".join(lines)
        return function

    return decorate
