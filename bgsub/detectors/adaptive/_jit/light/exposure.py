"""Comparison of a sample of the frame with the learned background, and with that under another light."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._numba import compiled_views, inlined, part, prefetch
from bgsub.detectors.adaptive._jit.blocks import BLOCK

__all__ = [
    "DARK",
    "LEVELS",
    "OCTAVE",
    "Sample",
    "compare",
    "count_ratios",
    "find_colour",
    "find_median",
    "find_spread",
    "observe",
    "see_light",
    "see_steps",
    "weigh_gains",
]

DARK = np.float32(2.0)
"""Grey levels that are added before ratios are formed, which noise would make meaningless near black."""
LEVELS = 255
"""Grey levels of the largest differences that are told apart, up or down."""
OCTAVE = 64
"""Bins of the histogram of ratios that make a factor of two; it has 8 * OCTAVE of them, from 1/16 to 16."""

_CODED = 8  # side of the blocks that codecs code, in pixels
_LARGEST_STEP = np.float32(20.0)  # grey levels: outlines in the picture are more, and say nothing of codecs


class Sample(NamedTuple):
    """Every step-th pixel of every step-th row, but those excluded."""

    frame: Any
    """(H * W * D,) of the frames' dtype"""
    background: Any
    """(D, at least H * W) of the same: the learned background"""
    excluded: Any
    """(at least H * W,) u1: not 0 for pixels that are left out"""
    height: Any
    width: Any
    step: Any
    unit: Any
    """f4: makes grey levels"""


@part
def _to_bin(value, last):
    """Round to the index of a bin from 0 to `last`; NaN, which float frames may lead to, counts as the last."""
    # An integer cannot hold what a float can: clamp first.
    return np.int32(max(value, np.float32(0.0)) + np.float32(0.5)) if value < np.float32(last) else np.int32(last)


@inlined
def _fetch_row(sample, y):
    """Prefetch a row of the frame, of the background and of what is excluded: few of its pixels are in the cache."""
    begin, end = y * sample.width, min(y + 1, sample.height) * sample.width
    channels = sample.background.shape[0]
    for x in range(begin, end, BLOCK):
        prefetch(sample.excluded[x : x + BLOCK])
        for c in range(channels):
            prefetch(sample.background[c, x : x + BLOCK])
    for x in range(begin * channels, end * channels, BLOCK):
        prefetch(sample.frame[x : x + BLOCK])


@inlined
def _compare(channels, sample, box, differences):
    """Do the work of `compare`; where the number of channels is a constant, loops over them are unrolled."""
    frame, background, unit = sample.frame, sample.background, sample.unit
    compared, matched = 0, 0
    for y in range(sample.step // 2, sample.height, sample.step):
        _fetch_row(sample, y + sample.step)
        for x in range(sample.step // 2, sample.width, sample.step):
            pixel = y * sample.width + x
            if sample.excluded[pixel] != 0:
                continue
            compared += 1
            inside = True
            for c in range(channels):
                difference = (np.float32(frame[pixel * channels + c]) - np.float32(background[c, pixel])) * unit
                differences[c, _to_bin(difference + np.float32(LEVELS), 2 * LEVELS)] += 1
                inside &= abs(difference) <= box
            matched += 1 if inside else 0
    return compared, matched


@compiled_views
def compare(sample: Any, box: Any, differences: Any) -> Any:
    """Return how many pixels were compared, and how many of them match the background.

    Parameters
    ----------
    sample : Sample
    box : f4
        Largest difference of a channel of a pixel that matches, in grey levels.
    differences : (D, 2 * LEVELS + 1) i8
        Written: histograms of the differences of each channel, in grey levels; no difference is at LEVELS.
    """
    differences[:] = 0
    if sample.background.shape[0] == 3:
        return _compare(3, sample, box, differences)
    return _compare(sample.background.shape[0], sample, box, differences)


@compiled_views
def weigh_gains(sample: Any, gains: Any, box: Any, differences: Any) -> Any:
    """Return how many pixels match the background under gains, to how many it is then nearer, from how many farther.

    Parameters
    ----------
    sample : Sample
    gains : (D,) f4
        Factors of the background's channels.
    box, differences
        As for `compare`, from the background under the gains.
    """
    frame, background, unit = sample.frame, sample.background, sample.unit
    matched, nearer, farther = 0, 0, 0
    differences[:] = 0
    for y in range(sample.step // 2, sample.height, sample.step):
        for x in range(sample.step // 2, sample.width, sample.step):
            pixel = y * sample.width + x
            if sample.excluded[pixel] != 0:
                continue
            inside, now, lit = True, np.float32(0.0), np.float32(0.0)
            for c in range(background.shape[0]):
                seen = np.float32(frame[pixel * background.shape[0] + c]) * unit
                learned = np.float32(background[c, pixel]) * unit
                after = (learned + DARK) * gains[c] - DARK
                differences[c, _to_bin(seen - after + np.float32(LEVELS), 2 * LEVELS)] += 1
                # Where the sensor is saturated, or sees nothing, nothing can be learned about light: what a black frame
                # between two others is multiplied by would be lost.
                saturated, black = seen >= np.float32(254.0), seen <= np.float32(0.0)
                inside &= (abs(seen - after) <= box) | (saturated & (after >= np.float32(254.0)))
                if not (saturated or black):
                    now += abs(seen - learned)
                    lit += abs(seen - after)
            matched += 1 if inside else 0
            nearer += 1 if lit < now else 0
            farther += 1 if lit > now else 0
    return matched, nearer, farther


@compiled_views
def see_light(sample: Any) -> Any:
    """Return the least and the mean brightness of a sample of the frame in grey levels, those excluded and all."""
    channels, least, total, count = sample.background.shape[0], np.float32(np.inf), np.float64(0.0), 0
    for y in range(sample.step // 2, sample.height, sample.step):
        for x in range(sample.step // 2, sample.width, sample.step):
            start, brightness = (y * sample.width + x) * channels, np.float32(0.0)
            for c in range(channels):
                brightness += np.float32(sample.frame[start + c])
            least = min(least, brightness)
            total += np.float64(brightness)
            count += 1
    unit = np.float64(sample.unit) / channels
    return np.float64(least) * unit, total / max(count, 1) * unit


@compiled_views
def find_colour(background: Any, coefficients: Any, pixels: Any, step: Any, rounding: Any) -> Any:
    """Return how many of every step-th pixel were learned, the sum of their values, and how many have colour.

    Parameters
    ----------
    background : (D, at least `pixels`) array
        Planes of the learned background.
    coefficients : (at least `pixels`,) f4
        0 for pixels that have learned nothing.
    pixels, step : i8
    rounding : f4
        By which channels may differ that have the same value.
    """
    channels = background.shape[0]
    learned, total, coloured = 0, np.float64(0.0), 0
    for x in range(0, pixels, step):
        if not coefficients[x] > np.float32(0.0):
            continue
        least = most = np.float32(background[0, x])
        total += np.float64(least)
        for c in range(1, channels):
            value = np.float32(background[c, x])
            total += np.float64(value)
            least, most = min(least, value), max(most, value)
        learned += 1
        coloured += 1 if most - least > rounding else 0
    return learned, total, coloured


@inlined
def _brightness(frame, start, channels):
    total = np.float32(0.0)
    for c in range(channels):
        total += np.float32(frame[start + c])
    return total


@inlined
def _step_at(frame, at, along, channels, unit):
    """Return the step between a pixel and the one before it, `along` numbers away, without those beside it."""
    before, left = _brightness(frame, at - 2 * along, channels), _brightness(frame, at - along, channels)
    right, after = _brightness(frame, at, channels), _brightness(frame, at + along, channels)
    around = np.float32(0.5) * (abs(left - before) + abs(after - right))
    return np.float64(min(max((abs(right - left) - around) * unit, -_LARGEST_STEP), _LARGEST_STEP))


@inlined
def _see_steps(channels, sample):
    """Do the work of `see_steps`, as `_compare` that of `compare`."""
    frame, height, width = sample.frame, sample.height, sample.width
    unit, row = sample.unit / np.float32(channels), width * channels
    right, down, rights, downs = np.float64(0.0), np.float64(0.0), 0, 0
    for y in range(sample.step // 2, height, sample.step):
        for x in range(_CODED, width - 1, _CODED):
            right += _step_at(frame, y * row + x * channels, channels, channels, unit)
            rights += 1
    for y in range(_CODED, height - 1, _CODED):  # by rows, as the frame lies in memory
        for x in range(sample.step // 2, width, sample.step):
            down += _step_at(frame, y * row + x * channels, row, channels, unit)
            downs += 1
    return min(right / max(rights, 1), down / max(downs, 1))


@compiled_views
def see_steps(sample: Any) -> Any:
    """Return by how much more brightness changes between two of a codec's blocks than beside their border.

    In grey levels, the mean over the borders in every step-th row or column, those excluded and all, the smaller of
    both: a fence has steps, too, but not in both directions. Below 0 or near it where no codec was.
    """
    if sample.background.shape[0] == 3:
        return _see_steps(3, sample)
    return _see_steps(sample.background.shape[0], sample)


@compiled_views
def find_median(counts: Any) -> Any:
    """Return the median of a histogram (n,) i8, interpolated within its bin, whose middle is its index."""
    total = np.int64(0)
    for i in range(counts.shape[0]):
        total += counts[i]
    middle, below = 0.5 * np.float64(total), np.int64(0)
    for i in range(counts.shape[0]):
        if np.float64(below + counts[i]) >= middle and counts[i] > 0:
            return max(0.0, i - 0.5 + (middle - np.float64(below)) / np.float64(counts[i]))
        below += counts[i]
    return 0.0


@compiled_views
def find_spread(differences: Any) -> Any:
    """Return how far differences are from zero and from there.

    Parameters
    ----------
    differences : (D, 2 * LEVELS + 1) i8
        From `compare`.

    Returns
    -------
    float, float
        The largest median of a channel's, up or down, and the median of the distances from the median of their channel.
    """
    channels, bins = differences.shape
    shift, total = 0.0, np.int64(0)
    for c in range(channels):
        shift = max(shift, abs(find_median(differences[c]) - LEVELS))
        for i in range(bins):
            total += differences[c, i]
    # There are one or three channels.
    medians = (
        round(find_median(differences[0])),
        round(find_median(differences[min(1, channels - 1)])),
        round(find_median(differences[min(2, channels - 1)])),
    )
    middle, below = 0.5 * np.float64(total), np.int64(0)
    for distance in range(bins):
        count = np.int64(0)
        for c in range(channels):
            median = medians[c]
            if median + distance < bins:
                count += differences[c, median + distance]
            if 0 < distance <= median:
                count += differences[c, median - distance]
        if np.float64(below + count) >= middle and count > 0:
            return shift, max(0.0, distance - 0.5 + (middle - np.float64(below)) / np.float64(count))
        below += count
    return shift, 0.0


@compiled_views
def observe(sample: Any, filmed: Any, coefficients: Any, every: Any, rounding: Any, box: Any, differences: Any) -> Any:
    """Return all that a frame says about camera and light as long as the light has not changed, in one call.

    Parameters
    ----------
    sample : Sample
    filmed : (H * W * D,) of the frames' dtype
        The frame as it came, before it was steadied: the blocks of a codec lie there.
    coefficients, every, rounding
        As for `find_colour`, the last but one as its `step`.
    box, differences
        As for `compare`.

    Returns
    -------
    tuple
        What `compare`, `find_spread`, `see_light`, `see_steps` and `find_colour` return.
    """
    size = sample.height, sample.width
    blocks = Sample(filmed, sample.background, sample.excluded, *size, sample.step, sample.unit)
    compared = compare(sample, box, differences)
    colours = find_colour(sample.background, coefficients, size[0] * size[1], every, rounding)
    return compared, find_spread(differences), see_light(sample), see_steps(blocks), colours


@compiled_views
def count_ratios(sample: Any, histogram: Any) -> Any:
    """Count the ratios of frame and background of each channel, on a logarithmic scale.

    Parameters
    ----------
    sample : Sample
    histogram : (D, 8 * OCTAVE) i8
        Written; the ratio 1 is at 4 * OCTAVE.
    """
    frame, background, unit = sample.frame, sample.background, sample.unit
    channels, bins = histogram.shape
    histogram[:] = 0
    for y in range(sample.step // 2, sample.height, sample.step):
        for x in range(sample.step // 2, sample.width, sample.step):
            pixel = y * sample.width + x
            if sample.excluded[pixel] != 0:
                continue
            for c in range(channels):
                seen = np.float32(frame[pixel * channels + c]) * unit + DARK
                learned = np.float32(background[c, pixel]) * unit + DARK
                octaves = np.log2(max(seen, np.float32(0.0)) / max(learned, np.float32(1e-3)))
                histogram[c, _to_bin(octaves * np.float32(OCTAVE) + np.float32(bins // 2), bins - 1)] += 1
