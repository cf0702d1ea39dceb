"""Numba kernel that lets the foreground of square neighbourhoods vote: the median of a binary mask."""

import numpy as np

from bgsub._numba import kernel

__all__ = ["vote"]

_SEGMENT = 64  # pixels of a row whose neighbourhoods are looked at together


@kernel
def vote(
    first_row,
    last_row,
    mask,  # (H, W) u1: 0 and 255
    reach,  # half of the side, without the middle
    least,  # foreground pixels needed
    voted,  # (H, W) u1, written: 255 where the square around a pixel has so many; borders are repeated outwards
):
    """Count in columns, kept from row to row, and slide along rows only where their sums allow a vote at all."""
    height, width = mask.shape
    span = width + 2 * reach
    columns = np.zeros(span, np.uint16)  # foreground pixels of each column of the neighbourhood, borders repeated
    inner = columns[reach : reach + width]
    for row in range(first_row - reach, first_row + reach + 1):
        start = mask[min(max(row, 0), height - 1)]
        for x in range(width):
            inner[x] = np.uint16(inner[x] + (start[x] & np.uint8(1)))
    segments = (width + _SEGMENT - 1) // _SEGMENT
    for y in range(first_row, last_row):
        row_voted = voted[y]
        for x in range(reach):
            columns[x] = inner[0]
            columns[reach + width + x] = inner[width - 1]
        for segment in range(segments):
            begin = segment * _SEGMENT
            end = min(begin + _SEGMENT, width)
            near = columns[begin : end + 2 * reach]
            total = np.int64(0)
            for x in range(near.shape[0]):
                total += np.int64(near[x])
            out = row_voted[begin:end]
            if total < least:
                for x in range(out.shape[0]):
                    out[x] = np.uint8(0)
                continue
            count = np.int64(0)
            for x in range(2 * reach):
                count += np.int64(near[x])
            ahead = near[2 * reach :]
            for x in range(out.shape[0]):
                count += np.int64(ahead[x])
                out[x] = np.uint8(255) if count >= least else np.uint8(0)
                count -= np.int64(near[x])
        entering, leaving = mask[min(y + reach + 1, height - 1)], mask[max(y - reach, 0)]
        for x in range(width):
            inner[x] = np.uint16(inner[x] + (entering[x] & np.uint8(1)) - (leaving[x] & np.uint8(1)))
