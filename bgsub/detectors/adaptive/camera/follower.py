"""The model that follows its camera: its noise, the light that it sees, knocks, and other views."""

import numpy as np

from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.blocks import as_blocks, as_image
from bgsub.detectors.adaptive.camera.shifts import Shift, find_shift, is_sudden, move
from bgsub.detectors.adaptive.exposure import (
    Exposure,
    Light,
    change_light,
    follow_black,
    follow_brightness,
    follow_codec,
    follow_noise,
    least_width_factor,
    make_sample,
    measure,
)
from bgsub.detectors.adaptive.model import AdaptiveModel
from bgsub.detectors.adaptive.reduced import find_likeness, see_view
from bgsub.frames import Frame, Mask

__all__ = ["CameraFollower"]

_SHARE_RATE = 0.02  # of the running mean of the share of foreground
_VIEW_INTERVAL = 16  # frames between two comparisons with the background, fewer when something may have happened
_VIEW_RATE, _USUAL_RATE = 1 / 3, 0.1  # of the means of the likenesses found: of the last ones, and the usual one
_LASTING = 0.5  # of a scene whose edges last, unlike those of waves or of a picture that shakes;
_SHAKING_RATE = 0.02  # and at which it is given up while the camera stands nowhere;
_ANOTHER = 1 / 3  # less than this share of it is another view,
_TURNING = 2 / 3  # and less than this one while the camera is being turned,
_TURNING_S = 1.0  # which it is until so long after it showed another view, or was seen to move
_KNOWN = 0.8  # share of the usual edges that shows a view to be one that is remembered
_MATCH_SIGMAS = 2.0  # of noise, by which a pixel that matches the background may differ in any case
_NEW_BASE = 0.02  # relative change of the least width factor that is worth going through all pixels for


class CameraFollower(AdaptiveModel):
    """The model that follows its camera: where it looks, the light that it sees, and its noise."""

    def _follow_camera(self, frame: Frame, where: Mask | None) -> None:
        """Move the model where the camera was turned: foreground that suddenly covers much may be old background."""
        scalars = self._scalars
        # One that has just moved may go on.
        if (self._may_be_elsewhere() or self._lately("moved")) and self._move(frame, where):
            return
        turning = self._lately("turned")
        doubtful = turning or scalars["sudden"] > 0 or scalars["likeness"] < _TURNING * scalars["usual_likeness"]
        if doubtful or scalars["frames"] % _VIEW_INTERVAL == 0:
            is_another = self._follow_view(frame, _TURNING if turning else _ANOTHER)
            if is_another and not self._move(frame, where) and not self._recall(frame, where):
                scalars["turned"], self._unseen = scalars["frames"], np.full(self._size, 255, np.uint8)

    def _notice_floods(self) -> None:
        """Notice foreground that suddenly covers much, in the frame before."""
        scalars = self._scalars
        share = cv2.countNonZero(self._previous.masked.mask) / self._unfilled.size
        scalars["sudden"] = scalars["sudden"] + 1 if is_sudden(share, scalars["share"]) else 0
        scalars["share"] += _SHARE_RATE * (share - scalars["share"])

    def _may_be_elsewhere(self) -> bool:
        """Return whether to look if the camera was knocked: it may shake, but most often something large came in.

        At first, and then ever more seldom.
        """
        return int(self._scalars["sudden"]).bit_count() == 1

    def _recall(self, frame: Frame, where: Mask | None) -> bool:
        """Bring to the front what is remembered of a view to which the camera has returned; return whether it has.

        Of each pixel that is the support vector nearest to what was seen in the frame before, if any was near. Only
        pixels that may change are exchanged.
        """
        state, seen = self._state, self._seen
        nearest = np.where(seen.settled[:, None] == 0, seen.nearest, np.uint8(0))
        remembered, slots = state.colours[0].copy(), range(1, len(state.colours))
        for slot in slots:
            np.copyto(remembered, state.colours[slot], where=nearest == slot)
        planes = [as_image(plane, self._size) for plane in remembered]
        likeness = find_likeness(self._arrays["view"], see_view(planes, self._white(frame.dtype)))
        if likeness < _KNOWN * self._scalars["usual_likeness"]:
            return False
        allowed = True if where is None else as_blocks(where) != 0
        for slot in slots:
            here = (nearest == slot) & allowed
            for behind, front in zip(state.colours[slot], state.colours[0], strict=True):
                behind[here], front[here] = front[here], behind[here]
            behind, front = state.coefficients[slot], state.coefficients[0]
            behind[here], front[here] = np.minimum(behind, front)[here], np.maximum(behind, front)[here]
        state.dominant[:], self._calm[:], self._arrays["square_ages"][:] = 0, 0, 0
        return True

    def _lately(self, name: str) -> bool:
        """Return whether the camera "moved" or "turned" a short while ago."""
        frame = self._scalars[name]
        return bool(frame > 0 and self._scalars["frames"] - frame <= _TURNING_S * self._parameters["rate_hz"])

    def _move(self, frame: Frame, where: Mask | None) -> bool:
        """Move the model to where its background lies in the frame; return whether it was found elsewhere."""
        if where is not None or self._roi is not None:
            return False
        shift = find_shift(frame, self._planes[1], self._units.white, self._half_box() * 255)
        if shift is None:
            return False
        self._unseen = self._move_by(shift)
        self._note_move(shift)
        return True

    def _move_by(self, shift: Shift) -> Mask:
        """Move the model, and forget what the last frames were like; return what the camera had not seen."""
        arrays = self._arrays
        unseen = move(arrays, self._size, shift)
        arrays["previous_mask"][:], arrays["dominant"][:], self._calm[:] = 0, 0, 0
        arrays["square_ages"][:], arrays["places"][:], self._scalars["placed"] = 0, 0, 0
        return unseen

    def _note_move(self, shift: Shift) -> None:
        """Remember when and whereto the camera moved: one that turns goes on, one that goes back only shakes."""
        scalars = self._scalars
        turns = self._lately("moved")
        down, right = (scalars["moved_down"], scalars["moved_right"]) if turns else (0, 0)
        goes_on = down * shift.down + right * shift.right >= 0
        scalars["moved"] = scalars["frames"] if goes_on else 0
        scalars |= {"moved_down": down + shift.down, "moved_right": right + shift.right}

    def _follow_view(self, frame: Frame, least: float) -> bool:
        """Return whether the camera looks elsewhere: less than a share of the usual edges of the background is left.

        While it shakes it does so, too, but it stands nowhere, and will most often come back.
        """
        scalars, white, pixels = self._scalars, self._white(frame.dtype), self._unfilled.size
        planes = cv2.split(frame)
        background = self._planes[1][:, :pixels].reshape(-1, *self._size)
        view, before, usual = see_view(planes, white), self._arrays["view"], scalars["usual_likeness"]
        now = find_likeness(view, see_view(background, white))
        stands = find_likeness(view, before) > _TURNING * usual
        before[:] = view
        if usual > _LASTING and not stands:
            scalars |= {"likeness": usual, "flooded": 0}
            scalars["usual_likeness"] += _SHAKING_RATE * (now - usual)
            return False
        scalars["likeness"] += _VIEW_RATE * (now - scalars["likeness"])
        if usual > _LASTING and scalars["likeness"] < least * usual:
            scalars["likeness"] = usual
            return True
        if now > _ANOTHER * usual:
            scalars["usual_likeness"] += _USUAL_RATE * (now - usual)
        return False

    def _follow_exposure(self, frame: Frame, where: Mask | None) -> bool:
        """Bring the model under the light of this frame if all of it has changed, and fit widths to light and noise.

        Return whether the light has changed.
        """
        white, excluded = self._white(frame.dtype), self._arrays["previous_mask"].reshape(-1)
        if where is not None:
            excluded = excluded[: where.size] | (where.reshape(-1) == 0)
        scalars = self._scalars
        sample = make_sample(frame.reshape(-1), self._planes[1], excluded, self._size, white)
        coefficients = self._arrays["coefficients"][0].reshape(-1)
        least = self._half_box() * 255 * scalars["base"] * scalars["brightness"]
        box = max(least, _MATCH_SIGMAS * scalars["sigma"])  # in the dark, noise may be more than what kernels let pass
        exposure = measure(sample, self._filmed.reshape(-1), coefficients, box)
        scalars["black"] = follow_black(scalars["black"], exposure)
        scalars["steps"] = follow_codec(scalars["steps"], exposure.steps, (scalars["frames"] - 1) // 2)
        if exposure.gains is not None:
            allowed = np.full_like(self._final.masks.blocks, 255) if where is None else as_blocks(where)
            kept, step = (self._arrays["colours"], self._arrays["fractions"]), int(scalars["frames"])
            change_light(*kept, exposure.gains, white, box, self._dither, allowed, sample, step)
            self._arrays["square_ages"][:] = 0
        self._fit_widths(exposure)
        return exposure.gains is not None

    def _fit_widths(self, exposure: Exposure) -> None:
        """Fit widths to the noise measured now, if it was, and to the light of the scene."""
        if exposure.sigma is None:
            return
        scalars, width, before = self._scalars, self._parameters["width"], self._scalars["brightness"]
        scalars["sigma"] = follow_noise(scalars["sigma"], exposure.sigma)
        scalars["coloured"] = float(exposure.coloured)
        light = Light(scalars["black"], scalars["sigma"] / width)
        scalars["brightness"] = follow_brightness(before, exposure.learned, light)
        if scalars["brightness"] != before:
            self._calm[:], self._arrays["square_ages"][:] = 0, 0
        brightness = scalars["brightness"]
        base = least_width_factor(scalars["sigma"] / brightness, scalars["steps"] / brightness, width)
        if abs(base - scalars["base"]) > _NEW_BASE * scalars["base"]:
            scalars["base"] = base
            self._calm[:] = 0
        self._fit_units()
