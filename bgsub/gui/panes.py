"""Registry of the images that panes can show; menus, keys, help, drawing and saving follow from it. No Qt."""

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.detectors.base import Detector
from bgsub.evaluation import scored_pixels
from bgsub.frames import Frame, Mask, Result, Score
from bgsub.objects import ObjectLimits, find_objects
from bgsub.video.sinks.overlay import Style, draw_overlay, to_display

__all__ = [
    "BACKGROUND",
    "BACKGROUND_B",
    "BOTH",
    "DIFFERENCE",
    "ERRORS",
    "ERRORS_B",
    "FALSE",
    "GROUND_TRUTH",
    "HEAT_RANGE",
    "HIT",
    "INPUT",
    "MASK",
    "MASK_B",
    "MISSED",
    "OBJECTS",
    "OBJECTS_B",
    "ONLY_A",
    "ONLY_B",
    "OVERLAY",
    "OVERLAY_B",
    "SCORE",
    "SCORE_B",
    "Legend",
    "Needs",
    "Pane",
    "Processed",
    "Side",
    "all_panes",
    "find_pane",
    "first_pane_keys",
    "heat_colours",
    "register",
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
_CONTOUR = (60, 76, 231)
_BOX = (0, 225, 255)
_LEAST_OBJECT_PX, _LEAST_OBJECT = 9, 1e-4  # smaller ones, also as a share of the image, are noise
_BACKGROUND_INTERVAL_S = 0.2  # it changes slowly and takes longer to draw than a mask
_DIGITS = "123456789"


class Side(enum.IntEnum):
    """The detector that a pane shows, as an index: the main one (A) or the one compared with it (B)."""

    A = 0
    B = 1


class Needs(enum.Flag):
    """What an image needs beyond the result of its own detector."""

    NOTHING = 0
    SCORE = enum.auto()
    """The detector must compute scores."""
    BOTH_SIDES = enum.auto()
    """The result of the second detector, too."""
    LABELS = enum.auto()
    """Ground truth for the frame."""
    MODEL = enum.auto()
    """The model as it was with this frame, which is not kept for earlier ones."""


class Legend(enum.Enum):
    """Explanation painted in a corner of the image."""

    HEAT = "heat"
    DIFFERENCE = "difference"
    ERRORS = "errors"


@dataclass(frozen=True, slots=True)
class Processed:
    """One processed frame, as the function of a pane receives it."""

    result: Result
    """Of the detector on the pane's side."""
    detector: Detector
    """On the pane's side."""
    other: Result | None
    """Of the detector on the other side; None while nothing is compared."""
    labels: Mask | None
    """Ground truth of the frame, (H, W) uint8, if there is any."""
    style: Style
    """Overlay style."""


@dataclass(frozen=True, slots=True)
class Pane:
    """A kind of image that a pane of the window can show. Two with the same `id` are equal."""

    id: str
    """Stable name, used in saved layouts, file names and command ids."""
    label: str = field(compare=False)
    """Shown to the user."""
    draw: Callable[[Processed], Frame | None] = field(compare=False)
    """Makes the (H, W, 3) BGR or (H, W) grey uint8 image; None if there is none. Runs on the worker's thread."""
    side: Side = field(default=Side.A, compare=False)
    needs: Needs = field(default=Needs.NOTHING, compare=False)
    legend: Legend | None = field(default=None, compare=False)
    interval_s: float = field(default=0.0, compare=False)
    """Least time between two images while frames follow each other."""

    @property
    def needs_comparison(self) -> bool:
        """Whether it shows nothing without a second detector."""
        return self.side is Side.B or Needs.BOTH_SIDES in self.needs


_panes: dict[str, Pane] = {}


def register(pane: Pane) -> Pane:
    """Offer a pane from now on: in the boxes of the panes, by a number key, in the help, and to be saved.

    Raises
    ------
    ValueError
        If there is a pane with this id, or the id does not suit file names and saved layouts.
    """
    if not pane.id.replace("-", "").isalnum():
        raise ValueError(f"id must consist of letters, digits and hyphens, got {pane.id!r}")
    if pane.id in _panes:
        raise ValueError(f"id must be new, got {pane.id!r}")
    _panes[pane.id] = pane
    return pane


def all_panes() -> tuple[Pane, ...]:
    """Return every pane in the order of registration."""
    return tuple(_panes.values())


def find_pane(pane_id: str) -> Pane | None:
    """Return the pane with this id, if there is one."""
    return _panes.get(pane_id)


def first_pane_keys() -> Iterator[tuple[str, Pane]]:
    """Yield a number key and its pane, for each pane that can always be shown, as far as the digits go."""
    always = (pane for pane in _panes.values() if not pane.needs_comparison and Needs.LABELS not in pane.needs)
    return zip(_DIGITS, always, strict=False)


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


def render_heat(score: Score) -> NDArray[np.uint8]:
    """Colour scores, (H, W) float32, as a (H, W, 3) uint8 BGR image."""
    low, high = HEAT_RANGE
    scale = 255.0 / (high - low)
    levels = cv2.convertScaleAbs(np.maximum(score, np.float32(low)), alpha=scale, beta=-low * scale)
    return cast(NDArray[np.uint8], cv2.applyColorMap(levels, _HEAT))


def render_difference(a: Mask, b: Mask) -> NDArray[np.uint8]:
    """Colour where two masks, (H, W) uint8, agree: (H, W, 3) uint8 BGR of `ONLY_A`, `ONLY_B`, `BOTH` and black."""
    colours = np.zeros((4, 3), np.uint8)
    colours[1], colours[2], colours[3] = ONLY_A, ONLY_B, BOTH
    levels = np.bitwise_or(np.bitwise_and(a, np.uint8(1)), np.bitwise_and(b, np.uint8(2)))
    table = np.zeros((256, 1, 3), np.uint8)
    table[:4, 0] = colours
    return cast(NDArray[np.uint8], cv2.applyColorMap(levels, table))


def _draw_input(processed: Processed) -> Frame:
    frame = processed.result.packet.frame
    return frame if frame.dtype == np.uint8 else to_display(frame)


def _draw_mask(processed: Processed) -> Frame:
    return processed.result.mask


def _draw_overlay(processed: Processed) -> Frame:
    result = processed.result
    return draw_overlay(result.packet.frame, result.mask, style=processed.style, color=_CONTOUR, opacity=0.45)


def _draw_background(processed: Processed) -> Frame:
    return processed.detector.background_image()


def _draw_score(processed: Processed) -> Frame | None:
    return None if processed.result.score is None else render_heat(processed.result.score)


def _draw_difference(processed: Processed) -> Frame | None:
    return None if processed.other is None else render_difference(processed.result.mask, processed.other.mask)


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
    scale = max(mask.shape[0] / 480, 0.5)
    thickness = max(1, round(scale))
    for item in find_objects(mask, limits=limits):
        x, y, width, height = (int(value) for value in item.box)
        cv2.rectangle(image, (x, y), (x + width - 1, y + height - 1), (0, 0, 0), thickness + 2)
        cv2.rectangle(image, (x, y), (x + width - 1, y + height - 1), _BOX, thickness)
        at = x, max(y - 3, round(10 * scale))
        for colour, width_px in (((0, 0, 0), thickness + 2), (_BOX, thickness)):
            cv2.putText(image, f"{item.area} px", at, cv2.FONT_HERSHEY_SIMPLEX, 0.4 * scale, colour, width_px)
    return image


def _draw_errors(processed: Processed) -> Frame | None:
    return None if processed.labels is None else render_errors(processed.result.mask, processed.labels)


def _draw_objects(processed: Processed) -> Frame:
    return render_objects(processed.result.packet.frame, processed.result.mask)


def _draw_labels(processed: Processed) -> Frame | None:
    return processed.labels


INPUT = register(Pane("input", "Input", _draw_input))
MASK = register(Pane("mask", "Mask", _draw_mask))
OVERLAY = register(Pane("overlay", "Overlay", _draw_overlay))
BACKGROUND = register(
    Pane("background", "Background", _draw_background, needs=Needs.MODEL, interval_s=_BACKGROUND_INTERVAL_S)
)
SCORE = register(Pane("score", "Score", _draw_score, needs=Needs.SCORE, legend=Legend.HEAT))
MASK_B = register(Pane("mask-b", "Mask B", _draw_mask, Side.B))
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
