"""Panes of the steps that make a mask: the mask after each, and which one removed or added each pixel."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.detectors.base import Detector
from bgsub.frames import Frame, Mask
from bgsub.gui.panes.registry import Legend, Needs, Pane, Processed, Side, register
from bgsub.pipeline import STAGES
from bgsub.stages import RAW, WARMUP, Stage, StageTrace
from bgsub.video.sinks.overlay import to_display

__all__ = ["STEPS", "STEPS_B", "Effect", "find_effects", "mask_after", "render_steps", "stage_panes", "stages_of"]

_KEPT = (235, 235, 235)
_COLOURS = ((0, 159, 230), (233, 180, 86), (115, 158, 0), (66, 228, 240), (0, 94, 213), (167, 121, 204), (178, 114, 0))
"""(blue, green, red) after Okabe and Ito, distinguishable for colour-blind eyes."""
_DIMMED = 0.35  # the frame behind the steps


@dataclass(frozen=True, slots=True)
class Effect:
    """What a stage did to some pixels of a frame."""

    stage: Stage
    added: bool
    """Whether it made them foreground; otherwise it made them background."""
    colour: tuple[int, int, int]
    """(blue, green, red) of these pixels in the pane of the steps."""

    @property
    def text(self) -> str:
        """A few words for the legend.

        Examples
        --------
        >>> Effect(RAW, True, (0, 0, 0)).text
        'found and kept'
        """
        if self.stage == RAW:
            return "found and kept"
        return f"{'added' if self.added else 'removed'}: {self.stage.label.lower()}"


def stages_of(kind: type[Detector]) -> tuple[Stage, ...]:
    """Return the stages of a detector's masks and of the pipeline, in their order."""
    return (*kind.STAGES, *(stage for stage in STAGES if stage not in kind.STAGES))


@cache
def _colours_of(stages: tuple[Stage, ...]) -> dict[tuple[Stage, bool], tuple[int, int, int]]:
    """Return a colour for each effect that these stages can have."""
    possible = [
        (stage, added)
        for stage in stages
        for added, reason in ((False, stage.removes), (True, stage.adds))
        if reason and stage != RAW
    ]
    colours = {effect: _COLOURS[number % len(_COLOURS)] for number, effect in enumerate(possible)}
    return {(RAW, True): _KEPT, **colours}


def find_effects(trace: StageTrace, stages: tuple[Stage, ...]) -> tuple[Effect, ...]:
    """Return what the stages of a frame did, each effect once."""
    colours = _colours_of(stages)
    found: dict[tuple[Stage, bool], Effect] = {}
    before: Mask | None = None
    for stage, mask in trace.steps:
        for added in (False, True):
            less, more = (before, mask) if added else (mask, before)
            changed = more if less is None else None if more is None else cv2.subtract(more, less)
            if changed is not None and cv2.countNonZero(changed) and (stage, added) in colours:
                found.setdefault((stage, added), Effect(stage, added, colours[stage, added]))
        before = mask
    return tuple(found.values())


def render_steps(frame: Frame, trace: StageTrace, stages: tuple[Stage, ...]) -> NDArray[np.uint8]:
    """Colour each pixel by the last stage that changed it, above a dimmed frame: (H, W, 3) uint8 BGR."""
    shown = to_display(frame)
    image = np.ascontiguousarray(np.dstack([shown] * 3) if shown.ndim == 2 else shown)
    image = np.asarray(cv2.convertScaleAbs(image, alpha=_DIMMED), np.uint8)
    colours = _colours_of(stages)
    before = np.zeros(image.shape[:2], np.uint8)
    for stage, mask in trace.steps:
        for added in (False, True):
            if (stage, added) in colours:
                image[(mask > before) if added else (mask < before)] = colours[stage, added]
        before = mask
    return image


def mask_after(trace: StageTrace, stage: Stage, stages: Sequence[Stage]) -> Mask | None:
    """Return the mask after a stage; where a frame did not go through it, after the last one before."""
    if stage not in stages:
        return None
    passed = stages[: stages.index(stage) + 1]
    return next((mask for known, mask in reversed(trace.steps) if known in passed), None)


def _draw_steps(processed: Processed) -> Frame | None:
    result = processed.result
    if result.stages is None:
        return None
    return render_steps(result.packet.frame, result.stages, stages_of(type(processed.detector)))


def _draw_after(stage: Stage, processed: Processed) -> Frame | None:
    trace = processed.result.stages
    return None if trace is None else mask_after(trace, stage, stages_of(type(processed.detector)))


STEPS = register(Pane("steps", "Steps of the mask", _draw_steps, needs=Needs.STAGES, legend=Legend.STEPS))
STEPS_B = register(Pane("steps-b", "Steps of the mask B", _draw_steps, Side.B, Needs.STAGES, Legend.STEPS))


def stage_panes(kind: type[Detector], side: Side) -> tuple[Pane, ...]:
    """Return a pane for the mask after each stage of a detector."""
    return tuple(_stage_pane(stage, side) for stage in stages_of(kind) if stage != WARMUP)


@cache
def _stage_pane(stage: Stage, side: Side) -> Pane:
    ending = "-b" if side is Side.B else ""
    label = stage.label if stage == RAW else f"After {stage.label.lower()}"
    pane_id = f"stage-{stage.name}{ending}"
    return register(
        Pane(pane_id, label + (" B" if ending else ""), partial(_draw_after, stage), side, Needs.STAGES, stage=stage),
    )
