"""Regions on which the light has changed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.detectors.adaptive.final_mask import Outlines
from bgsub.frames import Mask

__all__ = ["find_relit"]

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


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A box of the frame beside the learned background; arrays are (h, w) float32."""

    box: tuple[slice, slice]
    ratio: NDArray[np.float32]
    """Brightness of the frame, as a share of the background's."""
    chromaticity: NDArray[np.float32]
    """Largest change of a channel's share of the brightness."""
    variance: NDArray[np.float32]
    """Local variance of the frame,"""
    variance_learned: NDArray[np.float32]
    """of the background times the ratio of local means,"""
    covariance: NDArray[np.float32]
    """and their covariance."""

    @property
    def explained(self) -> NDArray[np.bool_]:
        """Where the frame's texture is that of the background under another light."""
        unexplained = self.variance - 2 * self.covariance + self.variance_learned
        return np.asarray(unexplained < _TEXTURE * _TEXTURE)


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
        As for `find_shadows`.
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
        seen = _compare(mask.shape, (left, top, width, height), frame, background, white, step)
        whole = np.zeros_like(mask)
        cv2.drawContours(whole, outlines, index, 255, cv2.FILLED)
        region = np.ascontiguousarray(whole[seen.box])
        inside = np.asarray(cv2.erode(region, np.ones((_REACH_PX, _REACH_PX), np.uint8))) != 0
        if not inside.any() or seen.explained[inside].mean() < _EXPLAINED:
            continue
        since = ages[seen.box][inside]
        lasts = float(np.median(since))
        brighter = np.median(seen.ratio[inside]) >= 1
        at_once = brighter and np.mean(np.abs(since - lasts) <= 1) > _AT_ONCE
        if lasts < lasting * (_BRIGHTER if brighter else 1.0) and not at_once:
            continue
        flat = _FLAT * float(np.count_nonzero(inside))
        spread = max(flat, float(seen.variance[inside].sum())) * max(flat, float(seen.variance_learned[inside].sum()))
        if float(seen.covariance[inside].sum()) > _CORRELATION * spread**0.5:
            relit = whole if relit is None else np.bitwise_or(relit, whole)
    return relit


def _compare(
    shape: tuple[int, ...],
    box: tuple[int, int, int, int],
    frame: NDArray[Any],
    background: NDArray[Any],
    white: float,
    step: int = 1,
) -> _Comparison:
    """Compare every step-th pixel of a box, (left, top, width, height), and its margin."""
    left, top, width, height = box
    rows = slice(max(top - _MARGIN_PX, 0), top + height + _MARGIN_PX, step)
    columns = slice(max(left - _MARGIN_PX, 0), left + width + _MARGIN_PX, step)
    now, learned = (
        planes[:, : shape[0] * shape[1]].reshape(-1, *shape)[:, rows, columns].astype(np.float32)
        * np.float32(255 / white)
        + np.float32(1)  # so that nothing is black
        for planes in (frame, background)
    )
    grey_now, grey_learned = now.mean(0), learned.mean(0)

    def mean(values: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(cv2.boxFilter(values, -1, (_REACH_PX, _REACH_PX)), np.float32)

    mean_now, mean_learned = mean(grey_now), mean(grey_learned)
    light = mean_now / mean_learned
    return _Comparison(
        (rows, columns),
        grey_now / grey_learned,
        np.abs(now / grey_now - learned / grey_learned).max(0) / len(now),
        mean(grey_now * grey_now) - mean_now * mean_now,
        light * light * (mean(grey_learned * grey_learned) - mean_learned * mean_learned),
        light * (mean(grey_now * grey_learned) - mean_now * mean_learned),
    )
