"""The learned background under another light."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._numba import compiled_views, inlined
from bgsub.detectors.adaptive._jit.blocks import BLOCK, DITHERS

__all__ = ["MIDDLE", "Apart", "OtherLight", "Witness", "relight"]

_CLEARLY = np.float32(2.0)  # boxes from the frame in which a pixel that matched it must be: noise is often beyond one
MIDDLE = np.uint8(128)
"""Fraction of a colour that is what it says: the number of whole 256ths of a level, counted from half a level below."""


class OtherLight(NamedTuple):
    """A light that is so many times brighter."""

    gains: Any
    """(D,) f4"""
    dark: Any
    """f4: `DARK` in units of the frame"""
    top: Any
    """f4: largest value"""
    box: Any
    """f4: largest difference of a channel of a pixel that matches the background"""


class Witness(NamedTuple):
    """The frame from which gains were measured."""

    frame: Any
    """(pixels * D,) of the dtype of the colours"""
    excluded: Any
    """(pixels,) u1: not 0 for pixels that say nothing about the background"""


class Apart(NamedTuple):
    """How far the background of a block is from the frame, now and under gains; (BLOCK,) f4, 0 where nothing tells."""

    now: Any
    """Sum of the differences of all channels."""
    lit: Any
    most_now: Any
    """Largest difference of a channel."""
    most_lit: Any


@inlined
def _lit(value, gain, light):
    """Return a value of a channel under another light."""
    return min(max((value + light.dark) * gain - light.dark, np.float32(0.0)), light.top)


@inlined
def _compare(y, colours, light, witness, apart):
    """Compare a block of the background with the frame, now and under gains."""
    channels, size, zero = light.gains.shape[0], witness.excluded.shape[0], np.float32(0.0)
    begin, end = min(y * BLOCK, size), min((y + 1) * BLOCK, size)
    excluded, part, count = witness.excluded[begin:end], witness.frame[channels * begin : channels * end], end - begin
    now, lit, most_now, most_lit = apart.now, apart.lit, apart.most_now, apart.most_lit
    for x in range(count, BLOCK):
        now[x], lit[x], most_now[x], most_lit[x] = zero, zero, zero, zero
    s0, g0 = colours[0, 0, y], light.gains[0]
    if channels == 3:
        s1, s2, g1, g2 = colours[0, 1, y], colours[0, 2, y], light.gains[1], light.gains[2]
        for x in range(count):
            tells = np.float32(1.0 if excluded[x] == 0 else 0.0)
            f0, f1, f2 = np.float32(part[3 * x]), np.float32(part[3 * x + 1]), np.float32(part[3 * x + 2])
            b0, b1, b2 = np.float32(s0[x]), np.float32(s1[x]), np.float32(s2[x])
            d0, d1, d2 = abs(f0 - b0), abs(f1 - b1), abs(f2 - b2)
            e0, e1, e2 = abs(f0 - _lit(b0, g0, light)), abs(f1 - _lit(b1, g1, light)), abs(f2 - _lit(b2, g2, light))
            now[x], lit[x] = tells * (d0 + d1 + d2), tells * (e0 + e1 + e2)
            most_now[x], most_lit[x] = tells * max(max(d0, d1), d2), tells * max(max(e0, e1), e2)
    else:
        for x in range(count):
            tells, f0, b0 = np.float32(1.0 if excluded[x] == 0 else 0.0), np.float32(part[x]), np.float32(s0[x])
            d0, e0 = tells * abs(f0 - b0), tells * abs(f0 - _lit(b0, g0, light))
            now[x], lit[x], most_now[x], most_lit[x] = d0, e0, d0, e0


@inlined
def _is_nearer(apart):
    """Return whether the background in a block is nearer to the frame under gains, or nothing tells that it is not."""
    now, lit, half = apart.now, apart.lit, BLOCK // 2
    while half > 0:  # halves are added to each other, since sums of floats in their order are not vectorised
        for x in range(half):
            now[x] += now[half + x]
            lit[x] += lit[half + x]
        half //= 2
    return lit[0] <= now[0]


@inlined
def _choose_pixels(light, where, apart, chosen):
    """Write 1 for pixels that may change, but 0 for those that match the frame and under gains clearly miss it."""
    now, lit, far = apart.most_now, apart.most_lit, _CLEARLY * light.box
    for x in range(BLOCK):
        misses = (now[x] <= light.box) & (lit[x] > far)
        chosen[x] = np.uint8(1) if (where[x] != 0) & (not misses) else np.uint8(0)


@inlined
def _light_exactly(s, rests, gain, light, chosen):
    """Bring a channel of a block under another light, with the fractions of its levels, of which floats have none."""
    kind = s.dtype.type
    half = np.float32(1.5) - np.float32(kind(1.5))
    unit = half / np.float32(128.0)
    for x in range(BLOCK):
        before, rest = np.float32(s[x]), rests[x]
        exact = before - half + (np.float32(rest) + np.float32(0.5)) * unit  # the middle of what is known
        lit = _lit(exact, gain, light) + half
        whole = kind(lit)
        fraction = np.uint8((lit - np.float32(whole)) * np.float32(256.0))
        s[x] = whole if chosen[x] != 0 else kind(before)
        rests[x] = fraction if chosen[x] != 0 else rest


@compiled_views
def relight(
    first: Any,
    last: Any,
    colours: Any,
    fractions: Any,
    light: Any,
    witness: Any,
    dither: Any,
    where: Any,
    step: Any,
    apart: Any,
    chosen: Any,
) -> Any:
    """Multiply the support vectors by gains in blocks whose background is then nearer to the frame.

    The sky stays as it is when a cloud takes the sun from the ground. So does a pixel that matches the frame, and under
    the gains would be more than two boxes away from it: what saturates gets darker by less.

    What objects hide is corrected by nobody while the light goes on changing, in hundreds of steps. So what rounding
    takes from the first slot's colours is kept: it would add up to as much as there is to be seen in the dark. Learning
    leaves fractions alone, since what it moves is seen.

    Parameters
    ----------
    first, last : i8
        Blocks.
    colours : (B, D, N, BLOCK) u1, u2 or f4
        Written.
    fractions : (D, N, BLOCK) u1
        Of the first slot's colours, see `MIDDLE`; written.
    light : OtherLight
    witness : Witness
    dither : (DITHERS, BLOCK) f4 in [0, 1)
        Rounds the colours of the other slots without bias; zeros for floats.
    where : (N, BLOCK) u1
        Not 0 for pixels that may change.
    step : i8
        Counts the frames: under the same dither each time, what is lit often would move away.
    apart : Apart
        Scratch.
    chosen : (BLOCK,) u1
        Scratch.
    """
    slots, channels = colours.shape[0], colours.shape[1]
    for y in range(first, last):
        _compare(y, colours, light, witness, apart)
        if not _is_nearer(apart):
            continue
        _choose_pixels(light, where[y], apart, chosen)
        noise = dither[(y * 37 + step * 23) % DITHERS]
        for c in range(channels):
            gain = light.gains[c]
            _light_exactly(colours[0, c, y], fractions[c, y], gain, light, chosen)
            for j in range(1, slots):
                s = colours[j, c, y]
                for x in range(BLOCK):
                    old = np.float32(s[x])
                    lit = min(_lit(old, gain, light) + noise[x], light.top)
                    s[x] = lit if chosen[x] != 0 else old
