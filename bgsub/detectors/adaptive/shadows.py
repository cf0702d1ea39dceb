"""Shadows: foreground that is the background under less light."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgsub._jit.runs import END, LABEL, ROW, START
from bgsub._numba import run_bands
from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.regions import (
    add_regions,
    clear_regions,
    fill_holes,
    find_between,
    sum_borders,
    sum_regions,
    write_labels,
)
from bgsub.detectors.adaptive._jit.shadows import (
    Darkening,
    Images,
    count_brighter,
    find_darkened,
    vote,
    write_enlarged,
    write_voted,
)
from bgsub.detectors.adaptive.final_mask import label_regions, scaled_side
from bgsub.frames import Mask

__all__ = ["Colours", "Levels", "count_colours", "mark_shadows"]

_TEXTURE = np.float32(0.09**2)  # where the camera shows colours
_GREY_TEXTURE = np.float32(0.03**2)  # without colours: most smooth things are like each other up to twice that
_PENUMBRA = np.float32(28.0**2)  # beyond texture, where colours help: lets penumbras pass, but no stripes
_RULE = Darkening(
    darkest=np.float32(0.25),
    lightest=np.float32(0.97),
    chromaticity=np.float32(0.09),  # 3 % of a grey pixel's channel, for three channels
    texture=_TEXTURE,
    penumbra=np.float32(0.0),
    least=np.float32(6.25),  # a quarter of the square
)
# Shares of what is brighter that have the background's chromaticity,
_MOSTLY = 0.5  # below which colours help, as no majority of an object is like shadow,
_SELDOM = 0.1  # and below which they tell objects,
_PRIOR = 25.0 / 16  # after as many of the sixteenth of all pixels that is looked at as make this share small beside
_FADING = 0.996  # of counts, each time
_BETWEEN = 0.25  # share of a shadow that may lie between parts of the object, as no shadow on the ground does
_ALONE = 0.95  # share of a region in shadow that leaves nothing to cast it,
_DARK = 0.7  # and share of the background's brightness below which it is then an object,
_SHARP = 0.75  # or share of its depth above which a step at its outline makes it one
_SIDE_PX = 15  # side of the square in which the majority decides, on the grid; less for frames smaller than 320x240
_LIGHT = 12  # writing costs so many times less per pixel than most compiled functions
_SPARSE = 4  # and so many times less where most pixels are background
_GRID_PX = 320 * 240  # larger frames are looked at on a grid of about so many pixels


class Levels(NamedTuple):
    """The values of a frame that count as white and as black, since fog adds light that has no shadow."""

    white: float
    """A 255th of it is a grey level."""
    black: float = 0.0


class Colours(NamedTuple):
    """How well colours tell objects from shadows."""

    brighter: float = 0.0
    """Count of foreground that is brighter than the background, which is no shadow,"""
    alike: float = 0.0
    """and has its chromaticity, with some of what is around it: if it were darker, it might be shadow."""
    seen: bool = True
    """Whether the camera shows any."""

    def share_alike(self) -> float:
        """Return the share of objects that may have the background's chromaticity."""
        return (self.alike + _PRIOR) / (self.brighter + _PRIOR)


def count_colours(
    final: Mask, cells: Mask, frame: NDArray[Any], background: NDArray[Any], levels: Levels, colours: Colours
) -> Colours:
    """Count the colours of a frame, in every second row and column of a grid of about 320x240, with those before.

    It is enough to do so in every fourth frame.

    Only where large squares have a majority: what small ones alone find is often a leaf or a wave, which has the
    background's colour, and counts for much while objects are few.

    Parameters
    ----------
    final : (H, W) uint8 array
        Final mask, 0 and 255.
    cells : (ceil(H / 4), ceil(W / 4)) uint8 array
        What `clean` wrote of cells of 4x4 pixels.
    frame, background : (D, at least H * W) array
        Planes of the frame and of the learned background.
    levels : Levels
    colours : Colours
        Of the frames before, which fade.

    Returns
    -------
    Colours
    """
    step = max(1, round(math.sqrt(final.size / _GRID_PX)))
    brighter, alike = count_brighter(_make_images(final, frame, background, levels), cells, _RULE, step)
    return colours._replace(brighter=_FADING * colours.brighter + brighter, alike=_FADING * colours.alike + alike)


def mark_shadows(
    mask: Mask,
    final: Mask,
    unfilled: Mask,
    frame: NDArray[Any],
    background: NDArray[Any],
    levels: Levels,
    threads: int,
    value: int,
    colours: Colours,
) -> None:
    """Write a value where the foreground has colour and texture of the background, darkened by one factor.

    A pixel may be in shadow where brightness fell to between 25 and 97 % and chromaticity stayed, and where the
    brightness of such pixels in the 5x5 square around it equals the background's times one factor, up to 9 % of it, or
    3 % where the camera shows no colours and nothing but texture tells shadows from objects, or more where colours do
    for most of the objects.
    Grey cars on grey roads look like that in places, so the majority decides: shadow is where most of the foreground in
    a square of 15 pixels may be in shadow, except what the rest of the foreground encloses, and regions of which more
    than a quarter has foreground that is no shadow above and below: trousers between coat and shoes. Holes that were
    filled do not vote, and become background where only shadows close them. A region that is shadow as a whole and has
    less than 70 % of the brightness, or three quarters of its depth as a step at its outline and does not touch the
    border of the frame, is an object, since no cloud casts it, unless colours tell objects. Of frames larger than
    320x240 every second, third, ... row and column is looked at, and stands for its neighbours; so does background
    there that touches shadow alone, since what foreground it stands for is the border of the shadow.

    Parameters
    ----------
    mask : (H, W) uint8 array
        Written.
    final : (H, W) uint8 array
        Final mask, 0 and 255; may be `mask` itself.
    unfilled : (H, W) uint8 array
        Not 0 for what was foreground before holes were filled; others may be, too.
    frame, background : (D, at least H * W) array
        Planes of the frame and of the learned background.
    levels : Levels
    threads : int
        Threads to use, 0 for one per CPU.
    value : int
        For shadows.
    colours : Colours
        Of the frames so far; if they help to tell objects, texture may deviate more, as it does in penumbras.
    """
    step = max(1, round(math.sqrt(final.size / _GRID_PX)))
    side = min(_SIDE_PX, scaled_side(_SIDE_PX, (final.shape[0], final.shape[1])))
    share_alike = colours.share_alike()
    rule = _RULE._replace(
        texture=_TEXTURE if colours.seen else _GREY_TEXTURE,
        penumbra=_PENUMBRA if share_alike < _MOSTLY else np.float32(0.0),
    )
    clouds = share_alike >= _SELDOM
    if step == 1:
        found = _find(_make_images(final, frame, background, levels), unfilled, rule, side, threads, clouds)
    else:
        every = slice(step // 2, None, step)
        few = np.ascontiguousarray(final[every, every])
        left, top, width, height = cv2.boundingRect(few)
        box = slice(top, top + height), slice(left, left + width)

        def thin(planes: NDArray[Any]) -> NDArray[Any]:
            grid = planes[:, : final.size].reshape(-1, *final.shape)[:, every, every][:, *box]
            return np.ascontiguousarray(grid).reshape(len(planes), -1)

        inside = np.ascontiguousarray(few[box])
        if width == 0:
            return
        solid = np.ascontiguousarray(unfilled[every, every][box])
        found = _find(_make_images(inside, thin(frame), thin(background), levels), solid, rule, side, threads, clouds)
        if found is not None:
            found = _take_border(few, found, box)
    if found is not None:
        run_bands(write_enlarged, mask.shape, threads, found, step, final, unfilled, value, mask, light=_LIGHT)


def _make_images(mask: Mask, frame: NDArray[Any], background: NDArray[Any], levels: Levels) -> Images:
    unit = 255.0 / levels.white
    return Images(mask, frame, background, np.float32(unit), np.float32(levels.black * unit))


def _find(images: Images, unfilled: Mask, rule: Darkening, side: int, threads: int, clouds: bool) -> Mask | None:
    """Return 255 for shadows and `OPENED` for holes to be opened, if there are shadows; see `mark_shadows`.

    `clouds` tells whether a region that is shadow as a whole has to look like one of a cloud.
    """
    left, top, width, height = cv2.boundingRect(images.mask)
    box = slice(top, top + height), slice(left, left + width)
    shadows: Mask = np.empty_like(images.mask)
    run_bands(find_darkened, shadows.shape, threads, images, rule, shadows, light=_SPARSE)
    if not cv2.hasNonZero(shadows):
        return None
    darkened: Mask = shadows[box]
    mask = np.ascontiguousarray(images.mask[box])
    voters = cv2.bitwise_and(mask, cv2.bitwise_or(unfilled[box], darkened))  # what was filled may look like nothing
    # Outside nothing is foreground: a border that repeats or mirrors the mask would vote twice.
    border = cv2.BORDER_CONSTANT | cv2.BORDER_ISOLATED
    share, whole = (cv2.blur(image, (side, side), borderType=border) for image in (darkened, voters))
    voted, solid = np.empty_like(mask), np.empty_like(mask)
    vote(mask, voters, share, whole, voted, solid)
    fill_holes(solid, np.ones(len(solid), np.uint8))
    _add_between(mask, np.asarray(cv2.bitwise_and(voted, darkened), np.uint8), solid)
    if not write_voted(mask, voters, voted, solid, left, top, shadows):
        return None
    if clouds:  # else colours tell that it is no object
        _leave_objects(shadows, images, mask, left, top)
    return shadows


def _add_between(mask: Mask, shadows: Mask, solid: Mask) -> None:
    """Add to the solid part of a mask what has it above and below, and shadows of which that is a good part."""
    between = np.empty_like(solid)
    if not find_between(mask, solid, np.empty(mask.shape[1], np.uint8), between):
        return
    runs, count = label_regions(np.asarray(cv2.subtract(shadows, solid)), diagonal=False)
    cv2.bitwise_or(solid, between, dst=solid)
    add_regions(runs, between, _BETWEEN, np.empty((count, 2), np.int64), solid)


def _take_border(few: Mask, found: Mask, box: tuple[slice, slice]) -> Mask:
    """Return what was found in a box of a grid for all of it, and with the background that touches shadows alone.

    Of the pixels that such a point of the grid stands for, those that are foreground are the border of the shadow.
    """
    found_all: Mask = np.zeros_like(few)
    found_all[box] = found
    around = np.ones((3, 3), np.uint8)
    shadows = cv2.threshold(found_all, 254, 255, cv2.THRESH_BINARY)[1]
    near_others = cv2.dilate(cv2.subtract(few, shadows), around)
    border = cv2.subtract(cv2.dilate(shadows, around), cv2.bitwise_or(few, near_others))
    return np.asarray(cv2.bitwise_or(found_all, border), np.uint8)


def _leave_objects(shadows: Mask, images: Images, mask: Mask, left: int, top: int) -> None:
    """Leave out regions of a mask that are shadow as a whole, but too dark or too sharp for a cloud.

    `left` and `top` are where the mask begins in the others.
    """
    runs, count = label_regions(mask)
    sums = np.empty((count, 4), np.float32)
    sum_regions(images, left, top, runs, shadows, sums)
    area, shaded, light, learned = sums.T.astype(np.float64)
    alone = shaded > _ALONE * area
    if not alone.any():
        return
    labels, borders = np.empty(mask.shape, np.int32), np.empty((count, 4), np.float32)
    write_labels(runs, labels)
    sum_borders(images, left, top, labels, alone, borders)
    inside, learned_inside, outside, learned_outside = borders.T.astype(np.float64)
    cast_from_outside = np.zeros(count, bool)
    cast_from_outside[_find_at_border(runs, images.mask.shape, left, top)] = True
    # The step of brightness at the outline and the depth of the shade, times what they are shares of.
    step = (outside * learned_inside - inside * learned_outside) * learned
    depth = (learned - light) * learned_inside * learned_outside
    objects = alone & ((light < _DARK * learned) | ((step > _SHARP * depth) & ~cast_from_outside))
    clear_regions(runs, objects, left, top, shadows)


def _find_at_border(runs: NDArray[np.int32], size: tuple[int, ...], left: int, top: int) -> NDArray[np.int32]:
    """Return the labels of regions at the border of the frame, given where the runs begin."""
    rows, starts, ends = top + runs[:, ROW], left + runs[:, START], left + runs[:, END]
    at_border = (rows == 0) | (rows == size[0] - 1) | (starts == 0) | (ends == size[1])
    labels: NDArray[np.int32] = runs[at_border, LABEL]
    return labels
