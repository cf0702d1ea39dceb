"""Outlines by the votes of small squares alone, where the raw mask can be trusted with them."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._jit.border import reflect
from bgsub._jit.majority import CELL, IN_LARGE, vote_thrice
from bgsub._jit.runs import has_any
from bgsub._numba import banded, compiled, in_bands, inlined, part

__all__ = ["COUNTS", "Trust", "count_inside", "trim", "vote_and_trim"]

COUNTS = 4
"""Counts of a cell: pixels inside what any squares found, and of these raw foreground; the same for small squares."""
_FULL = np.uint32(0xFFFFFFFF)
_REACH = 2  # pixels from one inside an object to the sides of a square that lies in it as a whole


class Trust(NamedTuple):
    """Where the raw mask is trusted with outlines; f4."""

    votes: Any
    """Share of the pixels inside what any squares found,"""
    small: Any
    """and of those inside what small squares found, that must be raw foreground,"""
    reach: Any
    """i8: so many cells around."""


@inlined
def _cell_rows(cell_row, height):
    """Return the rows of pixels in a row of cells."""
    return range(CELL * cell_row, min(CELL * (cell_row + 1), height))


@inlined
def _any_large(flags):
    """Return whether a large square has a majority in one of some cells."""
    bits = np.uint8(0)
    for cell in range(flags.shape[0]):
        bits = np.uint8(bits | flags[cell])
    return bits & IN_LARGE != 0


@inlined
def _find_inside(found, y, columns, inside):
    """Write 1 for the pixels of a row whose whole square is found, else 0; nothing is beyond the border.

    columns : (W + 2 * _REACH,) u1, scratch, whose ends are 255
    """
    last, width = found.shape[0] - 1, found.shape[1]
    above, near_above, here = found[max(y - 2, 0)], found[max(y - 1, 0)], found[y]
    near_below, below = found[min(y + 1, last)], found[min(y + 2, last)]
    middle = columns[_REACH : _REACH + width]
    for x in range(width):
        middle[x] = above[x] & near_above[x] & here[x] & near_below[x] & below[x]
    c0, c1, c2, c3, c4 = columns, columns[1:], columns[2:], columns[3:], columns[4:]
    for x in range(width):
        inside[x] = c0[x] & c1[x] & c2[x] & c3[x] & c4[x] & np.uint8(1)


@inlined
def _write_counts(line, flags, row):
    """Write one count of a row of cells from its columns, each cell a word; 0 where no large square has a majority.

    row : (cells + 2 * reach,) u1, with mirrored cells beside
    """
    cells = flags.shape[0]
    reach = (row.shape[0] - cells) // 2
    middle = row[reach : reach + cells]
    for cell in range(cells):
        word = line[cell]
        word += word >> np.uint32(16)
        word = (word + (word >> np.uint32(8))) & np.uint32(255)
        middle[cell] = np.uint8(word if flags[cell] & IN_LARGE != 0 else np.uint32(0))
    for x in range(reach):
        row[x] = middle[reflect(x - reach, cells)]
        row[reach + cells + x] = middle[reflect(cells + x, cells)]


@banded
def count_inside(first, last, raw, votes, small, cells, counts):
    """Count in each cell the pixels inside objects, and how many of them are raw foreground.

    A pixel is inside where all of the square of 5 pixels around it is found.

    Parameters
    ----------
    first, last : int
        Rows of cells.
    raw : (H, W) u1
        Raw mask, 0 and 255.
    votes, small : (H, W) u1
        What squares of all sizes found, and what smaller ones did, 0 and 255.
    cells : (ceil(H / CELL), ceil(W / CELL)) u1
        Bits of the votes, from `vote_thrice`.
    counts : (ceil(H / CELL), COUNTS, ceil(W / CELL) + 2 * reach) u1
        Written; beyond the border are mirror images.
    """
    width = raw.shape[1]
    lines = np.empty((3, width + 2 * _REACH), np.uint8)
    # Sums over the rows of a cell, for each column: additions of bytes, which are vectorised, unlike those in a cell.
    sums = np.empty((COUNTS, CELL * cells.shape[1]), np.uint8)
    _count_inside(first, last, raw, votes, small, cells, lines, sums, counts)


@part
def _count_inside(first, last, raw, votes, small, cells, lines, sums, counts):
    height, width = raw.shape
    columns, inside, in_small = lines[0], lines[1, :width], lines[2, :width]
    solid, full, fine, fine_full = sums[0], sums[1], sums[2], sums[3]
    columns[:] = np.uint8(255)
    for cell_row in range(first, last):
        flags, row = cells[cell_row], counts[cell_row]
        if not _any_large(flags):
            row[:] = np.uint8(0)
            continue
        sums[:] = np.uint8(0)
        for y in _cell_rows(cell_row, height):
            here = raw[y]
            _find_inside(votes, y, columns, inside)
            _find_inside(small, y, columns, in_small)
            for x in range(width):
                solid[x] += inside[x]
                full[x] += inside[x] & here[x]
                fine[x] += in_small[x]
                fine_full[x] += in_small[x] & here[x]
        for count in range(COUNTS):
            _write_counts(sums[count].view(np.uint32), flags, row[count])


@part
def _sum_around(counts, cell_row, reach, columns, sums):
    """Sum one count of some cells of a row over the square around each.

    counts : (rows of cells, cells + 2 * reach) u1
    columns : (cells + 2 * reach,) i4, scratch
    sums : (cells,) i4, written
    """
    columns[:] = np.int32(0)
    sums[:] = np.int32(0)
    for row in range(cell_row - reach, cell_row + reach + 1):
        line = counts[reflect(row, counts.shape[0])]
        for x in range(columns.shape[0]):
            columns[x] = np.int32(columns[x] + np.int32(line[x]))
    for shift in range(2 * reach + 1):
        shifted = columns[shift:]
        for x in range(sums.shape[0]):
            sums[x] = np.int32(sums[x] + shifted[x])


@inlined
def _find_candidates(flags, allowed):
    """Return the first cell whose outlines may be those of small squares, and the one after the last."""
    first, last, any_found = flags.shape[0], 0, np.uint8(0)
    for cell in range(flags.shape[0]):
        large = flags[cell] & IN_LARGE
        any_found = np.uint8(any_found | (large if allowed[cell] != 0 else np.uint8(0)))
    for cell in range(flags.shape[0] if any_found != 0 else 0):
        if (flags[cell] & IN_LARGE != 0) & (allowed[cell] != 0):
            first, last = min(first, cell), cell + 1
    return first, last


@inlined
def _find_trusted(flags, allowed, sums, scale, trust, kept):
    """Write 0 into the words of cells in which the outlines of small squares are trusted; return if there are any.

    sums : (COUNTS, at least cells) i4; scale: f8, makes means
    """
    solid, full, fine, fine_full = sums[0], sums[1], sums[2], sums[3]
    trusted = np.uint32(0)
    for cell in range(flags.shape[0]):
        share = np.float32(np.float64(full[cell]) * scale) > trust.votes * np.float32(np.float64(solid[cell]) * scale)
        small = np.float32(np.float64(fine_full[cell]) * scale) > trust.small * np.float32(
            np.float64(fine[cell]) * scale
        )
        trims = share & small & (flags[cell] & IN_LARGE != 0) & (allowed[cell] != 0)
        kept[cell] = np.uint32(0) if trims else _FULL
        trusted |= ~kept[cell]
    return trusted != 0


@banded
def trim(first, last, votes, small, cells, where, counts, trust):
    """Leave in a cell what smaller squares found, where the raw mask fills the inside of the objects around.

    Parameters
    ----------
    first, last : int
        Rows of cells.
    votes : (H, W) u1
        Votes of squares of all sizes; written.
    small : (H, W) u1
        Those of the smaller ones.
    cells : (ceil(H / CELL), ceil(W / CELL)) u1
        Bits of the votes, from `vote_thrice`.
    where : (ceil(H / CELL), ceil(W / CELL)) u1
        Not 0 in cells where smaller squares count.
    counts : (ceil(H / CELL), COUNTS, ceil(W / CELL) + 2 * reach) u1
        From `count_inside`; their means in squares of 2 * reach + 1 cells decide.
    trust : Trust
    """
    sums = np.empty((COUNTS + 1, counts.shape[2]), np.int32)
    _trim(first, last, votes, small, cells, where, counts, trust, sums, np.empty(CELL * cells.shape[1], np.uint8))


@part
def _trim(first, last, votes, small, cells, where, counts, trust, sums, kept):
    """Do the work of `trim`.

    sums : (COUNTS + 1, cells + 2 * reach) i4, scratch
    kept : (CELL * cells of a row,) u1, scratch: 255 in columns where votes stay as they are
    """
    height, width = votes.shape
    reach = (counts.shape[2] - cells.shape[1]) // 2
    scale = 1.0 / ((2 * reach + 1) * (2 * reach + 1))
    for cell_row in range(first, last):
        flags, allowed = cells[cell_row], where[cell_row]
        begin, end = _find_candidates(flags, allowed)
        if begin >= end:
            continue
        for count in range(COUNTS):
            beside = counts[:, count, begin : end + 2 * reach]
            _sum_around(beside, cell_row, reach, sums[COUNTS, : end - begin + 2 * reach], sums[count, : end - begin])
        if _find_trusted(flags[begin:end], allowed[begin:end], sums, scale, trust, kept.view(np.uint32)):
            first_column, last_column = CELL * begin, min(CELL * end, width)
            for y in _cell_rows(cell_row, height):
                found, fine = votes[y, first_column:last_column], small[y, first_column:last_column]
                for x in range(found.shape[0]):
                    found[x] &= fine[x] | kept[x]


@compiled
def vote_and_trim(team: Any, raw: Any, squares: Any, where: Any, trust: Any, smaller: Any, votes: Any) -> Any:
    """Vote in three sizes of squares, and leave what smaller ones found where the raw mask is trusted with outlines.

    Parameters
    ----------
    team : Team
    raw : (H, W) u1
        Raw mask, 0 and 255.
    squares : Squares
    where : (ceil(H / CELL), ceil(W / CELL)) u1
        Which smaller squares count, as for `vote_thrice`.
    trust : Trust
    smaller : (2, H, W) u1
        Scratch.
    votes : Votes
        Written.
    """
    rows, cells = where.shape
    in_bands(team, vote_thrice, 0, rows, 1, (raw, squares, where, smaller, votes))
    if not has_any(votes.filled):
        return
    counts = np.empty((rows, COUNTS, cells + 2 * trust.reach), np.uint8)
    in_bands(team, count_inside, 0, rows, 1, (raw, votes.mask, smaller[0], votes.cells, counts))
    in_bands(team, trim, 0, rows, 1, (votes.mask, smaller[0], votes.cells, where, counts, trust))
