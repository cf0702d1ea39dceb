"""Outlines by the votes of small squares alone, where the raw mask can be trusted with them."""

import numpy as np

from bgsub._jit.majority import CELL, IN_LARGE
from bgsub._numba import compiled_views

__all__ = ["count_inside", "trim"]


@compiled_views
def count_inside(first, last, raw, inside, cells, counts):
    """Count in each cell the pixels inside objects, and how many of them are raw foreground.

    Parameters
    ----------
    first, last : int
        Rows of cells.
    raw : (H, W) u1
        Raw mask, 0 and 255.
    inside : (H, W) u1
        255 inside objects, else 0; read in cells with a vote of a large square only.
    cells : (ceil(H / CELL), ceil(W / CELL)) u1
        Bits of the votes, from `vote_twice`.
    counts : (ceil(H / CELL), ceil(W / CELL), 2) f4
        Written.
    """
    height, width = raw.shape
    for cell_row in range(first, last):
        flags, row = cells[cell_row], counts[cell_row]
        for cell in range(flags.shape[0]):
            solid, full = np.int64(0), np.int64(0)
            if flags[cell] & IN_LARGE != 0:
                for y in range(CELL * cell_row, min(CELL * (cell_row + 1), height)):
                    for x in range(CELL * cell, min(CELL * (cell + 1), width)):
                        solid += np.int64(inside[y, x] & np.uint8(1))
                        full += np.int64(inside[y, x] & raw[y, x] & np.uint8(1))
            row[cell, 0] = np.float32(solid)
            row[cell, 1] = np.float32(full)


@compiled_views
def trim(first, last, votes, small, cells, where, means, share):
    """Leave in a cell what small squares found, where most of the pixels inside the objects around are raw foreground.

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
    means : (ceil(H / CELL), ceil(W / CELL), 2) f4
        Of the counts of `count_inside`, around each cell.
    share : f4
        That the second must exceed of the first.
    """
    height, width = votes.shape
    for cell_row in range(first, last):
        for cell in range(cells.shape[1]):
            if cells[cell_row, cell] & IN_LARGE & where[cell_row, cell] == 0:
                continue
            if means[cell_row, cell, 1] > share * means[cell_row, cell, 0]:
                for y in range(CELL * cell_row, min(CELL * (cell_row + 1), height)):
                    for x in range(CELL * cell, min(CELL * (cell + 1), width)):
                        votes[y, x] &= small[y, x]
