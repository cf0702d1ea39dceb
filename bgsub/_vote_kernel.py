"""Numba kernels that let the foreground of square neighbourhoods vote: the median of a binary mask."""

import numpy as np

from bgsub._numba import kernel

__all__ = ["vote", "vote_twice"]

_SEGMENT = 64  # pixels of a row whose neighbourhoods are looked at together


@kernel
def _count(row, counts):
    """Count the foreground of each segment of a row."""
    whole = row.shape[0] // _SEGMENT
    for segment in range(whole):
        part = row[segment * _SEGMENT : (segment + 1) * _SEGMENT]
        found = 0
        for x in range(_SEGMENT):
            found += 1 if part[x] != 0 else 0
        counts[segment] = found
    if whole < counts.shape[0]:
        part = row[whole * _SEGMENT :]
        found = 0
        for x in range(part.shape[0]):
            found += 1 if part[x] != 0 else 0
        counts[whole] = found


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
    side = 2 * reach + 1
    columns = np.zeros(width + 2 * reach, np.uint16)  # foreground pixels of each column in reach, borders repeated
    inner = columns[reach : reach + width]
    segments = (width + _SEGMENT - 1) // _SEGMENT
    occupied = np.zeros(segments, np.int64)  # the sums of `inner` over segments,
    counts = np.zeros((side, segments), np.int64)  # and what each row in reach adds to them
    for row in range(first_row - reach, first_row + reach + 1):
        start, counts_row = mask[min(max(row, 0), height - 1)], counts[(row + reach) % side]
        _count(start, counts_row)
        for segment in range(segments):
            occupied[segment] += counts_row[segment]
        for x in range(width):
            inner[x] = np.uint16(inner[x] + (start[x] & np.uint8(1)))
    for y in range(first_row, last_row):
        row_voted = voted[y]
        for x in range(width):
            row_voted[x] = np.uint8(0)
        for x in range(reach):
            columns[x] = inner[0]
            columns[reach + width + x] = inner[width - 1]
        beyond = reach * (np.int64(inner[0]) + np.int64(inner[width - 1]))
        whole = np.int64(0)
        for segment in range(segments):
            whole += occupied[segment]
        for segment in range(segments if beyond + whole >= least else 0):
            begin = segment * _SEGMENT
            end = min(begin + _SEGMENT, width)
            total = beyond
            for other in range(max(begin - reach, 0) // _SEGMENT, min(end - 1 + reach, width - 1) // _SEGMENT + 1):
                total += occupied[other]
            if total < least:
                continue
            near = columns[begin : end + 2 * reach]
            total = np.int64(0)
            for x in range(near.shape[0]):
                total += np.int64(near[x])
            if total < least:
                continue
            out = row_voted[begin:end]
            count = np.int64(0)
            for x in range(2 * reach):
                count += np.int64(near[x])
            ahead = near[2 * reach :]
            for x in range(out.shape[0]):
                count += np.int64(ahead[x])
                out[x] = np.uint8(255) if count >= least else np.uint8(0)
                count -= np.int64(near[x])
        entering, leaving = mask[min(y + reach + 1, height - 1)], mask[max(y - reach, 0)]
        counts_row = counts[y % side]  # of the row that leaves; the one that enters takes its place
        for segment in range(segments):
            occupied[segment] -= counts_row[segment]
        _count(entering, counts_row)
        for segment in range(segments):
            occupied[segment] += counts_row[segment]
        for x in range(width):
            inner[x] = np.uint16(inner[x] + (entering[x] & np.uint8(1)) - (leaving[x] & np.uint8(1)))


@kernel
def vote_twice(
    first_row,
    last_row,
    mask,  # (H, W) u1: 0 and 255
    reach,
    least,
    small_reach,
    small_least,
    where,  # (ceil(H / 4), ceil(W / 4)) u1: in which cells of 4x4 pixels votes in the smaller squares count, too
    scratch,  # (H, W) u1
    voted,  # (H, W) u1, written
):
    """Do `vote` in larger and, somewhere, in smaller squares."""
    vote(first_row, last_row, mask, reach, least, voted)
    vote(first_row, last_row, mask, small_reach, small_least, scratch)
    width = mask.shape[1]
    allowed = np.empty(4 * where.shape[1], np.uint8)
    for y in range(first_row, last_row):
        if y == first_row or y % 4 == 0:
            cells = where[y // 4]
            for cell in range(cells.shape[0]):
                flag = cells[cell]
                allowed[4 * cell] = flag
                allowed[4 * cell + 1] = flag
                allowed[4 * cell + 2] = flag
                allowed[4 * cell + 3] = flag
        small, row = scratch[y], voted[y]
        for x in range(width):
            row[x] = row[x] | (small[x] & allowed[x])
