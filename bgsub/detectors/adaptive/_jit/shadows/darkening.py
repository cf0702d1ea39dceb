"""Pixels that look like the background darkened by one factor."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._jit.runs import has_any
from bgsub._numba import banded, inlined, part
from bgsub.detectors.adaptive._jit.shadows.kinds import FAINT, RIM, SPECK

__all__ = ["REACH", "SEGMENT", "Darkening", "Images", "find_darkened"]

REACH = 2
"""Pixels from the middle to a side of the square in which textures are compared."""
SEGMENT = 64
"""Pixels of a row that are skipped or visited together."""
_CHUNK = 16  # and those that are judged together: few pixels of a segment are candidates
_ROWS = 2 * REACH + 1
_MOMENTS = 7  # of weights, frame, background, their squares, their product, and of candidates
_MARGIN = 16  # zeros before and after a row of moments, at least REACH
_ROUNDING = 1e-5  # share of a sum of products beyond which a part of it is more than rounding


class Images(NamedTuple):
    """A frame beside the learned background, and the pixels in question."""

    mask: Any
    """(H, W) u1: 255 for foreground, else 0"""
    kinds: Any
    """(H, W) u1: of what kind that is, from `tell_kinds` and `show_faint`; `FAINT` for background"""
    frame: Any
    """(D, at least H * W) u1, u2 or f4"""
    background: Any
    """the same"""
    unit: Any
    """f4: makes grey levels"""
    black: Any = np.float32(0.0)
    """f4, grey levels: what is added to all of the frame and the background, by fog for example"""


class Darkening(NamedTuple):
    """What a shadow may be; f4."""

    darkest: Any
    """Least brightness, as a share of the background's,"""
    lightest: Any
    """and largest."""
    chance: Any
    """Least n r^2 for the correlation r > 0 of n pixels with the background; 0 where they need not vary with it."""
    chromaticity: Any
    """Largest change of a channel's part of the sum of all, times the number of channels."""
    texture: Any
    """Largest sum of squares of what the darkened background does not explain, as a share of the background's,"""
    penumbra: Any
    """and, beyond that, in squared grey levels per pixel."""
    flat: Any
    """Largest variance of what is flatter than a shadow, as a share of the darkened background's in the square,"""
    smooth: Any
    """and the least, in squared grey levels: less is left where a codec smooths noise, and texture with it."""
    least: Any
    """Least number of candidates in the square."""
    majority: Any
    """Share of the foreground in the square of a vote that has to be darkened background."""


class _Scratch(NamedTuple):
    """Working memory for a segment, (SEGMENT,) f4, and for a chunk of it."""

    seen: Any
    """Brightness of the frame: the mean of the channels."""
    learned: Any
    """That of the background."""
    change: Any
    """Largest change of a channel's part, times both."""
    darker: Any
    """(1,) u1: 1 if a pixel of the segment is only too dark for a candidate, else 0."""
    inner: Any
    """(_CHUNK,) u1: 255 for foreground that is no outline, else 0."""
    square: Any
    """(_MOMENTS, _CHUNK) f4: sums of moments over the square around each pixel"""
    dark: Any
    """(_CHUNK,) u1: 255 for darkened background, else 0."""


@inlined
def _change(f, b, seen, learned, unit, added):
    """Return the change of one channel's part of the brightness, times the brightness of frame and background."""
    one = np.float32(1.0)
    return abs(max(f * unit + added, one) * learned - max(b * unit + added, one) * seen)


@inlined
def _find_candidates(images, rule, row, start, count, scratch, candidates):
    """Compute the brightness of `count` pixels from `start` on, and write 1 for candidates, else 0; return any.

    A candidate is foreground, in `row`, of about the background's chromaticity under less light.
    """
    seen, learned, change = scratch.seen, scratch.learned, scratch.change
    channels, unit, one = images.frame.shape[0], images.unit, np.float32(1.0)  # added so that nothing is black
    share, added = unit / np.float32(channels), one - images.black
    f0, b0 = images.frame[0, start : start + count], images.background[0, start : start + count]
    if channels == 3:
        f1, b1 = images.frame[1, start : start + count], images.background[1, start : start + count]
        f2, b2 = images.frame[2, start : start + count], images.background[2, start : start + count]
        for x in range(count):
            f, g, h = np.float32(f0[x]), np.float32(f1[x]), np.float32(f2[x])
            b, c, d = np.float32(b0[x]), np.float32(b1[x]), np.float32(b2[x])
            now = max(added + f * share + g * share + h * share, one)
            before = max(added + b * share + c * share + d * share, one)
            most = max(_change(f, b, now, before, unit, added), _change(g, c, now, before, unit, added))
            seen[x], learned[x], change[x] = now, before, max(most, _change(h, d, now, before, unit, added))
    else:
        for x in range(count):
            f, b = np.float32(f0[x]), np.float32(b0[x])
            now, before = max(added + f * share, one), max(added + b * share, one)
            seen[x], learned[x], change[x] = now, before, _change(f, b, now, before, unit, added)
    found, darker = np.int32(0), np.int32(0)  # counted in 32 bits, as wide as the numbers
    for x in range(count):
        f, b = seen[x], learned[x]
        alike = (change[x] < rule.chromaticity * f * b) & (row[x] != 0) & (f < rule.lightest * b)
        candidate = (f > rule.darkest * b) & alike
        candidates[x] = np.float32(1.0 if candidate else 0.0)
        found = np.int32(found + np.int32(candidate))
        darker = np.int32(darker + np.int32(alike))
    scratch.darker[0] = np.uint8(1 if darker > found else 0)
    return found != 0


@inlined
def _is_side(kind):
    """Return 255 for foreground that makes what is beside it no outline, else 0; background is of the kind FAINT."""
    return np.uint8(255 if (kind > RIM) & (kind != SPECK) else 0)


@inlined
def _is_inner(before, here, after, above, below, foreground):
    """Return 255 for foreground with sides all around, or that is faint, else 0."""
    sides = _is_side(before) & _is_side(here) & _is_side(after) & _is_side(above) & _is_side(below)
    return sides | (foreground & np.uint8(255 if here == FAINT else 0))


@inlined
def _find_inner(images, y, begin, count, inner):
    """Write 255 for foreground that has foreground at all four sides, or is faint, else 0; beyond the frame is no side.

    The outline of a shadow is penumbra, or seen through a blur; each pixel of what is faint is as light as one. The
    faint rim of a shadow and the specks on it are more of its penumbra, and no sides.
    """
    kinds, mask, last = images.kinds[y], images.mask[y, begin:], images.mask.shape[0] - 1
    above, here, below = images.kinds[max(y - 1, 0), begin:], kinds[begin:], images.kinds[min(y + 1, last), begin:]
    width = kinds.shape[0]
    if begin > 0 and begin + count < width:
        before, after = kinds[begin - 1 :], kinds[begin + 1 :]
        for x in range(count):
            inner[x] = _is_inner(before[x], here[x], after[x], above[x], below[x], mask[x])
    else:
        for x in range(count):
            before_it, after_it = kinds[max(begin + x - 1, 0)], kinds[min(begin + x + 1, width - 1)]
            inner[x] = _is_inner(before_it, here[x], after_it, above[x], below[x], mask[x])


@inlined
def _add_moments(images, y, begin, count, seen, learned, inner, moments):
    """Write the moments of some pixels of a row if any of them is a candidate; return if it is.

    Only candidates that are no outline have weight.
    """
    candidates, weights = moments[6, _MARGIN + begin :], moments[0, _MARGIN + begin :]
    found = np.int32(0)
    for x in range(count):
        found = np.int32(found + np.int32(candidates[x] != np.float32(0.0)))
    if found == 0:  # the others are 0 already
        return False
    _find_inner(images, y, begin, count, inner)
    m1, m2 = moments[1, _MARGIN + begin :], moments[2, _MARGIN + begin :]
    m3, m4, m5 = moments[3, _MARGIN + begin :], moments[4, _MARGIN + begin :], moments[5, _MARGIN + begin :]
    for x in range(count):
        candidate, f, b = candidates[x], seen[x], learned[x]  # loaded whatever `inner` is, so that it is vectorised
        weights[x] = w = np.float32(0.0) if inner[x] == 0 else candidate
        m1[x] = w * f
        m2[x] = w * b
        m3[x] = w * f * f
        m4[x] = w * b * b
        m5[x] = w * f * b
    return True


@part
def _fill_moments(images, rule, y, begin, moments, dirty, scratch):
    """Write the moments of a segment of a row, and 1 for the chunks of it that have candidates; return if any has."""
    # Called with constants where a segment or chunk is whole: they are compiled to a few instructions.
    width = images.mask.shape[1]
    count, start, row = min(SEGMENT, width - begin), y * width + begin, images.mask[y, begin:]
    candidates, any_found = moments[6, _MARGIN + begin :], False
    if count == SEGMENT:
        found = _find_candidates(images, rule, row, start, SEGMENT, scratch, candidates)
    else:
        found = _find_candidates(images, rule, row, start, count, scratch, candidates)
    for first in range(0, count if found else 0, _CHUNK):
        at, seen, learned = begin + first, scratch.seen[first:], scratch.learned[first:]
        if count - first >= _CHUNK:
            has_some = _add_moments(images, y, at, _CHUNK, seen, learned, scratch.inner, moments)
        else:
            has_some = _add_moments(images, y, at, count - first, seen, learned, scratch.inner, moments)
        if has_some:
            dirty[at // _CHUNK] = np.uint8(1)
            any_found = True
    return any_found


@inlined
def _add_five(row, x):
    return row[x] + row[x + 1] + row[x + 2] + row[x + 3] + row[x + 4]


@inlined
def _sum_squares(moments, begin, square):
    """Sum the moments over the square around each pixel of a chunk.

    Not over the rows first: to read again, shifted, what has just been written makes a processor wait until it is in
    its cache, for longer than all the other additions take.
    """
    left = begin + _MARGIN - REACH
    for m in range(_MOMENTS):
        sums = square[m]
        a, b, c = moments[0, m, left:], moments[1, m, left:], moments[2, m, left:]
        d, e = moments[3, m, left:], moments[4, m, left:]
        for x in range(_CHUNK):
            sums[x] = _add_five(a, x) + _add_five(b, x) + _add_five(c, x) + _add_five(d, x) + _add_five(e, x)


@inlined
def _clear(moments, dirty):
    """Write 0 into the chunks of a row of moments that are not 0."""
    for chunk in range(dirty.shape[0]):
        if dirty[chunk] != 0:
            begin = chunk * _CHUNK + _MARGIN
            for m in range(_MOMENTS):
                row = moments[m, begin:]
                for x in range(_CHUNK):
                    row[x] = np.float32(0.0)
            dirty[chunk] = np.uint8(0)


@inlined
def _judge(moments, middle, begin, rule, square, found):
    """Write 255 for the candidates of a chunk of the middle row that are darkened background, else 0; return any.

    The variance of what one factor leaves unexplained: it takes a degree of freedom, so of one pixel nothing is known.
    A plain dark thing leaves little unexplained as well, where the ground has little texture. But a shadow shows what
    there is of that, if noise is seen as well, and the thing does not. Its own variance tells, and not what it has in
    common with the background: in a penumbra light varies as well, which can only add to it. What is darker than most
    shadows has to vary with the ground, and more than plain things do by chance.
    """
    _sum_squares(moments, begin, square)
    count, seen, learned = square[0], square[1], square[2]
    seen2, learned2, product = square[3], square[4], square[5]
    candidates, candidates_around = moments[middle, 6, begin + _MARGIN :], square[6]
    one, any_found = np.float32(1.0), np.uint8(0)
    for x in range(_CHUNK):
        n = max(count[x], one)
        f, b = seen[x], max(learned[x], np.float32(1e-6))
        light = f / b
        # The sum of squares of frame - light * background, which have the same mean.
        unexplained = seen2[x] - np.float32(2.0) * light * product[x] + light * light * learned2[x]
        most = rule.texture * learned2[x] + rule.penumbra * n
        explained = (n > one) & (unexplained * n < most * (n - one))
        # Sums around the mean: of squares of the background, of squares of the frame, and of their products.
        own, left, shared = learned2[x] - b * b / n, seen2[x] - f * f / n, product[x] - f * b / n
        explained &= (left > rule.flat * light * light * own) | (left < rule.smooth * n)
        varies = (shared > np.float32(_ROUNDING) * f * b / n) & (shared * shared * n > rule.chance * own * left)
        explained &= (rule.chance == np.float32(0.0)) | varies
        dark = (candidates[x] != np.float32(0.0)) & explained & (candidates_around[x] >= rule.least)
        found[x] = np.uint8(255 if dark else 0)
        any_found = np.uint8(any_found | found[x])
    return any_found


@banded
def find_darkened(
    first_row: Any,
    last_row: Any,
    images: Any,
    rule: Any,
    occupied_rows: Any,
    asked: Any,
    found: Any,
    any_found: Any,
    darker: Any,
) -> None:
    """Find the foreground whose colour and texture are those of the background, darkened by one factor.

    Least squares in a square around each pixel, over the candidates that are no outline. In the outline of a shadow
    light rises from the shadow's to that around, so it is judged by what is inside, as the edge of the square is.

    Parameters
    ----------
    first_row, last_row : i8
    images : Images
    rule : Darkening
    occupied_rows : (H,) u1
        0 for rows without foreground.
    asked : (H, ceil(W / SEGMENT)) u1
        0 for segments that have no candidates for certain.
    found : (H, W) u1
        Written in occupied rows: 255 for darkened background, else 0.
    any_found : (1,) u1
        Becomes 1 if there is any.
    darker : (H, ceil(W / SEGMENT)) u1
        Written in segments that are asked for and have foreground: 1 if some is only too dark for a candidate, else 0.
    """
    chunks = -(-images.mask.shape[1] // _CHUNK)
    moments = np.zeros((_ROWS, _MOMENTS, chunks * _CHUNK + 2 * _MARGIN), np.float32)
    seen, learned, change = np.empty(SEGMENT, np.float32), np.empty(SEGMENT, np.float32), np.empty(SEGMENT, np.float32)
    inner, dark = np.empty(_CHUNK, np.uint8), np.empty(_CHUNK, np.uint8)
    square, is_darker = np.empty((_MOMENTS, _CHUNK), np.float32), np.zeros(1, np.uint8)
    scratch = _Scratch(seen, learned, change, is_darker, inner, square, dark)
    dirty, filled = np.zeros((_ROWS, chunks), np.uint8), np.zeros(_ROWS, np.uint8)
    if _find(first_row, last_row, images, rule, occupied_rows, asked, moments, dirty, filled, scratch, found, darker):
        any_found[0] = np.uint8(1)  # all threads write the same


@part
def _find(first_row, last_row, images, rule, occupied_rows, asked, moments, dirty, filled, scratch, found, darker):
    """Do the work of `find_darkened`; return whether there is any.

    moments : (_ROWS, _MOMENTS, columns) f4, those of each row in turn
    dirty, filled : (_ROWS, chunks) and (_ROWS,) u1, whether a chunk and the row have candidates
    """
    (height, width), any_found = images.mask.shape, np.uint8(0)
    for row in range(max(first_row - REACH, 0), last_row + REACH):
        slot = row % _ROWS
        if filled[slot] != 0:
            _clear(moments[slot], dirty[slot])
            filled[slot] = np.uint8(0)
        if row < height and occupied_rows[row] != 0:
            for segment in range(asked.shape[1]):
                begin = segment * SEGMENT
                if asked[row, segment] == 0 or not has_any(images.mask[row, begin : min(begin + SEGMENT, width)]):
                    continue
                if _fill_moments(images, rule, row, begin, moments[slot], dirty[slot], scratch):
                    filled[slot] = np.uint8(1)
                if first_row <= row < last_row:
                    darker[row, segment] = scratch.darker[0]
        y = row - REACH
        if y < first_row or occupied_rows[y] == 0:
            continue
        found[y] = np.uint8(0)
        middle = y % _ROWS
        for chunk in range(dirty.shape[1] if filled[middle] != 0 else 0):
            if dirty[middle, chunk] != 0:
                begin, square = chunk * _CHUNK, scratch.square
                if begin + _CHUNK <= width:
                    any_found |= _judge(moments, middle, begin, rule, square, found[y, begin:])
                else:
                    any_found |= _judge(moments, middle, begin, rule, square, scratch.dark)
                    for x in range(begin, width):
                        found[y, x] = scratch.dark[x - begin]
    return any_found != 0
