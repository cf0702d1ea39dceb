"""Masks of reduced frames, brought back to the size of the frame."""

import numpy as np

from bgsub._numba import banded, inlined, part

__all__ = ["enlarge_rows"]

_SEGMENT = 64  # pixels of a row of the small mask that are skipped or visited together
_FOREGROUND = np.uint8(255)


@inlined
def _has_any(mask, y, begin, end):
    """Return whether one of some pixels of a row, or one beside them, is not 0."""
    row, bits = mask[y, max(begin - 1, 0) : min(end + 1, mask.shape[1])], np.uint8(0)
    for x in range(row.shape[0]):
        bits |= row[x]
    return bits != 0


@inlined
def _weigh(mask, y, near, x, weight, side):
    """Return a mean of two pixels of a column as a number up to 2 * side, where `near` has the weight `weight`."""
    here, there = np.int64(mask[y, x] == _FOREGROUND), np.int64(mask[near, x] == _FOREGROUND)
    return (2 * side - weight) * here + weight * there


@part
def _enlarge_segment(mask, y, near, begin, end, weight, side, row):
    """Write a part of a row of the large mask."""
    last, half = mask.shape[1] - 1, 2 * side * side  # of the weights of four pixels
    middle = _weigh(mask, y, near, begin, weight, side)
    left = _weigh(mask, y, near, max(begin - 1, 0), weight, side)
    for column in range(begin, end):
        right = _weigh(mask, y, near, min(column + 1, last), weight, side)
        value = mask[y, column]
        covered = np.uint8(0) if value == _FOREGROUND else value
        start = (column - begin) * side
        for x in range(min(side, row.shape[0] - start)):
            beyond = 2 * x + 1 - side
            beside = right if beyond > 0 else left
            total = (2 * side - abs(beyond)) * middle + abs(beyond) * beside
            row[start + x] = _FOREGROUND if total >= half else covered
        left, middle = middle, right


@banded
def enlarge_rows(first, last, mask, side, out):
    """Write a mask to one that is `side` times as large, with outlines between the pixels.

    A pixel is foreground where the small mask, as numbers with values between, is at least a half. Others get the
    value of the pixel that covers them if that is no foreground either: 127 remains.

    Parameters
    ----------
    first, last : int
        Rows of the small mask.
    mask : (h, w) u1
        Foreground is 255.
    side : int
    out : (H, W) u1
        Written; at most `side` times as large.
    """
    height, width = mask.shape
    for y in range(first, last):
        for row in range(y * side, min((y + 1) * side, out.shape[0])):
            # From the middle of the small pixel to that of the large one, in units of half a large pixel.
            down = 2 * (row - y * side) + 1 - side
            near = min(max(y + (1 if down > 0 else -1), 0), height - 1)
            for begin in range(0, width, _SEGMENT):
                end = min(begin + _SEGMENT, width)
                wide = out[row, begin * side : min(end * side, out.shape[1])]
                if not (_has_any(mask, y, begin, end) or _has_any(mask, near, begin, end)):
                    for x in range(wide.shape[0]):
                        wide[x] = np.uint8(0)
                    continue
                _enlarge_segment(mask, y, near, begin, end, abs(down), side, wide)
