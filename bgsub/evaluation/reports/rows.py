"""Rows of a report: the measurements of one model on one sequence, and averages of several."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub.evaluation.metrics import Counts
from bgsub.evaluation.roc import Roc
from bgsub.frames import Frame, Mask

__all__ = ["Mean", "Row", "Sample", "measure_over_time"]


@dataclass(frozen=True, slots=True)
class Sample:
    """One scored frame, kept for sheets of images."""

    number: int
    frame: Frame
    labels: Mask
    """(H, W) uint8 labels; outside the region of interest 85, which is not scored."""
    mask: Mask


@dataclass(frozen=True, slots=True)
class Row:
    """Measurements of one model on one sequence."""

    model: str
    category: str
    sequence: str
    counts: Counts
    frames: int
    """Number of frames the model saw."""
    scored: int
    """Number of frames that were scored."""
    model_hz: float
    """Frames per second of the model alone; its first frame, which may compile and allocate, is not counted."""
    total_hz: float
    """Frames per second with reading, post-processing and scoring."""
    memory_bytes: int | None
    """Size of the model after the last frame; None if unknown."""
    roc: Roc | None = None
    samples: tuple[Sample, ...] = ()
    unlabelled: int = 0
    """Number of frames of the interval to score that have no labels, and so were not scored."""
    family: str = ""
    """Kind of scene or origin of the sequence."""
    data: str = ""
    """Digest of the sequence: frames, labels and region; empty if unknown."""
    knob: float | None = None
    """Value of the parameter that varies within the family of a generated sequence; None if there is none."""
    parameters: dict[str, Any] = field(default_factory=dict, hash=False)
    """Parameters of the model by name; empty if unknown."""
    error: str = ""
    """Reason why the model failed on the sequence; empty if it did not. Rows of failures are not averaged."""
    timeline: NDArray[np.int64] | None = field(default=None, compare=False)
    """(scored, 5) number, tp, fp, fn and tn of each scored frame, in rising order; None if not kept."""

    @property
    def identity(self) -> str:
        """Category and name of the sequence."""
        return f"{self.category}/{self.sequence}"

    @property
    def milliseconds(self) -> float:
        """Milliseconds per frame of the model alone; NaN if unknown."""
        return 1000 / self.model_hz if math.isfinite(self.model_hz) and self.model_hz > 0 else math.nan

    def measures(self) -> dict[str, float]:
        """All measures by name; NaN where the model failed."""
        return (Counts() if self.error else self.counts).measures()


@dataclass(frozen=True, slots=True)
class Mean:
    """Measures averaged over videos, or over the averages of categories."""

    model: str
    over: str
    """Name of the category, or "mean of categories", or "mean of videos"."""
    measures: dict[str, float]


def measure_over_time(
    timeline: NDArray[np.int64], measure: str = "f_measure", *, points: int = 200
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a measure along a video, with the counts of neighbouring frames pooled.

    Parameters
    ----------
    timeline : (n, 5) int64 array
        Number, tp, fp, fn and tn of each scored frame, as in `Row.timeline`.
    measure : str
        One of `MEASURES`.
    points : int
        Largest number of points. A longer timeline is cut into as many intervals of nearly equal length, and each
        becomes one point.

    Returns
    -------
    numbers : (m,) float64 array
        Mean of the frame numbers of each interval.
    values : (m,) float64 array
        The measure of the pooled counts; NaN where it is 0 / 0.

    Examples
    --------
    >>> timeline = np.array([[1, 0, 1, 0, 9], [2, 4, 0, 0, 6], [3, 0, 0, 0, 10]])
    >>> measure_over_time(timeline)[1]
    array([ 0.,  1., nan])
    >>> measure_over_time(timeline, points=1)[1].round(3)
    array([0.889])
    """
    if points < 1:
        raise ValueError(f"points must be at least 1, got {points}")
    count = min(points, len(timeline))
    if count == 0:
        return np.empty(0), np.empty(0)
    parts = np.array_split(timeline, count)
    values = [getattr(Counts(*part[:, 1:].sum(axis=0).tolist()), measure) for part in parts]
    return np.array([part[:, 0].mean() for part in parts]), np.array(values)
