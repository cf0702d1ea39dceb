"""Stages: the steps from the first to the final mask of a frame, kept when somebody asks which one decided."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FILL_HOLES",
    "KNOWN",
    "MEDIAN",
    "MIN_AREA",
    "RAW",
    "REGION",
    "SHADOWS",
    "WARMUP",
    "Stage",
    "StageTrace",
]


@dataclass(frozen=True, slots=True)
class Stage:
    """A step on the way from a frame to its final mask."""

    name: str
    """Letters and hyphens; the same in every detector that has this stage."""
    label: str
    """What the mask after it is called."""
    removes: str = ""
    """Why it makes a pixel background, as a clause; empty if it never does."""
    adds: str = ""
    """Why it makes a pixel foreground, as a clause; empty if it never does."""


RAW = Stage("raw", "Raw mask", adds="the model knows no colour here that is near enough to this one")
KNOWN = Stage("known", "Known foreground", adds="it was given as foreground")
SHADOWS = Stage("shadows", "Shadows", removes="it is the background under less light, a shadow")
WARMUP = Stage("warmup", "Warm-up", removes="nothing is reported while the model is learning its first frames")
REGION = Stage("region", "Region", removes="it lies outside the region")
MEDIAN = Stage("median", "Median", "most pixels around it are background", "most pixels around it are foreground")
FILL_HOLES = Stage("fill-holes", "Holes filled", adds="foreground encloses it")
MIN_AREA = Stage("min-area", "Smallest area", removes="its region is smaller than the smallest area")


class StageTrace:
    """The masks of one frame after each stage, in their order.

    Examples
    --------
    >>> trace = StageTrace()
    >>> trace.keep(RAW, np.array([[255, 0], [0, 0]], np.uint8))
    >>> trace.keep(MEDIAN, np.zeros((2, 2), np.uint8))
    >>> [(stage.name, added) for stage, added in trace.changes(0, 0)]
    [('raw', True), ('median', False)]
    """

    def __init__(self) -> None:
        self.steps: list[tuple[Stage, NDArray[np.uint8]]] = []
        """Each stage with the mask after it, (H, W) uint8 of 0 and 255."""

    def keep(self, stage: Stage, mask: NDArray[Any]) -> None:
        """Keep a copy of the mask after a stage.

        Parameters
        ----------
        stage : Stage
            The stage.
        mask : (H, W) uint8 array
            255 foreground; any other value is background.
        """
        self.steps.append((stage, np.multiply(mask == 255, np.uint8(255), dtype=np.uint8)))

    def clear(self) -> None:
        """Forget all masks, for the next frame."""
        self.steps.clear()

    def find(self, name: str) -> NDArray[np.uint8] | None:
        """Return the mask after the last stage of this name, (H, W) uint8; None if there was none in this frame."""
        return next((mask for stage, mask in reversed(self.steps) if stage.name == name), None)

    def removed_by(self, stage: Stage) -> NDArray[np.bool_] | None:
        """Return where a stage made foreground background, (H, W) bool; None if the frame did not go through it."""
        for (_, before), (known, after) in zip(self.steps, self.steps[1:], strict=False):
            if known == stage:
                return np.asarray(after < before)
        return None

    def changes(self, row: int, column: int) -> list[tuple[Stage, bool]]:
        """Return the stages that changed a pixel, each with whether it made it foreground; all begin as background."""
        found, before = [], 0
        for stage, mask in self.steps:
            after = int(mask[row, column])
            if after != before:
                found.append((stage, after != 0))
            before = after
        return found
