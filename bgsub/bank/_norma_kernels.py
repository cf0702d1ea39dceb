"""Numba kernels of the NORMA bank: one band of rows of many small kernel expansions.

`step` computes every expansion and may learn; `look` computes only where it must to fill in a mask.

Inner loops run over one row of contiguous pixels through one-dimensional views, and load what they choose from
before they choose: in this form LLVM vectorises all of them. Support vectors lie channel by channel, then slot by
slot, so that the inner loop reads a few purely sequential streams (15 % faster than slot by slot, then channel).
"""

import numpy as np

from bgsub._numba import exp2_nonpositive, kernel

__all__ = ["look", "step"]

NO_SLOT = np.uint8(255)
SEGMENT = 32  # pixels of a row that `look` passes over together
WORD = 8  # bytes of a machine word


@kernel
def _separate(part, planes, values):
    """Copy a part of a row, n pixels in turn, into planes of its dtype and of f4, (D, at least n)."""
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
def _expand(values, colours, coefficients, left, n, gain, scale, k, f, offset):
    """Compute f, times the common scale, of n pixels of a row from column `left` on.

    The state comes as one array a row, indexed without a sign: a view of each slot's part would take longer to make
    than a short part to compute, and LLVM vectorises no loop over indices that might count from the end.
    Where offset, (D, n), is not empty, it receives the sum of a_j k(s_j, x) (s_j - x), without the scale.
    """
    zero = np.float32(0.0)
    channels, width = values.shape
    plane = colours.size // channels
    x0 = values[0]
    for x in range(n):
        f[x] = zero
    for c in range(offset.shape[0]):
        o = offset[c]
        for x in range(n):
            o[x] = zero
    for j in range(plane // width):
        first = np.uintp(j * width + left)
        if channels == 3:
            x1, x2 = values[1], values[2]
            second, third = first + np.uintp(plane), first + np.uintp(2 * plane)
            for x in range(n):
                d0 = np.float32(colours[first + np.uintp(x)]) - x0[x]
                d1 = np.float32(colours[second + np.uintp(x)]) - x1[x]
                d2 = np.float32(colours[third + np.uintp(x)]) - x2[x]
                k[x] = exp2_nonpositive((d0 * d0 + d1 * d1 + d2 * d2) * gain)
        else:
            for x in range(n):
                d0 = np.float32(colours[first + np.uintp(x)]) - x0[x]
                k[x] = exp2_nonpositive(d0 * d0 * gain)
        for x in range(n):
            f[x] += coefficients[first + np.uintp(x)] * k[x]
        for c in range(offset.shape[0]):
            o, v, start = offset[c], values[c], first + np.uintp(c * plane)
            for x in range(n):
                d = np.float32(colours[start + np.uintp(x)]) - v[x]
                o[x] += coefficients[first + np.uintp(x)] * k[x] * d
    for x in range(n):
        f[x] *= scale


@kernel
def _enclose(values, f, offset, rho, gain, scale, kappa, top, reach, low, high):
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
    n, channels = rho.size, values.shape[0]
    for x in range(n):
        reach[x] = zero
    for c in range(channels):
        o = offset[c]
        for x in range(n):
            total = f[x]
            o[x] *= scale / (total if total > tiny else one)
            reach[x] += o[x] * o[x]
    width_squared = np.float32(-np.log2(np.e)) / gain
    least = width_squared / np.float32(16.0)
    side = np.float32(0.99) / np.sqrt(np.float32(channels))
    for x in range(n):
        level = kappa * rho[x]
        q = f[x] / (level if level > zero else one)
        radius = reach[x] + width_squared * (two * (q - one) / (q + one))
        half = side * np.sqrt(max(radius, zero))
        half = half if (radius > least) & (q > one) & (f[x] > tiny) else zero
        reach[x] = half if level > zero else top + top  # f is never negative
    part_low, part_high = np.empty(n, low.dtype), np.empty(n, low.dtype)
    for c in range(channels):
        o, v = offset[c], values[c]
        for x in range(n):
            mean = v[x] + o[x]
            half = reach[x] - np.float32(1e-6) * mean
            first, last = max(mean - half + one, zero), min(mean + half, top)  # cut off to whole numbers
            part_low[x] = np.int32(first if half > zero else top)
            part_high[x] = np.int32(last if half > zero else zero)
        for x in range(n):
            low[channels * x + c] = part_low[x]
            high[channels * x + c] = part_high[x]


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
        for j in range(slots):  # the sums of _expand, bit by bit, over whole rows and so without a scratch row
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


@kernel
def look(
    first_row,
    last_row,
    frame,  # (H, W, D) u1 or u2
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
    computed, in runs of neighbouring segments.
    """
    width, channels = frame.shape[1], frame.shape[2]
    segments = (width + SEGMENT - 1) // SEGMENT
    outside = np.zeros(segments * SEGMENT * channels, np.uint8)
    words = outside.view(np.uint64)  # LLVM vectorises the disjunction of words, not that of bytes
    words_each = SEGMENT * channels // WORD
    pixels, values = np.empty((channels, width), frame.dtype), np.empty((channels, width), np.float32)
    k, f, reach = np.empty(width, np.float32), np.empty(width, np.float32), np.empty(width, np.float32)
    offset = np.empty((channels if renew else 0, width), np.float32)
    for y in range(first_row, last_row):
        frame_row, low_row, high_row = frame[y].reshape(-1), low[y].reshape(-1), high[y].reshape(-1)
        mask_row, rho_row = mask[y], rho[y]
        for x in range(width):
            mask_row[x] = np.uint8(0)
        if known:
            for i in range(width * channels):
                value = frame_row[i]
                outside[i] = np.uint8((value < low_row[i]) | (value > high_row[i]))
        left = -1  # where a run of segments begins
        for segment in range(segments + 1):
            far = segment < segments
            if far and known:
                found = np.uint64(0)
                part = words[segment * words_each : (segment + 1) * words_each]
                for i in range(words_each):
                    found |= part[i]
                far = found != 0
            if far and left < 0:
                left = segment * SEGMENT
            if far or left < 0:
                continue
            right = min(segment * SEGMENT, width)
            first, last = channels * left, channels * right
            _separate(frame_row[first:last], pixels, values)
            _expand(
                values,
                colours[y].reshape(-1),
                coefficients[y].reshape(-1),
                left,
                right - left,
                gain,
                scale,
                k,
                f,
                offset,
            )
            part_mask, part_rho = mask_row[left:right], rho_row[left:right]
            for x in range(right - left):
                part_mask[x] = np.uint8(255) if f[x] < kappa * part_rho[x] else np.uint8(0)
            if renew:
                _enclose(
                    values,
                    f,
                    offset,
                    part_rho,
                    gain,
                    scale,
                    kappa,
                    top,
                    reach,
                    low_row[first:last],
                    high_row[first:last],
                )
            left = -1
