"""Edges along the outlines of regions, in a frame and in the learned background."""

from typing import Any

import numpy as np

from bgsub._numba import compiled, inlined, part

__all__ = ["compare_edges", "weigh_outlines"]

_SMOOTH, _SLOPE = (0.0625, 0.25, 0.375, 0.25, 0.0625), (-1.0, -2.0, 0.0, 2.0, 1.0)  # of a 5x5 Sobel operator
_EDGES = 8  # pixels in a row that are filtered at once; five of them count
_SIDE_POINTS, _LEAST_INSIDE = 40, 3  # on each side of an outline at most, and inside at least, that measure texture
_POWER_STEPS = 8  # which find the direction of colours: the other ones fade by the ratio of two eigenvalues in each


@part
def _add_channels(planes, axis, height, width, left, top, image):
    """Write the sum of the channels of a part of a frame, each times its share in an axis, 0 beyond the border."""
    for row in range(image.shape[0]):
        line, y = image[row], top + row
        line[:] = np.float32(0.0)
        if not 0 <= y < height:
            continue
        begin, end = max(left, 0), min(left + image.shape[1], width)
        inside, start = line[begin - left : end - left], y * width + begin
        for c in range(planes.shape[0]):
            values, share = planes[c, start : start + end - begin], axis[c]
            for x in range(values.shape[0]):
                inside[x] += share * np.float32(values[x])


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


@part
def _add_moments_of_three(points, width, frame, background, moments):
    """Write the second moments of the differences of three channels; a loop over these would keep them in memory."""
    m00, m01, m02, m11, m12, m22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(points.shape[0]):
        pixel = np.int64(points[i, 1]) * width + np.int64(points[i, 0])
        a = np.float64(frame[0, pixel]) - np.float64(background[0, pixel])
        b = np.float64(frame[1, pixel]) - np.float64(background[1, pixel])
        c = np.float64(frame[2, pixel]) - np.float64(background[2, pixel])
        m00, m01, m02 = m00 + a * a, m01 + a * b, m02 + a * c
        m11, m12, m22 = m11 + b * b, m12 + b * c, m22 + c * c
    moments[0, 0], moments[1, 1], moments[2, 2] = m00, m11, m22
    moments[0, 1], moments[0, 2], moments[1, 2] = m01, m02, m12
    moments[1, 0], moments[2, 0], moments[2, 1] = m01, m02, m12


@part
def _find_axis(points, width, frame, background, moments, axis):
    """Write the direction, of the length of (1, 1, 1), in which colours of frame and background differ at some points.

    It is the first eigenvector of the second moments of their differences, by a few steps of the power method. Where
    nothing differs, it is that of grey.

    moments : (D + 1, D) f8, scratch: the moments, and a row for their product with the axis
    """
    channels = axis.shape[0]
    moments[:] = 0.0
    axis[:] = np.float32(1.0)
    if channels == 3:
        _add_moments_of_three(points, width, frame, background, moments)
    else:
        for i in range(points.shape[0]):
            pixel = np.int64(points[i, 1]) * width + np.int64(points[i, 0])
            moments[0, 0] += (np.float64(frame[0, pixel]) - np.float64(background[0, pixel])) ** 2
    most = 0
    for c in range(1, channels):
        most = c if moments[c, c] > moments[most, most] else most
    if moments[most, most] == 0.0:
        return
    for c in range(channels):  # not grey to begin with: to colours of one brightness it may be perpendicular
        axis[c] = np.float32(1.0 if c == most else 0.0)
    for _ in range(_POWER_STEPS):
        squares = 0.0
        for c in range(channels):
            moments[channels, c] = 0.0
            for d in range(channels):
                moments[channels, c] += moments[c, d] * np.float64(axis[d])
            squares += moments[channels, c] ** 2
        for c in range(channels):
            axis[c] = np.float32(moments[channels, c] * np.sqrt(channels / squares))


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

    A 5x5 Sobel operator filters the surroundings of each point; 0 at the frame's border. It sees the colours in the one
    direction in which frame and background differ most along the outline: red or green things may be as bright as what
    is behind them, and a mean of the channels would not show their outlines. Texture is the harmonic mean
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
    channels = frame.shape[0]
    axis = np.empty(channels, np.float32)
    _find_axis(points, width, frame, background, np.empty((channels + 1, channels), np.float64), axis)
    _add_channels(frame, axis, height, width, left, top, images[0])
    _add_channels(background, axis, height, width, left, top, images[1])
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
def weigh_outlines(
    points: Any,  # (P, 2) i4: x and y along all outlines, one after the other
    ends: Any,  # (R,) i8: where the points of each end
    mask: Any,  # (H, W) u1
    frame: Any,  # (D, at least H * W) u1, u2 or f4: planes
    background: Any,  # the same
    unit: Any,  # f4: makes a sum of channels grey levels
    distance: Any,  # f8: px from the outline, inside and outside, where texture is measured
    clear: Any,  # f4: grey levels by which an edge of the background outweighs the frame's without doubt
    excess: Any,  # (P,) f4, written: by how much edges of the background are stronger, in grey levels
    sums: Any,  # (R, 3) f8, written: of what stands out of the texture more in the background, and of what does less;
    #             points where the excess is clear
) -> Any:
    """Weigh the edges of the learned background along some outlines against those of the frame, as in `compare_edges`.

    An edge stands out as far as it is stronger than the texture on both sides of the outline.
    """
    edges, texture = np.empty((2, points.shape[0]), np.float32), np.empty(2, np.float32)
    start = np.int64(0)
    for region in range(ends.shape[0]):
        end = np.int64(ends[region])
        some = edges[:, start:end]
        compare_edges(points[start:end], mask, frame, background, unit, distance, some, texture)
        sums[region] = 0.0
        for i in range(start, end):
            excess[i] = edges[1, i] - edges[0, i]
            stands_out = np.float64(max(edges[1, i], texture[0]) - max(edges[0, i], texture[1]))
            sums[region, 0 if stands_out > 0.0 else 1] += abs(stands_out)
            sums[region, 2] += 1.0 if excess[i] > clear else 0.0
        start = end
