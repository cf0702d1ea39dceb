"""Outlines and regions of a mask: edges along them, and what lies between parts of them."""

import numpy as np

from bgsub._jit.runs import END, LABEL, ROW, START
from bgsub._numba import compiled, compiled_views

__all__ = ["add_regions", "compare_edges", "fill_enclosed", "find_between", "write_labels"]


@compiled
def compare_edges(
    points,  # (P, 2) i4: x and y along the outline
    frame,  # (D, at least H * W) u1, u2 or f4: planes
    background,  # the same
    height,
    width,
    unit,  # f4: makes a sum of channels grey levels
    excess,  # (P,) f4, written: edge of the background minus that of the frame, in grey levels of a Sobel filter
):
    """Compare edges of the frame with those of the learned background along an outline.

    A 5x5 Sobel operator filters the surroundings of each point; 0 at the frame's border.
    """
    smooth, slope = np.empty(5, np.float32), np.empty(5, np.float32)
    for i in range(5):
        smooth[i] = np.float32((1.0, 4.0, 6.0, 4.0, 1.0)[i] / 16.0)
        slope[i] = np.float32((-1.0, -2.0, 0.0, 2.0, 1.0)[i])
    for i in range(points.shape[0]):
        excess[i] = np.float32(0.0)
        for spot in range(5):  # the mask's outline may be two pixels off
            x0 = points[i, 0] + (0, -2, 2, 0, 0)[spot]
            y0 = points[i, 1] + (0, 0, 0, -2, 2)[spot]
            if x0 < 2 or y0 < 2 or x0 >= width - 2 or y0 >= height - 2:
                continue
            across_f, down_f = np.float32(0.0), np.float32(0.0)
            across_b, down_b = np.float32(0.0), np.float32(0.0)
            for row in range(5):
                start = (y0 + row - 2) * width + x0 - 2
                for column in range(5):
                    f, b = np.float32(0.0), np.float32(0.0)
                    for c in range(frame.shape[0]):
                        f += np.float32(frame[c, start + column])
                        b += np.float32(background[c, start + column])
                    across, down = smooth[row] * slope[column], smooth[column] * slope[row]
                    across_f += across * f
                    down_f += down * f
                    across_b += across * b
                    down_b += down * b
            edge_f = np.sqrt(across_f * across_f + down_f * down_f)
            edge_b = np.sqrt(across_b * across_b + down_b * down_b)
            excess[i] += np.float32(0.2) * unit * (edge_b - edge_f)


@compiled_views
def find_between(mask, solid, last, between):
    """Find what lies between two pixels of a part of the foreground in a column, with foreground all the way.

    Returns whether there is any.

    Parameters
    ----------
    mask : (h, w) u1
        Not 0 for foreground.
    solid : (h, w) u1
        Not 0 for the part.
    last : (w,) i8
        Written: working memory.
    between : (h, w) u1
        Written: 255 there, else 0.
    """
    height, width = mask.shape
    last[:] = -1
    found = False
    for y in range(height):
        for x in range(width):
            between[y, x] = np.uint8(0)
            if mask[y, x] == 0:
                last[x] = -1
            elif solid[y, x] != 0:
                if last[x] >= 0:
                    for above in range(last[x] + 1, y):
                        between[above, x] = np.uint8(255)
                        found = True
                last[x] = y
    return found


@compiled_views
def add_regions(runs, chosen, share, counts, solid):
    """Add to a mask regions of which chosen pixels are more than a share.

    Parameters
    ----------
    runs : (n, 4) i4
        Of the R regions, from `find_runs`.
    chosen : (h, w) u1
        Not 0 for these pixels.
    share : f8
    counts : (R, 2) i8
        Written: working memory.
    solid : (h, w) u1
        Written: 255 there.
    """
    counts[:] = 0
    for i in range(runs.shape[0]):
        row, label = chosen[runs[i, ROW]], runs[i, LABEL]
        counts[label, 0] += np.int64(runs[i, END]) - runs[i, START]
        for x in range(runs[i, START], runs[i, END]):
            counts[label, 1] += 1 if row[x] != 0 else 0
    for i in range(runs.shape[0]):
        label = runs[i, LABEL]
        if counts[label, 1] > share * counts[label, 0]:
            solid[runs[i, ROW], runs[i, START] : runs[i, END]] = np.uint8(255)


@compiled_views
def fill_enclosed(runs, outside, mask):
    """Make foreground of the regions of background that do not touch the border.

    Parameters
    ----------
    runs : (n, 4) i4
        Of the background, from `find_runs`; if pixels of the foreground that share a corner touch, none of these do.
    outside : (R,) u1
        Written: working memory.
    mask : (h, w) u1
        Written: 255 there.
    """
    height, width = mask.shape
    outside[:] = np.uint8(0)
    for i in range(runs.shape[0]):
        if runs[i, ROW] == 0 or runs[i, ROW] == height - 1 or runs[i, START] == 0 or runs[i, END] == width:
            outside[runs[i, LABEL]] = np.uint8(1)
    for i in range(runs.shape[0]):
        if outside[runs[i, LABEL]] == 0:
            mask[runs[i, ROW], runs[i, START] : runs[i, END]] = np.uint8(255)


@compiled_views
def write_labels(runs, labels):
    """Write the labels of regions into an image, -1 elsewhere.

    Parameters
    ----------
    runs : (n, 4) i4
        From `find_runs`.
    labels : (h, w) i4
        Written.
    """
    labels[:] = -1
    for i in range(runs.shape[0]):
        labels[runs[i, ROW], runs[i, START] : runs[i, END]] = runs[i, LABEL]
