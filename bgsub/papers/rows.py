"""Lines of the table in docs/evaluation/papers.md, and the only ways to a verdict.

A number is compared with the published one, never with a range around our own: within the spread that the paper gives,
or where it gives none within twice the standard deviation by which two such means differ by chance, estimated from our
own runs (plus half of the last published digit).
What is outside is missed, by how much, and why where that is known. A claim without a number holds or fails.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Row", "claimed", "counted", "measured", "unpublished"]


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    id: str
    what: str
    published: str
    ours: str
    verdict: str


def _half_digit(published: str) -> float:
    return float(0.5 * 10.0 ** -len(published.partition(".")[2]))


def measured(
    number: str,
    what: str,
    published: str,
    values: Sequence[float] | NDArray[np.float64] | float,
    *,
    spread: float | None = None,
    because: str = "",
    read_off: float = 0.0,
    interval: float | None = None,
    published_runs: int = 1,
) -> Row:
    """Compare the mean of one or several runs with a published number, itself the mean of `published_runs`.

    `spread` is the published deviation of single runs, `interval` the published interval of confidence of the mean, and
    `read_off` the precision of a number that was read off a figure.
    """
    runs = np.atleast_1d(np.asarray(values, float))
    mean, deviation = float(runs.mean()), float(runs.std(ddof=1)) if len(runs) > 1 else 0.0
    chance = 2 * deviation * np.sqrt(1 / published_runs + 1 / len(runs))
    if interval is not None:
        chance = np.hypot(interval, 2 * deviation / np.sqrt(len(runs)))
    room = float(chance if spread is None else spread) + max(_half_digit(published), read_off)
    gap = mean - float(published)
    ours = f"{mean:.4g} ± {deviation:.2g}" if len(runs) > 1 else f"{mean:.4g}"
    given = f" ± {spread:g}" if spread is not None else f" (mean ± {interval:g})" if interval is not None else ""
    said = published + given + (" (figure)" if read_off else "")
    if abs(gap) <= room:
        verdict = "within the published spread" if spread is not None else "within chance"
        return Row(number, what, said, ours, verdict if len(runs) > 1 or spread is not None else "as published")
    return Row(number, what, said, ours, f"**missed by {gap:+.2g}**: {because or 'we do not know why'}")


def counted(number: str, what: str, published: str, ours: str, loop: str, same: bool) -> Row:
    """Compare a count with that of a plain loop over the published rule."""
    return Row(number, what, published, ours, f"{'equal to' if same else '**differs from**'} a plain loop: {loop}")


def claimed(number: str, what: str, claim: str, ours: str, holds: bool, because: str = "") -> Row:
    """Say whether a claim of a paper, without a number, holds here."""
    return Row(number, what, claim, ours, "holds" if holds else f"**fails**: {because or 'we do not know why'}")


def unpublished(number: str, what: str, ours: str, note: str = "no number published") -> Row:
    """State a number of ours for which none is published."""
    return Row(number, what, "-", ours, note)
