"""Masks of reduced frames, brought back to the size of the frame with outlines that follow its edges."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._numba import banded, exp2_nonpositive, inlined, part

__all__ = ["Pictures", "enlarge_rows"]

_FOREGROUND, _SHADOW, _BACKGROUND = np.uint8(255), np.uint8(127), np.uint8(0)
_WORD = 8  # bytes of a machine word


class Pictures(NamedTuple):
    """What a mask was made of; D channels, of the same dtype."""

    frame: Any
    """(H, W, D) u1, u2 or f4"""
    reduced: Any
    """(h, w, D): means of squares of its pixels"""
    unit: Any
    """f4: factor from a squared distance over all channels to the exponent of two"""


class _Line(NamedTuple):
    """A row of the frame, and the two of the mask between whose middles it lies."""

    row: Any
    y: Any
    """The row of the mask that covers it"""
    near: Any
    """and the other one,"""
    down: Any
    """f4: and how much of the way it is to that."""


@inlined
def _is_empty(mask, y, near):
    """Return whether two rows are 0."""
    here, beyond, bits = mask[y], mask[near], np.uint8(0)
    for x in range(here.shape[0]):
        bits = np.uint8(bits | here[x] | beyond[x])
    return bits == 0


@inlined
def _find_mixed(here, beyond, mixed):
    """Write what is not 0 where a pixel of a row differs from one beside it, in the row or in the one beyond."""
    inner = here.shape[0] - 2
    left, middle, right, beyond_left, beyond_right = here, here[1:], here[2:], beyond, beyond[2:]
    below, found = beyond[1:], mixed[1:]
    for x in range(inner):
        value = middle[x]
        beside = (value ^ left[x]) | (value ^ right[x])
        found[x] = beside | (value ^ below[x]) | (value ^ beyond_left[x]) | (value ^ beyond_right[x])
    for x in (0, here.shape[0] - 1):
        near = max(x - 1, 0) if x > 0 else min(1, here.shape[0] - 1)
        mixed[x] = (here[x] ^ here[near]) | (here[x] ^ beyond[x]) | (here[x] ^ beyond[near])


@inlined
def _vote(pictures, mask, line, column, x, beside, right):
    """Return the value of a pixel: that of the heavier ones of the four of the mask around it.

    It lies in the column `x`, and `right` of the way to the column `beside`.
    """
    frame, reduced, one = pictures.frame, pictures.reduced, np.float32(1.0)
    inside, shaded, outside = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for i in range(2):
        y, vertical = (line.y, one - line.down) if i == 0 else (line.near, line.down)
        for j in range(2):
            across, horizontal = (x, one - right) if j == 0 else (beside, right)
            square, value = np.float32(0.0), mask[y, across]
            for c in range(frame.shape[2]):
                difference = np.float32(frame[line.row, column, c]) - np.float32(reduced[y, across, c])
                square += difference * difference
            weight = vertical * horizontal * exp2_nonpositive(square * pictures.unit)
            inside += weight if value == _FOREGROUND else np.float32(0.0)
            shaded += weight if value == _SHADOW else np.float32(0.0)
            outside += weight if value == _BACKGROUND else np.float32(0.0)
    if inside >= shaded + outside:
        return _FOREGROUND
    return _SHADOW if shaded > outside else _BACKGROUND


@part
def _vote_on_pixels(pictures, mask, line, x, side, out):
    """Vote on the pixels of a line that lie in one of the mask."""
    last, value = mask.shape[1] - 1, mask[line.y, x]
    for column in range(x * side, min((x + 1) * side, out.shape[1])):
        right = 2 * (column - x * side) + 1 - side
        beside = min(max(x + (1 if right > 0 else -1), 0), last)
        if mask[line.near, x] != value or mask[line.y, beside] != value or mask[line.near, beside] != value:
            share = np.float32(abs(right)) / np.float32(2 * side)
            out[line.row, column] = _vote(pictures, mask, line, column, x, beside, share)


@inlined
def _repeat(row, side, wide):
    """Write each pixel of a row `side` times; as a byte times a number of equal bytes, which is vectorised."""
    if side == 2:
        pairs = wide.view(np.uint16)
        for x in range(row.shape[0]):
            pairs[x] = np.uint16(row[x]) * np.uint16(0x0101)
    elif side == 4:
        fours = wide.view(np.uint32)
        for x in range(row.shape[0]):
            fours[x] = np.uint32(row[x]) * np.uint32(0x01010101)
    else:
        for x in range(row.shape[0]):
            for i in range(side):
                wide[x * side + i] = row[x]


@banded
def enlarge_rows(first, last, mask, side, pictures, out):
    """Write a mask to one that is `side` times as large, with outlines that follow the edges of the frame.

    A pixel lies between four of the small mask. Each of them counts as in linear interpolation, times the kernel of the
    pixel's colour with its own (joint bilateral upsampling; Kopf, Cohen, Lischinski, Uyttendaele 2007). The pixel is
    foreground where those that are have at least a half; else shadow, 127, where these weigh more than background.

    Parameters
    ----------
    first, last : int
        Rows of the small mask.
    mask : (h, w) u1
        0, 127 and 255.
    side : int
    pictures : Pictures
    out : (H, W) u1
        Written; at most `side` times as large.
    """
    (height, width), columns = mask.shape, out.shape[1]
    mixed, wide = np.zeros(-(-width // _WORD) * _WORD, np.uint8), np.empty(width * side, np.uint8)
    words = mixed.view(np.uint64)
    for y in range(first, last):
        _repeat(mask[y], side, wide)
        for row in range(y * side, min((y + 1) * side, out.shape[0])):
            down = 2 * (row - y * side) + 1 - side  # from the middle of the pixel of the mask, in halves of the frame's
            near = min(max(y + (1 if down > 0 else -1), 0), height - 1)
            line = _Line(row, y, near, np.float32(abs(down)) / np.float32(2 * side))
            for x in range(columns):
                out[row, x] = wide[x]
            if _is_empty(mask, y, near):
                continue
            _find_mixed(mask[y], mask[near], mixed)
            for word in range(words.shape[0]):
                if words[word] == 0:  # few pixels are at an outline
                    continue
                for x in range(word * _WORD, min((word + 1) * _WORD, width)):
                    if mixed[x] != 0:
                        _vote_on_pixels(pictures, mask, line, x, side, out)
