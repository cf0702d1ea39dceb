"""Ghosts: foreground where nothing is, because an object that was learned as background has gone."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.outlines.edges import weigh_outlines
from bgsub.detectors.adaptive._jit.regions import count_changes
from bgsub.detectors.adaptive._jit.watershed import BINS, Region, compare_part, split
from bgsub.detectors.adaptive.final_mask import Outlines, fill_outline, find_outlines
from bgsub.frames import Mask

__all__ = ["Learned", "Turnover", "average_around", "count_turnover", "find_ghosts"]

_MOST = 32  # regions looked at in one frame, the largest first
_STEP = 2  # every so many points of an outline are looked at,
_POINTS = 160  # and of a long one about so many
_APART_PX = 12.0  # from an outline, inside and outside, where the texture is measured
_RATIO = 1.5  # along a ghost's outline, edges of the background outweigh those of the frame this often,
_YOUNG = 2.0  # or so many times as often where the region has just come, or hides what was seen for long
_EDGE = 10.0  # and by so many grey levels (of a Sobel filter) a point
_ARC = 0.2  # share of an outline that must look like a ghost's for a part to be one
_MARGIN_PX = 4  # around a region that may have to be split
_INSIDE_PX = 6  # width of the strip inside a real outline that surely belongs to the object
_RING_PX = 15  # side of the square that makes the surroundings of a ghost
_COMMON = 0.5  # share of a ghost's colours in the frame that its surroundings have, too
_BESIDE_PX = 20  # around a region's box; what more foreground than its own is there, it may have come off
_LIKE = 0.6  # its mean differs this much less from theirs in the frame than in the background; of no ghost, more


class Learned(NamedTuple):
    """The learned background, and since when there is something else."""

    planes: NDArray[Any]
    """(D, at least H * W): its colours."""
    coefficients: NDArray[np.float32]
    """(H, W): how long each has been seen,"""
    old: float
    """and the coefficient above which that is long."""
    ages: NDArray[np.uint16]
    """(H, W): for how many frames each pixel has been in the mask, not counting this one,"""
    lasting: int
    """and the age from which foreground has not just come,"""
    staying: int
    """and from which it is nobody who passes by."""


class Turnover(NamedTuple):
    """How far foreground is elsewhere than in the frame before, in pixels."""

    foreground: int
    appeared: int
    """Those that were none."""


def count_turnover(mask: Mask, previous: Mask, occupied_rows: NDArray[np.uint8]) -> Turnover:
    """Count the pixels of a final mask, and those that are not in the previous one.

    Rows where `occupied_rows`, (H,), is 0 are known to be empty in `mask`.
    """
    return Turnover(*count_changes(mask, previous, occupied_rows))


def find_ghosts(
    mask: Mask,
    outlines: Outlines,
    frame: NDArray[Any],
    learned: Learned,
    white: float,
    min_area_px: int,
    find_objects: Callable[[], Mask],
    suspects: Mask,
) -> Mask | None:
    """Find regions, or parts of them, whose outline is an edge in the background but not in the frame.

    A real object brings its outline along; a ghost's outline is that of what the model still remembers. Leaves have
    edges along any outline, so edges count as far as they stand out of the texture on both sides of it. Where an
    object has not yet left its ghost, the region they share is split along the edges of the frame (a watershed
    from outside, and from inside the real part of the outline), and the outer part is a ghost if along its share of
    the outline edges of the background outweigh those of the frame, and the frame looks there like its surroundings.

    Where somebody walks past a door frame or a shelf, more edges go than come, too, but along his outline for a moment
    only. A region that has just come is therefore a ghost only if its outline leaves no doubt.

    Nor is what has come within the last second a ghost if the background there is more like the surroundings than the
    frame is: a ghost is where the frame shows its surroundings, and the background does not. In headlights at night the
    outlines of cars are weaker than the texture of the road, but their colours are not.

    A background that was seen for long is not given up for a part of a region, nor for a region beside larger ones.
    Such a region may be a fragment of the object beside it: the legs of a person, say, where the dark cupboard behind
    them has stronger edges than they have.

    Shadows are in the mask, too, and bring no edges along. Where somebody and his shadow on a wall are one region, its
    outline is that of neither, and has what edges the wall has. So a region is a ghost only if what is no shadow of it
    is one, too, unless that is less than half of it.

    And a region whose background is old is a ghost only if its outline leaves no doubt, or most of it was one in the
    last search as well: under lamps that flicker, or in the dark, a frame may say by chance that somebody is a ghost.

    Parameters
    ----------
    mask : (H, W) uint8 array
        Final mask, 0 and 255.
    outlines : sequence of arrays
        The mask's, from `find_outlines`.
    frame : (D, at least H * W) array
        Planes of the frame.
    learned : Learned
        The background.
    white : float
        Value of white.
    min_area_px : int
        Smaller regions are left alone.
    find_objects : callable
        Returns the mask without shadows, (H, W) uint8, 0 and 255; called at most once, and seldom.
    suspects : (H, W) uint8 array
        Not 0 in what would have been a ghost in the last search, or was; written for the next one.

    Returns
    -------
    (H, W) uint8 array or None
        255 in ghosts; None if there is none.
    """
    before, background = suspects.copy(), learned.planes
    suspects[:] = 0
    areas = [_area(outline) for outline in outlines]
    large = sorted((index for index, area in enumerate(areas) if area >= min_area_px), key=lambda index: -areas[index])
    chosen = [outlines[index] for index in large[:_MOST]]
    if not chosen:
        return None
    parts = [outline[:: max(_STEP, len(outline) // _POINTS), 0] for outline in chosen]
    points, ends = np.concatenate(parts), np.cumsum([len(part) for part in parts])
    unit = np.float32(255.0 / white / len(frame))
    excess, sums = np.empty(len(points), np.float32), np.empty((len(chosen), 3))
    weigh_outlines(points, ends, mask, frame, background, unit, _APART_PX, np.float32(_EDGE), excess, sums)
    ghosts: Mask | None = None
    objects: Mask | None = None
    for rank, (outline, (more, less, clear)) in enumerate(zip(chosen, sums.tolist(), strict=True)):
        count, end = len(parts[rank]), int(ends[rank])
        found = None
        is_edge = more > _RATIO * less and more > _EDGE * count
        leaves_no_doubt = more > _YOUNG * _RATIO * less
        if is_edge and (leaves_no_doubt or _lasts(outline, learned)):
            found = _fill(outline, chosen[:rank], mask, learned)
            if found is not None and _stands_out(*found, mask, frame, learned):
                found = None
            if found is not None:
                objects = find_objects() if objects is None else objects
                if not _is_ghost_without_shadows(*found, objects, frame, background, unit):
                    found = None
                elif not leaves_no_doubt and _is_old(learned, *found):
                    box, region = found
                    suspects[box] |= region
                    if 2 * cv2.countNonZero(cv2.bitwise_and(before[box], region)) < cv2.countNonZero(region):
                        found = None
        elif clear > _ARC * count:
            if _may_have_a_young_part(outline, learned, min_area_px):
                own = slice(end - count, end)
                found = _find_part(outline, points[own], excess[own], mask, frame, background, white, min_area_px)
            if found is not None and _is_old(learned, *found):
                found = None
        if found is not None:
            ghosts = np.zeros_like(mask) if ghosts is None else ghosts
            ghosts[found[0]] |= found[1]
    return ghosts


def _is_ghost_without_shadows(
    box: tuple[slice, slice],
    region: Mask,
    objects: Mask,
    frame: NDArray[Any],
    background: NDArray[Any],
    unit: np.float32,
) -> bool:
    """Return whether the largest part of a region, not 0 in a box, that is no shadow has the outline of a ghost."""
    rest = np.zeros_like(objects)
    cv2.bitwise_and(objects[box], region, dst=rest[box])
    if 2 * cv2.countNonZero(rest[box]) < cv2.countNonZero(region):
        return True
    outline = max(find_outlines(rest), key=_area)
    points = np.ascontiguousarray(outline[:: max(_STEP, len(outline) // _POINTS), 0])
    excess, sums, ends = np.empty(len(points), np.float32), np.empty((1, 3)), np.array([len(points)])
    weigh_outlines(points, ends, rest, frame, background, unit, _APART_PX, np.float32(_EDGE), excess, sums)
    more, less, _ = sums[0].tolist()
    return bool(more > _RATIO * less and more > _EDGE * len(points))


def _stands_out(box: tuple[slice, slice], region: Mask, mask: Mask, frame: NDArray[Any], learned: Learned) -> bool:
    """Return whether a region, not 0 in a box, is new, and less like its surroundings than the background there is."""
    if np.median(learned.ages[box][region != 0]) >= learned.staying:
        return False
    inside: Mask = np.bitwise_and(region, mask[box])
    around: Mask = (cv2.dilate(region, _square(_RING_PX)) > cv2.dilate(mask[box], _square(5))).view(np.uint8)
    if not (inside.any() and around.any()):
        return False
    now, before = (planes[:, : mask.size].reshape(-1, *mask.shape)[:, *box] for planes in (frame, learned.planes))
    surroundings = _mean_colour(now, around)
    difference_now = np.abs(_mean_colour(now, inside) - surroundings).sum()
    return bool(np.abs(_mean_colour(before, inside) - surroundings).sum() < _LIKE * difference_now)


def _mean_colour(planes: NDArray[Any], where: Mask) -> NDArray[np.float64]:
    """Return the mean of each channel, (D, h, w), where a mask, (h, w), is not 0."""
    return np.array([cv2.mean(np.ascontiguousarray(plane), mask=where)[0] for plane in planes])


def average_around(ghosts: Mask, mask: Mask, factors: NDArray[np.uint16], least: int) -> NDArray[np.uint16]:
    """Return an image whose value in each ghost is the mean width factor around it, or the least if that is more.

    What a ghost has hidden is more like what is around it, waves or leaves, than like the object that was there.

    Parameters
    ----------
    ghosts : (H, W) uint8 array
        Not 0 in ghosts.
    mask : (H, W) uint8 array
        Not 0 in foreground, ghosts included, whose factors do not count.
    factors : (H, W) uint16 array
    least : int
        Also the value of a ghost that has nothing but foreground around it, and of what is none.

    Returns
    -------
    (H, W) uint16 array
    """
    around, reach = np.full(ghosts.shape, least, np.uint16), _RING_PX // 2
    for outline in find_outlines(ghosts):
        box, region = fill_outline(outline, reach, ghosts.shape)
        ring = (cv2.dilate(region, _square(_RING_PX)) != 0) & (cv2.dilate(mask[box], _square(5)) == 0)
        if ring.any():
            around[box][region != 0] = max(least, round(float(factors[box][ring].mean())))
    return around


def _lasts(outline: NDArray[Any], learned: Learned) -> bool:
    """Return whether most of the region inside an outline has not just come."""
    box, region = fill_outline(outline, 0, learned.ages.shape)
    return bool(np.median(learned.ages[box][region != 0]) >= learned.lasting)


def _is_old(learned: Learned, box: tuple[slice, slice], region: NDArray[np.uint8]) -> bool:
    """Return whether the background of a region, not 0 in a box, was seen for long."""
    coefficients = learned.coefficients[box][region != 0]
    older = np.count_nonzero(coefficients > learned.old)
    if 2 * older != len(coefficients):  # most often: to count them is much quicker than to find their median
        return bool(2 * older > len(coefficients))
    return bool(np.median(coefficients) > learned.old)


def _may_have_a_young_part(outline: NDArray[Any], learned: Learned, min_area_px: int) -> bool:
    """Return whether a part whose background is not old would fit into the box of an outline.

    Half of its pixels would not be old. To know that there are fewer saves most of the time that ghosts take.
    """
    left, top, width, height = cv2.boundingRect(outline)
    coefficients = learned.coefficients[top : top + height, left : left + width]
    return bool(2 * np.count_nonzero(coefficients <= learned.old) >= min_area_px)


def _fill(
    outline: NDArray[Any], larger: Sequence[NDArray[Any]], mask: Mask, learned: Learned
) -> tuple[tuple[slice, slice], Mask] | None:
    """Return the region inside an outline and where it lies; None if it may be a part of others and its past is old."""
    (rows, columns), region = fill_outline(outline, _BESIDE_PX, mask.shape)
    least, most = (columns.start, rows.start), (columns.stop, rows.stop)
    beside = any(((least <= other[:, 0]) & (other[:, 0] < most)).all(1).any() for other in larger)
    if beside and _is_old(learned, (rows, columns), region):
        return None
    return (rows, columns), region


def _area(outline: NDArray[Any]) -> int:
    """Area of the outline's box in pixels."""
    _, _, width, height = cv2.boundingRect(outline)
    return width * height


def _find_part(
    outline: NDArray[Any],
    points: NDArray[np.int32],
    excess: NDArray[np.float32],
    mask: Mask,
    frame: NDArray[Any],
    background: NDArray[Any],
    white: float,
    min_area_px: int,
) -> tuple[tuple[slice, slice], Mask] | None:
    """Return the ghost's part of a region and where it lies; `excess` is that of points of its outline."""
    (rows, columns), region = fill_outline(outline, _MARGIN_PX, mask.shape)
    now, learned = (planes[:, : mask.size].reshape(-1, *mask.shape)[:, rows, columns] for planes in (frame, background))
    square = _square(5)
    masks = Region(region, np.asarray(cv2.erode(region, square)), np.asarray(cv2.dilate(region, square)))
    image = now if now.dtype == np.uint8 else np.clip(now * (255.0 / white), 0, 255).astype(np.uint8)
    smooth, part, beside = np.empty(now.shape, np.uint8), np.empty_like(region), np.empty(len(points), np.bool_)
    corner = (columns.start, rows.start)
    split(image, masks, points, excess, np.float32(_EDGE), *corner, _disc(_INSIDE_PX), smooth, part, beside)
    # A shadow that touches another looks like its surroundings, too: only its outline reveals it.
    if excess[beside].sum() <= 0:
        return None
    near, occupied = cv2.dilate(part, _square(_RING_PX)), cv2.dilate(mask[rows, columns], square)
    sums, shares = np.empty((3, len(now)), np.float64), np.empty((2, BINS**3), np.float32)
    inside, around = compare_part(now, learned, smooth, part, near, occupied, sums, shares)
    if inside < min_area_px or around == 0:
        return None
    surroundings = sums[2] / around
    difference_now, difference_learned = np.abs(sums[:2] / inside - surroundings).sum(1).tolist()
    common_now = np.minimum(shares[0] / inside, shares[1] / around).sum(dtype=np.float64)
    if difference_now > _LIKE * difference_learned or common_now < _COMMON:
        return None
    return (rows, columns), part


@cache
def _square(side: int) -> NDArray[np.uint8]:
    return np.ones((side, side), np.uint8)


@cache
def _disc(radius: int) -> NDArray[np.uint8]:
    side = 2 * radius + 1
    return np.asarray(cv2.circle(np.zeros((side, side), np.uint8), (radius, radius), radius, 255, cv2.FILLED), np.uint8)
