"""The library's tables, which are CSV, as pandas' or as a dictionary of numpy arrays."""

import csv
import io

import numpy


def _column(cells):
    """Whole numbers, real numbers (nan where there is none), or texts."""
    for number, missing in ((int, None), (float, "nan")):
        try:
            return numpy.array([number(cell if cell or missing is None else missing) for cell in cells])
        except (ValueError, OverflowError):
            pass
    return numpy.array(cells, dtype=object)


def columns(text):
    """A dictionary of arrays by the names in the first line."""
    rows = list(csv.reader(io.StringIO(text)))
    if not rows:
        return {}
    # Ids are 16 hexadecimal digits, which may all be decimal ones.
    return {
        name: numpy.array(cells, dtype=object) if name in ("id", "run_id") else _column(cells)
        for name, cells in zip(rows[0], zip(*rows[1:]) if len(rows) > 1 else ([] for _ in rows[0]))
    }


def table(text):
    """The same as a pandas.DataFrame where pandas is installed."""
    arrays = columns(text)
    try:
        import pandas
    except ImportError:
        return arrays
    return pandas.DataFrame(arrays)
