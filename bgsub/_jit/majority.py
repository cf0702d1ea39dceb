"""Majority filters of binary masks (the median of 0 and 255), over small and over large squares."""

import numpy as np

from bgsub._numba import kernel, view_kernel

__all__ = ["LARGEST", "median", "vote_twice"]

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


_SEGMENT = 64  # pixels of a row whose neighbourhoods are looked at together


@view_kernel
def _count(mask, first, counts):
    """Count the foreground in each segment of the rows from `first` on; the last column counts the whole row.

    Rows beyond the mask are its border again.
    """
    height, width = mask.shape
    segments = counts.shape[1] - 1
    whole = width // _SEGMENT
    for i in range(counts.shape[0]):
        row, counts_row = mask[min(max(first + i, 0), height - 1)], counts[i]
        total = np.int64(0)
        for segment in range(whole):
            part = row[segment * _SEGMENT : (segment + 1) * _SEGMENT]
            found = 0
            for x in range(_SEGMENT):
                found += 1 if part[x] != 0 else 0
            counts_row[segment] = found
            total += found
        if whole < segments:
            part = row[whole * _SEGMENT :]
            found = 0
            for x in range(part.shape[0]):
                found += 1 if part[x] != 0 else 0
            counts_row[whole] = found
            total += found
        counts_row[segments] = total


@view_kernel
def _add(row, columns, occupied, counts_row):
    segments = occupied.shape[0]
    if counts_row[segments] == 0:
        return
    for segment in range(segments):
        occupied[segment] += counts_row[segment]
    for x in range(columns.shape[0]):
        columns[x] = np.uint16(columns[x] + (row[x] & np.uint8(1)))


@view_kernel
def _remove(row, columns, occupied, counts_row):
    segments = occupied.shape[0]
    if counts_row[segments] == 0:
        return
    for segment in range(segments):
        occupied[segment] -= counts_row[segment]
    for x in range(columns.shape[0]):
        columns[x] = np.uint16(columns[x] - (row[x] & np.uint8(1)))


@view_kernel
def _vote(first_row, last_row, mask, counts, reach, least, voted, filled, columns, occupied):
    """Vote 255 where the square around a pixel has at least `least` foreground pixels; borders are repeated outwards.

    Foreground is counted in columns, kept from row to row, and slid over along rows only where the counts of all rows
    in reach allow a vote at all. Afterwards filled, (H,) u1, is 0 where a row of votes is empty.

    Scratch: columns (W + 2 * reach,) u2, the foreground pixels of each column in reach, borders repeated, and
    occupied (segments,) i8, their sums over segments; both 0.
    """
    height, width = mask.shape
    inner = columns[reach : reach + width]
    segments = counts.shape[1] - 1
    for row in range(first_row - reach, first_row + reach):
        _add(mask[min(max(row, 0), height - 1)], inner, occupied, counts[row - first_row + reach])
    for y in range(first_row, last_row):
        _add(mask[min(y + reach, height - 1)], inner, occupied, counts[y - first_row + 2 * reach])
        row_voted = voted[y]
        filled[y] = np.uint8(0)
        for x in range(width):
            row_voted[x] = np.uint8(0)
        beyond = reach * (np.int64(inner[0]) + np.int64(inner[width - 1]))
        whole = beyond
        for segment in range(segments):
            whole += occupied[segment]
        if whole >= least:
            for x in range(reach):
                columns[x] = inner[0]
                columns[reach + width + x] = inner[width - 1]
        for segment in range(segments if whole >= least else 0):
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
            filled[y] = np.uint8(1)
            out = row_voted[begin:end]
            count = np.int64(0)
            for x in range(2 * reach):
                count += np.int64(near[x])
            ahead = near[2 * reach :]
            for x in range(out.shape[0]):
                count += np.int64(ahead[x])
                out[x] = np.uint8(255) if count >= least else np.uint8(0)
                count -= np.int64(near[x])
        _remove(mask[max(y - reach, 0)], inner, occupied, counts[y - first_row])


@kernel
def vote_twice(
    first_row,
    last_row,
    mask,  # (H, W) u1: 0 and 255
    reach,  # half of the side, without the middle
    least,  # foreground pixels needed
    small_reach,  # at most `reach`
    small_least,
    where,  # (ceil(H / 4), ceil(W / 4)) u1: in which cells of 4x4 pixels votes in the smaller squares count, too
    scratch,  # (H, W) u1
    voted,  # (H, W) u1, written: 255 where the square around a pixel has so many
    filled,  # (H,) u1, written: 0 where a row of `voted` is empty, 1 where it may not be
):
    """Vote in larger and, somewhere, in smaller squares."""
    width = mask.shape[1]
    segments = (width + _SEGMENT - 1) // _SEGMENT
    counts = np.empty((last_row - first_row + 2 * reach, segments + 1), np.int64)
    columns, occupied = np.zeros(width + 2 * reach, np.uint16), np.zeros(segments, np.int64)
    _count(mask, first_row - reach, counts)
    _vote(first_row, last_row, mask, counts, reach, least, voted, filled, columns, occupied)
    counts, small_filled = counts[reach - small_reach :], np.empty(mask.shape[0], np.uint8)
    columns, occupied = np.zeros(width + 2 * small_reach, np.uint16), np.zeros(segments, np.int64)
    _vote(first_row, last_row, mask, counts, small_reach, small_least, scratch, small_filled, columns, occupied)
    allowed = np.empty(4 * where.shape[1], np.uint8)
    for y in range(first_row, last_row):
        if small_filled[y] == 0:
            continue
        filled[y] = np.uint8(1)
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
