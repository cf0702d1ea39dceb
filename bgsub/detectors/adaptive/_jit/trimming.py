"""Outlines: by the votes of small squares alone, where the raw mask can be trusted with them, and thin details."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._jit.majority import CELL, IN_LARGE
from bgsub._numba import compiled, inlined

__all__ = ["COUNTS", "Trust", "add_details", "count_inside", "trim"]

COUNTS = 4
"""Counts of a cell: pixels inside what any squares found, and of these raw foreground; the same for small squares."""
_REACH = 2  # pixels from one inside an object to the sides of a square that lies in it as a whole
_MOST = np.uint8(5)  # of the nine pixels in a square of three


class Trust(NamedTuple):
    """Where the raw mask is trusted with outlines; f4."""

    votes: Any
    """Share of the pixels inside what any squares found,"""
    small: Any
    """and of those inside what small squares found, that must be raw foreground."""


@inlined
def _cell_rows(cell_row, height):
    """Return the rows of pixels in a row of cells."""
    return range(CELL * cell_row, min(CELL * (cell_row + 1), height))


@inlined
def _any_large(flags):
    """Return whether a large square has a majority in one of some cells."""
    bits = np.uint8(0)
    for cell in range(flags.shape[0]):
        bits |= flags[cell]
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
def _write_counts(line, flags, row, count):
    """Write one count of a row of cells from its columns; 0 where no large square has a majority."""
    for cell in range(flags.shape[0]):
        x = CELL * cell
        found = line[x] + line[x + 1] + line[x + 2] + line[x + 3]
        row[cell, count] = np.float32(found if flags[cell] & IN_LARGE != 0 else 0)


@compiled
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
        What squares of either size found, and what small ones did, 0 and 255.
    cells : (ceil(H / CELL), ceil(W / CELL)) u1
        Bits of the votes, from `vote_twice`.
    counts : (ceil(H / CELL), ceil(W / CELL), COUNTS) f4
        Written.
    """
    height, width = raw.shape
    span = CELL * cells.shape[1]
    # Sums over the rows of a cell, for each column: additions of bytes, which are vectorised, unlike those in a cell.
    solid, full = np.empty(span, np.uint8), np.empty(span, np.uint8)
    fine, fine_full = np.empty(span, np.uint8), np.empty(span, np.uint8)
    columns, inside, in_small = (
        np.empty(width + 2 * _REACH, np.uint8),
        np.empty(width, np.uint8),
        np.empty(width, np.uint8),
    )
    columns[:] = np.uint8(255)
    for cell_row in range(first, last):
        flags, row = cells[cell_row], counts[cell_row]
        if not _any_large(flags):
            row[:] = np.float32(0.0)
            continue
        for x in range(span):
            solid[x], full[x], fine[x], fine_full[x] = np.uint8(0), np.uint8(0), np.uint8(0), np.uint8(0)
        for y in _cell_rows(cell_row, height):
            here = raw[y]
            _find_inside(votes, y, columns, inside)
            _find_inside(small, y, columns, in_small)
            for x in range(width):
                solid[x] += inside[x]
                full[x] += inside[x] & here[x]
                fine[x] += in_small[x]
                fine_full[x] += in_small[x] & here[x]
        for count, line in enumerate((solid, full, fine, fine_full)):
            _write_counts(line, flags, row, count)


@compiled
def trim(first, last, votes, small, cells, where, means, trust):
    """Leave in a cell what small squares found, where the raw mask fills the inside of the objects around.

    Parameters
    ----------
    first, last : int
        Rows of cells.
    votes : (H, W) u1
        Votes of squares of either size; written.
    small : (H, W) u1
        Those of the small ones.
    cells : (ceil(H / CELL), ceil(W / CELL)) u1
        Bits of the votes, from `vote_twice`.
    where : (ceil(H / CELL), ceil(W / CELL)) u1
        255 in cells where small squares count, else 0.
    means : (ceil(H / CELL), ceil(W / CELL), COUNTS) f4
        Of the counts of `count_inside`, around each cell.
    trust : Trust
    """
    height, width = votes.shape
    kept = np.empty(CELL * cells.shape[1], np.uint8)  # 255 in columns where votes stay as they are
    for cell_row in range(first, last):
        flags, allowed = cells[cell_row], where[cell_row]
        trusted = False
        for cell in range(flags.shape[0]):
            mean = means[cell_row, cell]
            solid = mean[1] > trust.votes * mean[0] and mean[3] > trust.small * mean[2]
            trims = solid and flags[cell] & IN_LARGE & allowed[cell] != 0
            trusted |= trims
            for x in range(CELL * cell, CELL * (cell + 1)):
                kept[x] = np.uint8(0 if trims else 255)
        if trusted:
            for y in _cell_rows(cell_row, height):
                found, fine = votes[y], small[y]
                for x in range(width):
                    found[x] &= fine[x] | kept[x]


@inlined
def _find_near(mask, y, reach, columns, near):
    """Write what a square of 2 * reach + 1 pixels around each pixel of a row meets; return whether any meets anything.

    columns : (W + 2 * reach,) u1, scratch, whose ends are 0
    """
    height, width = mask.shape
    middle = columns[reach : reach + width]
    for x in range(width):
        middle[x] = mask[y, x]
    for row in range(max(y - reach, 0), min(y + reach + 1, height)):
        line = mask[row]
        for x in range(width):
            middle[x] |= line[x]
    met = np.uint8(0)
    for x in range(width):
        near[x] = middle[x]
        met |= middle[x]
    if met != 0:
        for shift in range(2 * reach + 1):
            shifted = columns[shift : shift + width]
            for x in range(width):
                near[x] |= shifted[x]
    return met != 0


@inlined
def _count_in_threes(raw, y, columns, counts):
    """Count the raw foreground in the square of three pixels around each of a row; the border repeats itself.

    columns : (W + 2,) u1, scratch
    """
    last, width = raw.shape[0] - 1, raw.shape[1]
    above, here, below = raw[max(y - 1, 0)], raw[y], raw[min(y + 1, last)]
    middle = columns[1 : 1 + width]
    for x in range(width):
        middle[x] = (above[x] & np.uint8(1)) + (here[x] & np.uint8(1)) + (below[x] & np.uint8(1))
    columns[0], columns[width + 1] = columns[1], columns[width]
    left, right = columns[:width], columns[2:]
    for x in range(width):
        counts[x] = left[x] + middle[x] + right[x]


@compiled
def add_details(first, last, raw, final, where, reach, detailed):
    """Add to foreground the raw foreground beside it that is most of a square of three pixels.

    Parameters
    ----------
    first, last : int
        Rows of cells.
    raw, final : (H, W) u1
        Raw and final mask, 0 and 255.
    where : (ceil(H / CELL), ceil(W / CELL)) u1
        255 in cells where details count, else 0.
    reach : int
        How many rows and columns they may be away from what is in the final mask.
    detailed : (H, W) u1
        Holds the final mask; its details become 255.
    """
    height, width = raw.shape
    columns, threes = np.zeros(width + 2 * reach, np.uint8), np.empty(width + 2, np.uint8)
    near, counts, allowed = (np.empty(width, np.uint8), np.empty(width, np.uint8), np.empty(width, np.uint8))
    for cell_row in range(first, last):
        for cell in range(where.shape[1]):
            for x in range(CELL * cell, min(CELL * (cell + 1), width)):
                allowed[x] = where[cell_row, cell]
        for y in _cell_rows(cell_row, height):
            found, out = final[y], detailed[y]
            if not _find_near(final, y, reach, columns, near):
                continue
            _count_in_threes(raw, y, threes, counts)
            for x in range(width):
                out[x] = found[x] | (np.uint8(255 if counts[x] >= _MOST else 0) & near[x] & allowed[x])
