"""Counts of right and wrong pixels, the measures made from them, and ROC curves in constant memory."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bgsub.frames import Mask, Score

__all__ = ["MEASURES", "Counts", "Roc", "RocCounter", "count_pixels", "mean_measures", "scored_pixels"]

MEASURES = ("recall", "specificity", "fpr", "fnr", "pwc", "f_measure", "precision")
"""The measures of the change-detection benchmark, in its order."""

_POSITIVE, _SHADOW, _NEGATIVE = 255, 50, 0


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


@dataclass(frozen=True, slots=True)
class Counts:
    """Pixels by what they are and what they were taken for; counts of several frames add up.

    Every measure is NaN where it is 0 / 0: recall where nothing moved, precision where nothing was detected,
    F where neither was.

    Examples
    --------
    >>> counts = Counts(tp=6, fp=2, fn=2, tn=90) + Counts(tn=100)
    >>> counts.precision, counts.f_measure, counts.pwc
    (0.75, 0.75, 2.0)
    """

    tp: int = 0
    """Moving and detected."""
    fp: int = 0
    """Static or shadow, but detected."""
    fn: int = 0
    """Moving, but not detected."""
    tn: int = 0
    """Static or shadow and not detected."""

    def __add__(self, other: Self) -> "Counts":
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn, self.tn + other.tn)

    @property
    def recall(self) -> float:
        """Share of the moving pixels that was detected."""
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def specificity(self) -> float:
        """Share of the other pixels that was not detected."""
        return _ratio(self.tn, self.tn + self.fp)

    @property
    def fpr(self) -> float:
        """False positive rate: share of the other pixels that was detected."""
        return _ratio(self.fp, self.fp + self.tn)

    @property
    def fnr(self) -> float:
        """False negative rate: share of the moving pixels that was not detected."""
        return _ratio(self.fn, self.tp + self.fn)

    @property
    def pwc(self) -> float:
        """Percentage of wrong classifications."""
        return 100 * _ratio(self.fn + self.fp, self.tp + self.fp + self.fn + self.tn)

    @property
    def f_measure(self) -> float:
        """Harmonic mean of precision and recall."""
        return _ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def precision(self) -> float:
        """Share of the detected pixels that moves."""
        return _ratio(self.tp, self.tp + self.fp)

    def measures(self) -> dict[str, float]:
        """All measures by name."""
        return {name: getattr(self, name) for name in MEASURES}


def mean_measures(several: Iterable[dict[str, float]]) -> dict[str, float]:
    """Average measures over videos or categories, each without those where it is NaN.

    Examples
    --------
    >>> first, second = Counts(tp=1, fn=1).measures(), Counts(tn=1).measures()
    >>> mean_measures([first, second])["recall"]
    0.5
    """
    several = list(several)
    means = {}
    for name in MEASURES:
        values = [measures[name] for measures in several if not math.isnan(measures[name])]
        means[name] = math.fsum(values) / len(values) if values else math.nan
    return means


def scored_pixels(labels: Mask, roi: Mask | None) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Select the pixels of a ground truth that count.

    Parameters
    ----------
    labels : (H, W) uint8 array
        0 static, 50 shadow, 85 not labelled, 170 unknown, 255 moving.
    roi : (H, W) uint8 array or None
        Only pixels that are not 0 count.

    Returns
    -------
    positive : (H, W) bool array
        Moving.
    negative : (H, W) bool array
        Static or shadow. Every other label does not count.
    """
    positive = labels == _POSITIVE
    negative = (labels == _NEGATIVE) | (labels == _SHADOW)
    if roi is not None:
        inside = roi != 0
        positive &= inside
        negative &= inside
    return positive, negative


def count_pixels(mask: Mask, positive: NDArray[np.bool_], negative: NDArray[np.bool_]) -> Counts:
    """Compare a mask, in which only 255 is foreground, with what `scored_pixels` selected."""
    detected = mask == 255
    tp = int(np.count_nonzero(detected & positive))
    fp = int(np.count_nonzero(detected & negative))
    return Counts(tp, fp, int(np.count_nonzero(positive)) - tp, int(np.count_nonzero(negative)) - fp)


@dataclass(frozen=True, slots=True)
class Roc:
    """How a threshold on the score trades misses for false alarms."""

    fpr: NDArray[np.float64]
    """(n,) false positive rates, rising from 0 to 1."""
    tpr: NDArray[np.float64]
    """(n,) recall at each of them."""
    thresholds: NDArray[np.float64]
    """(n,) scores from which on a pixel is foreground, falling from infinity."""
    auc: float
    """Area under the curve; NaN where one of the classes is missing."""
    best_f: float
    """Largest F of any threshold, pooled over all pixels."""
    best_threshold: float
    """Where it lies."""


class RocCounter:
    """A histogram of scores by class, of constant size whatever the range of the scores.

    Ordered like the numbers they stand for, the upper 18 of the 32 bits of a float32 are the bins: 9 bits of the
    fraction, so that two scores that differ by 0.2 % are told apart anywhere, which is 0.001 next to 1.

    Examples
    --------
    >>> counter = RocCounter()
    >>> counter.add(np.array([-3.0, 0.1, 0.2, 0.9], np.float32), np.array([0, 0, 1, 1], bool),
    ...             np.array([1, 1, 0, 0], bool))
    >>> counter.roc().auc
    1.0
    """

    _DROPPED_BITS = 14
    _BINS = 1 << (32 - _DROPPED_BITS)

    def __init__(self) -> None:
        self._positive = np.zeros(self._BINS, np.int64)
        self._negative = np.zeros(self._BINS, np.int64)

    def add(self, score: Score, positive: NDArray[np.bool_], negative: NDArray[np.bool_]) -> None:
        """Count the scores of one frame.

        Raises
        ------
        ValueError
            If a score is NaN.
        """
        values = np.asarray(score, np.float32) + np.float32(0)  # also turns -0 into 0
        if np.isnan(values).any():
            raise ValueError(f"score must not be NaN, got {np.isnan(values).sum()} such pixels")
        bits = values.view(np.uint32)
        ordered = np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31)) >> self._DROPPED_BITS
        self._positive += np.bincount(ordered[positive], minlength=self._BINS)
        self._negative += np.bincount(ordered[negative], minlength=self._BINS)

    @classmethod
    def _lower_edges(cls, bins: NDArray[np.int64]) -> NDArray[np.float64]:
        ordered = (bins << cls._DROPPED_BITS).astype(np.uint32)
        bits = np.where(ordered >> 31, ordered & np.uint32(0x7FFFFFFF), ~ordered)
        return bits.astype(np.uint32).view(np.float32).astype(np.float64)

    def roc(self) -> Roc:
        """Make the curve of all that was counted."""
        used = np.flatnonzero(self._positive + self._negative)[::-1]
        tp, fp = np.cumsum(self._positive[used]), np.cumsum(self._negative[used])
        moving, still = int(self._positive.sum()), int(self._negative.sum())
        tpr = np.concatenate([[0.0], tp / moving if moving else np.full(len(used), math.nan)])
        fpr = np.concatenate([[0.0], fp / still if still else np.full(len(used), math.nan)])
        thresholds = np.concatenate([[math.inf], self._lower_edges(used)])
        f = np.concatenate([[0.0], 2 * tp / np.maximum(tp + fp + moving, 1)])
        best = int(np.argmax(f))
        return Roc(
            fpr=fpr,
            tpr=tpr,
            thresholds=thresholds,
            auc=float(np.trapezoid(tpr, fpr)),
            best_f=float(f[best]) if moving else math.nan,
            best_threshold=float(thresholds[best]) if moving else math.nan,
        )


def thin_out(roc: Roc, points: int) -> dict[str, Any]:
    """Return a curve as plain lists, with at most about that many points spread evenly along it."""
    if math.isnan(roc.auc):
        return {"fpr": [], "tpr": [], "thresholds": []}
    length = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(roc.fpr), np.diff(roc.tpr)))])
    keep = np.unique(np.searchsorted(length, np.linspace(0, length[-1], points)))
    thresholds = [value if math.isfinite(value) else None for value in roc.thresholds[keep].tolist()]
    return {"fpr": roc.fpr[keep].tolist(), "tpr": roc.tpr[keep].tolist(), "thresholds": thresholds}
