"""A camera that shakes: each frame is judged where it would lie if the camera stood still."""

import abc
import math

import numpy as np
from numpy.typing import NDArray

from bgsub.detectors.adaptive._jit.blocks import as_image
from bgsub.detectors.adaptive.camera.follower import CameraFollower
from bgsub.detectors.adaptive.camera.offsets import Found, find_offset, find_strips, shift_back, steady
from bgsub.detectors.adaptive.camera.shifts import STILL, Shift
from bgsub.detectors.adaptive.model import NO_FRAME
from bgsub.detectors.base import LOWEST_SCORE
from bgsub.detectors.learning import Learning
from bgsub.frames import Frame, Mask, Score

__all__ = ["ShakeFollower"]

_FEW = 1 / 4  # parts of the frame that another place must make more like the background, if the camera was still,
_AGAINST = 4  # and how many times as many as those that it makes less like it
_LASTING = 1 / 3  # least mean likeness of what is no water, which moves as a whole, too;
_YOUNG = 10  # in the first frames, when little is known of that, that of each,
_LASTING_YOUNG = 0.5
_NEARLY_ALL = 3 / 4  # and more than these parts must be more like the background
_LIKENESS_RATE = 0.1  # of its mean,
_ANOTHER = 1 / 3  # and share of it below which this is another view
_REST = 32  # most frames between two searches while the camera stands still;
_SHAKES_S = 1.0  # it shakes until it has been where it was for so long
_PLACE_RATE = 1 / 100  # of the mean of its places
_FAR = 0.1  # share of the frame's height or width by which it is moved away at once


class ShakeFollower(CameraFollower):
    """The model whose camera shakes."""

    def _step_pixels(self, frame: Frame, mask: Mask | None, score: Score | None, learning: Learning | None) -> None:
        self._filmed = frame
        self._fit_units()
        try:
            offset = self._follow_shaking(frame, learning)
            if offset == STILL:
                self._step_steady(frame, mask, score, learning)
            else:
                self._step_elsewhere(offset, frame, mask, score, learning)
        finally:
            self._filmed = NO_FRAME  # it is the caller's, who may want its memory back

    def _step_elsewhere(
        self, offset: Shift, frame: Frame, mask: Mask | None, score: Score | None, learning: Learning | None
    ) -> None:
        """Do a step with a frame in which the background lies elsewhere."""
        there = Shift(-offset.down, -offset.right)
        if learning is not None and learning.where is not None:
            learning = Learning(learning.rate, shift_back(learning.where, there, 0))
        steadied, roi = steady(frame, self._planes[1], offset), self._roi
        steady_mask = None if mask is None else np.empty_like(mask)
        steady_score = None if score is None else np.empty_like(score)
        self._roi = None if roi is None else shift_back(roi, there, 0)
        never_seen = self._find_never_seen(offset)
        try:
            self._step_steady(steadied, steady_mask, steady_score, learning)
        finally:
            self._roi = roi
        for coefficients, empty in never_seen if learning is not None else ():
            coefficients[empty] = 0
        if mask is not None and steady_mask is not None:
            mask[:] = shift_back(steady_mask, offset, 0)
        if score is not None and steady_score is not None:
            score[:] = shift_back(steady_score, offset, float(LOWEST_SCORE))
        if self.trace is not None:
            self.trace.steps = [(stage, shift_back(found, offset, 0)) for stage, found in self.trace.steps]

    def _find_never_seen(self, offset: Shift) -> list[tuple[NDArray[np.float32], NDArray[np.bool_]]]:
        """Return coefficients of what is not seen in a frame, and which of them are those of what never was.

        They must remain empty, so that it is background, and is learned, as soon as it is seen.
        """
        images = [as_image(coefficients, self._size) for coefficients in self._arrays["coefficients"]]
        strips = [(strip, images[0][strip] == 0) for strip in find_strips(self._size, offset)]
        return [(image[strip], empty) for strip, empty in strips if empty.any() for image in images]

    @abc.abstractmethod
    def _step_steady(self, frame: Frame, mask: Mask | None, score: Score | None, learning: Learning | None) -> None:
        """Do a step with a frame that shows the background where it was learned."""

    def _follow_shaking(self, frame: Frame, learning: Learning | None) -> Shift:
        """Return where the background lies in a frame, and move the model to where it lies on average."""
        frames = self._scalars["frames"]
        if frames == 0:
            return STILL
        if learning is None:  # nothing may change
            return self._believe(self._search(frame)) if self._shakes() else STILL
        if frames % 2 == 0:
            self._notice_floods()
        offset = self._seek(frame) if self._is_search_due() else STILL
        return self._follow_place(offset, moves=learning.where is None and self._roi is None)

    def _search(self, frame: Frame) -> Found:
        return find_offset(frame, self._planes[1], self._units.white)

    def _shakes(self) -> bool:
        """Return whether the camera was elsewhere a short while ago."""
        scalars = self._scalars
        lasts = _SHAKES_S * self._parameters["rate_hz"]
        return bool(scalars["shaken"] > 0 and scalars["frames"] - scalars["shaken"] <= lasts)

    def _is_search_due(self) -> bool:
        scalars = self._scalars
        if self._shakes() or scalars["frames"] < _YOUNG or self._may_be_elsewhere():
            return True
        return bool(scalars["frames"] - scalars["sought"] >= scalars["rest"])

    def _seek(self, frame: Frame) -> Shift:
        """Look for the place of the camera; more and more seldom, while it stands still."""
        scalars, found = self._scalars, self._search(frame)
        scalars["looks"] += 1
        rate = max(_LIKENESS_RATE, 1 / scalars["looks"])
        scalars["edges"] += rate * (found.likeness - scalars["edges"])
        offset = self._believe(found)
        scalars["sought"] = scalars["frames"]
        scalars["rest"] = 1 if offset != STILL else min(2 * scalars["rest"], _REST)
        if offset != STILL:
            scalars["shaken"] = scalars["frames"]
        return offset

    def _believe(self, found: Found) -> Shift:
        """Return the offset if it is that of a camera.

        It makes most of what has edges more like the background, and little less like it. What moves before a plain
        background does so in few parts of the frame. Water moves as a whole, but does not stay alike.
        """
        scalars = self._scalars
        young = scalars["frames"] < _YOUNG
        usual = scalars["edges"]
        lasts = usual >= _LASTING and found.likeness >= (_LASTING_YOUNG if young else _ANOTHER * usual)
        most = _NEARLY_ALL if young else 0 if self._shakes() else _FEW
        spread = found.better > most and found.better > _AGAINST * found.worse
        return found.offset if lasts and spread else STILL

    def _follow_place(self, offset: Shift, *, moves: bool) -> Shift:
        """Follow where the camera looks on average; return the offset from where the model then is.

        The model goes there if that is farther away than the camera shakes: it began at an end of the way to and fro,
        was knocked, or drifts.
        """
        scalars, places = self._scalars, self._arrays["places"]
        scalars["placed"] += 1
        if offset == STILL and (scalars["shaken"] == 0 or not places.any()):  # most cameras never moved
            return offset
        rate = max(_PLACE_RATE, 1 / scalars["placed"])
        settled = scalars["placed"] >= _SHAKES_S * self._parameters["rate_hz"]
        means, squares = places.tolist()  # numbers of Python's: four are too few for numpy to save time
        to, strays = [0, 0], [0, 0]
        for axis, (place, length) in enumerate(zip(offset, self._size, strict=True)):
            means[axis] += rate * (place - means[axis])
            squares[axis] += rate * (place**2 - squares[axis])
            far = _FAR * length
            if abs(place) > far:
                to[axis] = round(place - math.copysign(far / 2, place))
            if settled and 2 * means[axis] ** 2 > squares[axis]:
                strays[axis] = round(means[axis])
        places[:] = means, squares
        down, right = to if any(to) else strays
        if not moves or (down, right) == (0, 0):
            return offset
        new = self._move_by(Shift(down, right)) != 0
        for coefficients in self._arrays["coefficients"]:
            as_image(coefficients, self._size)[new] = 0
        return Shift(offset.down - down, offset.right - right)
