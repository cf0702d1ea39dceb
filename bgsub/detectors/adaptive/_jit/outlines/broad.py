"""Regions of small squares' votes that are as large as the majority of a large square, whatever their shape."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._jit.majority import CELL, IN_SMALL
from bgsub._jit.runs import END, LABEL, ROW, START, find_runs
from bgsub._numba import compiled, inlined
from bgsub.detectors.adaptive._jit.outlines.displaced import is_beside

__all__ = ["IN_BROAD", "Broad", "add_broad"]

IN_BROAD = np.uint8(16)
"""Bit of a cell: it belongs to a broad region."""

_COMPARED = 64  # pixels of a region, if it has as many, are compared with what is around them, or up to twice as many
_MOST = 32  # broad regions of a frame are compared: the time that it takes is bounded
_AREA, _ALLOWED, _ASKED, _PASSED, _TRIED, _BESIDE = 0, 1, 2, 3, 4, 5  # columns of a table of regions


class Broad(NamedTuple):
    """Where broad regions count, and how leaves are told from them."""

    static: Any
    """(h, w) u1: 1 in cells where they seldom are false alarms, else 0."""
    pictures: Any
    """Pictures"""
    sway: Any
    """Sway: how far leaves of such a size move."""


@inlined
def _is_asked(cells, static):
    """Return whether small squares found anything where they do not count."""
    bits = np.uint8(0)
    for y in range(cells.shape[0]):
        row, counts = cells[y], static[y]
        for x in range(row.shape[0]):
            here = row[x]
            bits = np.uint8(bits | (here if counts[x] == 0 else np.uint8(0)))
    return bits & IN_SMALL != 0


@inlined
def _measure(runs, static, broad, least, regions):
    """Count the pixels of each region, and those where broad ones count; note which are to be compared.

    Returns whether any is.
    """
    for i in range(runs.shape[0]):
        region, y, start, end = regions[runs[i, LABEL]], runs[i, ROW] // CELL, runs[i, START], runs[i, END]
        region[_AREA] += end - start
        for cell in range(start // CELL, (end - 1) // CELL + 1):
            pixels = min(end, CELL * (cell + 1)) - max(start, CELL * cell)
            region[_ALLOWED] += np.int32(pixels if broad.static[y, cell] != 0 else 0)
            region[_ASKED] |= np.int32(1 if static[y, cell] == 0 else 0)
    compared = 0
    for i in range(regions.shape[0]):
        region = regions[i]
        region[_ASKED] = np.int32(1 if region[_ASKED] != 0 and region[_AREA] >= least and compared < _MOST else 0)
        compared += region[_ASKED]
    return compared != 0


@inlined
def _compare(runs, broad, size, regions):
    """Count the pixels, evenly spread over each region, whose colours the background has around."""
    for i in range(runs.shape[0]):
        region = regions[runs[i, LABEL]]
        if region[_ASKED] == 0:
            continue
        step, start, end = max(region[_AREA] // _COMPARED, 1), runs[i, START], runs[i, END]
        for x in range(start + -region[_PASSED] % step, end, step):
            region[_TRIED] += 1
            region[_BESIDE] += 1 if is_beside(broad.pictures, broad.sway, runs[i, ROW], x, size) else 0
        region[_PASSED] += end - start


@inlined
def _add(runs, regions, broad, votes):
    """Mark the cells of regions that are no leaves, and add those to the mask most of which is where they count."""
    for i in range(runs.shape[0]):
        region, y = regions[runs[i, LABEL]], runs[i, ROW]
        if region[_ASKED] == 0 or region[_BESIDE] >= broad.sway.share * region[_TRIED]:
            continue
        counts = 2 * region[_ALLOWED] > region[_AREA]
        for x in range(runs[i, START], runs[i, END]):
            votes.cells[y // CELL, x // CELL] |= IN_BROAD
            votes.mask[y, x] = np.uint8(255) if counts else votes.mask[y, x]


@compiled
def add_broad(small: Any, static: Any, broad: Any, least: Any, votes: Any) -> Any:
    """Add regions that small squares found where they do not count, if they are broad and no leaves.

    A region is broad if it has as many pixels as the majority of a large square. Large squares find what fills them;
    what is as large, but longer than it is high, or has the gaps of limbs, they miss. Most regions of leaves are
    smaller, and broad ones have the colours of the leaves around, while of somebody who walks by the background has
    few. Where they are often false alarms all the same, they do not count.

    Parameters
    ----------
    small : (H, W) u1
        What small squares found, 0 and 255.
    static : (h, w) u1
        Not 0 in cells where smaller squares count, whose votes are in the mask: broad regions have others, too.
    broad : Broad
    least : i8
        Pixels that make a region broad.
    votes : Votes
        The mask, the rows in which it or `small` may hold foreground, and the bits of its cells: regions are added,
        and `IN_BROAD` for all that are broad and no leaves, whether they count or not.
    """
    size = small.shape[0], small.shape[1]
    if not _is_asked(votes.cells, static):
        return
    memory = np.empty((size[0] * ((size[1] + 1) // 2), 4), np.int32)
    count, kinds = find_runs(small, votes.filled, 1, memory)
    runs, regions = memory[:count], np.zeros((kinds, _BESIDE + 1), np.int32)
    if _measure(runs, static, broad, least, regions):
        _compare(runs, broad, size, regions)
        _add(runs, regions, broad, votes)
