"""Shadows: foreground that is the background under less light."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgsub._numba import find_team, run_bands
from bgsub.detectors.adaptive._jit.shadows.alone import Lone
from bgsub.detectors.adaptive._jit.shadows.brighter import count_brighter
from bgsub.detectors.adaptive._jit.shadows.darkening import Darkening, Images
from bgsub.detectors.adaptive._jit.shadows.grid import add_border, take_grid
from bgsub.detectors.adaptive._jit.shadows.voting import find_shadows, write_enlarged
from bgsub.detectors.adaptive.final_mask import scaled_side
from bgsub.frames import Mask

__all__ = [
    "Colours",
    "Levels",
    "compile_seldom_needed",
    "count_colours",
    "count_interval",
    "mark_shadows",
]

_TEXTURE = np.float32(0.09**2)  # where the camera shows colours
_GREY_TEXTURE = np.float32(0.03**2)  # without colours: most smooth things are like each other up to twice that
_PENUMBRA = np.float32(28.0**2)  # beyond texture, where colours help: lets penumbras pass, but no stripes
_FLAT = np.float32(1 / 4)  # half of the contrast: codecs leave shadows that much of the texture of the ground
_SMOOTH = 1 / 8  # or less of the variance of the noise of a channel, of which the mean of three has a third
_DARKEST = np.float32(0.35)  # share of the background's brightness: darker are trousers more often than shadows,
_CHANCE = np.float32(1.64**2)  # unless they vary with the ground, as plain things do so much in one case of twenty
_RULE = Darkening(
    darkest=_DARKEST,
    lightest=np.float32(0.97),
    chance=np.float32(0.0),
    chromaticity=np.float32(0.09),  # 3 % of a grey pixel's channel, for three channels
    texture=_TEXTURE,
    penumbra=np.float32(0.0),
    flat=_FLAT,
    smooth=np.float32(0.0),
    least=np.float32(6.25),  # a quarter of the square
    majority=np.float32(0.5),
)
# Shares of what is brighter that have the background's chromaticity,
_MOSTLY = 0.5  # below which colours help, as no majority of an object is like shadow,
_SELDOM = 0.1  # and below which they tell objects,
_PRIOR = 25.0 / 16  # after as many of what is looked at, a sixteenth of all at first, as make this share small beside
_FADING = 0.999  # of counts, per frame
_INTERVAL, _YOUNG_INTERVAL, _YOUNG = 8, 4, 300  # frames between two counts, and those at first, in so many frames
_CAUTION = 0.2  # by which the majority exceeds a half, times that share, where the camera shows colours
_BETWEEN = 0.25  # share of a shadow that may lie between parts of the object, as no shadow on the ground does
# Share of a region in shadow that leaves nothing to cast it; without colours, plain things look like shadow in most
# places, so that most of it is enough,
_ALONE, _GREY_ALONE = 0.95, 0.5
_DARK = 0.7  # and share of the background's brightness below which it is then an object, if it is larger than others,
_SHARP = 0.75  # or share of its depth above which a step at its outline makes it one
# Side of the square in which the majority decides, on the grid; less for frames smaller than 320x240. With a larger one
# shadows outvote the feet that they begin at, with a smaller one what noise and penumbra leave of them is an object.
_SIDE_PX = 11
_GRID_PX = 320 * 240  # larger frames are looked at on a grid of about so many pixels


class Levels(NamedTuple):
    """The values of a frame that count as white and as black, since fog adds light that has no shadow; and noise."""

    white: float
    """A 255th of it is a grey level."""
    black: float = 0.0
    noise: float = math.inf
    """Its standard deviation; infinite before it is known."""


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

    def share_known_alike(self) -> float:
        """Return the same where it is known; 0 before, and without colours, where texture decides and is stricter."""
        return self.alike / (self.brighter + _PRIOR) if self.seen else 0.0


def count_colours(
    final: Mask,
    cells: Mask,
    frame: NDArray[Any],
    background: NDArray[Any],
    levels: Levels,
    colours: Colours,
    interval: int,
) -> Colours:
    """Count the colours of a frame, in every second row and column of a grid of about 320x240, with those before.

    It is enough to do so in every few frames, see `count_interval`.

    Only where large squares have a majority: what small ones alone find is often a leaf or a wave, which has the
    background's colour, and counts for much while objects are few.

    Parameters
    ----------
    final : (H, W) uint8 array
        Final mask, 0 and 255.
    cells : (ceil(H / 4), ceil(W / 4)) uint8 array
        What `find_masks` wrote of cells of 4x4 pixels.
    frame, background : (D, at least H * W) array
        Planes of the frame and of the learned background.
    levels : Levels
    colours : Colours
        Of the frames before, which fade.
    interval : int
        Frames since those were counted.

    Returns
    -------
    Colours
    """
    step = max(1, round(math.sqrt(final.size / _GRID_PX)))
    brighter, alike = count_brighter(_make_images(final, final, frame, background, levels), cells, _RULE, step)
    fading = _FADING**interval
    return colours._replace(brighter=fading * colours.brighter + brighter, alike=fading * colours.alike + alike)


def count_interval(age: int) -> int:
    """Return after how many frames to count the colours again, `age` frames after the first."""
    return _YOUNG_INTERVAL if age < _YOUNG else _INTERVAL


def mark_shadows(
    mask: Mask,
    occupied_rows: NDArray[np.uint8],
    kinds: Mask,
    frame: NDArray[Any],
    background: NDArray[Any],
    levels: Levels,
    threads: int,
    value: int,
    colours: Colours,
) -> None:
    """Write a value into a mask where the foreground has colour and texture of the background, darkened by one factor.

    A pixel may be in shadow where brightness fell to between 35 and 97 % (or below, if the camera shows colours and
    it varies with the ground) and chromaticity stayed, and where the brightness of such pixels in the 5x5 square
    around it equals the background's times one factor, up to 9 % of it, or 3 % where the camera shows no colours
    and nothing but texture tells shadows from objects, or more where colours do for most of the objects. The
    outline of the foreground is left out there, unless it is faint: it is penumbra. At least half of the contrast
    that the texture of the background has under so much less light has to be there: a plain coat before a rough
    road has less, but noise, which a codec would take from a shadow as well. Grey cars on grey roads look like
    shadow in places, so the majority decides: shadow is where more than half of the foreground in a square of 11
    pixels may be in shadow, and a fifth more if all objects have the background's colour, except what the rest of
    the foreground encloses, and regions of which more than a quarter has foreground that is no shadow above and
    below: trousers between coat and shoes. Holes that were filled do not vote, and become background where only
    shadows close them. A region that is shadow as a whole, or for the most part where the camera shows no colours,
    is an object, unless colours tell objects, since no cloud casts it: if inside it has less than 70 % of the
    brightness and is larger than anything else that is no shadow, or has more brightness, but three quarters of its
    depth as a step at its outline, and does not touch the border of the frame. Of frames larger than 320x240 every
    second, third, ... row and column is looked at, and stands for its neighbours; so does background there that
    touches shadow alone, since what foreground it stands for is the border of the shadow.

    Parameters
    ----------
    mask : (H, W) uint8 array
        Final mask, 0 and 255; written.
    occupied_rows : (H,) uint8 array
        0 for rows of it that are known to be empty.
    kinds : (H, W) uint8 array
        Of what kind the foreground is, from `find_details`, and what is faint, from `add_faint`.
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
    step = max(1, round(math.sqrt(mask.size / _GRID_PX)))
    side = min(_SIDE_PX, scaled_side(_SIDE_PX, (mask.shape[0], mask.shape[1])))
    share_alike = colours.share_alike()
    rule = _RULE._replace(
        darkest=_DARKEST,
        texture=_TEXTURE if colours.seen else _GREY_TEXTURE,
        penumbra=_PENUMBRA if share_alike < _MOSTLY else np.float32(0.0),
        flat=_FLAT,
        smooth=np.float32(_SMOOTH * (levels.noise * 255.0 / levels.white) ** 2),
        majority=np.float32(0.5 + _CAUTION * colours.share_known_alike()),
    )
    least = np.float32(0.0) if colours.seen else _DARKEST  # with which nothing is left for it
    dark_rule = rule._replace(darkest=least, lightest=_DARKEST, chance=_CHANCE)
    # Without clouds, colours tell that what is shadow as a whole is no object.
    clouds, lone = share_alike >= _SELDOM, Lone(_ALONE if colours.seen else _GREY_ALONE, _DARK, _SHARP)
    images = _make_images(mask, kinds, frame, background, levels)
    rows = occupied_rows
    if step == 1:
        found = _find(images, occupied_rows, rule, dark_rule, side, clouds, lone, threads)
    else:
        few, top, left, inside, kinds_inside, now, learned, rows = take_grid(mask, occupied_rows, images, step)
        if inside.size == 0:
            return
        images = images._replace(mask=inside, kinds=kinds_inside, frame=now, background=learned)
        found = _find(images, rows, rule, dark_rule, side, clouds, lone, threads)
        if found is not None:
            found, rows = add_border(few, found, rows, top, left), np.ones(len(few), np.uint8)
    if found is not None:
        run_bands(write_enlarged, mask.shape, threads, found, rows, step, kinds, value, mask)


def compile_seldom_needed(dtype: np.dtype[Any]) -> None:
    """Call the compiled functions that only larger frames need, for frames of a type."""
    mask, planes, rows = np.full((8, 8), 255, np.uint8), np.zeros((1, 64), dtype), np.ones(8, np.uint8)
    few, top, left, inside, *_, rows = take_grid(mask, rows, _make_images(mask, mask, planes, planes, Levels(1.0)), 2)
    add_border(few, inside, rows, top, left)


def _make_images(mask: Mask, kinds: Mask, frame: NDArray[Any], background: NDArray[Any], levels: Levels) -> Images:
    unit = 255.0 / levels.white
    return Images(mask, kinds, frame, background, np.float32(unit), np.float32(levels.black * unit))


def _find(
    images: Images,
    occupied_rows: NDArray[np.uint8],
    rule: Darkening,
    dark_rule: Darkening,
    side: int,
    clouds: bool,
    lone: Lone,
    threads: int,
) -> Mask | None:
    """Return 255 for shadows and `OPENED` for holes to be opened in occupied rows, if there are any.

    See `mark_shadows`. `dark_rule` is for what is too dark for `rule`.
    `clouds` tells whether a region that is shadow as a whole, as `lone` says, has to look like one of a cloud.
    """
    shadows: Mask = np.empty_like(images.mask)
    team = find_team((shadows.shape[0], shadows.shape[1]), threads)
    given = images, occupied_rows, rule, dark_rule, side, _BETWEEN, clouds, lone
    any_found = find_shadows(team, *given, shadows)
    return shadows if any_found else None
