"""Pixels that look like the background darkened by one factor."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._jit.majority import CELL, IN_LARGE
from bgsub._jit.runs import has_any
from bgsub._numba import banded, compiled_views, inlined, part
from bgsub.detectors.adaptive._jit.shadows.kinds import FAINT, RIM, SPECK

__all__ = ["REACH", "SEGMENT", "Darkening", "Images", "count_brighter", "find_darkened"]

REACH = 2
"""Pixels from the middle to a side of the square in which textures are compared."""
SEGMENT = 64
"""Pixels of a row that are skipped or visited together."""
_ROWS = 2 * REACH + 1
_MOMENTS = 7  # of weights, frame, background, their squares, their product, and of candidates
_MARGIN = 16  # zeros before and after a row of moments, at least _SPAN - SEGMENT
_SPAN = SEGMENT + 16  # columns of moments that are summed for a segment: whole vectors, at least SEGMENT + 2 * REACH


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
    """Working memory for a segment, (SEGMENT,) f4, and for sums of moments."""

    seen: Any
    """Brightness of the frame: the mean of the channels."""
    learned: Any
    """That of the background."""
    change: Any
    """Largest change of a channel's part, times both."""
    inner: Any
    """u1: 255 for foreground that is no outline, else 0."""
    sums: Any
    """(_MOMENTS, _SPAN): moments summed over the rows in reach"""
    square: Any
    """(_MOMENTS, SEGMENT): and over the columns"""


@inlined
def _add_channels(images, start, count, scratch):
    """Compute brightness and change of chromaticity of `count` pixels from `start` on."""
    seen, learned, change = scratch.seen, scratch.learned, scratch.change
    channels, one = images.frame.shape[0], np.float32(1.0)  # added so that nothing is black
    share, added = images.unit / np.float32(channels), one - images.black
    for x in range(count):
        seen[x] = added
        learned[x] = added
        change[x] = np.float32(0.0)
    for c in range(channels):
        f, b = images.frame[c, start : start + count], images.background[c, start : start + count]
        for x in range(count):
            seen[x] += np.float32(f[x]) * share
            learned[x] += np.float32(b[x]) * share
    for x in range(count):
        seen[x] = max(seen[x], one)
        learned[x] = max(learned[x], one)
    for c in range(channels):
        f, b = images.frame[c, start : start + count], images.background[c, start : start + count]
        for x in range(count):
            now = max(np.float32(f[x]) * images.unit + added, one)
            before = max(np.float32(b[x]) * images.unit + added, one)
            change[x] = max(change[x], abs(now * learned[x] - before * seen[x]))


@inlined
def _is_side(kind):
    """Return 255 for foreground that makes what is beside it no outline, else 0; background is of the kind FAINT."""
    return np.uint8(255 if (kind > RIM) & (kind != SPECK) else 0)


@inlined
def _find_inner(images, y, begin, end, inner):
    """Write 255 for foreground that has foreground at all four sides, or is faint, else 0; beyond the frame is no side.

    The outline of a shadow is penumbra, or seen through a blur; each pixel of what is faint is as light as one. The
    faint rim of a shadow and the specks on it are more of its penumbra, and no sides.
    """
    last = images.mask.shape[0] - 1
    above, here, below = images.kinds[max(y - 1, 0)], images.kinds[y], images.kinds[min(y + 1, last)]
    width, mask = here.shape[0], images.mask[y]
    for x in range(begin, end):
        inner[x - begin] = _is_side(above[x]) & _is_side(here[x]) & _is_side(below[x])
    for x in range(max(begin, 1), end):
        inner[x - begin] &= _is_side(here[x - 1])
    for x in range(begin, min(end, width - 1)):
        inner[x - begin] &= _is_side(here[x + 1])
    for x in range(begin, end):
        inner[x - begin] |= mask[x] & np.uint8(255 if here[x] == FAINT else 0)


@part
def _fill_moments(images, rule, y, begin, end, moments, scratch):
    """Write the moments of a part of a row, 0 for all but candidates; return how many candidates there are.

    A candidate is foreground of about the background's chromaticity under less light. Only those that are no outline
    have weight.
    """
    seen, learned, change, inner = scratch.seen, scratch.learned, scratch.change, scratch.inner
    count = end - begin
    _add_channels(images, y * images.mask.shape[1] + begin, count, scratch)
    row = images.mask[y, begin:end]
    found = np.int32(0)
    candidates = moments[6, _MARGIN + begin :]
    for x in range(count):
        f, b = seen[x], learned[x]
        alike = change[x] < rule.chromaticity * f * b
        candidate = (row[x] != 0) & (f > rule.darkest * b) & (f < rule.lightest * b) & alike
        candidates[x] = np.float32(1.0 if candidate else 0.0)
        found = np.int32(found + np.int32(candidate))
    if found == 0:  # the others are 0 already
        return found
    _find_inner(images, y, begin, end, inner)
    weights = moments[0, _MARGIN + begin :]
    for x in range(count):
        weights[x] = np.float32(0.0) if inner[x] == 0 else candidates[x]
    m1, m2 = moments[1, _MARGIN + begin :], moments[2, _MARGIN + begin :]
    m3, m4, m5 = moments[3, _MARGIN + begin :], moments[4, _MARGIN + begin :], moments[5, _MARGIN + begin :]
    for x in range(count):
        w, f, b = weights[x], seen[x], learned[x]
        m1[x] = w * f
        m2[x] = w * b
        m3[x] = w * f * f
        m4[x] = w * b * b
        m5[x] = w * f * b
    return found


@inlined
def _sum_squares(moments, begin, scratch):
    """Sum the moments over the square around each pixel of a segment."""
    left = begin + _MARGIN - REACH
    for m in range(_MOMENTS):
        line, square = scratch.sums[m], scratch.square[m]
        a, b, c = moments[0, m, left:], moments[1, m, left:], moments[2, m, left:]
        d, e = moments[3, m, left:], moments[4, m, left:]
        for x in range(_SPAN):
            line[x] = a[x] + b[x] + c[x] + d[x] + e[x]
        l1, l2, l3, l4 = line[1:], line[2:], line[3:], line[4:]
        for x in range(SEGMENT):
            square[x] = line[x] + l1[x] + l2[x] + l3[x] + l4[x]


@inlined
def _clear(moments, dirty):
    """Write 0 into the segments of a row of moments that are not 0."""
    whole = dirty.shape[0] - 1
    dirty[whole] = 0
    for segment in range(whole):
        if dirty[segment] != 0:
            begin = segment * SEGMENT + _MARGIN
            for m in range(_MOMENTS):
                moments[m, begin : begin + SEGMENT] = np.float32(0.0)
            dirty[segment] = 0


@part
def _judge(moments, middle, begin, end, rule, scratch, found):
    """Write 255 for the candidates of a part of the middle row that are darkened background, else 0; return any.

    The variance of what one factor leaves unexplained: it takes a degree of freedom, so of one pixel nothing is known.
    A plain dark thing leaves little unexplained as well, where the ground has little texture. But a shadow shows what
    there is of that, if noise is seen as well, and the thing does not. Its own variance tells, and not what it has in
    common with the background: in a penumbra light varies as well, which can only add to it.
    """
    _sum_squares(moments, begin, scratch)
    square = scratch.square
    count, seen, learned = square[0], square[1], square[2]
    seen2, learned2, product = square[3], square[4], square[5]
    candidates, candidates_around = moments[middle, 6, begin + _MARGIN :], square[6]
    one, any_found = np.float32(1.0), np.uint8(0)
    for x in range(end - begin):
        n = max(count[x], one)
        f, b = seen[x], max(learned[x], np.float32(1e-6))
        light = f / b
        # The sum of squares of frame - light * background, which have the same mean.
        unexplained = seen2[x] - np.float32(2.0) * light * product[x] + light * light * learned2[x]
        most = rule.texture * learned2[x] + rule.penumbra * n
        explained = (n > one) & (unexplained * n < most * (n - one))
        # Sums of squares around the mean: of the darkened background, and of the frame.
        texture, left = light * light * (learned2[x] - b * b / n), seen2[x] - f * f / n
        explained &= (left > rule.flat * texture) | (left < rule.smooth * n)
        dark = (candidates[x] != np.float32(0.0)) & explained & (candidates_around[x] >= rule.least)
        found[begin + x] = np.uint8(255 if dark else 0)
        any_found |= found[begin + x]
    return any_found


@banded
def find_darkened(
    first_row: Any, last_row: Any, images: Any, rule: Any, occupied_rows: Any, found: Any, any_found: Any
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
    found : (H, W) u1
        Written in occupied rows: 255 for darkened background, else 0.
    any_found : (1,) u1
        Becomes 1 if there is any.
    """
    segments = -(-images.mask.shape[1] // SEGMENT)
    moments = np.zeros((_ROWS, _MOMENTS, segments * SEGMENT + 2 * _MARGIN), np.float32)
    scratch = _Scratch(
        np.empty(SEGMENT, np.float32),
        np.empty(SEGMENT, np.float32),
        np.empty(SEGMENT, np.float32),
        np.empty(SEGMENT, np.uint8),
        np.empty((_MOMENTS, _SPAN), np.float32),
        np.empty((_MOMENTS, SEGMENT), np.float32),
    )
    dirty = np.zeros((_ROWS, segments + 1), np.int32)
    if _find(first_row, last_row, images, rule, occupied_rows, moments, dirty, scratch, found):
        any_found[0] = np.uint8(1)  # all threads write the same


@part
def _find(first_row, last_row, images, rule, occupied_rows, moments, dirty, scratch, found):
    """Do the work of `find_darkened`; return whether there is any.

    moments : (_ROWS, _MOMENTS, columns) f4, those of each row in turn
    dirty : (_ROWS, segments + 1) i4, candidates in each segment and in the row
    """
    (height, width), whole, any_found = images.mask.shape, dirty.shape[1] - 1, np.uint8(0)
    for row in range(max(first_row - REACH, 0), last_row + REACH):
        slot = row % _ROWS
        if dirty[slot, whole] != 0:
            _clear(moments[slot], dirty[slot])
        if row < height and occupied_rows[row] != 0:
            for segment in range(whole):
                begin, end = segment * SEGMENT, min((segment + 1) * SEGMENT, width)
                if has_any(images.mask[row, begin:end]):
                    dirty[slot, segment] = _fill_moments(images, rule, row, begin, end, moments[slot], scratch)
                    dirty[slot, whole] += dirty[slot, segment]
        y = row - REACH
        if y < first_row or occupied_rows[y] == 0:
            continue
        found[y] = np.uint8(0)
        middle = y % _ROWS
        for segment in range(whole if dirty[middle, whole] != 0 else 0):
            if dirty[middle, segment] != 0:
                begin, end = segment * SEGMENT, min((segment + 1) * SEGMENT, width)
                any_found |= _judge(moments, middle, begin, end, rule, scratch, found[y])
    return any_found != 0


@inlined
def _is_brighter_and_alike(images, rule, pixel):
    """Return whether a pixel is brighter than the background, and whether it is that and has its chromaticity."""
    channels, one = images.frame.shape[0], np.float32(1.0)
    share, added = images.unit / np.float32(channels), one - images.black
    seen, learned = added, added
    for c in range(channels):
        seen += np.float32(images.frame[c, pixel]) * share
        learned += np.float32(images.background[c, pixel]) * share
    seen, learned = max(seen, one), max(learned, one)
    if learned >= rule.lightest * seen:
        return False, False
    change = np.float32(0.0)
    for c in range(channels):
        now = max(np.float32(images.frame[c, pixel]) * images.unit + added, one)
        before = max(np.float32(images.background[c, pixel]) * images.unit + added, one)
        change = max(change, abs(now * learned - before * seen))
    return True, change < rule.chromaticity * seen * learned


@compiled_views
def count_brighter(images: Any, cells: Any, rule: Any, step: Any) -> Any:
    """Return how much foreground is brighter than the background, and how much of that would be shadow if darker.

    That is what has the background's chromaticity, as has enough of the square around it: `find_darkened` asks for the
    same. Single pixels of its chromaticity are frequent in any object of several colours.

    Parameters
    ----------
    images : Images
    cells : (ceil(H / CELL), ceil(W / CELL)) u1
        Bits of the votes, from `vote_thrice`: pixels count where a large square has a majority in their cell.
    rule : Darkening
    step : i8
        Every so many rows and columns make the grid on which shadows are looked for; a quarter of it is counted.
    """
    height, width = images.mask.shape
    brighter, alike = 0, 0
    for y in range(0, height, 2 * step):
        for begin in range(0, width, SEGMENT):
            end = min(begin + SEGMENT, width)
            if not has_any(images.mask[y, begin:end]):
                continue
            for x in range(begin, end, 2 * step):
                if images.mask[y, x] == 0 or cells[y // CELL, x // CELL] & IN_LARGE == 0:
                    continue
                is_brighter, is_alike = _is_brighter_and_alike(images, rule, y * width + x)
                brighter += 1 if is_brighter else 0
                if not is_alike:
                    continue
                found = np.float32(0.0)
                for row in range(max(0, y - REACH * step), min(height, y + REACH * step + 1), step):
                    for column in range(max(0, x - REACH * step), min(width, x + REACH * step + 1), step):
                        if images.mask[row, column] != 0:
                            also = _is_brighter_and_alike(images, rule, row * width + column)[1]
                            found += np.float32(1.0 if also else 0.0)
                alike += 1 if found >= rule.least else 0
    return brighter, alike
