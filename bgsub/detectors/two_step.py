"""Detectors that score a frame first and then learn it, the shortest to write."""

import abc

import numpy as np

from bgsub.detectors.base import Detector
from bgsub.detectors.learning import Learning
from bgsub.frames import Frame, Mask, Score

__all__ = ["TwoStepDetector"]


class TwoStepDetector(Detector):
    """Base of detectors with a method that scores and another that learns; foreground is where the score is positive.

    Examples
    --------
    >>> from bgsub.detectors import TwoStepDetector, param
    >>> class FrameDifference(TwoStepDetector):
    ...     '''Foreground is what differs from the last frame.'''
    ...
    ...     name = "difference"
    ...     threshold: float = param(20.0, "difference of foreground, where 255 is white", "(0, inf)")
    ...
    ...     def _start(self, frame):
    ...         self._arrays["last"] = frame.copy()
    ...
    ...     def _score(self, frame):
    ...         gap = np.abs(frame.astype(np.float32) - self._arrays["last"])
    ...         gap = gap if frame.ndim == 2 else gap.max(2)
    ...         level = np.float32(self.threshold * self._white(frame.dtype) / 255)
    ...         return 1 - level / np.maximum(gap, np.float32(1e-6))
    ...
    ...     def _learn(self, frame, learning):
    ...         may = ... if learning.where is None else learning.where != 0
    ...         self._arrays["last"][may] = frame[may]
    ...
    ...     def background_image(self):
    ...         self._need_state()
    ...         return self._arrays["last"].copy()
    >>> model = FrameDifference(threshold=30.0)
    >>> int(model.apply(np.zeros((3, 4), np.uint8)).max()), int(model.apply(np.full((3, 4), 99, np.uint8)).min())
    (0, 255)
    """

    @abc.abstractmethod
    def _score(self, frame: Frame) -> Score:
        """Return the score of each pixel, (H, W) float32, from the present state, which it leaves alone."""

    @abc.abstractmethod
    def _learn(self, frame: Frame, learning: Learning) -> None:
        """Advance the state by one frame."""

    def _step(self, frame: Frame, mask: Mask | None, score: Score | None, learning: Learning | None) -> None:
        if mask is not None or score is not None:
            found = self._score(frame)
            if getattr(found, "shape", None) != frame.shape[:2]:
                got = getattr(found, "shape", type(found).__name__)
                raise TypeError(f"{type(self).__name__}._score must return an array {frame.shape[:2]}, got {got}")
            if mask is not None:
                np.multiply(found > 0, np.uint8(255), out=mask)
            if score is not None:
                score[:] = found
        if learning is not None:
            self._learn(frame, learning)
