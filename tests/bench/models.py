"""Models of other packages, as `module:Class` names them."""

from typing import ClassVar

import numpy as np

from bgsub.detectors import TwoStepDetector, param
from bgsub.frames import Frame, Mask, Score


class Difference(TwoStepDetector):
    """Foreground is what differs from the last frame."""

    name = "difference"
    threshold: float = param(20.0, "difference that counts as foreground", "(0, inf)")

    def _start(self, frame: Frame) -> None:
        self._arrays["last"] = frame.copy()

    def _score(self, frame: Frame) -> Score:
        gap = np.abs(frame.astype(np.float32) - self._arrays["last"])
        return 1 - np.float32(self.threshold) / np.maximum(gap.max(axis=2), np.float32(1e-6))

    def _learn(self, frame: Frame, learning: object) -> None:
        self._arrays["last"][:] = frame

    def background_image(self) -> Frame:
        return self._arrays["last"].copy()


class Recorder:
    """A model without the interface of a detector, that keeps all it was shown."""

    shown: ClassVar[list[Frame]] = []

    def __init__(self, level: int = 0) -> None:
        self.level = level
        self.shown.clear()

    def apply(self, frame: Frame) -> Mask:
        self.shown.append(frame)
        return np.zeros(frame.shape[:2], np.uint8)


class Interrupted:
    """A model during which the user presses Ctrl-C."""

    def __init__(self, after: int = 50) -> None:
        self._left = after

    def apply(self, frame: Frame) -> Mask:
        self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt
        return np.zeros(frame.shape[:2], np.uint8)


class Broken:
    """A class without `apply`."""
