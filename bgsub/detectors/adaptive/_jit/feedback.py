"""Numba kernels of the adaptive bank that feed the final mask back into widths and restlessness."""

import numpy as np

from bgsub._numba import view_kernel
from bgsub.detectors.adaptive._jit.blocks import (
    BLOCK,
    BYTES,
    FACTOR_ONE,
    FORGOTTEN,
    QUIET,
    RESTLESS_UNIT,
    SETTLED,
    exponent_unit,
    first_values,
)

__all__ = ["NEAR", "feed_back", "spread", "unsettle"]

DISTANCE_UNIT = np.float32(1.0 / 65535.0)
BLINK = np.int32(40)  # what a blink adds to v, in such units: 1
FREE = np.int32(40)  # how much of v widens nothing, for a passing object blinks, too
QUIET_FOREGROUND = np.int32(1)  # what it takes where the pixel is foreground
DISTANCE_RATE = np.float32(0.02)  # of the running mean of the distance
DISTANCE_SCALE = np.float32(4.0)
SHRINK = np.float32(0.01)  # rate at which factors shrink, divided by v
WIDEST = np.float32(8.0)  # largest factor of the width
NEAR = 3  # pixels round foreground where nothing blinks: its outline moves; outlines do not grow with frames


@view_kernel
def unsettle(
    first,
    last,
    planes,  # (D, N, BLOCK) u1, u2 or f4: the frame
    colours,  # (B, D, N, BLOCK) of the frame's dtype
    factors,  # (N, BLOCK) u2
    gain,  # f4
    distance,  # (N, BLOCK) u1, written
    nearest,  # (N, BLOCK) u1, written
    values,  # (N, BLOCK) u1, written
    settled,  # (N,) u1
    final,  # (N, BLOCK) u1: the final mask
    where,  # (N, BLOCK) u1: pixels that may change
    everywhere,  # bool: whether all may, without asking `where`
    k,  # (BLOCK,) f4: scratch
):
    """Complete what `look` left out in settled blocks with a pixel that is foreground or may not change."""
    unit = exponent_unit(gain, planes.shape[0])
    for y in range(first, last):
        if settled[y] != SETTLED:
            continue
        final_row, where_row = final[y], where[y]
        found = 0
        for x in range(BLOCK):
            found += 1 if final_row[x] != 0 else 0
        if not everywhere:
            for x in range(BLOCK):
                found += 1 if where_row[x] == 0 else 0
        if found == 0:
            continue
        settled[y] = np.uint8(0)
        distance_row, nearest_row, values_row = distance[y], nearest[y], values[y]
        first_values(planes, colours, factors[y], unit, y, k)
        for x in range(BLOCK):
            distance_row[x] = np.uint8(0)
            nearest_row[x] = np.uint8(0)
        for x in range(BLOCK):
            values_row[x] = np.int32(k[x] * BYTES + np.float32(0.5))


@view_kernel
def _add_rows(mask, y, columns):
    """Add what is at most three rows away."""
    height = mask.shape[0]
    a, b, c = mask[max(y - 3, 0)], mask[max(y - 2, 0)], mask[max(y - 1, 0)]
    d, e, f = mask[min(y + 1, height - 1)], mask[min(y + 2, height - 1)], mask[min(y + 3, height - 1)]
    same = mask[y]
    for x in range(columns.shape[0]):
        columns[x] |= a[x] | b[x] | c[x] | same[x] | d[x] | e[x] | f[x]


@view_kernel
def spread(
    first,
    last,
    mask,  # (H, W) u1
    before,  # (H, W) u1: another mask
    filled,  # (H,) u1: 0 in rows that are empty in both
    near,  # (N, BLOCK) u1, written: not 0 where foreground of either is at most NEAR pixels away, in rows and columns
    columns,  # (W + 2 * NEAR,) u1: scratch, all 0
    line,  # the same, of any values
):
    """Dilate the union of two masks."""
    height, width = mask.shape
    pixels = near.reshape(-1)
    inner = columns[NEAR : NEAR + width]  # what is in reach in each column; nothing beyond the borders
    begin, end = first * BLOCK, min(last * BLOCK, height * width)
    for y in range(begin // width, (end + width - 1) // width):
        left, right = max(begin - y * width, 0), min(end - y * width, width)
        out = pixels[y * width + left : y * width + right]
        found = np.int64(0)
        for row in range(max(y - NEAR, 0), min(y + NEAR + 1, height)):
            found += np.int64(filled[row])
        if found == 0:
            for x in range(out.shape[0]):
                out[x] = np.uint8(0)
            continue
        for x in range(width):
            inner[x] = np.uint8(0)
        _add_rows(mask, y, inner)
        _add_rows(before, y, inner)
        one_on, two_on, three_on = columns[1:], line[2:], columns[3:]
        for x in range(width + 5):  # spans of two columns, of four, of seven
            line[x] = columns[x] | one_on[x]
        for x in range(width + 3):
            columns[x] = line[x] | two_on[x]
        part, shifted = columns[left:right], three_on[left:right]
        for x in range(part.shape[0]):
            out[x] = part[x] | shifted[x]
        for x in range(NEAR):
            columns[x] = np.uint8(0)
            columns[width + NEAR + x] = np.uint8(0)


@view_kernel
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
    distance,  # (N, BLOCK) u1, written in settled blocks
    settled,  # (N,) u1
    final,  # (N, BLOCK) u1
    moving,  # (N, BLOCK) u1: not 0 near foreground of this frame or the one before
    where,  # (N, BLOCK) u1
    everywhere,  # bool
    factor_rate,  # f4: rate at which factors grow
    flicker,  # i4: age from which foreground blinks, too
    absorb,  # i4: age at which foreground becomes background; 0 for never
):
    """Feed the final mask back into widths and restlessness; a block with foreground of that age is to learn now."""
    one, half = np.float32(1.0), np.float32(0.5)
    lowest, highest = FACTOR_ONE, WIDEST * FACTOR_ONE
    for y in range(first, last):
        calm = settled[y] == SETTLED
        if calm and quiet[y] != 0:
            continue
        final_row, where_row, distance_row = final[y], where[y], distance[y]
        if calm:
            for x in range(BLOCK):
                distance_row[x] = np.uint8(0)
        raw_row, moving_row, previous_row, ages_row = raw[y], moving[y], previous[y], ages[y]
        factors_row, restless_row, distances_row = factors[y], restless[y], distances[y]
        loud, ripe = 0, 0
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
            ripe += 1 if (age_new == absorb) & foreground else 0
            loud += 0 if (v_new == QUIET) & (mean_new == 0) & (r_new <= lowest + half) else 1
        quiet[y] = np.uint8(1 if calm and loud == 0 else 0)
        if ripe != 0:
            settled[y] = FORGOTTEN
