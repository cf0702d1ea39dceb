"""Leaves and twigs that moved by a pixel or two: specks of a mask whose colours are beside them anyway."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._jit.majority import CELL, IN_LARGE
from bgsub._jit.runs import has_any
from bgsub._numba import compiled, inlined, part

__all__ = ["Sway", "clear_displaced", "is_beside"]

_SEEN = np.uint8(128)  # stands for 255 in what was looked at
_CHUNK = 16  # pixels of a row that are compared at once


class Sway(NamedTuple):
    """How far leaves may have moved, and what then is one."""

    reach: Any
    """i8: pixels to the farthest row and column where a colour may come from; 0 to look for none."""
    share: Any
    """f8: of the pixels of a region, which the background must have so near."""
    box: Any
    """Of the frame's dtype: by how much each channel may differ from it."""


@inlined
def _is_inside(kind, seen, learned, box):
    """Return 1 where two values of a dtype differ by no more than `box`, else 0; bytes stay bytes."""
    return np.uint8(1) if kind(max(seen, learned) - min(seen, learned)) <= box else np.uint8(0)


@inlined
def _has_colour(pictures, box, pixel, begin, first, last):
    """Return whether the background has the colour of a pixel in some of the _CHUNK pixels from `begin` on.

    These are the first-th to the one before the last-th. As many are compared whatever these are: a constant number
    is compared at once.
    """
    frame, background, kind = pictures.frame, pictures.background, pictures.background.dtype.type
    found, low, high = np.uint8(0), np.uint8(first), np.uint8(last)
    seen0, learned0 = frame[0, pixel], background[0, begin : begin + _CHUNK]
    if frame.shape[0] == 3:
        seen1, learned1 = frame[1, pixel], background[1, begin : begin + _CHUNK]
        seen2, learned2 = frame[2, pixel], background[2, begin : begin + _CHUNK]
        for i in range(_CHUNK):
            at, b0, b1, b2 = np.uint8(i), learned0[i], learned1[i], learned2[i]
            inside = (
                _is_inside(kind, seen0, b0, box) & _is_inside(kind, seen1, b1, box) & _is_inside(kind, seen2, b2, box)
            )
            found = np.uint8(found | (inside if (at >= low) & (at < high) else np.uint8(0)))
    else:
        for i in range(_CHUNK):
            at, b0 = np.uint8(i), learned0[i]
            inside = _is_inside(kind, seen0, b0, box)
            found = np.uint8(found | (inside if (at >= low) & (at < high) else np.uint8(0)))
    return found != 0


@part
def is_beside(pictures, sway, y, x, size):
    """Return whether the background has the colour of a pixel anywhere in the square around it.

    Planes of `pictures` have at least _CHUNK pixels, as those that are made of whole blocks have.
    """
    height, width = size
    left, right = max(x - sway.reach, 0), min(x + sway.reach + 1, width)
    last = pictures.background.shape[1] - _CHUNK
    for row in range(max(y - sway.reach, 0), min(y + sway.reach + 1, height)):
        for column in range(left, right, _CHUNK):
            at = row * width + column
            begin = min(at, last)  # not beyond the last pixel
            first = at - begin
            if _has_colour(pictures, sway.box, y * width + x, begin, first, first + min(right - column, _CHUNK)):
                return True
    return False


@inlined
def _flood(mask, cells, pixels, first):
    """Collect the region that pixels[first] belongs to, but what of it is in cells of large squares; mark it as seen.

    Returns the end of its pixels, and whether all of it was collected.
    """
    height, width = mask.shape
    flat, end, at, whole = mask.reshape(-1), first + 1, first, True
    flat[pixels[first]] = _SEEN
    while at < end:
        y, x = divmod(np.int64(pixels[at]), width)
        at += 1
        for row in range(max(y - 1, 0), min(y + 2, height)):
            for column in range(max(x - 1, 0), min(x + 2, width)):
                if mask[row, column] != np.uint8(255):
                    continue
                if cells[row // CELL, column // CELL] & IN_LARGE != 0:
                    whole = False
                    continue
                mask[row, column] = _SEEN
                pixels[end] = np.int32(row * width + column)
                end += 1
    return end, whole


@inlined
def _sways(pictures, sway, pixels, size):
    """Return whether the background has the colours of enough pixels of a region beside them."""
    beside = 0
    for i in range(pixels.shape[0]):
        y, x = divmod(np.int64(pixels[i]), size[1])
        beside += 1 if is_beside(pictures, sway, y, x, size) else 0
    return beside >= sway.share * pixels.shape[0]


@inlined
def _remove(pixels, mask, voted, reach):
    """Write 0 into a region of a mask, and into what was voted as near to it."""
    for i in range(pixels.shape[0]):
        y, x = divmod(np.int64(pixels[i]), mask.shape[1])
        mask[y, x] = np.uint8(0)
        top, left = max(y - reach, 0), max(x - reach, 0)
        voted[top : y + reach + 1, left : x + reach + 1] = np.uint8(0)


@compiled
def clear_displaced(mask: Any, cells: Any, pictures: Any, sway: Any, voted: Any) -> Any:
    """Remove the regions of a mask that only smaller squares found, and whose colours the background has beside them.

    A leaf that sways shows at a pixel what the background has a pixel or two away: the displacement of pixels of
    Elgammal, Harwood and Davis (2000). It is asked for whole regions, since what passes has some of these colours, too.

    Parameters
    ----------
    mask : (H, W) u1
        0 and 255; written.
    cells : (ceil(H / CELL), ceil(W / CELL)) u1
        Bits of the votes, from `vote_thrice`.
    pictures : Pictures
    sway : Sway
    voted : (H, W) u1
        What is faint or tiny, from `vote_on_faint`; becomes 0 as near to what is removed, which is neither.
    """
    pixels, flat, kept, size = np.empty(mask.size, np.int32), mask.reshape(-1), 0, (mask.shape[0], mask.shape[1])
    for cell_row in range(cells.shape[0]):
        for cell in range(cells.shape[1] if has_any(cells[cell_row]) else 0):
            if cells[cell_row, cell] == 0 or cells[cell_row, cell] & IN_LARGE != 0:
                continue
            for row in range(CELL * cell_row, min(CELL * (cell_row + 1), size[0])):
                for column in range(CELL * cell, min(CELL * (cell + 1), size[1])):
                    if mask[row, column] != np.uint8(255):
                        continue
                    pixels[kept] = np.int32(row * size[1] + column)
                    end, whole = _flood(mask, cells, pixels, kept)
                    if whole and _sways(pictures, sway, pixels[kept:end], size):
                        _remove(pixels[kept:end], mask, voted, sway.reach)
                    else:
                        kept = end
    for i in range(kept):
        flat[pixels[i]] = np.uint8(255)
