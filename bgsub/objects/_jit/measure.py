"""Measures of labelled regions: OpenCV's labelling takes ten times as long where it measures them, too."""

from typing import Any

import numpy as np

from bgsub._numba import compiled_views

__all__ = ["add_scores", "measure"]


@compiled_views
def measure(
    labels: Any,  # (H, W) i4: 0 for none, else 1 to n
    corners: Any,  # (n, 4) i4, written: first x, first y, last x, last y
    areas: Any,  # (n,) i4, written: number of pixels
    sums: Any,  # (n, 2) i8, written: sums of x and y over the pixels
) -> None:
    """Find box, area and sums of coordinates of each region, run by run."""
    height, width = labels.shape
    corners[:, 0] = width
    corners[:, 1] = height
    corners[:, 2:] = -1
    areas[:] = 0
    sums[:] = 0
    for y in range(height):
        row = labels[y]
        x = 0
        while x < width:
            label = row[x]
            start = x
            x += 1
            while x < width and row[x] == label:
                x += 1
            if label == 0:
                continue
            i = np.int64(label) - 1
            length = x - start
            corners[i, 0] = min(corners[i, 0], start)
            corners[i, 1] = min(corners[i, 1], y)
            corners[i, 2] = max(corners[i, 2], x - 1)
            corners[i, 3] = y
            areas[i] += length
            sums[i, 0] += (start + x - 1) * length // 2
            sums[i, 1] += y * length


@compiled_views
def add_scores(
    labels: Any,  # (H, W) i4: 0 for none, else 1 to n
    score: Any,  # (H, W) f4
    totals: Any,  # (n,) f8, written: sum of the scores of the pixels
) -> None:
    """Add up the scores of each region."""
    height, width = labels.shape
    totals[:] = 0
    for y in range(height):
        for x in range(width):
            label = labels[y, x]
            if label != 0:
                totals[np.int64(label) - 1] += np.float64(score[y, x])
