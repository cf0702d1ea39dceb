"""Thin details of the final mask, such as limbs and masts, and tiny things alone."""

from typing import Any

import numpy as np

from bgsub._jit.majority import CELL, IN_LARGE
from bgsub._jit.runs import has_any
from bgsub._numba import banded, compiled, inlined, part

__all__ = ["TINY", "add_details", "mark_beside", "mark_tiny"]

TINY = np.uint8(1)
"""Marks a pixel of a square of two that is raw foreground, among others that are merely faint."""

_FULL = np.uint32(0xFFFFFFFF)
_MOST = np.uint8(5)  # of the nine pixels in a square of three


@compiled
def mark_beside(cells: Any, reach: Any, static: Any, where: Any) -> None:
    """Write a grid where cells near those of large squares keep what they have, and others have 0.

    Parameters
    ----------
    cells : (h, w) u1
        Bits of the votes: IN_LARGE where a large square has a majority.
    reach : int
        How many rows and columns they may be away.
    static : (h, w) u1
    where : (h, w) u1
        Written: `static` in a square of 2 * reach + 1 cells around such a one, else 0.
    """
    height, width = cells.shape
    line = np.zeros(width + 2 * reach, np.uint8)
    middle = line[reach : reach + width]
    for y in range(height):
        middle[:] = np.uint8(0)
        for row in range(max(y - reach, 0), min(y + reach + 1, height)):
            _add_bits(cells[row], middle)
        out, kept = where[y], static[y]
        out[:] = np.uint8(0)
        for shift in range(2 * reach + 1):
            _add_bits(line[shift:], out)
        for x in range(width):
            bits = kept[x]
            out[x] = bits if out[x] & IN_LARGE != 0 else np.uint8(0)


@inlined
def _add_bits(row, bits):
    for x in range(bits.shape[0]):
        bits[x] |= row[x]


@inlined
def _find_near(mask, occupied_rows, y, reach, columns, near):
    """Write what a square of 2 * reach + 1 pixels around each pixel of a row meets; return whether any may.

    columns : (W + 2 * reach,) u1, scratch, whose ends are 0
    """
    height, width = mask.shape
    middle, met = columns[reach : reach + width], False
    for row in range(max(y - reach, 0), min(y + reach + 1, height)):
        if occupied_rows[row] == 0:
            continue
        line = mask[row]
        if not met:
            middle[:] = np.uint8(0)
        for x in range(width):
            middle[x] |= line[x]
        met = True
    if met:
        for x in range(width):
            near[x] = middle[x]
        for shift in range(2 * reach + 1):
            shifted = columns[shift : shift + width]
            for x in range(width):
                near[x] |= shifted[x]
    return met


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


@banded
def add_details(first, last, raw, final, occupied_rows, where, reach, detailed, detailed_rows):
    """Add to foreground the raw foreground beside it that is most of a square of three pixels.

    Parameters
    ----------
    first, last : int
        Rows of cells.
    raw, final : (H, W) u1
        Raw and final mask, 0 and 255.
    occupied_rows : (H,) u1
        0 for rows of the final mask that are empty for certain.
    where : (ceil(H / CELL), ceil(W / CELL)) u1
        Not 0 in cells where details count.
    reach : int
        How many rows and columns they may be away from what is in the final mask.
    detailed : (H, W) u1
        Written: the final mask with its details.
    detailed_rows : (H,) u1
        Written: 0 for rows of it that are empty for certain.
    """
    width = raw.shape[1]
    lines, allowed = np.zeros((4, width + 2 * max(reach, 1)), np.uint8), np.empty(CELL * where.shape[1], np.uint8)
    _add_details(first, last, raw, final, occupied_rows, where, reach, lines, allowed, detailed, detailed_rows)


@part
def _add_details(first, last, raw, final, occupied_rows, where, reach, lines, allowed, detailed, detailed_rows):
    height, width = raw.shape
    columns, threes, near, counts = lines[0], lines[1], lines[2, :width], lines[3, :width]
    words = allowed.view(np.uint32)
    for cell_row in range(first, last):
        wanted = where[cell_row]
        for cell in range(words.shape[0]):
            words[cell] = _FULL if wanted[cell] != 0 else np.uint32(0)
        for y in range(CELL * cell_row, min(CELL * (cell_row + 1), height)):
            found, out = final[y], detailed[y]
            detailed_rows[y] = np.uint8(1 if _find_near(final, occupied_rows, y, reach, columns, near) else 0)
            if detailed_rows[y] == 0:
                out[:] = np.uint8(0)
                continue
            _count_in_threes(raw, y, threes, counts)
            for x in range(width):
                out[x] = found[x] | (np.uint8(255 if counts[x] >= _MOST else 0) & near[x] & allowed[x])


@inlined
def _find_blocks(row, next_row, blocks):
    """Write 255 where two pixels of a row and of the next one are raw foreground, else 0; return whether there are any.

    blocks : (W + 1,) u1, from the second on; the first and the last are 0
    """
    if not has_any(row) or not has_any(next_row):
        blocks[:] = np.uint8(0)
        return False
    right, next_right, inner, found = row[1:], next_row[1:], blocks[1:], np.uint8(0)
    for x in range(right.shape[0]):
        inner[x] = row[x] & right[x] & next_row[x] & next_right[x]
        found = np.uint8(found | inner[x])
    return found != 0


@banded
def mark_tiny(first: Any, last: Any, raw: Any, voted: Any) -> None:
    """Write `TINY` where a pixel belongs to a square of two, all of which is raw foreground.

    Parameters
    ----------
    first, last : int
        Rows of pixels.
    raw : (H, W) u1
        Raw mask, 0 and 255.
    voted : (H, W) u1
        Updated.
    """
    height, width = raw.shape
    blocks = np.zeros((2, width + 1), np.uint8)
    above, below = blocks[0], blocks[1]
    any_above = first > 0 and _find_blocks(raw[first - 1], raw[first], above)
    for y in range(first, last):
        if y < height - 1:
            any_below = _find_blocks(raw[y], raw[y + 1], below)
        else:
            below[:] = np.uint8(0)
            any_below = False
        if any_above or any_below:
            out, above_right, below_right = voted[y], above[1:], below[1:]
            for x in range(width):
                any_block, before = above[x] | above_right[x] | below[x] | below_right[x], out[x]
                out[x] = TINY if any_block != 0 else before
        above, below, any_above = below, above, any_below
