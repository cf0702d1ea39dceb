"""Numba kernels of the adaptive bank: look at a frame; when its final mask is known, feed back, learn and sort.

Pixels are worked off in blocks of 64 that follow each other in memory, slot by slot, because most blocks of most
frames need little: where every pixel matches a first slot that outweighs the rest (`settled`), the other slots are
not even read, and where the feedback is at rest as well (`quiet`), it stays there. The inner loops have the form that
`_norma_kernels` explains.
"""

import numpy as np

from bgsub._numba import exp2_nonpositive, kernel

__all__ = [
    "BLOCK",
    "DITHERS",
    "FACTOR_ONE",
    "FORGOTTEN",
    "NONE",
    "QUIET",
    "RESTLESS_UNIT",
    "SETTLED",
    "feed_back",
    "learn",
    "look",
    "sort",
]

BLOCK = 64
"""Pixels of a block."""
DITHERS = 61
"""Blocks of dither, which blocks of pixels take in turns."""
SETTLED, FORGOTTEN = np.uint8(1), np.uint8(2)
"""What a block is; 0 is neither."""
NONE = np.uint8(255)
"""In place of a slot: there is none."""

# State in small integers: each unit is less than what a frame changes.
FACTOR_ONE = np.float32(8000.0)  # a factor of 1
RESTLESS_UNIT = np.float32(0.025)
DISTANCE_UNIT = np.float32(1.0 / 65535.0)
BYTE = np.float32(1.0 / 255.0)
"""Unit of the kernel values and distances of one frame."""

BLINK = np.int32(40)  # what a blink adds to v, in such units: 1
FREE = np.int32(40)  # how much of v widens nothing, for a passing object blinks, too
QUIET = np.int32(4)  # what a frame without a blink takes, and the least v: 0.1
QUIET_FOREGROUND = np.int32(1)  # what it takes where the pixel is foreground
DISTANCE_RATE = np.float32(0.02)  # of the running mean of the distance
DISTANCE_SCALE = np.float32(4.0)
SHRINK = np.float32(0.01)  # rate at which factors shrink, divided by v
WIDEST = np.float32(8.0)  # largest factor of the width
DRIFT = np.float32(0.002)  # least rate at which a support vector moves to a colour projected on it
SORT_PERIOD = 16  # frames between two times that the slots of a block are put in order
SELDOM = 4  # settled blocks learn one frame in so many, with so much weight,
OFTEN = 2  # others one in so many,
YOUNG = 50  # but every frame among the first ones


@kernel
def look(
    first,
    last,
    planes,  # (D, N, BLOCK) u1, u2 or f4: the frame
    colours,  # (B, D, N, BLOCK) of the frame's dtype: support vectors
    coefficients,  # (B, N, BLOCK) f4
    factors,  # (N, BLOCK) u2: factor of the kernel width
    dominant,  # (N,) u1: 1 where each first coefficient is at least threshold / tau of the sum
    gain,  # f4: -log2(e) / width**2
    threshold,  # f4: on the density
    tau,  # f4: least kernel value for a projection
    exact,  # bool: compute densities where they are certain to be above the threshold, too
    density,  # (N, BLOCK) f4, written if exact
    raw,  # (N, BLOCK) u1, written: 255 where the density is below the threshold
    distance,  # (N, BLOCK) u1, written: 1 - density / threshold, at least 0; not in settled blocks
    nearest,  # (N, BLOCK) u1, written: the slot to project on, or NONE; not in settled blocks
    values,  # (N, BLOCK) u1, written: its kernel value
    settled,  # (N,) u1, written: SETTLED where every pixel is background and near to its first slot
):
    """Compute the density f(x) / sum of coefficients, the raw mask and the support vector to project on."""
    zero, one = np.float32(0.0), np.float32(1.0)
    channels, slots = planes.shape[0], coefficients.shape[0]
    f, gains, square = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)
    mass, best, index = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32), np.empty(BLOCK, np.uint8)
    # One channel counts like three equal ones, so that a width means the same for grey as for colour.
    unit = np.float32((gain if channels == 3 else np.float32(3.0) * gain) * (FACTOR_ONE * FACTOR_ONE))
    for y in range(first, last):
        factors_row, values_row, raw_row = factors[y], values[y], raw[y]
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
            values_row[x] = np.int32(min(k, one) / BYTE + np.float32(0.5))
            raw_row[x] = np.uint8(0)
            far += 0 if k > tau else 1
        certain = far == 0 and dominant[y] != 0
        settled[y] = SETTLED if certain else np.uint8(0)
        if certain and not exact:
            continue
        a0, nearest_row, distance_row, density_row = coefficients[0, y], nearest[y], distance[y], density[y]
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
            distance_row[x] = np.int32(max(one - q / threshold, zero) / BYTE + np.float32(0.5))
            k = k - np.float32(2.0) if k > np.float32(1.5) else k
            nearest_row[x] = index[x] if k > tau else NONE
            values_row[x] = np.int32(min(k, one) / BYTE + np.float32(0.5))


@kernel
def feed_back(
    first,
    last,
    factors,  # (N, BLOCK) u2
    restless,  # (N, BLOCK) u2: v, how often a pixel blinks
    distances,  # (N, BLOCK) u2: running mean of the distance from the background
    previous,  # (N, BLOCK) u1: raw mask of the frame before
    ages,  # (N, BLOCK) u2: frames that the pixel has been foreground without a break
    quiet,  # (N,) u1: 1 where feedback would change nothing in a block that is settled and all background
    raw,  # (N, BLOCK) u1
    distance,  # (N, BLOCK) u1, completed in settled blocks
    nearest,  # (N, BLOCK) u1, completed in settled blocks
    settled,  # (N,) u1, cleared where a pixel is foreground or may not learn
    final,  # (N, BLOCK) u1: the final mask
    moving,  # (N, BLOCK) u1: not 0 near foreground of this frame or the one before
    where,  # (N, BLOCK) u1: pixels that may change
    everywhere,  # bool: whether all may, without asking `where`
    factor_rate,  # f4: rate at which factors grow
    flicker,  # i4: age from which foreground blinks, too
):
    """Feed the final mask back into widths and restlessness."""
    one, half = np.float32(1.0), np.float32(0.5)
    lowest, highest = FACTOR_ONE, WIDEST * FACTOR_ONE
    for y in range(first, last):
        final_row, where_row = final[y], where[y]
        found = 0
        for x in range(BLOCK):
            found += 1 if final_row[x] != 0 else 0
        if not everywhere:
            for x in range(BLOCK):
                found += 1 if where_row[x] == 0 else 0
        calm = settled[y] == SETTLED and found == 0
        if calm and quiet[y] != 0:
            continue
        distance_row, nearest_row = distance[y], nearest[y]
        if settled[y] == SETTLED:
            for x in range(BLOCK):
                distance_row[x] = np.uint8(0)
                nearest_row[x] = np.uint8(0)
        if settled[y] == SETTLED and not calm:
            settled[y] = np.uint8(0)
        raw_row, moving_row, previous_row, ages_row = raw[y], moving[y], previous[y], ages[y]
        factors_row, restless_row, distances_row = factors[y], restless[y], distances[y]
        loud = 0
        for x in range(BLOCK):
            ok = everywhere | (where_row[x] != 0)
            foreground = final_row[x] != 0
            before = previous_row[x]
            blinks = (raw_row[x] != before) & ((moving_row[x] == 0) | (np.int32(ages_row[x]) > flicker))
            v = np.int32(restless_row[x])
            change = BLINK if blinks else -(QUIET_FOREGROUND if foreground else QUIET)
            v_new = min(max(v + change, QUIET), np.int32(65535))
            mean = np.int32(distances_row[x])
            # Truncation makes a mean of small distances end at 0.
            mean_new = np.int32(
                np.float32(mean) + DISTANCE_RATE * (np.float32(distance_row[x]) * np.float32(257.0) - np.float32(mean))
            )
            limit = one + DISTANCE_SCALE * (np.float32(mean_new) * DISTANCE_UNIT)
            limit = limit * limit * FACTOR_ONE
            r = np.float32(factors_row[x])
            grow = factor_rate * (np.float32(max(v_new - FREE, np.int32(0))) * RESTLESS_UNIT)
            shrink = SHRINK / (np.float32(v_new) * RESTLESS_UNIT)
            r_new = r + (grow if r < limit else -shrink) * FACTOR_ONE + half
            r_new = min(max(r_new, lowest), highest)
            age = np.int32(ages_row[x])
            age_new = min(age + np.int32(1), np.int32(65535)) if foreground else np.int32(0)
            restless_row[x] = v_new if ok else v
            distances_row[x] = mean_new if ok else mean
            factors_row[x] = np.int32(r_new if ok else r)
            ages_row[x] = age_new if ok else age
            previous_row[x] = raw_row[x] if ok else before
            loud += 0 if (v_new == QUIET) & (mean_new == 0) & (r_new <= lowest + half) else 1
        quiet[y] = np.uint8(1 if calm and loud == 0 else 0)


@kernel
def learn(
    first,
    last,
    planes,  # (D, N, BLOCK) u1, u2 or f4: the frame
    colours,  # (B, D, N, BLOCK) of the frame's dtype
    coefficients,  # (B, N, BLOCK) f4, to be multiplied by the caller's scale
    ages,  # (N, BLOCK) u2
    dominant,  # (N,) u1
    nearest,  # (N, BLOCK) u1
    values,  # (N, BLOCK) u1
    settled,  # (N,) u1
    final,  # (N, BLOCK) u1
    where,  # (N, BLOCK) u1: pixels that may change
    everywhere,  # bool
    share,  # f4: of the sum of coefficients, which the first has where it is dominant
    one_new,  # f4: what a coefficient of 1 is under the scale after this step
    unfade,  # f4: what undoes this step's fading, for pixels that may not change
    absorb,  # i4: age at which foreground becomes background; 0 for never
    dither,  # (DITHERS, BLOCK) f4 in [0, 1): rounds moving support vectors without bias; zeros for floats
    step,  # i4: counts the frames
):
    """Project the colours of background on support vectors, or start new ones."""
    zero, one, largest = np.float32(0.0), np.float32(1.0), np.float32(3.0e38)
    channels, slots = planes.shape[0], coefficients.shape[0]
    chosen, fresh = np.empty(BLOCK, np.uint8), np.empty(BLOCK, np.uint8)
    weakest, lowest = np.empty(BLOCK, np.uint8), np.empty(BLOCK, np.float32)
    mass, own, rates = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)
    young = step < YOUNG
    for y in range(first, last):
        every = (
            np.int64(1) if young or settled[y] == FORGOTTEN else np.int64(SELDOM if settled[y] == SETTLED else OFTEN)
        )
        waits = (np.int64(y) + np.int64(step)) % every != 0
        if waits and (everywhere or settled[y] == SETTLED):
            continue
        heavier, drift = np.float32(one_new * np.float32(every)), np.float32(DRIFT * np.float32(every))
        values_row = values[y]
        noise = dither[(np.int64(y) * np.int64(37) + np.int64(step) * np.int64(23)) % np.int64(DITHERS)]
        if settled[y] == SETTLED:
            a0 = coefficients[0, y]
            for x in range(BLOCK):
                grown = a0[x] + heavier * (np.float32(values_row[x]) * BYTE)
                a0[x] = grown
                rates[x] = min(max(heavier / grown, drift), one)
            for c in range(channels):
                p, s = planes[c, y], colours[0, c, y]
                for x in range(BLOCK):
                    old, value = np.float32(s[x]), np.float32(p[x])
                    s[x] = old + rates[x] * (value - old) + noise[x]
            continue
        final_row, ages_row, nearest_row, where_row = final[y], ages[y], nearest[y], where[y]
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


@kernel
def sort(
    first,
    last,
    colours,  # (B, D, N, BLOCK)
    coefficients,  # (B, N, BLOCK) f4
    dominant,  # (N,) u1
    share,  # f4
    step,  # i4: counts the frames
):
    """Bring the heaviest support vector to the first slot, in a share of the blocks."""
    slots, channels = colours.shape[0], colours.shape[1]
    swapped, mass = np.empty(BLOCK, np.uint8), np.empty(BLOCK, np.float32)
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
