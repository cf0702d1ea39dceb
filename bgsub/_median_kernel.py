"""Numba kernel of the median of a binary mask in small squares."""

import numpy as np

from bgsub._numba import kernel

__all__ = ["LARGEST", "median"]

LARGEST = 15
"""Largest side, whose square a byte can count."""


@kernel
def median(
    first_row,
    last_row,
    mask,  # (H, W) u1: 0 and 255
    side,  # odd, at most LARGEST
    voted,  # (H, W) u1, written: 255 where most of the square around a pixel is; borders are repeated outwards
):
    """Count in columns, kept from row to row, and add up neighbouring columns, all in bytes."""
    height, width = mask.shape
    reach, least = side // 2, np.uint8(side * side // 2 + 1)
    columns, sums = np.zeros(width + 2 * reach, np.uint8), np.empty(width, np.uint8)
    inner = columns[reach : reach + width]
    for y in range(first_row - 2 * reach, last_row):
        below = mask[min(max(y + reach, 0), height - 1)]
        for x in range(width):
            inner[x] = np.uint8(inner[x] + (below[x] & np.uint8(1)))
        if y < first_row:
            continue
        for x in range(reach):
            columns[x] = inner[0]
            columns[reach + width + x] = inner[width - 1]
        for x in range(width):
            sums[x] = columns[x]
        for i in range(1, side):
            part = columns[i : i + width]
            for x in range(width):
                sums[x] = np.uint8(sums[x] + part[x])
        row, above = voted[y], mask[max(y - reach, 0)]
        for x in range(width):
            row[x] = np.uint8(255) if sums[x] >= least else np.uint8(0)
        for x in range(width):
            inner[x] = np.uint8(inner[x] - (above[x] & np.uint8(1)))
