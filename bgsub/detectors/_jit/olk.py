"""OLK_N at every pixel: one band of rows of kernel expansions that store every learned sample."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._numba import banded, exp2_nonpositive, part
from bgsub.detectors._jit.ring import (
    NO_SLOT,
    next_slot,
    separate,
    store_coefficients,
    store_colours,
    write_mask,
    write_score,
)

__all__ = ["FIXED", "POOLED", "PUBLISHED", "QUANTILE", "Rule", "Thresholds", "step"]

FIXED, PUBLISHED, QUANTILE, POOLED = 0, 1, 2, 3
"""Rules for the threshold: on the density q = f / sum of coefficients, but for PUBLISHED, which is on f."""


class Thresholds(NamedTuple):
    """Thresholds of single pixels, for QUANTILE; arrays of shape (0, 0) for the other rules."""

    theta: Any
    """(H, W) f4: the threshold; in the warm-up the sum of q."""
    counts: Any
    """(H, W) i4: samples learned."""


class Rule(NamedTuple):
    """How OLK_N decides and learns; numbers are f4 where nothing else is said."""

    learn: Any
    """bool: whether this frame is learned."""
    gain: Any
    """-log2(e) / width**2, width in units of the frame."""
    scale: Any
    """The common factor of all coefficients."""
    rule: Any
    """i4: FIXED, PUBLISHED, QUANTILE or POOLED."""
    level: Any
    """The threshold of FIXED, PUBLISHED and POOLED."""
    only_slot: Any
    """i4: the slot that is next at every pixel, or -1 where they differ."""
    stored: Any
    """1 / scale: what a coefficient of 1 / (1 + r) becomes under the scale after the step."""
    r: Any
    """Regulariser."""
    v: Any
    """Least new coefficient."""
    C: Any
    """Largest new coefficient."""
    nu: Any
    """QUANTILE: share of samples to flag."""
    eta_rho: Any
    """QUANTILE: last step size."""
    warmup: Any
    """i4; QUANTILE: samples before a threshold."""


@part
def _expand_and_sum(colours, coefficients, values, gain, f, mass):
    """Compute f as `ring.expand` does, and the sum of the coefficients, (W,) f4, in the same pass over them.

    A second pass over the coefficients would take a tenth of the time of the whole step.
    """
    zero = np.float32(0.0)
    x0 = values[0]
    for x in range(f.shape[0]):
        f[x] = zero
        mass[x] = zero
    for j in range(coefficients.shape[0]):
        a, s0 = coefficients[j], colours[0, j]
        if values.shape[0] == 3:
            s1, s2, x1, x2 = colours[1, j], colours[2, j], values[1], values[2]
            for x in range(f.shape[0]):
                d0 = np.float32(s0[x]) - x0[x]
                d1 = np.float32(s1[x]) - x1[x]
                d2 = np.float32(s2[x]) - x2[x]
                f[x] += a[x] * exp2_nonpositive((d0 * d0 + d1 * d1 + d2 * d2) * gain)
                mass[x] += a[x]
        else:
            for x in range(f.shape[0]):
                d0 = np.float32(s0[x]) - x0[x]
                f[x] += a[x] * exp2_nonpositive(d0 * d0 * gain)
                mass[x] += a[x]


@part
def _normalise(f, mass, scale, density):
    """Compute the density, 1 where there is no coefficient, and multiply f by the common scale."""
    zero, one = np.float32(0.0), np.float32(1.0)
    for x in range(f.shape[0]):
        ratio = f[x] / (mass[x] if mass[x] > zero else one)
        density[x] = ratio if mass[x] > zero else one
        f[x] *= scale


@part
def _warm_thresholds(theta, counts, warmup, threshold):
    """Write the thresholds of QUANTILE, 0 for pixels in the warm-up."""
    zero = np.float32(0.0)
    for x in range(theta.shape[0]):
        warm = theta[x]
        threshold[x] = warm if counts[x] >= warmup else zero


@part
def _new_coefficients(f, rule, new):
    """Compute the coefficient of a new support vector, eq. 67, under the scale after the step."""
    one = np.float32(1.0)
    for x in range(f.shape[0]):
        new[x] = min(max(one + rule.r - f[x], rule.v), rule.C) * rule.stored


@part
def _choose_slots(heads, slots, everywhere, where, insert):
    """Note the slot that takes each pixel's colour, and advance the heads."""
    for x in range(heads.shape[0]):
        head = heads[x]
        learns = everywhere or where[x] != 0
        following = next_slot(head, slots)
        insert[x] = head if learns else NO_SLOT
        heads[x] = following if learns else head


@part
def _move_thresholds(density, theta, counts, everywhere, where, rule):
    """Let theta follow the quantile nu of the densities: half of their mean at first, then in smaller steps."""
    one = np.float32(1.0)
    for x in range(density.shape[0]):
        if not (everywhere or where[x] != 0):
            continue
        counts[x] += np.int32(1)
        n = counts[x]
        if n <= rule.warmup:
            if n >= 2:  # the first sample meets an empty expansion, whose density says nothing
                theta[x] += density[x]
            if n == rule.warmup:
                theta[x] *= np.float32(0.5) / np.float32(rule.warmup - np.int32(1))
        else:
            eta = min(max(np.float32(3.0) / np.float32(n - rule.warmup), rule.eta_rho), one)
            novel = one if density[x] < theta[x] else np.float32(0.0)
            theta[x] *= np.float32(np.exp(eta * (rule.nu - novel)))


@part
def _undo_shrinking(coefficients, where, shrink):
    """Keep coefficients (B, W) as they are under the common scale where pixels do not learn."""
    for j in range(coefficients.shape[0]):
        a = coefficients[j]
        for x in range(a.shape[0]):
            old = a[x]
            kept = old * shrink
            a[x] = old if where[x] != 0 else kept


@banded
def step(first_row, last_row, frame, ring, thresholds, where, rule, outputs):
    """Score one band of rows and let it learn (Li 2013, eq. 67; the rules for the threshold are ours).

    Parameters
    ----------
    frame : (H, W, D) u1, u2 or f4
    ring : Ring
    thresholds : Thresholds
    where : (H, W) u1
        Pixels that may learn; shape (0, 0) for all.
    rule : Rule
    outputs : Outputs
    """
    width, channels, slots = frame.shape[1], frame.shape[2], ring.coefficients.shape[1]
    pixels, values = np.empty((channels, width), frame.dtype), np.empty((channels, width), np.float32)
    f, mass, density = np.empty(width, np.float32), np.empty(width, np.float32), np.empty(width, np.float32)
    threshold, new = np.empty(width, np.float32), np.empty(width, np.float32)
    insert = np.empty(width, np.uint8)  # the slot that takes this pixel's colour now
    everywhere, unread = where.shape[0] == 0, np.empty(width, np.uint8)
    for x in range(width):
        threshold[x] = rule.level
    for y in range(first_row, last_row):
        colours, coefficients, heads = ring.colours[y], ring.coefficients[y], ring.heads[y]
        separate(frame[y].reshape(-1), pixels, values)
        _expand_and_sum(colours, coefficients, values, rule.gain, f, mass)
        _normalise(f, mass, rule.scale, density)
        if rule.rule == QUANTILE:
            _warm_thresholds(thresholds.theta[y], thresholds.counts[y], rule.warmup, threshold)
        compared = f if rule.rule == PUBLISHED else density
        if outputs.mask.shape[0] > 0:
            write_mask(compared, threshold, outputs.mask[y])
        if outputs.score.shape[0] > 0:
            write_score(compared, threshold, outputs.score[y])
        if not rule.learn:
            continue
        where_row = unread if everywhere else where[y]
        _new_coefficients(f, rule, new)
        _choose_slots(heads, slots, everywhere, where_row, insert)
        if rule.rule == QUANTILE:
            _move_thresholds(density, thresholds.theta[y], thresholds.counts[y], everywhere, where_row, rule)
        if not everywhere:
            _undo_shrinking(coefficients, where_row, np.float32(np.float32(1.0) + rule.r))
        for j in range(slots) if rule.only_slot < 0 else range(rule.only_slot, rule.only_slot + 1):
            store_coefficients(np.uint8(j), insert, new, coefficients[j])
            store_colours(np.uint8(j), insert, pixels, colours)
