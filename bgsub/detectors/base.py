"""The contract of a detector: a drop-in for cv2.BackgroundSubtractor that also scores, freezes and is checked."""

import abc
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from bgsub._threads import exclusive
from bgsub.detectors import model_file
from bgsub.detectors.learning import Learning, check_rate
from bgsub.detectors.opencv.names import OpenCvNames
from bgsub.detectors.pixel_state import PixelState
from bgsub.errors import UnsupportedError
from bgsub.frames import Frame, Mask, Score, check_frame, check_mask, check_output
from bgsub.stages import KNOWN, RAW, REGION, WARMUP, Stage, StageTrace

__all__ = ["LOWEST_SCORE", "Detector"]

LOWEST_SCORE = np.float32(-1e6)
"""Score of pixels that can only be background: the threshold is not positive, or they lie outside the region."""

_FRAMES = {"frames": model_file.Span(0, 2**53, 1)}
_WHITE = {"B": 255.0, "H": 65535.0, "f": 1.0}  # by dtype.char, which is quicker to get than a name


class Detector(model_file.Stateful, OpenCvNames, abc.ABC):
    """Base of all detectors.

    A constructor checks its keyword parameters and allocates nothing; the state appears at the first frame, and
    every later frame must have the same shape and dtype until `reset`.

    A subclass declares its parameters with `param`, sets `name`, and implements `background_image`, `_start` and
    `_step`; one that scores a frame first and then learns it is shorter as a `TwoStepDetector`. It keeps its state in
    `self._arrays` and `self._scalars`; then saving, loading, resetting and the size in memory need no further code.
    The base class checks frames, applies the region of interest, `where` and the value of white, and makes masks empty
    in the first frames if there is a parameter called `warmup`. `bgsub.testing.check_detector` tests all that a
    detector promises.

    One thread at a time may use a detector: a method called while another thread is in one raises `ConcurrencyError`.
    Different detectors run side by side. A detector can be copied, pickled and sent to another process with all that
    it has learned, if it can be saved.
    """

    name: ClassVar[str]
    """How the detector is called on the command line and in files."""
    can_freeze: ClassVar[bool] = True
    """Whether a learning rate of 0 is possible."""
    can_score: ClassVar[bool] = True
    """Whether `score` is possible, which reads only."""
    can_learn_where: ClassVar[bool] = True
    """Whether single pixels can be kept from learning, by `where` or by the region of interest."""
    can_inspect: ClassVar[bool] = False
    """Whether `inspect` is possible."""
    repeatable: ClassVar[bool] = True
    """Whether the same frames give the same bits, whatever else runs."""
    own_postprocess: ClassVar[bool] = False
    """Whether masks are already post-processed, so that a pipeline need not do it."""
    STAGES: ClassVar[tuple[Stage, ...]] = (RAW,)
    """The stages that its masks go through, in their order; a frame need not go through all."""

    def __init__(self, **parameters: Any) -> None:
        if not isinstance(getattr(self, "name", None), str):
            raise TypeError(f"{type(self).__name__} must have a class attribute name, as it is called on command lines")
        self.trace: StageTrace | None = None
        """Receives the masks after the stages of each frame, which costs a copy of each; None for no trace."""
        super().__init__(**parameters)

    @property
    def reports_shadows(self) -> bool:
        """Whether masks may hold 127, for shadows; a pipeline makes them background."""
        return False

    @exclusive
    def change(self, **parameters: Any) -> None:
        """Change parameters of a running model, from the next frame on.

        Parameters
        ----------
        **parameters
            As the constructor's.

        Raises
        ------
        ValueError
            If a value is out of range, or one changes that shapes the state of a model that has seen a frame.
        """
        checked = self.check_parameters(self._parameters | parameters)
        for item in self.PARAMETERS:
            if item.shapes_state and self._shape is not None and checked[item.name] != self._parameters[item.name]:
                raise ValueError(
                    f"{item.name} cannot change from {self._parameters[item.name]!r} to {checked[item.name]!r} "
                    "while a model is kept; call reset() first"
                )
        self._parameters = checked

    @property
    def roi(self) -> Mask | None:
        """Region of interest, (H, W) uint8, 255 inside: pixels outside are never foreground and never learn."""
        return self._roi

    @roi.setter
    @exclusive
    def roi(self, region: Any) -> None:
        if region is None:
            self._roi = None
            return
        shape = self._shape[:2] if self._shape is not None else np.shape(region)[:2]
        self._roi = check_mask(region, (shape[0], shape[1]) if len(shape) == 2 else (0, 0), "roi")

    # Detection and learning

    @exclusive
    def apply(
        self,
        image: Frame,
        fgmask: Mask | None = None,
        learningRate: float = -1.0,  # noqa: N803, as OpenCV calls it
        *,
        score: Score | None = None,
        where: Any = None,
        knownForegroundMask: Any = None,  # noqa: N803, as OpenCV calls it
    ) -> Mask:
        """Return the foreground mask of a frame and learn from it, like `cv2.BackgroundSubtractor.apply`.

        Parameters
        ----------
        image : (H, W, 3), (H, W, 4) or (H, W) array of uint8, uint16 or float32
            The next frame, BGR, BGRA (alpha is ignored) or grey: a numpy array, a cv2.UMat, or an object with
            `__dlpack__` in main memory or `__array__`.
        fgmask : (H, W) uint8 array, optional
            Written and returned if it fits; else a new mask is returned, as OpenCV does.
        learningRate : float
            -1 learns at the detector's own pace, 0 not at all (the model keeps its very bits), 1 starts again from
            this frame; between, the share of the model that one frame replaces: 0.01 remembers about 100 frames.
        score : (H, W) float32 array, optional
            Receives the scores too, see `score`.
        where : (H, W) bool or uint8 array, optional
            Pixels that may learn; the others keep their model, unfaded. The mask does not depend on it.
        knownForegroundMask : (H, W) bool or uint8 array, optional
            Pixels that are known to be foreground, by a value other than 0: they are foreground in the mask, with a
            score of 1, and are not learned. All others are processed as usual. As in OpenCV 5.

        Returns
        -------
        (H, W) uint8 array
            255 foreground, 0 background.

        Raises
        ------
        ValueError
            If the frame is of another shape or dtype than the first, is not finite, or the rate is above 1; or if
            another array does not fit, or one to be filled is read-only.
        UnsupportedError
            If the rate is 0 and the detector cannot be frozen, or it cannot be kept from learning single pixels.
        """
        rate = check_rate(learningRate)
        if rate == 0 and not self.can_freeze:
            raise UnsupportedError(f"{self.name} cannot be frozen; use adaptive, norma or olk")
        if rate == 1.0:
            self.reset()
        frame = self._accept(image, "image")
        size = (frame.shape[0], frame.shape[1])
        known = self._check_pixels(knownForegroundMask, size, "knownForegroundMask")
        chosen = self._check_pixels(where, size, "where")
        if known is not None:
            chosen = np.bitwise_and(255 if chosen is None else chosen, np.bitwise_not(known))
        if score is not None:
            check_output(score, size, np.float32, "score")
        fits = isinstance(fgmask, np.ndarray) and fgmask.shape == size and fgmask.dtype == np.uint8
        if fits:
            check_output(fgmask, size, np.uint8, "fgmask")
        mask = fgmask if fgmask is not None and fits else np.empty(size, np.uint8)
        if any(np.may_share_memory(frame, out) for out in (fgmask if fits else None, score) if out is not None):
            frame = frame.copy()  # compiled code writes results while they still read the frame
        own_pace = rate in (-1.0, 1.0)
        learning = None if rate == 0 else Learning(None if own_pace else rate, self._allowed(chosen))
        self._run(frame, mask, score, learning)
        if known is not None:
            np.bitwise_or(mask, known, out=mask)
            if score is not None:
                score[known != 0] = 1
            self._confine(mask, score)
            self._keep_stage(KNOWN, mask)
        return mask

    @exclusive
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
        UnsupportedError
            If the detector cannot score without learning.
        """
        frame = self._accept(frame, "frame")
        if not self.can_score:
            raise UnsupportedError(f"{self.name} cannot score without learning; use adaptive, norma or olk")
        score = np.empty(frame.shape[:2], np.float32)
        self._run(frame, None, score, None)
        return score

    @exclusive
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
        UnsupportedError
            If `where` is given and the detector can only learn whole frames.
        """
        frame = self._accept(frame, "frame")
        chosen = self._check_pixels(where, (frame.shape[0], frame.shape[1]), "where")
        self._run(frame, None, None, Learning(None, self._allowed(chosen)))

    @exclusive
    def inspect(self, frame: Frame, row: int, column: int) -> PixelState:
        """Return the model's state at one pixel and how it judges the pixel's colour; reads only.

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
            If the detector does not expose its model, such as OpenCV's.
        BgsubError
            If no frame was seen yet.
        ValueError
            If the frame is of another shape or dtype than those learned, or there is no such pixel.
        """
        raise UnsupportedError(f"{self.name} does not expose its model of a pixel; use adaptive, norma or olk")

    @abc.abstractmethod
    def background_image(self) -> Frame:
        """Return the most likely background, of the frames' shape and dtype.

        Raises
        ------
        BgsubError
            If no frame was seen yet.
        """

    @exclusive
    def reset(self) -> None:
        """Forget everything that was learned; parameters and region stay."""
        self._forget()

    # Saving

    @exclusive
    def restore(self, model: model_file.Snapshot) -> None:
        """Take over the state of a saved model of the same parameters; `bgsub.load` is the way from a file.

        Raises
        ------
        ValueError
            If the state is not that of such a model.
        """
        model_file.check_shape(model)
        model_file.check_size(model, self._bytes_per_row(model))
        self._accept(np.zeros(model.shape, model.dtype), "frame")
        self._gather()
        model_file.check_state(model, self._arrays, self._scalars, _FRAMES | self._spans())
        self.roi = model.roi
        for name, array in self._arrays.items():
            array[...] = model.arrays[name]  # keeps where the array lies in memory
        self._scalars.update(model.scalars)
        self._share_out()

    # For subclasses to implement

    @abc.abstractmethod
    def _start(self, frame: Frame) -> None:
        """Fill `_arrays` and `_scalars` with the state for frames like this one, which is not yet learned."""

    @abc.abstractmethod
    def _step(self, frame: Frame, mask: Mask | None, score: Score | None, learning: Learning | None) -> None:
        """Fill mask and score, where not None, from the present state, then learn, unless learning is None.

        Parameters
        ----------
        frame : (H, W, 3) or (H, W) array
            Checked, C-contiguous, of the shape and dtype that `_start` was given.
        mask : (H, W) uint8 array or None
            To be filled with 0 and 255.
        score : (H, W) float32 array or None
            To be filled as `score` says.
        learning : Learning or None
            How to learn; None keeps the state as it is.
        """

    def _spans(self) -> dict[str, model_file.Span]:
        """Return the values that arrays and scalars may have, by name; a model file with others is refused."""
        return {}

    def _bytes_per_row(self, model: model_file.Snapshot) -> int:
        """Return by how many bytes the state grows with 64 pixels more, for frames like those of a model."""
        sizes = []
        for rows in (8, 16):
            small = type(self)(**self._parameters)
            small._accept(np.zeros((rows, 64, *model.shape[2:]), model.dtype), "frame")
            sizes.append(sum(array.nbytes for array in small._arrays.values()))
        return (sizes[1] - sizes[0]) // 8

    # For subclasses to use

    def _white(self, dtype: np.dtype[Any]) -> float:
        """Return the value of white: of a parameter called `white`, else 255, 65535 or 1.0 by the frames' dtype."""
        return float(self._parameters.get("white") or _WHITE[dtype.char])

    def _confine(self, mask: Mask | None, score: Score | None) -> None:
        """Make everything outside the region of interest background."""
        if self._roi is None:
            return
        if mask is not None:
            np.bitwise_and(mask, self._roi, out=mask)
        if score is not None:
            score[self._roi == 0] = LOWEST_SCORE

    def _keep_stage(self, stage: Stage, mask: Mask | None) -> None:
        """Add the mask after a stage to the trace, if there is one."""
        if self.trace is not None and mask is not None:
            self.trace.keep(stage, mask)

    def _check_pixels(self, pixels: Any, size: tuple[int, int], name: str) -> Mask | None:
        """Return pixels that are treated differently, as 0 and 255; `where` or `knownForegroundMask`."""
        if pixels is None:
            return None
        if not self.can_learn_where:
            raise UnsupportedError(f"{self.name} cannot learn only a part of the frame; leave out {name}")
        return check_mask(pixels, size, name)

    def _allowed(self, where: Mask | None) -> Mask | None:
        """Return the pixels that may learn: those asked for, inside the region; None for all."""
        if self._roi is None or not self.can_learn_where:
            return where
        return self._roi if where is None else np.asarray(np.bitwise_and(where, self._roi), np.uint8)

    def _accept(self, image: Any, argument: str) -> Frame:
        """Check a frame, and start the state with the first."""
        frame = check_frame(image, argument)
        if self._shape is None:
            if self._roi is not None and self._roi.shape != frame.shape[:2]:
                raise ValueError(f"roi must have the frame's shape {frame.shape[:2]}, got {self._roi.shape}")
            self._begin(frame)
        elif frame.shape != self._shape or frame.dtype != self._dtype:
            raise ValueError(
                f"{argument} must stay {self._dtype} {self._shape} as the first frame was, "
                f"got {frame.dtype} {frame.shape}; call reset() to start again"
            )
        return frame

    def _begin(self, frame: Frame) -> None:
        self._scalars["frames"] = 0
        self._start(frame)
        self._shape, self._dtype = frame.shape, frame.dtype

    def _run(self, frame: Frame, mask: Mask | None, score: Score | None, learning: Learning | None) -> None:
        """Do one step within the region of interest, and count it."""
        if self.trace is not None:
            self.trace.clear()
        step: Callable[..., object] = self._step
        returned = step(frame, mask, score, learning)
        if returned is not None:
            raise TypeError(f"{type(self).__name__}._step must write to mask and score and return nothing")
        if mask is not None and self.trace is not None and not self.trace.steps:
            self.trace.keep(RAW, np.where(mask != 0, np.uint8(255), np.uint8(0)))  # shadows, 127, were found, too
        if mask is not None and self.frames_seen < self._parameters.get("warmup", 0):
            mask[:] = 0
            self._keep_stage(WARMUP, mask)
        self._confine(mask, score)
        if self._roi is not None:
            self._keep_stage(REGION, mask)
        if learning is not None:
            self._scalars["frames"] += 1

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self._parameters.items())
        return f"{type(self).__name__}({values})"
