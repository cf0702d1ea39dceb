"""Squares of pixels that as a whole do not look as they did: their mean colour moves less than each pixel's does."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._numba import compiled, compiled_views

__all__ = ["SquareRule", "Squares", "judge_squares", "learn_squares", "mark_unlike"]


class Squares(NamedTuple):
    """What was learned of the mean colours of squares."""

    means: Any
    """(h, w, D) f4, grey levels: of the channels and, if there are several, of their differences"""
    variances: Any
    """(h, w, D) f4"""
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


@compiled_views
def judge_squares(colours, squares, rule, unlike):
    """Find the squares whose mean colour is farther from what was learned than their limit.

    Parameters
    ----------
    colours : (h, w, D) f4
        Mean colours of a frame, grey levels.
    squares : Squares
    rule : SquareRule
    unlike : (h, w) u1
        Written: 255 where it is, else 0.
    """
    height, width, channels = colours.shape
    for y in range(height):
        for x in range(width):
            farthest = np.float32(0.0)
            for c in range(channels):
                away = colours[y, x, c] - squares.means[y, x, c]
                farthest = max(farthest, away * away / (squares.variances[y, x, c] + rule.noise))
            limit = squares.limits[y, x]
            unlike[y, x] = 255 if squares.ages[y, x] >= rule.young and farthest > limit * limit else 0


@compiled_views
def learn_squares(colours, unlike, foreground, allowed, squares, rule):
    """Learn mean colours where there is no foreground, and limits that few frames are beyond.

    The limit follows the share of frames that are beyond it, as NORMA's threshold for novelty does (Kivinen, Smola,
    Williamson 2004): up by `step` for each that is, and down by `step` times `share` in every frame.

    Parameters
    ----------
    colours : (h, w, D) f4
        Mean colours of a frame, grey levels.
    unlike : (h, w) u1
        From `judge_squares`.
    foreground : (h, w) u1
        Not 0 where the frame before had foreground.
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
            age, busy = np.int64(squares.ages[y, x]), foreground[y, x] != 0
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


@compiled
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
    most : f4
        Largest difference of a channel that is near, in the frame's units.
    raw : (H, W) u1
        Written: 255 where so.
    """
    channels, width = frame.shape[0], raw.shape[1]
    for y in range(first_row, last_row):
        row = unlike[y // side]
        for square in range(row.shape[0]):
            if row[square] == 0:
                continue
            for x in range(square * side, min((square + 1) * side, width)):
                pixel = y * width + x
                farthest = np.float32(0.0)
                for c in range(channels):
                    farthest = max(farthest, abs(np.float32(frame[c, pixel]) - np.float32(background[c, pixel])))
                if farthest > most:
                    raw[y, x] = 255
