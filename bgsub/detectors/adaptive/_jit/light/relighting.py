"""The learned background under another light."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._numba import compiled_views, inlined
from bgsub.detectors.adaptive._jit.blocks import BLOCK, DITHERS

__all__ = ["MIDDLE", "OtherLight", "Witness", "relight"]

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


@inlined
def _lit(value, c, light):
    """Return a value of a channel under another light."""
    return min(max((value + light.dark) * light.gains[c] - light.dark, np.float32(0.0)), light.top)


@inlined
def _is_nearer(y, colours, light, witness):
    """Return whether the background in a block is nearer to the frame under gains, or nothing tells that it is not."""
    channels, now, lit = light.gains.shape[0], np.float32(0.0), np.float32(0.0)
    for pixel in range(y * BLOCK, min((y + 1) * BLOCK, witness.excluded.shape[0])):
        if witness.excluded[pixel] != 0:
            continue
        for c in range(channels):
            seen = np.float32(witness.frame[pixel * channels + c])
            old = np.float32(colours[0, c, y, pixel - y * BLOCK])
            now += abs(seen - old)
            lit += abs(seen - _lit(old, c, light))
    return lit <= now


@inlined
def _choose_pixels(y, colours, light, witness, where, chosen):
    """Write 1 for pixels that may change, but 0 for those that match the frame and under gains clearly miss it."""
    channels = light.gains.shape[0]
    for x in range(BLOCK):
        pixel = y * BLOCK + x
        chosen[x] = np.uint8(where[x] != 0)
        if pixel >= witness.excluded.shape[0] or witness.excluded[pixel] != 0:
            continue
        now, lit = np.float32(0.0), np.float32(0.0)
        for c in range(channels):
            seen, old = np.float32(witness.frame[pixel * channels + c]), np.float32(colours[0, c, y, x])
            now = max(now, abs(seen - old))
            lit = max(lit, abs(seen - _lit(old, c, light)))
        if now <= light.box and lit > _CLEARLY * light.box:
            chosen[x] = np.uint8(0)


@inlined
def _light_exactly(s, rests, c, light, chosen):
    """Bring a channel of a block under another light, with the fractions of its levels, of which floats have none."""
    kind = s.dtype.type
    half = np.float32(1.5) - np.float32(kind(1.5))
    unit = half / np.float32(128.0)
    for x in range(BLOCK):
        before, rest = np.float32(s[x]), rests[x]
        exact = before - half + (np.float32(rest) + np.float32(0.5)) * unit  # the middle of what is known
        lit = _lit(exact, c, light) + half
        whole = kind(lit)
        s[x] = whole if chosen[x] != 0 else kind(before)
        rests[x] = np.uint8((lit - np.float32(whole)) * np.float32(256.0)) if chosen[x] != 0 else rest


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
    chosen : (BLOCK,) u1
        Scratch.
    """
    slots, channels = colours.shape[0], colours.shape[1]
    for y in range(first, last):
        if not _is_nearer(y, colours, light, witness):
            continue
        _choose_pixels(y, colours, light, witness, where[y], chosen)
        noise = dither[(y * 37 + step * 23) % DITHERS]
        for c in range(channels):
            _light_exactly(colours[0, c, y], fractions[c, y], c, light, chosen)
            for j in range(1, slots):
                s = colours[j, c, y]
                for x in range(BLOCK):
                    old = np.float32(s[x])
                    lit = min(_lit(old, c, light) + noise[x], light.top)
                    s[x] = lit if chosen[x] != 0 else old
