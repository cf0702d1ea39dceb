"""Numba kernels of the adaptive bank: first look at a frame, then, when its final mask is known, adapt.

The inner loops have the form that `_norma_kernels` explains.
"""

import numpy as np

from bgsub._numba import exp2_nonpositive, kernel

__all__ = ["DITHER_PERIOD", "adapt", "look"]

DITHER_PERIOD = 4096
"""Rows start reading the dither at an offset below this number; the array is that much longer than a row."""

TAU = np.float32(0.5)  # a colour with a larger kernel value is projected on the nearest support vector
DRIFT = np.float32(0.02)  # least rate at which the nearest support vector moves to the colour
BLINK = np.float32(1.0)  # what a blink adds to v
QUIET = np.float32(0.1)  # what a frame without one takes, and the least v
QUIET_FOREGROUND = np.float32(0.025)  # what it takes where the pixel is foreground
DISTANCE_RATE = np.float32(0.02)  # of the running mean of the distance
DISTANCE_SCALE = np.float32(8.0)
WIDEST = np.float32(8.0)  # largest factor of the width
NOWHERE = np.uint8(255)


@kernel
def look(
    first_row,
    last_row,
    frame,  # (H, W, D) u1, u2 or f4
    colours,  # (H, D, B, W) of the frame's dtype: support vectors
    coefficients,  # (H, B, W) f4
    factors,  # (H, W) f4: factor of the kernel width
    gain,  # f4: -log2(e) / width**2
    threshold,  # f4: on the density
    density,  # (H, W) f4, written
    raw,  # (H, W) u1, written: 255 where the density is below the threshold
    nearest,  # (H, W) u1, written: the slot with the largest kernel value
    largest,  # (H, W) f4, written: that value
    weakest,  # (H, W) u1, written: the slot with the smallest coefficient
    mass,  # (H, W) f4, written: sum of coefficients
):
    """Compute the density f(x) / sum of coefficients, the raw mask, the nearest and the weakest support vector."""
    zero, one = np.float32(0.0), np.float32(1.0)
    width, channels = frame.shape[1], frame.shape[2]
    slots = coefficients.shape[1]
    x0, x1, x2 = np.empty(width, np.float32), np.empty(width, np.float32), np.empty(width, np.float32)
    f, gains, lowest = np.empty(width, np.float32), np.empty(width, np.float32), np.empty(width, np.float32)
    # One channel counts like three equal ones, so that a width means the same for grey as for colour.
    unit = np.float32(gain if channels == 3 else np.float32(3.0) * gain)
    for y in range(first_row, last_row):
        factors_row, nearest_row, largest_row = factors[y], nearest[y], largest[y]
        weakest_row, m = weakest[y], mass[y]
        for x in range(width):
            f[x] = zero
            m[x] = zero
            nearest_row[x] = np.uint8(0)
            largest_row[x] = zero
            weakest_row[x] = np.uint8(0)
            lowest[x] = np.float32(3.0e38)
            gains[x] = unit / (factors_row[x] * factors_row[x])
        if channels == 3:
            interleaved = frame[y].reshape(-1)
            for x in range(width):
                x0[x] = np.float32(interleaved[3 * x])
            for x in range(width):
                x1[x] = np.float32(interleaved[3 * x + 1])
            for x in range(width):
                x2[x] = np.float32(interleaved[3 * x + 2])
        else:
            for x in range(width):
                x0[x] = np.float32(frame[y, x, 0])
        for j in range(slots):
            slot = np.uint8(j)
            a, s0 = coefficients[y, j], colours[y, 0, j]
            if channels == 3:
                s1, s2 = colours[y, 1, j], colours[y, 2, j]
                for x in range(width):
                    d0 = np.float32(s0[x]) - x0[x]
                    d1 = np.float32(s1[x]) - x1[x]
                    d2 = np.float32(s2[x]) - x2[x]
                    weight, before, index = a[x], largest_row[x], nearest_row[x]
                    k = exp2_nonpositive((d0 * d0 + d1 * d1 + d2 * d2) * gains[x])
                    f[x] += weight * k
                    m[x] += weight
                    k = k if weight > zero else zero
                    nearest_row[x] = slot if k > before else index
                    largest_row[x] = max(k, before)
            else:
                for x in range(width):
                    d0 = np.float32(s0[x]) - x0[x]
                    weight, before, index = a[x], largest_row[x], nearest_row[x]
                    k = exp2_nonpositive(d0 * d0 * gains[x])
                    f[x] += weight * k
                    m[x] += weight
                    k = k if weight > zero else zero
                    nearest_row[x] = slot if k > before else index
                    largest_row[x] = max(k, before)
            for x in range(width):
                weight, least, index = a[x], lowest[x], weakest_row[x]
                weakest_row[x] = slot if weight < least else index
                lowest[x] = min(weight, least)
        density_row, raw_row = density[y], raw[y]
        for x in range(width):
            q = f[x] / (m[x] if m[x] > zero else one)
            q = q if m[x] > zero else one
            density_row[x] = q
            raw_row[x] = np.uint8(255) if q < threshold else np.uint8(0)


@kernel
def adapt(
    first_row,
    last_row,
    frame,  # (H, W, D) u1, u2 or f4
    colours,  # (H, D, B, W) of the frame's dtype
    coefficients,  # (H, B, W) f4, to be multiplied by the caller's scale
    factors,  # (H, W) f4
    restless,  # (H, W) f4: v, how often a pixel blinks
    distances,  # (H, W) f4: running mean of the distance from the background
    previous,  # (H, W) u1: raw mask of the frame before
    ages,  # (H, W) u2: frames that the pixel has been foreground without a break
    density,  # (H, W) f4
    raw,  # (H, W) u1
    nearest,  # (H, W) u1
    largest,  # (H, W) f4
    weakest,  # (H, W) u1
    mass,  # (H, W) f4
    final,  # (H, W) u1: the final mask
    moving,  # (H, W) u1: not 0 near foreground of this frame or the one before
    where,  # (H, W) u1, or (0, 0) for everywhere: pixels that may change
    threshold,  # f4
    factor_rate,  # f4: rate at which factors grow
    one_new,  # f4: what a coefficient of 1 is under the scale after this step
    unfade,  # f4: what undoes this step's fading, for pixels that may not change
    absorb,  # i4: age at which foreground becomes background; 0 for never
    dither,  # (W + DITHER_PERIOD,) f4 in [0, 1): rounds moving support vectors without bias; zeros for floats
    dither_step,  # i4
):
    """Feed the final mask back into widths and restlessness, and learn where it is background."""
    zero, one = np.float32(0.0), np.float32(1.0)
    width, channels = frame.shape[1], frame.shape[2]
    slots = coefficients.shape[1]
    chosen, fresh, allowed = np.empty(width, np.uint8), np.empty(width, np.uint8), np.empty(width, np.uint8)
    added, rates, coefficient = np.empty(width, np.float32), np.empty(width, np.float32), np.empty(width, np.float32)
    held, moved = np.empty(width, frame.dtype), np.empty(width, frame.dtype)
    pixels = np.empty((channels, width), frame.dtype)
    everywhere = where.shape[0] == 0
    for y in range(first_row, last_row):
        where_row = final[y] if everywhere else where[y]
        density_row, raw_row, nearest_row, largest_row = density[y], raw[y], nearest[y], largest[y]
        weakest_row, mass_row = weakest[y], mass[y]
        final_row, moving_row, previous_row, ages_row = final[y], moving[y], previous[y], ages[y]
        factors_row, restless_row, distances_row = factors[y], restless[y], distances[y]
        for x in range(width):
            ok = everywhere or where_row[x] != 0
            allowed[x] = np.uint8(1) if ok else np.uint8(0)
            foreground = final_row[x] != 0
            blinks = raw_row[x] != previous_row[x] and moving_row[x] == 0
            v = restless_row[x]
            change = BLINK if blinks else -(QUIET_FOREGROUND if foreground else QUIET)
            v_new = max(v + change, QUIET)
            mean = distances_row[x]
            distance = max(one - density_row[x] / threshold, zero)
            mean_new = mean + DISTANCE_RATE * (distance - mean)
            limit = (one + DISTANCE_SCALE * mean_new) * (one + DISTANCE_SCALE * mean_new)
            r = factors_row[x]
            r_new = r + (factor_rate * (v_new - QUIET) if r < limit else -np.float32(0.01) / v_new)
            r_new = min(max(r_new, one), WIDEST)
            age = np.int32(ages_row[x])
            age_new = min(age + np.int32(1), np.int32(65535)) if foreground else np.int32(0)
            before = previous_row[x]
            restless_row[x] = v_new if ok else v
            distances_row[x] = mean_new if ok else mean
            factors_row[x] = r_new if ok else r
            ages_row[x] = np.uint16(age_new if ok else age)
            previous_row[x] = raw_row[x] if ok else before
        for x in range(width):
            absorbed = absorb > np.int32(0) and np.int32(ages_row[x]) >= absorb
            learns = allowed[x] != 0 and (final_row[x] == 0 or absorbed)
            is_fresh = learns and largest_row[x] <= TAU
            index, weak = nearest_row[x], weakest_row[x]
            index = weak if is_fresh else index
            fresh[x] = np.uint8(1) if is_fresh else np.uint8(0)
            chosen[x] = index if learns else NOWHERE
            projected, total = one_new * largest_row[x], mass_row[x]
            first = max(one_new, total if absorbed else zero)  # absorbed foreground gets half of the density
            added[x] = first if is_fresh else projected
        if channels == 3:
            interleaved = frame[y].reshape(-1)
            for c in range(3):
                row = pixels[c]
                for x in range(width):
                    row[x] = interleaved[3 * x + c]
        else:
            for x in range(width):
                pixels[0, x] = frame[y, x, 0]
        if not everywhere:
            for j in range(slots):
                a = coefficients[y, j]
                for x in range(width):
                    weight = a[x]
                    kept = weight * unfade
                    a[x] = weight if allowed[x] != 0 else kept
        offset = np.int64((np.int64(y) * np.int64(1571) + np.int64(dither_step)) % np.int64(DITHER_PERIOD))
        noise = dither[offset : offset + width]
        for x in range(width):
            coefficient[x] = zero
        for j in range(slots):  # one slot a pixel changes: fetch it, change it, put it back
            slot = np.uint8(j)
            a = coefficients[y, j]
            for x in range(width):
                here, other = a[x], coefficient[x]
                coefficient[x] = here if chosen[x] == slot else other
        for x in range(width):
            grown = added[x] + (zero if fresh[x] != 0 else coefficient[x])
            coefficient[x] = grown
            rates[x] = min(max(one_new / max(grown, np.float32(1e-30)), DRIFT), one)
        for j in range(slots):
            slot = np.uint8(j)
            a = coefficients[y, j]
            for x in range(width):
                weight, grown = a[x], coefficient[x]
                a[x] = grown if chosen[x] == slot else weight
        for c in range(channels):
            row = pixels[c]
            for j in range(slots):
                slot = np.uint8(j)
                s = colours[y, c, j]
                for x in range(width):
                    here, other = s[x], held[x]
                    held[x] = here if chosen[x] == slot else other
            for x in range(width):
                old, value = np.float32(held[x]), np.float32(row[x])
                drifted = old + rates[x] * (value - old) + noise[x]
                moved[x] = value if fresh[x] != 0 else drifted
            for j in range(slots):
                slot = np.uint8(j)
                s = colours[y, c, j]
                for x in range(width):
                    old_value, new_value = s[x], moved[x]
                    s[x] = new_value if chosen[x] == slot else old_value
