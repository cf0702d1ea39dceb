"""NORMA's masks between two learned frames: boxes of colours that are certainly background.

Between two learned frames f is a fixed function of the colour, so a box of colours that are background is good until
the next. Where the colours of a whole segment of a row lie in their boxes, nothing else is read; elsewhere f is
computed. The loops have the form that `ring` explains.
"""

from typing import Any, NamedTuple

import numpy as np

from bgsub._numba import banded, exp2_nonpositive, inlined, part, prefetch

__all__ = ["SEGMENT", "BoxRule", "Boxes", "Expansion", "write_mask_by_boxes"]

SEGMENT = 64
"""Pixels of a row that are passed over together; a cache line of colours."""
_WORD = 8  # bytes of a machine word


class Boxes(NamedTuple):
    """Colours from `low` to `high`, channel by channel, are background, in any case."""

    low: Any
    """(H, W, D) of the frame's dtype."""
    high: Any
    """(H, W, D) of the frame's dtype."""


class Expansion(NamedTuple):
    """The model of every pixel, which is read only."""

    colours: Any
    """(H, D, B, W) of the frame's dtype: support vectors."""
    coefficients: Any
    """(H, B, W) f4, to be multiplied by the common scale."""
    rho: Any
    """(H, W) f4: thresholds of novelty."""


class BoxRule(NamedTuple):
    """How masks are decided; numbers are f4."""

    known: Any
    """bool: whether there is anything in the boxes."""
    renew: Any
    """bool: whether to write new boxes where f is computed."""
    gain: Any
    """-log2(e) / width**2, width in units of the frame."""
    scale: Any
    """The common factor of all coefficients."""
    kappa: Any
    """Decision threshold as a share of rho."""
    top: Any
    """The largest value of the frame's dtype."""


class _Scratch(NamedTuple):
    """Working memory of one band."""

    outside: Any
    """u1, a whole number of segments of a row, those beyond the row 0: whether a value is outside its box."""
    positions: Any
    """i8: segments to compute, as row * width + column; one more than there can be."""
    values: Any
    """(D, SEGMENT) f4: planes of a segment."""
    kernel: Any
    """(SEGMENT,) f4"""
    f: Any
    """(SEGMENT,) f4, without the common scale"""
    offset: Any
    """(D, SEGMENT) f4: sum of a_j k(s_j, x) (s_j - x)"""
    reach: Any
    """(SEGMENT,) f4"""
    bounds: Any
    """(2, D, SEGMENT) of the frame's dtype: the least and the largest colour of a box"""


@inlined
def _find_outside(first_row, last_row, frame, boxes, mask, scratch):
    """Blank the mask, list the segments where a colour leaves its box, and return how many there are.

    All arrays have one row of numbers per row of pixels.
    """
    width = mask.shape[1]
    segments = (width + SEGMENT - 1) // SEGMENT
    outside, positions = scratch.outside, scratch.positions
    words = outside.view(np.uint64)
    each, count = words.shape[0] // segments, 0
    for y in range(first_row, last_row):
        frame_row, low_row, high_row, mask_row = frame[y], boxes.low[y], boxes.high[y], mask[y]
        for x in range(width):
            mask_row[x] = np.uint8(0)
        for i in range(frame_row.shape[0]):
            value = frame_row[i]  # all channels alike: a box is a cube in the order of the frame's bytes
            outside[i] = np.uint8((value < low_row[i]) | (value > high_row[i]))
        for segment in range(segments):
            part, found = words[segment * each : (segment + 1) * each], np.uint64(0)
            for i in range(each):  # LLVM vectorises the disjunction of words, not that of bytes
                found |= part[i]
            positions[count] = y * width + min(SEGMENT * segment, width - SEGMENT)  # the last may overlap another
            count += 1 if found != 0 else 0
    return count


@inlined
def _list_all(first_row, last_row, width, positions):
    """List every segment and return how many there are."""
    count = 0
    for y in range(first_row, last_row):
        for left in range(0, width, SEGMENT):
            positions[count] = y * width + min(left, width - SEGMENT)
            count += 1
    return count


@inlined
def _fetch(frame, expansion, position):
    """Prefetch the data of a segment: the hardware cannot predict which segments are computed."""
    width = expansion.rho.shape[1]
    y, left = position // width, position % width
    colours_row, coefficients_row = expansion.colours[y], expansion.coefficients[y]
    channels = frame.shape[1] // width
    prefetch(expansion.rho[y, left:])
    for c in range(channels):
        prefetch(frame[y, channels * left + c * SEGMENT :])
    for start in range(left, colours_row.shape[0], width):
        prefetch(colours_row[start:])
    for start in range(left, coefficients_row.shape[0], width):
        prefetch(coefficients_row[start:])


@inlined
def _separate(part, values):
    """Copy a segment, pixels in turn, into planes, (D, SEGMENT)."""
    x0 = values[0]
    if values.shape[0] == 3:
        x1, x2 = values[1], values[2]
        for x in range(SEGMENT):
            value0, value1, value2 = part[3 * x], part[3 * x + 1], part[3 * x + 2]
            x0[x] = value0
            x1[x] = value1
            x2[x] = value2
    else:
        for x in range(SEGMENT):
            x0[x] = part[x]


@inlined
def _expand(colours, coefficients, width, left, gain, values, f):
    """Compute f, without the common scale, in one segment of a row, from column `left` on."""
    zero = np.float32(0.0)
    plane, x0 = colours.shape[0] // values.shape[0], values[0]
    for x in range(SEGMENT):
        f[x] = zero
    for at in range(left, plane, width):
        a, s0 = coefficients[at : at + SEGMENT], colours[at : at + SEGMENT]
        if values.shape[0] == 3:
            x1, x2 = values[1], values[2]
            s1, s2 = colours[at + plane : at + plane + SEGMENT], colours[at + 2 * plane : at + 2 * plane + SEGMENT]
            for x in range(SEGMENT):
                d0 = np.float32(s0[x]) - x0[x]
                d1 = np.float32(s1[x]) - x1[x]
                d2 = np.float32(s2[x]) - x2[x]
                f[x] += a[x] * exp2_nonpositive((d0 * d0 + d1 * d1 + d2 * d2) * gain)
        else:
            for x in range(SEGMENT):
                d0 = np.float32(s0[x]) - x0[x]
                f[x] += a[x] * exp2_nonpositive(d0 * d0 * gain)


@inlined
def _expand_and_add(colours, coefficients, width, left, gain, scratch):
    """Compute f as `_expand` does, and the offsets."""
    zero = np.float32(0.0)
    values, k, f, offset = scratch.values, scratch.kernel, scratch.f, scratch.offset
    plane, channels = colours.shape[0] // values.shape[0], values.shape[0]
    x0 = values[0]
    for x in range(SEGMENT):
        f[x] = zero
    for c in range(channels):
        o = offset[c]
        for x in range(SEGMENT):
            o[x] = zero
    for at in range(left, plane, width):
        a, s0 = coefficients[at : at + SEGMENT], colours[at : at + SEGMENT]
        if channels == 3:
            x1, x2 = values[1], values[2]
            s1, s2 = colours[at + plane : at + plane + SEGMENT], colours[at + 2 * plane : at + 2 * plane + SEGMENT]
            for x in range(SEGMENT):
                d0 = np.float32(s0[x]) - x0[x]
                d1 = np.float32(s1[x]) - x1[x]
                d2 = np.float32(s2[x]) - x2[x]
                k[x] = exp2_nonpositive((d0 * d0 + d1 * d1 + d2 * d2) * gain)
        else:
            for x in range(SEGMENT):
                d0 = np.float32(s0[x]) - x0[x]
                k[x] = exp2_nonpositive(d0 * d0 * gain)
        for x in range(SEGMENT):
            f[x] += a[x] * k[x]
        for c in range(channels):
            o, v, s = offset[c], values[c], colours[at + c * plane : at + c * plane + SEGMENT]
            for x in range(SEGMENT):
                o[x] += a[x] * k[x] * (np.float32(s[x]) - v[x])


@inlined
def _combine(planes, part):
    """Copy planes of a segment to pixels in turn."""
    p0 = planes[0]
    if planes.shape[0] == 3:
        p1, p2 = planes[1], planes[2]
        for x in range(SEGMENT):
            value0, value1, value2 = p0[x], p1[x], p2[x]
            part[3 * x] = value0
            part[3 * x + 1] = value1
            part[3 * x + 2] = value2
    else:
        for x in range(SEGMENT):
            part[x] = p0[x]


@inlined
def _enclose(rho, rule, low, high, scratch):
    """Find boxes of colours that are certainly background; empty ones where x is foreground or nearly so.

    With m the mean of the s_j, weighted by a_j k(s_j, x), Jensen's inequality says for every colour y

        f(y) >= f(x) exp((|x - m|^2 - |y - m|^2) / width^2),

    so that f(y) >= level in a ball round m with the radius squared |x - m|^2 + width^2 log(f(x) / level). The box is
    a cube in that ball. log q >= 2 (q - 1) / (q + 1) spares the logarithm. The cube is taken smaller by a hundredth,
    and none is taken from a ball smaller than width / 4: then the rounding of f(x), f(y) and m, which changes the
    exponents by less than 1e-4 and m by less than 1e-6 of itself and 1e-4 width, cannot make it too large.
    """
    zero, one, two = np.float32(0.0), np.float32(1.0), np.float32(2.0)
    values, f, offset, reach, bounds = scratch.values, scratch.f, scratch.offset, scratch.reach, scratch.bounds
    gain, scale, kappa, top = rule.gain, rule.scale, rule.kappa, rule.top
    tiny = np.float32(1e-30)  # what divides is larger
    channels = values.shape[0]
    for x in range(SEGMENT):
        reach[x] = zero
    for c in range(channels):
        o = offset[c]
        for x in range(SEGMENT):
            total = f[x] * scale
            o[x] *= scale / (total if total > tiny else one)
            reach[x] += o[x] * o[x]
    width_squared = np.float32(-np.log2(np.e)) / gain
    least = width_squared / np.float32(16.0)
    side = np.float32(0.99) / np.sqrt(np.float32(channels))
    for x in range(SEGMENT):
        level, value = kappa * rho[x], f[x] * scale
        q = value / (level if level > zero else one)
        radius = reach[x] + width_squared * (two * (q - one) / (q + one))
        half = side * np.sqrt(max(radius, zero))
        half = half if (radius > least) & (q > one) & (value > tiny) else zero
        reach[x] = half if level > zero else top + top  # f is never negative
    for c in range(channels):
        o, v, part_low, part_high = offset[c], values[c], bounds[0, c], bounds[1, c]
        for x in range(SEGMENT):
            mean = v[x] + o[x]
            half = reach[x] - np.float32(1e-6) * mean
            first, last = max(mean - half + one, zero), min(mean + half, top)  # cut off to whole numbers
            part_low[x] = np.int32(first if half > zero else top)
            part_high[x] = np.int32(last if half > zero else zero)
    _combine(bounds[0], low)
    _combine(bounds[1], high)


@inlined
def _decide(frame, expansion, boxes, rule, position, mask, scratch):
    """Write the mask of one segment, and its boxes if they are to be renewed."""
    width, channels = mask.shape[1], scratch.values.shape[0]
    y, left = position // width, position % width
    first, last = channels * left, channels * (left + SEGMENT)
    colours, coefficients, f = expansion.colours[y], expansion.coefficients[y], scratch.f
    _separate(frame[y, first:last], scratch.values)
    if rule.renew:
        _expand_and_add(colours, coefficients, width, left, rule.gain, scratch)
    else:
        _expand(colours, coefficients, width, left, rule.gain, scratch.values, f)
    part_mask, part_rho = mask[y, left : left + SEGMENT], expansion.rho[y, left : left + SEGMENT]
    for x in range(SEGMENT):
        part_mask[x] = np.uint8(255) if f[x] * rule.scale < rule.kappa * part_rho[x] else np.uint8(0)
    if rule.renew:
        _enclose(part_rho, rule, boxes.low[y, first:last], boxes.high[y, first:last], scratch)


@part
def _write_mask(first_row, last_row, frame, expansion, boxes, rule, mask, scratch):
    """Write the mask of one band; arrays have one row of numbers per row of pixels."""
    if rule.known:
        count = _find_outside(first_row, last_row, frame, boxes, mask, scratch)
    else:
        count = _list_all(first_row, last_row, mask.shape[1], scratch.positions)
    for i in range(count):
        if i + 1 < count:  # while this segment is computed, the next one's data arrive
            _fetch(frame, expansion, scratch.positions[i + 1])
        _decide(frame, expansion, boxes, rule, scratch.positions[i], mask, scratch)


@banded
def write_mask_by_boxes(first_row, last_row, frame, expansion, boxes, rule, mask):
    """Write the very mask that `norma.step` would, without learning.

    Parameters
    ----------
    frame : (H, W, D) u1 or u2
        At least a segment wide.
    expansion : Expansion
    boxes : Boxes
        Written where `rule.renew`.
    rule : BoxRule
    mask : (H, W) u1
        Written.
    """
    height, width, channels = frame.shape
    segments = (width + SEGMENT - 1) // SEGMENT
    scratch = _Scratch(
        np.zeros(segments * SEGMENT * channels, np.uint8),
        np.empty((last_row - first_row) * segments + 1, np.int64),
        np.empty((channels, SEGMENT), np.float32),
        np.empty(SEGMENT, np.float32),
        np.empty(SEGMENT, np.float32),
        np.empty((channels, SEGMENT), np.float32),
        np.empty(SEGMENT, np.float32),
        np.empty((2, channels, SEGMENT), boxes.low.dtype),
    )
    rows = Expansion(expansion.colours.reshape(height, -1), expansion.coefficients.reshape(height, -1), expansion.rho)
    bounds = Boxes(boxes.low.reshape(height, -1), boxes.high.reshape(height, -1))
    _write_mask(first_row, last_row, frame.reshape(height, -1), rows, bounds, rule, mask, scratch)
