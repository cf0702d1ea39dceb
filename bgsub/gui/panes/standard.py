"""The panes of every detector, and those of a second one and of ground truth."""

import numpy as np

from bgsub.frames import Frame
from bgsub.gui.panes.images import render_difference, render_errors, render_heat, render_objects
from bgsub.gui.panes.registry import Legend, Needs, Pane, Processed, Side, register
from bgsub.stages import SHADOWS
from bgsub.video.sinks.overlay import draw_overlay, to_display

__all__ = [
    "BACKGROUND",
    "BACKGROUND_B",
    "DIFFERENCE",
    "ERRORS",
    "ERRORS_B",
    "GROUND_TRUTH",
    "INPUT",
    "MASK",
    "MASK_B",
    "OBJECTS",
    "OBJECTS_B",
    "OVERLAY",
    "OVERLAY_B",
    "SCORE",
    "SCORE_B",
    "SHADOW_GREY",
]

SHADOW_GREY = np.uint8(127)
"""Shadows in a mask, as changedetection.net and OpenCV mark them."""

_CONTOUR = (60, 76, 231)
_BACKGROUND_INTERVAL_S = 0.2  # it changes slowly and takes longer to draw than a mask


def _draw_input(processed: Processed) -> Frame:
    frame = processed.result.packet.frame
    return frame if frame.dtype == np.uint8 else to_display(frame)


def _draw_mask(processed: Processed) -> Frame:
    """Draw the mask, with shadows in grey where they were looked for."""
    mask, trace = processed.result.mask, processed.result.stages
    marked = None if trace is None else trace.removed_by(SHADOWS)
    if marked is None:
        return mask
    region = processed.detector.roi
    if region is not None:
        marked = marked & (region != 0)  # OpenCV's models also look for shadows outside
    return np.where(marked & (mask == 0), SHADOW_GREY, mask)


def _draw_overlay(processed: Processed) -> Frame:
    result = processed.result
    return draw_overlay(result.packet.frame, result.mask, style=processed.style, color=_CONTOUR, opacity=0.45)


def _draw_background(processed: Processed) -> Frame:
    return processed.detector.background_image()


def _draw_score(processed: Processed) -> Frame | None:
    return None if processed.result.score is None else render_heat(processed.result.score, processed.detector.roi)


def _draw_difference(processed: Processed) -> Frame | None:
    return None if processed.other is None else render_difference(processed.result.mask, processed.other.mask)


def _draw_errors(processed: Processed) -> Frame | None:
    return None if processed.labels is None else render_errors(processed.result.mask, processed.labels)


def _draw_objects(processed: Processed) -> Frame:
    return render_objects(processed.result.packet.frame, processed.result.mask)


def _draw_labels(processed: Processed) -> Frame | None:
    return processed.labels


INPUT = register(Pane("input", "Input", _draw_input))
MASK = register(Pane("mask", "Mask", _draw_mask, legend=Legend.SHADOWS))
OVERLAY = register(Pane("overlay", "Overlay", _draw_overlay))
BACKGROUND = register(
    Pane("background", "Background", _draw_background, needs=Needs.MODEL, interval_s=_BACKGROUND_INTERVAL_S)
)
SCORE = register(Pane("score", "Score", _draw_score, needs=Needs.SCORE, legend=Legend.HEAT))
MASK_B = register(Pane("mask-b", "Mask B", _draw_mask, Side.B, legend=Legend.SHADOWS))
OVERLAY_B = register(Pane("overlay-b", "Overlay B", _draw_overlay, Side.B))
BACKGROUND_B = register(
    Pane("background-b", "Background B", _draw_background, Side.B, Needs.MODEL, interval_s=_BACKGROUND_INTERVAL_S)
)
SCORE_B = register(Pane("score-b", "Score B", _draw_score, Side.B, Needs.SCORE, Legend.HEAT))
DIFFERENCE = register(
    Pane("difference", "Difference", _draw_difference, needs=Needs.BOTH_SIDES, legend=Legend.DIFFERENCE)
)
OBJECTS = register(Pane("objects", "Objects", _draw_objects))
OBJECTS_B = register(Pane("objects-b", "Objects B", _draw_objects, Side.B))
ERRORS = register(Pane("errors", "Errors", _draw_errors, needs=Needs.LABELS, legend=Legend.ERRORS))
ERRORS_B = register(Pane("errors-b", "Errors B", _draw_errors, Side.B, Needs.LABELS, Legend.ERRORS))
GROUND_TRUTH = register(Pane("ground-truth", "Ground truth", _draw_labels, needs=Needs.LABELS))
