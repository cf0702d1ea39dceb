"""What every detector is: a drop-in for cv2.BackgroundSubtractor that also scores, freezes and is checked."""

import abc
import math
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from bgsub.detectors.parameters import Parameter, check_parameters
from bgsub.detectors.pixel_state import PixelState
from bgsub.errors import BgsubError, UnsupportedError
from bgsub.frames import Frame, Mask, Score, check_frame, check_mask

__all__ = ["LOWEST_SCORE", "Detector"]

LOWEST_SCORE = np.float32(-1e6)
"""Score where a pixel can only be background: its threshold is not positive, or it lies outside the region."""


class Detector(abc.ABC):
    """Base of all detectors.

    A constructor checks its keyword parameters and allocates nothing; the state appears at the first frame, and
    every later frame must have the same shape and dtype until `reset`.
    """

    name: ClassVar[str]
    can_save: ClassVar[bool] = True
    """Whether `save` is possible at all."""
    can_freeze: ClassVar[bool] = True
    """Whether a learning rate of 0 is possible."""
    own_postprocess: ClassVar[bool] = False
    """Whether masks are final as they come, so that a pipeline need not clean them."""
    PARAMETERS: ClassVar[tuple[Parameter, ...]]

    def __init__(self, **parameters: Any) -> None:
        self._parameters = check_parameters(self.PARAMETERS, parameters)
        self._roi: Mask | None = None
        self._shape: tuple[int, ...] | None = None
        self._dtype: np.dtype[Any] | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters as given, or their defaults."""
        return dict(self._parameters)

    @property
    def reports_shadows(self) -> bool:
        """Whether masks may hold 127, for shadows; a pipeline makes them background."""
        return False

    def change(self, **parameters: Any) -> None:
        """Change parameters of a running model; they count from the next frame on.

        Parameters
        ----------
        **parameters
            As the constructor's.

        Raises
        ------
        ValueError
            If a value is out of range, or one changes that shapes the state of a model that has seen a frame.
        """
        checked = type(self)(**(self._parameters | parameters)).parameters
        for item in self.PARAMETERS:
            if item.shapes_state and self._shape is not None and checked[item.name] != self._parameters[item.name]:
                raise ValueError(
                    f"{item.name} cannot change from {self._parameters[item.name]!r} to {checked[item.name]!r} "
                    "while a model is kept; call reset() first"
                )
        self._parameters = checked

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Shape of the frames, (H, W) or (H, W, 3); None before the first."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """Type of the frames; None before the first."""
        return self._dtype

    @property
    def roi(self) -> Mask | None:
        """Region of interest, (H, W) uint8, 255 inside: pixels outside are never foreground and never learn."""
        return self._roi

    @roi.setter
    def roi(self, region: Any) -> None:
        if region is None:
            self._roi = None
            return
        shape = self._shape[:2] if self._shape is not None else np.shape(region)[:2]
        self._roi = check_mask(region, (shape[0], shape[1]) if len(shape) == 2 else (0, 0), "roi")

    def apply(
        self,
        image: Frame,
        fgmask: Mask | None = None,
        learningRate: float = -1.0,  # noqa: N803, as OpenCV calls it
        *,
        score: Score | None = None,
    ) -> Mask:
        """Return the foreground mask of a frame and learn from it, like `cv2.BackgroundSubtractor.apply`.

        Parameters
        ----------
        image : (H, W, 3) or (H, W) array of uint8, uint16 or float32
            The next frame, BGR or grey.
        fgmask : (H, W) uint8 array, optional
            Written and returned if it fits; else a new mask is returned, as OpenCV does.
        learningRate : float
            -1 learns at the detector's own pace, 0 not at all (the model keeps its very bits), 1 starts anew from
            this frame; between, the share of the model that one frame replaces: 0.01 remembers about 100 frames.
        score : (H, W) float32 array, optional
            Receives the scores too, see `score`.

        Returns
        -------
        (H, W) uint8 array
            255 foreground, 0 background.

        Raises
        ------
        ValueError
            If the frame is of another shape or dtype than the first, is not finite, or the rate is above 1.
        """
        rate = _check_rate(learningRate)
        if rate == 1.0:
            self.reset()
        frame = self._accept(image, "image")
        if score is not None and (score.shape != frame.shape[:2] or score.dtype != np.float32):
            raise ValueError(
                f"score must be a float32 array of shape {frame.shape[:2]}, got {score.dtype} {score.shape}"
            )
        fits = isinstance(fgmask, np.ndarray) and fgmask.shape == frame.shape[:2] and fgmask.dtype == np.uint8
        mask = fgmask if fgmask is not None and fits else np.empty(frame.shape[:2], np.uint8)
        if any(out is not None and np.may_share_memory(frame, out) for out in (mask, score)):
            frame = frame.copy()  # kernels write results while they still read the frame
        self._step(frame, -1.0 if rate == 1.0 else rate, None, mask, score)
        return mask

    def score(self, frame: Frame) -> Score:
        """Return how foreground each pixel is, without learning.

        Parameters
        ----------
        frame : (H, W, 3) or (H, W) array of uint8, uint16 or float32
            One frame.

        Returns
        -------
        (H, W) float32 array
            1 - f(x) / threshold: at most 1, positive is foreground, 0 lies on the threshold.

        Raises
        ------
        ValueError
            As `apply`.
        """
        frame = self._accept(frame, "frame")
        score = np.empty(frame.shape[:2], np.float32)
        self._step(frame, 0.0, None, None, score)
        return score

    def learn(self, frame: Frame, where: Any = None) -> None:
        """Learn from a frame at the detector's own pace, without a mask.

        Parameters
        ----------
        frame : (H, W, 3) or (H, W) array of uint8, uint16 or float32
            The next frame.
        where : (H, W) bool or uint8 array, optional
            Pixels that may learn; the others keep their model, unfaded.

        Raises
        ------
        ValueError
            As `apply`.
        """
        frame = self._accept(frame, "frame")
        chosen = None if where is None else check_mask(where, frame.shape[:2], "where")
        self._step(frame, -1.0, chosen, None, None)

    def inspect(self, frame: Frame, row: int, column: int) -> PixelState:
        """Return what the model knows of one pixel and how it judges the pixel's colour; reads only.

        Parameters
        ----------
        frame : (H, W, 3) or (H, W) array
            A frame like those learned; only the one pixel is looked at.
        row, column : int
            Which pixel.

        Returns
        -------
        PixelState
            Support vectors, coefficients, value, threshold and kernel width.

        Raises
        ------
        UnsupportedError
            If the detector does not give away what it has learned, such as OpenCV's.
        BgsubError
            If no frame was seen yet.
        ValueError
            If the frame is of another shape or dtype than those learned, or there is no such pixel.
        """
        raise UnsupportedError(f"{self.name} does not show what it has learned of a pixel; use adaptive, norma or olk")

    @abc.abstractmethod
    def background_image(self) -> Frame:
        """Return the most likely background, of the frames' shape and dtype.

        Raises
        ------
        BgsubError
            If no frame was seen yet.
        """

    def getBackgroundImage(self) -> Frame:  # noqa: N802, as OpenCV calls it
        """Return `background_image()`, under the name OpenCV gives it."""
        return self.background_image()

    def reset(self) -> None:
        """Forget everything that was learned; parameters and region stay."""
        self._shape = self._dtype = None

    def clear(self) -> None:
        """Forget everything, under the name OpenCV gives it."""
        self.reset()

    @abc.abstractmethod
    def save(self, path: str | Path) -> None:
        """Write the whole model to an npz file, atomically; `bgsub.load` continues with the same bits.

        Raises
        ------
        BgsubError
            If no frame was seen yet, or the file cannot be written.
        """

    @property
    @abc.abstractmethod
    def memory_bytes(self) -> int | None:
        """Size of the model's state in bytes, 0 before the first frame; None where it cannot be told."""

    @abc.abstractmethod
    def _start(self, frame: Frame) -> None:
        """Allocate the state for frames like this one."""

    @abc.abstractmethod
    def _step(self, frame: Frame, rate: float, where: Mask | None, mask: Mask | None, score: Score | None) -> None:
        """Fill mask and score from the present state, then learn (rate: -1 own pace, 0 not, else as `apply`)."""

    def _accept(self, image: Any, argument: str) -> Frame:
        frame = check_frame(image, argument)
        if self._shape is None:
            if self._roi is not None and self._roi.shape != frame.shape[:2]:
                raise ValueError(f"roi must have the frame's shape {frame.shape[:2]}, got {self._roi.shape}")
            self._start(frame)
            self._shape, self._dtype = frame.shape, frame.dtype
        elif frame.shape != self._shape or frame.dtype != self._dtype:
            raise ValueError(
                f"{argument} must stay {self._dtype} {self._shape} as the first frame was, "
                f"got {frame.dtype} {frame.shape}; call reset() to start anew"
            )
        return frame

    def _need_state(self) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Return shape and dtype of the frames, or raise BgsubError where none was seen."""
        if self._shape is None or self._dtype is None:
            raise BgsubError(f"the {self.name} model is empty: show it a frame first")
        return self._shape, self._dtype

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self._parameters.items())
        return f"{type(self).__name__}({values})"


def _check_rate(rate: Any) -> float:
    if isinstance(rate, bool) or not isinstance(rate, int | float | np.number) or math.isnan(rate) or rate > 1:
        raise ValueError(f"learningRate must be -1 (automatic) or a number in [0, 1], got {rate!r}")
    return -1.0 if rate < 0 else float(rate)
