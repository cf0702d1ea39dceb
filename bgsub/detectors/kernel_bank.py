"""What the banks of kernel expansions share: state arrays, background, saving."""

import abc
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._numba import run_bands
from bgsub.detectors import model_file
from bgsub.detectors._jit.background import modes
from bgsub.detectors.base import LOWEST_SCORE, Detector
from bgsub.detectors.parameters import Parameter
from bgsub.detectors.pixel_state import PixelState
from bgsub.errors import ModelFileError
from bgsub.frames import Frame, Mask, Score

__all__ = ["RATE", "SLOTS", "THREADS", "WHITE", "WIDTH", "KernelBank"]

SLOTS = Parameter("slots", int, "support vectors a pixel", 1, 254, shapes_state=True)
WIDTH = Parameter(
    "width", float, "width of the kernel over all channels, where 255 is white", 0, low_open=True, unit="grey levels"
)
RATE = Parameter("rate_hz", float, "frame rate, to turn seconds into frames", 0, low_open=True, unit="frames/s")
WHITE = Parameter(
    "white",
    float,
    "value of white; by default 255, 65535 or 1.0 for uint8, uint16 or float32",
    0,
    low_open=True,
    optional=True,
)
THREADS = Parameter("threads", int, "threads to use, 0 for one a processor", 0, 1024)

_WHITE = {"B": 255.0, "H": 65535.0, "f": 1.0}  # by dtype.char, as finding a name takes long
_SMALLEST_SCALE = 1e-6


class KernelBank(Detector):
    """One small kernel expansion a pixel: f(x) = sum_j a_j exp(-|s_j - x|^2 / width^2) over B slots.

    Subclasses name their arrays in `_arrays` and scalars in `_scalars`; these, the parameters and the region are
    the whole model, and what `save` writes.
    """

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self._arrays: dict[str, NDArray[Any]] = {}
        self._scalars: dict[str, float] = {}

    @property
    def frames_seen(self) -> int:
        """Frames offered for learning since the start or the last reset."""
        return int(self._scalars.get("frames", 0))

    def _allowed(self, where: Mask | None) -> Mask | None:
        """Return the pixels that may learn: those asked for, inside the region; None for all."""
        if self._roi is None:
            return where
        return self._roi if where is None else np.asarray(np.bitwise_and(where, self._roi), np.uint8)

    def _confine(self, mask: Mask | None, score: Score | None) -> None:
        """Make everything outside the region background."""
        if self._roi is None:
            return
        if mask is not None:
            np.bitwise_and(mask, self._roi, out=mask)
        if score is not None:
            score[self._roi == 0] = LOWEST_SCORE

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
        """Factor from squared distance to the exponent of two: -log2(e) / width^2, width in units of the frame."""
        return np.float32(-math.log2(math.e) / (self._parameters["width"] * self._white(dtype) / 255.0) ** 2)

    def _white(self, dtype: np.dtype[Any]) -> float:
        return float(self._parameters["white"] or _WHITE[dtype.char])

    def _expansion(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the colours (H, D, B, W) and the coefficients (H, B, W), or all pixels in other rows than these."""
        return self._arrays["colours"], self._arrays["coefficients"]

    def inspect(self, frame: Frame, row: int, column: int) -> PixelState:
        """Return the expansion of one pixel and how it judges the pixel's colour; see `Detector.inspect`."""
        shape, dtype = self._need_state()
        if frame.shape != shape or frame.dtype != dtype:
            raise ValueError(f"frame must be {dtype} {shape} as those learned, got {frame.dtype} {frame.shape}")
        if not (0 <= row < shape[0] and 0 <= column < shape[1]):
            raise ValueError(f"pixel must lie in rows 0 to {shape[0] - 1}, columns 0 to {shape[1] - 1}: {row, column}")
        colour = np.atleast_1d(frame[row, column])
        colours, coefficients = self._pixel(row, column)
        coefficients = coefficients * np.float64(self._scalars["scale"])
        factor = self._width_factor(row, column)
        squares = ((colours.astype(np.float64) - colour.astype(np.float64)) ** 2).sum(1)
        kernel = np.exp2(squares * float(self._gain(dtype)) / factor**2)
        f, mass = float(coefficients @ kernel), float(coefficients.sum())
        symbol, threshold, name = self._judgement(row, column)
        order = np.argsort(-coefficients, kind="stable")[: np.count_nonzero(coefficients)]
        return PixelState(
            colour=colour.copy(),
            support=colours[order].copy(),
            coefficients=coefficients[order],
            kernel=kernel[order],
            value=f if symbol == "f" else f / mass if mass > 0 else 1.0,
            symbol=symbol,
            threshold=threshold,
            threshold_symbol=name,
            width=self._parameters["width"] * factor,
            white=self._white(dtype),
        )

    def _pixel(self, row: int, column: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the colours (B, D) and the stored coefficients (B,) of a pixel."""
        return self._arrays["colours"][row, :, :, column].T, self._arrays["coefficients"][row, :, column]

    @abc.abstractmethod
    def _judgement(self, row: int, column: int) -> tuple[str, float, str]:
        """Return what is compared ("f" or "g", the density), the threshold of a pixel and the threshold's name."""

    def _width_factor(self, row: int, column: int) -> float:
        """Return what the width is multiplied by at a pixel."""
        return 1.0

    def background_image(self) -> Frame:
        """Return per pixel the support vector s_i with the largest f(s_i), the densest colour; black where none is.

        A single coefficient tells little here: in a ring it only says how old a support vector is.

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
            modes,
            (rows, columns),
            self._parameters["threads"],
            colours,
            coefficients,
            self._gain(dtype),
            background,
        )
        return background.reshape(-1)[: math.prod(shape)].reshape(shape)

    @property
    def memory_bytes(self) -> int:
        """Size of the model's arrays in bytes, 0 before the first frame."""
        return sum(array.nbytes for array in self._arrays.values())

    def reset(self) -> None:
        """Forget everything that was learned; parameters and region stay."""
        super().reset()
        self._arrays, self._scalars = {}, {}

    # Saving

    def save(self, path: str | Path) -> None:
        """Write the whole model to an npz file, atomically; `bgsub.load` continues with the same bits.

        Parameters
        ----------
        path : str or Path
            The file, by habit `*.npz`; an existing one is replaced when the new one is complete.

        Raises
        ------
        BgsubError
            If no frame was seen yet, or the file cannot be written.
        """
        shape, dtype = self._need_state()
        header = {
            "detector": self.name,
            "parameters": self._parameters,
            "scalars": self._scalars,
            "shape": list(shape),
            "dtype": dtype.name,
        }
        arrays = {f"state_{name}": array for name, array in self._arrays.items()}
        if self._roi is not None:
            arrays["roi"] = self._roi
        model_file.write(Path(path), json.dumps(header), arrays)

    def restore(self, path: Path, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Take over the state that `save` wrote; called by `bgsub.load`.

        Raises
        ------
        ModelFileError
            If the arrays are not those of a model with these parameters.
        """
        shape, dtype = tuple(header["shape"]), np.dtype(header["dtype"])
        colours = arrays.get("state_colours")
        slots, channels = header["parameters"].get("slots"), shape[2] if len(shape) == 3 else 1
        # Before anything of the size that the header claims is allocated.
        size = colours.size if colours is not None and colours.dtype == dtype else 0
        if not 0 <= size - math.prod(shape) * slots < 4096 * slots * channels:
            raise ModelFileError(f"{path} is not a valid model: its arrays do not fit its header; save it again")
        self._accept(np.zeros(shape, dtype), "frame")
        for name, array in self._arrays.items():
            saved = arrays.get(f"state_{name}")
            if saved is None or saved.shape != array.shape or saved.dtype != array.dtype:
                raise ModelFileError(
                    f"{path} is not a valid model: the array {name!r} is missing or wrong; save it again"
                )
            array[...] = saved  # keeps where the array lies in memory
        if set(header["scalars"]) != set(self._scalars):
            raise ModelFileError(f"{path} is not a valid model: its scalars are incomplete; save it again")
        self._scalars = dict(header["scalars"])
        self.roi = arrays.get("roi")
