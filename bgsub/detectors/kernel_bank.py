"""Base of the detectors that keep one kernel expansion per pixel: coefficients, inspection, background."""

import abc
import functools
import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgsub._numba import run_bands
from bgsub._threads import exclusive
from bgsub.detectors._jit.background import densest_colours
from bgsub.detectors.base import Detector
from bgsub.detectors.model_file import FINITE, NOT_NEGATIVE, Span
from bgsub.detectors.parameters import param, template
from bgsub.detectors.pixel_state import PixelState
from bgsub.frames import RATE_INTERVAL, Frame

__all__ = ["RATE", "SLOTS", "WIDTH", "Judgement", "KernelBank", "aligned_zeros"]

SLOTS = template("support vectors per pixel", "[1, 254]", shapes_state=True)
WIDTH = template("width of the kernel over all channels, where 255 is white", "[0.001, 1e6]", unit="grey levels")
RATE = template("frame rate, which turns seconds into frames", RATE_INTERVAL, unit="frames/s", group="expert")

_SMALLEST_SCALE = 1e-6
_COEFFICIENTS = Span(0, NOT_NEGATIVE.most / 256)  # so that those of a pixel, at most 255, have a finite sum
_CACHE_LINE = 64  # bytes


@functools.lru_cache(maxsize=8)  # asked for in each step
def _exponent_gain(width: float, white: float) -> np.float32:
    return np.float32(-math.log2(math.e) / (width * white / 255.0) ** 2)


class Judgement(NamedTuple):
    """The comparison that makes a pixel foreground or background."""

    symbol: Literal["f", "g"]
    """The value compared: f(x), or the density g(x), which is f(x) divided by the sum of all coefficients."""
    threshold: float
    """Below it the colour is foreground."""
    threshold_symbol: str
    """Name of the threshold."""


class KernelBank(Detector):
    """One small kernel expansion per pixel: f(x) = sum_j a_j exp(-|s_j - x|^2 / width^2) over `slots` colours s_j.

    The coefficients in `_arrays` are to be multiplied by the scalar `scale`, so that all can fade at no cost.
    """

    can_inspect = True
    white: float | None = param(
        None,
        "value of white",
        "[1e-6, 1e12]",
        note="By default 255, 65535 or 1.0 for uint8, uint16 or float32 frames.",
        group="expert",
    )
    threads: int = param(
        0, "threads to use, 0 for one per CPU", "[0, 1024]", note="Results do not depend on it.", group="expert"
    )

    def _spans(self) -> dict[str, Span]:
        return {"colours": FINITE, "coefficients": _COEFFICIENTS, "scale": Span(_SMALLEST_SCALE, 1)}

    def _fade(self, factor: float) -> None:
        """Multiply all coefficients by a factor: in the common scale, folded in before it gets small."""
        self._scalars["scale"] *= factor
        if self._scalars["scale"] < _SMALLEST_SCALE:
            self._fold()
            self._scalars["scale"] = 1.0

    def _fold(self) -> None:
        """Multiply the arrays that are kept without the scale by it."""
        self._arrays["coefficients"] *= np.float32(self._scalars["scale"])

    def _gain(self, dtype: np.dtype[Any]) -> np.float32:
        """Return the factor from squared distance to the exponent of two: -log2(e) / width^2, in units of the frame."""
        return _exponent_gain(self._parameters["width"], self._white(dtype))

    def _expansion(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the colours (rows, D, B, columns) and coefficients (rows, B, columns); by default rows of pixels."""
        return self._arrays["colours"], self._arrays["coefficients"]

    @exclusive
    def inspect(self, frame: Frame, row: int, column: int) -> PixelState:
        """Return the expansion of one pixel and how it judges the pixel's colour; see `Detector.inspect`."""
        dtype = self._check_pixel(frame, row, column)
        colour = np.atleast_1d(frame[row, column])
        colours, coefficients = self._pixel(row, column)
        coefficients = coefficients * np.float64(self._scalars["scale"])
        factor = self._width_factor(row, column)
        squares = ((colours.astype(np.float64) - colour.astype(np.float64)) ** 2).sum(1)
        kernel = np.exp2(squares * float(self._gain(dtype)) / factor**2)
        f, mass = float(coefficients @ kernel), float(coefficients.sum())
        judgement = self._judgement(row, column)
        order = np.argsort(-coefficients, kind="stable")[: np.count_nonzero(coefficients)]
        return PixelState(
            colour=colour.copy(),
            support=colours[order].copy(),
            coefficients=coefficients[order],
            kernel=kernel[order],
            value=f if judgement.symbol == "f" else f / mass if mass > 0 else 1.0,
            symbol=judgement.symbol,
            threshold=judgement.threshold,
            threshold_symbol=judgement.threshold_symbol,
            width=self._parameters["width"] * factor,
            white=self._white(dtype),
        )

    def _check_pixel(self, frame: Frame, row: int, column: int) -> np.dtype[Any]:
        """Check the arguments of `inspect`, and return the frames' dtype."""
        shape, dtype = self._need_state()
        if frame.shape != shape or frame.dtype != dtype:
            raise ValueError(f"frame must be {dtype} {shape} as those learned, got {frame.dtype} {frame.shape}")
        if not (0 <= row < shape[0] and 0 <= column < shape[1]):
            raise ValueError(f"pixel must lie in rows 0 to {shape[0] - 1}, columns 0 to {shape[1] - 1}: {row, column}")
        return dtype

    def _pixel(self, row: int, column: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the colours (B, D) and the stored coefficients (B,) of a pixel."""
        return self._arrays["colours"][row, :, :, column].T, self._arrays["coefficients"][row, :, column]

    @abc.abstractmethod
    def _judgement(self, row: int, column: int) -> Judgement:
        """Return the comparison made at a pixel."""

    def _width_factor(self, row: int, column: int) -> float:
        """Return the factor that the width is multiplied by at a pixel."""
        return 1.0

    @exclusive
    def background_image(self) -> Frame:
        """Return per pixel the support vector s_i with the largest f(s_i), the densest colour; black where none is.

        A single coefficient means little: in a ring it only depends on the age of its support vector.

        Returns
        -------
        (H, W, 3) or (H, W) array
            Of the frames' shape and dtype.

        Raises
        ------
        BgsubError
            If no frame was seen yet.
        """
        shape, dtype = self._need_state()
        colours, coefficients = self._expansion()
        rows, channels, _, columns = colours.shape
        background = np.empty((rows, columns, channels), dtype)
        run_bands(
            densest_colours,
            (rows, columns),
            self._parameters["threads"],
            colours,
            coefficients,
            self._gain(dtype),
            background,
        )
        return background.reshape(-1)[: math.prod(shape)].reshape(shape)


def aligned_zeros(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return zeros that begin with a cache line, where blocks of 64 numbers straddle none (a quarter of the time)."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    memory = np.zeros(size + _CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % _CACHE_LINE
    aligned: NDArray[Any] = memory[start : start + size].view(dtype).reshape(shape)
    return aligned
