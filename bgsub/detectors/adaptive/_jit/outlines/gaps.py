"""Gaps in foreground: between legs, below cars, through which the background shows with its texture."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._jit.runs import has_any
from bgsub._numba import banded, inlined, part

__all__ = ["Pictures", "open_gaps"]

_SUMS = 5  # of background and frame: both, the squares of both, and the product
_UNKNOWN, _OTHER, _SHOWS = np.uint8(0), np.uint8(1), np.uint8(2)  # whether the background shows in a square


class Pictures(NamedTuple):
    """What is compared in a gap."""

    raw: Any
    """(H, W) u1: the raw mask; 0 is like the background."""
    faint: Any
    """(H, W) u1: likewise, what is too far from the heaviest colour to be projected on it."""
    frame: Any
    """(D, at least H * W) of the frame's dtype: its planes."""
    background: Any
    """(D, at least H * W): those of the learned background."""


class _Squares(NamedTuple):
    """What is known of the squares whose middle lies in each of the last rows, in turns."""

    rows: Any
    """(side,) i8: the rows."""
    clear: Any
    """(side, W) u1: 1 in the middle of a square within the frame that is all like the background, else 0."""
    shows: Any
    """(side, W) u1: whether it shows, _UNKNOWN, _OTHER or _SHOWS."""


class _Lines(NamedTuple):
    """Working memory for rows of pixels."""

    wanted: Any
    """(W,) u1: 1 for foreground that may lie in a gap, else 0."""
    near: Any
    """(W,) u1: where the middle of a square lies that has some."""
    both: Any
    """(W,) u1: where that square is all like the background, too."""
    gone: Any
    """(W,) u1: pixels to be opened."""
    columns: Any
    """(_SUMS, W) f8: sums over the rows of a square."""
    sums: Any
    """(_SUMS, W) f8: sums over squares."""
    grey: Any
    """(2, W) f8: sums of the channels of background and frame."""


@inlined
def _find_wanted(mask_row, raw_row, faint_row, reach, lines):
    """Write 1 for the foreground of a row that is like the background with as many beside it as a square has columns.

    Return whether there is any; only there can a square be all like the background.
    """
    wanted, unlike, alike = lines.wanted, lines.near, lines.both
    width = wanted.shape[0]
    for x in range(width):
        unlike[x] = raw_row[x] | faint_row[x]
        wanted[x] = mask_row[x] & ~unlike[x]
    if not has_any(wanted):
        return False
    _find_runs(unlike, reach, alike)
    _spread(alike, reach, unlike)  # where one of the runs that have a pixel is all alike
    for x in range(width):
        wanted[x] &= unlike[x]
    return has_any(wanted)


@inlined
def _find_runs(unlike, reach, middles):
    """Write 1 in the middle of runs within a row, as long as the side of a square, of pixels that are 0, else 0."""
    middles[:] = np.uint8(0)
    inside = middles[reach : unlike.shape[0] - reach]
    for shift in range(2 * reach + 1):
        shifted = unlike[shift:]
        for x in range(inside.shape[0]):
            inside[x] |= shifted[x]
    for x in range(inside.shape[0]):
        inside[x] = np.uint8(1) if inside[x] == 0 else np.uint8(0)


@inlined
def _spread(row, reach, spread):
    """Write the disjunction of the bytes of a row that are at most so far away."""
    width = row.shape[0]
    for x in range(width):
        spread[x] = row[x]
    for shift in range(1, min(reach, width - 1) + 1):
        for x in range(width - shift):
            spread[x] |= row[x + shift]
        for x in range(width - shift):
            spread[x + shift] |= row[x]


@part
def _find_clear(raw, faint, y, reach, columns, clear):
    """Write 1 for the pixels of a row in the middle of a square in the frame that is all like the background, else 0.

    columns : (W,) u1, scratch
    """
    width = raw.shape[1]
    columns[:] = np.uint8(0)
    for row in range(y - reach, y + reach + 1):
        here, also = raw[row], faint[row]
        for x in range(width):
            columns[x] |= here[x] | also[x]
    _find_runs(columns, reach, clear)


@part
def _correlate(pictures, y, begin, end, reach, lines, shows):
    """Write for the squares whose middle is in some columns of a row whether the background shows in them.

    It does where it explains more than half of the variance: the correlation of their grey levels is above 0.7.
    """
    left, right = begin - reach, end + reach
    count, width = right - left, shows.shape[0]
    sums, pixels = lines.columns[:, :count], float((2 * reach + 1) ** 2)
    grey_learned, grey_seen = lines.grey[0, :count], lines.grey[1, :count]
    s0, s1, s2, s3, s4 = sums[0], sums[1], sums[2], sums[3], sums[4]
    sums[:] = 0.0
    for row in range(y - reach, y + reach + 1):
        at = row * width + left
        for x in range(count):
            grey_learned[x] = 0.0
            grey_seen[x] = 0.0
        for c in range(pictures.frame.shape[0]):
            learned, seen = pictures.background[c, at : at + count], pictures.frame[c, at : at + count]
            for x in range(count):
                grey_learned[x] += np.float64(learned[x])
                grey_seen[x] += np.float64(seen[x])
        for x in range(count):
            b, f = grey_learned[x], grey_seen[x]
            s0[x] += b
            s1[x] += f
            s2[x] += b * b
            s3[x] += f * f
            s4[x] += b * f
    found = lines.sums[:, : end - begin]
    found[:] = 0.0
    for shift in range(2 * reach + 1):
        for i in range(_SUMS):
            total, shifted = found[i], sums[i, shift:]
            for x in range(total.shape[0]):
                total[x] += shifted[x]
    s0, s1, s2, s3, s4, out = found[0], found[1], found[2], found[3], found[4], shows[begin:end]
    for x in range(end - begin):
        b, f = s0[x], s1[x]
        together = pixels * s4[x] - b * f
        apart = (pixels * s2[x] - b * b) * (pixels * s3[x] - f * f)
        explains = (together > 0.0) & (2.0 * together * together > apart)
        out[x] = _SHOWS if explains else _OTHER


@part
def _add_gaps(pictures, y, begin, end, reach, squares, lines):
    """Add the pixels of a row to `lines.gone` that lie in squares in which the background shows.

    Their middle lies in row y, from column `begin` to `end` - 1, where `lines.near` may not be 0.
    """
    middle, gone = y % squares.rows.shape[0], lines.gone
    if squares.rows[middle] != y:
        squares.rows[middle] = y
        _find_clear(pictures.raw, pictures.faint, y, reach, lines.both, squares.clear[middle])
        squares.shows[middle] = _UNKNOWN
    clear, near, both = squares.clear[middle, begin:end], lines.near[begin:end], lines.both[begin:end]
    for x in range(end - begin):
        both[x] = clear[x] & near[x]
    if not has_any(both):
        return
    shows, left, right = squares.shows[middle], end, begin
    for x in range(begin, end):
        if (both[x - begin] != 0) & (shows[x] == _UNKNOWN):
            left, right = min(left, x), x + 1
    if left < right:
        _correlate(pictures, y, left, right, reach, lines, shows)
    for x in range(begin, end):
        if (both[x - begin] != 0) & (shows[x] == _SHOWS):
            gone[x - reach : x + reach + 1] = np.uint8(255)


@inlined
def _find_span(row):
    """Return the column of the first byte of a row that is not 0, and the one after the last; there is one."""
    begin, end = 0, row.shape[0]
    while row[begin] == 0:
        begin += 1
    while row[end - 1] == 0:
        end -= 1
    return begin, end


@part
def _open_gaps(first, last, pictures, mask, occupied_rows, reach, squares, lines):
    height, width = mask.shape
    for y in range(first, last):
        row = mask[y]
        if occupied_rows[y] == 0 or not _find_wanted(row, pictures.raw[y], pictures.faint[y], reach, lines):
            continue
        _spread(lines.wanted, reach, lines.near)
        lines.gone[:] = np.uint8(0)
        begin, end = _find_span(lines.near)
        begin, end = max(begin, reach), min(end, width - reach)
        for middle in range(max(y - reach, reach), min(y + reach, height - 1 - reach) + 1):
            _add_gaps(pictures, middle, begin, end, reach, squares, lines)
        for x in range(width):
            row[x] &= ~lines.gone[x]


@banded
def open_gaps(first, last, pictures, mask, occupied_rows, side):
    """Make foreground background where a square of pixels is all like it and has its texture.

    Large squares and holes that are filled hold torn objects together, and fill what lies between legs, too. There
    each pixel is near to the learned background, which explains more than half of the variance of the grey levels in
    the square: a plain coat that is near to it as well has not its texture.

    Parameters
    ----------
    first, last : int
        Rows of pixels.
    pictures : Pictures
    mask : (H, W) u1
        Final mask, 0 and 255; written.
    occupied_rows : (H,) u1
        0 for rows of it that are known to be empty.
    side : int
        Of the squares, odd; none reaches beyond the border.
    """
    width = mask.shape[1]
    if side > min(mask.shape[0], width):
        return
    rows = np.empty(side, np.int64)
    rows[:] = -1
    squares = _Squares(rows, np.empty((side, width), np.uint8), np.empty((side, width), np.uint8))
    lines = _Lines(
        np.empty(width, np.uint8),
        np.empty(width, np.uint8),
        np.empty(width, np.uint8),
        np.empty(width, np.uint8),
        np.empty((_SUMS, width)),
        np.empty((_SUMS, width)),
        np.empty((2, width)),
    )
    _open_gaps(first, last, pictures, mask, occupied_rows, side // 2, squares, lines)
