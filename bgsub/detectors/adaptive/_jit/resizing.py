"""Frames of half the size, and their masks brought back to the size of the frame along the edges in it."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._numba import banded, exp2_nonpositive, inlined, part

__all__ = ["Pictures", "enlarge_rows", "halve_colours"]

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


@inlined
def _mean_of_four(a, b, c, d):
    return np.uint8((np.uint16(a) + np.uint16(b) + np.uint16(c) + np.uint16(d) + np.uint16(2)) >> np.uint16(2))


@banded
def halve_colours(first, last, frame, halved):
    """Write the means of squares of two pixels of three channels, rounded as OpenCV does, which is slower at these.

    Parameters
    ----------
    first, last : int
        Rows of the halved frame.
    frame : (2 * h, 6 * w) u1
        Channels in turn.
    halved : (h, 3 * w) u1
        Written.
    """
    for y in range(first, last):
        a, b, out = frame[2 * y], frame[2 * y + 1], halved[y]
        for x in range(out.shape[0] // 3):  # written out, in the form that is vectorised
            out[3 * x] = _mean_of_four(a[6 * x], a[6 * x + 3], b[6 * x], b[6 * x + 3])
            out[3 * x + 1] = _mean_of_four(a[6 * x + 1], a[6 * x + 4], b[6 * x + 1], b[6 * x + 4])
            out[3 * x + 2] = _mean_of_four(a[6 * x + 2], a[6 * x + 5], b[6 * x + 2], b[6 * x + 5])


class _Line(NamedTuple):
    """The two rows of the mask, and of the reduced frame, between whose middles a row of the frame lies."""

    here: Any
    """(w,) u1: the row of the mask that covers it"""
    near: Any
    """and the other one;"""
    reduced_here: Any
    """(w * D,): those of the reduced frame,"""
    reduced_near: Any
    down: Any
    """f4: and how much of the way it is to the second."""


class _Votes(NamedTuple):
    """Working memory for the pixels of a row that lie between different ones of the mask; up to W."""

    columns: Any
    """(W,) i4: where they lie."""
    values: Any
    """(4, W) u1: those of the four pixels of the mask around each,"""
    shares: Any
    """(4, W) f4: their weights in linear interpolation,"""
    squares: Any
    """(4, W) f4: and the squared distances of their colours."""
    sums: Any
    """(3, W) f4: what foreground, shadow and background weigh."""


@inlined
def _is_empty(here, beyond):
    """Return whether two rows are 0."""
    bits = np.uint8(0)
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
def _add_square(channels, seen, column, mask_row, reduced_row, x, share, place, count, votes):
    """Note one of the four pixels of the mask around a pixel: its value, its share, and how far their colours are."""
    square = np.float32(0.0)
    for c in range(channels):
        difference = np.float32(seen[channels * column + c]) - np.float32(reduced_row[channels * x + c])
        square += difference * difference
    votes.values[place, count], votes.shares[place, count], votes.squares[place, count] = mask_row[x], share, square


@inlined
def _collect_in(channels, seen, line, x, side, width, count, votes):
    """Add the pixels of a line that lie in one of the mask and between different ones; return how many there are then.

    A pixel lies in the column `x`, and `right` of the way to the column `beside`.
    """
    here, near = line.here, line.near
    last, value, one, up, down = here.shape[0] - 1, here[x], np.float32(1.0), np.float32(1.0) - line.down, line.down
    for column in range(x * side, min((x + 1) * side, width)):
        way = 2 * (column - x * side) + 1 - side
        beside, right = min(max(x + (1 if way > 0 else -1), 0), last), np.float32(abs(way)) / np.float32(2 * side)
        if near[x] != value or here[beside] != value or near[beside] != value:
            votes.columns[count] = column
            _add_square(channels, seen, column, here, line.reduced_here, x, up * (one - right), 0, count, votes)
            _add_square(channels, seen, column, here, line.reduced_here, beside, up * right, 1, count, votes)
            _add_square(channels, seen, column, near, line.reduced_near, x, down * (one - right), 2, count, votes)
            _add_square(channels, seen, column, near, line.reduced_near, beside, down * right, 3, count, votes)
            count += 1
    return count


@inlined
def _collect(channels, seen, line, mixed, side, width, votes):
    """Note the pixels of a line that lie between different ones of the mask; return how many there are.

    seen : (W * D,), the row of the frame; mixed : u1, whole words, from `_find_mixed`
    """
    words, count = mixed.view(np.uint64), 0
    for word in range(words.shape[0]):
        if words[word] == 0:  # few pixels are at an outline
            continue
        for x in range(word * _WORD, min((word + 1) * _WORD, line.here.shape[0])):
            if mixed[x] != 0:
                count = _collect_in(channels, seen, line, x, side, width, count, votes)
    return count


@part
def _vote(unit, votes, count, out):
    """Write the values of pixels of a row: those of the heavier ones of the four of the mask around each.

    All of a row at once: kernel values are then computed in vectors.
    """
    inside, shaded, outside, zero = votes.sums[0], votes.sums[1], votes.sums[2], np.float32(0.0)
    votes.sums[:, :count] = zero
    for place in range(4):
        values, shares, squares = votes.values[place], votes.shares[place], votes.squares[place]
        for i in range(count):
            weight, value = shares[i] * exp2_nonpositive(squares[i] * unit), values[i]
            inside[i] += weight if value == _FOREGROUND else zero
            shaded[i] += weight if value == _SHADOW else zero
            outside[i] += weight if value == _BACKGROUND else zero
    for i in range(count):
        rest = _SHADOW if shaded[i] > outside[i] else _BACKGROUND
        out[votes.columns[i]] = _FOREGROUND if inside[i] >= shaded[i] + outside[i] else rest


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
    frame = pictures.frame.reshape(out.shape[0], -1)
    reduced, channels = pictures.reduced.reshape(height, -1), pictures.frame.shape[2]
    votes = _Votes(
        np.empty(columns, np.int32),
        np.empty((4, columns), np.uint8),
        np.empty((4, columns), np.float32),
        np.empty((4, columns), np.float32),
        np.empty((3, columns), np.float32),
    )
    for y in range(first, last):
        _repeat(mask[y], side, wide)
        for row in range(y * side, min((y + 1) * side, out.shape[0])):
            down = 2 * (row - y * side) + 1 - side  # from the middle of the pixel of the mask, in halves of the frame's
            near, target = min(max(y + (1 if down > 0 else -1), 0), height - 1), out[row]
            for x in range(columns):
                target[x] = wide[x]
            if _is_empty(mask[y], mask[near]):
                continue
            _find_mixed(mask[y], mask[near], mixed)
            share = np.float32(abs(down)) / np.float32(2 * side)
            line = _Line(mask[y], mask[near], reduced[y], reduced[near], share)
            # With a constant, the loop over channels is unrolled.
            if channels == 3:
                count = _collect(3, frame[row], line, mixed, side, columns, votes)
            else:
                count = _collect(1, frame[row], line, mixed, side, columns, votes)
            if count > 0:
                _vote(pictures.unit, votes, count, target)
