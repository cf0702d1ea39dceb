"""What is faint or tiny, and shown where little else is and such things are seldom."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._jit.majority import CELL, IN_LARGE, IN_SMALL, median
from bgsub._jit.runs import has_any
from bgsub._numba import banded, compiled, in_bands, inlined, part
from bgsub.detectors.adaptive._jit.outlines.details import TINY, mark_tiny
from bgsub.detectors.adaptive._jit.shadows.kinds import FAINT, RIM, SPECK

__all__ = ["IN_FAINT", "Found", "mark_faint", "mark_open", "show_faint", "vote_on_faint"]

IN_FAINT = np.uint8(8)
"""Bit of a cell in which a square of faint pixels has a majority, far from what else was found."""
_SMALL, _LARGE = np.uint8(1), np.uint8(2)  # bits of what is clear in a cell


class Found(NamedTuple):
    """What was found in a frame, (H, W) u1 each."""

    final: Any
    """The final mask, 0 and 255."""
    occupied_rows: Any
    """(H,) u1: 0 for rows of it that are known to be empty."""
    raw: Any
    """The raw mask."""
    distance: Any
    """1 - density / threshold in BYTEs, where the raw mask is foreground."""


@compiled
def mark_open(found: Any, cells: Any, least: Any, static: Any, reach: Any, opened: Any) -> Any:
    """Mark the cells where small squares count and nothing clear was found within so many cells, or only its rest is.

    Around what moves there is shade, blur and what a codec spoils: faint pixels near it say nothing. Those near what
    is hardly less faint may be the rest of it. So may those that touch what is clear, but so small that no large square
    has a majority: the head of somebody far away, whose body is like the ground.

    Parameters
    ----------
    found : Found
    cells : (h, w) u1
        Bits of the votes, from `vote_thrice`.
    least : u1
        Of the distance in what is clear.
    static : (h, w) u1
        Which smaller squares count: IN_SMALL, IN_MIDDLE or 0.
    reach : int
        In cells.
    opened : (h, w) u1
        Written: 1 in such a cell, else 0.
    """
    height, width = static.shape
    line = np.zeros(CELL * width, np.uint8)
    words, clear = line.view(np.uint32), np.zeros(width + 2 * reach, np.uint8)
    rows, touching = np.zeros((height + 2 * reach, width), np.uint8), np.zeros((height + 2, width + 2), np.uint8)
    for y in range(height):
        top, bottom = CELL * y, min(CELL * (y + 1), found.final.shape[0])
        if not has_any(found.occupied_rows[top:bottom]):
            continue
        line[:] = np.uint8(0)
        for row in range(top, bottom):
            _mark_clear(found.final[row], found.raw[row], found.distance[row], least, line)
        for x in range(width):
            size = _LARGE if cells[y, x] & IN_LARGE != 0 else _SMALL
            clear[x + reach] = size if words[x] != 0 else np.uint8(0)
            if clear[x + reach] == _SMALL:
                touching[y : y + 3, x : x + 3] = np.uint8(1)
        for i in range(2 * reach + 1):
            _merge(clear[i : i + width], rows[y + reach])
    for y in range(height):
        row, counts, beside = opened[y], static[y], touching[y + 1, 1:]
        row[:] = np.uint8(0)
        for i in range(2 * reach + 1):
            _merge(rows[y + i], row)
        for x in range(width):
            is_open = (row[x] == 0) | ((row[x] == _SMALL) & (beside[x] != 0))
            row[x] = np.uint8(1) if is_open & (counts[x] == IN_SMALL) else np.uint8(0)


@part
def _mark_clear(final, raw, distance, least, line):
    for x in range(final.shape[0]):
        line[x] |= final[x] & raw[x] & (np.uint8(255) if distance[x] >= least else np.uint8(0))


@part
def _merge(row, merged):
    for x in range(merged.shape[0]):
        merged[x] |= row[x]


@banded
def mark_faint(first: Any, last: Any, voted: Any, opened: Any, cells: Any) -> Any:
    """Add IN_FAINT to the open cells in which squares of faint pixels have a majority, or anything is tiny.

    Parameters
    ----------
    first, last : int
        Rows of cells.
    voted : (H, W) u1
        Not 0 there.
    opened : (h, w) u1
        From `mark_open`.
    cells : (h, w) u1
        Updated.
    """
    height, width = voted.shape
    line = np.zeros(CELL * cells.shape[1], np.uint8)
    words, columns = line.view(np.uint32), line[:width]
    for cell_row in range(first, last):
        if not has_any(opened[cell_row]):
            continue
        columns[:] = np.uint8(0)
        for y in range(CELL * cell_row, min(CELL * (cell_row + 1), height)):
            _merge(voted[y], columns)
        here, may = cells[cell_row], opened[cell_row]
        for x in range(here.shape[0]):
            here[x] |= IN_FAINT if (words[x] != 0) & (may[x] != 0) else np.uint8(0)


@compiled
def vote_on_faint(
    team: Any, faint: Any, found: Any, least: Any, static: Any, reach: Any, side: Any, cells: Any, voted: Any
) -> Any:
    """Vote on faint pixels in small squares, find what is tiny, and mark the open cells that have any of it.

    Parameters
    ----------
    team : Team
    faint : (H, W) u1
        0 and 255.
    found, least, static, reach
        As for `mark_open`.
    side : i8
        Of the squares; odd, at most LARGEST.
    cells : (h, w) u1
        Updated by `mark_faint`.
    voted : (H, W) u1
        Written: `TINY` in squares of two that are raw, else 255 where most of the square is faint, else 0.
    """
    opened = np.empty_like(cells)
    mark_open(found, cells, least, static, reach, opened)
    in_bands(team, median, 0, faint.shape[0], 1, (faint, side, voted))
    in_bands(team, mark_tiny, 0, faint.shape[0], 1, (found.raw, voted))
    in_bands(team, mark_faint, 0, cells.shape[0], 1, (voted, opened, cells))


@inlined
def _is_beside(kinds, cell_row, cell):
    """Return whether there is foreground in or beside a cell that is neither faint nor a speck."""
    for row in range(max(CELL * (cell_row - 1), 0), min(CELL * (cell_row + 2), kinds.shape[0])):
        for column in range(max(CELL * (cell - 1), 0), min(CELL * (cell + 2), kinds.shape[1])):
            if kinds[row, column] > RIM and kinds[row, column] != SPECK:
                return True
    return False


@compiled
def show_faint(
    voted: Any,
    cells: Any,
    faint_static: Any,
    rates: Any,
    most: Any,
    all_faint: Any,
    mask: Any,
    occupied_rows: Any,
    kinds: Any,
) -> Any:
    """Add what is faint or tiny to a mask where such false alarms are seldom; return whether there was any.

    Parameters
    ----------
    voted : (H, W) u1
        From `vote_on_faint`.
    cells : (h, w) u1
        Bits of the votes, after `mark_faint`.
    faint_static : (h, w) u1
        1 where such squares seldom raise false alarms around, else 0.
    rates : (h, w) f4
        Their mean costs, from `count_onsets`.
    most : f4
        None of them in 3x3 cells may be above it.
    all_faint : b1
        Whether to add what is merely faint, and not only what is tiny.
    mask : (H, W) u1
        Updated.
    occupied_rows : (H,) u1
        Becomes 1 for rows of it to which anything is added.
    kinds : (H, W) u1
        Becomes `SPECK` where what is added is tiny, and `RIM` where it is faint beside other foreground.
    """
    height, width = cells.shape
    shown = False
    for y in range(height):
        bits = np.uint8(0)
        for x in range(width):
            bits = np.uint8(bits | cells[y, x])
        for x in range(width if bits & IN_FAINT != 0 else 0):
            if cells[y, x] & IN_FAINT == 0 or faint_static[y, x] == 0:
                continue
            cost = np.float32(0.0)
            for row in range(y - 1, y + 2):
                for column in range(x - 1, x + 2):
                    cost = max(cost, rates[min(max(row, 0), height - 1), min(max(column, 0), width - 1)])
            if cost > most:
                continue
            faint_kind = RIM if all_faint and _is_beside(kinds, y, x) else FAINT
            for row in range(CELL * y, min(CELL * (y + 1), mask.shape[0])):
                occupied_rows[row] = np.uint8(1)
                for column in range(CELL * x, min(CELL * (x + 1), mask.shape[1])):
                    vote = voted[row, column]
                    if mask[row, column] == 0 and (vote == TINY or (vote != 0 and all_faint)):
                        mask[row, column] = np.uint8(255)
                        kinds[row, column] = SPECK if vote == TINY else faint_kind
            shown = True
    return shown
