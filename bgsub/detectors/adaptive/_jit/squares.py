"""Squares of pixels that as a whole do not look as they did: their mean colour moves less than each pixel's does."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._numba import banded, compiled_views, inlined, part
from bgsub.detectors.adaptive._jit.blocks import BLOCK, is_empty

__all__ = ["SquareRule", "Squares", "average_squares", "follow", "judge_squares", "learn_squares", "mark_unlike"]

_CHUNK = BLOCK  # pixels of a row that are compared together


class Squares(NamedTuple):
    """What was learned of the mean colours of squares."""

    means: Any
    """(h, w, F) f4, grey levels: of the channels and, if there are several, of their differences"""
    variances: Any
    """(h, w, F) f4"""
    limits: Any
    """(h, w) f4: largest distance of what is like the background, in standard deviations"""
    ages: Any
    """(h, w) u2: frames learned, counted up to 65535"""


class SquareRule(NamedTuple):
    """How squares are judged and learned."""

    young: Any
    """u2: frames before a square is judged"""
    rate: Any
    """f4: of the running mean and variance in the long run"""
    noise: Any
    """f4: variance of rounding and noise, which is added to each"""
    least: Any
    """f4: least limit,"""
    step: Any
    """its step size,"""
    share: Any
    """share of frames that may be beyond it,"""
    stays: Any
    """and how much one counts where there is foreground already."""
    occupied: Any
    """f4: share of foreground from which that is so"""


@part
def _sum_columns(frame, mask, first_row, last_row, begin, end, sums):
    """Sum the rows of a band of squares, in some of the columns: the channels, and how many pixels are foreground."""
    width = mask.shape[1]
    for c in range(frame.shape[0]):
        total = sums[c, begin:end]
        total[:] = np.float32(0.0)
        for y in range(first_row, last_row):
            line = frame[c, y * width + begin : y * width + end]
            for x in range(end - begin):
                total[x] += np.float32(line[x])
    total = sums[frame.shape[0], begin:end]
    total[:] = np.float32(0.0)
    for y in range(first_row, last_row):
        line = mask[y, begin:end]
        for x in range(end - begin):
            total[x] += np.float32(1.0 if line[x] != 0 else 0.0)


@compiled_views
def average_squares(
    frame: Any,
    mask: Any,
    side: Any,
    unit: Any,
    allowed: Any,
    squares: Any,
    sums: Any,
    colours: Any,
    shares: Any,
) -> Any:
    """Average the squares that were learned or may be.

    Parameters
    ----------
    frame : (D, at least H * W)
        Planes.
    mask : (H, W) u1
        Not 0 for foreground.
    side : i8
        Of the squares; those at the right and the lower border may be smaller.
    unit : f4
        Makes grey levels.
    allowed : (h, w) u1
        0 where nothing may be learned.
    squares : Squares
    sums : (D + 1, W) f4
        Written: working memory.
    colours : (h, w, D or 2 * D) f4
        Written: mean colours in grey levels and, if there is room, the differences of each channel and the one before.
        Waves change how bright water is, and seldom its hue.
    shares : (h, w) f4
        Written: how much of the squares is foreground.
    """
    (height, width), channels = mask.shape, frame.shape[0]
    for y in range(allowed.shape[0]):
        first, last = allowed.shape[1], 0
        for x in range(allowed.shape[1]):
            if allowed[y, x] != 0 or squares.ages[y, x] != 0:
                first, last = min(first, x), x + 1
        if last == 0:
            continue
        first_row, last_row = y * side, min((y + 1) * side, height)
        _sum_columns(frame, mask, first_row, last_row, first * side, min(last * side, width), sums)
        for x in range(first, last):
            begin, end = x * side, min((x + 1) * side, width)
            each = np.float32(1.0) / np.float32((last_row - first_row) * (end - begin))
            for c in range(channels + 1):
                total = np.float32(0.0)
                for column in range(begin, end):
                    total += sums[c, column]
                if c < channels:
                    colours[y, x, c] = total * each * unit
                else:
                    shares[y, x] = total * each
            for c in range(channels, colours.shape[2]):
                colours[y, x, c] = colours[y, x, c - channels] - colours[y, x, (c - 1) % channels]


@compiled_views
def judge_squares(colours: Any, squares: Any, rule: Any, unlike: Any) -> Any:
    """Find the squares whose mean colour is farther from what was learned than their limit.

    Parameters
    ----------
    colours : (h, w, F) f4
        From `average_squares`.
    squares : Squares
    rule : SquareRule
    unlike : (h, w) u1
        Written: 255 where it is, else 0.
    """
    height, width, channels = colours.shape
    for y in range(height):
        for x in range(width):
            unlike[y, x] = np.uint8(0)
            if squares.ages[y, x] < rule.young:  # of some of these nothing was averaged
                continue
            farthest = np.float32(0.0)
            for c in range(channels):
                away = colours[y, x, c] - squares.means[y, x, c]
                farthest = max(farthest, away * away / (squares.variances[y, x, c] + rule.noise))
            limit = squares.limits[y, x]
            if farthest > limit * limit:
                unlike[y, x] = np.uint8(255)


@compiled_views
def learn_squares(colours: Any, unlike: Any, shares: Any, allowed: Any, squares: Any, rule: Any) -> Any:
    """Learn mean colours where there is no foreground, and limits that few frames are beyond.

    The limit follows the share of frames that are beyond it, as NORMA's threshold for novelty does (Kivinen, Smola,
    Williamson 2004): up by `step` for each that is, and down by `step` times `share` in every frame.

    Parameters
    ----------
    colours : (h, w, F) f4
        From `average_squares`.
    unlike : (h, w) u1
        From `judge_squares`.
    shares : (h, w) f4
        How much of the squares was foreground in the frame before.
    allowed : (h, w) u1
        0 where nothing may be learned.
    squares : Squares
        Updated.
    rule : SquareRule
    """
    height, width, channels = colours.shape
    one = np.float32(1.0)
    for y in range(height):
        for x in range(width):
            if allowed[y, x] == 0:
                continue
            age, busy = np.int64(squares.ages[y, x]), shares[y, x] >= rule.occupied
            if age >= rule.young:
                cost = np.float32(0.0)
                if unlike[y, x] != 0:
                    cost = rule.stays if busy else one
                limit = squares.limits[y, x] + rule.step * (cost - rule.share)
                squares.limits[y, x] = max(limit, rule.least)
            if busy:
                continue
            rate = max(rule.rate, one / np.float32(age + 1))
            for c in range(channels):
                away = colours[y, x, c] - squares.means[y, x, c]
                spread = away * away if age > 0 else np.float32(0.0)
                squares.means[y, x, c] += rate * away
                squares.variances[y, x, c] += rate * (spread - squares.variances[y, x, c])
            squares.ages[y, x] = min(age + 1, 65535)


@compiled_views
def follow(
    frame: Any,
    mask: Any,
    side: Any,
    unit: Any,
    allowed: Any,
    squares: Any,
    rule: Any,
    sums: Any,
    colours: Any,
    shares: Any,
    unlike: Any,
) -> Any:
    """Average squares, judge them and learn them: each call from Python takes some microseconds."""
    average_squares(frame, mask, side, unit, allowed, squares, sums, colours, shares)
    judge_squares(colours, squares, rule, unlike)
    learn_squares(colours, unlike, shares, allowed, squares, rule)


@inlined
def _mark(frame, background, first, chosen, most, out):
    """Mark chosen pixels of a row, from pixel `first` on, that are farther from the background than `most`."""
    kind = frame.dtype.type
    for c in range(frame.shape[0]):
        seen, learned = frame[c, first : first + _CHUNK], background[c, first : first + _CHUNK]
        for x in range(_CHUNK):
            a, b, before, here = seen[x], learned[x], out[x], chosen[x]
            far = (kind(max(a, b) - min(a, b)) > most) & (here != 0)
            out[x] = np.uint8(255) if far else before


@inlined
def _mark_few(frame, background, first, chosen, most, out):
    """Do the same in a row of any number of pixels."""
    kind = frame.dtype.type
    for c in range(frame.shape[0]):
        for x in range(out.shape[0]):
            a, b = frame[c, first + x], background[c, first + x]
            if chosen[x] != 0 and kind(max(a, b) - min(a, b)) > most:
                out[x] = np.uint8(255)


@banded
def mark_unlike(first_row, last_row, frame, background, unlike, side, most, raw):
    """Make the pixels of unlike squares raw foreground that are not near the background's heaviest colour.

    Parameters
    ----------
    frame, background : (D, at least H * W)
        Planes of the frame and of the learned background, of the frame's dtype.
    unlike : (h, w) u1
        From `judge_squares`.
    side : i8
        Of the squares.
    most : scalar of the frame's dtype
        Largest difference of a channel that is near.
    raw : (H, W) u1
        Written: 255 where so.
    """
    width = raw.shape[1]
    chosen, found = np.empty(width, np.uint8), False
    for y in range(first_row, last_row):
        if y == first_row or y % side == 0:
            row, found = unlike[y // side], False
            for square in range(row.shape[0]):
                found = found or row[square] != 0
                for x in range(square * side, min((square + 1) * side, width)):
                    chosen[x] = row[square]
        if not found:
            continue
        if width < _CHUNK:
            _mark_few(frame, background, y * width, chosen, most, raw[y])
            continue
        for begin in range(0, width, _CHUNK):
            x = min(begin, width - _CHUNK)  # the last ones may overlap: marks stay
            part = chosen[x : x + _CHUNK]
            if not is_empty(part):
                _mark(frame, background, y * width + x, part, most, raw[y, x : x + _CHUNK])
