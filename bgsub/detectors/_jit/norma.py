"""NORMA at every pixel: one band of rows of many small kernel expansions."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._numba import banded, part
from bgsub.detectors._jit.ring import (
    NO_SLOT,
    expand,
    next_slot,
    separate,
    store_coefficients,
    store_colours,
    write_mask,
    write_score,
)

__all__ = ["Rule", "step"]


class Rule(NamedTuple):
    """How NORMA decides and learns; all numbers are f4."""

    learn: Any
    """bool: whether this frame is learned."""
    gain: Any
    """-log2(e) / width**2, width in units of the frame."""
    scale: Any
    """The common factor of all coefficients."""
    kappa: Any
    """Decision threshold as a share of rho."""
    eta: Any
    """Step size."""
    nu: Any
    """Share of learned colours that are to be novel."""
    decay: Any
    """1 - eta * lam; the caller multiplies `scale` by it after a step that learned."""
    new_coefficient: Any
    """eta / (scale * decay): what eta is under the next scale."""


@part
def _scale(f, scale):
    """Multiply f by the common scale of the coefficients."""
    for x in range(f.shape[0]):
        f[x] *= scale


@part
def _decision_threshold(rho, kappa, threshold):
    """Compute what f is compared with for the mask."""
    for x in range(rho.shape[0]):
        threshold[x] = kappa * rho[x]


@part
def _learn_row(f, rho, heads, slots, eta, nu, insert):
    """Choose the slot of each novel colour and move rho towards the share nu of novel ones."""
    zero, one = np.float32(0.0), np.float32(1.0)
    for x in range(f.shape[0]):
        head = heads[x]
        novel = f[x] < rho[x]
        insert[x] = head if novel else NO_SLOT
        rho[x] += eta * (nu - (one if novel else zero))
        following = next_slot(head, slots)
        heads[x] = following if novel else head


@part
def _learn_row_where(f, rho, heads, slots, eta, nu, insert, where):
    """Do what `_learn_row` does, only where `where`, (W,) u1, is not 0."""
    zero, one = np.float32(0.0), np.float32(1.0)
    for x in range(f.shape[0]):
        head = heads[x]
        novel = f[x] < rho[x]
        learns = where[x] != 0
        insert[x] = head if novel and learns else NO_SLOT
        change = eta * (nu - (one if novel else zero))
        rho[x] += change if learns else zero
        following = next_slot(head, slots)
        heads[x] = following if novel and learns else head


@part
def _undo_decay(coefficients, where, decay):
    """Keep coefficients (B, W) as they are under the common scale where pixels do not learn."""
    for j in range(coefficients.shape[0]):
        a = coefficients[j]
        for x in range(a.shape[0]):
            old = a[x]
            kept = old / decay
            a[x] = old if where[x] != 0 else kept


@banded
def step(first_row, last_row, frame, ring, rho, where, rule, outputs):
    """Score one band of rows and let it learn (Kivinen 2004, nu-novelty with a ring of B support vectors).

    Parameters
    ----------
    frame : (H, W, D) u1, u2 or f4
    ring : Ring
    rho : (H, W) f4
        Thresholds of novelty.
    where : (H, W) u1
        Pixels that may learn; shape (0, 0) for all.
    rule : Rule
    outputs : Outputs
    """
    width, channels, slots = frame.shape[1], frame.shape[2], ring.coefficients.shape[1]
    pixels, values = np.empty((channels, width), frame.dtype), np.empty((channels, width), np.float32)
    f, threshold = np.empty(width, np.float32), np.empty(width, np.float32)
    insert = np.empty(width, np.uint8)  # the slot that takes this pixel's colour now
    new = np.empty(width, np.float32)
    for x in range(width):
        new[x] = rule.new_coefficient
    for y in range(first_row, last_row):
        colours, coefficients = ring.colours[y], ring.coefficients[y]
        separate(frame[y].reshape(-1), pixels, values)
        expand(colours, coefficients, values, rule.gain, f)
        _scale(f, rule.scale)
        _decision_threshold(rho[y], rule.kappa, threshold)
        if outputs.mask.shape[0] > 0:
            write_mask(f, threshold, outputs.mask[y])
        if outputs.score.shape[0] > 0:
            write_score(f, threshold, outputs.score[y])
        if not rule.learn:
            continue
        if where.shape[0] == 0:
            _learn_row(f, rho[y], ring.heads[y], slots, rule.eta, rule.nu, insert)
        else:
            _learn_row_where(f, rho[y], ring.heads[y], slots, rule.eta, rule.nu, insert, where[y])
            _undo_decay(coefficients, where[y], rule.decay)
        for j in range(slots):
            store_coefficients(np.uint8(j), insert, new, coefficients[j])
            store_colours(np.uint8(j), insert, pixels, colours)
