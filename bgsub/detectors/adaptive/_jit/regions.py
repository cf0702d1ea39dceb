"""A mask, its holes, and how many of its pixels are new."""

from typing import Any

import numpy as np

from bgsub._jit.runs import fill_gaps, has_any
from bgsub._numba import compiled, compiled_views

__all__ = ["count_changes", "fill_holes", "finish"]

_COUNTED = 64  # pixels that are counted together


@compiled
def fill_holes(mask: Any, occupied_rows: Any) -> Any:
    """Make foreground of the background that foreground encloses, in a mask of 0 and 255; what shares a corner touches.

    Rows where `occupied_rows`, (H,), is 0 are known to be empty.
    """
    fill_gaps(mask, occupied_rows, np.empty((mask.shape[0] * (mask.shape[1] // 2) + 2, 4), np.int32))


@compiled
def finish(mask: Any, occupied_rows: Any, unfilled: Any, fill: Any) -> Any:
    """Keep a mask as it is, and fill its holes.

    Parameters
    ----------
    mask : (H, W) u1
        0 and 255; written.
    occupied_rows : (H,) u1
        0 for rows that are empty for certain; written: 1 for all others.
    unfilled : (H, W) u1
        Written: the mask as it was.
    fill : b1
    """
    height, width = mask.shape
    for y in range(height):
        row, out = mask[y], unfilled[y]
        if occupied_rows[y] == 0:
            out[:] = np.uint8(0)
            continue
        for x in range(width):
            out[x] = row[x]
        occupied_rows[y] = np.uint8(1 if has_any(row) else 0)
    if fill:
        fill_gaps(mask, occupied_rows, np.empty((height * (width // 2) + 2, 4), np.int32))


@compiled_views
def count_changes(mask: Any, previous: Any, occupied_rows: Any) -> Any:
    """Return how much foreground a mask has, and how much of that another does not have.

    Parameters
    ----------
    mask, previous : (H, W) u1
        0 and 255.
    occupied_rows : (H,) u1
        0 for rows that are empty for certain in `mask`.
    """
    height, width = mask.shape
    now, before = mask.reshape(-1), previous.reshape(-1)
    foreground, appeared, first = np.int64(0), np.int64(0), 0
    while first < height:
        last = first
        while last < height and occupied_rows[last] != 0:
            last += 1
        begin, end = first * width, last * width
        whole = end - (end - begin) % _COUNTED
        for start in range(begin, whole, _COUNTED):
            here, there = now[start:], before[start:]
            count, new = np.uint8(0), np.uint8(0)  # counted in bytes: a vector has most of them
            for x in range(_COUNTED):  # a constant length compiles to a few instructions
                count = np.uint8(count + (np.uint8(1) if here[x] != 0 else np.uint8(0)))
                new = np.uint8(new + (np.uint8(1) if here[x] & ~there[x] != 0 else np.uint8(0)))
            foreground += np.int64(count)
            appeared += np.int64(new)
        for x in range(whole, end):
            foreground += 1 if now[x] != 0 else 0
            appeared += 1 if now[x] & ~before[x] != 0 else 0
        first = last + 1
    return foreground, appeared
