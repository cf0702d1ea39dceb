"""ROC curves in constant memory: the histogram of scores and the curve."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub.frames import Score

__all__ = ["Roc", "RocCounter", "thin_out"]


@dataclass(frozen=True, slots=True)
class Roc:
    """Recall over false positive rate for all thresholds on the score."""

    fpr: NDArray[np.float64]
    """(n,) false positive rates, rising from 0 to 1."""
    tpr: NDArray[np.float64]
    """(n,) recall at each of them."""
    thresholds: NDArray[np.float64]
    """(n,) lowest scores that count as foreground, falling from infinity."""
    auc: float
    """Area under the curve; NaN where one of the classes is missing."""
    best_f: float
    """Largest F of any threshold, pooled over all pixels."""
    best_threshold: float
    """Threshold of that F."""


class RocCounter:
    """A histogram of scores by class, of constant size whatever the range of the scores.

    Ordered like the numbers they stand for, the upper 18 of the 32 bits of a float32 are the bins: 9 bits of the
    fraction, so that two scores that differ by 0.2 % are distinguished anywhere, which is 0.001 next to 1.

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
        """Return the curve of all scores counted so far."""
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
