"""Pixels that look like the background darkened by one factor."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._numba import compiled, inlined

__all__ = ["REACH", "SEGMENT", "Darkening", "Images", "find_darkened"]

REACH = 2
"""Pixels from the middle to a side of the square in which textures are compared."""
SEGMENT = 64
"""Pixels of a row that are skipped or visited together."""
_ROWS = 2 * REACH + 1
_MOMENTS = 6  # of weights, frame, background, their squares and their product
_MARGIN = 8  # zeros before and after a row of moments, at least REACH


class Images(NamedTuple):
    """A frame beside the learned background, and the pixels in question."""

    mask: Any
    """(H, W) u1: not 0 for foreground"""
    frame: Any
    """(D, at least H * W) u1, u2 or f4"""
    background: Any
    """the same"""
    unit: Any
    """f4: makes grey levels of the sum of channels / D"""


class Darkening(NamedTuple):
    """What a shadow may be; f4."""

    darkest: Any
    """Least brightness, as a share of the background's,"""
    lightest: Any
    """and largest."""
    chromaticity: Any
    """Largest change of a channel's share of the brightness."""
    variance: Any
    """Largest mean square of what the darkened background does not explain, in squared grey levels."""
    least: Any
    """Least number of candidates in the square."""


@inlined
def _fill_moments(images, rule, y, begin, end, moments):
    """Write the moments of a part of a row; 0 for all but candidates: foreground of about the background's colour."""
    mask, frame, background, unit = images.mask, images.frame, images.background, images.unit
    channels, start = frame.shape[0], y * mask.shape[1]
    one, share = np.float32(1.0), np.float32(1.0) / np.float32(frame.shape[0])
    row = mask[y]
    for x in range(begin, end):
        seen, learned = np.float32(0.0), np.float32(0.0)
        for c in range(channels):
            seen += np.float32(frame[c, start + x])
            learned += np.float32(background[c, start + x])
        seen, learned = seen * unit + one, learned * unit + one  # so that nothing is black
        change = np.float32(0.0)
        for c in range(channels):
            now = (np.float32(frame[c, start + x]) * unit * np.float32(channels) + one) / seen
            before = (np.float32(background[c, start + x]) * unit * np.float32(channels) + one) / learned
            change = max(change, abs(now - before))
        candidate = (
            (row[x] != 0)
            & (seen > rule.darkest * learned)
            & (seen < rule.lightest * learned)
            & (change * share < rule.chromaticity)
        )
        w = one if candidate else np.float32(0.0)
        at = x + _MARGIN
        moments[0, at] = w
        moments[1, at] = w * seen
        moments[2, at] = w * learned
        moments[3, at] = w * seen * seen
        moments[4, at] = w * learned * learned
        moments[5, at] = w * seen * learned


@inlined
def _judge(moments, begin, end, rule, sums, found):
    """Write 255 for the candidates of a part of the middle row that are darkened background, else 0."""
    for m in range(_MOMENTS):
        line = sums[m]
        for x in range(begin + _MARGIN - REACH, end + _MARGIN + REACH):
            total = np.float32(0.0)
            for i in range(_ROWS):
                total += moments[i, m, x]
            line[x] = total
    for x in range(begin, end):
        found[x] = np.uint8(0)
    for x in range(begin, end):
        at = x + _MARGIN
        n, f, b = np.float32(0.0), np.float32(0.0), np.float32(0.0)
        ff, bb, fb = np.float32(0.0), np.float32(0.0), np.float32(0.0)
        for i in range(-REACH, REACH + 1):
            n += sums[0, at + i]
            f += sums[1, at + i]
            b += sums[2, at + i]
            ff += sums[3, at + i]
            bb += sums[4, at + i]
            fb += sums[5, at + i]
        many = max(n, np.float32(1.0))
        f, b = f / many, max(b / many, np.float32(1e-6))
        light = f / b
        # The mean square of frame - light * background; both have the same mean.
        unexplained = ff / many - np.float32(2.0) * light * (fb / many) + light * light * (bb / many)
        found[x] = np.uint8(255) if (unexplained < rule.variance) & (n >= rule.least) else np.uint8(0)


@compiled
def find_darkened(first_row, last_row, images, rule, occupied, found):
    """Find the foreground whose colour and texture are those of the background, darkened by one factor.

    Least squares in a square of candidates around each pixel; its edges do not matter, since others have no weight.

    Parameters
    ----------
    images : Images
    rule : Darkening
    occupied : (H, ceil(W / SEGMENT)) u1
        Not 0 for segments of rows with foreground.
    found : (H, W) u1
        Written: 255 for darkened background, else 0.
    """
    height, width = images.mask.shape
    moments = np.zeros((_ROWS, _MOMENTS, width + 2 * _MARGIN), np.float32)
    sums = np.empty((_MOMENTS, width + 2 * _MARGIN), np.float32)
    dirty = np.zeros((_ROWS, occupied.shape[1]), np.uint8)  # segments of moments that are not 0 everywhere
    for row in range(first_row - REACH, last_row + REACH):
        slot = row % _ROWS
        for segment in range(occupied.shape[1]):
            begin, end = segment * SEGMENT, min((segment + 1) * SEGMENT, width)
            if 0 <= row < height and occupied[row, segment] != 0:
                _fill_moments(images, rule, row, begin, end, moments[slot])
                dirty[slot, segment] = np.uint8(1)
            elif dirty[slot, segment] != 0:
                for m in range(_MOMENTS):
                    moments[slot, m, begin + _MARGIN : end + _MARGIN] = np.float32(0.0)
                dirty[slot, segment] = np.uint8(0)
        y = row - REACH
        if y < first_row:
            continue
        for segment in range(occupied.shape[1]):
            begin, end = segment * SEGMENT, min((segment + 1) * SEGMENT, width)
            if occupied[y, segment] == 0:
                found[y, begin:end] = np.uint8(0)
                continue
            _judge(moments, begin, end, rule, sums, found[y])
            candidates, line = moments[y % _ROWS, 0], found[y]
            for x in range(begin, end):
                line[x] = line[x] if candidates[x + _MARGIN] != np.float32(0.0) else np.uint8(0)
