"""Regions on which the light has changed, and highlights: what moving lamps light up."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._numba import run_bands
from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.light.highlights import Evenness, count_brighter_by, mark_even
from bgsub.detectors.adaptive._jit.shadows.darkening import Images
from bgsub.detectors.adaptive.final_mask import Outlines, fill_outline, find_outlines, scaled_side
from bgsub.detectors.adaptive.shadows import Levels
from bgsub.frames import Mask

__all__ = ["compile_seldom_needed", "find_highlights", "find_relit"]

_TEXTURE = 8.0  # grey levels, the largest standard deviation of what the darkened background does not explain
_REACH_PX = 5  # side of the square where the texture is compared
_FLAT = 1 / 12  # variance of what is rounded to whole grey levels: with less there is no texture to compare
_MARGIN_PX = 8
_RELIT_SHARE = 0.02  # of the frame: smaller regions are never regarded as relit
_SAMPLES = 6_000  # pixels of a region's box that are looked at
_AT_ONCE = 0.5  # share of its pixels that came in the same frame, or one off, if a light was switched on
_BRIGHTER = 0.5  # else how long it must last, as a share of what darker ones must, which are shadows more often
_EXPLAINED = 0.8  # share of a relit region that the background explains,
_CORRELATION = 0.7  # and the least correlation of its texture with the background's
# What light gains or loses from pixel to pixel, as a share of itself; at outlines, in means of 3x3 pixels, it is more.
_STEEP = np.float32(0.4)
_DOUBT = 2.0  # standard deviations of such means, by which noise changes that as well,
_LIT = np.float32(3.0)  # and of which so many times as much does not hide an outline
_GAIN = np.float32(0.25)  # of light that is bright: faint things gain less, and lamps at night more
_PLAIN, _SMOOTH = np.float32(1 / 6), 1 / 4  # what has lost the ground's texture: less is left than of a shadow's
_FADING = 1 / 8  # share of its border across which a highlight fades: what else is bright has outlines all around
_SPOT_PX = 10  # side of the smallest, for 320x240: what is smaller is all outline
_LEAK_PX = 3  # side of the square that fits through no gap in an outline,
_GAP_PX = 15  # and width of the largest gap between parts of a thing, for 320x240, into which no beam falls
_AROUND_PX = 3  # around the box of the foreground, whose border is looked at, too


def find_relit(
    mask: Mask,
    outlines: Outlines,
    frame: NDArray[Any],
    background: NDArray[Any],
    white: float,
    ages: NDArray[np.uint16],
    lasting: int,
) -> Mask | None:
    """Find large regions that are the background under another light: clouds, lamps, automatic exposure.

    A region of more than 2 % of the frame is relit if its texture is explained, as in a shadow, on 80 % of its
    area, and correlates with the background's: the texture of a plain object before a plain wall is explained, too.
    A darker region also has to last: the shadow of somebody who walks by looks the same. So has a brighter one, half
    as long, that did not come at once, as light that is switched on does: a thing of the background's texture comes bit
    by bit.

    Parameters
    ----------
    mask, frame, background, white
        As for `mark_shadows`.
    outlines : sequence of arrays
        The mask's, from `find_outlines`.
    ages : (H, W) uint16 array
        For how many frames each pixel has been in the mask, not counting this one.
    lasting : int
        Median age from which a darker region is relit.

    Returns
    -------
    (H, W) uint8 array or None
        255 in relit regions; None if there is none.
    """
    least = _RELIT_SHARE * mask.size
    if cv2.countNonZero(mask) < least:
        return None
    relit: Mask | None = None
    for index, outline in enumerate(outlines):
        if cv2.contourArea(outline) < least:
            continue
        left, top, width, height = cv2.boundingRect(outline)
        step = max(1, round((width * height / _SAMPLES) ** 0.5))  # so large a region is judged by a part of its pixels
        rows = slice(max(top - _MARGIN_PX, 0), top + height + _MARGIN_PX, step)
        columns = slice(max(left - _MARGIN_PX, 0), left + width + _MARGIN_PX, step)
        whole = np.zeros_like(mask)
        cv2.drawContours(whole, outlines, index, 255, cv2.FILLED)
        region = np.ascontiguousarray(whole[rows, columns])
        inside = np.asarray(cv2.erode(region, np.ones((_REACH_PX, _REACH_PX), np.uint8))) != 0
        if not inside.any():
            continue
        now, learned = (_grey(planes, mask.shape, (rows, columns), white) for planes in (frame, background))
        # What most regions fail at comes first: it takes a fifth of the time.
        brighter, since = not _holds(now < learned, inside, 0.5), ages[rows, columns]
        is_young = _holds(since < lasting * (_BRIGHTER if brighter else 1.0), inside, 0.5)
        if is_young and not (brighter and _came_at_once(since[inside])):
            continue
        if _has_texture(now, learned, inside):
            relit = whole if relit is None else np.bitwise_or(relit, whole)
    return relit


def find_highlights(
    mask: Mask, frame: NDArray[Any], background: NDArray[Any], levels: Levels, threads: int = 1
) -> Mask | None:
    """Find foreground that is the background under added light that fades: the beams of headlights, of a torch.

    Light that falls on something fades towards its border, where a thing has an outline. So a highlight is a connected
    part of the foreground, mostly much brighter than the background, where the gain of light changes evenly and the
    ground keeps its texture, and beside at least an eighth of whose border that is so as well. Of the rest the beam is
    cut by what sends it. Lamps that dazzle light up what carries them, too: a highlight passes through no gap of an
    outline that a 3x3 square does not pass, and does not lie between parts of a thing that are near each other.

    Parameters
    ----------
    mask, frame, background, levels, threads
        As for `mark_shadows`.

    Returns
    -------
    (H, W) uint8 array or None
        255 in highlights; None if there is none.
    """
    if not math.isfinite(levels.noise):
        return None
    unit = 255.0 / levels.white
    noise = levels.noise * unit
    images = Images(mask, mask, frame, background, np.float32(unit), np.float32(levels.black * unit))
    doubt = np.float32(max(_DOUBT * noise, _FLAT) / math.sqrt(9 * len(frame)))
    light = Evenness(_STEEP, doubt, _PLAIN, np.float32(_SMOOTH * noise**2), _GAIN, _LIT)
    least = scaled_side(_SPOT_PX, (mask.shape[0], mask.shape[1])) ** 2

    def has_bright(box: tuple[slice, slice]) -> bool:
        (top, bottom), (left, right) = ((side.start, side.stop) for side in box)
        bright = count_brighter_by(images, (top, left, bottom, right), _LIT * doubt / _STEEP, _GAIN, least // 2)
        return bool(bright >= least // 2)

    if not has_bright((slice(0, mask.shape[0]), slice(0, mask.shape[1]))):
        return None
    highlights: Mask | None = None
    for outline in find_outlines(mask):
        box, region = fill_outline(outline, _AROUND_PX, mask.shape)
        if region.size < least or not has_bright(box):
            continue
        found = _find_in_region(np.bitwise_and(region, mask[box]), images, box, light, least, threads)
        if found is not None:
            highlights = np.zeros_like(mask) if highlights is None else highlights
            highlights[box] |= found
    return None if highlights is None else _without_gaps(highlights, mask)


def _without_gaps(highlights: Mask, mask: Mask) -> Mask | None:
    """Return highlights but for those between near parts of a thing, where lamps dazzle; None if that is all."""
    things = cv2.morphologyEx(cv2.bitwise_and(mask, cv2.bitwise_not(highlights)), cv2.MORPH_OPEN, _square(_LEAK_PX))
    side = scaled_side(_GAP_PX, (mask.shape[0], mask.shape[1]))
    closed = cv2.morphologyEx(things, cv2.MORPH_CLOSE, _square(side))
    rest: Mask = np.bitwise_and(highlights, np.bitwise_not(closed))
    return rest if cv2.hasNonZero(rest) else None


def _find_in_region(
    region: Mask,
    images: Images,
    box: tuple[slice, slice],
    light: Evenness,
    least: int,
    threads: int,
) -> Mask | None:
    """Return highlights of at least so many pixels in a region of the foreground within a box, 255 there, or None."""
    even, bright = np.empty(region.shape, np.uint8), np.empty(region.shape, np.uint8)
    corner = box[0].start, box[1].start
    run_bands(mark_even, (region.shape[0], region.shape[1]), threads, images, *corner, light, even, bright)
    # The light of lamps that dazzle spreads over the car as well, and through each gap in its outline to its beam.
    square = _square(_LEAK_PX)
    wide = np.bitwise_and(region, cv2.erode(even, square))
    count, parts, boxes, _ = cv2.connectedComponentsWithStats(wide, connectivity=4)
    found: Mask | None = None
    for index in range(1, count):
        near = _box_around(boxes[index], region.shape)
        if parts[near].size < least:
            continue
        grown = cv2.dilate((parts[near] == index).view(np.uint8), square)
        inside = (grown != 0) & (region[near] != 0) & (even[near] != 0)
        area = np.count_nonzero(inside)
        if area < least:
            continue
        if np.count_nonzero(bright[near][inside]) > 0.5 * area and _fades(inside, even[near]):
            found = np.zeros_like(even) if found is None else found
            found[near][inside] = 255
    return found


def _square(side: int) -> NDArray[np.uint8]:
    return np.ones((side, side), np.uint8)


def _box_around(box: NDArray[np.int32], size: tuple[int, ...]) -> tuple[slice, slice]:
    """Return the rows and columns of a box, given as left, top, width and height, and some more, within a size."""
    left, top, width, height = box[:4].tolist()
    rows = slice(max(top - _AROUND_PX, 0), min(top + height + _AROUND_PX, size[0]))
    return rows, slice(max(left - _AROUND_PX, 0), min(left + width + _AROUND_PX, size[1]))


def _fades(inside: NDArray[np.bool_], even: Mask) -> bool:
    """Return whether light changes evenly across enough of the border of a region."""
    around = np.ones((3, 3), np.uint8)
    border = (cv2.dilate(inside.astype(np.uint8), around) != 0) & ~inside
    outlines = cv2.dilate(((even == 0) & ~inside).astype(np.uint8), around) != 0
    return bool(np.count_nonzero(border & ~outlines) >= _FADING * np.count_nonzero(border) > 0)


def compile_seldom_needed(dtype: np.dtype[Any]) -> None:
    """Call the compiled functions that only frames with highlights need, for frames of a type."""
    mask, planes = np.full((16, 16), 255, np.uint8), np.zeros((1, 256), dtype)
    find_highlights(mask, planes + dtype.type(1), planes, Levels(white=1.0, noise=0.0))


def _grey(planes: NDArray[Any], shape: tuple[int, ...], box: tuple[slice, slice], white: float) -> NDArray[np.float32]:
    """Return the grey levels of a part of an image, plus 1, so that nothing is black."""
    part = planes[:, : shape[0] * shape[1]].reshape(-1, *shape)[:, *box].astype(np.float32)
    total: NDArray[np.float32] = part[0] if len(part) == 1 else np.add(part[0], part[1])
    for plane in part[2:]:  # a sum over the first axis takes three times as long
        total += plane
    return total * np.float32(255 / white / len(part)) + np.float32(1)


def _holds(condition: NDArray[np.bool_], inside: NDArray[np.bool_], share: float) -> bool:
    """Return whether a condition holds in more than a share of the inside of a region."""
    return bool(np.count_nonzero(condition & inside) > share * np.count_nonzero(inside))


def _came_at_once(ages: NDArray[np.uint16]) -> bool:
    """Return whether most pixels of a region came in the same frame, or one off."""
    return bool(np.mean(np.abs(ages - np.median(ages)) <= 1) > _AT_ONCE)


def _has_texture(now: NDArray[np.float32], learned: NDArray[np.float32], inside: NDArray[np.bool_]) -> bool:
    """Return whether the texture inside a region is the learned one, times the ratio of local means."""

    def mean(values: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(cv2.boxFilter(values, -1, (_REACH_PX, _REACH_PX)), np.float32)

    mean_now, mean_learned = mean(now), mean(learned)
    light = mean_now / mean_learned
    variance = mean(now * now) - mean_now * mean_now
    variance_learned = light * light * (mean(learned * learned) - mean_learned * mean_learned)
    covariance = light * (mean(now * learned) - mean_now * mean_learned)
    unexplained = variance - 2 * covariance + variance_learned
    if not _holds(unexplained < _TEXTURE * _TEXTURE, inside, _EXPLAINED):
        return False
    flat = _FLAT * float(np.count_nonzero(inside))
    spread = max(flat, float(variance[inside].sum())) * max(flat, float(variance_learned[inside].sum()))
    return bool(covariance[inside].sum() > _CORRELATION * spread**0.5)
