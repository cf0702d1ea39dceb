"""Densities, raw masks and nearest support vectors of a frame, for the adaptive detector."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._numba import banded, exp2_nonpositive, inlined, part, prefetch
from bgsub.detectors.adaptive._jit.blocks import BLOCK, BYTES, NONE, SETTLED, Observation, exponent_unit

__all__ = ["ScoreRule", "score"]

_PART = 16  # pixels of a block that are compared with later slots together
# Where a dominant first slot has a kernel value above tau, the density is above the threshold but for rounding, by less
# than a millionth of it.
_ABOVE = np.float32(1.000002)


class ScoreRule(NamedTuple):
    """How a frame is judged."""

    gain: Any
    """f4: -log2(e) / width**2, width in units of the frame."""
    threshold: Any
    """f4: on the density."""
    tau: Any
    """f4: least kernel value for a projection."""
    box: Any
    """Of the frame's dtype: colours whose channels differ no more have kernel values above tau at any width."""
    exact: Any
    """bool: compute densities also where they are certain to be above the threshold."""


class _Scratch(NamedTuple):
    """Working memory for one block; (BLOCK,) each."""

    f: Any
    """f4: sum of a_j k(s_j, x), then the density"""
    mass: Any
    """f4: sum of a_j"""
    gains: Any
    """f4: factors from squared distances to exponents"""
    square: Any
    """f4: squared distances to one slot"""
    first: Any
    """f4: kernel value of the first slot"""
    to_beat: Any
    """f4: kernel value above which a later slot is the one to project on; infinite where the first is near enough"""
    index: Any
    """u1: the slot to project on"""
    apart: Any
    """u1: whether the first slot leaves open what is near, and what is foreground"""


class _Expansions(NamedTuple):
    """What is compared with later slots, of `State` and in its order, in rows of _PART pixels."""

    colours: Any
    coefficients: Any


@inlined
def _seen_in_parts(seen):
    """View what was seen in rows of _PART pixels."""
    return Observation(
        seen.planes.reshape(seen.planes.shape[0], -1, _PART),
        seen.density.reshape(-1, _PART),
        seen.raw.reshape(-1, _PART),
        seen.faint.reshape(-1, _PART),
        seen.distance.reshape(-1, _PART),
        seen.nearest.reshape(-1, _PART),
        seen.kernel_value.reshape(-1, _PART),
        seen.settled,
    )


@inlined
def _in_parts(scratch):
    """View working memory in rows of _PART pixels."""
    return _Scratch(
        scratch.f.reshape(-1, _PART),
        scratch.mass.reshape(-1, _PART),
        scratch.gains.reshape(-1, _PART),
        scratch.square.reshape(-1, _PART),
        scratch.first.reshape(-1, _PART),
        scratch.to_beat.reshape(-1, _PART),
        scratch.index.reshape(-1, _PART),
        scratch.apart.reshape(-1, _PART),
    )


@inlined
def _separate_three(part, plane0, plane1, plane2):
    """Copy a block of three channels in turn to planes, in the form that is vectorised."""
    for x in range(BLOCK):
        value0, value1, value2 = part[3 * x], part[3 * x + 1], part[3 * x + 2]
        plane0[x] = value0
        plane1[x] = value1
        plane2[x] = value2


@inlined
def _separate_any(part, planes, y):
    """Copy a block of any number of channels, or the last pixels of a frame, which need not fill one."""
    channels = planes.shape[0]
    if channels == 1:
        plane = planes[0, y]
        for x in range(part.shape[0]):
            plane[x] = part[x]
        return
    for c in range(channels):
        plane = planes[c, y]
        for x in range(part.shape[0] // channels):
            plane[x] = part[x * channels + c]


@inlined
def _separate(frame, y, planes, whole):
    """Copy a block of a frame, channels in turn, into its planes; blocks below `whole` have three and are full."""
    size = BLOCK * planes.shape[0]
    part = frame[y * size : (y + 1) * size]
    if y < whole:
        _separate_three(part, planes[0, y], planes[1, y], planes[2, y])
    else:
        _separate_any(part, planes, y)


@inlined
def _is_inside(y, planes, colours, box):
    """Return whether every pixel of a block differs from its first slot by no more than the box."""
    kind = planes.dtype.type
    for c in range(planes.shape[0]):
        p, s = planes[c, y], colours[0, c, y]
        outside = np.uint8(0)  # counted in bytes: 64 of them fit into a vector
        for x in range(BLOCK):
            seen, learned = p[x], s[x]
            difference = kind(max(seen, learned) - min(seen, learned))
            outside = np.uint8(outside + (np.uint8(1) if difference > box else np.uint8(0)))
        if outside != 0:
            return False
    return True


@inlined
def _fetch(y, state, seen):
    """Prefetch the data of an unsettled block: the hardware cannot predict which blocks these are."""
    slots, channels = state.coefficients.shape[0], seen.planes.shape[0]
    prefetch(state.width_factors[y])
    prefetch(seen.distance[y])
    prefetch(seen.nearest[y])
    prefetch(seen.kernel_value[y])
    for j in range(1, slots):
        for c in range(channels):
            prefetch(state.colours[j, c, y])


@inlined
def _first_slot(y, planes, colours, factors_row, unit, tau, scratch):
    """Compute the kernel values of the first slot, and return how many are not above tau."""
    gains, square, first, apart = scratch.gains, scratch.square, scratch.first, scratch.apart
    s0, p0 = colours[0, 0, y], planes[0, y]
    for x in range(BLOCK):
        d = np.float32(s0[x]) - np.float32(p0[x])
        square[x] = d * d
    for c in range(1, planes.shape[0]):
        s1, p1 = colours[0, c, y], planes[c, y]
        for x in range(BLOCK):
            d = np.float32(s1[x]) - np.float32(p1[x])
            square[x] += d * d
    certain = tau * _ABOVE
    far = np.int32(0)  # counted in 32 bits: vectors have as many numbers as fit of the widest kind
    for x in range(BLOCK):
        r = np.float32(factors_row[x])
        gains[x] = unit / (r * r)
        k = exp2_nonpositive(square[x] * gains[x])
        first[x] = k
        apart[x] = np.uint8(0) if k > certain else np.uint8(1)
        far = np.int32(far + (np.int32(0) if k > tau else np.int32(1)))
    return far


@inlined
def _take_first_slot(y, seen, first):
    """Write what is seen where the first slot is near and outweighs the others, by its rounded kernel values."""
    raw, faint, distance, nearest = seen.raw[y], seen.faint[y], seen.distance[y], seen.nearest[y]
    kernel_value, one = seen.kernel_value[y], np.float32(1.0)
    for x in range(BLOCK):
        raw[x] = np.uint8(0)
        faint[x] = np.uint8(0)
        distance[x] = np.uint8(0)
        nearest[x] = np.uint8(0)
    for x in range(BLOCK):
        kernel_value[x] = np.int32(min(first[x], one) * BYTES + np.float32(0.5))


@inlined
def _weigh_first_slot(a0, tau, scratch):
    """Begin the sums with the first slot, whose coefficients are a0."""
    f, mass, first, to_beat, index = scratch.f, scratch.mass, scratch.first, scratch.to_beat, scratch.index
    zero, two, infinite = np.float32(0.0), np.float32(2.0), np.float32(np.inf)
    for x in range(BLOCK):
        weight, k = a0[x], first[x]
        f[x] = weight * k
        mass[x] = weight
        k = k if weight > zero else zero
        index[x] = np.uint8(0)
        # Rounded to multiples of 2**-22, as in all models so far: now and then it decides how a byte is rounded.
        first[x] = (two + k) - two
        to_beat[x] = infinite if k > tau else k


@inlined
def _add(f, mass, bar, chosen, weight, k, slot):
    """Return the sums of one pixel, values of `f`, `mass`, `to_beat` and `index`, with another slot."""
    k = k if weight > np.float32(0.0) else np.float32(0.0)
    return f + weight * k, mass + weight, max(k, bar), slot if k > bar else chosen


@inlined
def _weigh_slot(slot, at, i, planes, colours, a, parts):
    """Add a later slot, whose coefficients are `a`, to the sums, and note where it is the nearest one."""
    f, mass, gains, to_beat, index = parts.f[i], parts.mass[i], parts.gains[i], parts.to_beat[i], parts.index[i]
    number = np.uint8(slot)
    # In one loop: short ones of so few pixels would be unrolled before LLVM vectorises.
    s0, p0 = colours[slot, 0, at], planes[0, at]
    if planes.shape[0] == 3:
        s1, s2, p1, p2 = colours[slot, 1, at], colours[slot, 2, at], planes[1, at], planes[2, at]
        for x in range(_PART):
            total, heavy, bar, chosen = f[x], mass[x], to_beat[x], index[x]
            d0 = np.float32(s0[x]) - np.float32(p0[x])
            d1 = np.float32(s1[x]) - np.float32(p1[x])
            d2 = np.float32(s2[x]) - np.float32(p2[x])
            k = exp2_nonpositive((d2 * d2 + (d1 * d1 + d0 * d0)) * gains[x])
            f[x], mass[x], to_beat[x], index[x] = _add(total, heavy, bar, chosen, a[x], k, number)
    else:
        for x in range(_PART):
            total, heavy, bar, chosen = f[x], mass[x], to_beat[x], index[x]
            d0 = np.float32(s0[x]) - np.float32(p0[x])
            k = exp2_nonpositive(d0 * d0 * gains[x])
            f[x], mass[x], to_beat[x], index[x] = _add(total, heavy, bar, chosen, a[x], k, number)


@inlined
def _judge(at, i, a0, seen, rule, parts):
    """Write density, raw and faint mask, distance and nearest slot of a part of a block from the sums."""
    zero, one = np.float32(0.0), np.float32(1.0)
    f, mass, index = parts.f[i], parts.mass[i], parts.index[i]
    first, to_beat, infinite = parts.first[i], parts.to_beat[i], np.float32(np.inf)
    raw, faint, distance, nearest = seen.raw[at], seen.faint[at], seen.distance[at], seen.nearest[at]
    kernel_value = seen.kernel_value[at]
    threshold, tau = rule.threshold, rule.tau
    inverse = one / threshold  # divisions are slow
    for x in range(_PART):
        m, near, best, chosen = mass[x], first[x], to_beat[x], index[x]
        k = near if best == infinite else best
        total = f[x]
        others = total - a0[x] * near
        q = total / (m if m > zero else one)
        q = q if m > zero else one  # an empty expansion finds nothing novel
        known = (best == infinite) | (others >= threshold * m)  # by the first slot, or by the others alone
        f[x] = q
        raw[x] = np.uint8(255) if q < threshold else np.uint8(0)
        faint[x] = np.uint8(255) if (q < tau) & (not known) else np.uint8(0)
        distance[x] = np.int32(max(one - q * inverse, zero) * BYTES + np.float32(0.5))
        nearest[x] = chosen if k > tau else NONE
        kernel_value[x] = np.int32(min(k, one) * BYTES + np.float32(0.5))


@inlined
def _score_part(at, i, state, seen, rule, parts):
    """Score a part of a block by all slots; everything is in parts."""
    for j in range(1, state.coefficients.shape[0]):
        _weigh_slot(j, at, i, seen.planes, state.colours, state.coefficients[j, at], parts)
    _judge(at, i, state.coefficients[0, at], seen, rule, parts)


@part
def _score(first, last, frame, state, seen, rule, scratch):
    """Score a band of blocks."""
    slots, channels = state.colours.shape[0], state.colours.shape[1]
    planes, settled = seen.planes, seen.settled
    unit = exponent_unit(rule.gain, channels)
    whole = frame.shape[0] // (3 * BLOCK) if channels == 3 else 0
    expansions = _Expansions(
        state.colours.reshape(slots, channels, -1, _PART), state.coefficients.reshape(slots, -1, _PART)
    )
    found, parts = _seen_in_parts(seen), _in_parts(scratch)
    apart = scratch.apart.view(np.uint64)
    for y in range(first, last):
        _separate(frame, y, planes, whole)
        raw_row, faint_row, leads = seen.raw[y], seen.faint[y], state.dominant[y] != 0
        # Most blocks of most frames end here, after a comparison of bytes: a box around each first slot, small enough
        # for k > tau at the smallest width, proves them background without an exponential.
        if leads and not rule.exact and _is_inside(y, planes, state.colours, rule.box):
            if settled[y] != SETTLED:  # else the masks of the frame before are empty, too
                for x in range(BLOCK):
                    raw_row[x] = np.uint8(0)
                    faint_row[x] = np.uint8(0)
            settled[y] = SETTLED
            continue
        if y + 1 < last and settled[y + 1] != SETTLED:
            _fetch(y + 1, state, seen)
        far = _first_slot(y, planes, state.colours, state.width_factors[y], unit, rule.tau, scratch)
        # With k > tau everywhere and first coefficients of at least threshold / tau of the sum, g >= threshold.
        certain = far == 0 and leads
        settled[y] = SETTLED if certain else np.uint8(0)
        if certain and not rule.exact:
            for x in range(BLOCK):
                raw_row[x] = np.uint8(0)
                faint_row[x] = np.uint8(0)
            continue
        _weigh_first_slot(state.coefficients[0, y], rule.tau, scratch)
        partly = leads and not rule.exact
        if partly:
            _take_first_slot(y, seen, scratch.first)
        for i in range(BLOCK // _PART):
            if not partly or (apart[2 * i] | apart[2 * i + 1]) != 0:
                _score_part(y * (BLOCK // _PART) + i, i, expansions, found, rule, parts)
        if rule.exact:
            density, f = seen.density[y], scratch.f
            for x in range(BLOCK):
                density[x] = f[x]


@banded
def score(first, last, state, seen, frame, rule):
    """Compute the density f(x) / sum of coefficients, raw and faint mask, and the support vector to project on.

    Parameters
    ----------
    first, last : int
        Blocks.
    state : State
        Read only.
    seen : Observation
        Written.
    frame : (H * W * D,) u1, u2 or f4
    rule : ScoreRule
    """
    scratch = _Scratch(
        np.empty(BLOCK, np.float32),
        np.empty(BLOCK, np.float32),
        np.empty(BLOCK, np.float32),
        np.empty(BLOCK, np.float32),
        np.empty(BLOCK, np.float32),
        np.empty(BLOCK, np.float32),
        np.empty(BLOCK, np.uint8),
        np.empty(BLOCK, np.uint8),
    )
    _score(first, last, frame, state, seen, rule, scratch)
