"""Majority filters of binary masks: a pixel becomes foreground where most of the square around it is.

Both count the foreground of a square from counts of its columns. These are kept from row to row: one row of the mask
is added below, one removed above. Rows and columns of the border are repeated outwards. They differ in the masks they
are fast on:

- `median` adds up the columns around every pixel in bytes, of which a processor adds dozens at once. It is the faster
  one for any mask, up to the side `LARGEST`, and is used in post-processing.
- `vote_twice` moves one sum along the row, for which the side does not matter, and only where the mask has enough
  foreground nearby. It is the faster one for large squares on masks that are mostly empty, and votes in squares of two
  sizes, for which much of the work is the same; `adaptive` uses it for its final mask.
"""

from typing import Any, NamedTuple

import numpy as np

from bgsub._numba import compiled, inlined, part

__all__ = ["CELL", "IN_LARGE", "IN_SMALL", "LARGEST", "Square", "Votes", "make_square", "median", "vote_twice"]

LARGEST = 15
"""Largest side of `median`, whose square a byte can count."""

CELL = 4
"""Pixels of the side of a cell, in which `vote_twice` counts small squares or not and says what it found."""
IN_SMALL, IN_LARGE = np.uint8(1), np.uint8(2)
"""Bits of a cell."""

_SEGMENT = 64  # pixels of a row that `vote_twice` skips or visits together


class Square(NamedTuple):
    """The neighbourhood of a pixel in which foreground is counted."""

    reach: int  # pixels from the middle to a side, the middle left out
    least: int  # foreground pixels that make a majority


class Votes(NamedTuple):
    """Result of `vote_twice`."""

    mask: Any  # (H, W) u1, written: 255 where a majority is foreground, else 0
    filled: Any  # (H,) u1, written: 0 for a row of `mask` that is empty for certain, else 1
    cells: Any  # (ceil(H / 4), ceil(W / 4)) u1, written: IN_SMALL, IN_LARGE where such a square has a majority


class Sums(NamedTuple):
    """Foreground pixels in the rows in reach."""

    columns: Any  # (W + 2 * reach,) u2, of each column, those beyond the border included
    segments: Any  # (segments,) i8, of each segment inside the border


def make_square(side: int) -> Square:
    """Return the square of an odd side in pixels."""
    return Square(side // 2, side * side // 2 + 1)


@inlined
def _clamp(row, height):
    """Return the row of the mask that stands for a row inside or beyond it."""
    return min(max(row, 0), height - 1)


@inlined
def _update_columns(columns, row, sign):
    """Add (sign 1) a row of the mask to the counts of its columns, or remove it (sign -1)."""
    for x in range(columns.shape[0]):
        columns[x] = columns[x] + sign * np.int64(row[x] & np.uint8(1))


@inlined
def _repeat_border(columns, reach):
    """Set the first and last `reach` counts to those of the outermost columns of the mask."""
    last = columns.shape[0] - reach - 1
    for x in range(reach):
        columns[x] = columns[reach]
        columns[last + 1 + x] = columns[last]


@compiled
def median(
    first_row,
    last_row,
    mask,  # (H, W) u1: 0 and 255
    side,  # odd, at most LARGEST
    voted,  # (H, W) u1, written: 255 where most of the square is foreground, else 0
):
    """Vote in small squares around all pixels."""
    height, width = mask.shape
    reach, least = side // 2, np.uint8(side * side // 2 + 1)
    columns, sums = np.zeros(width + 2 * reach, np.uint8), np.empty(width, np.uint8)
    inner = columns[reach : reach + width]
    for y in range(first_row - 2 * reach, last_row):
        _update_columns(inner, mask[_clamp(y + reach, height)], 1)
        if y < first_row:
            continue
        _repeat_border(columns, reach)
        for x in range(width):
            sums[x] = columns[x]
        for i in range(1, side):
            shifted = columns[i : i + width]
            for x in range(width):
                sums[x] = np.uint8(sums[x] + shifted[x])
        row = voted[y]
        for x in range(width):
            row[x] = np.uint8(255) if sums[x] >= least else np.uint8(0)
        _update_columns(inner, mask[_clamp(y - reach, height)], -1)


@inlined
def _count_foreground(row, length):
    count = 0
    for x in range(length):
        count += 1 if row[x] != 0 else 0
    return count


@part
def _count_segments(mask, first, counts):
    """Count the foreground of the rows from `first` on.

    counts : (rows, segments + 1) i8, written: of each segment, and of the whole row in the last column.
    """
    height, width = mask.shape
    segments, whole = counts.shape[1] - 1, width // _SEGMENT
    for i in range(counts.shape[0]):
        row, counts_row = mask[_clamp(first + i, height)], counts[i]
        total = np.int64(0)
        for segment in range(whole):  # a constant length compiles to a few instructions
            counts_row[segment] = _count_foreground(row[segment * _SEGMENT :], _SEGMENT)
            total += counts_row[segment]
        if whole < segments:
            counts_row[whole] = _count_foreground(row[whole * _SEGMENT :], width - whole * _SEGMENT)
            total += counts_row[whole]
        counts_row[segments] = total


@part
def _update_sums(sums, reach, row, counts_row, sign):
    """Add (sign 1) or remove (sign -1) a row of the mask whose foreground is counted."""
    segments = sums.segments.shape[0]
    if counts_row[segments] == 0:
        return
    for segment in range(segments):
        sums.segments[segment] += sign * counts_row[segment]
    _update_columns(sums.columns[reach : reach + row.shape[0]], row, sign)


@inlined
def _vote_segment(near, square, voted):
    """Vote for the pixels of a segment from the columns in reach of them; return whether any can have a majority."""
    total = np.int64(0)
    for x in range(near.shape[0]):
        total += np.int64(near[x])
    if total < square.least:
        return False
    # A sliding sum depends on the pixel before and cannot be vectorised, which is why segments are skipped.
    count = np.int64(0)
    for x in range(2 * square.reach):
        count += np.int64(near[x])
    ahead = near[2 * square.reach :]
    for x in range(voted.shape[0]):
        count += np.int64(ahead[x])
        voted[x] = np.uint8(255) if count >= square.least else np.uint8(0)
        count -= np.int64(near[x])
    return True


@inlined
def _vote_row(square, sums, voted):
    """Vote for a row, only in segments with enough foreground in reach; return whether there is any such segment."""
    width, reach = voted.shape[0], square.reach
    columns, segments = sums.columns, sums.segments.shape[0]
    for x in range(width):
        voted[x] = np.uint8(0)
    # Upper bounds first, on the row and then on each segment: most rows and segments have no majority anywhere.
    border = reach * (np.int64(columns[reach]) + np.int64(columns[reach + width - 1]))
    total = border
    for segment in range(segments):
        total += sums.segments[segment]
    if total < square.least:
        return False
    _repeat_border(columns, reach)
    filled = False
    for segment in range(segments):
        begin = segment * _SEGMENT
        end = min(begin + _SEGMENT, width)
        total = border
        for near in range(max(begin - reach, 0) // _SEGMENT, min(end - 1 + reach, width - 1) // _SEGMENT + 1):
            total += sums.segments[near]
        if total >= square.least and _vote_segment(columns[begin : end + 2 * reach], square, voted[begin:end]):
            filled = True
    return filled


@part
def _vote(first_row, last_row, mask, counts, square, sums, votes):
    """Vote in one size of squares; the rows of `counts` are those of the mask from first_row - reach on."""
    height, reach = mask.shape[0], square.reach
    sums.columns[:] = np.uint16(0)
    sums.segments[:] = 0
    # All rows in reach of the first one but the lowest, which the loop below adds.
    for row in range(first_row - reach, first_row + reach):
        _update_sums(sums, reach, mask[_clamp(row, height)], counts[row - first_row + reach], 1)
    for y in range(first_row, last_row):
        below, above = _clamp(y + reach, height), _clamp(y - reach, height)
        _update_sums(sums, reach, mask[below], counts[y - first_row + 2 * reach], 1)
        votes.filled[y] = np.uint8(1) if _vote_row(square, sums, votes.mask[y]) else np.uint8(0)
        _update_sums(sums, reach, mask[above], counts[y - first_row], -1)


@inlined
def _spread_cells(cells, allowed):
    """Write the value of each cell of 4 pixels to all of them."""
    for cell in range(cells.shape[0]):
        flag = cells[cell]
        allowed[4 * cell] = flag
        allowed[4 * cell + 1] = flag
        allowed[4 * cell + 2] = flag
        allowed[4 * cell + 3] = flag


@inlined
def _mark_row(row, fine_row, line):
    """Add the bits of a row of pixels to those of the rows above it in the same cells."""
    for x in range(row.shape[0]):
        line[x] |= (fine_row[x] & IN_SMALL) | (row[x] & IN_LARGE)


@inlined
def _write_cells(line, cells):
    """Write the bits of the columns of each cell, and clear the line for the next cells."""
    for cell in range(cells.shape[0]):
        x = 4 * cell
        cells[cell] = line[x] | line[x + 1] | line[x + 2] | line[x + 3]
    for x in range(line.shape[0]):
        line[x] = np.uint8(0)


@part
def _merge(first, last, fine, where, votes, allowed, line):
    """Add the small squares' votes where they count, and note what was found in each cell.

    allowed, line : (CELL * cells of a row,) u1, scratch
    """
    height, width = votes.mask.shape
    line[:] = np.uint8(0)
    for cell in range(first, last):
        _spread_cells(where[cell], allowed)
        for y in range(CELL * cell, min(CELL * (cell + 1), height)):
            if fine.filled[y] == 0 and votes.filled[y] == 0:
                continue
            fine_row, row = fine.mask[y], votes.mask[y]
            _mark_row(row, fine_row, line)
            votes.filled[y] = np.uint8(1)
            for x in range(width):
                row[x] = row[x] | (fine_row[x] & allowed[x])
        _write_cells(line, votes.cells[cell])


@compiled
def vote_twice(
    first,  # rows of cells
    last,
    mask,  # (H, W) u1: 0 and 255
    large,  # Square
    small,  # Square, whose reach is at most that of the large one
    where,  # (ceil(H / 4), ceil(W / 4)) u1: 255 in cells of 4x4 pixels where small squares count too, else 0
    scratch,  # (H, W) u1
    votes,  # Votes, written
):
    """Vote in large squares and, where `where` is set, in small ones: either majority makes a pixel foreground."""
    height, width = mask.shape
    first_row, last_row = CELL * first, min(CELL * last, height)
    segments = (width + _SEGMENT - 1) // _SEGMENT
    counts = np.empty((last_row - first_row + 2 * large.reach, segments + 1), np.int64)
    _count_segments(mask, first_row - large.reach, counts)
    sums = Sums(np.empty(width + 2 * large.reach, np.uint16), np.empty(segments, np.int64))
    _vote(first_row, last_row, mask, counts, large, sums, votes)
    sums = Sums(sums.columns[: width + 2 * small.reach], sums.segments)
    unused = votes.cells[:0]  # the cells of both are written below
    fine = Votes(scratch, np.empty(height, np.uint8), unused)
    _vote(first_row, last_row, mask, counts[large.reach - small.reach :], small, sums, fine)
    allowed, line = np.empty(CELL * where.shape[1], np.uint8), np.empty(CELL * where.shape[1], np.uint8)
    _merge(first, last, fine, where, votes, allowed, line)
