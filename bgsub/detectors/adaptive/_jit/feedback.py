"""Feedback of the final mask into width factors and blink rates of the adaptive detector."""

from typing import Any

import numpy as np

from bgsub._numba import compiled_views, inlined, part
from bgsub.detectors.adaptive._jit.blocks import (
    BLINK_RATE_UNIT,
    BLOCK,
    BYTES,
    CONVERGED,
    EMPTY,
    FACTOR_ONE,
    FORGOTTEN,
    LOWEST_BLINK_RATE,
    NONE,
    SETTLED,
    STEADY,
    exponent_unit,
    first_kernel_values,
    is_empty,
)

__all__ = ["NEAR", "WIDEST", "feed_back", "forget", "rescore_settled", "spread", "take_back"]

_DISTANCE_UNIT = np.float32(1.0 / 65535.0)
_BLINK = np.int32(40)  # what a blink adds to v, in its units: 1
_FREE = np.int32(40)  # how much of v widens nothing, for a passing object blinks, too
_DECAY_IN_FOREGROUND = np.int32(1)  # what a frame without a blink takes from v where the pixel is foreground
_DISTANCE_RATE = np.float32(0.02)  # of the running mean of the distance
_DISTANCE_SCALE = np.float32(4.0)
_SHRINK = np.float32(0.01)  # rate at which width factors shrink, divided by v
WIDEST = np.float32(3.0)
"""Largest width factor: with more, what crosses water or leaves is not seen."""
NEAR = 3
"""Pixels round foreground where nothing blinks: its outline moves; outlines do not grow with frames."""


@part
def _rescore(y, state, seen, unit, k):
    """Fill in the per-pixel results that `score` skipped in a settled block; k, (BLOCK,) f4, is scratch."""
    distance, nearest, kernel_value = seen.distance[y], seen.nearest[y], seen.kernel_value[y]
    seen.settled[y] = np.uint8(0)
    first_kernel_values(seen.planes, state.colours, state.width_factors[y], unit, y, k)
    for x in range(BLOCK):
        distance[x] = np.uint8(0)
        nearest[x] = np.uint8(0)
    for x in range(BLOCK):
        kernel_value[x] = np.int32(k[x] * BYTES + np.float32(0.5))


@inlined
def _is_full(row):
    """Return whether no pixel of a block, (BLOCK,) u1, is 0."""
    found = np.int32(0)
    for x in range(BLOCK):
        found = np.int32(found + (np.int32(1) if row[x] != 0 else np.int32(0)))
    return found == np.int32(BLOCK)


@part
def rescore_settled(first, last, state, seen, final, where, rule, k):
    """Fill in what `score` skipped in settled blocks with a pixel that is foreground or may not change."""
    unit = exponent_unit(rule.gain, seen.planes.shape[0])
    for y in range(first, last):
        if seen.settled[y] != SETTLED:
            continue
        if not is_empty(final[y]) or not (rule.everywhere or _is_full(where[y])):
            _rescore(y, state, seen, unit, k)


@inlined
def _begin_again(y, x, state, seen, kept):
    """Let a pixel begin with the colour of the present frame; see `forget`."""
    slots, channels, total = state.coefficients.shape[0], seen.planes.shape[0], np.float32(0.0)
    for i in range(1, slots):
        j = slots - i
        weight = min(state.coefficients[j - 1, y, x], kept)
        state.coefficients[j, y, x] = weight
        total += weight
        if weight > np.float32(0.0):
            for c in range(channels):
                state.colours[j, c, y, x] = state.colours[j - 1, c, y, x]
    state.coefficients[0, y, x] = total
    if total == np.float32(0.0):
        seen.nearest[y, x] = NONE
        return
    for c in range(channels):
        state.colours[0, c, y, x] = seen.planes[c, y, x]
    seen.nearest[y, x] = np.uint8(0)
    seen.kernel_value[y, x] = np.uint8(BYTES)


@compiled_views
def forget(state: Any, seen: Any, chosen: Any, factors: Any, gain: Any, kept: Any, k: Any) -> Any:
    """Make the expansions of pixels begin again, and their feedback.

    They become empty, or get the colour that is seen now in the first slot, with half of the density, before those that
    they had but the last one.

    Parameters
    ----------
    state : State
        Written.
    seen : Observation
        The present frame; these pixels are made to look as if no support vector was near, or as if the first one was.
    chosen : (N, BLOCK) u1
        Not 0 for pixels to forget.
    factors : (N, BLOCK) u2
        Their width factors from now on, in units of 1 / FACTOR_ONE.
    gain : f4
        As for `score`.
    kept : f4
        Largest coefficient that colours so far keep, if not 0.
    k : (BLOCK,) f4
        Scratch.
    """
    unit = exponent_unit(gain, seen.planes.shape[0])
    for y in range(chosen.shape[0]):
        if is_empty(chosen[y]):
            continue
        if seen.settled[y] == SETTLED:
            _rescore(y, state, seen, unit, k)
        for x in range(BLOCK):
            if chosen[y, x] != 0:
                state.width_factors[y, x] = factors[y, x]
                state.blink_rates[y, x] = np.uint16(LOWEST_BLINK_RATE)
                state.mean_distances[y, x] = np.uint16(0)
                _begin_again(y, x, state, seen, kept)
        state.dominant[y] = np.uint8(0)
        seen.settled[y] = FORGOTTEN


@compiled_views
def take_back(state: Any, seen: Any, held: Any, replaced: Any, longest: Any) -> Any:
    """Let the background so far come first again where it is seen soon after `forget` put another one before it.

    Then what was there in between was no background: its colour and the one seen now change places, but the larger
    coefficient remains the first one's.

    Parameters
    ----------
    state : State
        Its colours and coefficients are written.
    seen : Observation
        The present frame; `nearest` is written.
    held : (N, BLOCK) u1
        Not 0 where nothing is learned now, as in foreground.
    replaced : (N, BLOCK) u1
        Not 0 where another background was put first; set to 0 where that is taken back, or holds.
    longest : f4
        The first coefficient above which it holds.

    Returns
    -------
    int
        How many pixels are still open.
    """
    slots, left = state.coefficients.shape[0], 0
    for y in range(replaced.shape[0]):
        if is_empty(replaced[y]):
            continue
        for x in range(BLOCK):
            if replaced[y, x] == 0:
                continue
            first, j = state.coefficients[0, y, x], np.uint8(0) if seen.settled[y] == SETTLED else seen.nearest[y, x]
            if held[y, x] != 0 or j >= slots or (j == 0 and first <= longest):
                left += 1
                continue
            replaced[y, x] = np.uint8(0)
            if j == 0 or first > longest:
                continue
            other = state.coefficients[j, y, x]
            state.coefficients[0, y, x], state.coefficients[j, y, x] = max(first, other), min(first, other)
            for c in range(seen.planes.shape[0]):
                colour = state.colours[j, c, y, x]
                state.colours[j, c, y, x] = state.colours[0, c, y, x]
                state.colours[0, c, y, x] = colour
            seen.nearest[y, x] = np.uint8(0)
    return left


@part
def _add_rows(mask, y, columns):
    """Add what is at most three rows away."""
    height = mask.shape[0]
    a, b, c = mask[max(y - 3, 0)], mask[max(y - 2, 0)], mask[max(y - 1, 0)]
    d, e, f = mask[min(y + 1, height - 1)], mask[min(y + 2, height - 1)], mask[min(y + 3, height - 1)]
    same = mask[y]
    for x in range(columns.shape[0]):
        columns[x] |= a[x] | b[x] | c[x] | same[x] | d[x] | e[x] | f[x]


@inlined
def _spread_row(columns, line, part, left):
    """Dilate a row of columns over NEAR neighbours to either side; write it from column `left` on."""
    span = line.shape[0]
    one_on, two_on, three_on = columns[1:], line[2:], columns[3:]
    # Three disjunctions instead of six: a span of seven is two overlapping spans of four.
    for x in range(span - 1):  # spans of two columns, of four, of seven
        line[x] = columns[x] | one_on[x]
    for x in range(span - 3):
        columns[x] = line[x] | two_on[x]
    here, shifted = columns[left : left + part.shape[0]], three_on[left : left + part.shape[0]]
    for x in range(part.shape[0]):
        part[x] = here[x] | shifted[x]


@part
def spread(first, last, masks, columns, line):
    """Dilate the union of the final masks of this frame and the one before.

    Parameters
    ----------
    masks : Masks
        `near` is written: not 0 where foreground of either is at most NEAR pixels away, in rows and columns.
    columns, line : (W + 2 * NEAR,) u1
        Scratch; columns is all 0, before and after.
    """
    mask, previous = masks.image, masks.previous_image
    height, width = mask.shape
    pixels = masks.near.reshape(-1)
    inner = columns[NEAR : NEAR + width]  # what is in reach in each column; nothing beyond the borders
    begin, end = first * BLOCK, min(last * BLOCK, height * width)
    for y in range(begin // width, (end + width - 1) // width):
        left, right = max(begin - y * width, 0), min(end - y * width, width)
        out = pixels[y * width + left : y * width + right]
        found = np.int64(0)
        for row in range(max(y - NEAR, 0), min(y + NEAR + 1, height)):
            found += np.int64(masks.occupied_rows[row])
        if found == 0:
            for x in range(out.shape[0]):
                out[x] = np.uint8(0)
            continue
        for x in range(width):
            inner[x] = np.uint8(0)
        _add_rows(mask, y, inner)
        _add_rows(previous, y, inner)
        _spread_row(columns, line, out, left)
        for x in range(NEAR):
            columns[x] = np.uint8(0)
            columns[width + NEAR + x] = np.uint8(0)


@inlined
def _follow_distance(mean, distance):
    """Return the running mean, i4, of the distance, u1, from the background."""
    # Truncation makes a mean of small distances end at 0.
    step = np.float32(distance) * np.float32(257.0) - np.float32(mean)
    return np.int32(np.float32(mean) + _DISTANCE_RATE * step)


@inlined
def _follow_factor(factor, v, mean, lowest, factor_rate):
    """Return the next width factor, f4, to be truncated, from blink rate and mean distance, i4.

    R grows with v while it is below (1 + 4 d)^2 times the base, d the running mean of the distance, else it shrinks
    slowly: after the feedback of R in SuBSENSE.
    """
    limit = np.float32(1.0) + _DISTANCE_SCALE * (np.float32(mean) * _DISTANCE_UNIT)
    limit = limit * limit * lowest
    r = np.float32(factor)
    grow = factor_rate * (np.float32(max(np.int32(v - _FREE), np.int32(0))) * BLINK_RATE_UNIT)
    shrink = _SHRINK / (np.float32(v) * BLINK_RATE_UNIT)
    r_new = r + (grow if r < limit else -shrink) * FACTOR_ONE + np.float32(0.5)
    return min(max(r_new, lowest), WIDEST * FACTOR_ONE)


@inlined
def _feed_back_any(y, state, seen, final_row, near_row, where_row, rule):
    """Feed back in one block; return how many pixels have not converged and how many are due to be absorbed."""
    lowest, half = rule.base, np.float32(0.5)
    raw, distance = seen.raw[y], seen.distance[y]
    factors, blink_rates, distances = state.width_factors[y], state.blink_rates[y], state.mean_distances[y]
    previous_raw, ages = state.previous_raw[y], state.foreground_ages[y]
    everywhere, flicker, lingering, absorb = rule.everywhere, rule.flicker, rule.lingering, rule.absorb
    factor_rate = rule.factor_rate
    active, due = np.int32(0), np.int32(0)
    for x in range(BLOCK):
        ok = everywhere | (where_row[x] != 0)
        foreground = final_row[x] != 0
        before, seen_raw, strays = previous_raw[x], raw[x], distance[x]
        stays, away = np.int32(ages[x]) > flicker, near_row[x] == 0
        # Outlines of moving objects change the raw mask, too; only changes away from foreground are the background's.
        blinks = (seen_raw != before) & (away | stays)
        # Slow waves change it seldom, for the number of frames that are filmed in a second, and are in it for long.
        lingers = (seen_raw != 0) & away
        v = np.int32(blink_rates[x])
        decay = _DECAY_IN_FOREGROUND if foreground else LOWEST_BLINK_RATE
        change = np.int32(_BLINK if blinks else (lingering if lingers else np.int32(-decay)))
        v_new = min(max(np.int32(v + change), LOWEST_BLINK_RATE), np.int32(65535))
        mean = np.int32(distances[x])
        # What passes says nothing of how far the background strays: with it, noise would widen kernels where it was.
        followed = _follow_distance(mean, strays)  # before it is chosen: AVX2 has no vectors for branches with loads
        mean_new = mean if foreground & (not stays) else followed
        r = np.float32(factors[x])
        r_new = _follow_factor(factors[x], v_new, mean_new, lowest, factor_rate)
        age = np.int32(ages[x])
        age_new = min(np.int32(age + np.int32(1)), np.int32(65535)) if foreground else np.int32(0)
        blink_rates[x] = v_new if ok else v
        distances[x] = mean_new if ok else mean
        factors[x] = np.int32(r_new if ok else r)
        ages[x] = age_new if ok else age
        previous_raw[x] = seen_raw if ok else before
        # Counted in 32 bits: vectors have as many numbers as fit of the widest kind.
        due = np.int32(due + (np.int32(1) if (age_new == absorb) & foreground else np.int32(0)))
        # At these values the next frame without foreground would change nothing: the block need not be visited.
        stands = (v_new == LOWEST_BLINK_RATE) & (mean_new == 0) & (r_new <= lowest + half)
        active = np.int32(active + (np.int32(0) if stands else np.int32(1)))
    return active, due


@inlined
def _feed_back_empty(y, state, distance, rule):
    """Feed back in a block without foreground, now or before; return how many pixels blink, and have not converged."""
    lowest, factor_rate = rule.base, rule.factor_rate
    factors, blink_rates, distances = state.width_factors[y], state.blink_rates[y], state.mean_distances[y]
    blinking, active = np.int32(0), np.int32(0)
    for x in range(BLOCK):
        v = max(np.int32(np.int32(blink_rates[x]) - LOWEST_BLINK_RATE), LOWEST_BLINK_RATE)
        mean = _follow_distance(np.int32(distances[x]), distance[x])
        r = _follow_factor(factors[x], v, mean, lowest, factor_rate)
        blink_rates[x] = v
        distances[x] = mean
        factors[x] = np.int32(r)
        blinking = np.int32(blinking + (np.int32(0) if v == LOWEST_BLINK_RATE else np.int32(1)))
        stands = (mean == 0) & (r <= lowest + np.float32(0.5))
        active = np.int32(active + (np.int32(0) if stands else np.int32(1)))
    return blinking, active


@inlined
def _feed_back_steady(y, state, distance, rule):
    """Do the same where no pixel blinked lately, either; return how many have not converged."""
    lowest, factor_rate = rule.base, rule.factor_rate
    factors, distances = state.width_factors[y], state.mean_distances[y]
    active = np.int32(0)
    for x in range(BLOCK):
        mean = _follow_distance(np.int32(distances[x]), distance[x])
        r = _follow_factor(factors[x], LOWEST_BLINK_RATE, mean, lowest, factor_rate)
        distances[x] = mean
        factors[x] = np.int32(r)
        stands = (mean == 0) & (r <= lowest + np.float32(0.5))
        active = np.int32(active + (np.int32(0) if stands else np.int32(1)))
    return active


@part
def feed_back(first, last, state, seen, final, near, where, rule, zeros):
    """Feed the final mask back into width factors and blink rates.

    A block with foreground of the age of absorption is to learn now. `zeros`, (BLOCK,) u1, is that; for the other
    parameters see `update.update`.
    """
    for y in range(first, last):
        settled, calm = seen.settled[y] == SETTLED, state.calm[y]
        if settled and calm == CONVERGED:
            continue
        empty = settled or (rule.everywhere and is_empty(seen.raw[y]) and is_empty(final[y]))
        distance = zeros if settled else seen.distance[y]
        if empty and calm >= STEADY:
            active = _feed_back_steady(y, state, distance, rule)
            state.calm[y] = CONVERGED if active == 0 else STEADY
        elif empty and calm == EMPTY:
            blinking, active = _feed_back_empty(y, state, distance, rule)
            state.calm[y] = EMPTY if blinking != 0 else (CONVERGED if active == 0 else STEADY)
        else:
            if settled:
                for x in range(BLOCK):
                    seen.distance[y, x] = np.uint8(0)
            active, due = _feed_back_any(y, state, seen, final[y], near[y], where[y], rule)
            state.calm[y] = (CONVERGED if active == 0 else EMPTY) if empty else np.uint8(0)
            if due != 0:
                seen.settled[y] = FORGOTTEN
