"""A custom detector: frame difference. The check is the one that every built-in detector passes.

python samples/own_detector.py [VIDEO]
"""

import sys
from pathlib import Path

import numpy as np

import bgsub
from bgsub.detectors import Learning, TwoStepDetector, param
from bgsub.frames import Frame, Score
from bgsub.testing import check_detector

CLIP = Path(__file__).with_name("walkers.mp4")


class FrameDifference(TwoStepDetector):
    """Foreground is every pixel that differs from the frame learned last."""

    name = "difference"
    threshold: float = param(20.0, "difference that counts as foreground", "(0, inf)", unit="grey levels")

    def _start(self, frame: Frame) -> None:
        self._arrays["last"] = frame.copy()  # saving, loading and resetting need nothing else

    def _score(self, frame: Frame) -> Score:
        gap = np.abs(frame.astype(np.float32) - self._arrays["last"])
        gap = gap if frame.ndim == 2 else gap.max(axis=2)
        threshold = np.float32(self.threshold * self._white(frame.dtype) / 255)
        score: Score = 1 - threshold / np.maximum(gap, np.float32(1e-6))  # positive is foreground
        return score

    def _learn(self, frame: Frame, learning: Learning) -> None:
        chosen = slice(None) if learning.where is None else learning.where != 0
        self._arrays["last"][chosen] = frame[chosen]

    def background_image(self) -> Frame:
        """Return the frame learned last."""
        self._need_state()
        return self._arrays["last"].copy()


if __name__ == "__main__":
    check_detector(FrameDifference)
    print("FrameDifference keeps the contract of a detector")
    pipeline = bgsub.Pipeline(FrameDifference(threshold=30.0))  # cleans the masks with a median of 5
    summary = bgsub.run(bgsub.open_source(sys.argv[1] if sys.argv[1:] else CLIP), pipeline, [])
    print(f"{summary.frames} frames, {summary.foreground:.1%} foreground")
