"""Base of the detectors that keep a ring of support vectors per pixel and learn every n-th frame."""

import abc
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._numba import run_bands
from bgsub._opencv import cv2
from bgsub._threads import exclusive
from bgsub.detectors.kernel_bank import RATE, WIDTH, KernelBank, aligned_zeros
from bgsub.detectors.learning import Learning
from bgsub.detectors.model_file import FINITE, Span
from bgsub.detectors.parameters import param, template
from bgsub.detectors.pixel_state import PixelState
from bgsub.detectors.steady_light import find_gains, follow_light, sample_light, steady
from bgsub.frames import Frame, Mask, Score

__all__ = ["LEARN_EVERY", "RingBank"]

LEARN_EVERY = template("one frame in so many is learned; all are scored", "[1, inf)", unit="frames")

_LEAST_SHARE = 1e-9
"""Least share of the memory that a learned frame replaces: a smaller one has no finite number of frames."""
_EVERYWHERE = np.empty((0, 0), np.uint8)
_NO_MASK = np.empty((0, 0), np.uint8)
_NO_SCORE = np.empty((0, 0), np.float32)


class RingBank(KernelBank):
    """A kernel bank in which a new support vector takes the place of the oldest, pixel by pixel."""

    width: float = WIDTH(30.0)
    memory_s: float | None = param(
        None, "about how long a colour is remembered; sets learn_every", "[1e-6, 1e9]", unit="s"
    )
    rate_hz: float = RATE(25.0)
    warmup: int = param(32, "first frames, all learned and reported as background", "[0, inf)", unit="frames")

    steady_light: bool = param(
        False,
        "bring each frame under the light of those before, by one gain per channel",
        note="Lamps, clouds and automatic exposure change the whole picture. The papers have no such step.",
        shapes_state=True,
    )

    @abc.abstractmethod
    def _run_ring(self, frame: Frame, learn: bool, where: Mask, mask: Mask, score: Score) -> None:
        """Run the compiled function over the frame, (H, W, D); arrays of shape (0, 0) stand for none."""

    @property
    @abc.abstractmethod
    def _memory_in_steps(self) -> float:
        """About how many learned frames the expansion of a pixel remembers."""

    def _start(self, frame: Frame) -> None:
        height, width = frame.shape[:2]
        channels, slots = (frame.shape[2] if frame.ndim == 3 else 1), self._parameters["slots"]
        self._arrays = {
            "colours": aligned_zeros((height, channels, slots, width), frame.dtype),
            "coefficients": aligned_zeros((height, slots, width), np.dtype(np.float32)),
            "heads": np.zeros((height, width), np.uint8),
            **self._initial_arrays((height, width)),
        }
        if self._parameters["steady_light"]:
            self._arrays["light"] = np.zeros_like(sample_light(frame))
        self._scalars |= {"scale": 1.0, **self._initial_scalars()}

    def _spans(self) -> dict[str, Span]:
        light = {"light": FINITE} if "light" in self._arrays else {}
        return super()._spans() | {"heads": Span(0, self._parameters["slots"] - 1), **light}

    def _initial_arrays(self, size: tuple[int, int]) -> dict[str, NDArray[Any]]:
        """Return the initial arrays beyond colours, coefficients and heads, for frames of (height, width)."""
        return {}

    def _initial_scalars(self) -> dict[str, float]:
        """Return the initial scalars beyond frames and scale."""
        return {}

    def _run_bands(self, function: Any, frame: Frame, *arguments: Any) -> None:
        run_bands(function, (frame.shape[0], frame.shape[1]), self._parameters["threads"], frame, *arguments)

    @property
    def learn_interval(self) -> int:
        """Frames from one learned frame to the next, at the detector's own pace."""
        memory_s = self._parameters["memory_s"]
        if memory_s is None:
            return int(self._parameters["learn_every"])
        frames = float(memory_s * self._parameters["rate_hz"])
        return max(1, round(frames / self._memory_in_steps))

    def _is_learned(self, learning: Learning | None) -> bool:
        """Return whether the present frame is one of those that are learned."""
        if learning is None:
            return False
        if learning.rate is None:
            interval = self.learn_interval
        else:
            interval = max(1, round(1.0 / max(learning.rate * self._memory_in_steps, _LEAST_SHARE)))
        return self.frames_seen < self._parameters["warmup"] or self.frames_seen % interval == 0

    def _step(self, frame: Frame, mask: Mask | None, score: Score | None, learning: Learning | None) -> None:
        where = None if learning is None else learning.where
        if self._parameters["steady_light"]:
            # One light is that of all pixels, also of those that must not learn.
            everywhere = where is None or cv2.countNonZero(where) == where.size
            frame = self._steady(frame, learn=learning is not None and everywhere)
        self._run_ring(
            frame[:, :, np.newaxis] if frame.ndim == 2 else frame,
            self._is_learned(learning),
            _EVERYWHERE if where is None else where,
            _NO_MASK if mask is None else mask,
            _NO_SCORE if score is None else score,
        )

    def _steady(self, frame: Frame, *, learn: bool) -> Frame:
        """Return a frame under the light of those before."""
        now, learned, white = sample_light(frame), self._arrays["light"], self._white(frame.dtype)
        if not learned.any():  # nor may a black frame be compared with
            if learn:
                learned[:] = now
            return frame
        gains = find_gains(now, learned, white)
        if learn:
            follow_light(learned, now, gains, white)
        return steady(frame, gains, white)

    @exclusive
    def inspect(self, frame: Frame, row: int, column: int) -> PixelState:
        """Return the expansion of one pixel and how it judges its colour under steady light; see `Detector.inspect`."""
        self._check_pixel(frame, row, column)
        if self._parameters["steady_light"]:
            frame = self._steady(frame, learn=False)
        return super().inspect(frame, row, column)
