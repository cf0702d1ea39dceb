"""What is measured of the regions of a mask, from their runs."""

from typing import Any

import numpy as np

from bgsub._jit.runs import END, LABEL, ROW, START
from bgsub._numba import compiled_views

__all__ = ["add_scores", "measure"]


@compiled_views
def measure(
    runs: Any,  # (m, 4) i4, as `find_runs` leaves them
    corners: Any,  # (n, 4) i4, written: first x, first y, last x, last y
    areas: Any,  # (n,) i4, written: number of pixels
    sums: Any,  # (n, 2) i8, written: sums of x and y over the pixels
) -> None:
    """Find box, area and sums of coordinates of each region."""
    corners[:, 0] = np.iinfo(np.int32).max
    corners[:, 2] = -1
    areas[:] = 0
    sums[:] = 0
    for i in range(runs.shape[0]):
        y, start, end, label = runs[i, ROW], runs[i, START], runs[i, END], runs[i, LABEL]
        length = np.int64(end) - start
        if areas[label] == 0:
            corners[label, 1] = y
        corners[label, 0] = min(corners[label, 0], start)
        corners[label, 2] = max(corners[label, 2], end - 1)
        corners[label, 3] = y
        areas[label] += length
        sums[label, 0] += (np.int64(start) + end - 1) * length // 2
        sums[label, 1] += y * length


@compiled_views
def add_scores(
    runs: Any,  # (m, 4) i4, as `find_runs` leaves them
    score: Any,  # (H, W) f4
    totals: Any,  # (n,) f8, written: sum of the scores of the pixels
) -> None:
    """Add up the scores of each region."""
    totals[:] = 0
    for i in range(runs.shape[0]):
        row, label = score[runs[i, ROW]], runs[i, LABEL]
        for x in range(runs[i, START], runs[i, END]):
            totals[label] += np.float64(row[x])
