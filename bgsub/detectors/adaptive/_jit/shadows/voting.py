"""What of darkened foreground is voted shadow, and where that is written."""

from typing import Any

import numpy as np

from bgsub._jit.majority import add_up
from bgsub._jit.runs import END, LABEL, ROW, START, fill_gaps, find_runs, has_any
from bgsub._numba import banded, compiled, compiled_views, in_bands, inlined, part
from bgsub.detectors.adaptive._jit.shadows.alone import clear_objects
from bgsub.detectors.adaptive._jit.shadows.darkening import SEGMENT, find_darkened
from bgsub.detectors.adaptive._jit.shadows.kinds import DETAIL, SOLID

__all__ = ["OPENED", "add_between", "find_shadows", "take_voters", "vote", "write_enlarged", "write_voted"]

_PIECES = 2  # for each thread: foreground is seldom the same in both halves of a frame
OPENED = np.uint8(1)
"""Marks a filled hole that shadows alone close, and what is faint in a frame with shadows."""
_FULL = np.uint8(255)


@compiled
def find_shadows(
    team: Any,
    images: Any,
    occupied_rows: Any,
    rule: Any,
    dark_rule: Any,
    side: Any,
    between: Any,
    leaves_objects: Any,
    lone: Any,
    shadows: Any,
) -> Any:
    """Find foreground that is mostly shadow in the square around, and holes that shadows alone close.

    In a frame that has shadows the light changes, and what is faint is most often the rim of a cloud, so it is opened.

    Parameters
    ----------
    team : Team
    images : Images
    occupied_rows : (H,) u1
        0 for rows of the mask that are empty for certain.
    rule : Darkening
    dark_rule : Darkening
        For what is too dark for the other, and nothing if it leaves nothing. Each looks at pixels of its own: with a
        deep shadow and its rim in one square, neither would have one factor.
    side : i8
        Of the square, odd, at most 15, whose pixels a byte can count.
    between : f8
        Share of a shadow that may lie between parts of the object.
    leaves_objects : b1
        Whether a region that is shadow as a whole may be an object, by the rule of `lone`.
    lone : Lone
    shadows : (H, W) u1
        Written in occupied rows: 255 for shadows, `OPENED` for holes to be opened, else 0. What is written means
        nothing if there are none of either.

    Returns
    -------
    bool
        Whether there are any.
    """
    height, width = images.mask.shape
    darkened, any_found = np.empty((height, width), np.uint8), np.zeros(1, np.uint8)
    everywhere = np.ones((height, -(-width // SEGMENT)), np.uint8)
    darker, unused = np.zeros_like(everywhere), np.empty_like(everywhere)  # nothing is too dark for the second rule
    given = (images, rule, occupied_rows, everywhere, darkened, any_found, darker)
    in_bands(team, find_darkened, 0, height, _PIECES, given)
    if dark_rule.darkest < dark_rule.lightest and has_any(darker.reshape(-1)):
        dark = np.empty_like(darkened)
        given = (images, dark_rule, occupied_rows, darker, dark, any_found, unused)
        in_bands(team, find_darkened, 0, height, _PIECES, given)
        _add(dark, occupied_rows, darkened)
    if any_found[0] == 0:
        return False
    voters, voted, solid = np.empty_like(darkened), np.empty_like(darkened), np.empty_like(darkened)
    in_bands(team, take_voters, 0, height, _PIECES, (images.mask, images.kinds, darkened, occupied_rows, voters))
    votes = (images.mask, darkened, voters, occupied_rows, side, rule.majority, voted, solid)
    in_bands(team, vote, 0, height, _PIECES, votes)
    runs = np.empty((height * ((width + 1) // 2) + 2, 4), np.int32)
    fill_gaps(solid, occupied_rows, runs)
    add_between(images.mask, voted, darkened, occupied_rows, between, solid, shadows, runs)
    if not write_voted(images.mask, images.kinds, voters, voted, solid, occupied_rows, shadows):
        return False
    if leaves_objects:
        clear_objects(images, occupied_rows, lone, shadows)
    return True


@part
def _add(found, occupied_rows, all_found):
    """Add what is 255 to an image; both are written in occupied rows only."""
    for y in range(found.shape[0]):
        if occupied_rows[y] != 0:
            row, all_row = found[y], all_found[y]
            for x in range(row.shape[0]):
                all_row[x] |= row[x]


@inlined
def _add_row(row, counts):
    """Add a row of 0 and 255 to the counts of its columns."""
    for x in range(row.shape[0]):
        counts[x] = np.uint8(counts[x] + (row[x] & np.uint8(1)))


@inlined
def _remove_row(row, counts):
    """Remove a row of 0 and 255 from the counts of its columns."""
    for x in range(row.shape[0]):
        counts[x] = np.uint8(counts[x] - (row[x] & np.uint8(1)))


@inlined
def _round(count, scale):
    """Return the mean of a square in which so many pixels are 255, rounded, as `cv2.blur` makes it."""
    return np.uint8(np.int32(np.float32(count) * scale + np.float32(0.5)))


@part
def _vote_row(mask, voters, side, majority, counts, squares, voted, solid):
    """Vote for the pixels of a row.

    counts : (2, whole segments of W + side) u1, darkened pixels and voters in the columns in reach
    squares : (3, SEGMENT) u1, scratch
    """
    width, scale = mask.shape[0], np.float32(255.0) / np.float32(side * side)
    shares, wholes, most = squares[0], squares[1], squares[2]
    for begin in range(0, width, SEGMENT):
        end = min(begin + SEGMENT, width)
        m, v, yes, no = mask[begin:end], voters[begin:end], voted[begin:end], solid[begin:end]
        if not has_any(m):
            yes[:] = np.uint8(0)
            no[:] = np.uint8(0)
            continue
        add_up(counts[0, begin:], side, shares, SEGMENT)
        add_up(counts[1, begin:], side, wholes, SEGMENT)
        for x in range(SEGMENT):
            share, whole = np.float32(_round(shares[x], scale)), np.float32(_round(wholes[x], scale))
            most[x] = _FULL if share > majority * whole else np.uint8(0)
        for x in range(end - begin):
            yes[x] = m[x] & most[x]
            no[x] = v[x] & ~most[x]


@banded
def take_voters(
    first_row: Any, last_row: Any, mask: Any, kinds: Any, darkened: Any, occupied_rows: Any, voters: Any
) -> None:
    """Write 255 for the foreground that votes on what is shadow: what is solid, and what is darkened.

    Parameters
    ----------
    first_row, last_row : i8
    mask : (H, W) u1
        Foreground: 255, else 0.
    kinds : (H, W) u1
        From `tell_kinds`.
    darkened : (H, W) u1
        255 for votes for shadow, else 0.
    occupied_rows : (H,) u1
        0 for rows of the mask that are empty; only the others are read and written.
    voters : (H, W) u1
        Written.
    """
    for y in range(first_row, last_row):
        if occupied_rows[y] == 0:
            continue
        m, k, d, out = mask[y], kinds[y], darkened[y], voters[y]
        for x in range(out.shape[0]):
            out[x] = m[x] & (np.uint8(_FULL if k[x] == SOLID else 0) | d[x])


@banded
def vote(
    first_row: Any,
    last_row: Any,
    mask: Any,
    darkened: Any,
    voters: Any,
    occupied_rows: Any,
    side: Any,
    majority: Any,
    voted: Any,
    solid: Any,
) -> None:
    """Find the foreground around which a majority of votes is for shadow, and the voters elsewhere.

    Parameters
    ----------
    first_row, last_row : i8
    mask : (H, W) u1
        Foreground: 255, else 0.
    darkened : (H, W) u1
        255 for votes for shadow, else 0.
    voters : (H, W) u1
        From `take_voters`.
    occupied_rows : (H,) u1
        0 for rows of the mask that are empty; only the others are read and written.
    side : i8
        Of the square in which votes are counted, odd, at most 15: a byte counts them.
    majority : f4
        Share of the votes in it that has to be exceeded.
    voted, solid : (H, W) u1
        Written: 255 there, else 0.
    """
    # Nothing is foreground beyond the border: to repeat the mask there would let it vote twice.
    counts = np.zeros((2, -(-mask.shape[1] // SEGMENT) * SEGMENT + side), np.uint8)
    squares = np.empty((3, SEGMENT), np.uint8)
    _vote_rows(
        first_row, last_row, mask, darkened, voters, occupied_rows, side, majority, counts, squares, voted, solid
    )


@part
def _vote_rows(
    first_row, last_row, mask, darkened, voters, occupied_rows, side, majority, counts, squares, voted, solid
):
    (height, width), reach = mask.shape, side // 2
    shares, wholes = counts[0, reach : reach + width], counts[1, reach : reach + width]
    first = max(first_row - reach, 0)
    for row in range(first, last_row + reach):
        if row < height and occupied_rows[row] != 0:
            _add_row(darkened[row], shares)
            _add_row(voters[row], wholes)
        y, above = row - reach, row - side
        if above >= first and occupied_rows[above] != 0:
            _remove_row(darkened[above], shares)
            _remove_row(voters[above], wholes)
        if y >= first_row and occupied_rows[y] != 0:
            _vote_row(mask[y], voters[y], side, majority, counts, squares, voted[y], solid[y])


@part
def _find_between(mask, solid, occupied_rows, below, between):
    """Find what lies between two pixels of a part of the foreground in a column, with foreground all the way.

    Returns whether there is any. `below`, (W,) u1, is scratch.
    """
    height, width = mask.shape
    below[:] = np.uint8(0)
    for y in range(height):  # first what has the part above
        if occupied_rows[y] == 0:
            below[:] = np.uint8(0)
            continue
        m, s, b = mask[y], solid[y], between[y]
        for x in range(width):
            below[x] = m[x] & (s[x] | below[x])
            b[x] = below[x] & ~s[x]
    below[:] = np.uint8(0)
    found = np.uint8(0)
    for y in range(height - 1, -1, -1):
        if occupied_rows[y] == 0:
            below[:] = np.uint8(0)
            continue
        m, s, b = mask[y], solid[y], between[y]
        for x in range(width):
            below[x] = m[x] & (s[x] | below[x])
            b[x] &= below[x]
            found = np.uint8(found | b[x])
    return found != 0


@part
def _add_regions(runs, chosen, share, counts, solid):
    """Add to a mask regions of which chosen pixels are more than a share.

    counts : (regions, 2) i8, scratch
    """
    counts[:] = 0
    for i in range(runs.shape[0]):
        row, label = chosen[runs[i, ROW]], runs[i, LABEL]
        counts[label, 0] += np.int64(runs[i, END]) - runs[i, START]
        for x in range(runs[i, START], runs[i, END]):
            counts[label, 1] += 1 if row[x] != 0 else 0
    for i in range(runs.shape[0]):
        label = runs[i, LABEL]
        if counts[label, 1] > share * counts[label, 0]:
            solid[runs[i, ROW], runs[i, START] : runs[i, END]] = _FULL


@compiled
def add_between(
    mask: Any,
    voted: Any,
    darkened: Any,
    occupied_rows: Any,
    share: Any,
    solid: Any,
    scratch: Any,
    runs: Any,
) -> Any:
    """Add to the solid part of a mask what has it above and below, and shadows of which that is a good part.

    Parameters
    ----------
    mask : (H, W) u1
        Foreground: 255, else 0.
    voted, darkened : (H, W) u1
        255 in shadows, which both are.
    occupied_rows : (H,) u1
        0 for rows of the mask that are empty; only the others are read and written.
    share : f8
        Of a shadow, from which on it is added.
    solid : (H, W) u1
        255 in the part of the mask, else 0; written.
    scratch : (H, W) u1
        Written: working memory.
    runs : (n, 4) i4
        As for `find_runs`; working memory.
    """
    height, width = mask.shape
    between = np.empty_like(scratch)
    if not _find_between(mask, solid, occupied_rows, np.empty(width, np.uint8), between):
        return
    for y in range(height):
        if occupied_rows[y] == 0:
            continue
        v, d, s, b, rest = voted[y], darkened[y], solid[y], between[y], scratch[y]
        for x in range(width):
            rest[x] = v[x] & d[x] & ~s[x]
            s[x] |= b[x]
    count, regions = find_runs(scratch, occupied_rows, 0, runs)
    _add_regions(runs[:count], between, share, np.empty((regions, 2), np.int64), solid)


@compiled_views
def write_voted(mask: Any, kinds: Any, voters: Any, voted: Any, solid: Any, occupied_rows: Any, found: Any) -> Any:
    """Write what was voted shadow and is not solid, and holes or faint things that are not; return if there is any.

    Parameters
    ----------
    mask, kinds, voters, voted, solid : (H, W) u1
        As for `vote`, with all that is to be left to objects in `solid`.
    occupied_rows : (H,) u1
        0 for rows of the mask that are empty; only the others are read and written.
    found : (H, W) u1
        Written: 255 for shadow, `OPENED` for what is opened, whatever was voted there, else 0.
    """
    height, width = mask.shape
    any_found = np.uint8(0)
    for y in range(height):
        if occupied_rows[y] == 0:
            continue
        m, k, v, yes, no, out = mask[y], kinds[y], voters[y], voted[y], solid[y], found[y]
        for x in range(width):
            hole = m[x] & ~v[x] & (_FULL if k[x] < DETAIL else np.uint8(0))
            out[x] = ~no[x] & ((yes[x] & ~hole) | (hole & OPENED))
            any_found = np.uint8(any_found | out[x])
    return any_found != 0


@inlined
def _write_row(row, kinds, value, mask):
    """Write a value into the foreground of a row where it is shadow, and open what is marked for it."""
    for x in range(row.shape[0]):
        opened = (row[x] == OPENED) & (kinds[x] < DETAIL)
        written = np.uint8(0) if opened else value
        mask[x] = written if (mask[x] != 0) & (opened | (row[x] == _FULL)) else mask[x]


@banded
def write_enlarged(
    first_row: Any,
    last_row: Any,
    found: Any,
    found_rows: Any,
    step: Any,
    kinds: Any,
    value: Any,
    mask: Any,
) -> Any:
    """Write a value into the foreground below a mask of every step-th row and column, and open holes.

    Parameters
    ----------
    first_row, last_row : i8
    found : (h, w) u1
        255 where the value goes, `OPENED` where filled holes and what is faint become 0; each pixel stands for `step`
        rows and columns, the last ones for all that remain.
    found_rows : (h,) u1
        0 for rows of it that are not read.
    step : i8
    kinds : (H, W) u1
        From `tell_kinds`.
    value : u1
    mask : (H, W) u1
        Not 0 for foreground; written.
    """
    height, width = found.shape
    for y in range(first_row, last_row):
        above = min(y // step, height - 1)
        row = found[above]
        if found_rows[above] == 0 or not has_any(row):
            continue
        if step == 1:
            _write_row(row, kinds[y], np.uint8(value), mask[y])
            continue
        for begin in range(0, width, SEGMENT):
            end = min(begin + SEGMENT, width)
            if not has_any(row[begin:end]):
                continue
            for x in range(begin, end):
                if row[x] == 0:
                    continue
                last = (x + 1) * step if x + 1 < width else mask.shape[1]
                opened = row[x] == OPENED
                for column in range(x * step, last):
                    if mask[y, column] != 0 and not (opened and kinds[y, column] >= DETAIL):
                        mask[y, column] = np.uint8(0) if opened else np.uint8(value)
