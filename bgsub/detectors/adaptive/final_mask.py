"""The final mask of the adaptive detector: majority in three sizes, holes filled, and its regions and outlines."""

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgsub._jit.majority import CELL, IN_SMALL
from bgsub._numba import Holder, find_team, run_bands
from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.blocks import BLINK_RATE_UNIT, FACTOR_ONE, LOWEST_BLINK_RATE
from bgsub.detectors.adaptive._jit.dynamics import (
    OnsetRule,
    StaticRule,
    average,
    average_around,
    count_onsets,
    judge_cells,
)
from bgsub.detectors.adaptive._jit.outlines.broad import Broad
from bgsub.detectors.adaptive._jit.outlines.displaced import Sway
from bgsub.detectors.adaptive._jit.outlines.faint import show_faint
from bgsub.detectors.adaptive._jit.outlines.gaps import Pictures
from bgsub.detectors.adaptive._jit.outlines.masking import Masked, MaskRule, Seen, make_masks
from bgsub.detectors.adaptive._jit.outlines.showing import Reaches, Shown, show_details
from bgsub.frames import Mask

__all__ = [
    "Broad",
    "Dynamics",
    "Grids",
    "Masked",
    "Outlines",
    "Pictures",
    "Seen",
    "Shown",
    "Sides",
    "Sway",
    "add_faint",
    "fill_outline",
    "find_details",
    "find_masks",
    "find_outlines",
    "find_static",
    "follow_onsets",
    "is_static_due",
    "make_broad",
    "make_rule",
    "make_static",
    "make_sway",
    "reduced_side",
    "scaled_side",
    "scaled_sides",
]

Outlines = Sequence[NDArray[Any]]

# Sides in pixels are for frames of this area and grow with it to this power: less than the 0.5 of a picture that is
# enlarged, because larger frames also show smaller things.
_REFERENCE_PX, _GROWTH = 320 * 240, 0.35
_SMALL_PX = 5  # side of the majority where the background is static, for 320x240,
_REDUCED_SMALL_PX = 3  # which in frames that were reduced, whose noise is less, covers what 6 pixels did,
_MIDDLE_PX = 7  # and where it is too restless for that, but not for this one
_ONSETS = 0.0012  # least mean cost per frame and cell of small squares that vote alone, which makes them false alarms:
_AGAIN = 2.5  # onsets that such squares may have had in a cell or beside it, of those that are remembered

_DISPLACED = 2 / 3  # share of the colours of a small region that are beside it in the background, if it is a leaf
_LEAVES = 1 / 2  # and of a broad one, if it is leaves, which have them farther away
_CLEAR = 0.9  # distance of raw foreground, as a share of the farthest, from which it is no part of what is faint
_STAYS = 0.02  # of each frame where the background is restless, in units of the first,
_RECENT = 4  # with none in the cells around in so many frames before
_ONSET_RATE = 1 / 250  # of the running mean in the long run,
_ONSET_PRIOR = 25  # after as many frames without any
_CALM = 1 / 3  # share of the frame that is taken to be calm while the model is young, where noise alone widens kernels
# By which the mean factor may exceed the calm part's where small squares count then; where it exceeds the least one by
# as much, the background is restless.
_STATIC = 0.2
_BLINK_WEIGHT = 0.3  # of the mean of v - 0.1, added to the factor's: it shows at once what factors follow slowly
_YOUNG = 300  # frames that a model is young: widths still grow, and few onsets were counted
_INTERVAL, _YOUNG_INTERVAL = 16, 8  # frames between two searches for static background, and while a model is young
_REACH = 6  # side of the neighbourhood of these means, in sides of the majority,
_FEWEST = 1 / 3  # and share of it that is enough to tell of the restless background in it
_NO_REGION = np.empty((0, 0), np.uint8)
_HOLES = 0.2  # share of pixels inside objects that may be raw background if the raw mask is trusted with outlines,
_FINE_HOLES = 0.02  # of those in what small squares found,
_AROUND = 2.5  # in a square of so many sides of the majority


@functools.cache  # asked for in each step
def scaled_side(pixels: int, size: tuple[int, int]) -> int:
    """Scale a side, given for 320x240, to frames of (height, width); odd."""
    return 1 if pixels == 1 else max(3, round(pixels * (size[0] * size[1] / _REFERENCE_PX) ** _GROWTH) | 1)


class Sides(NamedTuple):
    """Sides of the squares whose majorities make the final mask, in pixels; odd."""

    large: int
    middle: int
    small: int
    ordinary: int
    """Side of small ones in frames of this size that were not reduced."""


@functools.cache
def scaled_sides(pixels: int, size: tuple[int, int], reduced: bool = False) -> Sides:
    """Return the sides for frames of (height, width), the largest of which is given for 320x240.

    In `reduced` frames, of means of squares of pixels, small squares are smaller.

    Examples
    --------
    >>> scaled_sides(15, (240, 320))
    Sides(large=15, middle=7, small=5, ordinary=5)
    >>> scaled_sides(15, (240, 320), reduced=True)
    Sides(large=15, middle=7, small=3, ordinary=5)
    """
    large = scaled_side(pixels, size)
    most = (_MIDDLE_PX, _REDUCED_SMALL_PX if reduced else _SMALL_PX, _SMALL_PX)
    return Sides(large, *(min(scaled_side(side, size), large) for side in most))


def reduced_side(pixels: int, factor: int) -> int:
    """Return the side for frames reduced by a factor whose square covers what it covered before; odd."""
    return 1 if pixels == 1 else max(3, round(pixels * factor ** (2 * _GROWTH - 1)) | 1)


def find_masks(
    found: Mask,
    seen: Seen,
    static: Mask,
    broad: Broad,
    region: Mask | None,
    sides: Sides,
    fill: bool,
    threads: int,
    masked: Masked,
    hold: Holder | None = None,
) -> None:
    """Write the final mask of a raw one, and where most of a small square is faint, or one of two pixels is raw.

    The majority in large squares, also in smaller ones where the background is static enough for them, or only in
    these where the raw mask fills the inside of objects, too; regions that small squares find elsewhere, if they are
    broad and no leaves; and holes filled if `fill`. `broad` is from `make_broad`.

    Faint is what is nearer to the background than raw foreground, but too far from it to be projected on it. Noise
    makes pixels faint, but not most of a square. What light, blur and codecs leave is faint near what moves, and far
    from it are people whom an infrared camera sees, or who are clad like the wall. What is far from it may also be
    clear, but too small for the small square: it is as seldom a false alarm, or the same count tells that it is one.

    Masks are (H, W) uint8, 0 and 255, but `TINY` in `masked.faint` where the square of two is raw. `found` is the raw
    mask with what squares of pixels alone show, `static` is the grid that `find_static` writes, and nothing outside of
    the `region` is final. `hold` is for who passes the same arrays again.
    """
    hold, team = hold or Holder(), find_team((found.shape[0], found.shape[1]), threads)
    make_masks(team, hold(found, seen, static, *broad, make_rule(sides, fill), masked), _within(region))


def make_broad(static: Mask, pictures: Pictures, sides: Sides, box: Any) -> Broad:
    """Return where broad regions count, and how leaves are told from them; `static` is the grid `broad_static`.

    `box` is by how much the colour of a leaf may differ from one that the background has within a large square.
    """
    return Broad(static, pictures, _make_sway(sides.large // 2, _LEAVES, box))


def make_rule(sides: Sides, fill: bool) -> MaskRule:
    """Return the rule by which the final mask is made."""
    return _make_rule(sides, fill, _HOLES, _FINE_HOLES, _AROUND, _CLEAR)


@functools.cache
def _make_rule(sides: Sides, fill: bool, holes: float, fine_holes: float, around: float, clear: float) -> MaskRule:
    squares, far = (sides.large, sides.middle, sides.small), -(-sides.large // CELL)
    cells_around = int(around * sides.large / CELL) // 2
    return MaskRule(*squares, 1 - holes, 1 - fine_holes, cells_around, np.uint8(clear * 255), far, fill)


def _within(region: Mask | None) -> Mask:
    return _NO_REGION if region is None else np.ascontiguousarray(region)


def find_details(
    masked: Masked,
    pictures: Pictures,
    static: Mask,
    region: Mask | None,
    sides: Sides,
    gap_px: int,
    sway: Sway,
    threads: int,
    shown: Shown,
    hold: Holder | None = None,
) -> None:
    """Write the final mask with its details, raw foreground too thin for the squares that made it, without its gaps.

    What smaller squares alone have found is left out where the background has its colours beside it, as a leaf that
    moved by a pixel or two has: `sway` is from `make_sway`. The model does not learn of it, and goes on to count it.

    A limb of two pixels never fills most of a square of five, and a mast does not either. Beside what was found, within
    half of a small square, most of a square of three is therefore enough where smaller squares count. Such a one alone
    would be a false alarm too often, and so would one beside what small squares alone have found: within half of a
    large square there must be a cell where these found something. What is learned does without: along the outline of an
    object raw foreground is shade and blur as well, and the background there has to be learned.

    Gaps are what squares and filled holes took in, but where the background is to be seen. Like filled holes, details
    have no vote on what is shadow: with one, the borders of shadows would stay.

    `masked` is from `find_masks`; what sways becomes neither faint nor tiny in it. `static` is the grid that
    `find_static` writes, and details are left out where the `region`, (H, W) uint8, is 0. `gap_px` is the side of the
    smallest gap, 0 for none. `hold` is for who passes the same arrays again.
    """
    hold, team = hold or Holder(), find_team((shown.mask.shape[0], shown.mask.shape[1]), threads)
    near = -(-(sides.large // 2) // CELL)
    reaches = _make_reaches(near, 0 if sides.small == 1 else sides.small // 2, gap_px)
    mask, rows, kinds = shown
    show_details(team, hold(pictures, masked, static, reaches, sway, rows, kinds), _within(region), mask)


@functools.cache  # the same objects for the same numbers, as a holder wants them
def _make_reaches(cells: int, pixels: int, gap: int) -> Reaches:
    return Reaches(cells, pixels, gap)


def make_sway(sides: Sides, box: Any) -> Sway:
    """Return how far leaves may have moved; `box` is by how much a colour may differ, of the frames' dtype."""
    return _make_sway(sides.ordinary // 2 if sides.small > 1 else 0, _DISPLACED, box)


@functools.lru_cache(maxsize=256, typed=True)
def _make_sway(reach: int, share: float, box: Any) -> Sway:
    return Sway(reach, share, box)


def add_faint(
    voted: Mask,
    cells: NDArray[np.uint8],
    faint_static: NDArray[np.uint8],
    rates: NDArray[Any],
    all_faint: bool,
    shown: Shown,
) -> bool:
    """Add what `find_masks` found faint to a mask where there were few such false alarms; return whether there was any.

    Of what is merely faint nothing is added without `all_faint`. In `shown`, rows of what is added are occupied, and
    its kind is `SPECK` where it is tiny, or `RIM` where it is faint beside other foreground.
    `rates`, (4, h, w), are those that `follow_onsets` writes. They are few both in the neighbourhood that `find_static`
    looks at and in the cells around: where a codec refreshes the edges of the background, they are faint every time.
    """
    most = np.float32(_AGAIN * _ONSET_RATE)
    return bool(show_faint(voted, cells, faint_static, rates[2], most, all_faint, *shown))


def find_outlines(mask: Mask, occupied_rows: NDArray[np.uint8] | None = None) -> Outlines:
    """Return the outer outline of each region, an array (P, 1, 2) of x and y; filling holes does not change them.

    Rows where `occupied_rows`, (H,), is 0 are known to be empty.
    """
    rows = _span(mask, occupied_rows)
    if rows.start == rows.stop:
        return ()
    return cv2.findContours(mask[rows], cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE, offset=(0, rows.start))[0]


def fill_outline(outline: NDArray[Any], margin: int, size: tuple[int, ...]) -> tuple[tuple[slice, slice], Mask]:
    """Return the box of an outline with a margin, within (height, width), and the region inside it, 255 in the box."""
    left, top, width, height = cv2.boundingRect(outline)
    rows = slice(max(top - margin, 0), min(top + height + margin, size[0]))
    columns = slice(max(left - margin, 0), min(left + width + margin, size[1]))
    region = np.zeros((rows.stop - rows.start, columns.stop - columns.start), np.uint8)
    cv2.drawContours(region, [outline], -1, 255, cv2.FILLED, offset=(-columns.start, -rows.start))
    return (rows, columns), region


def _span(mask: Mask, occupied_rows: NDArray[np.uint8] | None) -> slice:
    """Return the rows from the first one that may have foreground to the last one."""
    rows = np.arange(len(mask)) if occupied_rows is None else np.flatnonzero(occupied_rows)
    return slice(int(rows[0]), int(rows[-1]) + 1) if rows.size > 0 else slice(0, 0)


def make_static(size: tuple[int, int]) -> Mask:
    """Return the grid that `find_static` writes for frames of (height, width), static everywhere."""
    return np.full((-(-size[0] // CELL), -(-size[1] // CELL)), IN_SMALL, np.uint8)


class Dynamics(NamedTuple):
    """What shows where the background moves: images (H, W) of the state in its units, and grids of cells."""

    factors: NDArray[np.uint16]
    blink_rates: NDArray[np.uint16]
    onset_rates: NDArray[np.float32]
    """(4, h, w): of small squares, of middle ones, of small ones of faint pixels, and of broad regions."""
    least: float
    """Least factor, in the unit of the others."""


class Grids(NamedTuple):
    """What `find_static` writes: (h, w) grids of cells."""

    static: Mask
    """The bit of the smallest squares that count, because they seldom raise false alarms, or 0 if large ones do."""
    faint_static: NDArray[np.uint8]
    """1 where small squares of faint pixels do so more seldom still, else 0."""
    broad_static: NDArray[np.uint8]
    """1 where broad regions do, else 0."""
    restless: NDArray[np.uint8]
    """How restless the background is, 255 for entirely: how far widths and blink rates around exceed the least ones."""


def follow_onsets(
    cells: NDArray[np.uint8],
    recent: NDArray[np.uint8],
    onset_rates: NDArray[np.float32],
    restless: NDArray[np.uint8],
    age: int,
) -> None:
    """Learn from the votes of a frame what false alarms smaller squares raise; `age` counts the frames before.

    `recent` and `onset_rates`, (4, h, w), are of small squares, of middle ones, of small ones of faint pixels, and of
    broad regions.
    `restless` is of `Grids`.
    """
    rate = np.float32(max(_ONSET_RATE, 1 / (age + _ONSET_PRIOR)))
    count_onsets(cells, recent, onset_rates, restless, OnsetRule(rate, np.float32(_STAYS), np.uint8(_RECENT)))


def is_static_due(age: int) -> bool:
    """Return whether to look for static and for moving background after so many frames; their means change slowly."""
    return age % (_YOUNG_INTERVAL if age < _YOUNG else _INTERVAL) == 0


def _find_restless(levels: NDArray[np.float32], least: float) -> NDArray[np.float32]:
    """Return how far levels, (1, h, w), exceed the least one, 1 for what is restless, on average over 3x3 cells."""
    exceed = np.clip((levels / np.float32(least) - np.float32(1.0)) / np.float32(_STATIC), 0, 1)
    return np.asarray(cv2.blur(exceed[0], (3, 3)), np.float32).reshape(levels.shape)


def find_static(dynamics: Dynamics, age: int, sides: Sides, threads: int, grids: Grids) -> None:
    """Find where smaller squares seldom raise false alarms, so that they count.

    An onset is a cell where a smaller square begins to have a majority while no large one has one nearby and no such
    one had one a moment ago. Leaves and waves make many in the same place; people who pass begin once. Waves that
    travel make few, too, but are always there. They widen kernels as well, as far things on a busy road do not, so that
    being there costs as much as the background is restless. A false alarm in a middle square costs as many times more
    than one in a small square as its area is larger. Of the small ones in reduced frames there are more: they may raise
    fewer, in proportion to the side, and so may broad regions, which are larger. The calm ground around a tree says
    nothing of the tree: in the neighbourhood of what is restless, what is restless counts. A young model has not seen
    enough of them: where widths and blink rates are not about as low as in the calmest third of the frame, it wants the
    fewer, the younger it is.
    """
    reach, size, rates = (_REACH * sides.large // CELL) // 2, grids.static.shape, dynamics.onset_rates
    weight, here = round(_BLINK_WEIGHT * float(BLINK_RATE_UNIT) * float(FACTOR_ONE)), np.empty((1, *size), np.float32)
    bands = (size[0], size[1] * CELL**2)
    run_bands(average, bands, threads, dynamics.factors, dynamics.blink_rates, weight, here[0])
    here -= np.float32(weight * int(LOWEST_BLINK_RATE))
    restless = _find_restless(here, dynamics.least)
    around = np.empty((2 + 2 * len(rates), *size), np.float32)
    average_around(np.concatenate([here, restless, rates, restless * rates]), reach, around)
    levels, share, (of_all, of_restless) = around[0], around[1], np.split(around[2:], 2)
    costs = of_all + restless * (of_restless / np.maximum(share, np.float32(_FEWEST)) - of_all)
    usual, fewer = math.inf, _ONSETS
    if age < _YOUNG:
        calm = int(_CALM * (levels.size - 1))  # a third of all are less; a quantile between two takes longer
        usual, fewer = max(float(FACTOR_ONE), float(np.partition(levels, calm, None)[calm])), _ONSETS * age / _YOUNG
    middle, small = (sides.ordinary / sides.middle) ** 2, sides.small / sides.ordinary
    broad = sides.ordinary / sides.large
    numbers = (dynamics.least, _STATIC, usual, _ONSETS, fewer, middle, small, broad, _ONSETS)
    judge_cells(levels, costs, StaticRule(*map(np.float32, numbers)), *grids)
