"""The adaptive detector: a kernel density a pixel whose support vectors are projected and whose width adapts."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._numba import run_bands
from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit import blocks as units
from bgsub.detectors.adaptive._jit.blocks import BLOCK
from bgsub.detectors.adaptive._jit.feedback import unsettle
from bgsub.detectors.adaptive._jit.score import look
from bgsub.detectors.adaptive._jit.update import advance
from bgsub.detectors.adaptive.block_images import as_blocks, as_image, count_blocks
from bgsub.detectors.adaptive.final_mask import (
    FINE_PX,
    Outlines,
    clean,
    find_calm,
    find_outlines,
    make_calm,
    scaled_side,
)
from bgsub.detectors.adaptive.ghosts import find_ghosts
from bgsub.detectors.adaptive.lighting import find_relit, find_shadows
from bgsub.detectors.kernel_bank import RATE, SLOTS, THREADS, WHITE, WIDTH, KernelBank
from bgsub.detectors.parameters import Parameter
from bgsub.frames import Frame, Mask, Score

__all__ = ["Adaptive"]

_TAU = np.float32(0.5)  # least kernel value for a projection
_FACTOR_RATE = 0.02
_YOUNG = 19.0  # widths grow so many times faster at the start,
_YOUNG_FRAMES = 200.0  # fading with this time constant
_ONE = int(units.FACTOR_ONE)
_FLICKER_S = 6.0  # foreground that has stayed so long and still blinks is restless background
_CALM_INTERVAL = 8  # frames between two looks at what is calm
_GHOST_INTERVAL = 2  # and between two searches for ghosts,
_GHOST_PX = 5  # the side of the smallest of them, for 320x240
_LIGHT_INTERVAL = 10  # and for changes of light
_OLDEST = 65535  # ages are counted in 16 bits
_FLOOD = 0.6  # share of foreground above which the scene is taken to have changed as a whole,
_FLOOD_S = 0.5  # when it lasts this long
_SHADOW = 127
_PIECES = 2  # bands a thread takes in turn: one may be quiet where another is full of foreground


class Adaptive(KernelBank):
    """Kernel density of the background at every pixel, with widths, memory and mask feeding back on each other.

    Each pixel keeps a few colours s_j with coefficients a_j and judges a colour x by its density

        g(x) = sum_j a_j exp(-|s_j - x|^2 / (R width)^2) / sum_j a_j,

    in [0, 1]; the raw mask is g < threshold. What makes it accurate:

    1. *Projection* (Projectron; Orabona, Keshet, Caputo 2008, on one support vector): a learned colour with kernel
       value k above 0.5 to the heaviest s_j, else to the nearest, adds k to a_j and draws s_j towards it; any other
       takes the place of the smallest coefficient, with 1. Coefficients fade by 1 - 1 / memory a frame (NORMA;
       Kivinen, Smola, Williamson 2004). So few slots hold minutes.
    2. *A width per pixel*, after the feedback of SuBSENSE (St-Charles, Bilodeau, Bergevin 2015): v counts blinks of
       the raw mask away from foreground (+1, else -0.1, at least 0.1); with the running mean d of clip(1 - g /
       threshold, 0, 1), R in [1, 8] grows by 0.02 (v - 1), if positive, while R < (1 + 4 d)^2 and else shrinks by
       0.01 / v. The 1 is for what passes once. R grows up to twenty times faster in the first ten seconds. Moving
       leaves and water become background. Foreground that blinks for more than six seconds counts as well.
    3. *Final mask*: the median of the raw mask over a large square, and over a small one where the neighbourhood
       is calm (mean of R + 0.3 (v - 0.1) below 1.1); enclosed holes are filled. Sides grow with the frame's area to
       the power 0.35.
    4. *Conservative learning*: only final background learns, and foreground older than `absorb_s`, which then
       gets half of the density at once.
    5. *Ghosts*: regions, or parts of them, whose outline is an edge in the learned background but not in the frame
       are forgotten.
    6. *Light*: regions of more than 2 % of the frame whose texture is that of the background under another light
       are learned anew; after half a second with more than 60 % foreground everything is.

    The state takes slots * (channels + 4) + 10 bytes a pixel for uint8 frames: 31 for three slots in colour.

    Parameters
    ----------
    slots : int
        Support vectors a pixel, 1 to 254. More cost time and serve backgrounds of many colours; 2 are fast.
    width : float
        Kernel width in grey levels over three channels, on a scale where white is 255, where a pixel is calm.
    threshold : float
        Density below which a pixel is raw foreground, in (0, 1). Lower is less sensitive.
    memory_s : float
        About how many seconds a colour is remembered.
    absorb_s : float
        Seconds until foreground that stays becomes background; 0 for never. Never more than 65535
        frames, 43 minutes at 25 a second.
    rate_hz : float
        Frames per second, which turns these into frames.
    median : int
        Side of the large median in pixels of a 320x240 frame, odd; 1 for none, which also omits the small one.
    fill : bool
        Whether background that foreground encloses becomes foreground.
    ghosts : bool
        Whether ghosts are looked for.
    detect_shadows : bool
        Whether shadows, darkened background with its colour and texture, are reported as 127, as OpenCV does.
        They are not learned.
    raw : bool
        Return the raw mask from `apply`; the final one is computed and fed back all the same.
    white : float, optional
        Value of white; by default 255, 65535 or 1.0 for uint8, uint16 or float32.
    threads : int
        Threads to use; 0 for one a processor. Results do not depend on it.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> model = Adaptive(threads=1)
    >>> street = np.full((60, 80, 3), 90, np.uint8)
    >>> for _ in range(10):
    ...     mask = model.apply(street)
    >>> street[20:40, 30:50] = 200
    >>> mask = model.apply(street)
    >>> int(mask[30, 40]), int(mask[5, 5])
    (255, 0)
    """

    name = "adaptive"
    own_postprocess = True
    PARAMETERS = (
        SLOTS,
        WIDTH,
        Parameter(
            "threshold", float, "density below which a pixel is raw foreground", 0, 1, low_open=True, high_open=True
        ),
        Parameter("memory_s", float, "about how long a colour is remembered", 0, low_open=True, unit="s"),
        Parameter("absorb_s", float, "until foreground that stays becomes background; 0 for never", 0, unit="s"),
        RATE,
        Parameter("median", int, "side of the large median, for 320x240; odd, 1 for none", 1, 99, unit="px"),
        Parameter("fill", bool, "fill background that foreground encloses"),
        Parameter("ghosts", bool, "forget what left an outline in the background only"),
        Parameter("detect_shadows", bool, "report shadows as 127"),
        Parameter("raw", bool, "return the raw mask"),
        WHITE,
        THREADS,
    )

    def __init__(
        self,
        *,
        slots: int = 3,
        width: float = 30.0,
        threshold: float = 0.18,
        memory_s: float = 40.0,
        absorb_s: float = 60.0,
        rate_hz: float = 25.0,
        median: int = 15,
        fill: bool = True,
        ghosts: bool = True,
        detect_shadows: bool = False,
        raw: bool = False,
        white: float | None = None,
        threads: int = 0,
    ) -> None:
        super().__init__(
            slots=slots,
            width=width,
            threshold=threshold,
            memory_s=memory_s,
            absorb_s=absorb_s,
            rate_hz=rate_hz,
            median=median,
            fill=fill,
            ghosts=ghosts,
            detect_shadows=detect_shadows,
            raw=raw,
            white=white,
            threads=threads,
        )
        if self._parameters["median"] % 2 == 0:
            raise ValueError(f"median must be odd, got {median}")

    @property
    def reports_shadows(self) -> bool:
        """Whether masks may hold 127, for shadows; a pipeline makes them background."""
        return bool(self._parameters["detect_shadows"])

    def _start(self, frame: Frame) -> None:
        size = (frame.shape[0], frame.shape[1])
        channels, slots = (frame.shape[2] if frame.ndim == 3 else 1), self._parameters["slots"]
        count = count_blocks(size)
        blocks = (count, BLOCK)
        self._arrays = {
            "colours": np.zeros((slots, channels, *blocks), frame.dtype),
            "coefficients": np.zeros((slots, *blocks), np.float32),
            "dominant": np.zeros(count, np.uint8),
            "factors": np.full(blocks, _ONE, np.uint16),
            "restless": np.full(blocks, units.QUIET, np.uint16),
            "distances": np.zeros(blocks, np.uint16),
            "previous": np.zeros(blocks, np.uint8),
            "ages": np.zeros(blocks, np.uint16),
            "before": np.zeros(blocks, np.uint8),
            "calm": make_calm(size),
        }
        self._scalars = {"frames": 0, "scale": 1.0, "flooded": 0, "threshold": self._parameters["threshold"]}
        # Scratch is not part of the model: each step writes it before reading it. Which blocks are quiet is found
        # anew by a loaded model, as it changes the time of a step only.
        self._size = size
        self._planes = np.zeros((channels, *blocks), frame.dtype)
        self._density = np.empty(blocks, np.float32)
        self._raw, self._distance, self._nearest, self._values = (np.empty(blocks, np.uint8) for _ in range(4))
        self._settled, self._quiet = np.zeros(count, np.uint8), np.zeros(count, np.uint8)
        self._final, self._moving = np.zeros(blocks, np.uint8), np.zeros(blocks, np.uint8)
        self._scratch = np.empty(size, np.uint8)
        self._filled, self._filled_before = (np.ones(size[0], np.uint8) for _ in range(2))
        dither = np.random.default_rng(0).random((units.DITHERS, BLOCK), np.float32)
        self._dither = dither if frame.dtype != np.float32 else np.zeros_like(dither)

    def _judgement(self, row: int, column: int) -> tuple[str, float, str]:
        return "g", self._parameters["threshold"], "threshold"

    def _width_factor(self, row: int, column: int) -> float:
        factor = float(as_image(self._arrays["factors"], self._size)[row, column]) / _ONE
        return factor / (1.0 if len(self._planes) == 3 else math.sqrt(3.0))

    def _pixel(self, row: int, column: int) -> tuple[NDArray[Any], NDArray[Any]]:
        block, lane = divmod(row * self._size[1] + column, BLOCK)
        return self._arrays["colours"][:, :, block, lane], self._arrays["coefficients"][:, block, lane]

    def _expansion(self) -> tuple[NDArray[Any], NDArray[Any]]:
        colours, coefficients = self._arrays["colours"], self._arrays["coefficients"]
        return (
            np.ascontiguousarray(colours.transpose(2, 1, 0, 3)),
            np.ascontiguousarray(coefficients.transpose(1, 0, 2)),
        )

    def _run(self, kernel: Any, *arguments: Any) -> None:
        run_bands(kernel, (self._raw.shape[0], BLOCK), self._parameters["threads"], *arguments, pieces=_PIECES)

    def _box(self, dtype: np.dtype[Any]) -> Any:
        """Return the difference that each of three channels may have at a kernel value of tau and the least width."""
        half = math.sqrt(-math.log(_TAU) / 3) * self._parameters["width"] * self._white(dtype) / 255
        most = 0.999 * half  # keeps clear of the rounding of exponents
        return dtype.type(most if dtype.char == "f" else min(most, 256**dtype.itemsize - 1))

    def _named(self, *names: str) -> list[NDArray[Any]]:
        return [self._arrays[name] for name in names]

    def _step(self, frame: Frame, rate: float, where: Mask | None, mask: Mask | None, score: Score | None) -> None:
        parameters, threshold = self._parameters, np.float32(self._parameters["threshold"])
        # Which blocks one slot dominates was found under the threshold of that time.
        stale = self._scalars["threshold"] != parameters["threshold"]
        self._run(
            look,
            frame.reshape(-1),
            self._planes,
            *self._named("colours", "coefficients", "factors"),
            np.zeros_like(self._settled) if stale else self._arrays["dominant"],
            self._gain(frame.dtype),
            threshold,
            _TAU,
            self._box(frame.dtype),
            score is not None,
            self._density,
            self._raw,
            self._distance,
            self._nearest,
            self._values,
            self._settled,
        )
        raw = as_image(self._raw, self._size)
        self._confine(raw, None)
        if score is not None:
            np.subtract(np.float32(1), as_image(self._density, self._size) / threshold, out=score)
            self._confine(None, score)
        if mask is None and rate == 0:
            return
        final, side = as_image(self._final, self._size), scaled_side(parameters["median"], self._size)
        fine = scaled_side(FINE_PX, self._size)
        fill, threads = parameters["fill"], parameters["threads"]
        outlines = clean(raw, self._arrays["calm"], side, fine, fill, threads, final, self._filled, self._scratch)
        if self._roi is not None:
            self._confine(final, None)
            outlines = find_outlines(final, self._filled)
        if rate != 0:
            self._learn(rate, self._allowed(where), final, outlines)
        if mask is None:
            return
        mask[:] = raw if parameters["raw"] else final
        if parameters["detect_shadows"]:
            mask[find_shadows(final, *self._pictures(), self._white(frame.dtype)) != 0] = _SHADOW

    def _learn(self, rate: float, where: Mask | None, final: Mask, outlines: Outlines) -> None:
        """Advance the model by one frame, and take ghosts out of its final mask."""
        arrays, scalars, parameters = self._arrays, self._scalars, self._parameters
        frames = scalars["frames"]
        if scalars["threshold"] != parameters["threshold"]:
            scalars["threshold"] = parameters["threshold"]
            arrays["dominant"][:] = 0
        if self._is_flooded(final):
            self._drop(np.full(final.shape, 255, np.uint8), where, final)
        else:
            white = self._white(self._planes.dtype)
            if parameters["ghosts"] and frames % _GHOST_INTERVAL == 0 and outlines:
                least = scaled_side(_GHOST_PX, self._size) ** 2
                self._drop(find_ghosts(final, outlines, *self._pictures(), white, least), where, final)
            if frames % _LIGHT_INTERVAL == 0:
                self._drop(find_relit(final, outlines, *self._pictures(), white), where, final)
        fading = 1.0 - (min(1.0, 1.0 / (parameters["memory_s"] * parameters["rate_hz"])) if rate < 0 else rate)
        fading = max(fading, 1e-3)  # a rate just below 1 must not make the scale 0
        scalars["scale"] *= fading
        outcome, everywhere = self._final, where is None
        self._run(
            advance,
            self._planes,
            *self._named("colours", "coefficients", "dominant"),
            *self._named("factors", "restless", "distances", "previous", "ages"),
            self._quiet,
            self._raw,
            self._distance,
            self._nearest,
            self._values,
            self._settled,
            outcome,
            final,
            as_image(arrays["before"], self._size),
            self._filled | self._filled_before,
            self._moving,
            outcome if where is None else as_blocks(where, 255),
            everywhere,
            self._gain(self._planes.dtype),
            np.float32(_FACTOR_RATE * (1.0 + _YOUNG * math.exp(-frames / _YOUNG_FRAMES))),
            self._in_frames(_FLICKER_S),
            np.float32(parameters["threshold"] / _TAU),
            np.float32(1.0 / scalars["scale"]),
            np.float32(1.0 / fading),
            self._in_frames(parameters["absorb_s"]),
            self._dither,
            np.int32(frames),
        )
        arrays["before"], self._final = self._final, arrays["before"]
        self._filled, self._filled_before = self._filled_before, self._filled
        self._fade(1.0)
        if frames % _CALM_INTERVAL == 0:
            factors, restless = (as_image(array, self._size) for array in self._named("factors", "restless"))
            side = scaled_side(parameters["median"], self._size)
            find_calm(factors, restless, side, parameters["threads"], arrays["calm"])
        scalars["frames"] += 1

    def _is_flooded(self, final: Mask) -> bool:
        """Tell whether so much has been foreground for so long that the scene must have changed."""
        inside = final.size if self._roi is None else cv2.countNonZero(self._roi)
        most = np.count_nonzero(self._filled) * final.shape[1]  # counting all pixels takes longer
        flooded = most > _FLOOD * inside and cv2.countNonZero(final) > _FLOOD * inside
        self._scalars["flooded"] = self._scalars["flooded"] + 1 if flooded else 0
        if self._scalars["flooded"] <= _FLOOD_S * self._parameters["rate_hz"]:
            return False
        self._scalars["flooded"] = 0
        return True

    def _pictures(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the planes of the frame and of the learned background, the colours of the heaviest slot."""
        planes = self._planes.reshape(len(self._planes), -1)
        return planes, self._arrays["colours"][0].reshape(planes.shape)

    def _drop(self, dropped: Mask | None, where: Mask | None, final: Mask) -> None:
        """Take pixels, if they may change, out of the final mask and forget them after `look`: they learn the frame."""
        if dropped is None:
            return
        if where is not None:
            dropped = np.bitwise_and(dropped, where)
        final[dropped != 0] = 0
        blocks = as_blocks(dropped)
        found = blocks != 0
        touched = found.any(1)
        complete: Any = unsettle
        complete(
            0,
            len(touched),
            self._planes,
            *self._named("colours", "factors"),
            self._gain(self._planes.dtype),
            self._distance,
            self._nearest,
            self._values,
            self._settled,
            blocks,
            blocks,
            True,
            np.empty(BLOCK, np.float32),
        )
        self._settled[touched] = units.FORGOTTEN
        self._nearest[found] = units.NONE
        self._arrays["coefficients"][:, found] = 0
        self._arrays["dominant"][touched] = 0
        self._arrays["factors"][found] = _ONE
        self._arrays["restless"][found] = units.QUIET
        self._arrays["distances"][found] = 0

    def _in_frames(self, seconds: float) -> np.int32:
        return np.int32(min(_OLDEST, math.ceil(seconds * self._parameters["rate_hz"])))
