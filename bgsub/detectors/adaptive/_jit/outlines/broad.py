"""Regions of small squares' votes that are as large as the majority of a large square, whatever their shape."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._jit.majority import CELL, IN_SMALL
from bgsub._numba import compiled, inlined
from bgsub.detectors.adaptive._jit.outlines.displaced import is_beside

__all__ = ["IN_BROAD", "Broad", "add_broad"]

IN_BROAD = np.uint8(16)
"""Bit of a cell: it belongs to a broad region."""

_SEEN = np.uint8(128)  # stands for 255 in what was looked at
_COMPARED = 64  # pixels of a region, if it has as many, are compared with what is around them, or up to twice as many


class Broad(NamedTuple):
    """Where broad regions count, and how leaves are told from them."""

    static: Any
    """(h, w) u1: 1 in cells where they seldom are false alarms, else 0."""
    pictures: Any
    """Pictures"""
    sway: Any
    """Sway: how far leaves of such a size move."""


@inlined
def _flood(small, pixels):
    """Collect the region that pixels[0] belongs to, mark it as seen, and return where its pixels end."""
    height, width = small.shape
    flat, at, end = small.reshape(-1), 0, 1
    flat[pixels[0]] = _SEEN
    while at < end:
        y, x = divmod(np.int64(pixels[at]), width)
        at += 1
        for row in range(max(y - 1, 0), min(y + 2, height)):
            for column in range(max(x - 1, 0), min(x + 2, width)):
                if small[row, column] == np.uint8(255):
                    small[row, column] = _SEEN
                    pixels[end] = np.int32(row * width + column)
                    end += 1
    return end


@inlined
def _sways(region, broad, size):
    """Return whether the background has the colours of enough pixels of a region around them, of some of these."""
    step, asked, beside = max(region.shape[0] // _COMPARED, 1), 0, 0
    for i in range(0, region.shape[0], step):
        y, x = divmod(np.int64(region[i]), size[1])
        asked += 1
        beside += 1 if is_beside(broad.pictures, broad.sway, y, x, size) else 0
    return beside >= broad.sway.share * asked


@inlined
def _add(region, broad, votes):
    """Mark the cells of a region, and add it to the mask if most of it is where such regions count."""
    width, allowed = votes.mask.shape[1], np.int64(0)
    for i in range(region.shape[0]):
        y, x = divmod(np.int64(region[i]), width)
        votes.cells[y // CELL, x // CELL] |= IN_BROAD
        allowed += np.int64(broad.static[y // CELL, x // CELL])
    for i in range(region.shape[0] if 2 * allowed > region.shape[0] else 0):
        y, x = divmod(np.int64(region[i]), width)
        votes.mask[y, x], votes.filled[y] = np.uint8(255), np.uint8(1)


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
        What small squares found, 0 and 255; written.
    static : (h, w) u1
        Not 0 in cells where smaller squares count, whose votes are in the mask: broad regions need others.
    broad : Broad
    least : i8
        Pixels that make a region broad.
    votes : Votes
        The mask, which rows of it may hold foreground, and the bits of its cells: regions are added, and `IN_BROAD` for
        all that are broad and no leaves, whether they count or not.
    """
    cells, size, pixels = votes.cells, (small.shape[0], small.shape[1]), np.empty(0, np.int32)
    for cell_row in range(cells.shape[0]):
        bits = np.uint8(0)
        for cell in range(cells.shape[1]):
            bits = np.uint8(bits | (cells[cell_row, cell] if static[cell_row, cell] == 0 else np.uint8(0)))
        if bits & IN_SMALL == 0:
            continue
        if pixels.shape[0] == 0:
            pixels = np.empty(small.size, np.int32)
        for cell in range(cells.shape[1]):
            if cells[cell_row, cell] & IN_SMALL == 0 or static[cell_row, cell] != 0:
                continue
            for y in range(CELL * cell_row, min(CELL * (cell_row + 1), size[0])):
                for x in range(CELL * cell, min(CELL * (cell + 1), size[1])):
                    if small[y, x] == np.uint8(255):
                        pixels[0] = np.int32(y * size[1] + x)
                        region = pixels[: _flood(small, pixels)]
                        if region.shape[0] >= least and not _sways(region, broad, size):
                            _add(region, broad, votes)
