"""Connected regions of a mask from its runs: stretches of foreground in one row.

Labelling runs in place of pixels (He, Chao and Suzuki, 2008) takes about as long as reading the mask once.
"""

from typing import Any

import numpy as np

from bgsub._numba import compiled_views, inlined, part

__all__ = ["END", "LABEL", "ROW", "START", "fill_gaps", "find_runs", "has_any"]

ROW, START, END, LABEL = 0, 1, 2, 3
"""Columns of the table of runs."""
_SHADOW = 127
_FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
_BYTES = 8  # of a word


@inlined
def has_any(values):
    """Return whether one of some bytes is not 0."""
    bits = np.uint8(0)
    for x in range(values.shape[0]):
        bits = np.uint8(bits | values[x])  # `|=` would make it 64 bits wide, of which a vector has fewer
    return bits != 0


@inlined
def _skip(words, x, word):
    """Return the first column at or after `x` that is not in words of one value, of 8 pixels each, which follow."""
    if x % _BYTES == 0:
        i = x // _BYTES
        while i < words.shape[0] and words[i] == word:
            i += 1
        x = _BYTES * i
    return x


@inlined
def _find_run(row, words, x):
    """Return where the first run of a row at or after a column begins and ends: at the row's end if there is none.

    words : the row's, of 8 pixels each, without those that remain
    """
    width = row.shape[0]
    x = _skip(words, x, np.uint64(0))
    while x < width and row[x] <= _SHADOW:
        x = _skip(words, x + 1, np.uint64(0))
    start = x
    while x < width and row[x] > _SHADOW:
        x = _skip(words, x + 1, _FULL)
    return start, x


@part
def _unite(runs, one, other):
    """Make two runs parts of one region, whose first run is the root."""
    while runs[one, LABEL] != one:
        runs[one, LABEL] = runs[runs[one, LABEL], LABEL]
        one = runs[one, LABEL]
    while runs[other, LABEL] != other:
        runs[other, LABEL] = runs[runs[other, LABEL], LABEL]
        other = runs[other, LABEL]
    if one < other:
        runs[other, LABEL] = one
    else:
        runs[one, LABEL] = other


@compiled_views
def find_runs(
    mask: Any,  # (H, W) u1: above 127 for foreground
    occupied_rows: Any,  # (H,) u1: 0 for rows that are empty for certain
    reach: Any,  # i8: 1 if pixels that share a corner touch, 0 if a side is needed
    runs: Any,  # (n, 4) i4, written: row, first column, end of columns, label from 0; n >= H * ceil(W / 2)
) -> Any:
    """Find the runs of a mask from top to bottom, and which of them touch.

    Returns the number of runs and that of regions, whose labels are in the order of their first pixels.
    """
    height, width = mask.shape
    count, above = 0, 0
    for y in range(height):
        row = mask[y]
        if occupied_rows[y] == 0 or not has_any(row):
            above = count
            continue
        words = row[: width - width % _BYTES].view(np.uint64)
        begin, touched, x = count, above, 0
        while True:
            start, x = _find_run(row, words, x)
            if start >= width:
                break
            runs[count, ROW] = y
            runs[count, START] = start
            runs[count, END] = x
            runs[count, LABEL] = count
            while touched < begin and runs[touched, END] + reach <= start:
                touched += 1
            i = touched
            while i < begin and runs[i, START] < x + reach:
                _unite(runs, i, count)
                i += 1
            touched = max(touched, i - 1)  # which the next run may touch, too
            count += 1
        above = begin
    # Each root comes before the runs below it, so that their labels are known when they are reached.
    regions = 0
    for i in range(count):
        root = runs[i, LABEL]
        if root == i:
            runs[i, LABEL] = regions
            regions += 1
        else:
            runs[i, LABEL] = runs[root, LABEL]
    return count, regions


@part
def fill_gaps(mask, occupied_rows, runs):
    """Make foreground of the background that foreground encloses; what shares a corner touches.

    Holes are made of gaps between two runs of a row: what is before the first run or behind the last is outside, as
    are rows without any. So is what touches them with a side.

    Parameters
    ----------
    mask : (H, W) u1
        0 and 255; written.
    occupied_rows : (H,) u1
        0 for rows that are empty for certain.
    runs : (n, 4) i4
        Written: the gaps; n > H * W / 2.
    """
    height, width = mask.shape
    runs[0, LABEL], count, above = 0, 1, 1  # the first run stands for all that is outside
    first_above, last_above = width, 0
    for y in range(height):
        begin, touched, first, last = count, above, width, 0
        row = mask[y]
        words = row[: width - width % _BYTES].view(np.uint64)
        while occupied_rows[y] != 0:
            start, end = _find_run(row, words, last)
            if start >= width:
                break
            if first < width:
                runs[count, ROW], runs[count, START], runs[count, END], runs[count, LABEL] = y, last, start, count
                if y == height - 1 or last < first_above or start > last_above:
                    _unite(runs, 0, count)
                while touched < begin and runs[touched, END] <= last:
                    touched += 1
                i = touched
                while i < begin and runs[i, START] < start:
                    _unite(runs, i, count)
                    i += 1
                touched = max(touched, i - 1)
                count += 1
            first, last = min(first, start), end
        for i in range(above, begin):
            if runs[i, START] < first or runs[i, END] > last:
                _unite(runs, 0, i)
        above, first_above, last_above = begin, first, last
    for i in range(1, count):
        runs[i, LABEL] = runs[runs[i, LABEL], LABEL]
        if runs[i, LABEL] != 0:
            mask[runs[i, ROW], runs[i, START] : runs[i, END]] = np.uint8(255)
