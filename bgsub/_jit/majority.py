"""Majority filters of binary masks: a pixel becomes foreground where most of the square around it is.

Both count the foreground of a square from counts of its columns. These are kept from row to row: one row of the mask
is added below, one removed above. Rows and columns of the border are repeated outwards. They differ in the masks they
are fast on:

- `median` adds up the columns around every pixel in bytes, of which a processor adds dozens at once. It is the faster
  one for any mask, up to the side `LARGEST`, and is used in post-processing.
- `vote_thrice` adds up squares only where the mask has enough foreground nearby. It is the faster one on masks that are
  mostly empty, and votes in squares of three sizes, for which much of the work is the same; `adaptive` uses it for its
  final mask.
"""

from typing import Any, NamedTuple

import numpy as np

from bgsub._numba import banded, inlined, part

__all__ = [
    "CELL",
    "IN_LARGE",
    "IN_MIDDLE",
    "IN_SMALL",
    "LARGEST",
    "Square",
    "Squares",
    "Votes",
    "add_up",
    "make_square",
    "median",
    "vote_thrice",
]

LARGEST = 15
"""Largest side of `median`, whose square a byte can count."""

CELL = 4
"""Pixels of the side of a cell, in which `vote_thrice` counts smaller squares or not and says what it found."""
IN_SMALL, IN_MIDDLE, IN_LARGE = np.uint8(1), np.uint8(2), np.uint8(4)
"""Bits of a cell."""

_FULL = np.uint32(0xFFFFFFFF)
_SEGMENT = 64  # pixels of a row that `vote_thrice` skips or visits together


class Square(NamedTuple):
    """The neighbourhood of a pixel in which foreground is counted."""

    reach: int  # pixels from the middle to a side, the middle left out
    least: int  # foreground pixels that make a majority


class Squares(NamedTuple):
    """The squares in which `vote_thrice` votes, none of which reaches farther than the large one."""

    large: Square
    middle: Square
    small: Square


class Votes(NamedTuple):
    """Result of `vote_thrice`."""

    mask: Any  # (H, W) u1, written: 255 where a majority is foreground, else 0
    filled: Any  # (H,) u1, written: 0 for a row of `mask` that is empty for certain, else 1
    cells: Any  # (ceil(H / 4), ceil(W / 4)) u1, written: bits of the squares that have a majority in each cell


class Sums(NamedTuple):
    """Foreground pixels in the rows in reach, and working memory for those in squares."""

    columns: Any  # (whole segments of W + 2 * reach,) u2, of each column, those beyond the border included
    segments: Any  # (segments,) i8, of each segment inside the border
    squares: Any  # (whole segments of W,) u2


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
def _repeat_border(columns, width, reach):
    """Set the `reach` counts before and after those of the mask's columns to those of the outermost ones."""
    last = reach + width - 1
    for x in range(reach):
        columns[x] = columns[reach]
        columns[last + 1 + x] = columns[last]


@inlined
def add_up(values, side, sums, count):
    """Write the sum of `side` values, odd, from each of the first `count` on; `values` has side - 1 more.

    A sliding sum takes fewer additions, but each depends on the one before. Sums of sums of two, four ... take as long.
    """
    kind = sums.dtype.type
    if side < 3:
        for x in range(count):
            sums[x] = values[x]
        return
    one, two, first = values[1:], values[2:], 3
    for x in range(count):
        sums[x] = kind(values[x] + one[x] + two[x])
    while first + 4 <= side:
        a, b, c, d = values[first:], values[first + 1 :], values[first + 2 :], values[first + 3 :]
        for x in range(count):
            sums[x] = kind(sums[x] + a[x] + b[x] + c[x] + d[x])
        first += 4
    if first < side:
        a, b = values[first:], values[first + 1 :]
        for x in range(count):
            sums[x] = kind(sums[x] + a[x] + b[x])


@banded
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
        _repeat_border(columns, width, reach)
        add_up(columns, side, sums, width)
        row = voted[y]
        for x in range(width):
            row[x] = np.uint8(255) if sums[x] >= least else np.uint8(0)
        _update_columns(inner, mask[_clamp(y - reach, height)], -1)


@inlined
def _count_foreground(row, length):
    count = np.uint8(0)  # of no more than a segment
    for x in range(length):
        count = np.uint8(count + np.uint8(row[x] & np.uint8(1)))
    return np.int64(count)


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
def _add_sums(sums, reach, row, counts_row):
    """Add a row of the mask whose foreground is counted."""
    for segment in range(sums.segments.shape[0]):
        sums.segments[segment] += counts_row[segment]
    _update_columns(sums.columns[reach : reach + row.shape[0]], row, 1)


@part
def _move_sums(sums, reach, added, added_counts, removed, removed_counts):
    """Add a row of the mask whose foreground is counted, and remove another one."""
    segments = sums.segments.shape[0]
    if added_counts[segments] == 0 and removed_counts[segments] == 0:
        return
    for segment in range(segments):
        sums.segments[segment] += added_counts[segment] - removed_counts[segment]
    columns = sums.columns[reach : reach + added.shape[0]]
    for x in range(columns.shape[0]):
        columns[x] = np.uint16(columns[x] + (added[x] & np.uint8(1)) - (removed[x] & np.uint8(1)))


@inlined
def _find_likely(sums, reach, border, least):
    """Return the first segment in which a pixel may have a majority, and the one after the last."""
    segments, width = sums.segments.shape[0], sums.squares.shape[0]
    first, last = segments, 0
    for segment in range(segments):
        begin, end = segment * _SEGMENT, min((segment + 1) * _SEGMENT, width)
        total = border
        for near in range(max(begin - reach, 0) // _SEGMENT, min(end - 1 + reach, width - 1) // _SEGMENT + 1):
            total += sums.segments[near]
        if total >= least:
            first, last = min(first, segment), segment + 1
    return first, last


@part
def _vote_row(square, sums, voted):
    """Vote for a row, only between segments with enough foreground in reach; return whether any pixel has a majority.

    The row holds zeros before.
    """
    width, reach = voted.shape[0], square.reach
    columns, least, found = sums.columns, np.uint16(square.least), np.uint8(0)
    border = reach * (np.int64(columns[reach]) + np.int64(columns[reach + width - 1]))
    first, last = _find_likely(sums, reach, border, square.least)
    if first >= last:
        return False
    _repeat_border(columns, width, reach)
    begin, end = first * _SEGMENT, last * _SEGMENT
    squares, out = sums.squares[begin:end], voted[begin : min(end, width)]
    add_up(columns[begin:], 2 * reach + 1, squares, squares.shape[0])
    for x in range(out.shape[0]):
        out[x] = np.uint8(255) if squares[x] >= least else np.uint8(0)
        found = np.uint8(found | out[x])
    return found != 0


@part
def _vote(first_row, last_row, mask, counts, square, sums, votes):
    """Vote in one size of squares; the rows of `counts` are those of the mask from first_row - reach on."""
    height, reach = mask.shape[0], square.reach
    sums.columns[:] = np.uint16(0)
    sums.segments[:] = 0
    votes.mask[first_row:last_row] = np.uint8(0)
    votes.filled[first_row:last_row] = np.uint8(0)
    # All rows in reach of the first one but the lowest, which the loop below adds.
    segments, total = counts.shape[1] - 1, np.int64(0)
    for row in range(first_row - reach, first_row + reach):
        i = row - first_row + reach
        _add_sums(sums, reach, mask[_clamp(row, height)], counts[i])
        total += counts[i, segments]
    # Most rows have no majority anywhere. A pixel of the first or last column stands for all those beyond it.
    enough = (square.least + reach) // (reach + 1)
    for y in range(first_row, last_row):
        i = y - first_row
        below = _clamp(y + reach, height)
        if i == 0:
            _add_sums(sums, reach, mask[below], counts[2 * reach])
        else:
            above = _clamp(y - reach - 1, height)
            _move_sums(sums, reach, mask[below], counts[i + 2 * reach], mask[above], counts[i - 1])
            total -= counts[i - 1, segments]
        total += counts[i + 2 * reach, segments]
        if total >= enough and _vote_row(square, sums, votes.mask[y]):
            votes.filled[y] = np.uint8(1)


@inlined
def _spread_cells(cells, bit, allowed):
    """Write 255 to all pixels of the cells of 4 pixels, a word of `allowed`, that hold a bit, else 0."""
    for cell in range(cells.shape[0]):
        allowed[cell] = _FULL if cells[cell] == bit else np.uint32(0)


@inlined
def _mark_row(row, middle_row, small_row, line):
    """Add the bits of a row of pixels to those of the rows above it in the same cells."""
    for x in range(row.shape[0]):
        line[x] |= (small_row[x] & IN_SMALL) | (middle_row[x] & IN_MIDDLE) | (row[x] & IN_LARGE)


@inlined
def _write_cells(line, cells):
    """Write the bits of the columns of each cell, the bytes of a word of `line`."""
    for cell in range(cells.shape[0]):
        word = line[cell]
        word |= word >> np.uint32(16)
        cells[cell] = np.uint8((word | (word >> np.uint32(8))) & np.uint32(255))


@part
def _merge(first, last, middle, small, where, votes, lines):
    """Add the smaller squares' votes where they count, and note what was found in each cell.

    lines : (3, CELL * cells of a row) u1, scratch
    """
    height, width = votes.mask.shape
    small_allowed, middle_allowed, line = lines[0], lines[1], lines[2]
    for cell in range(first, last):
        top, bottom, filled = CELL * cell, min(CELL * (cell + 1), height), np.uint8(0)
        for y in range(top, bottom):
            votes.filled[y] |= middle.filled[y] | small.filled[y]
            filled |= votes.filled[y]
        if filled == 0:
            votes.cells[cell] = np.uint8(0)
            continue
        _spread_cells(where[cell], IN_SMALL, small_allowed.view(np.uint32))
        _spread_cells(where[cell], IN_MIDDLE, middle_allowed.view(np.uint32))
        line[:] = np.uint8(0)
        for y in range(top, bottom):
            row, middle_row, small_row = votes.mask[y], middle.mask[y], small.mask[y]
            _mark_row(row, middle_row, small_row, line)
            for x in range(width):
                other = middle_row[x] & middle_allowed[x]
                row[x] = row[x] | other | (small_row[x] & small_allowed[x])
                small_row[x] = other | (small_row[x] & ~middle_allowed[x])
        _write_cells(line.view(np.uint32), votes.cells[cell])


@banded
def vote_thrice(
    first,  # rows of cells
    last,
    mask,  # (H, W) u1: 0 and 255
    squares,  # Squares
    where,  # (ceil(H / 4), ceil(W / 4)) u1: IN_SMALL or IN_MIDDLE in cells where these squares count, too, else 0
    smaller,  # (2, H, W) u1, written: what middle squares found where they count, elsewhere small ones; and scratch
    votes,  # Votes, written
):
    """Vote in large squares and, where `where` says so, in smaller ones: either majority makes a pixel foreground."""
    height, width = mask.shape
    large, middle, small = squares.large, squares.middle, squares.small
    first_row, last_row = CELL * first, min(CELL * last, height)
    segments = (width + _SEGMENT - 1) // _SEGMENT
    counts = np.empty((last_row - first_row + 2 * large.reach, segments + 1), np.int64)
    _count_segments(mask, first_row - large.reach, counts)
    whole = segments * _SEGMENT
    sums = Sums(np.empty(whole + 2 * large.reach, np.uint16), np.empty(segments, np.int64), np.empty(whole, np.uint16))
    _vote(first_row, last_row, mask, counts, large, sums, votes)
    unused = votes.cells[:0]  # the cells of all are written below
    in_small = Votes(smaller[0], np.empty(height, np.uint8), unused)
    in_middle = Votes(smaller[1], np.empty(height, np.uint8), unused)
    _vote(first_row, last_row, mask, counts[large.reach - middle.reach :], middle, sums, in_middle)
    _vote(first_row, last_row, mask, counts[large.reach - small.reach :], small, sums, in_small)
    _merge(first, last, in_middle, in_small, where, votes, np.empty((3, CELL * where.shape[1]), np.uint8))
