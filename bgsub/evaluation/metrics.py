"""Counts of right and wrong pixels, and the measures of the change-detection benchmark computed from them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bgsub.frames import Mask

__all__ = ["MEASURES", "Counts", "count_pixels", "mean_measures", "scored_pixels"]

MEASURES = ("recall", "specificity", "fpr", "fnr", "pwc", "f_measure", "precision")
"""The measures of the change-detection benchmark, in its order."""

_POSITIVE, _SHADOW, _NEGATIVE = 255, 50, 0


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


@dataclass(frozen=True, slots=True)
class Counts:
    """Pixels by true and detected class; counts of several frames add up.

    Every measure is NaN where it is 0 / 0: recall where nothing moved, precision where nothing was detected,
    F where neither happened.

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
    """Return the mean of each measure over videos or categories, ignoring NaN.

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
    """Select the pixels of a ground truth that are scored.

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
    """Compare a mask, in which only 255 is foreground, with the pixels that `scored_pixels` selected."""
    detected = mask == 255
    tp = int(np.count_nonzero(detected & positive))
    fp = int(np.count_nonzero(detected & negative))
    return Counts(tp, fp, int(np.count_nonzero(positive)) - tp, int(np.count_nonzero(negative)) - fp)
