"""Outlines by the votes of small squares alone, where the raw mask can be trusted with them."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._jit.majority import CELL, IN_LARGE
from bgsub._numba import compiled_views, inlined

__all__ = ["COUNTS", "Insides", "Trust", "count_inside", "trim"]

COUNTS = 4
"""Counts of a cell: pixels inside what any squares found, and of these raw foreground; the same for small squares."""


class Insides(NamedTuple):
    """Where all of the square around a pixel is foreground; (H, W) u1, read in cells with a vote of a large square."""

    votes: Any
    """255 inside what squares of either size found, else 0"""
    small: Any
    """the same of the small ones"""


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


@compiled_views
def count_inside(first, last, raw, insides, cells, counts):
    """Count in each cell the pixels inside objects, and how many of them are raw foreground.

    Parameters
    ----------
    first, last : int
        Rows of cells.
    raw : (H, W) u1
        Raw mask, 0 and 255.
    insides : Insides
    cells : (ceil(H / CELL), ceil(W / CELL)) u1
        Bits of the votes, from `vote_twice`.
    counts : (ceil(H / CELL), ceil(W / CELL), COUNTS) f4
        Written.
    """
    height, width = raw.shape
    one = np.uint8(1)
    for cell_row in range(first, last):
        flags, row = cells[cell_row], counts[cell_row]
        for cell in range(flags.shape[0]):
            solid, full, fine, fine_full = np.uint8(0), np.uint8(0), np.uint8(0), np.uint8(0)
            if flags[cell] & IN_LARGE != 0:
                for y in _cell_rows(cell_row, height):
                    for x in range(CELL * cell, min(CELL * (cell + 1), width)):
                        here, inside, in_small = raw[y, x] & one, insides.votes[y, x], insides.small[y, x]
                        solid += inside & one
                        full += inside & here
                        fine += in_small & one
                        fine_full += in_small & here
            row[cell, 0], row[cell, 1] = np.float32(solid), np.float32(full)
            row[cell, 2], row[cell, 3] = np.float32(fine), np.float32(fine_full)


@compiled_views
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
    for cell_row in range(first, last):
        for cell in range(cells.shape[1]):
            if cells[cell_row, cell] & IN_LARGE & where[cell_row, cell] == 0:
                continue
            mean = means[cell_row, cell]
            if mean[1] > trust.votes * mean[0] and mean[3] > trust.small * mean[2]:
                for y in _cell_rows(cell_row, height):
                    for x in range(CELL * cell, min(CELL * (cell + 1), width)):
                        votes[y, x] &= small[y, x]
