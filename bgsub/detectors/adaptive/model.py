"""The adaptive detector's model: how it starts, is saved and looked into, and how frames are reduced for it."""

import abc
import functools
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgsub._numba import Holder, helpers_awake, run_bands
from bgsub._threads import exclusive
from bgsub.detectors.adaptive._jit.blocks import (
    BLOCK,
    DITHERS,
    State,
    as_image,
    count_blocks,
)
from bgsub.detectors.adaptive._jit.update import Masks
from bgsub.detectors.adaptive.final_mask import Masked, Pictures, Seen, reduced_side, scaled_side
from bgsub.detectors.adaptive.reduced import (
    Squares,
    add_where_moving,
    enlarge,
    enlarge_mask,
    find_moving,
    find_scales,
    make_pictures,
    reduce_frame,
    reduce_mask,
    reduced_shape,
)
from bgsub.detectors.adaptive.shadows import Colours, Levels
from bgsub.detectors.adaptive.stages import MOVING
from bgsub.detectors.adaptive.state import FULL, SPANS, make_arrays, make_observation
from bgsub.detectors.kernel_bank import Judgement, KernelBank, aligned_zeros
from bgsub.detectors.learning import Learning
from bgsub.detectors.model_file import Snapshot, Span, check_shape, check_size, check_state
from bgsub.detectors.opencv.names import FixedShadowValue, FrameMemory
from bgsub.detectors.pixel_state import PixelState
from bgsub.frames import Frame, Mask, Score
from bgsub.stages import StageTrace

__all__ = ["NO_FRAME", "TAU", "AdaptiveModel"]

TAU = np.float32(0.5)
"""Least kernel value for a projection."""
_HALF_BOX = math.sqrt(-math.log(TAU) / 3) / 255  # of `AdaptiveModel._half_box`, for a width of 1
_INNER = "reduced_"  # begins the names of the inner detector's arrays and numbers
_MOVING_INTERVAL = 8  # frames between two searches for where the background moves
NO_FRAME = np.empty((0, 0), np.uint8)
"""Stands for a frame where there is none."""


class Units(NamedTuple):
    """Grey levels and distances in the units of the frames, in the light of the scene."""

    white: float
    """The value that counts as white, so that grey levels are shares of it."""
    gain: np.float32
    """The factor from the squared distance to the exponent of two, for a width factor of 1."""
    least_width_gain: float
    """That from the squared distance of all channels, at the least width."""
    box: Any
    """The largest difference per channel that still guarantees k > tau at the smallest width; of the frames' dtype."""


class FinalMask(NamedTuple):
    """Memory for the final mask of a frame, and what is written with it."""

    masked: Masked
    masks: Masks


@functools.lru_cache(maxsize=64)  # asked for in each step
def _find_units(
    dtype: np.dtype[Any],
    channels: int,
    white: float,
    gain: np.float32,
    half_box: float,
    brightness: float,
    base: float,
) -> Units:
    white *= brightness
    gain = gain if brightness == 1.0 else np.float32(gain / brightness**2)
    most = 0.999 * half_box * (base * white)  # keeps clear of the rounding of exponents
    box = dtype.type(most if dtype.char == "f" else min(most, 256**dtype.itemsize - 1))
    return Units(white, gain, float(gain) * (1 if channels == 3 else 3) / base**2, box)


class AdaptiveModel(FixedShadowValue, FrameMemory, KernelBank):
    """The state of the adaptive detector: how it starts, how pixels are looked into and how they are forgotten.

    Under a `quality` that reduces frames the state is that of an inner detector for reduced frames. The best quality
    has both, and the inner one adds what it finds where the background moves.
    """

    _reduced = False  # whether frames are means of squares of pixels of those of another detector

    def _forget(self) -> None:
        super()._forget()
        self._inner: AdaptiveModel | None = None
        self._known_parameters: dict[str, Any] = {}  # which the inner one has, too

    def _start(self, frame: Frame) -> None:
        scales = find_scales(self._parameters["quality"], (frame.shape[0], frame.shape[1]))
        if scales.whole:
            self._start_pixels(frame)
        if scales.side > 1:
            small = np.empty(reduced_shape(frame.shape, scales.side), frame.dtype)
            self._inner = inner = type(self)(**self._inner_parameters(scales.side))
            inner._scalars["frames"], inner._reduced = 0, True
            inner._start_pixels(small)
            inner._shape, inner._dtype = small.shape, small.dtype
            # Names in this detector, in the order of the inner one's, which does not change.
            self._inner_arrays = [_INNER + name for name in inner._arrays]
            self._inner_scalars = [_INNER + name for name in inner._scalars]
            self._gather()
            if scales.whole:
                self._arrays["moving"] = np.zeros(small.shape[:2], np.uint8)

    @exclusive
    def restore(self, model: Snapshot) -> None:
        """Take over the state of a saved model of the same parameters; see `Detector.restore`."""
        check_shape(model)
        scales = find_scales(self._parameters["quality"], (model.shape[0], model.shape[1]))
        kept = "colours" in model.arrays, _INNER + "colours" in model.arrays
        side = 1 if scales.whole else scales.side
        channels, reduced = math.prod(model.shape[2:]), reduced_shape(model.shape[:2], side)
        fitting = self._parameters["slots"], channels, count_blocks((reduced[0], reduced[1])), BLOCK
        colours = model.arrays.get("colours" if scales.whole else _INNER + "colours")
        # Before anything is allocated: what is held may be much less than the header says.
        if kept != (scales.whole, scales.side > 1) or colours is None or colours.shape != fitting:
            raise ValueError("its arrays do not fit its header")
        check_size(model, self._bytes_per_row(model))
        if self._shape is None:
            self._begin(np.broadcast_to(np.zeros((), model.dtype), model.shape))  # takes no memory
        check_state(model, self._arrays, self._scalars, self._spans())  # before a frame does
        super().restore(model)
        for detector in (self, self._inner):
            if detector is not None and "colours" in detector._arrays:  # what saves time is known of another model
                detector._calm[:] = 0
                detector._final.masked.occupied_rows[:], detector._previous.masked.occupied_rows[:] = 1, 1

    def _inner_parameters(self, side: int) -> dict[str, Any]:
        return {**self._parameters, "smoothing": reduced_side(self._parameters["smoothing"], side)}

    def _gather(self) -> None:
        """Make the state of the inner detector a part of this one's; its steps exchange arrays and change numbers."""
        if self._inner is not None:
            self._arrays.update(zip(self._inner_arrays, self._inner._arrays.values(), strict=True))
            self._scalars.update(zip(self._inner_scalars, self._inner._scalars.values(), strict=True))

    def _share_out(self) -> None:
        """Give the inner detector its numbers; its arrays are the same."""
        if self._inner is not None:
            self._inner._scalars.update(
                zip(self._inner._scalars, (self._scalars[name] for name in self._inner_scalars), strict=True)
            )

    def _step(self, frame: Frame, mask: Mask | None, score: Score | None, learning: Learning | None) -> None:
        scales = find_scales(self._parameters["quality"], (frame.shape[0], frame.shape[1]))
        largest = self if scales.whole or self._inner is None else self._inner
        # From before the first search on: a thread that fell asleep in one is woken late.
        with helpers_awake(largest._size, self._parameters["threads"]):
            if self._inner is None:
                self._step_pixels(frame, mask, score, learning)
            elif scales.whole:
                self._step_pixels(frame, mask, score, learning)
                if mask is not None or learning is not None:
                    self._step_beside(self._inner, scales.side, frame, mask, learning)
            else:
                self._step_inner(self._inner, scales.side, frame, mask, score, learning)

    def _step_beside(
        self, inner: "AdaptiveModel", side: int, frame: Frame, mask: Mask | None, learning: Learning | None
    ) -> None:
        """Do a step of the inner detector of one that judges each pixel, and add what it finds where much moves."""
        coarse = None if mask is None else np.empty_like(mask)
        self._step_inner(inner, side, frame, coarse, None, learning)
        if learning is not None and self._scalars["frames"] % _MOVING_INTERVAL == 0:
            square = scaled_side(self._parameters["smoothing"], self._size) // side
            factors, base = as_image(self._arrays["width_factors"], self._size), self._scalars["base"] * FULL
            find_moving(factors, base, side, square, self._arrays["moving"])
        if mask is not None and coarse is not None and not self._parameters["raw"]:
            add_where_moving(mask, coarse, self._arrays["moving"], side)
            self._keep_stage(MOVING, mask)

    def _step_inner(
        self,
        inner: "AdaptiveModel",
        side: int,
        frame: Frame,
        mask: Mask | None,
        score: Score | None,
        learning: Learning | None,
    ) -> None:
        """Do a step of the inner detector, and give its results the size of the frame."""
        small = reduce_frame(frame, side, self._parameters["threads"])
        small_mask = None if mask is None else np.empty(small.shape[:2], np.uint8)
        small_score = None if score is None else np.empty(small.shape[:2], np.float32)
        if learning is not None and learning.where is not None:
            learning = Learning(learning.rate, reduce_mask(learning.where, side))
        if self._known_parameters is not self._parameters:  # `change` makes new ones
            self._known_parameters, inner._parameters = self._parameters, self._inner_parameters(side)
        inner._roi = None if self._roi is None else reduce_mask(self._roi, side)
        whole = "colours" in self._arrays
        inner.trace = None if self.trace is None or whole else StageTrace()
        inner._step_pixels(small, small_mask, small_score, learning)
        inner._scalars["frames"] += 0 if learning is None else 1
        if score is not None and small_score is not None:
            enlarge(small_score, score, side, smooth=False)
        threads = self._parameters["threads"]
        pictures = make_pictures(frame, small, inner._units.least_width_gain)
        if inner.trace is not None:
            for stage, found in inner.trace.steps:
                large = np.empty(frame.shape[:2], np.uint8)
                enlarge_mask(found, large, side, threads, pictures)
                self._keep_stage(stage, large)
        if mask is not None and small_mask is not None:
            enlarge_mask(small_mask, mask, side, threads, pictures)

    @abc.abstractmethod
    def _step_pixels(self, frame: Frame, mask: Mask | None, score: Score | None, learning: Learning | None) -> None:
        """Do a step with a model of each pixel, as `_step`."""

    @exclusive
    def inspect(self, frame: Frame, row: int, column: int) -> PixelState:
        """Return the expansion of one pixel and how it judges the pixel's colour; see `Detector.inspect`.

        Where frames are reduced, these are those of the square of pixels around it.
        """
        if self._inner is None or "colours" in self._arrays:
            return super().inspect(frame, row, column)
        self._check_pixel(frame, row, column)
        side = find_scales(self._parameters["quality"], (frame.shape[0], frame.shape[1])).side
        return self._inner.inspect(reduce_frame(frame, side), row // side, column // side)

    @exclusive
    def background_image(self) -> Frame:
        """Return the most likely background; see `Detector.background_image`."""
        if self._inner is None or "colours" in self._arrays:
            return super().background_image()
        shape, dtype = self._need_state()
        background = np.empty(shape, dtype)
        side = find_scales(self._parameters["quality"], (shape[0], shape[1])).side
        enlarge(self._inner.background_image(), background, side, smooth=True)
        return background

    def _bytes_per_row(self, model: Snapshot) -> int:
        quality = self._parameters["quality"]
        scales = find_scales(quality, (model.shape[0], model.shape[1]))
        if scales.whole:
            return super()._bytes_per_row(model)
        return super()._bytes_per_row(model) * find_scales(quality, (16, 64)).side ** 2 // scales.side**2

    def _start_pixels(self, frame: Frame) -> None:
        size = (frame.shape[0], frame.shape[1])
        channels = frame.shape[2] if frame.ndim == 3 else 1
        self._arrays = make_arrays(size, channels, self._parameters["slots"], frame.dtype)
        self._scalars |= {"scale": 1.0, "flooded": 0, "threshold": self._parameters["threshold"]}
        # Of the noise, -1 before it was measured; steps between blocks of a codec; least width factor.
        self._scalars |= {"sigma": -1.0, "steps": 0.0, "base": 1.0}
        # Brightness of the scene, as a share of an ordinary one; what fog adds to the frame, in grey levels; whether
        # the camera shows colours.
        self._scalars |= {"brightness": 1.0, "black": 0.0, "coloured": float(channels > 1)}
        self._scalars |= {"brighter": 0.0, "brighter_alike": 0.0}  # counts of `Colours`
        self._scalars |= {"share": 0.0, "sudden": 0}  # running mean of the foreground's; measurements far above it
        # Of the edges of frames and background; the frames in which the camera last looked elsewhere, or moved.
        self._scalars |= {"likeness": 0.0, "usual_likeness": 0.0, "turned": 0, "moved": 0}
        self._scalars |= {"moved_down": 0, "moved_right": 0}  # by which it moved without a rest
        # The frames in which the camera was last seen elsewhere, and searched for; frames between two searches. Mean
        # likeness under the offsets found, of how many; frames in the mean of its places and of their squares.
        self._scalars |= {"shaken": 0, "sought": 0, "rest": 1, "edges": 0.0, "looks": 0, "placed": 0}
        # Discounted sums of the pixels of masks and of those that were none before; the frame of the last search. The
        # one until which highlights are looked for in all frames. How many pixels have a background that may yet be
        # taken back.
        self._scalars |= {"foreground": 0.0, "appeared": 0.0, "searched": 0, "lit_until": 0, "replaced_px": 0}
        self._unseen: Mask | None = None  # what came into view when the camera was turned
        self._filmed: Frame = NO_FRAME  # during a step its frame as it came, before it was steadied
        # The rest is not part of the model: each step writes it before reading it, or it saves time only.
        self._size, self._hold = size, Holder()
        self._seen = seen = make_observation(size, channels, frame.dtype)
        # Views of the planes of the frame and of the learned background, the colours of the heaviest slot.
        self._planes = seen.planes.reshape(channels, -1), self._arrays["colours"][0].reshape(channels, -1)
        self._images = Seen(*(as_image(each, size) for each in (seen.raw, seen.faint, seen.distance)))
        self._calm = np.zeros_like(self._seen.settled)
        self._state = State(**{name: self._arrays[name] for name in State._fields if name != "calm"}, calm=self._calm)
        self._squares = Squares(*(self._arrays[f"square_{name}"] for name in Squares._fields))
        self._pictures = Pictures(self._images.raw, self._images.faint, *self._planes)
        self._pictures_with_squares = self._pictures._replace(raw=np.empty(size, np.uint8))
        self._unfilled, self._faint_votes, self._kinds = (np.empty(size, np.uint8) for _ in range(3))
        self._shown_rows = np.empty(size[0], np.uint8)
        self._cells = np.empty_like(self._arrays["static"])
        self._final, self._previous = self._make_final_masks()
        dither = np.random.default_rng(0).random((DITHERS, BLOCK), np.float32)
        self._dither = dither if frame.dtype != np.float32 else np.zeros_like(dither)

    def _make_final_masks(self) -> tuple[FinalMask, FinalMask]:
        """Return memory for the final masks of two frames in turn; that of the second one is the state's."""
        blocks = aligned_zeros(self._seen.raw.shape, np.uint8), self._arrays["previous_mask"]
        images = [as_image(each, self._size) for each in blocks]
        either, near = np.empty(self._size[0], np.uint8), aligned_zeros(self._seen.raw.shape, np.uint8)
        smaller, made = np.empty((2, *self._size), np.uint8), []
        for this, image, previous in zip(blocks, images, reversed(images), strict=True):
            rows = np.ones(self._size[0], np.uint8)
            masked = Masked(image, rows, self._cells, self._unfilled, self._faint_votes, smaller)
            made.append(FinalMask(masked, Masks(this, image, previous, either, near)))
        return made[0], made[1]

    def _spans(self) -> dict[str, Span]:
        spans = super()._spans() | SPANS
        spans |= {_INNER + name: span for name, span in spans.items()}
        return {name: span for name, span in spans.items() if name in self._arrays or name in self._scalars}

    def _judgement(self, row: int, column: int) -> Judgement:
        return Judgement("g", self._parameters["threshold"], "threshold")

    def _width_factor(self, row: int, column: int) -> float:
        factor = float(as_image(self._arrays["width_factors"], self._size)[row, column]) / FULL
        return factor * self._scalars["brightness"] / (1.0 if len(self._seen.planes) == 3 else math.sqrt(3.0))

    def _pixel(self, row: int, column: int) -> tuple[NDArray[Any], NDArray[Any]]:
        block, offset = divmod(row * self._size[1] + column, BLOCK)
        return self._arrays["colours"][:, :, block, offset], self._arrays["coefficients"][:, block, offset]

    def _expansion(self) -> tuple[NDArray[Any], NDArray[Any]]:
        colours, coefficients = self._arrays["colours"], self._arrays["coefficients"]
        return (
            np.ascontiguousarray(colours.transpose(2, 1, 0, 3)),
            np.ascontiguousarray(coefficients.transpose(1, 0, 2)),
        )

    def _fit_units(self) -> None:
        """Fit the units to the light that the scene has now, and to the least width."""
        planes, scalars = self._seen.planes, self._scalars
        dtype = planes.dtype
        given = self._white(dtype), self._gain(dtype), self._half_box()
        self._units = _find_units(dtype, len(planes), *given, scalars["brightness"], scalars["base"])

    def _levels(self) -> Levels:
        unit, scalars = self._white(self._seen.planes.dtype) / 255, self._scalars
        noise = unit * scalars["sigma"] if scalars["sigma"] >= 0 else math.inf
        return Levels(self._units.white, unit * scalars["black"], noise)

    def _half_box(self) -> float:
        """Return half a side of the cube round a support vector inside which k > tau at `width`; white is 1."""
        return _HALF_BOX * float(self._parameters["width"])

    def _colours(self) -> Colours:
        scalars = self._scalars
        return Colours(scalars["brighter"], scalars["brighter_alike"], scalars["coloured"] != 0)

    def _run_blocks(self, function: Any, *arguments: Any, held: Any) -> None:
        size = (len(self._seen.raw), BLOCK)
        run_bands(function, size, self._parameters["threads"], *arguments, held=held)
