"""Comparison of the edges of a frame and of the background, one of them shifted."""

from typing import Any

import numpy as np

from bgsub._numba import compiled_views, inlined

__all__ = ["compare_parts", "correlate"]


@inlined
def _product(frame_row, background_row, left, frame_left, count):
    """Return the sum of the products of two rows of directions, from two columns on."""
    a, b = frame_row[frame_left : frame_left + count], background_row[left : left + count]
    total = np.int32(0)  # of at most 127**2 each: enough for 130,000 columns
    for x in range(count):
        total = np.int32(total + np.int32(a[x]) * np.int32(b[x]))
    return total


@compiled_views
def correlate(frame: Any, background: Any, down: Any, right: Any, step: Any, sums: Any) -> Any:
    """Correlate the directions of a frame with those of the background, under several shifts.

    Parameters
    ----------
    frame, background : (2, h, w) i1
        From `find_directions`.
    down, right : i8
        The shift in the middle: a pixel of the background lies so far away in the frame.
    step : i8
        Every so many rows of the background are looked at.
    sums : (n, n) i8
        Written, for n shifts downwards and to the right; n is odd. All are of the same pixels of the background, those
        that are seen under each of them.
    """
    reach = sums.shape[0] // 2
    above, beside = abs(down) + reach, abs(right) + reach
    height, width = background.shape[1], background.shape[2]
    count = width - 2 * beside
    for i in range(sums.shape[0]):
        for j in range(sums.shape[1]):
            total, left = np.int64(0), beside + right + j - reach
            for y in range(above, height - above, step):
                row = y + down + i - reach
                for c in range(2):
                    total += np.int64(_product(frame[c, row], background[c, y], beside, left, count))
            sums[i, j] = total


@compiled_views
def compare_parts(frame: Any, background: Any, down: Any, right: Any, step: Any, sums: Any) -> Any:
    """Sum up in each part of a frame how like the background it is as it is, and under a shift.

    Parameters
    ----------
    frame, background : (2, h, w) i1
        From `find_directions`.
    down, right, step
        As for `correlate`.
    sums : (3, n, m) i8
        Written: for n times m parts, of the background's correlation with the frame as it is, with the shifted one, and
        with itself. Only what is seen both ways counts.
    """
    above, beside = abs(down), abs(right)
    height, width = background.shape[1] - 2 * above, background.shape[2] - 2 * beside
    rows, columns = sums.shape[1], sums.shape[2]
    sums[:] = 0
    for y in range(0, height, step):
        part, here = y * rows // height, above + y
        for column in range(columns):
            begin, end = beside + column * width // columns, beside + (column + 1) * width // columns
            for c in range(2):
                learned, still, moved = background[c, here], frame[c, here], frame[c, here + down]
                sums[0, part, column] += np.int64(_product(still, learned, begin, begin, end - begin))
                sums[1, part, column] += np.int64(_product(moved, learned, begin, begin + right, end - begin))
                sums[2, part, column] += np.int64(_product(learned, learned, begin, begin, end - begin))
