"""The camera: its noise, the light that it sees, and knocks, after which all of the background lies elsewhere."""

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.blocks import BLOCK, as_blocks, as_image, count_blocks
from bgsub.detectors.adaptive._jit.exposure import add_channels, compare_shifted
from bgsub.detectors.adaptive.exposure import (
    Light,
    change_light,
    follow_black,
    follow_brightness,
    follow_codec,
    follow_noise,
    least_width_factor,
    make_sample,
    measure,
    see_learned,
)
from bgsub.detectors.adaptive.model import AdaptiveModel
from bgsub.detectors.adaptive.reduced import find_likeness, see_view
from bgsub.frames import Frame, Mask

__all__ = ["CameraFollower", "Shift", "find_shift", "is_sudden", "move"]

_GRID_PX = 320 * 240  # larger frames are compared on a grid of about so many pixels
_SUDDEN, _USUAL = 0.05, 2.0  # foreground above this share of the frame and so many times its mean may be a knock
_LARGEST = 0.2  # of the frame's smaller side
_EXPLAINS = 0.5  # a shift is real if at most this share of the pixels that did not match is left,
_LEAST = 0.05  # and so many did not;
_PARTS, _SPREAD = (4, 4), 0.5  # of the parts of the frame so many have some that it explains: else something moves
_IN_PART = 0.005  # before a plain background
_SHARE_RATE = 0.02  # of the running mean of the share of foreground
_VIEW_INTERVAL = 16  # frames between two comparisons with the background, fewer when something may have happened
_VIEW_RATE, _USUAL_RATE = 1 / 3, 0.1  # of the means of the likenesses found: of the last ones, and the usual one
_LASTING = 0.5  # of a scene whose edges last, unlike those of waves or of a picture that shakes;
_SHAKING_RATE = 0.02  # and at which it is given up while the camera stands nowhere;
_ANOTHER = 1 / 3  # less than this share of it is another view,
_TURNING = 2 / 3  # and less than this one while the camera is being turned,
_TURNING_S = 1.0  # which it is until so long after it showed another view, or was seen to move
_KNOWN = 0.8  # share of the usual edges that shows a view to be one that is remembered
_NEW_BASE = 0.02  # relative change of the least width factor that is worth going through all pixels for


class Shift(NamedTuple):
    """Where the background has gone, in pixels."""

    down: int
    right: int


def is_sudden(share: float, mean: float) -> bool:
    """Return whether a share of foreground is so far above its running mean that the camera may have moved."""
    return share > _SUDDEN + _USUAL * mean


def find_shift(frame: NDArray[Any], background: NDArray[Any], white: float, box: float) -> Shift | None:
    """Find a shift of the whole background.

    It is the maximum of the phase correlation of the grey pictures, if under it at most half as many pixels differ
    from the background as without it, and those that it explains lie in half of the frame: what moves before a plain
    background looks like a shift as well.

    Parameters
    ----------
    frame : (H, W) or (H, W, 3) array
    background : (D, at least H * W) array
        Planes of the learned background.
    white : float
        Value of white.
    box : float
        Largest difference of a channel of a pixel that matches the background, in grey levels.

    Returns
    -------
    Shift or None
        None if there is none of at least a pixel.
    """
    height, width = frame.shape[:2]
    step = max(1, round(math.sqrt(height * width / _GRID_PX)))
    unit = np.float32(255.0 / white)
    size = (-(-height // step), -(-width // step))
    if min(size) < 2:
        return None
    planes = np.empty((2, len(background), *size), frame.dtype)
    cv2.split(np.ascontiguousarray(frame[::step, ::step]), list(planes[0]))
    planes[1] = background[:, : height * width].reshape(-1, height, width)[:, ::step, ::step]
    grey, room = np.empty((2, *size), np.float32), np.empty((3, size[1]), np.float32)
    for image in range(2):
        add_channels(planes[image], unit, room[0], grey[image])
    (right, down), _ = cv2.phaseCorrelate(grey[1], grey[0], _window(size))
    x, y = round(right), round(down)  # on the grid
    if (x == 0 and y == 0) or max(abs(x), abs(y)) > _LARGEST * min(size):
        return None
    explained = np.empty((size[0] - abs(y), size[1] - abs(x)), np.uint8)
    room = room[:, : explained.shape[1]]
    different, still = compare_shifted(planes, unit, y, x, np.float32(box), room, explained)
    if different / explained.size < _LEAST or still / explained.size > _EXPLAINS * (different / explained.size):
        return None
    shares = cv2.resize(explained.astype(np.float32), _PARTS, interpolation=cv2.INTER_AREA)
    if np.mean(shares > _IN_PART) < _SPREAD:
        return None
    return Shift(round(down * step), round(right * step))


@cache
def _window(size: tuple[int, int]) -> NDArray[np.float32]:
    """Return the weights that pictures of (height, width) fade with towards their borders."""
    return np.asarray(cv2.createHanningWindow(size[::-1], cv2.CV_32F), np.float32)


def _overlap(shift: int, length: int) -> tuple[slice, slice]:
    """Return what lies in both of two ranges of which one is shifted: its place in the second, and in the first."""
    return slice(max(shift, 0), length + min(shift, 0)), slice(max(-shift, 0), length + min(-shift, 0))


def move(arrays: dict[str, NDArray[Any]], size: tuple[int, int], shift: Shift) -> Mask:
    """Move everything that is kept for each pixel, in blocks; what comes into view gets what was at the border.

    Parameters
    ----------
    arrays : dict
        The model's, from `make_arrays`; those in blocks are written.
    size : (height, width)
    shift : Shift

    Returns
    -------
    (H, W) uint8 array
        255 where the camera had not looked.
    """
    (height, width), (down, right) = size, shift
    rows = np.clip(np.arange(height) - down, 0, height - 1)
    columns = np.clip(np.arange(width) - right, 0, width - 1)
    blocks = (count_blocks(size), BLOCK)
    for array in arrays.values():
        if array.shape[-2:] == blocks:
            for plane in array.reshape(-1, *blocks):
                image = as_image(plane, size)
                image[:] = image[rows][:, columns]
    new = np.full(size, 255, np.uint8)
    new[_overlap(down, height)[0], _overlap(right, width)[0]] = 0
    return new


class CameraFollower(AdaptiveModel):
    """The model that follows its camera: where it looks, the light that it sees, and its noise."""

    def _follow_camera(self, frame: Frame, where: Mask | None) -> None:
        """Move the model where the camera was turned: foreground that suddenly covers much may be old background."""
        arrays, scalars = self._arrays, self._scalars
        share = cv2.countNonZero(as_image(arrays["previous_mask"], self._size)) / self._votes.size
        scalars["sudden"] = scalars["sudden"] + 1 if is_sudden(share, scalars["share"]) else 0
        scalars["share"] += _SHARE_RATE * (share - scalars["share"])
        # At first, then ever more seldom: the camera may shake for a while, but most often something large came in. One
        # that has just moved may go on.
        sought = int(scalars["sudden"]).bit_count() == 1 or self._lately("moved")
        if sought and self._move(frame, where):
            return
        turning = self._lately("turned")
        doubtful = turning or scalars["sudden"] > 0 or scalars["likeness"] < _TURNING * scalars["usual_likeness"]
        if doubtful or scalars["frames"] % _VIEW_INTERVAL == 0:
            is_another = self._follow_view(frame, _TURNING if turning else _ANOTHER)
            if is_another and not self._move(frame, where) and not self._recall(frame, where):
                scalars["turned"], self._unseen = scalars["frames"], np.full(self._size, 255, np.uint8)

    def _recall(self, frame: Frame, where: Mask | None) -> bool:
        """Bring to the front what is remembered of a view to which the camera has returned; return whether it has.

        Of each pixel that is the support vector nearest to what was seen in the frame before, if any was near. Only
        pixels that may change are exchanged.
        """
        state, seen = self._kernel_state(), self._seen
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
        arrays = self._arrays
        shift = find_shift(frame, self._planes()[1], self._scene_white(frame.dtype), self._half_box() * 255)
        if shift is None:
            return False
        self._unseen = move(arrays, self._size, shift)
        self._note_move(shift)
        arrays["previous_mask"][:], arrays["dominant"][:], self._calm[:] = 0, 0, 0
        arrays["square_ages"][:] = 0
        return True

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
        scalars, white, pixels = self._scalars, self._white(frame.dtype), self._votes.size
        planes = cv2.split(frame)
        background = self._planes()[1][:, :pixels].reshape(-1, *self._size)
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
        scalars, planes = self._scalars, self._planes()
        sample = make_sample(frame.reshape(-1), planes[1], excluded, self._size, white)
        exposure = measure(sample, self._half_box() * 255 * scalars["base"] * scalars["brightness"])
        scalars["black"] = follow_black(scalars["black"], sample)
        scalars["steps"] = follow_codec(scalars["steps"], sample, (scalars["frames"] - 1) // 2)
        if exposure.gains is not None:
            allowed = np.full_like(self._final, 255) if where is None else as_blocks(where)
            change_light(self._arrays["colours"], exposure.gains, white, self._dither, allowed)
            self._arrays["square_ages"][:] = 0
        if exposure.sigma is not None:
            self._fit_widths(exposure.sigma)
        return exposure.gains is not None

    def _fit_widths(self, sigma: float) -> None:
        """Fit widths to the noise measured now and to the light of the scene."""
        scalars, width, before = self._scalars, self._parameters["width"], self._scalars["brightness"]
        scalars["sigma"] = follow_noise(scalars["sigma"], sigma)
        white, background = self._white(self._seen.planes.dtype), self._planes()[1]
        learned = see_learned(background, self._arrays["coefficients"][0].reshape(-1), self._votes.size, white)
        scalars["coloured"] = float(learned.coloured)
        light = Light(scalars["black"], scalars["sigma"] / width)
        scalars["brightness"] = follow_brightness(before, learned.mean, light)
        if scalars["brightness"] != before:
            self._calm[:], self._arrays["square_ages"][:] = 0, 0
        brightness = scalars["brightness"]
        base = least_width_factor(scalars["sigma"] / brightness, scalars["steps"] / brightness, width)
        if abs(base - scalars["base"]) > _NEW_BASE * scalars["base"]:
            scalars["base"] = base
            self._calm[:] = 0
