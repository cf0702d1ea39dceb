"""Regions of the foreground that are shadow as a whole: what may cast them, and which are objects."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._jit.runs import END, LABEL, ROW, START, find_runs
from bgsub._numba import compiled, compiled_views, inlined, part

__all__ = ["Lone", "clear_objects", "clear_regions", "sum_borders", "sum_regions"]


class Lone(NamedTuple):
    """When a region that is shadow as a whole is an object; f8."""

    alone: Any
    """Share of a region in shadow that leaves nothing to cast it,"""
    dark: Any
    """and share of the background's brightness below which it is then an object, if it is larger than others,"""
    sharp: Any
    """or share of its depth above which a step at its outline makes it one."""


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


@compiled_views
def sum_regions(images: Any, runs: Any, shadows: Any, share: Any, sums: Any) -> Any:
    """Measure how much of each region of a mask is in shadow, and how dark that is.

    Parameters
    ----------
    images : Images
        Of `shadows.darkening`.
    runs : (n, 4) i4
        Of the R regions of the mask, from `find_runs`.
    shadows : (H, W) u1
        255 in shadows; read in the mask only.
    share : f8
        Of a region in shadow, beyond which it is measured how dark that is.
    sums : (R, 6) f4
        Written: pixels, pixels in shadow, and in these the sums of the frame and of the background, in grey levels
        above black, or 0; then such sums without the outline of the mask, which is penumbra.

    Returns
    -------
    bool
        Whether any region has that share.
    """
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


@part
def _mark_at_border(runs, size, marked):
    """Mark the regions at the border of a frame of (height, width)."""
    marked[:] = False
    for i in range(runs.shape[0]):
        row, at_side = runs[i, ROW], runs[i, START] == 0 or runs[i, END] == size[1]
        if row == 0 or row == size[0] - 1 or at_side:
            marked[runs[i, LABEL]] = True


@part
def _choose_objects(sums, borders, at_border, lone, alone, objects):
    """Write which regions that are alone are objects.

    What is dark may be a piece of the shadow of a larger thing, as it lies before a cut between both. What is less
    dark, but sharp, is more often a piece of a thing; shadows of what is outside come in at the frame's border.
    """
    largest = 0.0  # of what may cast shadows
    for region in range(sums.shape[0]):
        if not alone[region]:
            largest = max(largest, np.float64(sums[region, 0]) - np.float64(sums[region, 1]))
    for region in range(sums.shape[0]):
        objects[region] = False
        if not alone[region]:
            continue
        of_inside = 2 if sums[region, 5] > np.float32(0.0) else 0  # else of all
        light, learned = np.float64(sums[region, 2 + of_inside]), np.float64(sums[region, 3 + of_inside])
        if light < lone.dark * learned:
            objects[region] = np.float64(sums[region, 0]) > largest
            continue
        inside, learned_inside = np.float64(borders[region, 0]), np.float64(borders[region, 1])
        outside, learned_outside = np.float64(borders[region, 2]), np.float64(borders[region, 3])
        # The step of brightness at the outline and the depth of the shade, times what they are shares of.
        step = (outside * learned_inside - inside * learned_outside) * learned
        depth = (learned - light) * learned_inside * learned_outside
        objects[region] = step > lone.sharp * depth and not at_border[region]


@compiled
def clear_objects(images: Any, occupied_rows: Any, lone: Any, shadows: Any) -> None:
    """Clear regions of a mask that are shadow as a whole, if nothing seen may cast them and no cloud does.

    Parameters
    ----------
    images : Images
        Of `shadows.darkening`.
    occupied_rows : (H,) u1
        0 for rows of the mask that are empty for certain.
    lone : Lone
    shadows : (H, W) u1
        255 in shadows; read in the mask only, and written there.
    """
    height, width = images.mask.shape
    room = np.empty((height * ((width + 1) // 2), 4), np.int32)
    count, regions = find_runs(images.mask, occupied_rows, 1, room)
    runs, sums = room[:count], np.empty((regions, 6), np.float32)
    if not sum_regions(images, runs, shadows, lone.alone, sums):
        return
    alone, at_border, objects = np.empty(regions, np.bool_), np.empty(regions, np.bool_), np.empty(regions, np.bool_)
    for region in range(regions):
        alone[region] = np.float64(sums[region, 1]) > lone.alone * np.float64(sums[region, 0])
    borders = np.empty((regions, 4), np.float32)
    sum_borders(images, runs, alone, borders)
    _mark_at_border(runs, images.mask.shape, at_border)
    _choose_objects(sums, borders, at_border, lone, alone, objects)
    clear_regions(runs, objects, shadows)
