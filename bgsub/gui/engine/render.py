"""Make pictures of results: masks, overlays, score heat maps, and what two detectors disagree on."""

from typing import cast

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.frames import Frame, Mask, Result, Score
from bgsub.gui.messages import Pane
from bgsub.video.sinks.overlay import Style, draw_overlay, to_display

__all__ = ["HEAT_RANGE", "ONLY_A", "ONLY_B", "heat_colours", "render_difference", "render_heat", "render_result"]

HEAT_RANGE = (-2.0, 1.0)
"""Scores at both ends of the heat map; 1 is the largest there is."""

ONLY_A, ONLY_B, BOTH = (255, 144, 30), (0, 140, 255), (235, 235, 235)
"""Blue, green and red of what only one detector finds, and of what both find: safe for colour-blind eyes."""

_CONTOUR = (60, 76, 231)


def heat_colours() -> NDArray[np.uint8]:
    """Return (256, 3) BGR colours of the heat map: dark blue below the threshold, orange to yellow above it."""
    low, high = HEAT_RANGE
    anchors = np.array([low, -1.0, -0.001, 0.0, 0.5, high])
    colours = np.array(
        [(40, 16, 10), (120, 50, 20), (170, 130, 70), (30, 90, 210), (30, 160, 250), (150, 250, 255)], np.float64
    )
    places = np.linspace(low, high, 256)
    return np.stack([np.interp(places, anchors, colours[:, c]) for c in range(3)], axis=1).round().astype(np.uint8)


_HEAT = heat_colours()[:, np.newaxis]


def render_heat(score: Score) -> NDArray[np.uint8]:
    """Colour scores, (H, W) float32, as a (H, W, 3) uint8 BGR picture."""
    low, high = HEAT_RANGE
    scale = 255.0 / (high - low)
    levels = cv2.convertScaleAbs(np.maximum(score, np.float32(low)), alpha=scale, beta=-low * scale)
    return cast(NDArray[np.uint8], cv2.applyColorMap(levels, _HEAT))


def render_difference(a: Mask, b: Mask) -> NDArray[np.uint8]:
    """Show what two masks agree on: (H, W, 3) uint8 BGR, `ONLY_A`, `ONLY_B`, nearly white for both."""
    colours = np.zeros((4, 3), np.uint8)
    colours[1], colours[2], colours[3] = ONLY_A, ONLY_B, BOTH
    levels = np.bitwise_or(np.bitwise_and(a, np.uint8(1)), np.bitwise_and(b, np.uint8(2)))
    table = np.zeros((256, 1, 3), np.uint8)
    table[:4, 0] = colours
    return cast(NDArray[np.uint8], cv2.applyColorMap(levels, table))


def render_result(pane: Pane, result: Result, style: Style) -> Frame | None:
    """Make the picture of a pane that one result tells all about; None where it does not."""
    frame = result.packet.frame
    if pane is Pane.INPUT:
        return frame if frame.dtype == np.uint8 else to_display(frame)
    if pane in (Pane.MASK, Pane.MASK_B):
        return result.mask
    if pane in (Pane.OVERLAY, Pane.OVERLAY_B):
        return draw_overlay(frame, result.mask, style=style, color=_CONTOUR, opacity=0.45)
    if pane in (Pane.SCORE, Pane.SCORE_B) and result.score is not None:
        return render_heat(result.score)
    return None
