"""Where a frame is the background under added light that changes evenly from pixel to pixel.

The frame is the background times 1 + g. Light fades, so that its gain g changes from pixel to pixel by a share of
itself, where at the outline of a thing all of it comes within two or three pixels. It leaves the ground its texture,
and fades in each channel as in the mean of all.
"""

from typing import Any, NamedTuple

import numpy as np

from bgsub._jit.runs import has_any
from bgsub._numba import banded, compiled, compiled_views

__all__ = ["Evenness", "count_brighter_by", "mark_even"]

_SEGMENT = 64  # pixels of a row that are skipped together
_AROUND = 2  # pixels from the middle to a side of the square in which textures are compared
_SIDE = 2 * _AROUND + 1
_STRIP = 16  # rows that are judged together
_SOFT = 3  # side of the square whose mean gain is looked at


class Evenness(NamedTuple):
    """What light may do, and what light is bright; f4."""

    steep: Any
    """Largest change of the gain from pixel to pixel, as a share of it,"""
    doubt: Any
    """and beyond the grey levels that noise may change of a mean of 3x3 pixels."""
    flat: Any
    """Largest variance in 5x5 pixels of what has lost the ground's texture, as a share of what light makes of that,"""
    smooth: Any
    """and the least, in squared grey levels: less is left where a codec smooths noise, and texture with it."""
    gain: Any
    """Least gain of what is bright,"""
    lit: Any
    """and how many times as much as noise a step by the largest change must be."""


@compiled_views
def count_brighter_by(images: Any, box: Any, excess: Any, gain: Any, enough: Any) -> Any:
    """Count the foreground in a box that is much brighter than the background; stop when it is enough.

    Parameters
    ----------
    images : Images
    box : four i8
        First row and column, and the row and column after the last.
    excess : f4
        Grey levels by which it has to be brighter,
    gain : f4
        and share of the background.
    enough : i8
    """
    (top, left, bottom, right), width = box, images.mask.shape[1]
    channels, count = images.frame.shape[0], 0
    excess *= np.float32(channels) / images.unit
    for y in range(top, bottom):
        for begin in range(left, right, _SEGMENT):
            end = min(begin + _SEGMENT, right)
            if not has_any(images.mask[y, begin:end]):
                continue
            for x in range(begin, end):
                now, learned = np.float32(0.0), np.float32(0.0)
                for c in range(channels):
                    now += np.float32(images.frame[c, y * width + x])
                    learned += np.float32(images.background[c, y * width + x])
                is_brighter = now - learned > max(excess, gain * learned)
                count += 1 if is_brighter and images.mask[y, x] != 0 else 0
        if count >= enough:
            return count
    return count


@compiled
def _cut(planes, images, corner, size):
    """Return a part of each channel and what is _AROUND pixels about it, in grey levels, at least 2; (D, h, w) f4.

    Beyond the frame are its outermost pixels.
    """
    rows, columns = images.mask.shape
    added, dark = np.float32(2.0) - images.black, np.float32(2.0)
    grey = np.empty((planes.shape[0], size[0] + 2 * _AROUND, size[1] + 2 * _AROUND), np.float32)
    first = corner[1] - _AROUND
    begin, end = max(-first, 0), min(columns - first, grey.shape[2])
    for c in range(grey.shape[0]):
        for y in range(grey.shape[1]):
            above = min(max(corner[0] + y - _AROUND, 0), rows - 1) * columns + first
            for x in range(begin, end):
                grey[c, y, x] = max(np.float32(planes[c, above + x]) * images.unit + added, dark)
            for x in range(begin):
                grey[c, y, x] = grey[c, y, begin]
            for x in range(end, grey.shape[2]):
                grey[c, y, x] = grey[c, y, end - 1]
    return grey


@compiled
def _sum_squares(plane, side):
    """Return the sums of all squares of side x side pixels within a plane."""
    height, width = plane.shape[0] - side + 1, plane.shape[1] - side + 1
    columns, sums = np.zeros(plane.shape[1], np.float32), np.zeros((height, width), np.float32)
    for y in range(height):
        for x in range(columns.shape[0]):
            columns[x] = np.float32(0.0)
        for row in range(y, y + side):
            for x in range(columns.shape[0]):
                columns[x] += plane[row, x]
        for more in range(side):
            for x in range(width):
                sums[y, x] += columns[x + more]
    return sums


@compiled
def _gains(now, learned):
    """Return the gain of light in means of 3x3 pixels, and the means of what is learned; (h + 2, w + 2) f4."""
    gains, means = _sum_squares(now, _SOFT), _sum_squares(learned, _SOFT)
    for y in range(gains.shape[0]):
        for x in range(gains.shape[1]):
            gains[y, x] = gains[y, x] / means[y, x] - np.float32(1.0)
            means[y, x] /= np.float32(_SOFT * _SOFT)
    return gains, means


@compiled
def _squared(plane):
    """Return the squares of all values."""
    squares = np.empty(plane.shape, np.float32)
    for y in range(plane.shape[0]):
        for x in range(plane.shape[1]):
            squares[y, x] = plane[y, x] * plane[y, x]
    return squares


@compiled
def _leave_texture(now, learned, light, even):
    """Write 1 where squares of 5x5 pixels have the texture of the ground, else 0."""
    sums, learned_sums = _sum_squares(now, _SIDE), _sum_squares(learned, _SIDE)
    squares, learned_squares = _sum_squares(_squared(now), _SIDE), _sum_squares(_squared(learned), _SIDE)
    count = np.float32(_SIDE * _SIDE)
    for y in range(even.shape[0]):
        for x in range(even.shape[1]):
            f, b = sums[y, x], learned_sums[y, x]
            variance = squares[y, x] * count - f * f  # times count squared
            ground = learned_squares[y, x] * count - b * b
            flat = variance <= light.flat * (f / b) * (f / b) * ground
            even[y, x] = np.uint8(0) if flat & (variance >= light.smooth * count * count) else np.uint8(1)


@compiled
def _leave_even(gains, means, overall, steep, doubt, even):
    """Write 0 where a gain changes by more than a share of the overall one, and noise."""
    half, diagonal = np.float32(0.5), np.float32(0.5 / np.sqrt(2.0))
    for y in range(even.shape[0]):
        above, row, below = gains[y], gains[y + 1], gains[y + 2]
        for x in range(even.shape[1]):
            change = max(abs(row[x + 2] - row[x]), abs(below[x + 1] - above[x + 1])) * half
            across = max(abs(below[x + 2] - above[x]), abs(below[x] - above[x + 2])) * diagonal
            most = steep * max(overall[y + 1, x + 1], np.float32(0.0)) + doubt / means[y + 1, x + 1]
            even[y, x] = np.uint8(0) if max(change, across) > most else even[y, x]


@compiled
def _mean(planes):
    """Return the mean of the channels."""
    channels, height, width = planes.shape
    mean, share = np.zeros((height, width), np.float32), np.float32(1.0) / np.float32(channels)
    for c in range(channels):
        for y in range(height):
            for x in range(width):
                mean[y, x] += planes[c, y, x] * share
    return mean


@compiled
def _mark_strip(images, corner, light, even, bright):
    """Do what `mark_even` does for some rows."""
    size, channels = even.shape, images.frame.shape[0]
    now, learned = _cut(images.frame, images, corner, size), _cut(images.background, images, corner, size)
    mean_now, mean_learned = _mean(now), _mean(learned)
    overall, means = _gains(mean_now, mean_learned)
    _leave_texture(mean_now, mean_learned, light, even)
    _leave_even(overall, means, overall, light.steep, light.doubt, even)
    for y in range(size[0]):
        for x in range(size[1]):
            gain, noise = overall[y + 1, x + 1], light.doubt / means[y + 1, x + 1]
            seen = (gain > light.gain) & (light.steep * gain > light.lit * noise)
            bright[y, x] = np.uint8(1) if seen else np.uint8(0)
    if channels == 1:
        return
    doubt = light.doubt * np.float32(np.sqrt(channels))  # a channel has more noise than their mean
    for c in range(channels):
        gains, means = _gains(now[c], learned[c])
        _leave_even(gains, means, overall, light.steep, doubt, even)


@banded
def mark_even(first: Any, last: Any, images: Any, top: Any, left: Any, light: Any, even: Any, bright: Any) -> None:
    """Tell where a part of the frame may be the background under added light, and where that light is bright.

    Parameters
    ----------
    first, last : i8
        Rows of the part to write, last not included.
    images : Images
        ``mask`` and ``kinds`` are not looked at.
    top, left : i8
        First row and column of the part.
    light : Evenness
    even, bright : (h, w) u1
        Written: 1 where it is, else 0.
    """
    for begin in range(first, last, _STRIP):  # so that what is made of them stays in the cache
        end = min(begin + _STRIP, last)
        _mark_strip(images, (top + begin, left), light, even[begin:end], bright[begin:end])
