"""Noise of the camera, and the light on the whole scene and its changes, measured on a sample of the background."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgsub.detectors.adaptive._jit.blocks import BLOCK
from bgsub.detectors.adaptive._jit.light.exposure import (
    DARK,
    LEVELS,
    OCTAVE,
    Sample,
    count_ratios,
    find_median,
    find_spread,
    observe,
    weigh_gains,
)
from bgsub.detectors.adaptive._jit.light.relighting import Apart, OtherLight, Witness, relight

__all__ = [
    "DARKEST",
    "LEAST_BASE",
    "Exposure",
    "Light",
    "change_light",
    "follow_black",
    "follow_brightness",
    "follow_codec",
    "follow_noise",
    "least_width_factor",
    "make_sample",
    "measure",
]

_SAMPLES = 2000  # pixels
_LEAST = 200  # fewer say nothing
_MATCHING = 0.6  # a smaller share of pixels that match the background makes a change of light likely,
_SHIFT = 0.5  # or a median difference of so many standard deviations of the noise;
_NEARER = 1.5  # it is one if the background is nearer to so many times as many pixels under the other light as farther,
_ENOUGH = 0.4  # and matches this share of them
_MOST_SIGMA = 255.0
_MEDIAN_OF_NORMAL = 0.6745  # of the absolute value, in standard deviations
_NOISE_RATE = 0.1  # of the running mean of the standard deviation
_CODEC_SIGMAS = 2.0  # standard deviation of what codecs spoil where something moves, in steps between their blocks
_BASE_SIGMAS = 6.0  # the least width, in standard deviations of the noise,
LEAST_BASE = 0.5
"""And at least this share of `width`: noise that codecs remove comes back where something moves."""
_ORDINARY = 100.0  # mean grey level of the background below which a scene is dark
DARKEST = 0.1
"""Least brightness of a scene: below, the steps between the grey levels of a camera are all that there is."""
_BLACK_RATE = 0.05  # at which what is added to all of the frame is believed,
_BELOW = 1 / 3  # which is so far below the darkest that is seen, as a share of the distance from there to the mean,
_DOUBT = 1.25  # and leaves so many times as much light for widths, as if it were twice as far below,
_LEAST_SIGMAS = 3.0  # and kernels as wide as so many standard deviations of the noise
_NEW_BRIGHTNESS = 0.05  # relative change below which the last one is kept
_ROUNDING = 1.5  # grey levels by which channels of the same value may differ, for codecs round,
_FEW_COLOURED = 0.01  # and the share of pixels that may have colour for all that: a clock, a lamp


class Light(NamedTuple):
    """What brightness is measured against."""

    black: float
    """From `follow_black`, in grey levels."""
    noise: float
    """Its standard deviation, as a share of `width`."""


class Exposure(NamedTuple):
    """What one frame, and the background before it, say about camera and light."""

    sigma: float | None
    """Of the differences from the background around their median, in grey levels; None if too little was compared."""
    gains: NDArray[np.float32] | None
    """(D,): how many times brighter each channel has become at once; None if light has not changed."""
    darkest: float
    """Least brightness of the frame, in grey levels, as all that follow."""
    mean: float
    """Of the brightness of the frame."""
    steps: float
    """Between blocks of 8x8 pixels, beyond those of the scene."""
    learned: float | None
    """Mean brightness of the background, in the new light if it has changed; None if nothing was learned."""
    coloured: bool
    """Whether channels differ by two grey levels or more, so not by the rounding of codecs, in more than 1 % of it."""


def make_sample(
    frame: NDArray[Any], background: NDArray[Any], excluded: NDArray[np.uint8], size: tuple[int, int], white: float
) -> Sample:
    """Choose some 2000 pixels of (height, width), a grid; for the arrays see `Sample`."""
    step = max(1, round(math.sqrt(size[0] * size[1] / _SAMPLES)))
    return Sample(frame, background, excluded, *size, step, np.float32(255.0 / white))


def measure(sample: Sample, filmed: NDArray[Any], coefficients: NDArray[np.float32], box: float) -> Exposure:
    """Measure noise, whether the light on the whole scene has changed at once, and what else says how it is filmed.

    Noise is how far differences between frame and background are from their median. The median itself is light that
    changes too slowly or too little for a gain, and no reason for wider kernels.

    The gain of a channel is the median of the ratios of frame and background. The light has changed if under it the
    background is nearer to many more pixels than it is farther from, and matches enough of them, as it does not in
    another scene. How much nearer does not matter: noise and waves hide how well a gain explains the frame, but seldom
    that it does. It is tried where many pixels do not match, or where the median difference is a part of the noise
    that no chance brings about.

    Parameters
    ----------
    sample : Sample
    filmed : (H * W * D,) array
        The frame as it came, before it was steadied.
    coefficients : (at least H * W,) array
        0 for pixels that have learned nothing, which say nothing about the background.
    box : float
        Largest difference of a channel of a pixel that matches the background, in grey levels.

    Returns
    -------
    Exposure
        At night, and in the infrared, all channels are often the same: about that, and the brightness of the
        background, some 2000 values are asked.
    """
    channels, pixels = len(sample.background), sample.height * sample.width
    differences = np.empty((channels, 2 * LEVELS + 1), np.int64)
    every, rounding = max(1, pixels * channels // _SAMPLES), np.float32(_ROUNDING) / sample.unit
    most = np.float32(box)
    (compared, matched), (shift, spread), (darkest, mean), steps, (known, total, coloured) = observe(
        sample, filmed, coefficients, every, rounding, most, differences
    )
    learned = float(total) / (known * channels) * float(sample.unit) if known > 0 else None
    still = Exposure(None, None, darkest, mean, steps, learned, coloured > _FEW_COLOURED * known)
    if compared < _LEAST:
        return still
    sigma = _to_sigma(spread)
    if matched < _MATCHING * compared or shift > _SHIFT * sigma:
        histogram = np.empty((channels, 8 * OCTAVE), np.int64)
        count_ratios(sample, histogram)
        ratios = np.array([find_median(counts) for counts in histogram])
        gains = np.exp2((ratios - histogram.shape[1] // 2) / OCTAVE).astype(np.float32)
        explained, nearer, farther = weigh_gains(sample, gains, most, differences)
        if nearer > _NEARER * farther and explained > _ENOUGH * compared:
            lit = None if learned is None else (learned + float(DARK)) * float(gains.mean()) - float(DARK)
            return still._replace(sigma=_to_sigma(find_spread(differences)[1]), gains=gains, learned=lit)
    return still._replace(sigma=sigma)


def _to_sigma(spread: float) -> float:
    """Return the standard deviation of a normal distribution whose absolute values have a median."""
    return min(spread / _MEDIAN_OF_NORMAL, _MOST_SIGMA)


def follow_black(before: float, exposure: Exposure) -> float:
    """Return how bright frames are where nothing is seen at all, from the light that fog or a lens adds.

    The more of it there is, the less everything differs for the same brightness. Something in most scenes is nearly
    black (the dark channel prior of He, Sun and Tang, 2009). Where nothing is dark, the scene may just have nothing
    dark in it, therefore black is taken to be below the darkest of the sample by a third of what that is below the
    mean; in most scenes this leaves nothing. It comes slowly, and goes at once when something dark is seen.

    Parameters
    ----------
    before : float
        In grey levels; 0 at first, as in most scenes.
    exposure : Exposure

    Returns
    -------
    float
    """
    darkest, mean = exposure.darkest, exposure.mean
    black = min(max(darkest - _BELOW * (mean - darkest), 0.0), 255.0)
    return min(before + _BLACK_RATE * (black - before), black)


def follow_brightness(before: float, mean: float | None, light: Light) -> float:
    """Return how bright a scene is, as a share of an ordinary one: between `DARKEST` and 1.

    Where there is less light, everything differs by less, in proportion: objects, shadows and edges. What is said in
    grey levels holds for an ordinary scene, and is multiplied by this share. Black is no light of the scene; but a
    plain scene may look like fog, so a quarter is added to what black leaves, and kernels stay wide for the noise.

    Parameters
    ----------
    before : float
        Returned if the brightness differs from it by less than a twentieth.
    mean : float or None
        Of the background; without it, nothing changes.
    light : Light

    Returns
    -------
    float
    """
    if mean is None:
        return before
    without_black = max(_DOUBT * (mean - light.black) / _ORDINARY, _LEAST_SIGMAS * light.noise)
    brightness = min(max(min(mean / _ORDINARY, without_black), DARKEST), 1.0)
    return brightness if abs(brightness - before) > _NEW_BRIGHTNESS * before else before


def follow_noise(before: float, sigma: float) -> float:
    """Return the running mean of the noise, which is -1 before it was first measured."""
    return sigma if before < 0 else before + _NOISE_RATE * (sigma - before)


def follow_codec(before: float, steps: float, measured: float) -> float:
    """Return how far brightness steps between blocks of 8x8 pixels, in grey levels; below 0 where there are none.

    Codecs code them one by one. Where nothing moves, what is lost is the same in each frame and looks like background;
    where something moves, the blocks around it change. How much they lose shows in the steps from each to the next,
    everywhere and always.

    Parameters
    ----------
    before : float
        Running mean, with its sign: what a scene without a codec has by chance would else add up.
    steps : float
        Of this frame.
    measured : float
        How often it was measured before; at first it is the mean of all.

    Returns
    -------
    float
    """
    return before + max(_NOISE_RATE, 1 / (measured + 1)) * (steps - before)


def least_width_factor(sigma: float, steps: float, width: float) -> float:
    """Return the least factor of `width` that the camera's noise and the codec's allow.

    Their variances add up.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise, in grey levels of the scene.
    steps : float
        From `follow_codec`, in grey levels of the scene, too.
    width : float
    """
    return min(max(_BASE_SIGMAS * math.hypot(sigma, _CODEC_SIGMAS * max(steps, 0.0)) / width, LEAST_BASE), 1.0)


def change_light(
    colours: NDArray[Any],
    fractions: NDArray[np.uint8],
    gains: NDArray[np.float32],
    white: float,
    box: float,
    dither: NDArray[np.float32],
    where: NDArray[np.uint8],
    sample: Sample,
    step: int,
) -> None:
    """Bring support vectors under another light, in blocks of pixels that are then nearer to the frame.

    Parameters
    ----------
    colours : (B, D, N, BLOCK) array
        Written.
    fractions : (D, N, BLOCK) uint8 array
        What rounding took from the first slot's colours, see `MIDDLE`; written.
    gains : (D,) float32 array
        From `measure`.
    white : float
        Value of white.
    box : float
        As for `measure`.
    dither : (DITHERS, BLOCK) float32 array
        Rounds without bias; zeros for floats.
    where : (N, BLOCK) uint8 array
        Not 0 for pixels that may change.
    sample : Sample
        From which the gains were measured.
    step : int
        Counts the frames.
    """
    top = np.finfo(np.float32).max if colours.dtype.kind == "f" else np.iinfo(colours.dtype).max
    level = white / 255
    light = OtherLight(gains, np.float32(float(DARK) * level), np.float32(top), np.float32(box * level))
    witness = Witness(sample.frame, sample.excluded[: sample.height * sample.width])
    apart, chosen = Apart(*np.empty((4, BLOCK), np.float32)), np.empty(BLOCK, np.uint8)
    relight(0, len(where), colours, fractions, light, witness, dither, where, step, apart, chosen)
