"""Densities, raw masks and nearest support vectors of a frame, for the adaptive detector."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._numba import claim, compiled, exp2_nonpositive, inlined, part, prefetch
from bgsub.detectors.adaptive._jit.blocks import BLOCK, BYTES, NONE, SETTLED, exponent_unit, is_empty

__all__ = ["ScoreRule", "score"]


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
    """f4: sum of a_j k(s_j, x)"""
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
    outside: Any
    """u1: whether any channel differs by more than the box"""


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
def _is_inside(y, planes, colours, box, outside):
    """Return whether every pixel of a block differs from its first slot by no more than the box."""
    kind = planes.dtype.type
    for x in range(BLOCK):
        outside[x] = np.uint8(0)
    for c in range(planes.shape[0]):
        p, s = planes[c, y], colours[0, c, y]
        for x in range(BLOCK):
            seen, learned = p[x], s[x]
            difference = kind(max(seen, learned) - min(seen, learned))
            outside[x] |= np.uint8(1 if difference > box else 0)
    return is_empty(outside)


@inlined
def _fetch(y, state, seen):
    """Prefetch the data of an unsettled block: the hardware cannot predict which blocks these are."""
    slots, channels = state.coefficients.shape[0], seen.planes.shape[0]
    prefetch(state.width_factors[y])
    for j in range(slots):
        prefetch(state.coefficients[j, y])
    for j in range(1, slots):
        for c in range(channels):
            prefetch(state.colours[j, c, y])
    prefetch(seen.distance[y])
    prefetch(seen.nearest[y])
    prefetch(seen.kernel_value[y])


@part
def _squares(y, planes, colours, j, square):
    """Compute the squared distances to one slot."""
    s0, p0 = colours[j, 0, y], planes[0, y]
    for x in range(BLOCK):
        d = np.float32(s0[x]) - np.float32(p0[x])
        square[x] = d * d
    for c in range(1, planes.shape[0]):
        s1, p1 = colours[j, c, y], planes[c, y]
        for x in range(BLOCK):
            d = np.float32(s1[x]) - np.float32(p1[x])
            square[x] += d * d


@inlined
def _first_slot(factors_row, unit, tau, scratch):
    """Compute the kernel values of the first slot, and return how many are not above tau."""
    gains, square, first = scratch.gains, scratch.square, scratch.first
    far = np.int32(0)
    for x in range(BLOCK):
        r = np.float32(factors_row[x])
        gains[x] = unit / (r * r)
        k = exp2_nonpositive(square[x] * gains[x])
        first[x] = k
        far = np.int32(far + (np.int32(0) if k > tau else np.int32(1)))
    return far


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
def _weigh_slot(slot, a, scratch):
    """Add a later slot, whose coefficients are `a`, to the sums, and note where it is the nearest one."""
    f, mass, gains, square = scratch.f, scratch.mass, scratch.gains, scratch.square
    to_beat, index = scratch.to_beat, scratch.index
    zero = np.float32(0.0)
    for x in range(BLOCK):
        weight, bar, chosen = a[x], to_beat[x], index[x]
        k = exp2_nonpositive(square[x] * gains[x])
        k = k if weight > zero else zero
        f[x] += weight * k
        mass[x] += weight
        index[x] = slot if k > bar else chosen
        to_beat[x] = max(k, bar)


@inlined
def _judge(y, seen, rule, scratch):
    """Write density, raw mask, distance and nearest slot from the sums."""
    zero, one = np.float32(0.0), np.float32(1.0)
    f, mass, index = scratch.f, scratch.mass, scratch.index
    first, to_beat, infinite = scratch.first, scratch.to_beat, np.float32(np.inf)
    density, raw, distance = seen.density[y], seen.raw[y], seen.distance[y]
    nearest, kernel_value = seen.nearest[y], seen.kernel_value[y]
    threshold, tau = rule.threshold, rule.tau
    inverse = one / threshold  # divisions are slow
    for x in range(BLOCK):
        m, near, best = mass[x], first[x], to_beat[x]
        k = near if best == infinite else best
        q = f[x] / (m if m > zero else one)
        q = q if m > zero else one  # an empty expansion finds nothing novel
        density[x] = q
        raw[x] = np.uint8(255) if q < threshold else np.uint8(0)
        distance[x] = np.int32(max(one - q * inverse, zero) * BYTES + np.float32(0.5))
        nearest[x] = index[x] if k > tau else NONE
        kernel_value[x] = np.int32(min(k, one) * BYTES + np.float32(0.5))


@part
def _score(first, last, frame, state, seen, rule, scratch):
    """Score a band of blocks."""
    channels, slots = seen.planes.shape[0], state.coefficients.shape[0]
    planes, settled = seen.planes, seen.settled
    unit = exponent_unit(rule.gain, channels)
    whole = frame.shape[0] // (3 * BLOCK) if channels == 3 else 0
    for y in range(first, last):
        _separate(frame, y, planes, whole)
        raw_row, leads = seen.raw[y], state.dominant[y] != 0
        # Most blocks of most frames end here, after a comparison of bytes: a box around each first slot, small enough
        # for k > tau at the smallest width, proves them background without an exponential.
        if leads and not rule.exact and _is_inside(y, planes, state.colours, rule.box, scratch.outside):
            if settled[y] != SETTLED:  # else the raw mask of the frame before is empty, too
                for x in range(BLOCK):
                    raw_row[x] = np.uint8(0)
            settled[y] = SETTLED
            continue
        _fetch(y, state, seen)
        # As an integer: for a literal, `_squares` would be compiled a second time.
        _squares(y, planes, state.colours, np.int64(0), scratch.square)
        far = _first_slot(state.width_factors[y], unit, rule.tau, scratch)
        for x in range(BLOCK):
            raw_row[x] = np.uint8(0)
        # With k > tau everywhere and first coefficients of at least threshold / tau of the sum, g >= threshold.
        certain = far == 0 and leads
        settled[y] = SETTLED if certain else np.uint8(0)
        if certain and not rule.exact:
            continue
        _weigh_first_slot(state.coefficients[0, y], rule.tau, scratch)
        for j in range(1, slots):
            _squares(y, planes, state.colours, j, scratch.square)
            _weigh_slot(np.uint8(j), state.coefficients[j, y], scratch)
        _judge(y, seen, rule, scratch)


@compiled
def score(bands, frame, state, seen, rule):
    """Compute the density f(x) / sum of coefficients, the raw mask and the support vector to project on.

    Parameters
    ----------
    bands : Bands
        Of blocks.
    frame : (H * W * D,) u1, u2 or f4
    state : State
        Read only.
    seen : Observation
        Written.
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
    first, last = claim(bands)
    while first < last:
        _score(first, last, frame, state, seen, rule, scratch)
        first, last = claim(bands)
