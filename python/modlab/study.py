"""Studies: whole grids of runs, what was chosen, which claims hold, figures and the report."""

from __future__ import annotations

import contextlib
import html
import json
import logging
import os
import re
import threading
from collections.abc import Sequence
from typing import Any

from . import _core
from ._arguments import SETTINGS, thread_number, words
from ._display import Drawn, image, preformatted
from ._progress import carry_out, pass_on_notices
from ._tables import table
from .population import Network, Population
from .tasks import Task, task

_LISTS = {setting["name"]: setting["is_list"] for kind in SETTINGS["kinds"] for setting in kind["settings"]}


def studies() -> list[str]:
    """The names of the studies that are built in.

    >>> "boolean" in modlab.studies()
    True
    """
    return _core.study_names()


def _plain(value, tasks):
    """What JSON can hold, with tasks by their names; those made in Python are collected."""
    if callable(value):
        value = task(value)
    if isinstance(value, Task):
        if value._is_made:
            tasks.append(value._core)
        return value.source
    if isinstance(value, dict):
        return {str(key): _plain(one, tasks) for key, one in value.items()}
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "__iter__"):
        return [_plain(one, tasks) for one in value]
    raise _core.ConfigError(f"a study is made of texts, numbers, lists and dictionaries, not of {value!r}")


class Study:
    """A grid of runs with figures and claims: built in, a YAML file, or a dictionary of the same form
    (studies/README.md). What is done stays in its folder; a finished run is never trained again.

    preset: of the study; default: its own
    folder: where its store and report go; default: results/NAME-PRESET
    Other arguments replace settings, as `modlab study run NAME setting=values` does.

    >>> import tempfile
    >>> study = modlab.Study({
    ...     "name": "mine",
    ...     "parameters": {"model": {"values": ["dense", "modular-shared"]}, "seed": {"values": range(3)},
    ...                    "split_seed": {"values": [40, 41]}, "epochs": {"value": 30}},
    ... }, folder=tempfile.mkdtemp()).run()
    >>> len(study.runs()["seed"])
    12
    """

    def __init__(
        self, study: str | os.PathLike | dict[str, Any], preset: str = "", folder: str | os.PathLike = "", **settings: Any
    ):
        tasks: list[Any] = []
        text = None
        if isinstance(study, dict):
            text = json.dumps(_plain(study, tasks))
            name = str(study.get("name", "study"))
        else:
            name = os.fspath(study)
        overrides = []
        for setting, value in settings.items():
            given = value if isinstance(value, (list, tuple)) else [value]
            if any(isinstance(one, Task) for one in given):
                value = [_plain(one, tasks) for one in given]
            separator = ";" if _LISTS.get(setting) else ","
            overrides.append(f"{setting}={separator.join(words(value, _LISTS.get(setting, False)))}")
        self._named = _core.NamedStudy(name, text, preset, os.fspath(folder), overrides, tasks)
        #: Where its store and report are.
        try:
            self.folder, self.preset = self._named.place()
        except _core.Error as error:
            # A dictionary has no lines.
            raise type(error)(re.sub(r"^(\(study .*?\)):\d+", r"\1", str(error))) from None
        self._begin()

    def _begin(self):
        self._lock = threading.Lock()
        self._is_running = False
        self._known = {}

    @classmethod
    def open(cls, folder: str | os.PathLike) -> Study:
        """The study of a folder, to look at: it needs no other file.

        >>> modlab.Study.open("no/such/folder")
        Traceback (most recent call last):
            ...
        modlab.FormatError: no/such/folder: there is no study here; `modlab study run NAME --out no/such/folder` makes one
        """
        study = cls.__new__(cls)
        study._named = None
        study.folder = os.fspath(folder)
        study._begin()
        study.preset = study._ask("facts", json.loads)["preset"]
        return study

    @contextlib.contextmanager
    def _alone(self):
        """For one thread at a time: while it runs, others hear so, and otherwise they wait."""
        if not self._lock.acquire(blocking=not self._is_running):
            raise _core.ConfigError(
                f"the study in {self.folder} runs in another thread; wait until run() has returned there"
            )
        try:
            yield
        finally:
            self._lock.release()

    def run(self, *, threads: int | None = None, progress: bool | None = None) -> Study:
        """Carries out what is missing and returns the study. Stopped (Ctrl-C) or killed, it goes on next time."""
        if self._named is None:
            raise _core.ConfigError("a study that was opened from its folder is there to look at; name it to run it")
        with self._alone():
            self._is_running = True
            try:
                self._known = {}
                work = _core.StudyRun(self._named, thread_number(threads))
                if work.changes:
                    logging.getLogger("modlab").warning(work.changes)
                try:
                    carry_out(work, progress)
                finally:
                    self.folder = work.folder
                    work.close()
            finally:
                self._is_running = False
        return self

    def _ask(self, what, read):
        """Something of the folder's store, which is read once."""
        with self._alone():
            if what not in self._known:
                self._known[what] = read(getattr(_core.StudyFolder(self.folder), what)())
                pass_on_notices()
            return self._known[what]

    @property
    def facts(self) -> dict[str, Any]:
        """Name, title, preset, how many runs are planned and finished, and its figures."""
        return self._ask("facts", json.loads)

    def runs(self) -> Any:
        """One line a run: series, settings, measures, whether it was chosen."""
        return table(self._ask("runs", str))

    def means(self) -> Any:
        """One line a measure of each cell, of the runs that validation chose: mean and errors."""
        return table(self._ask("means", str))

    def chosen(self) -> Any:
        """Which settings validation chose for each cell and split."""
        return table(self._ask("chosen", str))

    @property
    def data(self) -> dict[str, Any]:
        """Everything the report shows; web/src/report.ts describes the form."""
        return self._ask("data", json.loads)

    def claims(self) -> Claims:
        """What the study claims, and whether it holds."""
        return Claims(self.data["claims"], self._ask("claims", str))

    def figures(self) -> list[Figure]:
        """All figures that have data."""
        return [Figure(self, place) for place, one in enumerate(self.data["figures"]) if one["rows"] or one.get("table")]

    def figure(self, name: str) -> Figure:
        """A figure by its id ("F3"), its number in the paper ("Figure 3") or its title. Draws itself in a notebook."""
        for place, figure in enumerate(self.data["figures"]):
            if str(name).lower() in (figure[key].lower() for key in ("id", "paper", "title")):
                return Figure(self, place)
        known = ", ".join(figure["id"] for figure in self.data["figures"])
        raise _core.ConfigError(f"the study has no figure '{name}'; " + (f"there are {known}" if known else "it has none"))

    def network(self, run_id: str) -> Network:
        """A run's network, trained again to the same bits."""
        core = _core.Population.again(self.folder, [run_id], None)
        carry_out(core, False)
        return Population(core)[0]

    def report(self, path: str | os.PathLike | None = None) -> str:
        """Writes the report, one web page with every figure, and returns its path: FOLDER/report.html."""
        path = os.path.join(self.folder, "report.html") if path is None else os.fspath(path)
        page = self._ask("page", str)
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
        return path

    def __repr__(self):
        return f"Study({self.folder!r})"

    def _repr_html_(self):
        try:
            facts = self.facts
        except _core.Error:
            return preformatted(f"{self!r}: not run yet")
        words = f"{facts['title'] or facts['name']}: {facts['finished']} of {facts['planned']} runs in {self.folder}"
        claims = self.claims()
        return preformatted(words) + (claims._repr_html_() if len(claims) else "")


class Claims(Sequence):
    """Claims of a study with their verdicts: a list of dictionaries, and a table of their checks."""

    def __init__(self, claims, csv):
        self._claims = claims
        self._csv = csv

    def __len__(self):
        return len(self._claims)

    def __getitem__(self, place):
        return self._claims[place]

    def table(self) -> Any:
        """One line for each check of each claim, with intervals."""
        return table(self._csv)

    @property
    def text(self) -> str:
        """A line for each claim."""
        return "\n".join(f"{one['verdict']:<10} {one['id']:<4} {one['text']} {one['reason']}".rstrip() for one in self)

    def __str__(self):
        return self.text

    def __repr__(self):
        holds = sum(one["verdict"] == "holds" for one in self)
        return f"Claims({holds} of {len(self)} hold)"

    def _repr_html_(self):
        return preformatted(self.text)


class Figure(Drawn):
    """A figure of a study, with one chart for each of its measures. Draws itself in a notebook."""

    def __init__(self, study, place):
        self._study = study
        self._place = place
        #: Its axes, measures and rows; web/src/report.ts describes the form.
        self.data = study.data["figures"][place]
        self._charts = None

    @property
    def title(self) -> str:
        return self.data["title"]

    @property
    def measures(self) -> list[str]:
        """The names of its measures."""
        return [measure["name"] for measure in self.data["measures"]]

    @property
    def charts(self) -> dict[str, str]:
        """The SVG of each chart by its name, such as f3-test_accuracy. Needs node, as building modlab does."""
        if self._charts is None:
            self._charts = dict(_core.draw(json.dumps(self._study.data), self._place))
        if not self._charts:
            raise _core.ConfigError(f"there is nothing to draw in {self.data['id']}; its numbers are in data")
        return self._charts

    @property
    def svg(self) -> str:
        """The chart of the first measure."""
        return next(iter(self.charts.values()))

    def table(self) -> Any:
        """One line for each point and measure: mean, standard errors within and between splits, networks."""
        axes = [axis for axis in ("x", "y", "panel", "row", "series") if self.data[axis]]
        names = [self.data[axis]["name"] for axis in axes]
        lines = [",".join([*names, "measure", "mean", "error_within", "error_between", "networks"])]
        for row in self.data["rows"]:
            keys = [_cell(row.get(axis)) for axis in axes]
            for measure, value in row["values"].items():
                if value is not None:
                    numbers = [value["mean"], value["within"], value["between"], value["n"]]
                    lines.append(",".join(keys + [measure] + [_cell(number) for number in numbers]))
        return table("\n".join(lines) + "\n")

    @property
    def text(self) -> str:
        return f"{self.data['paper'] or self.data['id']}: {self.title}"

    def __repr__(self):
        return f"Figure({self.text!r}, measures {self.measures})"

    def _repr_html_(self):
        heading = f"<b>{html.escape(self.text)}</b><br>"
        try:
            return heading + "".join(image(svg) for svg in self.charts.values())
        except _core.ConfigError:
            return heading + preformatted(json.dumps(self.data.get("table") or self.data["rows"], indent=1))


def _cell(value):
    text = "" if value is None else str(value)
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text
