"""What the banks with a ring of support vectors share: the published learners, learning every n-th frame."""

import abc
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._numba import run_bands
from bgsub.detectors.kernel_bank import RATE, SLOTS, THREADS, WHITE, WIDTH, KernelBank
from bgsub.detectors.parameters import Parameter
from bgsub.frames import Frame, Mask, Score

__all__ = ["RING_PARAMETERS", "RingBank"]

RING_PARAMETERS = (
    SLOTS,
    WIDTH,
    Parameter("learn_every", int, "learn one frame in so many", 1, unit="frames"),
    Parameter(
        "memory_s",
        float,
        "about how long a colour is remembered; sets learn_every",
        0,
        low_open=True,
        unit="s",
        optional=True,
    ),
    RATE,
    Parameter("warmup", int, "first frames, all learned and reported as background", 0, unit="frames"),
    WHITE,
    THREADS,
)

_CACHE_LINE = 64  # bytes
_EVERYWHERE = np.empty((0, 0), np.uint8)
_NO_MASK = np.empty((0, 0), np.uint8)
_NO_SCORE = np.empty((0, 0), np.float32)


class RingBank(KernelBank):
    """A kernel bank whose new support vectors take the place of the oldest, pixel by pixel."""

    @abc.abstractmethod
    def _run(self, frame: Frame, learn: bool, where: Mask, mask: Mask, score: Score) -> None:
        """Run the kernel over the frame; arrays of shape (0, 0) stand for none."""

    @property
    @abc.abstractmethod
    def _memory_in_steps(self) -> float:
        """About how many learned frames the expansion of a pixel remembers."""

    def _start(self, frame: Frame) -> None:
        height, width = frame.shape[:2]
        channels, slots = (frame.shape[2] if frame.ndim == 3 else 1), self._parameters["slots"]
        colours = _aligned_zeros((height, channels, slots, width), frame.dtype)
        coefficients = _aligned_zeros((height, slots, width), np.dtype(np.float32))
        self._arrays = {"colours": colours, "coefficients": coefficients} | self._initial_arrays(
            (height, width), colours
        )
        self._scalars = {"frames": 0, "scale": 1.0} | self._initial_scalars()

    def _initial_arrays(self, shape: tuple[int, int], colours: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return the initial arrays beyond colours and coefficients; colours is (H, D, B, W)."""
        return {"heads": np.zeros(shape, np.uint8)}

    def _initial_scalars(self) -> dict[str, float]:
        """Return the initial scalars beyond frames and scale."""
        return {}

    def _run_kernel(self, kernel: Any, frame: Frame, *arguments: Any) -> None:
        run_bands(kernel, (frame.shape[0], frame.shape[1]), self._parameters["threads"], frame, *arguments)

    @property
    def learn_interval(self) -> int:
        """Frames from one learned frame to the next, at the detector's own pace."""
        memory_s = self._parameters["memory_s"]
        if memory_s is None:
            return int(self._parameters["learn_every"])
        frames = float(memory_s * self._parameters["rate_hz"])
        return max(1, round(frames / self._memory_in_steps))

    def _is_learned(self, rate: float) -> bool:
        """Tell whether the present frame is learned; rate is the share of the memory that a frame replaces."""
        if rate == 0:
            return False
        interval = self.learn_interval if rate < 0 else max(1, round(1.0 / (rate * self._memory_in_steps)))
        return self.frames_seen < self._parameters["warmup"] or self.frames_seen % interval == 0

    def _step(self, frame: Frame, rate: float, where: Mask | None, mask: Mask | None, score: Score | None) -> None:
        where = self._allowed(where)
        self._run(
            frame[:, :, np.newaxis] if frame.ndim == 2 else frame,
            self._is_learned(rate),
            _EVERYWHERE if where is None else where,
            _NO_MASK if mask is None else mask,
            _NO_SCORE if score is None else score,
        )
        if mask is not None and self.frames_seen < self._parameters["warmup"]:
            mask[:] = 0
        self._confine(mask, score)
        if rate != 0:
            self._scalars["frames"] += 1


def _aligned_zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return zeros that begin with a cache line, where blocks of 64 numbers straddle none (a quarter of `look`)."""
    size = math.prod(shape) * dtype.itemsize
    memory = np.zeros(size + _CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % _CACHE_LINE
    return memory[start : start + size].view(dtype).reshape(shape)
