"""Numba kernel of the adaptive bank that looks at a frame."""

import numpy as np

from bgsub._numba import exp2_nonpositive, kernel, prefetch, view_kernel
from bgsub.detectors.adaptive._jit.blocks import BLOCK, BYTES, NONE, SETTLED, exponent_unit

__all__ = ["look"]

WORD = 8  # bytes of a machine word


@view_kernel
def _separate_three(part, plane0, plane1, plane2):
    """Copy a block of three channels in turn to planes, in the form that is vectorised."""
    for x in range(BLOCK):
        value0, value1, value2 = part[3 * x], part[3 * x + 1], part[3 * x + 2]
        plane0[x] = value0
        plane1[x] = value1
        plane2[x] = value2


@view_kernel
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


@view_kernel
def _separate(frame, y, planes, whole):
    """Copy a block of a frame, channels in turn, into its planes; blocks below `whole` have three and are full."""
    size = BLOCK * planes.shape[0]
    part = frame[y * size : (y + 1) * size]
    if y < whole:
        _separate_three(part, planes[0, y], planes[1, y], planes[2, y])
    else:
        _separate_any(part, planes, y)


@view_kernel
def _look(
    first, last, frame, planes, colours, coefficients, factors, dominant, gain, threshold, tau, box, exact, density,
    raw, distance, nearest, values, settled, f, gains, square, mass, best, index, outside,
):  # fmt: skip
    """Do `look`; the last, (BLOCK,), are scratch."""
    zero, one = np.float32(0.0), np.float32(1.0)
    channels, slots = planes.shape[0], coefficients.shape[0]
    unit, inverse = exponent_unit(gain, channels), one / threshold  # divisions are slow
    words = outside.view(np.uint64)
    kind, whole = planes.dtype.type, frame.shape[0] // (3 * BLOCK) if channels == 3 else 0
    for y in range(first, last):
        _separate(frame, y, planes, whole)
        raw_row, leads = raw[y], dominant[y] != 0
        if leads and not exact:
            for x in range(BLOCK):
                outside[x] = np.uint8(0)
            for c in range(channels):
                p, s = planes[c, y], colours[0, c, y]
                for x in range(BLOCK):
                    seen, learned = p[x], s[x]
                    difference = kind(max(seen, learned) - min(seen, learned))
                    outside[x] |= np.uint8(1 if difference > box else 0)
            found = np.uint64(0)
            for i in range(BLOCK // WORD):  # LLVM vectorises the disjunction of words, not that of bytes
                found |= words[i]
            if found == 0:
                if settled[y] != SETTLED:
                    for x in range(BLOCK):
                        raw_row[x] = np.uint8(0)
                settled[y] = SETTLED
                continue
        # Unlike settled blocks, these follow no pattern that the processor would foresee.
        prefetch(factors[y])
        for j in range(slots):
            prefetch(coefficients[j, y])
        for j in range(1, slots):
            for c in range(channels):
                prefetch(colours[j, c, y])
        prefetch(distance[y])
        prefetch(nearest[y])
        prefetch(values[y])
        factors_row = factors[y]
        s0, p0 = colours[0, 0, y], planes[0, y]
        for x in range(BLOCK):
            d = np.float32(s0[x]) - np.float32(p0[x])
            square[x] = d * d
        for c in range(1, channels):
            s3, p3 = colours[0, c, y], planes[c, y]
            for x in range(BLOCK):
                d = np.float32(s3[x]) - np.float32(p3[x])
                square[x] += d * d
        far = 0
        for x in range(BLOCK):
            r = np.float32(factors_row[x])
            gains[x] = unit / (r * r)
            k = exp2_nonpositive(square[x] * gains[x])
            best[x] = k
            raw_row[x] = np.uint8(0)
            far += 0 if k > tau else 1
        certain = far == 0 and leads
        settled[y] = SETTLED if certain else np.uint8(0)
        if certain and not exact:
            continue
        a0, nearest_row, values_row = coefficients[0, y], nearest[y], values[y]
        distance_row, density_row = distance[y], density[y]
        for x in range(BLOCK):
            weight, k = a0[x], best[x]
            f[x] = weight * k
            mass[x] = weight
            k = k if weight > zero else zero
            index[x] = np.uint8(0)
            best[x] = np.float32(2.0) + k if k > tau else k  # the first slot is near enough
        for j in range(1, slots):
            slot = np.uint8(j)
            a = coefficients[j, y]
            s1, p1 = colours[j, 0, y], planes[0, y]
            for x in range(BLOCK):
                d = np.float32(s1[x]) - np.float32(p1[x])
                square[x] = d * d
            for c in range(1, channels):
                s2, p2 = colours[j, c, y], planes[c, y]
                for x in range(BLOCK):
                    d = np.float32(s2[x]) - np.float32(p2[x])
                    square[x] += d * d
            for x in range(BLOCK):
                weight, before, chosen = a[x], best[x], index[x]
                k = exp2_nonpositive(square[x] * gains[x])
                k = k if weight > zero else zero
                f[x] += weight * k
                mass[x] += weight
                index[x] = slot if k > before else chosen
                best[x] = max(k, before)
        for x in range(BLOCK):
            m, k = mass[x], best[x]
            q = f[x] / (m if m > zero else one)
            q = q if m > zero else one
            density_row[x] = q
            raw_row[x] = np.uint8(255) if q < threshold else np.uint8(0)
            distance_row[x] = np.int32(max(one - q * inverse, zero) * BYTES + np.float32(0.5))
            k = k - np.float32(2.0) if k > np.float32(1.5) else k
            nearest_row[x] = index[x] if k > tau else NONE
            values_row[x] = np.int32(min(k, one) * BYTES + np.float32(0.5))


@kernel
def look(
    first,
    last,
    frame,  # (H * W * D,) u1, u2 or f4
    planes,  # (D, N, BLOCK) of the frame's dtype, written
    colours,  # (B, D, N, BLOCK) of the frame's dtype: support vectors
    coefficients,  # (B, N, BLOCK) f4
    factors,  # (N, BLOCK) u2: factor of the kernel width
    dominant,  # (N,) u1: 1 where each first coefficient is at least threshold / tau of the sum
    gain,  # f4: -log2(e) / width**2
    threshold,  # f4: on the density
    tau,  # f4: least kernel value for a projection
    box,  # of the frame's dtype: colours whose channels differ no more have values above tau at any width
    exact,  # bool: compute densities where they are certain to be above the threshold, too
    density,  # (N, BLOCK) f4, written if exact
    raw,  # (N, BLOCK) u1, written: 255 where the density is below the threshold
    distance,  # (N, BLOCK) u1, written: 1 - density / threshold, at least 0; not in settled blocks
    nearest,  # (N, BLOCK) u1, written: the slot to project on, or NONE; not in settled blocks
    values,  # (N, BLOCK) u1, written: its kernel value; not in settled blocks
    settled,  # (N,) u1, written: SETTLED where every pixel is background and near to its first slot
):
    """Compute the density f(x) / sum of coefficients, the raw mask and the support vector to project on."""
    f, gains, square = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)
    mass, best, index = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32), np.empty(BLOCK, np.uint8)
    outside = np.empty(BLOCK, np.uint8)
    _look(
        first, last, frame, planes, colours, coefficients, factors, dominant, gain, threshold, tau, box, exact,
        density, raw, distance, nearest, values, settled, f, gains, square, mass, best, index, outside,
    )  # fmt: skip
