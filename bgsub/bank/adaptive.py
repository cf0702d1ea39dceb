"""The adaptive detector: a kernel density a pixel whose support vectors are projected and whose width adapts."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.bank import _adaptive_kernels
from bgsub.bank._ghosts import find_ghosts
from bgsub.bank.kernel_bank import RATE, SLOTS, THREADS, WHITE, WIDTH, KernelBank
from bgsub.bank.parameters import Parameter
from bgsub.frames import Frame, Mask, Score
from bgsub.postprocess import fill_holes, median

__all__ = ["Adaptive"]

# Sides in pixels are for frames of this area and grow with it to this power: less than the 0.5 of a picture that is
# enlarged, because larger frames also show smaller things.
_REFERENCE_PX, _GROWTH = 320 * 240, 0.35
_FINE = 7  # side of the median where the neighbourhood is calm
_NEAR_PX = 7  # dilation that keeps outlines of foreground out of the count of blinks; outlines do not grow with frames
_CALM = 1.1  # largest mean factor of the width in a calm neighbourhood
_CALM_REACH = 6  # side of that neighbourhood, in sides of the median
_FACTOR_RATE = 0.01
_YOUNG = 19.0  # widths grow so many times faster at the start,
_YOUNG_FRAMES = 100.0  # fading with this time constant
_GHOST_INTERVAL = 2  # frames between two searches
_OLDEST = 65535  # ages are counted in 16 bits
_FLOOD = 0.6  # share of foreground above which the scene is taken to have changed as a whole,
_FLOOD_S = 0.5  # when it lasts this long

_EVERYWHERE = np.empty((0, 0), np.uint8)


class Adaptive(KernelBank):
    """Kernel density of the background at every pixel, with widths, memory and mask feeding back on each other.

    Each pixel keeps a few colours s_j with coefficients a_j and judges a colour x by its density

        g(x) = sum_j a_j exp(-|s_j - x|^2 / (R width)^2) / sum_j a_j,

    in [0, 1]; the raw mask is g < threshold. What makes it accurate:

    1. *Projection* (Projectron; Orabona, Keshet, Caputo 2008, on the nearest support vector only): a learned colour
       with kernel value k above 0.5 to the nearest s_j adds k to a_j and draws s_j towards it; any other takes the
       place of the smallest coefficient, with 1. Coefficients fade by 1 - 1 / memory a frame (NORMA; Kivinen,
       Smola, Williamson 2004). So four slots hold minutes.
    2. *A width per pixel*, the feedback of SuBSENSE (St-Charles, Bilodeau, Bergevin 2015): v counts blinks of the
       raw mask away from foreground (+1, else -0.1, at least 0.1); with the running mean d of clip(1 - g /
       threshold, 0, 1), R in [1, 8] grows by 0.01 (v - 0.1) while R < (1 + 8 d)^2 and else shrinks by 0.01 / v. It
       grows up to twenty times faster in the first hundred frames. Moving leaves and water become background.
    3. *Final mask*: the median of the raw mask over a large square, and over a smaller one where the neighbourhood
       is calm (mean R below 1.1); enclosed holes are filled. Sides grow with the frame's area to the power 0.35.
    4. *Conservative learning*: only final background learns, and foreground older than `absorb_s`, which then
       gets half of the density at once.
    5. *Ghosts*: regions whose outline is an edge in the learned background but not in the frame are forgotten.
    6. *Scene changes*: after half a second with more than 60 % foreground everything is learned anew.

    The state takes slots * (channels + 4) + 16 bytes a pixel for uint8 frames: 44 for four slots in colour.

    Parameters
    ----------
    slots : int
        Support vectors a pixel, 1 to 254.
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
        Parameter("raw", bool, "return the raw mask"),
        WHITE,
        THREADS,
    )

    def __init__(
        self,
        *,
        slots: int = 4,
        width: float = 30.0,
        threshold: float = 0.18,
        memory_s: float = 40.0,
        absorb_s: float = 60.0,
        rate_hz: float = 25.0,
        median: int = 13,
        fill: bool = True,
        ghosts: bool = True,
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
            raw=raw,
            white=white,
            threads=threads,
        )
        if self._parameters["median"] % 2 == 0:
            raise ValueError(f"median must be odd, got {median}")

    def _initial_arrays(self, shape: tuple[int, int], colours: NDArray[Any]) -> dict[str, NDArray[Any]]:
        # Scratch is not part of the model: each step writes it before reading it.
        self._density, self._largest = np.empty(shape, np.float32), np.empty(shape, np.float32)
        self._raw, self._nearest = np.empty(shape, np.uint8), np.empty(shape, np.uint8)
        self._weakest, self._mass = np.empty(shape, np.uint8), np.empty(shape, np.float32)
        generator = np.random.default_rng(0)
        dither = generator.random(shape[1] + _adaptive_kernels.DITHER_PERIOD, np.float32)
        self._dither = dither if colours.dtype != np.float32 else np.zeros_like(dither)
        self._scale_px = (shape[0] * shape[1] / _REFERENCE_PX) ** _GROWTH
        return {
            "factors": np.ones(shape, np.float32),
            "restless": np.full(shape, _adaptive_kernels.QUIET, np.float32),
            "distances": np.zeros(shape, np.float32),
            "previous": np.zeros(shape, np.uint8),
            "near": np.zeros(shape, np.uint8),
            "ages": np.zeros(shape, np.uint16),
        }

    def _initial_scalars(self) -> dict[str, float]:
        return {"flooded": 0}

    def _judgement(self, row: int, column: int) -> tuple[str, float, str]:
        return "g", self._parameters["threshold"], "threshold"

    def _width_factor(self, row: int, column: int) -> float:
        channels = self._arrays["colours"].shape[1]
        return float(self._arrays["factors"][row, column]) / (1.0 if channels == 3 else math.sqrt(3.0))

    def _step(self, frame: Frame, rate: float, where: Mask | None, mask: Mask | None, score: Score | None) -> None:
        image = frame[:, :, np.newaxis] if frame.ndim == 2 else frame
        threshold = self._parameters["threshold"]
        self._run_kernel(
            _adaptive_kernels.look,
            image,
            self._arrays["colours"],
            self._arrays["coefficients"],
            self._arrays["factors"],
            self._gain(frame.dtype),
            np.float32(threshold),
            self._density,
            self._raw,
            self._nearest,
            self._largest,
            self._weakest,
            self._mass,
        )
        self._confine(self._raw, None)
        if score is not None:
            np.subtract(np.float32(1), self._density / np.float32(threshold), out=score)
            self._confine(None, score)
        if mask is None and rate == 0:
            return
        final = self._clean(self._raw)
        if rate != 0:
            final = self._learn(frame, image, rate, self._allowed(where), final)
        if mask is not None:
            mask[:] = self._raw if self._parameters["raw"] else final

    def _clean(self, raw: Mask) -> Mask:
        """Return the final mask of a raw one."""
        side = self._side(self._parameters["median"])
        if side > 1:
            final = median(raw, side)
            fine = median(raw, min(self._side(_FINE), side))
            final = np.bitwise_or(final, np.bitwise_and(fine, self._calm(side)))
        else:
            final = raw.copy()
        if self._parameters["fill"]:
            final = fill_holes(final)
        self._confine(final, None)
        return final

    def _calm(self, side: int) -> Mask:
        """Tell where the mean factor of a wide neighbourhood is small; on a coarse grid, as it varies slowly."""
        height, width = self._raw.shape
        coarse = (max(1, width // 4), max(1, height // 4))
        factors = cv2.resize(self._arrays["factors"], coarse, interpolation=cv2.INTER_AREA)
        reach = (_CALM_REACH * side // 4) | 1
        mean = cv2.boxFilter(factors, -1, (reach, reach))
        calm = np.where(np.asarray(mean) < _CALM, np.uint8(255), np.uint8(0))
        return np.asarray(cv2.resize(calm, (width, height), interpolation=cv2.INTER_NEAREST), np.uint8)

    def _learn(self, frame: Frame, image: Frame, rate: float, where: Mask | None, final: Mask) -> Mask:
        """Advance the model by one frame and return its final mask, without ghosts."""
        arrays, scalars, parameters = self._arrays, self._scalars, self._parameters
        frames = scalars["frames"]
        if self._is_flooded(final):
            arrays["coefficients"][:] = 0
            self._largest[:] = self._mass[:] = 0
            final = np.zeros_like(final)
        elif parameters["ghosts"] and frames % _GHOST_INTERVAL == 0 and final.any():
            final = self._without_ghosts(frame, final)
        near = np.asarray(cv2.dilate(final, np.ones((_NEAR_PX, _NEAR_PX), np.uint8)), np.uint8)
        moving = np.bitwise_or(near, arrays["near"])
        arrays["near"] = near
        fading = 1.0 - (min(1.0, 1.0 / (parameters["memory_s"] * parameters["rate_hz"])) if rate < 0 else rate)
        fading = max(fading, 1e-3)  # a rate just below 1 must not make the scale 0
        scalars["scale"] *= fading
        self._run_kernel(
            _adaptive_kernels.adapt,
            image,
            arrays["colours"],
            arrays["coefficients"],
            arrays["factors"],
            arrays["restless"],
            arrays["distances"],
            arrays["previous"],
            arrays["ages"],
            self._density,
            self._raw,
            self._nearest,
            self._largest,
            self._weakest,
            self._mass,
            final,
            moving,
            _EVERYWHERE if where is None else where,
            np.float32(parameters["threshold"]),
            np.float32(_FACTOR_RATE * (1.0 + _YOUNG * math.exp(-frames / _YOUNG_FRAMES))),
            np.float32(1.0 / scalars["scale"]),
            np.float32(1.0 / fading),
            np.int32(min(_OLDEST, math.ceil(parameters["absorb_s"] * parameters["rate_hz"]))),
            self._dither,
            np.int32(frames * 2657 % _adaptive_kernels.DITHER_PERIOD),
        )
        self._fade(1.0)
        scalars["frames"] += 1
        return final

    def _is_flooded(self, final: Mask) -> bool:
        """Tell whether so much has been foreground for so long that the scene must have changed."""
        inside = final.size if self._roi is None else cv2.countNonZero(self._roi)
        flooded = cv2.countNonZero(final) > _FLOOD * inside
        self._scalars["flooded"] = self._scalars["flooded"] + 1 if flooded else 0
        if self._scalars["flooded"] <= _FLOOD_S * self._parameters["rate_hz"]:
            return False
        self._scalars["flooded"] = 0
        return True

    def _without_ghosts(self, frame: Frame, final: Mask) -> Mask:
        """Forget ghosts, so that the frame is learned there, and take them out of the mask."""

        def background(part: tuple[slice, slice]) -> Frame:
            strongest = self._arrays["coefficients"][part[0], :, part[1]].argmax(1)[:, np.newaxis, np.newaxis]
            colours = self._arrays["colours"][part[0], :, :, part[1]]
            return self._grey(np.take_along_axis(colours, strongest, 2)[:, :, 0].transpose(0, 2, 1))

        ghosts = find_ghosts(final, lambda part: self._grey(frame[part]), background, self._side(_FINE) ** 2)
        if ghosts is None:
            return final
        found = ghosts != 0
        self._arrays["coefficients"] *= ~found[:, np.newaxis]
        self._largest[found] = self._mass[found] = 0
        self._arrays["factors"][found] = 1
        self._arrays["restless"][found] = _adaptive_kernels.QUIET
        self._arrays["distances"][found] = 0
        return np.asarray(np.where(found, np.uint8(0), final), np.uint8)

    def _grey(self, part: Frame) -> Frame:
        """Turn a part of a frame or background into uint8 grey."""
        if part.dtype != np.uint8:
            part = np.clip(part * (255.0 / self._white(part.dtype)), 0, 255).astype(np.uint8)
        part = np.ascontiguousarray(part)
        if part.ndim == 2 or part.shape[2] == 1:
            return part.reshape(part.shape[:2])
        return np.asarray(cv2.cvtColor(part, cv2.COLOR_BGR2GRAY), np.uint8)

    def _side(self, pixels: int) -> int:
        """Scale a side, given for 320x240, to the frame; odd."""
        return 1 if pixels == 1 else max(3, round(pixels * self._scale_px) | 1)
