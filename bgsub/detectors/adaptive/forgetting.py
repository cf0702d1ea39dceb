"""What is forgotten and learned at once: ghosts, regions under another light, or all of a scene that has changed."""

import functools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.blocks import BLOCK, as_blocks, as_image
from bgsub.detectors.adaptive._jit.feedback import WIDEST, forget, take_back
from bgsub.detectors.adaptive._jit.shadows.kinds import SOLID
from bgsub.detectors.adaptive.camera.shaking import ShakeFollower
from bgsub.detectors.adaptive.final_mask import find_outlines, scaled_side
from bgsub.detectors.adaptive.ghosts import Learned, Turnover, average_around, count_turnover, find_ghosts
from bgsub.detectors.adaptive.lighting import find_highlights, find_relit
from bgsub.detectors.adaptive.reduced import reduce_frame, square_side
from bgsub.detectors.adaptive.shadows import mark_shadows
from bgsub.detectors.adaptive.stages import GHOSTS, LIGHT
from bgsub.detectors.adaptive.state import FULL
from bgsub.frames import Mask
from bgsub.stages import Stage

__all__ = ["Forgetter"]

_GHOST_S, _GHOST_FRAMES = 0.16, 8  # at most so long, and so many frames, between two searches for ghosts,
_GHOST_SEARCHES = 2  # of which, at this longest interval, a region has been foreground that has not just come;
_TURNOVER_RATE = 0.05  # of the sums that tell in how many frames all foreground is replaced, which make it shorter;
_GHOST_PX = 5  # the side of the smallest of them, for 320x240,
_OLD = 0.2  # and the share of `memory_s` after which a background is not easily given up for one,
_LIGHT_INTERVAL = 10  # frames between two searches for changes of light,
_SHADE_S = 1.0  # which are no shadow of somebody who walks by after so long
_LIT_INTERVAL = 16  # frames between two searches for highlights, since much is bright and little is lit,
_LIT_S = 4.0  # but for so long after one was found there is a search in every frame
_FLOOD = 0.6  # share of foreground above which the scene is taken to have changed as a whole,
_FLOOD_S = 0.5  # when it lasts this long
_OLDEST = 65535  # ages are counted in 16 bits
_KEPT_S = 2.0  # for which what is kept counts as seen: it is background for three and a half times as long


class Forgotten(NamedTuple):
    """Foreground that is to be background at once."""

    mask: Mask
    """(H, W): not 0 there"""
    stage: Stage
    """What makes it background."""
    factors: NDArray[np.uint16] | int = FULL
    """Width factors that it begins with, (H, W) or the same for all, in units of 1 / FACTOR_ONE."""
    keeps: bool = False
    """Whether the background so far remains one for a while: a ghost may have been a person, who walks on, and the
    camera may turn back. Without it what is there now is learned faster, as light that goes on changing asks for."""


@functools.lru_cache(maxsize=64)  # the same ones are asked for in each step
def _count_frames(seconds: float, rate_hz: float) -> np.int32:
    return np.int32(min(_OLDEST, math.ceil(seconds * rate_hz)))


class Forgetter(ShakeFollower):
    """The part of the detector that finds foreground which is background: it says when to look, and for what."""

    def _find_forgotten(self, final: Mask) -> Iterator[Forgotten]:
        """Find foreground to be learned at once: everything, ghosts, or regions under another light.

        The caller makes each of them background in `final` before it asks for the next.
        """
        frames, white = self._scalars["frames"], self._units.white
        longest = min(max(int(_GHOST_S * self._parameters["rate_hz"]), 1), _GHOST_FRAMES)
        turnover = count_turnover(final, self._previous.masked.mask, self._final.masked.occupied_rows)
        ghosts_due = self._parameters["ghosts"] and self._are_ghosts_due(turnover, longest)
        light_due = frames % _LIGHT_INTERVAL == 0
        # Before anything is forgotten: both searches look at regions as they were found.
        wanted = turnover.foreground > 0 and (ghosts_due or light_due)
        # A beam ends nowhere, so beside one nothing has the outline of what is there.
        highlights = self._find_highlights(final) if wanted else None
        searched = final if highlights is None else np.where(highlights != 0, np.uint8(0), final)
        outlines = find_outlines(searched, self._final.masked.occupied_rows) if wanted else ()
        if self._unseen is not None:
            unseen, self._unseen = self._unseen, None
            # Also what a shift brought into view, which has copies of the border behind it: without them, turns that go
            # on have F of .598 instead of .663 in `bench.detectors.turned`.
            yield Forgotten(unseen, LIGHT, keeps=True)
            searched = cv2.bitwise_and(searched, final)
            turnover = turnover._replace(foreground=cv2.countNonZero(final))
        if self._is_flooded(turnover.foreground):
            # Noise that floods the frame would do so again under the same widths, which shrink fast where they may.
            yield Forgotten(np.full(final.shape, 255, np.uint8), LIGHT, int(WIDEST) * FULL)
            return
        if ghosts_due and outlines and self._scalars["flooded"] == 0:
            least = scaled_side(_GHOST_PX, self._size) ** 2
            planes, background = self._planes
            old = _OLD * self._parameters["memory_s"] * self._parameters["rate_hz"] / self._scalars["scale"]
            coefficients = as_image(self._arrays["coefficients"][0], self._size)
            ages = as_image(self._arrays["foreground_ages"], self._size)
            staying = int(self._in_frames(_SHADE_S))
            learned = Learned(background, coefficients, old, ages, _GHOST_SEARCHES * longest, staying)
            suspects = as_image(self._arrays["suspects"], self._size)
            objects = functools.partial(self._find_objects, searched)
            ghosts = find_ghosts(searched, outlines, planes, learned, white, least, objects, suspects)
            if ghosts is not None and not self._hides_highlights(highlights, final):
                factors = as_image(self._arrays["width_factors"], self._size)
                yield Forgotten(ghosts, GHOSTS, average_around(ghosts, searched, factors, FULL), keeps=True)
        elif ghosts_due:
            self._arrays["suspects"][:] = 0
        if light_due:
            ages = as_image(self._arrays["foreground_ages"], self._size)
            relit = find_relit(searched, outlines, *self._planes, white, ages, int(self._in_frames(_SHADE_S)))
            if relit is not None and not self._hides_highlights(highlights, final):
                yield Forgotten(relit, LIGHT)

    def _find_objects(self, final: Mask) -> Mask:
        """Return a final mask without its shadows."""
        objects, rows, kinds = final.copy(), np.ones(len(final), np.uint8), np.full_like(final, SOLID)
        levels, threads = self._levels(), self._parameters["threads"]
        mark_shadows(objects, rows, kinds, *self._planes, levels, threads, 0, self._colours())
        return objects

    def _find_highlights(self, mask: Mask, *, always: bool = False, learns: bool = True) -> Mask | None:
        """Return 255 where a mask shows what moving lamps light up, or None; unless always, most often where some was.

        What is found is not remembered if the model does not learn.
        """
        frames = self._scalars["frames"]
        if not always and frames % _LIT_INTERVAL != 0 and frames >= self._scalars["lit_until"]:
            return None
        highlights = find_highlights(mask, *self._planes, self._levels(), self._parameters["threads"])
        if highlights is not None and learns:
            self._scalars["lit_until"] = frames + int(self._in_frames(_LIT_S))
        return highlights

    def _hides_highlights(self, known: Mask | None, mask: Mask) -> bool:
        """Return whether a mask was searched before its highlights were known; then there is another search soon."""
        return known is None and self._find_highlights(mask, always=True) is not None

    def _forget_pixels(self, forgotten: Forgotten, where: Mask | None, final: Mask) -> None:
        """Make pixels, if they may change, background in the final mask, and let them learn what is there now."""
        chosen = forgotten.mask if where is None else np.bitwise_and(forgotten.mask, where)
        np.copyto(final, 0, where=chosen != 0)
        np.copyto(self._faint_votes, 0, where=chosen != 0)  # nor is it anything faint or tiny
        self._arrays["square_ages"][reduce_frame(chosen, square_side(self._size)) != 0] = 0
        gain = self._units.gain
        frames = _KEPT_S * self._parameters["rate_hz"]
        keeps = forgotten.keeps and self._scalars["frames"] > frames  # else little is known of the background
        kept = np.float32(keeps * frames / self._scalars["scale"])
        if keeps:
            replaced = as_image(self._arrays["replaced"], self._size)
            np.bitwise_or(replaced, chosen, out=replaced)
            self._scalars["replaced_px"] = cv2.countNonZero(replaced)
        scratch = np.empty(BLOCK, np.float32)
        # A copy, since compiled functions are compiled ahead of time for arrays that can be written.
        factors = np.array(np.broadcast_to(np.asarray(forgotten.factors, np.uint16), chosen.shape))
        forget(self._state, self._seen, as_blocks(chosen), as_blocks(factors), gain, kept, scratch)

    def _take_back(self, where: Mask | None, final: Mask) -> None:
        """Take back what became background a moment ago where the one before is seen again, and pixels may learn.

        A wrong ghost, such as a car at night with its beams, would leave a road that is foreground, and soon a ghost.
        """
        if self._scalars["replaced_px"] == 0:
            return
        # What is new begins with as much as two colours keep; seen for so long again as one does, it is there to stay.
        longest = np.float32(3 * _KEPT_S * self._parameters["rate_hz"] / self._scalars["scale"])
        held = as_blocks(final if where is None else np.bitwise_or(final, where == 0))
        left = take_back(self._state, self._seen, held, self._arrays["replaced"], longest)
        self._scalars["replaced_px"] = int(left)

    def _are_ghosts_due(self, turnover: Turnover, longest: int) -> bool:
        """Return whether to search for ghosts: after so many frames, sooner if all foreground is elsewhere sooner.

        What is fast, or is seen in few frames a second, leaves all of its ghost behind in the next frame.
        """
        scalars = self._scalars
        scalars["foreground"] = (1 - _TURNOVER_RATE) * scalars["foreground"] + turnover.foreground
        scalars["appeared"] = (1 - _TURNOVER_RATE) * scalars["appeared"] + turnover.appeared
        every = min(longest, int(scalars["foreground"] / max(scalars["appeared"], 1)))
        if scalars["frames"] - scalars["searched"] < every:
            return False
        scalars["searched"] = scalars["frames"]
        return True

    def _count_inside(self) -> int:
        """Return how many pixels the region has."""
        return self._unfilled.size if self._roi is None else cv2.countNonZero(self._roi)

    def _is_flooded(self, foreground: int) -> bool:
        """Return whether so many pixels have been foreground for so long that the scene must have changed."""
        flooded = foreground > _FLOOD * self._count_inside()
        self._scalars["flooded"] = self._scalars["flooded"] + 1 if flooded else 0
        if self._scalars["flooded"] <= _FLOOD_S * self._parameters["rate_hz"]:
            return False
        self._scalars["flooded"] = 0
        return True

    def _in_frames(self, seconds: float) -> np.int32:
        return _count_frames(seconds, self._parameters["rate_hz"])
