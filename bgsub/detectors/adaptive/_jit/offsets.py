"""Comparison of a frame and of the background, one of them shifted, and of their edges."""

from typing import Any

import numpy as np

from bgsub._numba import compiled_views, inlined

__all__ = ["add_channels", "compare_parts", "compare_shifted", "correlate", "find_directions"]


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


@inlined
def _write_levels(values, unit, levels):
    """Write numbers in grey levels, rounded: what is then read is no product that could be fused with an addition."""
    for x in range(levels.shape[0]):
        levels[x] = np.float32(values[x]) * unit


@compiled_views
def add_channels(planes: Any, unit: Any, room: Any, grey: Any) -> Any:
    """Write the means of channels.

    Parameters
    ----------
    planes : (D, h, w) u1, u2 or f4
    unit : f4
        The value of one, in grey levels.
    room : (w,) f4
    grey : (h, w) f4
        Written, in grey levels.
    """
    channels = np.float32(planes.shape[0])
    for y in range(grey.shape[0]):
        out = grey[y]
        _write_levels(planes[0, y], unit, out)
        for c in range(1, planes.shape[0]):
            _write_levels(planes[c, y], unit, room)
            for x in range(out.shape[0]):
                out[x] += room[x]
        for x in range(out.shape[0]):
            out[x] /= channels


@compiled_views
def find_directions(grey: Any, unit: Any, plain: Any, room: Any, view: Any) -> Any:
    """Find the directions in which a picture gets brighter.

    Parameters
    ----------
    grey : (h, w) f4
    unit : f4
        The value of one, in grey levels.
    plain : f4
        Steps from one pixel to the next by fewer grey levels make short gradients.
    room : (6, w) f4
    view : (2, h - 1, w - 1) i1
        Written: gradients to the right and downwards, up to 127 long.
    """
    height, width = view.shape[1:]
    here, below, across, down, across_squared, down_squared = room[0], room[1], room[2], room[3], room[4], room[5]
    for y in range(height):
        _write_levels(grey[y], unit, here)
        _write_levels(grey[y + 1], unit, below)
        for x in range(width):
            across[x], down[x] = here[x + 1] - here[x], below[x] - here[x]
        for x in range(width):
            across_squared[x], down_squared[x] = across[x] * across[x], down[x] * down[x]
        right, downwards = view[0, y], view[1, y]
        for x in range(width):
            scale = np.float32(127.0) / (np.sqrt(across_squared[x] + down_squared[x]) + plain)
            right[x] = np.int8(np.int32(np.rint(across[x] * scale)))
            downwards[x] = np.int8(np.int32(np.rint(down[x] * scale)))


@compiled_views
def compare_shifted(
    planes: Any,  # (2, D, h, w) u1, u2 or f4: the frame and the background
    unit: Any,  # f4: the value of one, in grey levels
    down: Any,  # where a pixel of the background lies in the frame
    right: Any,
    box: Any,  # f4: largest difference of a channel that is none, in grey levels
    room: Any,  # (3, w - |right|) f4
    explained: Any,  # (h - |down|, w - |right|) u1, written: 1 where only the background as it is differs, else 0
) -> Any:
    """Count the pixels where a frame differs from the background as it is, and from the shifted one.

    Only what is seen of the shifted one is compared.
    """
    height, width = explained.shape
    now_y, now_x, before_y, before_x = max(down, 0), max(right, 0), max(-down, 0), max(-right, 0)
    now, here, there = room[0], room[1], room[2]
    different, still = np.int64(0), np.int64(0)
    for y in range(height):
        out = explained[y]
        out[:] = np.uint8(0)
        for c in range(planes.shape[1]):
            _write_levels(planes[0, c, now_y + y, now_x:], unit, now)
            _write_levels(planes[1, c, now_y + y, now_x:], unit, here)
            _write_levels(planes[1, c, before_y + y, before_x:], unit, there)
            for x in range(width):
                first = np.uint8(1) if abs(now[x] - here[x]) > box else np.uint8(0)
                second = np.uint8(2) if abs(now[x] - there[x]) > box else np.uint8(0)
                out[x] |= first | second
        for x in range(width):
            different += np.int64(out[x] & 1)
            still += np.int64(out[x] >> 1)
        for x in range(width):
            out[x] = np.uint8(1) if out[x] == 1 else np.uint8(0)
    return different, still
