"""Outlines and regions of a mask: edges along them, what lies between parts of them, and sums over them."""

from typing import Any

import numpy as np

from bgsub._jit.runs import END, LABEL, ROW, START, fill_gaps, find_runs, has_any
from bgsub._numba import compiled, compiled_views, inlined, part

__all__ = [
    "clear_regions",
    "compare_edges",
    "count_changes",
    "fill_holes",
    "finish",
    "sum_borders",
    "sum_regions",
]

_SMOOTH, _SLOPE = (0.0625, 0.25, 0.375, 0.25, 0.0625), (-1.0, -2.0, 0.0, 2.0, 1.0)  # of a 5x5 Sobel operator
_EDGES = 8  # pixels in a row that are filtered at once; five of them count
_SIDE_POINTS, _LEAST_INSIDE = 40, 3  # on each side of an outline at most, and inside at least, that measure texture
_COUNTED = 64  # pixels that are counted together


@part
def _add_channels(planes, height, width, left, top, image):
    """Write the sum of the channels of a part of a frame, 0 beyond the border."""
    for row in range(image.shape[0]):
        line, y = image[row], top + row
        line[:] = np.float32(0.0)
        if not 0 <= y < height:
            continue
        begin, end = max(left, 0), min(left + image.shape[1], width)
        inside, start = line[begin - left : end - left], y * width + begin
        for c in range(planes.shape[0]):
            values = planes[c, start : start + end - begin]
            for x in range(values.shape[0]):
                inside[x] += np.float32(values[x])


@inlined
def _step(line, smooth, slope, x, across, down):
    """Add a row of the square around a pixel to its gradient, one column after the other."""
    for column in range(5):
        value = line[x + column]
        across += smooth * np.float32(_SLOPE[column]) * value
        down += np.float32(_SMOOTH[column]) * slope * value
    return across, down


@inlined
def _find_edges(image, row, column, edges):
    """Write the length of the gradient of some pixels in a row, whose squares begin at a pixel of the image."""
    r0, r1, r2 = image[row, column:], image[row + 1, column:], image[row + 2, column:]
    r3, r4 = image[row + 3, column:], image[row + 4, column:]
    for x in range(_EDGES):
        across, down = np.float32(0.0), np.float32(0.0)
        across, down = _step(r0, np.float32(_SMOOTH[0]), np.float32(_SLOPE[0]), x, across, down)
        across, down = _step(r1, np.float32(_SMOOTH[1]), np.float32(_SLOPE[1]), x, across, down)
        across, down = _step(r2, np.float32(_SMOOTH[2]), np.float32(_SLOPE[2]), x, across, down)
        across, down = _step(r3, np.float32(_SMOOTH[3]), np.float32(_SLOPE[3]), x, across, down)
        across, down = _step(r4, np.float32(_SMOOTH[4]), np.float32(_SLOPE[4]), x, across, down)
        edges[x] = np.sqrt(across * across + down * down)


@part
def _find_edges_at(points, images, left, top, height, width, unit, scratch, edges):
    """Write the edges of two images, (2, h, w) f4 sums of channels from a row and column on, at some points."""
    for i in range(points.shape[0]):
        column, row = np.int64(points[i, 0]) - left, np.int64(points[i, 1]) - top
        edges[:, i] = np.float32(0.0)
        for image in range(2):
            for shift in range(3):  # the mask's outline may be two pixels off
                _find_edges(images[image], row - 4 + 2 * shift, column - 4, scratch[shift])
            for spot in range(5):
                right, below = (0, -2, 2, 0, 0)[spot], (0, 0, 0, -2, 2)[spot]
                x, y = points[i, 0] + right, points[i, 1] + below
                if x >= 2 and y >= 2 and x < width - 2 and y < height - 2:
                    edges[image, i] += np.float32(0.2) * unit * scratch[1 + below // 2, 2 + right]


@part
def _find_sides(points, mask, distance, sides):
    """Write x and y of points so far from an outline: inside, which are in the mask, and outside, which are not.

    `sides` is (2, n, 2) for at most n of both, which stand for all. Returns how many there are.
    """
    (height, width), count, area = mask.shape, points.shape[0], np.int64(0)
    for i in range(count):
        after = points[(i + 1) % count]
        area += np.int64(points[i, 0]) * np.int64(after[1]) - np.int64(after[0]) * np.int64(points[i, 1])
    inside, outside = 0, 0
    every = max((count + sides.shape[1] - 1) // sides.shape[1], 1)
    for i in range(0, count, every):
        before, after = points[i - 1 if i > 0 else count - 1], points[(i + 1) % count]
        right, down = np.float64(after[1] - before[1]), np.float64(before[0] - after[0])
        length = np.sqrt(right * right + down * down)
        if length == 0.0:
            continue
        step = distance / length if area > 0 else -distance / length
        for side in range(2):
            away = step if side == 1 else -step
            x, y = np.int64(np.rint(points[i, 0] + away * right)), np.int64(np.rint(points[i, 1] + away * down))
            if not (2 <= x < width - 2 and 2 <= y < height - 2) or (mask[y, x] == 0) != (side == 1):
                continue
            at = outside if side == 1 else inside
            sides[side, at, 0], sides[side, at, 1] = x, y
            inside, outside = inside + 1 - side, outside + side
    return inside, outside


@part
def _mean(values):
    """Return the mean of values, of which there are some."""
    total = np.float64(0.0)
    for i in range(values.shape[0]):
        total += np.float64(values[i])
    return total / values.shape[0]


@part
def _correlate(a, b):
    """Return the correlation of values, 0 where they are all the same."""
    mean_a, mean_b = _mean(a), _mean(b)
    both, only_a, only_b = np.float64(0.0), np.float64(0.0), np.float64(0.0)
    for i in range(a.shape[0]):
        x, y = np.float64(a[i]) - mean_a, np.float64(b[i]) - mean_b
        both, only_a, only_b = both + x * y, only_a + x * x, only_b + y * y
    return both / np.sqrt(only_a * only_b) if only_a * only_b > 0.0 else np.float64(0.0)


@compiled
def compare_edges(
    points: Any,  # (P, 2) i4: x and y along the outline, in order
    mask: Any,  # (H, W) u1
    frame: Any,  # (D, at least H * W) u1, u2 or f4: planes
    background: Any,  # the same
    unit: Any,  # f4: makes a sum of channels grey levels
    distance: Any,  # f8: px from the outline, inside and outside, where texture is measured
    edges: Any,  # (2, P) f4, written: edges of the frame and of the background, in grey levels of a Sobel filter
    texture: Any,  # (2,) f4, written: how strong edges of both are inside as well as outside
) -> Any:
    """Measure edges of the frame and of the learned background along an outline, and those that are on both its sides.

    A 5x5 Sobel operator filters the surroundings of each point; 0 at the frame's border. Texture is the harmonic mean
    of the mean edges inside and outside, times the share of their variance inside that frame and background do not have
    in common: where they have the same edges, nothing is hidden. It is 0 where one of the sides has too few points.
    """
    sides = np.empty((2, _SIDE_POINTS, 2), np.int32)
    inside, outside = _find_sides(points, mask, distance, sides)
    if inside < _LEAST_INSIDE or outside == 0:
        inside, outside = 0, 0
    height, width = mask.shape
    left, top, right, bottom = np.int64(width), np.int64(height), np.int64(0), np.int64(0)
    for some, count in ((points, points.shape[0]), (sides[0], inside), (sides[1], outside)):
        for i in range(count):
            x, y = np.int64(some[i, 0]), np.int64(some[i, 1])
            left, top, right, bottom = min(left, x), min(top, y), max(right, x), max(bottom, y)
    left, top = left - 4, top - 4
    images = np.empty((2, bottom + 5 - top, right + 1 - left + _EDGES), np.float32)
    _add_channels(frame, height, width, left, top, images[0])
    _add_channels(background, height, width, left, top, images[1])
    scratch, there = np.empty((3, _EDGES), np.float32), np.empty((2, 2, _SIDE_POINTS), np.float32)
    _find_edges_at(points, images, left, top, height, width, unit, scratch, edges)
    texture[:] = np.float32(0.0)
    if inside > 0:
        _find_edges_at(sides[0, :inside], images, left, top, height, width, unit, scratch, there[0])
        _find_edges_at(sides[1, :outside], images, left, top, height, width, unit, scratch, there[1])
        hidden = 1.0 - max(_correlate(there[0, 0, :inside], there[0, 1, :inside]), 0.0) ** 2
        for image in range(2):
            inner, outer = _mean(there[0, image, :inside]), _mean(there[1, image, :outside])
            texture[image] = np.float32(hidden * 2.0 * inner * outer / (inner + outer) if inner + outer > 0.0 else 0.0)


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
