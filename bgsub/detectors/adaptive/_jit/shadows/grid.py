"""The grid of every few rows and columns on which shadows of large frames are looked for."""

from typing import Any

import numpy as np

from bgsub._jit.copying import copy_row
from bgsub._numba import compiled, inlined, part

__all__ = ["add_border", "take_grid"]


@inlined
def _skip(row, step, out):
    """Copy every step-th value of a row."""
    if step == 2:  # a constant: it is vectorised
        for x in range(out.shape[0]):
            out[x] = row[2 * x]
    else:
        for x in range(out.shape[0]):
            out[x] = row[step * x]


@part
def _thin(image, width, step, top, left, grid):
    """Copy a part of the grid of an image, (at least H * W,) u1, u2 or f4."""
    first = step // 2
    for y in range(grid.shape[0]):
        _skip(image[(first + (top + y) * step) * width + first + left * step :], step, grid[y])


@part
def _take_few(mask, occupied_rows, step, few, columns):
    """Write the grid of a mask; return its first row and column with foreground, and those after the last.

    columns : (w,) u1, scratch
    """
    first, top, bottom = step // 2, few.shape[0], 0
    columns[:] = np.uint8(0)
    for y in range(few.shape[0]):
        out, source = few[y], first + y * step
        if occupied_rows[source] == 0:
            out[:] = np.uint8(0)
            continue
        found = np.uint8(0)
        _skip(mask[source, first:], step, out)
        for x in range(few.shape[1]):
            columns[x] |= out[x]
            found = np.uint8(found | out[x])
        if found != 0:
            top, bottom = min(top, y), y + 1
    left, right = few.shape[1], 0
    for x in range(few.shape[1]):
        if columns[x] != 0:
            left, right = min(left, x), x + 1
    return top, left, bottom, right


@compiled
def take_grid(mask: Any, occupied_rows: Any, images: Any, step: Any) -> Any:
    """Take every step-th row and column of a frame, in the box around the foreground that is left and its outline.

    Parameters
    ----------
    mask : (H, W) u1
    occupied_rows : (H,) u1
        0 for rows of the mask that are empty for certain.
    images : Images
        Of the frame.
    step : i8
        At least 2; the grid begins in its middle.

    Returns
    -------
    few : (h, w) u1
        The grid of the mask.
    top, left : i8
        Where the box begins in it; its size is 0 if there is no foreground.
    inside, kinds, frame, background : as those of the images
        In the box.
    rows : (height of the box,) u1
        0 for rows of the box that are empty for certain.
    """
    (height, width), first = mask.shape, step // 2
    few = np.empty(((height - first + step - 1) // step, (width - first + step - 1) // step), np.uint8)
    top, left, bottom, right = _take_few(mask, occupied_rows, step, few, np.empty(few.shape[1], np.uint8))
    if bottom > 0:  # with the background around, which makes an outline
        top, left = max(top - 1, 0), max(left - 1, 0)
        bottom, right = min(bottom + 1, few.shape[0]), min(right + 1, few.shape[1])
    size = (max(bottom - top, 0), max(right - left, 0))
    inside, kinds, rows = np.empty(size, np.uint8), np.empty(size, np.uint8), np.empty(size[0], np.uint8)
    for y in range(size[0]):
        copy_row(few[top + y, left:right], inside[y])
        rows[y] = occupied_rows[first + (top + y) * step]
    channels = images.frame.shape[0]
    frame = np.empty((channels, *size), images.frame.dtype)
    background = np.empty_like(frame)
    _thin(images.kinds.reshape(-1), width, step, top, left, kinds)
    for c in range(channels):
        _thin(images.frame[c], width, step, top, left, frame[c])
        _thin(images.background[c], width, step, top, left, background[c])
    pixels = size[0] * size[1]
    planes = frame.reshape((channels, pixels)), background.reshape((channels, pixels))
    return few, top, left, inside, kinds, *planes, rows


@part
def _add_border(few, found, top, bottom, shadows, others, bordered):
    height, width = few.shape
    for y in range(max(top - 1, 0), min(bottom + 1, height)):
        shadows[:] = np.uint8(0)
        others[:] = np.uint8(0)
        s, o = shadows[1:], others[1:]
        for row in range(max(y - 1, 0), min(y + 2, height)):
            foreground, here = few[row], found[row]
            for x in range(width):
                shadow = np.uint8(255 if here[x] == 255 else 0)
                s[x] |= shadow
                o[x] |= foreground[x] & ~shadow
        foreground, here, out = few[y], found[y], bordered[y]
        s0, s2, o0, o2 = shadows, shadows[2:], others, others[2:]
        for x in range(width):
            border = (s0[x] | s[x] | s2[x]) & ~(foreground[x] | o0[x] | o[x] | o2[x])
            out[x] = here[x] | border


@compiled
def add_border(few: Any, found: Any, found_rows: Any, top: Any, left: Any) -> Any:
    """Return what was found in a box of a grid for all of it, and with the background that touches shadows alone.

    Of the pixels that such a point of the grid stands for, those that are foreground are the border of the shadow.

    Parameters
    ----------
    few : (h, w) u1
        The grid of the mask.
    found : (height and width of the box) u1
        255 for shadows.
    found_rows : (height of the box,) u1
        0 for rows of it that are not read: nothing was found there.
    top, left : i8
        Where the box begins.
    """
    height, width = few.shape
    everywhere, bordered = np.zeros((height, width), np.uint8), np.zeros((height, width), np.uint8)
    bottom = top + found.shape[0]
    for y in range(found.shape[0]):
        if found_rows[y] != 0:
            copy_row(found[y], everywhere[top + y, left : left + found.shape[1]])
    lines = np.empty((2, width + 2), np.uint8)
    _add_border(few, everywhere, top, bottom, lines[0], lines[1], bordered)
    return bordered
