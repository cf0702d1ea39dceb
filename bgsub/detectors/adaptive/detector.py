"""The adaptive detector: a kernel density per pixel whose support vectors are projected and whose width adapts."""

import math
from typing import Any, Literal

import numpy as np

from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.blocks import BLINK_RATE_UNIT, as_blocks, as_image
from bgsub.detectors.adaptive._jit.score import ScoreRule, score
from bgsub.detectors.adaptive._jit.update import UpdateRule, update
from bgsub.detectors.adaptive.final_mask import (
    Dynamics,
    Grids,
    Masked,
    Pictures,
    Shown,
    Sides,
    add_faint,
    find_details,
    find_masks,
    find_static,
    follow_onsets,
    is_static_due,
    make_broad,
    make_sway,
    scaled_sides,
)
from bgsub.detectors.adaptive.forgetting import Forgetter
from bgsub.detectors.adaptive.model import TAU
from bgsub.detectors.adaptive.reduced import add_unlike, find_moving, follow_squares, reduce_mask, square_side
from bgsub.detectors.adaptive.shadows import count_colours, count_interval, mark_shadows
from bgsub.detectors.adaptive.stages import DETAILS, FAINT, GAPS, HIGHLIGHTS, MAJORITY, SQUARES, STAGES, SWAY
from bgsub.detectors.adaptive.state import FULL
from bgsub.detectors.kernel_bank import RATE, SLOTS, WIDTH
from bgsub.detectors.learning import Learning
from bgsub.detectors.parameters import param
from bgsub.frames import Frame, Mask, Score
from bgsub.stages import FILL_HOLES, RAW, REGION, SHADOWS

__all__ = ["Adaptive"]

_DRIFT = 0.02  # least rate at which a support vector moves to a colour projected on it
_FACTOR_RATE = 0.02
_EARLY = 19.0  # width factors grow so many times faster at the start,
_EARLY_FRAMES = 200.0  # fading with this time constant
_EXPOSURE_INTERVAL = 2  # frames between two measurements of noise, light and camera,
_CHANGED = 0.2  # and share of raw foreground above which light does not wait for the next one
_FLICKER_S = 6.0  # foreground that has stayed so long and still blinks is dynamic background;
_FLICKER_FRAMES, _FLICKER_SLOW = 10.0, 160.0  # at first after so many frames, and the square of all before over this
_LINGERING = 0.35  # what a frame adds to v in which raw foreground stays away from foreground: slow waves blink seldom
_MOVING_SQUARES = 3  # side of the square of squares in which the background moves on average
_GAP_PX = 3  # side of the smallest gap in foreground, whatever the size of the frame: texture needs some pixels
_PLAIN_SIDES = Sides(1, 1, 1, 1)  # for a mask as it is
_SHADOW = 127
_FAR = np.float32(1e4)  # float frames may hold anything finite: beyond it nothing is like white, and squares overflow


class Adaptive(Forgetter):
    """Kernel density of the background at every pixel, with widths, memory and mask feeding back on each other.

    Each pixel keeps a few colours s_j with coefficients a_j and judges a colour x by its density

        g(x) = sum_j a_j exp(-|s_j - x|^2 / (R width)^2) / sum_j a_j,

    in [0, 1]; the raw mask is g < threshold. Its mechanisms:

    1. *Projection* (Projectron; Orabona, Keshet, Caputo 2008, on one support vector): a learned colour with kernel
       value k above 0.5 to the heaviest s_j, else to the nearest, adds k to a_j and draws s_j towards it; any other
       takes the place of the smallest coefficient, with 1. Coefficients fade by 1 - 1 / memory per frame (NORMA;
       Kivinen, Smola, Williamson 2004). So few slots hold minutes.
    2. *A width per pixel*, after the feedback of SuBSENSE (St-Charles, Bilodeau, Bergevin 2015): v counts blinks of
       the raw mask away from foreground (+1; +0.35 for a frame in which it stays there, else -0.1, at least 0.1, so
       that what is slow, or filmed in many frames a second, counts as well); with the running mean d of clip(1 - g /
       threshold, 0, 1) in background, R in [R0, 3] grows by 0.02 (v - 1), if positive, while R < R0 (1 + 4 d)^2 and
       else shrinks by 0.01 / v. The 1 is for what passes once. R grows up to twenty times faster in the first ten
       seconds. Moving leaves and water become background. Foreground counts as background in this when it has stayed
       for six seconds, in frame n for 10 + n^2 / 160 frames if that is less. R0 = clip(6 sqrt(sigma^2 + (2 e)^2)
       / width, 1/2, 1) follows the camera's noise sigma and the steps e between the blocks of a codec, since codecs
       spoil the blocks around what moves.
    3. *Final mask*: where the background moves, the raw mask and what is far from the heaviest colour in squares of
       pixels whose mean, in a channel or in the difference of two, is more than rho standard deviations from the
       learned one; rho follows the share of such frames, 0.005, as NORMA's threshold does. Then the majority in a
       large square, and in a small one where small squares seldom have a majority away from large ones (mean per cell
       of 4x4 pixels and frame below 0.0012, for restless background over restless cells alone, where 1 counts each
       region of cells that begins out of nothing, and up to 0.02 what goes on, the more the wider kernels are than they
       have to be), else in a middle one where this holds for middle squares, by as much less as they are larger; in
       these alone where the raw mask fills what is found; also regions that small squares find elsewhere, as large as
       the majority of a large square, of which fewer than half of the pixels have a colour that the background has
       within a large square, where these seldom come; enclosed holes are filled. Sides grow with the frame's area to
       the power 0.35.
       Masks also show, without learning from it, what is most of a 3x3 square beside all that, and most of a small
       square that is faint: g < 1/2, and no s_j alone makes it background. Such squares, and 2x2 ones of raw pixels,
       count far from clear foreground, or touching it if no large square has a majority, by the same rule, and where no
       more than two began of late in a cell or beside it. Masks show neither regions without a majority in a large
       square, of which two thirds of the pixels have a colour that the background has within two pixels, as leaves do
       that sway (Elgammal, Harwood, Davis 2000), nor 3x3 squares of which no pixel is raw or faint, and in which the
       learned background explains more than half of the variance: gaps between legs or below cars.
    4. *Conservative learning*: only final background learns, and foreground older than `absorb_s`, which then
       gets half of the density at once.
    5. *Ghosts*: regions, or parts of them, whose outline is an edge in the learned background but not in the frame
       are replaced by what is there now, those that have just come only if it is three times as much of one, and those
       that are mostly no shadow only if they are ghosts without it, those that hide what was seen for long only if that
       is as clear, or two searches in turn find them. What they take the place of stays background for some seconds,
       and comes first again where it is seen, for it was no ghost then. R begins as around them. They are searched for
       every 0.16 s, and sooner if all foreground is elsewhere sooner.
    6. *Light*: in scenes whose background has a mean m below 100 of 255 grey levels, widths and all else that is said
       in grey levels are multiplied by max(m / 100, 0.1), since with less light everything differs by less. What fog
       adds to all of a frame is no light of the scene; it shows where nothing is dark. When under one gain
       per channel the background is nearer to one and a half times as many pixels as it is farther from, the light has
       changed: support vectors are multiplied by it where the background is then nearer, but in pixels that match and
       would no longer do so; what rounding takes from s_1 is kept. Regions of more than 2 % of the frame whose texture
       is that of the background under another light, for a second if it is less, for half a second if it is more and
       did not come at once, are learned again from scratch; after half a second with more than 60 % foreground
       everything is.
    7. *Camera*: one that shakes shows the background elsewhere in each frame; frames are judged where they would lie if
       it stood still, found by the directions of edges. The model stays where the camera looks on average, and goes
       with one that pans. When the edges of the background are gone, the camera looks elsewhere; what is there is
       learned at once, or recalled if it was seen before.
    8. *Shadows*: foreground with the colour and texture of the background under less light is reported as background,
       with penumbras at its outline; the colour suffices where what is brighter than the background, and no shadow,
       seldom has it. Where the camera shows no colours, textures have to be more alike.

    The state takes slots * (channels + 4) + channels + 13.5 bytes per pixel for uint8 frames, 37 for three slots in
    colour, and 55 for each square of pixels in colour, 15 in grey: less than a byte per pixel at 320x240.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> model = Adaptive(threads=1)
    >>> street = np.full((60, 80, 3), 90, np.uint8)
    >>> for _ in range(10):
    ...     mask = model.apply(street)
    >>> street[20:40, 30:50] = 200
    >>> mask = model.apply(street)
    >>> int(mask[30, 40]), int(mask[5, 5])
    (255, 0)
    """

    name = "adaptive"
    own_postprocess = True
    SHADOW_VALUE = _SHADOW
    STAGES = STAGES
    OPENCV_NAMES = {"DetectShadows": "detect_shadows"}  # noqa: RUF012 - nobody writes to it
    slots: int = SLOTS(3)
    width: float = WIDTH(30.0)
    threshold: float = param(
        0.18, "density below which a pixel is raw foreground", "(0, 1)", note="Lower is less sensitive."
    )
    memory_s: float = param(40.0, "about how long a colour is remembered", "[1e-6, 1e9]", unit="s")
    absorb_s: float = param(
        60.0,
        "until foreground that stays becomes background; 0 for never",
        "[0, 1e9]",
        note="Never more than 65535 frames, 43 minutes at 25 frames/s.",
        unit="s",
    )
    rate_hz: float = RATE(25.0)
    smoothing: int = param(
        15,
        "side of the square whose majority makes the mask, for 320x240; odd, 1 for none",
        "[1, 99]",
        note="1 also omits the small square.",
        unit="px",
    )
    fill: bool = param(True, "fill background that foreground encloses, but for its gaps")
    ghosts: bool = param(True, "forget what left an outline in the background only")
    shadows: bool = param(
        False,
        "whether shadows and highlights are foreground",
        note="Shadows are darkened background with its colour and texture. They are not learned.",
    )
    detect_shadows: bool = param(False, "report shadows as 127", note="Else they are foreground or background.")
    quality: Literal["fast", "balanced", "best"] = param(
        "balanced",
        "whether frames are reduced before they are judged",
        note="`best` judges each pixel. `balanced` reduces frames of 640x360 or more by 2, of 2560x1440 or more by 4. "
        "`fast` reduces all by 2, from 1280x720 on by 4. Masks keep their size; outlines follow edges of the frame.",
        shapes_state=True,
    )
    raw: bool = param(
        False, "return the raw mask", note="The final one is computed and fed back all the same.", group="expert"
    )

    @classmethod
    def _check_combination(cls, values: dict[str, Any]) -> None:
        if values["smoothing"] % 2 == 0:
            raise ValueError(f"smoothing must be odd, got {values['smoothing']}")

    @property
    def reports_shadows(self) -> bool:
        """Whether masks may hold 127, for shadows; a pipeline makes them background."""
        return bool(self._parameters["detect_shadows"])

    def _step_pixels(self, frame: Frame, mask: Mask | None, score: Score | None, learning: Learning | None) -> None:
        if frame.dtype == np.float32:
            frame = np.clip(frame, -_FAR, _FAR)
        super()._step_pixels(frame, mask, score, learning)

    def _step_steady(self, frame: Frame, mask: Mask | None, score: Score | None, learning: Learning | None) -> None:
        self._sides = scaled_sides(self._parameters["smoothing"], self._size, self._reduced)
        frames, where = self._scalars["frames"], None if learning is None else learning.where
        measures, due = learning is not None and frames > 0, frames % _EXPOSURE_INTERVAL == 0
        if measures and due:
            self._follow_camera(frame, where)
            self._follow_exposure(frame, where)
        raw = self._score_frame(frame, score)
        # A lamp does not wait until it is due, and all that it lit would then be left out as foreground.
        changed = measures and not due and cv2.countNonZero(raw) > _CHANGED * self._count_inside()
        if changed and self._follow_exposure(frame, where):
            raw = self._score_frame(frame, score)
        if mask is None and learning is None:
            return
        self._keep_stage(RAW, raw)
        pictures = self._add_unlike_squares(raw, learning)
        self._keep_stage(SQUARES, pictures.raw)
        masked = self._find_masks(pictures)
        final = masked.mask
        if learning is not None:
            # Ghosts and regions under another light are background, in this mask and for learning.
            self._take_back(learning.where, final)
            for forgotten in self._find_forgotten(final):
                self._forget_pixels(forgotten, learning.where, final)
                self._keep_stage(forgotten.stage, final)
            interval = count_interval(int(frames))
            if frames % interval == 0:
                levels = self._levels()
                counted = count_colours(final, self._cells, *self._planes, levels, self._colours(), interval)
                self._scalars |= {"brighter": counted.brighter, "brighter_alike": counted.alike}
            self._update(learning)
        if mask is not None:
            shown = Shown(np.ascontiguousarray(mask), self._shown_rows, self._kinds)
            self._show(raw, pictures, masked, shown, learns=learning is not None)
            if shown.mask is not mask:  # whose pixels lie apart
                mask[:] = shown.mask

    def _show(self, raw: Mask, pictures: Pictures, masked: Masked, shown: Shown, *, learns: bool) -> None:
        """Write the mask that is returned: the final one with what is not learned, without shadows or highlights."""
        marks, raw_wanted = self._parameters["detect_shadows"], self._parameters["raw"]
        judges_shadows = marks or not (raw_wanted or self._parameters["shadows"])
        self._find_details(pictures, masked, shown, wanted=not raw_wanted)
        if not raw_wanted:  # where shadows are not looked for, all that is a little darker would be foreground
            self._add_faint(shown, all_faint=judges_shadows)
        if judges_shadows:
            highlights: Mask | None = None
            if cv2.hasNonZero(shown.occupied_rows):
                # With the shadows in them. A model that does not learn does not count frames.
                highlights = self._find_highlights(shown.mask, always=not learns, learns=learns)
                self._mark_shadows(shown, _SHADOW if marks else 0)
            self._keep_stage(SHADOWS, shown.mask)
            if highlights is not None:
                shown.mask[highlights != 0] = 0
                self._keep_stage(HIGHLIGHTS, shown.mask)
        if raw_wanted:
            np.copyto(shown.mask, raw, where=shown.mask == masked.mask)  # all but shadows
            if self.trace is not None:
                self.trace.clear()  # none of these stages made this mask

    def _find_details(self, pictures: Pictures, masked: Masked, shown: Shown, *, wanted: bool) -> None:
        """Write the final mask, if wanted with details and without what sways and gaps, and of what kind it is."""
        sides, threads = self._sides if wanted else _PLAIN_SIDES, self._parameters["threads"]
        given = masked, pictures, self._arrays["static"], self._roi, sides
        sway = make_sway(sides, self._units.box)
        if self.trace is not None and sides.small > 1:
            find_details(*given, 0, sway._replace(reach=0), threads, shown, self._hold)
            self.trace.keep(DETAILS, shown.mask)
            find_details(*given, 0, sway, threads, shown, self._hold)
            self.trace.keep(SWAY, shown.mask)
        find_details(*given, _GAP_PX if sides.small > 1 else 0, sway, threads, shown, self._hold)
        if sides.small > 1:
            self._keep_stage(GAPS, shown.mask)

    def _add_faint(self, shown: Shown, *, all_faint: bool) -> None:
        """Show what is faint or tiny where such things are seldom.

        It is learned like any background: what stays so near to it is a change of light more often than a thing.
        """
        static, rates = self._arrays["faint_static"], self._arrays["onset_rates"]
        if add_faint(self._faint_votes, self._cells, static, rates, all_faint, shown):
            self._confine(shown.mask, None)
            self._keep_stage(FAINT, shown.mask)

    def _mark_shadows(self, shown: Shown, value: int) -> None:
        """Write a value where a final mask is shadow, compared with the background as it is now known."""
        levels, threads = self._levels(), self._parameters["threads"]
        planes, colours = self._planes, self._colours()
        mark_shadows(*shown, *planes, levels, threads, value, colours)

    def _score_frame(self, frame: Frame, found: Score | None) -> Mask:
        """Compare the frame with the model; return the raw mask within the region and write the score if wanted."""
        threshold, seen, units = np.float32(self._parameters["threshold"]), self._seen, self._units
        # Which blocks one slot dominates was found under the threshold of that time.
        state = self._state
        if self._scalars["threshold"] != self._parameters["threshold"]:
            state = state._replace(dominant=np.zeros_like(state.dominant))
        rule = ScoreRule(units.gain, threshold, TAU, units.box, found is not None)
        self._run_blocks(score, frame.reshape(-1), rule, held=self._hold(state, seen))
        raw: Mask = self._images.raw
        self._confine(raw, None)
        if found is not None:
            np.subtract(np.float32(1), as_image(seen.density, self._size) / threshold, out=found)
        return raw

    def _add_unlike_squares(self, raw: Mask, learning: Learning | None) -> Pictures:
        """Return pictures with the raw mask and, where the background moves, what only squares of pixels show.

        The raw mask itself remains what is learned from: what blinks in it is dynamic background.
        """
        moving = self._arrays["moving_squares"]
        if not cv2.hasNonZero(moving):
            return self._pictures
        allowed = np.zeros_like(moving) if learning is None else moving
        if learning is not None and learning.where is not None:
            allowed = cv2.bitwise_and(moving, reduce_mask(learning.where, square_side(self._size)))
        planes, background = self._planes
        white = self._units.white
        unlike = follow_squares(planes, white, self._squares, self._previous.masked.mask, allowed)
        if not cv2.hasNonZero(unlike):
            return self._pictures
        found, threads = self._pictures_with_squares.raw, self._parameters["threads"]
        add_unlike(raw, unlike, planes, background, self._half_box() * white, threads, found)
        self._confine(found, None)
        return self._pictures_with_squares

    def _find_masks(self, pictures: Pictures) -> Masked:
        """Return the final mask of the raw one among pictures, within the region, and what is faint beside it."""
        self._confine(self._images.faint, None)
        fill, threads, masked = self._parameters["fill"], self._parameters["threads"], self._final.masked
        box = self._units.box
        broad = make_broad(self._arrays["broad_static"], pictures, self._sides, box)
        given = pictures.raw, self._images, self._arrays["static"], broad
        if self.trace is not None:
            if fill:
                find_masks(*given, None, self._sides, False, threads, masked, self._hold)
                self.trace.keep(MAJORITY, masked.mask)
            find_masks(*given, None, self._sides, fill, threads, masked, self._hold)
            self.trace.keep(FILL_HOLES if fill else MAJORITY, masked.mask)
        find_masks(*given, self._roi, self._sides, fill, threads, masked, self._hold)
        if self._roi is not None:
            self._keep_stage(REGION, masked.mask)
        return masked

    def _update(self, learning: Learning) -> None:
        """Advance the model by one frame."""
        arrays, scalars, parameters = self._arrays, self._scalars, self._parameters
        frames, where = scalars["frames"], learning.where
        if scalars["threshold"] != parameters["threshold"]:
            scalars["threshold"] = parameters["threshold"]
            arrays["dominant"][:] = 0
        own_rate = min(1.0, 1.0 / (parameters["memory_s"] * parameters["rate_hz"]))
        fading = 1.0 - (own_rate if learning.rate is None else learning.rate)
        fading = max(fading, 1e-3)  # a rate just below 1 must not make the scale 0
        scalars["scale"] *= fading
        rule = UpdateRule(
            everywhere=where is None,
            gain=self._units.gain,
            base=np.float32(round(scalars["base"] * FULL)),
            factor_rate=np.float32(_FACTOR_RATE * (1.0 + _EARLY * math.exp(-frames / _EARLY_FRAMES))),
            flicker=np.int32(min(int(self._in_frames(_FLICKER_S)), int(_FLICKER_FRAMES + frames**2 / _FLICKER_SLOW))),
            lingering=np.int32(round(_LINGERING / float(BLINK_RATE_UNIT))),
            absorb=self._in_frames(parameters["absorb_s"]),
            share=np.float32(parameters["threshold"] / TAU),
            one_new=np.float32(1.0 / scalars["scale"]),
            drift=np.float32(_DRIFT),
            largest=np.float32(1.0 / scalars["scale"] / max(1.0 - fading, 1e-9)),
            unfade=np.float32(1.0 / fading),
            step=np.int32(frames % 2**31),
            dither=self._dither,
        )
        masks, rows = self._final.masks, self._final.masked.occupied_rows
        np.bitwise_or(rows, self._previous.masked.occupied_rows, out=masks.occupied_rows)
        allowed = masks.blocks if where is None else as_blocks(where, 255)
        self._run_blocks(update, allowed, rule, held=self._hold(self._state, self._seen, masks))
        self._final, self._previous = self._previous, self._final
        arrays["previous_mask"] = self._previous.masks.blocks
        self._fade(1.0)
        follow_onsets(self._cells, arrays["vote_cells"], arrays["onset_rates"], arrays["restless"], int(frames))
        if is_static_due(int(frames)):
            factors, rates = (as_image(arrays[name], self._size) for name in ("width_factors", "blink_rates"))
            least = scalars["base"] * FULL
            grids = Grids(*(arrays[name] for name in ("static", "faint_static", "broad_static", "restless")))
            dynamics = Dynamics(factors, rates, arrays["onset_rates"], least)
            find_static(dynamics, int(frames), self._sides, parameters["threads"], grids)
            find_moving(factors, least, square_side(self._size), _MOVING_SQUARES, arrays["moving_squares"])
            arrays["square_ages"][arrays["moving_squares"] == 0] = 0
