"""How dynamic the background is, on a coarse grid, and where smaller squares therefore count."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._jit.border import reflect
from bgsub._jit.majority import CELL, IN_LARGE, IN_MIDDLE, IN_SMALL
from bgsub._numba import banded, compiled, compiled_views, part
from bgsub.detectors.adaptive._jit.blocks import BYTE
from bgsub.detectors.adaptive._jit.outlines.broad import IN_BROAD
from bgsub.detectors.adaptive._jit.outlines.faint import IN_FAINT

__all__ = [
    "OnsetRule",
    "StaticRule",
    "average",
    "average_around",
    "count_onsets",
    "judge_cells",
]

_LARGEST = 8  # cells of the side of the largest false alarm: a wider field of them is several
_KINDS = np.array([IN_SMALL, IN_MIDDLE, IN_FAINT, IN_BROAD])  # of votes whose onsets are counted


class OnsetRule(NamedTuple):
    """How the votes of a frame count."""

    rate: Any
    """f4: of the running mean"""
    stays: Any
    """f4: cost of a vote that is no onset, where the background is restless"""
    lasts: Any
    """u1: frames for which a vote is remembered"""


@compiled
def count_onsets(cells: Any, recent: Any, rates: Any, restless: Any, rule: Any) -> Any:
    """Update what smaller squares cost that vote where large ones do not: false alarms, or small things that pass.

    Where such squares begin to vote, with none that did lately in the cells around, this costs 1: things that move
    into a cell come from another one. Cells that touch are one false alarm, so this is paid where one begins: in those
    that have no such cell before or above them, in the same square of 8x8 cells. Each other frame costs `rule.stays`,
    if the background is restless there.

    Parameters
    ----------
    cells : (h, w) u1
        Bits of the votes of this frame, from `vote_thrice`, `add_broad` and `mark_faint`.
    recent : (4, h, w) u1
        `rule.lasts` where small squares voted in the frame before, middle ones, those of faint pixels, and broad
        regions, less by one for each frame since then; updated.
    rates : (4, h, w) f4
        Running means of the cost of each per frame, written.
    restless : (h, w) u1
        How restless the background is, 255 for entirely.
    rule : OnsetRule
    """
    (height, width), zero = cells.shape, np.float32(0.0)
    large = np.zeros(width + 2, np.uint8)  # of the cells above, beside and below, with a margin
    lately, beside = np.zeros_like(large), np.empty(width, np.uint8)
    onsets = np.zeros((recent.shape[0], 2, width + 2), np.uint8)  # of this row of cells and of the one above, by turns
    alone, begins = np.empty(width, np.uint8), np.empty(width, np.uint8)
    within = np.empty(width, np.uint8)  # not 0 in cells whose square of cells has the one before, too
    for x in range(width):
        within[x] = np.uint8(1 if x % _LARGEST != 0 else 0)
    for y in range(height):
        top, bottom = max(y - 1, 0), min(y + 1, height - 1)
        above, here, below, bits = cells[top], cells[y], cells[bottom], np.uint8(0)
        for x in range(width):
            bits = np.uint8(bits | here[x])
            large[x + 1] = (above[x] | here[x] | below[x]) & IN_LARGE
        for x in range(width):
            beside[x] = large[x] | large[x + 1] | large[x + 2]
        for kind in range(recent.shape[0]):
            if bits & _KINDS[kind] == 0:  # as in most rows
                onsets[kind, y % 2] = np.uint8(0)
                means = rates[kind, y]
                for x in range(width):
                    means[x] += rule.rate * (zero - means[x])
                continue
            above_before, before, below_before = recent[kind, top], recent[kind, y], recent[kind, bottom]
            for x in range(width):
                lately[x + 1] = above_before[x] | before[x] | below_before[x]
            means, votes, unrest = rates[kind, y], _KINDS[kind], restless[y]
            onset, onset_above = onsets[kind, y % 2], onsets[kind, (y + 1) % 2]
            below_other = np.uint8(1 if y % _LARGEST != 0 else 0)
            for x in range(width):
                alone[x] = np.uint8(1) if ((here[x] & votes) != 0) & (beside[x] == 0) else np.uint8(0)
                begins[x] = np.uint8(1) if (lately[x] | lately[x + 1] | lately[x + 2]) == 0 else np.uint8(0)
                onset[x + 1] = alone[x] & begins[x]
            for x in range(width):  # a loop of its own: it reads what the one above wrote of the cell before
                above_too = (onset_above[x] | onset_above[x + 1] | onset_above[x + 2]) & below_other
                counted = (onset[x] & within[x]) | above_too
                first = zero if counted != 0 else np.float32(1.0)
                goes_on = rule.stays * (np.float32(unrest[x]) * BYTE)
                cost = first if begins[x] != 0 else goes_on
                mean = means[x]
                means[x] = mean + rule.rate * ((cost if alone[x] != 0 else zero) - mean)
    for kind in range(recent.shape[0]):
        votes = _KINDS[kind]
        for y in range(height):
            here, before = cells[y], recent[kind, y]
            for x in range(width):
                fewer = np.uint8(max(before[x], np.uint8(1)) - np.uint8(1))
                before[x] = rule.lasts if (here[x] & votes) != 0 else fewer


@banded
def average(first, last, factors, blink_rates, weight, means):
    """Write the mean of factors + weight * blink_rates over each cell; those at the ends may be smaller.

    Parameters
    ----------
    factors, blink_rates : (H, W) u2
    weight : int
        Of the second beside the first.
    means : (ceil(H / CELL), ceil(W / CELL)) f4
        Written.
    """
    height, width = factors.shape
    sums, factor, whole = np.empty(width, np.int32), np.int32(weight), width // CELL
    for row in range(first, last):
        for x in range(width):
            sums[x] = np.int32(0)
        top, bottom = row * CELL, min((row + 1) * CELL, height)
        for y in range(top, bottom):
            a, b = factors[y], blink_rates[y]
            for x in range(width):
                sums[x] = np.int32(sums[x] + np.int32(a[x]) + factor * np.int32(b[x]))
        out, share = means[row], np.float32(1.0 / (CELL * (bottom - top)))
        for cell in range(whole):
            part = np.int32(sums[4 * cell] + sums[4 * cell + 1] + sums[4 * cell + 2] + sums[4 * cell + 3])
            out[cell] = np.float32(part) * share
        if whole < out.shape[0]:
            rest, total = sums[whole * CELL :], np.int64(0)
            for x in range(rest.shape[0]):
                total += np.int64(rest[x])
            out[whole] = np.float32(total) / np.float32(rest.shape[0] * (bottom - top))


@part
def _average_around(grid, reach, columns, means):
    """Write the means of one grid.

    columns : (w,) f8, scratch
    """
    height, width = grid.shape
    columns[:] = 0.0
    for row in range(-reach, reach):
        line = grid[reflect(row, height)]
        for x in range(width):
            columns[x] += np.float64(line[x])
    scale = 1.0 / np.float64((2 * reach + 1) * (2 * reach + 1))
    for y in range(height):
        added, removed, out, total = grid[reflect(y + reach, height)], grid[reflect(y - reach, height)], means[y], 0.0
        for x in range(width):
            columns[x] += np.float64(added[x])
        for x in range(-reach, reach):
            total += columns[reflect(x, width)]
        for x in range(width):
            total += columns[reflect(x + reach, width)]
            out[x] = np.float32(total * scale)
            total -= columns[reflect(x - reach, width)]
        for x in range(width):
            columns[x] -= np.float64(removed[x])


@compiled
def average_around(grids: Any, reach: Any, means: Any) -> Any:
    """Write the means of the square around each cell, from `reach` cells before it to as many behind it.

    Parameters
    ----------
    grids : (n, h, w) f4
        Beyond the border are their mirror images.
    reach : i8
    means : (n, h, w) f4
        Written.
    """
    columns = np.empty(grids.shape[2])
    for i in range(grids.shape[0]):
        _average_around(grids[i], reach, columns, means[i])


class StaticRule(NamedTuple):
    """Where smaller squares count; f4."""

    least: Any
    """Factors of widths that are as narrow as may be, in their unit,"""
    restless: Any
    """and how far widths and blink rates exceed it, as a share of it, where the background is restless."""
    usual: Any
    """What these are where it is calm, of a model that is young, else infinite;"""
    few: Any
    """largest mean cost where they do not exceed it as far,"""
    fewer: Any
    """and where they do."""
    middle: Any
    """These limits are for small squares of the ordinary size: those of the others, as shares of it."""
    small: Any
    broad: Any
    faint: Any
    """Largest mean cost of squares of faint pixels."""


@compiled_views
def judge_cells(
    levels: Any, costs: Any, rule: Any, static: Any, faint_static: Any, broad_static: Any, restless: Any
) -> Any:
    """Write in which cells smaller squares count, and how restless the background is.

    Parameters
    ----------
    levels : (h, w) f4
        How wide kernels are around, and how much they blink.
    costs : (4, h, w) f4
        Mean costs of small squares, middle ones, small ones of faint pixels, and broad regions in the neighbourhood.
    rule : StaticRule
    static : (h, w) u1
        Written: IN_SMALL, IN_MIDDLE or 0.
    faint_static, broad_static : (h, w) u1
        Written: 1 or 0.
    restless : (h, w) u1
        Written: 255 for entirely.
    """
    one, scale, none = np.float32(1.0), np.float32(255.0) / rule.restless, np.uint8(0)
    bar = (one + rule.restless) * rule.usual
    for y in range(levels.shape[0]):
        for x in range(levels.shape[1]):
            beyond = (levels[y, x] / rule.least - one) * scale
            restless[y, x] = np.uint8(np.int32(np.rint(min(max(beyond, np.float32(0.0)), np.float32(255.0)))))
            few = rule.fewer if levels[y, x] >= bar else rule.few
            found = IN_MIDDLE if costs[1, y, x] < few * rule.middle else none
            static[y, x] = IN_SMALL if costs[0, y, x] < few * rule.small else found
            faint_static[y, x] = np.uint8(1) if costs[2, y, x] < rule.faint else none
            broad_static[y, x] = np.uint8(1) if costs[3, y, x] < few * rule.broad else none
