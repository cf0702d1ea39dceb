"""Bootstrap intervals of means over videos, and paired comparisons of models."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from bgsub.evaluation.reports.columns import COLUMNS, Column, column
from bgsub.evaluation.reports.report import Report

__all__ = ["FEWEST_VIDEOS", "Estimate", "Paired", "bootstrap_mean", "compare", "compare_by_family", "mean_intervals"]

FEWEST_VIDEOS = 5
"""Below that number no interval is given: in simulations one of 95 % covered the mean less often than 80 %."""
_CHUNK = 1 << 20
"""Numbers drawn at a time, which bounds the memory."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and its confidence interval."""

    mean: float
    low: float
    high: float
    """Ends of the interval; NaN if there are fewer than `FEWEST_VIDEOS`."""
    videos: int
    """Number of videos averaged."""


@dataclass(frozen=True, slots=True)
class Paired:
    """Two models compared video by video, over the videos on which both have a value."""

    model: str
    baseline: str
    measure: str
    family: str
    """Family of the videos; empty for all videos."""
    wins: int
    """Number of videos on which the model is better."""
    losses: int
    """Number of videos on which it is worse."""
    ties: int
    difference: Estimate
    """Mean of the differences, model less baseline; negative is better for measures of errors."""

    def __str__(self) -> str:
        each, digits = self.difference, COLUMNS[self.measure].digits
        text = f"{self.model} better than {self.baseline} on {self.wins} of {each.videos} videos"
        if each.videos:
            text += f", mean difference {each.mean:+.{digits}f}"
        return text if math.isnan(each.low) else f"{text} [{each.low:+.{digits}f}, {each.high:+.{digits}f}]"


def bootstrap_mean(
    values: Sequence[float] | NDArray[np.float64],
    *,
    groups: Sequence[Hashable] | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """Return the mean of the values of videos with its bootstrap interval.

    The interval is the bias-corrected and accelerated one (BCa; B. Efron, "Better bootstrap confidence intervals",
    JASA 82, 1987; Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993, section 14.3). With `groups`, whole
    groups are drawn with replacement, and then as many videos from each drawn group as it has, with replacement, too
    (the two-stage bootstrap of Davison and Hinkley, *Bootstrap Methods and their Application*, 1997, section 3.8).

    Few videos make intervals too narrow: in simulations those of 95 % covered the mean in 84 % of the cases with 5
    videos, 91 % with 10, 93 % with 15 and 94 % with 25; with groups that differ as much as the videos in them, in 83 %
    with 3 groups of 5 videos, 89 % with 5 and 94 % with 10 (and in 70 % where the groups were ignored).

    Parameters
    ----------
    values : (n,) array of float
        One per video; NaN is left out.
    groups : (n,) sequence, optional
        Group of each value. Videos of one group resemble each other; an interval that draws them singly is then too
        narrow. Without it, or with a single group, videos are drawn singly.
    level : float
        Coverage aimed at, in (0, 1).
    resamples : int
        Number of resamples.
    seed : int
        Seed of the random generator; the same seed gives the same interval.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> estimate = bootstrap_mean([0.5, 0.6, 0.7, 0.8, 0.9, float("nan")])
    >>> f"{estimate.mean:.3f} [{estimate.low:.2f}, {estimate.high:.2f}] of {estimate.videos}"
    '0.700 [0.58, 0.82] of 5'
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1), got {level}")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, got {resamples}")
    sample = np.asarray(values, np.float64)
    if groups is not None and len(groups) != len(sample):
        raise ValueError(f"groups must have one entry per value, {len(sample)}, got {len(groups)}")
    known = ~np.isnan(sample)
    names = [0] * len(sample) if groups is None else list(groups)
    members: dict[Hashable, list[float]] = {}
    for name, value in zip((name for name, keep in zip(names, known, strict=True) if keep), sample[known], strict=True):
        members.setdefault(name, []).append(float(value))
    count = int(known.sum())
    mean = math.fsum(sample[known]) / count if count else math.nan
    if count < FEWEST_VIDEOS:
        return Estimate(mean, math.nan, math.nan, count)
    parts = [np.array(part) for part in members.values()]
    if len(parts) == 1:
        parts = [np.array([value]) for value in parts[0]]  # each video is a group of its own
    means = _resampled_means(parts, resamples, np.random.default_rng(seed))
    low, high = _bca(mean, means, _acceleration(parts), level)
    return Estimate(mean, low, high, count)


def _resampled_means(parts: list[NDArray[np.float64]], resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return (resamples,) means of videos drawn from groups that are drawn, both with replacement."""
    sizes = np.array([len(part) for part in parts])
    table = np.zeros((len(parts), int(sizes.max())))
    for row, part in zip(table, parts, strict=True):
        row[: len(part)] = part
    means = np.empty(resamples)
    step = max(1, _CHUNK // table.size)
    for start in range(0, resamples, step):
        drawn = rng.integers(0, len(parts), (min(step, resamples - start), len(parts)))
        if table.shape[1] == 1:
            means[start : start + step] = table[:, 0][drawn].mean(axis=1)
            continue
        sizes_drawn = sizes[drawn][..., np.newaxis]
        videos = (rng.random((*drawn.shape, table.shape[1])) * sizes_drawn).astype(np.intp)
        inside = np.arange(table.shape[1]) < sizes_drawn
        total = np.sum(table[drawn[..., np.newaxis], videos], axis=(1, 2), where=inside)
        means[start : start + step] = total / sizes[drawn].sum(axis=1)
    return means


def _acceleration(parts: list[NDArray[np.float64]]) -> float:
    """Return a sixth of the skewness of the means that leave out one group each (Efron 1987, equation 6.6)."""
    sums, sizes = np.array([part.sum() for part in parts]), np.array([len(part) for part in parts])
    without = (sums.sum() - sums) / (sizes.sum() - sizes)
    deviation = without.mean() - without
    spread = float((deviation**2).sum())
    return float((deviation**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0


def _bca(mean: float, means: NDArray[np.float64], acceleration: float, level: float) -> tuple[float, float]:
    normal = NormalDist()
    slack = 1e-12 * max(1.0, abs(mean))  # means of the same videos in another order differ by rounding
    below = float(np.mean(means < mean - slack) + np.mean(np.abs(means - mean) <= slack) / 2)
    bias = normal.inv_cdf(min(max(below, 0.5 / len(means)), 1 - 0.5 / len(means)))

    def corrected(share: float) -> float:
        z = bias + normal.inv_cdf(share)
        return normal.cdf(bias + z / (1 - acceleration * z))

    low, high = np.quantile(means, [corrected((1 - level) / 2), corrected((1 + level) / 2)])
    return float(low), float(high)


def _arithmetic(measure: str) -> Column:
    found = column(measure)
    if found.geometric:
        raise ValueError(f"measure must be one with an arithmetic mean, got {measure}")
    return found


def mean_intervals(
    report: Report, measure: str = "f_measure", *, level: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> dict[str, Estimate]:
    """Return the mean over videos of each model with its interval.

    Families are drawn before videos, if there are at least two. A video on which a model has no value is left out of
    its mean. Parameters are those of `bootstrap_mean`.

    Raises
    ------
    ValueError
        If the measure is unknown, or one of time.
    """
    of = _arithmetic(measure)
    found = {}
    for model in report.models:
        rows = [row for row in report.rows if row.model == model]
        values, families = [of.value(row) for row in rows], [row.family for row in rows]
        found[model] = bootstrap_mean(values, groups=families, level=level, resamples=resamples, seed=seed)
    return found


def compare(
    report: Report,
    model: str,
    baseline: str,
    measure: str = "f_measure",
    *,
    family: str | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Paired:
    """Compare two models video by video.

    The interval is that of the mean difference over the videos on which both have a value; families are drawn before
    videos, if there are at least two. Pairs remove the differences between videos, which are larger than those between
    models: intervals of two means may overlap while that of their difference excludes 0.

    Parameters
    ----------
    report : Report
        Rows of both models.
    model, baseline : str
        Names of the models.
    measure : str
        A column, such as "f_measure" or "pwc".
    family : str, optional
        Compare only on its videos.
    level, resamples, seed
        As for `bootstrap_mean`.

    Raises
    ------
    ReportError
        If a model has two rows for one video.
    ValueError
        If the measure or a model is unknown, or the measure is one of time.
    """
    of = _arithmetic(measure)
    for name in (model, baseline):
        if name not in report.models:
            raise ValueError(f"model must be one of {', '.join(report.models)}, got {name}")
    differences, families = [], []
    for rows in report.by_video().values():
        if model not in rows or baseline not in rows or family not in (None, rows[model].family):
            continue
        differences.append(of.value(rows[model]) - of.value(rows[baseline]))
        families.append(rows[model].family)
    estimate = bootstrap_mean(differences, groups=families, level=level, resamples=resamples, seed=seed)
    gains = of.better * np.array(differences)
    wins, losses = int(np.sum(gains > 0)), int(np.sum(gains < 0))
    ties = estimate.videos - wins - losses
    return Paired(model, baseline, measure, family or "", wins, losses, ties, estimate)


def compare_by_family(
    report: Report,
    model: str,
    baseline: str,
    measure: str = "f_measure",
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[Paired]:
    """Compare two models on the videos of each family; parameters are those of `compare`."""
    families = dict.fromkeys(row.family for row in report.rows if row.family)
    return [
        compare(report, model, baseline, measure, family=family, level=level, resamples=resamples, seed=seed)
        for family in families
    ]
