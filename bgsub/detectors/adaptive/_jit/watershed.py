"""Split a region where its outline is partly real: a watershed, and what its outer part looks like."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._jit.border import reflect
from bgsub._numba import compiled, compiled_views, inlined, part

__all__ = ["BINS", "Region", "compare_part", "split"]

_HALF = (1, 14, 62, 102)  # of a Gaussian with standard deviation 1, in units of 1 / 256, as OpenCV rounds it,
_TAPS, _REACH = 7, 3  # of so many pixels
_OUTSIDE, _OBJECT, _RIDGE, _QUEUED = np.int8(1), np.int8(2), np.int8(-1), np.int8(-2)  # labels; 0 for none yet
_QUEUES = 256  # one for each difference of two colours
BINS = 6
"""Shares of colours are counted for so many levels of each channel."""


class Region(NamedTuple):
    """Masks of a region, (h, w) u1."""

    whole: Any
    eroded: Any
    dilated: Any


@part
def _smooth(image, line, rows, smooth):
    """Write an image smoothed by a Gaussian; `line` and `rows` are room for a row and for sums along rows."""
    height, width = image.shape[1:]
    for c in range(image.shape[0]):
        for y in range(height):
            values, out = image[c, y], rows[y]
            for x in range(width):
                line[x + _REACH] = np.int32(values[x])
            for x in range(_REACH):
                line[x] = np.int32(values[reflect(x - _REACH, width)])
                line[x + _REACH + width] = np.int32(values[reflect(x + width, width)])
            for x in range(width):
                total = np.int32(_HALF[3]) * line[x + 3]
                for tap in range(3):
                    total += np.int32(_HALF[tap]) * (line[x + tap] + line[x + _TAPS - 1 - tap])
                out[x] = total
        for y in range(height):
            out = smooth[c, y]
            a0, b0 = rows[reflect(y - 3, height)], rows[reflect(y + 3, height)]
            a1, b1 = rows[reflect(y - 2, height)], rows[reflect(y + 2, height)]
            a2, b2, middle = rows[reflect(y - 1, height)], rows[reflect(y + 1, height)], rows[y]
            for x in range(width):
                total = np.int32(_HALF[0]) * (a0[x] + b0[x]) + np.int32(_HALF[1]) * (a1[x] + b1[x])
                total += np.int32(_HALF[2]) * (a2[x] + b2[x]) + np.int32(_HALF[3]) * middle[x]
                out[x] = np.uint8((total + np.int32(1 << 15)) >> 16)


@part
def _mark(region, points, excess, least, left, top, disc, labels):
    """Label what is surely outside a region, and inside along those points of its outline that are real."""
    eroded, dilated = region.eroded, region.dilated
    height, width = eroded.shape
    labels[:] = 0
    reach = disc.shape[0] // 2
    for i in range(points.shape[0]):
        if not excess[i] < -least:
            continue
        x, y = np.int64(points[i, 0]) - left, np.int64(points[i, 1]) - top
        for row in range(max(y - reach, 0), min(y + reach + 1, height)):
            for column in range(max(x - reach, 0), min(x + reach + 1, width)):
                if disc[row - y + reach, column - x + reach] != 0 and eroded[row, column] != 0:
                    labels[row * width + column] = _OBJECT
    for row in range(height):
        for column in range(width):
            if dilated[row, column] == 0:
                labels[row * width + column] = _OUTSIDE


@inlined
def _differ(image, a, b):
    """Return the largest difference of a channel of two pixels."""
    most = np.int64(0)
    for c in range(image.shape[0]):
        most = max(most, abs(np.int64(image[c, a]) - np.int64(image[c, b])))
    return most


@inlined
def _push(queue, node, ends, following):
    """Append a pixel to the queue of those that differ as much from a neighbour."""
    following[node] = -1
    if ends[queue, 0] < 0:
        ends[queue, 0] = node
    else:
        following[ends[queue, 1]] = node
    ends[queue, 1] = node


@part
def _flood(image, height, width, labels, ends, following):
    """Let labels grow, from pixel to pixel in the order of differences of colour, until they meet.

    This is Meyer's watershed, in the order of OpenCV's: `ends`, (_QUEUES, 2), and `following`, a number for each pixel,
    are room for its queues.
    """
    ends[:] = -1
    labels[:width], labels[(height - 1) * width :] = _RIDGE, _RIDGE
    for row in range(1, height - 1):
        labels[row * width], labels[row * width + width - 1] = _RIDGE, _RIDGE
        for at in range(row * width + 1, row * width + width - 1):
            if labels[at] != 0:
                continue
            least = _QUEUES
            for turn in range(4):
                beside = at + (-1, 1, -width, width)[turn]
                if labels[beside] > 0:
                    least = min(least, _differ(image, at, beside))
            if least < _QUEUES:
                _push(least, at, ends, following)
                labels[at] = _QUEUED
    active = 0
    while True:
        while active < _QUEUES and ends[active, 0] < 0:
            active += 1
        if active == _QUEUES:
            return
        at = ends[active, 0]
        ends[active, 0] = following[at]
        label = np.int8(0)
        for turn in range(4):
            there = labels[at + (-1, 1, -width, width)[turn]]
            if there > 0:
                label = there if label == 0 or label == there else _RIDGE
        labels[at] = label
        if label == _RIDGE:
            continue
        for turn in range(4):
            beside = at + (-1, 1, -width, width)[turn]
            if labels[beside] == 0:
                difference = _differ(image, at, beside)
                _push(difference, beside, ends, following)
                labels[beside] = _QUEUED
                active = min(active, difference)


@part
def _take_part(region, labels, points, left, top, outer, beside):
    """Write the part of a region that was reached from outside, and which points lie in it."""
    height, width = region.shape
    for row in range(height):
        for column in range(width):
            taken = region[row, column] != 0 and labels[row * width + column] == _OUTSIDE
            outer[row, column] = np.uint8(255 if taken else 0)
    for i in range(points.shape[0]):
        beside[i] = outer[points[i, 1] - top, points[i, 0] - left] != 0


@compiled
def split(
    image: Any,  # (D, h, w) u1: the frame around the region
    region: Any,  # Region
    points: Any,  # (P, 2) i4: x and y along its outline, in the frame
    excess: Any,  # (P,) f4: from `compare_edges`
    least: Any,  # f4: where it is below minus this, the outline is real
    left: Any,  # of the image in the frame
    top: Any,
    disc: Any,  # (s, s) u1: not 0 around a point of a real outline where the object surely is
    smooth: Any,  # (D, h, w) u1, written: the image without noise
    outer: Any,  # (h, w) u1, written: 255 in the part of the region that is not the object's
    beside: Any,  # (P,) b1, written: which points lie in this part
) -> Any:
    """Split a region along the edges of a frame, in a part that belongs to its real outline and one that does not."""
    height, width = region.whole.shape
    _smooth(image, np.empty(width + 2 * _REACH, np.int32), np.empty((height, width), np.int32), smooth)
    labels = np.empty(height * width, np.int8)
    _mark(region, points, excess, least, left, top, disc, labels)
    following, ends = np.empty(height * width, np.int32), np.empty((_QUEUES, 2), np.int32)
    _flood(smooth.reshape(-1, height * width), height, width, labels, ends, following)
    _take_part(region.whole, labels, points, left, top, outer, beside)


@compiled_views
def compare_part(
    now: Any,  # (D, h, w) u1, u2 or f4: the frame
    learned: Any,  # the same of the background
    smooth: Any,  # (D, h, w) u1: the frame without noise
    outer: Any,  # (h, w) u1: not 0 in a part
    near: Any,  # (h, w) u1: not 0 near it
    occupied: Any,  # (h, w) u1: not 0 near foreground
    sums: Any,  # (3, D) f8, written: of the frame in the part, of the background there, of the frame around it
    shares: Any,  # (2, BINS ** 3) f4, written: of the colours in the part, and around it
) -> Any:
    """Sum up what a part looks like, and its surroundings, which are near it but not near any foreground.

    Returns
    -------
    int, int
        The pixels of both.
    """
    channels, height, width = now.shape
    inside, around = 0, 0
    sums[:], shares[:] = np.float64(0.0), np.float32(0.0)
    for y in range(height):
        for x in range(width):
            is_inside = outer[y, x] != 0
            if not is_inside and (near[y, x] == 0 or occupied[y, x] != 0):
                continue
            colour = np.int64(0)
            for c in range(3):
                colour = colour * BINS + (np.int64(smooth[c % channels, y, x]) * BINS >> 8)
            if is_inside:
                inside += 1
                shares[0, colour] += np.float32(1.0)
                for c in range(channels):
                    sums[0, c] += np.float64(now[c, y, x])
                    sums[1, c] += np.float64(learned[c, y, x])
            if near[y, x] != 0 and occupied[y, x] == 0:
                around += 1
                shares[1, colour] += np.float32(1.0)
                for c in range(channels):
                    sums[2, c] += np.float64(now[c, y, x])
    return inside, around
