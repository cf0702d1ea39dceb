"""Numba kernels of the adaptive bank that let the model learn a frame when its final mask is known."""

import numpy as np

from bgsub._numba import kernel, view_kernel
from bgsub.detectors.adaptive._jit.blocks import (
    BLOCK,
    BYTE,
    DITHERS,
    FORGOTTEN,
    NONE,
    SETTLED,
    exponent_unit,
    first_values,
)
from bgsub.detectors.adaptive._jit.feedback import NEAR, feed_back, spread, unsettle

__all__ = ["advance", "learn", "sort"]

DRIFT = np.float32(0.002)  # least rate at which a support vector moves to a colour projected on it
SORT_PERIOD = 32  # frames between two times that the slots of a block are put in order
SELDOM = 8  # a block learns one frame in so many, with so much weight,
YOUNG = 50  # but every frame among the first ones


@view_kernel
def learn(
    first,
    last,
    planes,  # (D, N, BLOCK)
    colours,  # (B, D, N, BLOCK)
    coefficients,  # (B, N, BLOCK) f4, to be multiplied by the caller's scale
    ages,  # (N, BLOCK) u2
    dominant,  # (N,) u1
    nearest,  # (N, BLOCK) u1
    values,  # (N, BLOCK) u1
    settled,  # (N,) u1
    final,  # (N, BLOCK) u1
    where,  # (N, BLOCK) u1
    everywhere,  # bool
    factors,  # (N, BLOCK) u2
    gain,  # f4
    share,  # f4: of the sum of coefficients, which the first has where it is dominant
    one_new,  # f4: what a coefficient of 1 is under the scale after this step
    unfade,  # f4: what undoes this step's fading, for pixels that may not change
    absorb,  # i4: age at which foreground becomes background; 0 for never
    dither,  # (DITHERS, BLOCK) f4 in [0, 1): rounds moving support vectors without bias; zeros for floats
    step,  # i4: counts the frames
    chosen,  # (BLOCK,) u1: scratch, as are all that follow
    fresh,
    weakest,
    lowest,  # (BLOCK,) f4
    mass,
    own,
    rates,
):
    """Project the colours of background on support vectors, or start new ones."""
    zero, one, largest = np.float32(0.0), np.float32(1.0), np.float32(3.0e38)
    channels, slots = planes.shape[0], coefficients.shape[0]
    unit, young = exponent_unit(gain, channels), step < YOUNG
    for y in range(first, last):
        every = np.int64(1) if young or settled[y] == FORGOTTEN else np.int64(SELDOM)
        waits = (np.int64(y) + np.int64(step)) % every != 0
        if waits and (everywhere or settled[y] == SETTLED):
            continue
        heavier, drift = np.float32(one_new * np.float32(every)), np.float32(DRIFT * np.float32(every))
        noise = dither[(np.int64(y) * np.int64(37) + np.int64(step) * np.int64(23)) % np.int64(DITHERS)]
        if settled[y] == SETTLED:
            a0 = coefficients[0, y]
            first_values(planes, colours, factors[y], unit, y, own)
            for x in range(BLOCK):
                grown = a0[x] + heavier * own[x]
                a0[x] = grown
                rates[x] = min(max(heavier / grown, drift), one)
            for c in range(channels):
                p, s = planes[c, y], colours[0, c, y]
                for x in range(BLOCK):
                    old, value = np.float32(s[x]), np.float32(p[x])
                    s[x] = old + rates[x] * (value - old) + noise[x]
            continue
        final_row, ages_row, where_row = final[y], ages[y], where[y]
        nearest_row, values_row = nearest[y], values[y]
        learning = 0
        for x in range(BLOCK):
            absorbed = (absorb > np.int32(0)) & (np.int32(ages_row[x]) >= absorb)
            learns = (everywhere | (where_row[x] != 0)) & ((final_row[x] == 0) | absorbed)
            index = nearest_row[x]
            chosen[x] = index if learns else NONE
            fresh[x] = np.uint8(1) if learns & (index == NONE) else np.uint8(0)
            mass[x] = zero
            own[x] = zero
            lowest[x] = largest
            learning += 1 if learns else 0
        if not everywhere:
            for j in range(slots):
                a1 = coefficients[j, y]
                for x in range(BLOCK):
                    weight = a1[x]
                    kept = weight * unfade
                    a1[x] = weight if where_row[x] != 0 else kept
        if learning == 0 or waits:
            continue
        for j in range(slots):
            slot = np.uint8(j)
            a2 = coefficients[j, y]
            for x in range(BLOCK):
                weight, least, weak, other = a2[x], lowest[x], weakest[x], own[x]
                mass[x] += weight
                weakest[x] = slot if weight < least else weak
                lowest[x] = min(weight, least)
                own[x] = weight if chosen[x] == slot else other
        a3 = coefficients[0, y]
        weak_first = 0
        for x in range(BLOCK):
            absorbed = (absorb > np.int32(0)) & (np.int32(ages_row[x]) >= absorb)
            total = mass[x]
            start = max(heavier, total if absorbed else zero)  # absorbed foreground gets half of the density
            index, weak, projected = chosen[x], weakest[x], own[x] + heavier * (np.float32(values_row[x]) * BYTE)
            grown = start if fresh[x] != 0 else projected
            index = weak if fresh[x] != 0 else index
            total += grown - (lowest[x] if fresh[x] != 0 else own[x])
            chosen[x] = index
            rate = min(max(heavier / max(grown, np.float32(1e-30)), drift), one)
            rates[x] = one if fresh[x] != 0 else rate
            own[x] = grown
            leading = grown if index == np.uint8(0) else a3[x]
            weak_first += 0 if (leading > zero) & (leading >= share * total) else 1
        dominant[y] = np.uint8(1 if weak_first == 0 else 0)
        for x in range(BLOCK):
            lowest[x] = zero if fresh[x] != 0 else noise[x]
        for j in range(slots):
            slot = np.uint8(j)
            a4 = coefficients[j, y]
            users = 0
            for x in range(BLOCK):
                weight, grown = a4[x], own[x]
                a4[x] = grown if chosen[x] == slot else weight
                users += 1 if chosen[x] == slot else 0
            if users != 0:
                for c in range(channels):
                    p1, s1 = planes[c, y], colours[j, c, y]
                    for x in range(BLOCK):
                        before, value = s1[x], np.float32(p1[x])
                        old = np.float32(before)
                        after = old + rates[x] * (value - old) + lowest[x]
                        s1[x] = after if chosen[x] == slot else old


@view_kernel
def sort(
    first,
    last,
    colours,  # (B, D, N, BLOCK)
    coefficients,  # (B, N, BLOCK) f4
    dominant,  # (N,) u1
    share,  # f4
    step,  # i4: counts the frames
    swapped,  # (BLOCK,) u1: scratch
    mass,  # (BLOCK,) f4: scratch
):
    """Bring the heaviest support vector to the first slot, in a share of the blocks."""
    slots, channels = colours.shape[0], colours.shape[1]
    for y in range(first + (step - first) % SORT_PERIOD, last, SORT_PERIOD):
        for i in range(1, slots):
            j = slots - i  # upwards, so that the heaviest reaches the first slot in one pass
            upper, lower = coefficients[j - 1, y], coefficients[j, y]
            swaps = 0
            for x in range(BLOCK):
                above, below = upper[x], lower[x]
                rises = below > above
                swapped[x] = np.uint8(1) if rises else np.uint8(0)
                upper[x] = below if rises else above
                lower[x] = above if rises else below
                swaps += 1 if rises else 0
            if swaps != 0:
                for c in range(channels):
                    s, t = colours[j - 1, c, y], colours[j, c, y]
                    for x in range(BLOCK):
                        high, low = s[x], t[x]
                        s[x] = low if swapped[x] != 0 else high
                        t[x] = high if swapped[x] != 0 else low
        heaviest = coefficients[0, y]
        for x in range(BLOCK):
            mass[x] = np.float32(0.0)
        for j in range(slots):
            a = coefficients[j, y]
            for x in range(BLOCK):
                mass[x] += a[x]
        weak = 0
        for x in range(BLOCK):
            weak += 0 if (heaviest[x] > np.float32(0.0)) & (heaviest[x] >= share * mass[x]) else 1
        dominant[y] = np.uint8(1 if weak == 0 else 0)


@kernel
def advance(
    first,
    last,
    planes,
    colours,
    coefficients,
    dominant,
    factors,
    restless,
    distances,
    previous,
    ages,
    quiet,
    raw,
    distance,
    nearest,
    values,
    settled,
    final,
    mask,  # (H, W) u1: the final mask again, as an image
    before,  # (H, W) u1: that of the frame before
    filled,  # (H,) u1: 0 in rows that are empty in both
    moving,  # (N, BLOCK) u1: scratch
    where,
    everywhere,
    gain,
    factor_rate,
    flicker,
    share,
    one_new,
    unfade,
    absorb,
    dither,
    step,
):
    """Do all the following on one band, in which no block needs another: `unsettle`, `spread` to `sort`."""
    chosen, fresh, weakest = np.empty(BLOCK, np.uint8), np.empty(BLOCK, np.uint8), np.empty(BLOCK, np.uint8)
    lowest, mass = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)
    own, rates = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)
    span = mask.shape[1] + 2 * NEAR
    spread(first, last, mask, before, filled, moving, np.zeros(span, np.uint8), np.empty(span, np.uint8))
    unsettle(
        first, last, planes, colours, factors, gain, distance, nearest, values, settled, final, where, everywhere, own,
    )  # fmt: skip
    feed_back(
        first, last, factors, restless, distances, previous, ages, quiet, raw, distance, settled, final, moving, where,
        everywhere, factor_rate, flicker, absorb,
    )  # fmt: skip
    learn(
        first, last, planes, colours, coefficients, ages, dominant, nearest, values, settled, final, where, everywhere,
        factors, gain, share, one_new, unfade, absorb, dither, step, chosen, fresh, weakest, lowest, mass, own, rates,
    )  # fmt: skip
    sort(first, last, colours, coefficients, dominant, share, step, chosen, mass)
