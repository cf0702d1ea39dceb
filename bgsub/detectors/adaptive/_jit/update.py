"""Learning of a frame whose final mask is known, by the adaptive detector."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._numba import banded, inlined, part, prefetch
from bgsub.detectors.adaptive._jit.blocks import (
    BLOCK,
    BYTE,
    DITHERS,
    FORGOTTEN,
    NONE,
    SETTLED,
    exponent_unit,
    first_kernel_values,
)
from bgsub.detectors.adaptive._jit.feedback import NEAR, feed_back, rescore_settled, spread

__all__ = ["Masks", "UpdateRule", "sort_slots", "update"]

_SORT_PERIOD = 32  # frames between two times that the slots of a block are put in order
_SELDOM = 8  # a block learns one frame in so many, with so much weight,
_EARLY = 50  # but every frame among the first ones


class Masks(NamedTuple):
    """The final mask of this frame, and that of the frame before."""

    blocks: Any
    """(N, BLOCK) u1: the final mask, 0 and 255."""
    image: Any
    """(H, W) u1: the same memory, as an image."""
    previous_image: Any
    """(H, W) u1: the final mask of the frame before."""
    occupied_rows: Any
    """(H,) u1: 0 in rows that are empty in both."""
    near: Any
    """(N, BLOCK) u1, scratch: not 0 near foreground of either frame."""


class UpdateRule(NamedTuple):
    """How a frame is learned."""

    everywhere: Any
    """bool: whether all pixels may learn, without a look at `where`."""
    gain: Any
    """f4: -log2(e) / width**2, width in units of the frame."""
    factor_rate: Any
    """f4: rate at which width factors grow."""
    base: Any
    """f4: the least width factor, in units of 1 / FACTOR_ONE."""
    flicker: Any
    """i4: age in frames from which foreground blinks, too."""
    lingering: Any
    """i4: what a frame adds to a blink rate, in its units, in which raw foreground stays away from foreground."""
    absorb: Any
    """i4: age in frames at which foreground becomes background; 0 for never."""
    share: Any
    """f4: of the sum of coefficients, which the first has where it is dominant."""
    one_new: Any
    """f4: what a coefficient of 1 is under the scale after this step."""
    drift: Any
    """f4: least rate at which a support vector moves to a colour projected on it."""
    largest: Any
    """f4: the coefficient of a colour that is there in every frame, and most that an absorbed one begins with."""
    unfade: Any
    """f4: what undoes this step's fading, for pixels that may not change."""
    step: Any
    """i4: counts the frames."""
    dither: Any
    """(DITHERS, BLOCK) f4 in [0, 1): rounds moving support vectors without bias; zeros for floats."""


class _Scratch(NamedTuple):
    """Working memory for one block, (BLOCK,) each, and for one row."""

    chosen: Any
    """u1: the slot that learns the pixel's colour, or NONE"""
    fresh: Any
    """u1: 1 where it takes the colour instead of moving towards it"""
    weakest: Any
    """u1: the slot with the smallest coefficient"""
    lowest: Any
    """f4: its coefficient; later the dither"""
    mass: Any
    """f4: sum of the coefficients"""
    own: Any
    """f4: coefficient of the chosen slot, before and then after learning"""
    rates: Any
    """f4: rates at which support vectors move"""
    columns: Any
    """(W + 2 * NEAR,) u1, all 0: columns with foreground"""
    line: Any
    """(W + 2 * NEAR,) u1: a row of pixels near foreground"""
    zeros: Any
    """u1, all 0"""


@inlined
def _learn_settled(y, state, planes, unit, heavier, drift, noise, scratch):
    """Project every pixel of a settled block on its first slot."""
    own, rates = scratch.own, scratch.rates
    a0 = state.coefficients[0, y]
    first_kernel_values(planes, state.colours, state.width_factors[y], unit, y, own)
    for x in range(BLOCK):
        grown = a0[x] + heavier * own[x]
        a0[x] = grown
        rates[x] = min(max(heavier / grown, drift), np.float32(1.0))
    for c in range(planes.shape[0]):
        p, s = planes[c, y], state.colours[0, c, y]
        for x in range(BLOCK):
            old, value = np.float32(s[x]), np.float32(p[x])
            s[x] = old + rates[x] * (value - old) + noise[x]


@inlined
def _fetch(y, last, state, seen):
    """Prefetch what learning a block needs: the hardware cannot predict which one is next."""
    if y >= last:
        return
    slots, channels = state.coefficients.shape[0], seen.planes.shape[0]
    prefetch(state.coefficients[0, y])
    for c in range(channels):
        prefetch(state.colours[0, c, y])
        prefetch(seen.planes[c, y])
    if seen.settled[y] == SETTLED:
        return
    prefetch(seen.nearest[y])
    prefetch(seen.kernel_value[y])
    for j in range(1, slots):
        prefetch(state.coefficients[j, y])
        for c in range(channels):
            prefetch(state.colours[j, c, y])


@inlined
def _choose_slots(final_row, ages, where_row, nearest, rule, scratch):
    """Choose the slots that learn: of background, and of foreground old enough to be absorbed. Return how many."""
    everywhere, absorb = rule.everywhere, rule.absorb
    chosen, fresh, lowest, mass, own = scratch.chosen, scratch.fresh, scratch.lowest, scratch.mass, scratch.own
    zero, largest = np.float32(0.0), np.float32(3.0e38)
    learning = np.int32(0)
    for x in range(BLOCK):
        absorbed = (absorb > np.int32(0)) & (np.int32(ages[x]) >= absorb)
        learns = (everywhere | (where_row[x] != 0)) & ((final_row[x] == 0) | absorbed)
        index = nearest[x]
        chosen[x] = index if learns else NONE
        fresh[x] = np.uint8(1) if learns & (index == NONE) else np.uint8(0)
        mass[x] = zero
        own[x] = zero
        lowest[x] = largest
        learning = np.int32(learning + (np.int32(1) if learns else np.int32(0)))
    return learning


@inlined
def _undo_fading(y, coefficients, where_row, unfade):
    """Keep coefficients as they are under the common scale where pixels may not change."""
    for j in range(coefficients.shape[0]):
        a = coefficients[j, y]
        for x in range(BLOCK):
            weight = a[x]
            kept = weight * unfade
            a[x] = weight if where_row[x] != 0 else kept


@inlined
def _sum_slots(y, coefficients, scratch):
    """Find the sum of the coefficients, the smallest and that of the chosen slot."""
    chosen, weakest = scratch.chosen, scratch.weakest
    lowest, mass, own = scratch.lowest, scratch.mass, scratch.own
    for j in range(coefficients.shape[0]):
        slot = np.uint8(j)
        a = coefficients[j, y]
        for x in range(BLOCK):
            weight, least, weak, other = a[x], lowest[x], weakest[x], own[x]
            mass[x] += weight
            weakest[x] = slot if weight < least else weak
            lowest[x] = min(weight, least)
            own[x] = weight if chosen[x] == slot else other


@inlined
def _grow(first_coefficients, ages, kernel_value, rule, heavier, drift, scratch):
    """Compute the new coefficients of the chosen slots and their rates; return whether the first slots dominate."""
    zero, one = np.float32(0.0), np.float32(1.0)
    absorb, share, largest = rule.absorb, rule.share, rule.largest
    chosen, fresh, weakest = scratch.chosen, scratch.fresh, scratch.weakest
    lowest, mass, own, rates = scratch.lowest, scratch.mass, scratch.own, scratch.rates
    weak_first = np.int32(0)
    for x in range(BLOCK):
        absorbed = (absorb > np.int32(0)) & (np.int32(ages[x]) >= absorb)
        total = mass[x]
        index, weak, starts, least, before = chosen[x], weakest[x], fresh[x] != 0, lowest[x], own[x]
        first = first_coefficients[x]
        projected = before + heavier * (np.float32(kernel_value[x]) * BYTE)
        # Absorbed foreground gets half of the density. Without a limit, what blinks slowly would double it each time.
        half = min(total, largest)
        start = max(heavier, half if absorbed else zero)
        grown = start if starts else projected
        index = weak if starts else index
        total += grown - (least if starts else before)  # the sum after learning
        chosen[x] = index
        rate = min(max(heavier / max(grown, np.float32(1e-30)), drift), one)
        rates[x] = one if starts else rate
        own[x] = grown
        leading = grown if index == np.uint8(0) else first
        leads = (leading > zero) & (leading >= share * total)
        weak_first = np.int32(weak_first + (np.int32(0) if leads else np.int32(1)))
    return weak_first == 0


@inlined
def _store(y, state, planes, noise, scratch):
    """Store the new coefficients, and move support vectors to the colours or replace them."""
    chosen, fresh, lowest, own, rates = scratch.chosen, scratch.fresh, scratch.lowest, scratch.own, scratch.rates
    zero = np.float32(0.0)
    for x in range(BLOCK):  # from here on `lowest` holds the dither; a colour that is stored as it is needs none
        lowest[x] = zero if fresh[x] != 0 else noise[x]
    for j in range(state.coefficients.shape[0]):
        slot = np.uint8(j)
        a = state.coefficients[j, y]
        users = np.int32(0)
        for x in range(BLOCK):
            weight, grown = a[x], own[x]
            a[x] = grown if chosen[x] == slot else weight
            users = np.int32(users + (np.int32(1) if chosen[x] == slot else np.int32(0)))
        if users != 0:
            for c in range(planes.shape[0]):
                p, s = planes[c, y], state.colours[j, c, y]
                for x in range(BLOCK):
                    before, value = s[x], np.float32(p[x])
                    old = np.float32(before)
                    after = old + rates[x] * (value - old) + lowest[x]
                    s[x] = after if chosen[x] == slot else old


@part
def _learn(first, last, state, seen, final, where, rule, scratch):
    """Project the colours of background on support vectors, or start new ones."""
    planes, coefficients, dither, step = seen.planes, state.coefficients, rule.dither, np.int64(rule.step)
    unit, early = exponent_unit(rule.gain, planes.shape[0]), rule.step < _EARLY
    for y in range(first, last):
        settled = seen.settled[y] == SETTLED
        # One block in eight learns each frame, with eight times the weight: a colour that stays ends up with the same
        # coefficient, at an eighth of the memory traffic. Blocks that must adapt at once do not wait.
        every = np.int64(1) if early or seen.settled[y] == FORGOTTEN else np.int64(_SELDOM)
        waits = (np.int64(y) + step) % every != 0
        if waits and (rule.everywhere or settled):
            continue
        _fetch(y + every, last, state, seen)
        heavier, drift = np.float32(rule.one_new * np.float32(every)), np.float32(rule.drift * np.float32(every))
        # Integers would never move by less than half a level; truncation after dither moves them right on average.
        noise = dither[(np.int64(y) * np.int64(37) + step * np.int64(23)) % np.int64(DITHERS)]
        if settled:
            _learn_settled(y, state, planes, unit, heavier, drift, noise, scratch)
            continue
        ages = state.foreground_ages[y]
        learning = _choose_slots(final[y], ages, where[y], seen.nearest[y], rule, scratch)
        if not rule.everywhere:
            _undo_fading(y, coefficients, where[y], rule.unfade)
        if learning == 0 or waits:
            continue
        _sum_slots(y, coefficients, scratch)
        leads = _grow(coefficients[0, y], ages, seen.kernel_value[y], rule, heavier, drift, scratch)
        state.dominant[y] = np.uint8(1 if leads else 0)
        _store(y, state, planes, noise, scratch)


@part
def sort_slots(first, last, state, share, step, swapped, mass):
    """Bring the heaviest support vector to the first slot, in a share of the blocks.

    Parameters
    ----------
    state : State
    share, step
        As in `UpdateRule`.
    swapped : (BLOCK,) u1
        Scratch.
    mass : (BLOCK,) f4
        Scratch.
    """
    colours, coefficients = state.colours, state.coefficients
    slots, channels = colours.shape[0], colours.shape[1]
    for y in range(first + (step - first) % _SORT_PERIOD, last, _SORT_PERIOD):
        for i in range(1, slots):
            j = slots - i  # upwards, so that the heaviest reaches the first slot in one pass
            upper, lower = coefficients[j - 1, y], coefficients[j, y]
            swaps = np.int32(0)
            for x in range(BLOCK):
                above, below = upper[x], lower[x]
                rises = below > above
                swapped[x] = np.uint8(1) if rises else np.uint8(0)
                upper[x] = below if rises else above
                lower[x] = above if rises else below
                swaps = np.int32(swaps + (np.int32(1) if rises else np.int32(0)))
            if swaps != 0:
                for c in range(channels):
                    s, t = colours[j - 1, c, y], colours[j, c, y]
                    for x in range(BLOCK):
                        high, low = s[x], t[x]
                        s[x] = low if swapped[x] != 0 else high
                        t[x] = high if swapped[x] != 0 else low
        heaviest = coefficients[0, y]
        # Sorting may have made the first slot dominant, and only this pass would notice.
        for x in range(BLOCK):
            mass[x] = np.float32(0.0)
        for j in range(slots):
            a = coefficients[j, y]
            for x in range(BLOCK):
                mass[x] += a[x]
        weak = np.int32(0)
        for x in range(BLOCK):
            leads = (heaviest[x] > np.float32(0.0)) & (heaviest[x] >= share * mass[x])
            weak = np.int32(weak + (np.int32(0) if leads else np.int32(1)))
        state.dominant[y] = np.uint8(1 if weak == 0 else 0)


@part
def _update(first, last, state, seen, masks, where, rule, scratch):
    """Learn one frame in a band of blocks."""
    spread(first, last, masks, scratch.columns, scratch.line)
    rescore_settled(first, last, state, seen, masks.blocks, where, rule, scratch.own)
    feed_back(first, last, state, seen, masks.blocks, masks.near, where, rule, scratch.zeros)
    _learn(first, last, state, seen, masks.blocks, where, rule, scratch)
    sort_slots(first, last, state, rule.share, rule.step, scratch.chosen, scratch.mass)


@banded
def update(first, last, state, seen, masks, where, rule):
    """Learn one frame in a band of blocks, which do not depend on each other, in all steps.

    Parameters
    ----------
    first, last : int
        Blocks.
    state : State
        Written.
    seen : Observation
        What `score` saw; completed here.
    masks : Masks
    where : (N, BLOCK) u1
        Pixels that may change; not read if `rule.everywhere`.
    rule : UpdateRule
    """
    span = masks.image.shape[1] + 2 * NEAR
    columns = np.empty(span, np.uint8)
    columns[:] = np.uint8(0)
    zeros = np.empty(BLOCK, np.uint8)
    zeros[:] = np.uint8(0)
    scratch = _Scratch(
        np.empty(BLOCK, np.uint8),
        np.empty(BLOCK, np.uint8),
        np.empty(BLOCK, np.uint8),
        np.empty(BLOCK, np.float32),
        np.empty(BLOCK, np.float32),
        np.empty(BLOCK, np.float32),
        np.empty(BLOCK, np.float32),
        columns,
        np.empty(span, np.uint8),
        zeros,
    )
    _update(first, last, state, seen, masks, where, rule, scratch)
