"""Regions of a mask: their holes, how many pixels are new, and sums over them."""

from typing import Any

import numpy as np

from bgsub._jit.runs import END, LABEL, ROW, START, fill_gaps, find_runs, has_any
from bgsub._numba import compiled, compiled_views, inlined, part

__all__ = [
    "clear_regions",
    "count_changes",
    "fill_holes",
    "finish",
    "sum_borders",
    "sum_regions",
]

_COUNTED = 64  # pixels that are counted together


@compiled
def fill_holes(mask: Any, occupied_rows: Any) -> Any:
    """Make foreground of the background that foreground encloses, in a mask of 0 and 255; what shares a corner touches.

    Rows where `occupied_rows`, (H,), is 0 are known to be empty.
    """
    fill_gaps(mask, occupied_rows, np.empty((mask.shape[0] * (mask.shape[1] // 2) + 2, 4), np.int32))


@compiled
def finish(mask: Any, occupied_rows: Any, unfilled: Any, fill: Any) -> Any:
    """Keep a mask as it is, and fill its holes.

    Parameters
    ----------
    mask : (H, W) u1
        0 and 255; written.
    occupied_rows : (H,) u1
        0 for rows that are empty for certain; written: 1 for all others.
    unfilled : (H, W) u1
        Written: the mask as it was.
    fill : b1
    """
    height, width = mask.shape
    for y in range(height):
        row, out = mask[y], unfilled[y]
        if occupied_rows[y] == 0:
            out[:] = np.uint8(0)
            continue
        for x in range(width):
            out[x] = row[x]
        occupied_rows[y] = np.uint8(1 if has_any(row) else 0)
    if fill:
        fill_gaps(mask, occupied_rows, np.empty((height * (width // 2) + 2, 4), np.int32))


@compiled_views
def count_changes(mask: Any, previous: Any, occupied_rows: Any) -> Any:
    """Return how much foreground a mask has, and how much of that another does not have.

    Parameters
    ----------
    mask, previous : (H, W) u1
        0 and 255.
    occupied_rows : (H,) u1
        0 for rows that are empty for certain in `mask`.
    """
    height, width = mask.shape
    now, before = mask.reshape(-1), previous.reshape(-1)
    foreground, appeared, first = np.int64(0), np.int64(0), 0
    while first < height:
        last = first
        while last < height and occupied_rows[last] != 0:
            last += 1
        begin, end = first * width, last * width
        whole = end - (end - begin) % _COUNTED
        for start in range(begin, whole, _COUNTED):
            here, there = now[start:], before[start:]
            count, new = np.uint8(0), np.uint8(0)  # counted in bytes: a vector has most of them
            for x in range(_COUNTED):  # a constant length compiles to a few instructions
                count = np.uint8(count + (np.uint8(1) if here[x] != 0 else np.uint8(0)))
                new = np.uint8(new + (np.uint8(1) if here[x] & ~there[x] != 0 else np.uint8(0)))
            foreground += np.int64(count)
            appeared += np.int64(new)
        for x in range(whole, end):
            foreground += 1 if now[x] != 0 else 0
            appeared += 1 if now[x] & ~before[x] != 0 else 0
        first = last + 1
    return foreground, appeared


@compiled_views
def clear_regions(runs: Any, chosen: Any, mask: Any) -> Any:
    """Write 0 into some regions.

    Parameters
    ----------
    runs : (n, 4) i4
        Of the R regions, from `find_runs`.
    chosen : (R,) b1
    mask : (H, W) u1
        Written.
    """
    for i in range(runs.shape[0]):
        if chosen[runs[i, LABEL]]:
            mask[runs[i, ROW], runs[i, START] : runs[i, END]] = np.uint8(0)


@inlined
def _is_inside(mask, y, x):
    """Return whether a pixel has the mask at all four sides; beyond the frame is no side."""
    above, below = mask[max(y - 1, 0), x], mask[min(y + 1, mask.shape[0] - 1), x]
    return above & below & mask[y, max(x - 1, 0)] & mask[y, min(x + 1, mask.shape[1] - 1)] != 0


@part
def _sum_regions(images, runs, shadows, share, sums):
    """Fill the sums of `sum_regions`; return whether any region has that share of shadow."""
    any_found = False
    channels, width, zero = images.frame.shape[0], images.mask.shape[1], np.float32(0.0)
    sums[:] = zero
    for i in range(runs.shape[0]):
        row, region, count = shadows[runs[i, ROW], runs[i, START] : runs[i, END]], runs[i, LABEL], np.int32(0)
        for x in range(row.shape[0]):
            count = np.int32(count + (np.int32(1) if row[x] == 255 else np.int32(0)))
        sums[region, 0] += np.float32(row.shape[0])
        sums[region, 1] += np.float32(count)
    for i in range(runs.shape[0]):
        y, region = runs[i, ROW], runs[i, LABEL]
        if not np.float64(sums[region, 1]) > share * np.float64(sums[region, 0]):
            continue
        any_found = True
        for x in range(runs[i, START], runs[i, END]):
            if shadows[y, x] == 255:
                light, learned = zero, zero
                for c in range(channels):
                    light += np.float32(images.frame[c, y * width + x]) * images.unit - images.black
                    learned += np.float32(images.background[c, y * width + x]) * images.unit - images.black
                sums[region, 2] += light
                sums[region, 3] += learned
                if _is_inside(images.mask, y, x):
                    sums[region, 4] += light
                    sums[region, 5] += learned
    return any_found


@compiled
def sum_regions(images: Any, occupied_rows: Any, shadows: Any, share: Any) -> Any:
    """Find the regions of a mask, and measure how much of each is in shadow, and how dark that is.

    Parameters
    ----------
    images : Images
        Of `shadows.darkening`.
    occupied_rows : (H,) u1
        0 for rows of the mask that are empty for certain.
    shadows : (H, W) u1
        255 in shadows; read in the mask only.
    share : f8
        Of a region in shadow, beyond which it is measured how dark that is.

    Returns
    -------
    runs : (n, 4) i4
        Of the R regions of the mask.
    sums : (R, 6) f4
        Pixels, pixels in shadow, and in these the sums of the frame and of the background, in grey levels above black,
        or 0; then such sums without the outline of the mask, which is penumbra.
    bool
        Whether any region has that share.
    """
    height, width = images.mask.shape
    runs = np.empty((height * ((width + 1) // 2), 4), np.int32)
    count, regions = find_runs(images.mask, occupied_rows, 1, runs)
    sums = np.empty((regions, 6), np.float32)
    any_found = _sum_regions(images, runs[:count], shadows, share, sums)
    return runs[:count].copy(), sums, any_found


@compiled_views
def sum_borders(images: Any, runs: Any, chosen: Any, sums: Any) -> Any:
    """Sum the brightness at both sides of the outlines of some regions, in rows and columns.

    A pixel in a row or column that ends at background stands for the outline; compared are the pixel before it, inside,
    and that three pixels on, if both are what they should be: outlines are uncertain by a pixel or two.

    Parameters
    ----------
    images : Images
        Of `shadows.darkening`.
    runs : (n, 4) i4
        Of the R regions of the mask, from `find_runs`.
    chosen : (R,) b1
        Regions to measure.
    sums : (R, 4) f4
        Written: sums of the frame and of the background inside, and of both outside, in grey levels above black.
    """
    channels, (height, width) = images.frame.shape[0], images.mask.shape
    sums[:] = np.float32(0.0)
    for i in range(runs.shape[0]):
        y, region = runs[i, ROW], runs[i, LABEL]
        if not chosen[region]:
            continue
        for x in range(runs[i, START], runs[i, END]):
            for turn in range(4):
                down, right = (0, 1, 0, -1)[turn], (1, 0, -1, 0)[turn]
                before_y, before_x, after_y, after_x = y - down, x - right, y + 3 * down, x + 3 * right
                if not (0 <= before_y < height and 0 <= before_x < width):
                    continue
                if not (0 <= after_y < height and 0 <= after_x < width):
                    continue
                if images.mask[before_y, before_x] == 0:  # what touches with a side is of the same region
                    continue
                if images.mask[y + down, x + right] != 0 or images.mask[after_y, after_x] != 0:
                    continue
                inside, outside = before_y * width + before_x, after_y * width + after_x
                for c in range(channels):
                    sums[region, 0] += np.float32(images.frame[c, inside]) * images.unit - images.black
                    sums[region, 1] += np.float32(images.background[c, inside]) * images.unit - images.black
                    sums[region, 2] += np.float32(images.frame[c, outside]) * images.unit - images.black
                    sums[region, 3] += np.float32(images.background[c, outside]) * images.unit - images.black
