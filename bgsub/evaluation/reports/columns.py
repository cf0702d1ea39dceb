"""Columns of tables: the measures of accuracy, time and memory of a row, and how each is averaged."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bgsub.evaluation.metrics import MEASURES
from bgsub.evaluation.reports.rows import Row

__all__ = ["COLUMNS", "Column", "average", "column"]


@dataclass(frozen=True, slots=True)
class Column:
    """One measure as tables show it."""

    name: str
    label: str
    """Heading."""
    digits: int
    """Number of decimal places."""
    better: int
    """1 if larger values are better, -1 if smaller ones are."""
    value: Callable[[Row], float]
    """Reads it from a row; NaN where unknown."""
    geometric: bool = False
    """Whether its mean is the geometric one, as suits times and ratios."""
    relative: bool = False
    """Whether it is divided by the value of the baseline on the same video."""

    def text(self, value: float) -> str:
        """Return a value as tables show it; "-" if unknown."""
        return f"{value:.{self.digits}f}" if math.isfinite(value) else "-"


def _measure(name: str) -> Callable[[Row], float]:
    return lambda row: row.measures()[name]


def _of_curve(name: str) -> Callable[[Row], float]:
    return lambda row: math.nan if row.roc is None or row.error else float(getattr(row.roc, name))


def _megabytes(row: Row) -> float:
    return math.nan if row.memory_bytes is None else row.memory_bytes / 1e6


def _milliseconds(row: Row) -> float:
    return math.nan if row.error else row.milliseconds


_LABELS = {
    "recall": ("Re", 3, 1),
    "specificity": ("Sp", 3, 1),
    "fpr": ("FPR", 4, -1),
    "fnr": ("FNR", 3, -1),
    "pwc": ("PWC", 2, -1),
    "f_measure": ("F", 3, 1),
    "precision": ("Pr", 3, 1),
}

COLUMNS = {
    each.name: each
    for each in (
        *(Column(name, *_LABELS[name], _measure(name)) for name in MEASURES),
        Column("auc", "AUC", 3, 1, _of_curve("auc")),
        Column("best_f", "best F", 3, 1, _of_curve("best_f")),
        Column("ms", "ms", 2, -1, _milliseconds, geometric=True),
        Column("relative_time", "time", 2, -1, _milliseconds, geometric=True, relative=True),
        Column("memory_mb", "MB", 1, -1, _megabytes),
    )
}
"""All columns by name. `ms` is ms per frame of the model alone, `relative_time` that divided by the baseline's."""


def column(name: str) -> Column:
    """Return a column by name.

    Raises
    ------
    ValueError
        If there is none of that name.
    """
    if name not in COLUMNS:
        raise ValueError(f"measure must be one of {', '.join(COLUMNS)}, got {name}")
    return COLUMNS[name]


def average(values: Iterable[float], *, geometric: bool = False) -> float:
    """Return the mean of the values that are known; NaN if there are none.

    Examples
    --------
    >>> average([1.0, 4.0, float("nan")]), average([1.0, 4.0], geometric=True)
    (2.5, 2.0)
    """
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return math.nan
    if geometric:
        return math.exp(math.fsum(map(math.log, known)) / len(known))
    return math.fsum(known) / len(known)
