"""Numba kernels of the NORMA bank: one band of rows of many small kernel expansions.

`step` computes every expansion and may learn; `look` computes only where it must to fill in a mask.

Inner loops run over contiguous pixels of a row through one-dimensional views, and load what they choose from before
they choose: in this form LLVM vectorises all of them. Support vectors lie channel by channel, then slot by slot, so
that the inner loop reads a few purely sequential streams (15 % faster than slot by slot, then channel).
"""

import numpy as np

from bgsub._numba import exp2_nonpositive, kernel, prefetch, view_kernel

__all__ = ["SEGMENT", "look", "step"]

NO_SLOT = np.uint8(255)
SEGMENT = 64
"""Pixels of a row that `look` passes over together; a cache line of colours."""
WORD = 8  # bytes of a machine word


@kernel
def _separate(part, planes, values):
    """Copy a row, pixels in turn, into planes of its dtype and of f4, (D, W)."""
    channels = planes.shape[0]
    for c in range(channels):
        plane, row = planes[c], values[c]
        if channels == 3:
            for x in range(part.size // 3):
                plane[x] = part[3 * x + c]
        else:
            for x in range(part.size):
                plane[x] = part[x]
        for x in range(part.size // channels):
            row[x] = np.float32(plane[x])


@kernel
def step(
    first_row,
    last_row,
    frame,  # (H, W, D) u1, u2 or f4
    colours,  # (H, D, B, W) of the frame's dtype: support vectors
    coefficients,  # (H, B, W) f4, to be multiplied by `scale`
    heads,  # (H, W) u1: the slot written next
    rho,  # (H, W) f4
    where,  # (H, W) u1, or (0, 0) for everywhere: pixels that may learn
    gain,  # f4: -log2(e) / width**2
    scale,  # f4
    kappa,  # f4: decision threshold as a share of rho
    learn,  # bool
    eta,  # f4
    nu,  # f4
    decay,  # f4: 1 - eta * lam; the caller multiplies `scale` by it after a step that learned
    new_coefficient,  # f4: eta / (scale * decay)
    mask,  # (H, W) u1, or (0, 0) for none: written
    score,  # (H, W) f4, or (0, 0) for none: written
):
    """Score one band of rows and let it learn (Kivinen 2004, nu-novelty with a ring of B support vectors)."""
    zero, one = np.float32(0.0), np.float32(1.0)
    width, channels = frame.shape[1], frame.shape[2]
    slots = coefficients.shape[1]
    pixels, values = np.empty((channels, width), frame.dtype), np.empty((channels, width), np.float32)
    f = np.empty(width, np.float32)
    insert = np.empty(width, np.uint8)  # the slot that takes this pixel's colour now
    for y in range(first_row, last_row):
        _separate(frame[y].reshape(-1), pixels, values)
        x0 = values[0]
        for x in range(width):
            f[x] = zero
        for j in range(slots):  # the sums of _expand, bit by bit
            a, s0 = coefficients[y, j], colours[y, 0, j]
            if channels == 3:
                s1, s2, x1, x2 = colours[y, 1, j], colours[y, 2, j], values[1], values[2]
                for x in range(width):
                    d0 = np.float32(s0[x]) - x0[x]
                    d1 = np.float32(s1[x]) - x1[x]
                    d2 = np.float32(s2[x]) - x2[x]
                    f[x] += a[x] * exp2_nonpositive((d0 * d0 + d1 * d1 + d2 * d2) * gain)
            else:
                for x in range(width):
                    d0 = np.float32(s0[x]) - x0[x]
                    f[x] += a[x] * exp2_nonpositive(d0 * d0 * gain)
        for x in range(width):
            f[x] *= scale
        rho_row = rho[y]
        if mask.shape[0] > 0:
            mask_row = mask[y]
            for x in range(width):
                mask_row[x] = np.uint8(255) if f[x] < kappa * rho_row[x] else np.uint8(0)
        if score.shape[0] > 0:
            score_row = score[y]
            for x in range(width):
                level = kappa * rho_row[x]
                ratio = f[x] / (level if level > zero else one)
                score_row[x] = one - ratio if level > zero else np.float32(-1e6)
        if not learn:
            continue
        heads_row = heads[y]
        if where.shape[0] == 0:
            for x in range(width):
                head = heads_row[x]
                novel = f[x] < rho_row[x]
                insert[x] = head if novel else NO_SLOT
                rho_row[x] += eta * (nu - (one if novel else zero))
                following = np.uint8(head + np.uint8(1) if head + np.uint8(1) < slots else np.uint8(0))
                heads_row[x] = following if novel else head
        else:
            where_row = where[y]
            for x in range(width):
                head = heads_row[x]
                novel = f[x] < rho_row[x]
                learns = where_row[x] != 0
                insert[x] = head if novel and learns else NO_SLOT
                change = eta * (nu - (one if novel else zero))
                rho_row[x] += change if learns else zero
                following = np.uint8(head + np.uint8(1) if head + np.uint8(1) < slots else np.uint8(0))
                heads_row[x] = following if novel and learns else head
            for j in range(slots):  # pixels that do not learn must not decay with the common scale
                a = coefficients[y, j]
                for x in range(width):
                    old = a[x]
                    kept = old / decay
                    a[x] = old if where_row[x] != 0 else kept
        for j in range(slots):
            slot = np.uint8(j)
            a = coefficients[y, j]
            for x in range(width):
                old = a[x]
                a[x] = new_coefficient if insert[x] == slot else old
            for c in range(channels):
                s, row = colours[y, c, j], pixels[c]
                for x in range(width):
                    old_value, new_value = s[x], row[x]
                    s[x] = new_value if insert[x] == slot else old_value


@view_kernel
def _find(first_row, last_row, frame, low, high, mask, outside, places):
    """Blank the mask and list the segments where a colour leaves its box, as row * width + column; count them.

    Scratch: outside, u1, a whole number of segments, those beyond the row 0.
    """
    width = mask.shape[1]
    segments = (width + SEGMENT - 1) // SEGMENT
    words = outside.view(np.uint64)
    each, count = words.shape[0] // segments, 0
    for y in range(first_row, last_row):
        frame_row, low_row, high_row, mask_row = frame[y], low[y], high[y], mask[y]
        for x in range(width):
            mask_row[x] = np.uint8(0)
        for i in range(frame_row.shape[0]):
            value = frame_row[i]
            outside[i] = np.uint8((value < low_row[i]) | (value > high_row[i]))
        for segment in range(segments):
            part, found = words[segment * each : (segment + 1) * each], np.uint64(0)
            for i in range(each):  # LLVM vectorises the disjunction of words, not that of bytes
                found |= part[i]
            places[count] = y * width + min(SEGMENT * segment, width - SEGMENT)  # the last may overlap another
            count += 1 if found != 0 else 0
    return count


@view_kernel
def _fetch(frame, colours, coefficients, rho, place):
    """Ask for what a segment needs: segments follow no pattern that the processor would foresee."""
    width = rho.shape[1]
    y, left = place // width, place % width
    colours_row, coefficients_row, channels = colours[y], coefficients[y], frame.shape[1] // width
    prefetch(rho[y, left:])
    for c in range(channels):
        prefetch(frame[y, channels * left + c * SEGMENT :])
    for start in range(left, colours_row.shape[0], width):
        prefetch(colours_row[start:])
    for start in range(left, coefficients_row.shape[0], width):
        prefetch(coefficients_row[start:])


@view_kernel
def _separate_segment(part, values):
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


@view_kernel
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


@view_kernel
def _expand_and_add(colours, coefficients, width, left, gain, values, k, f, offset):
    """Do `_expand` and add a_j k(s_j, x) (s_j - x), too, into offset, (D, SEGMENT)."""
    zero = np.float32(0.0)
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


@view_kernel
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


@view_kernel
def _enclose(values, f, offset, rho, gain, scale, kappa, top, reach, bounds, low, high):
    """Find boxes of colours that are certainly background; empty ones where x is foreground or nearly so.

    With m the mean of the s_j, weighted by a_j k(s_j, x), Jensen's inequality says for every colour y

        f(y) >= f(x) exp((|x - m|^2 - |y - m|^2) / width^2),

    so that f(y) >= level in a ball round m with the radius squared |x - m|^2 + width^2 log(f(x) / level). The box is
    a cube in that ball. log q >= 2 (q - 1) / (q + 1) spares the logarithm. The cube is taken smaller by a hundredth,
    and none is taken from a ball smaller than width / 4: then the rounding of f(x), f(y) and m, which changes the
    exponents by less than 1e-4 and m by less than 1e-6 of itself and 1e-4 width, cannot make it too large.
    """
    zero, one, two = np.float32(0.0), np.float32(1.0), np.float32(2.0)
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


@view_kernel
def _look(
    first_row, last_row, frame, colours, coefficients, rho, low, high, known, renew, gain, scale, kappa, top, mask,
    outside, places, values, k, f, offset, reach, bounds,
):  # fmt: skip
    """Do `look`; arrays come with one row of numbers a row of pixels, the last line is scratch."""
    width, channels = mask.shape[1], values.shape[0]
    if known:
        count = _find(first_row, last_row, frame, low, high, mask, outside, places)
    else:
        count = 0
        for y in range(first_row, last_row):
            for left in range(0, width, SEGMENT):
                places[count] = y * width + min(left, width - SEGMENT)
                count += 1
    for i in range(count):
        if i + 1 < count:
            _fetch(frame, colours, coefficients, rho, places[i + 1])
        y, left = places[i] // width, places[i] % width
        first, last = channels * left, channels * (left + SEGMENT)
        colours_row, coefficients_row = colours[y], coefficients[y]
        _separate_segment(frame[y, first:last], values)
        if renew:
            _expand_and_add(colours_row, coefficients_row, width, left, gain, values, k, f, offset)
        else:
            _expand(colours_row, coefficients_row, width, left, gain, values, f)
        part_mask, part_rho = mask[y, left : left + SEGMENT], rho[y, left : left + SEGMENT]
        for x in range(SEGMENT):
            part_mask[x] = np.uint8(255) if f[x] * scale < kappa * part_rho[x] else np.uint8(0)
        if renew:
            part_low, part_high = low[y, first:last], high[y, first:last]
            _enclose(values, f, offset, part_rho, gain, scale, kappa, top, reach, bounds, part_low, part_high)


@kernel
def look(
    first_row,
    last_row,
    frame,  # (H, W, D) u1 or u2, at least a segment wide
    colours,  # (H, D, B, W) of the frame's dtype
    coefficients,  # (H, B, W) f4
    rho,  # (H, W) f4
    low,  # (H, W, D) of the frame's dtype: colours from `low` to `high` are background, in any case
    high,  # (H, W, D) of the frame's dtype
    known,  # bool: whether there is anything in low and high
    renew,  # bool: whether to write them anew where f is computed
    gain,  # f4
    scale,  # f4
    kappa,  # f4
    top,  # f4: the largest value of the dtype
    mask,  # (H, W) u1: written
):
    """Write the very mask that `step` would, without learning.

    Between two learned frames f is a fixed function of the colour, so a box of colours that are background is good
    until the next. Where the colours of a whole segment lie in their boxes, nothing else is read; elsewhere f is
    computed.
    """
    height, width, channels = frame.shape
    segments = (width + SEGMENT - 1) // SEGMENT
    outside = np.zeros(segments * SEGMENT * channels, np.uint8)
    places = np.empty((last_row - first_row) * segments + 1, np.int64)
    f, k, reach = np.empty(SEGMENT, np.float32), np.empty(SEGMENT, np.float32), np.empty(SEGMENT, np.float32)
    values, offset = np.empty((channels, SEGMENT), np.float32), np.empty((channels, SEGMENT), np.float32)
    _look(
        first_row, last_row, frame.reshape(height, -1), colours.reshape(height, -1), coefficients.reshape(height, -1),
        rho, low.reshape(height, -1), high.reshape(height, -1), known, renew, gain, scale, kappa, top, mask,
        outside, places, values, k, f, offset, reach,
        np.empty((2, channels, SEGMENT), low.dtype),
    )  # fmt: skip
