"""Nested validation: choose a setting on some groups of scenes, score it on the one that was left out."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from bgsub.evaluation.datasets import sequence as sequences_module
from bgsub.evaluation.methods import Method
from bgsub.evaluation.reports.report import Report, Row

__all__ = ["Fold", "Group", "LeaveOneOut", "leave_one_out", "leave_one_out_search"]

Group = Literal["family", "category", "sequence"]
_KEPT = 3  # successive halving keeps one setting in three, and tries those on three times as many sequences


@dataclass(frozen=True, slots=True)
class Fold:
    """One group left out."""

    group: str
    chosen: str
    """Label of the setting that was best on the other groups."""
    inside: float
    """Its F on the groups on which it was chosen."""
    outside: float
    """Its F on the group left out; NaN if nothing moves there."""
    default: float
    """F of the first setting, the one not chosen by anybody, on the group left out."""


@dataclass(frozen=True)
class LeaveOneOut:
    """The folds of a nested validation."""

    by: Group
    folds: list[Fold] = field(default_factory=list)

    @property
    def inside(self) -> float:
        """Mean F of the chosen settings where they were chosen: what tuning promises."""
        return _mean([fold.inside for fold in self.folds])

    @property
    def outside(self) -> float:
        """Mean F of the chosen settings where they were not: what a new scene gets."""
        return _mean([fold.outside for fold in self.folds])

    @property
    def default(self) -> float:
        """Mean F of the first setting."""
        return _mean([fold.default for fold in self.folds])

    def to_table(self) -> str:
        """Return the folds as aligned text; "-" marks unknown values."""
        lines = [(f"{self.by} left out", "chosen on the others", "F there", "F left out", "first setting")]
        lines += [
            (fold.group, fold.chosen, _digits(fold.inside), _digits(fold.outside), _digits(fold.default))
            for fold in self.folds
        ]
        lines.append(("mean", "", _digits(self.inside), _digits(self.outside), _digits(self.default)))
        widths = [max(len(line[column]) for line in lines) for column in range(5)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if column < 2 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )


def leave_one_out(report: Report, by: Group = "family") -> LeaveOneOut:
    """Choose among the models of a report for each group, on the others.

    The best is the one with the highest mean F over the other groups, each the mean of its videos, so that a group
    of many videos counts as much as one of few. The F of the chosen one on the group left out is what it gets on a
    new kind of scene; that on the groups where it was chosen is not (Cawley, Talbot, *On over-fitting in model
    selection and subsequent selection bias in performance evaluation*, JMLR 11, 2010).

    Parameters
    ----------
    report : Report
        Every model on every sequence; the first model is the one to compare with.
    by : {"family", "category", "sequence"}
        The groups.

    Raises
    ------
    ValueError
        If there are fewer than two groups, or a model lacks a sequence.
    """
    table = _table(report, by)
    groups = _groups(report.rows, by)
    if len(groups) < 2:
        raise ValueError(f"report must have sequences of at least two groups by {by}, got {', '.join(groups)}")
    folds = []
    for left_out in groups:
        others = [group for group in groups if group != left_out]
        inside = {model: _mean([table[model, group] for group in others]) for model in report.models}
        chosen = _best(inside)
        folds.append(Fold(left_out, chosen, inside[chosen], table[chosen, left_out], table[report.models[0], left_out]))
    return LeaveOneOut(by, folds)


def leave_one_out_search(
    methods: Sequence[Method],
    sequences: Sequence[sequences_module.Sequence],
    run: Callable[[Sequence[Method], Sequence[sequences_module.Sequence]], Report],
    *,
    by: Group = "family",
    seed: int = 0,
) -> LeaveOneOut:
    """Search by successive halving, for each group on the others only.

    All settings are tried on a few sequences, the better third of them on three times as many, until few are left on
    all (Jamieson, Talwalkar, *Non-stochastic best arm identification and hyperparameter optimization*, AISTATS 2016).
    The sequence left out takes no part in this, at no stage.

    Parameters
    ----------
    methods : sequence of Method
        Settings to choose from; the first one is compared with.
    sequences : sequence of Sequence
    run : callable
        ``run(methods, sequences)`` returns their report. It should remember rows, which are asked for again by other
        folds.
    by : {"family", "category", "sequence"}
        The groups.
    seed : int
        Of the order in which sequences are tried.

    Raises
    ------
    ValueError
        If there are fewer than two groups.
    """
    groups = list(dict.fromkeys(getattr(each, _ATTRIBUTE[by]) for each in sequences))
    if len(groups) < 2:
        raise ValueError(f"sequences must be of at least two groups by {by}, got {', '.join(groups)}")
    folds = []
    for left_out in groups:
        outside = [each for each in sequences if getattr(each, _ATTRIBUTE[by]) == left_out]
        inside = [each for each in sequences if getattr(each, _ATTRIBUTE[by]) != left_out]
        chosen, f_inside = _halve(methods, inside, run, by, seed)
        table = _table(run([methods[0]] + [chosen] * (chosen is not methods[0]), outside), by)
        folds.append(
            Fold(left_out, chosen.label, f_inside, table[chosen.label, left_out], table[methods[0].label, left_out])
        )
    return LeaveOneOut(by, folds)


_ATTRIBUTE = {"family": "family", "category": "category", "sequence": "identity"}


def _halve(
    methods: Sequence[Method],
    sequences: Sequence[sequences_module.Sequence],
    run: Callable[[Sequence[Method], Sequence[sequences_module.Sequence]], Report],
    by: Group,
    seed: int,
) -> tuple[Method, float]:
    """Return the best method on the sequences, and its mean F over the groups."""
    order = _mix_groups(sequences, by, seed)
    alive = list(methods)
    rounds = max(0, math.ceil(math.log(len(alive), _KEPT)))
    while True:
        shown = order[: max(1, math.ceil(len(order) / _KEPT**rounds))]
        report = run(alive, shown)
        table, groups = _table(report, by), _groups(report.rows, by)
        found = {method.label: _mean([table[method.label, group] for group in groups]) for method in alive}
        alive.sort(key=lambda method: -_comparable(found[method.label]))
        if rounds == 0:
            return alive[0], found[alive[0].label]
        rounds -= 1
        alive = alive[: max(1, math.ceil(len(alive) / _KEPT))]


def _mix_groups(
    sequences: Sequence[sequences_module.Sequence], by: Group, seed: int
) -> list[sequences_module.Sequence]:
    """Return sequences in random order, one of each group before the second of any."""
    random = np.random.default_rng(seed)
    shuffled = [sequences[index] for index in random.permutation(len(sequences))]
    seen: dict[str, int] = {}
    turns = []
    for each in shuffled:
        group = getattr(each, _ATTRIBUTE[by])
        turns.append(seen.get(group, 0))
        seen[group] = turns[-1] + 1
    return [shuffled[index] for index in sorted(range(len(shuffled)), key=lambda index: turns[index])]


def _group_of(row: Row, by: Group) -> str:
    if by == "family":
        return row.family
    return row.category if by == "category" else f"{row.category}/{row.sequence}"


def _groups(rows: Sequence[Row], by: Group) -> list[str]:
    return list(dict.fromkeys(_group_of(row, by) for row in rows))


def _table(report: Report, by: Group) -> dict[tuple[str, str], float]:
    """Return the mean F of each model on each group.

    Raises
    ------
    ValueError
        If a model has not been run on all sequences.
    """
    found: dict[tuple[str, str], list[float]] = {}
    seen: dict[str, set[str]] = {}
    for row in report.rows:
        found.setdefault((row.model, _group_of(row, by)), []).append(row.counts.f_measure)
        seen.setdefault(row.model, set()).add(f"{row.category}/{row.sequence}")
    every = set().union(*seen.values()) if seen else set()
    for model, own in seen.items():
        if own != every:
            raise ValueError(f"report must have every sequence for every model, {model} lacks {min(every - own)}")
    return {key: _mean(values) for key, values in found.items()}


def _mean(values: Sequence[float]) -> float:
    """Return the mean of those that are not NaN."""
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


def _comparable(value: float) -> float:
    return -math.inf if math.isnan(value) else value


def _best(scores: dict[str, float]) -> str:
    """Return the first of the best."""
    return max(scores, key=lambda name: _comparable(scores[name]))


def _digits(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"
