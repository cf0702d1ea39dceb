"""Images of scores, masks, errors and objects."""

from typing import cast

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.evaluation import scored_pixels
from bgsub.frames import Frame, Mask, Score
from bgsub.objects import ObjectLimits, find_objects
from bgsub.video.sinks.overlay import to_display

__all__ = [
    "BOTH",
    "FALSE",
    "HEAT_RANGE",
    "HIT",
    "MISSED",
    "ONLY_A",
    "ONLY_B",
    "heat_colours",
    "render_difference",
    "render_errors",
    "render_heat",
    "render_objects",
]

HEAT_RANGE = (-2.0, 1.0)
"""Scores at both ends of the heat map; 1 is the largest possible score."""

ONLY_A, ONLY_B, BOTH = (255, 144, 30), (0, 140, 255), (235, 235, 235)
"""(blue, green, red) of pixels that only A, only B or both find: distinguishable for colour-blind eyes."""

HIT, MISSED, FALSE = (235, 235, 235), (255, 144, 30), (0, 140, 255)
"""(blue, green, red) of errors against ground truth: distinguishable for colour-blind eyes."""

_NOT_SCORED = (70, 70, 70)
_BOX = (0, 225, 255)
_LEAST_OBJECT_PX, _LEAST_OBJECT = 9, 1e-4  # smaller ones, also as a share of the image, are noise
_LEAST_TEXT = 0.35  # of OpenCV's font: smaller letters run together


def heat_colours() -> NDArray[np.uint8]:
    """Return (256, 3) BGR colours of the heat map: dark blue below the threshold, orange to yellow above it."""
    low, high = HEAT_RANGE
    anchors = np.array([low, -1.0, -0.001, 0.0, 0.5, high])
    colours = np.array(
        [(40, 16, 10), (120, 50, 20), (170, 130, 70), (30, 90, 210), (30, 160, 250), (150, 250, 255)], np.float64
    )
    scores = np.linspace(low, high, 256)
    return np.stack([np.interp(scores, anchors, colours[:, c]) for c in range(3)], axis=1).round().astype(np.uint8)


_HEAT = heat_colours()[:, np.newaxis]


def render_heat(score: Score, region: Mask | None = None) -> NDArray[np.uint8]:
    """Colour scores, (H, W) float32, as a (H, W, 3) uint8 BGR image; grey outside a region, (H, W) uint8."""
    low, high = HEAT_RANGE
    scale = 255.0 / (high - low)
    levels = cv2.convertScaleAbs(np.maximum(score, np.float32(low)), alpha=scale, beta=-low * scale)
    image = cast(NDArray[np.uint8], cv2.applyColorMap(levels, _HEAT))
    if region is not None and region.shape == score.shape:
        image[region == 0] = _NOT_SCORED
    return image


def render_difference(a: Mask, b: Mask) -> NDArray[np.uint8]:
    """Colour where two masks, (H, W) uint8, agree: (H, W, 3) uint8 BGR of `ONLY_A`, `ONLY_B`, `BOTH` and black."""
    colours = np.zeros((4, 3), np.uint8)
    colours[1], colours[2], colours[3] = ONLY_A, ONLY_B, BOTH
    levels = np.bitwise_or(np.bitwise_and(a, np.uint8(1)), np.bitwise_and(b, np.uint8(2)))
    table = np.zeros((256, 1, 3), np.uint8)
    table[:4, 0] = colours
    return cast(NDArray[np.uint8], cv2.applyColorMap(levels, table))


def render_errors(mask: Mask, labels: Mask) -> NDArray[np.uint8]:
    """Colour what a mask, (H, W) uint8, hits, misses and finds falsely by labels, (H, W) uint8.

    Returns
    -------
    (H, W, 3) uint8 array
        BGR of `HIT`, `MISSED` and `FALSE`; black where both are background, grey where labels do not count.
    """
    kinds = np.full(labels.shape, 4, np.uint8)
    positive, negative = scored_pixels(labels, None)
    kinds[positive] = np.where(mask[positive] != 0, 1, 2)
    kinds[negative] = np.where(mask[negative] != 0, 3, 0)
    table = np.zeros((256, 1, 3), np.uint8)
    table[1:5, 0] = HIT, MISSED, FALSE, _NOT_SCORED
    return cast(NDArray[np.uint8], cv2.applyColorMap(kinds, table))


def render_objects(frame: Frame, mask: Mask) -> NDArray[np.uint8]:
    """Draw a box around each object of a mask, (H, W) uint8, with its area, on a copy of the frame: (H, W, 3) BGR."""
    shown = to_display(frame)
    image = np.ascontiguousarray(np.dstack([shown] * 3) if shown.ndim == 2 else shown).copy()
    limits = ObjectLimits(min_area=max(_LEAST_OBJECT_PX, round(_LEAST_OBJECT * mask.size)))
    thickness = max(1, round(mask.shape[0] / 480))
    for item in find_objects(mask, limits=limits):
        x, y, width, height = (int(value) for value in item.box)
        for colour, width_px in (((0, 0, 0), thickness + 2), (_BOX, thickness)):
            cv2.rectangle(image, (x, y), (x + width - 1, y + height - 1), colour, width_px)
        _write_above(image, f"{item.area} px", x, y, thickness)
    return image


def _write_above(image: NDArray[np.uint8], text: str, x: int, y: int, thickness: int) -> None:
    """Write a text on black above a point, or below it at the upper edge, and inside the image if there is room."""
    size, margin = max(_LEAST_TEXT, 0.4 * image.shape[0] / 480), thickness + 2
    (width, height), below = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, size, thickness)
    left = max(0, min(x, image.shape[1] - width - 1))
    line = y - margin - below
    if line < height:
        line = y + margin + height
    cv2.rectangle(image, (left, line - height), (left + width, line + below), (0, 0, 0), cv2.FILLED)
    cv2.putText(image, text, (left, line), cv2.FONT_HERSHEY_SIMPLEX, size, _BOX, thickness, cv2.LINE_AA)
