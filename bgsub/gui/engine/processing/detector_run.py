"""Detectors applied frame by frame: changed between two frames, timed, compared with ground truth and each other."""

import copy
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bgsub._opencv import cv2
from bgsub.config import Config
from bgsub.detectors import detector_class
from bgsub.detectors.base import Detector
from bgsub.detectors.pixel_state import PixelState
from bgsub.errors import BgsubError, ModelFileError
from bgsub.evaluation import Counts
from bgsub.frames import Frame, Mask, Packet, Result, Timings
from bgsub.gui.messages import DetectorRunView
from bgsub.gui.panes import find_effects, stages_of
from bgsub.pipeline import Pipeline, default_postprocess
from bgsub.roi import Region

__all__ = ["DetectorRun", "RunState", "foreground_share", "needs_new_model"]

_TIMED_FRAMES = 25
"""Number of frames in the mean time."""


def needs_new_model(present: Config, wanted: Config) -> bool:
    """Return whether a change of configuration loses the model."""
    if present.detector != wanted.detector:
        return True
    kind = detector_class(wanted.detector)
    now, then = (kind.check_parameters(config.parameters) for config in (present, wanted))
    return any(item.shapes_state and now[item.name] != then[item.name] for item in kind.PARAMETERS)


def foreground_share(mask: Mask) -> float:
    """Return the share of foreground pixels in a mask."""
    return cv2.countNonZero(mask) / mask.size


@dataclass(frozen=True, slots=True)
class RunState:
    """A detector run at one moment, as `DetectorRun.state` copies it."""

    config: Config
    pipeline: Pipeline | None
    """With a copy of the model; None if the detector cannot be copied."""
    confined_to: tuple[Region | None, tuple[int, ...]] | None
    counts: Counts
    scored: int
    nbytes: int


class DetectorRun:
    """One detector with its pipeline, its times and its score.

    Parameters
    ----------
    config : Config
        Detector and post-processing.
    rate_hz : float, optional
        Frame rate of the source.
    """

    def __init__(self, config: Config, rate_hz: float | None = None) -> None:
        self._config = config
        self._rate_hz = rate_hz
        self._confined_to: tuple[Region | None, tuple[int, ...]] | None = None
        self._times_ms: deque[float] = deque(maxlen=_TIMED_FRAMES)
        self._counts, self._scored = Counts(), 0
        self._spare: tuple[RunState, Pipeline] | None = None
        """A copy of the pipeline of a state, until the next frame."""
        self.frame_counts: Counts | None = None
        """Right and wrong pixels of the present frame; None if it has no labels."""
        self._make()

    @property
    def config(self) -> Config:
        """Current configuration."""
        return self._config

    @property
    def detector(self) -> Detector:
        """The model."""
        return self._pipeline.detector

    @property
    def ms(self) -> float:
        """Mean time of the last frames in milliseconds per frame; NaN before the first."""
        return sum(self._times_ms) / len(self._times_ms) if self._times_ms else float("nan")

    @property
    def counts(self) -> Counts:
        """Right and wrong pixels so far."""
        return self._counts

    def configure(self, config: Config) -> None:
        """Change the configuration, and keep the model if possible."""
        if config == self._config:
            return
        is_new = needs_new_model(self._config, config)
        self._config = config
        if is_new:
            self._make()
            return
        self.detector.change(**config.make_detector(rate_hz=self._rate_hz).parameters)
        self._pipeline.postprocess = config.postprocess or default_postprocess(type(self.detector))
        self._pipeline.learning_rate = config.learning_rate
        self._pipeline.warmup = config.warmup or 0

    def confine(self, region: Region | None, size: tuple[int, int]) -> None:
        """Process only a region of frames of this (height, width); the whole frame if None.

        Raises
        ------
        ConfigError
            If nothing is left of the frame; the previous region stays in use.
        """
        if self._confined_to == (region, size) or (region is None and self.detector.roi is None):
            return
        self.detector.roi = None if region is None else region.mask(size)
        self._confined_to = (region, size)

    def reset(self) -> None:
        """Forget the model, and the score."""
        self._make()

    def restart_counts(self) -> None:
        """Count right and wrong pixels from zero."""
        self._counts, self._scored = Counts(), 0

    @property
    def is_empty(self) -> bool:
        """Whether the model has seen no frame."""
        return self.detector.shape is None

    @property
    def warmup(self) -> tuple[int, int]:
        """Frames learned so far, and the number up to which masks stay empty."""
        own = self.detector.parameters.get("warmup") or 0
        return self.detector.frames_seen, max(int(own), self._config.warmup or 0)

    def state(self) -> RunState:
        """Return a copy of the run, with all that the model has learned if the detector can be copied."""
        pipeline = copy.deepcopy(self._pipeline) if self.detector.can_save else None
        nbytes = 0 if pipeline is None else self.detector.memory_bytes or 0
        return RunState(self._config, pipeline, self._confined_to, self._counts, self._scored, nbytes)

    def restore(self, state: RunState) -> None:
        """Return to a state; a model that could not be copied begins again."""
        self._config = state.config
        spare, self._spare = self._spare, None
        if state.pipeline is None:
            self._make()
        else:
            self._pipeline = copy.deepcopy(state.pipeline) if spare is None or spare[0] is not state else spare[1]
        self._confined_to = None if state.pipeline is None else state.confined_to
        self._counts, self._scored = state.counts, state.scored
        self.is_loaded = False

    def is_copied(self, state: RunState) -> bool:
        """Whether `restore` of a state has its copy, or needs none."""
        return state.pipeline is None or (self._spare is not None and self._spare[0] is state)

    def copy_ahead(self, state: RunState) -> None:
        """Make the copy that `restore` of a state needs; the next frame drops it."""
        if state.pipeline is not None and not self.is_copied(state):
            self._spare = state, copy.deepcopy(state.pipeline)

    def step(self, packet: Packet, *, frozen: bool, want_score: bool, want_stages: bool) -> Result:
        """Process one frame; a detector that cannot freeze goes on learning."""
        self._spare = None
        self._pipeline.want_score = want_score
        self._pipeline.want_stages = want_stages or bool(self.detector.parameters.get("detect_shadows"))
        can_freeze = frozen and self.detector.can_freeze
        self._pipeline.learning_rate = 0.0 if can_freeze else self._config.learning_rate
        result = self._pipeline.step(packet)
        self.is_loaded = False
        self._times_ms.append(result.timings.total_ms)
        return result

    def learn(self, packet: Packet) -> None:
        """Learn one frame, whose mask nobody wants; a frozen detector learns, too."""
        self._pipeline.want_score = self._pipeline.want_stages = False
        self._pipeline.learning_rate = -1.0
        self._pipeline.step(packet)

    def restart_pipeline(self) -> None:
        """Begin with the first frame again, and keep the model."""
        self._pipeline = replace(self._config, roi="").make_pipeline(self.detector)

    def reason_to_remove(self, row: int, column: int) -> str:
        """Return why a pixel cannot be foreground in the last mask, whatever its colour; empty if it could."""
        region = self.detector.roi
        if region is not None and not region[row, column]:
            return "it lies outside the region"
        learned, warmup = self.warmup
        if learned <= warmup and warmup:
            return f"nothing is reported while the model is learning its first {warmup} frames"
        return ""

    def peek(self, packet: Packet) -> Result:
        """Judge one frame without learning; an empty mask where that is impossible."""
        frame = packet.frame
        if not self.detector.can_freeze or (self.detector.shape, self.detector.dtype) != (frame.shape, frame.dtype):
            return Result(packet, np.zeros(frame.shape[:2], np.uint8), None, Timings(0.0, 0.0, 0.0))
        pipeline = copy.copy(self._pipeline)  # with the same model, but its own count of frames
        pipeline.learning_rate, pipeline.want_score, pipeline.want_stages = 0.0, False, False
        return pipeline.step(packet)

    def count(self) -> None:
        """Add what was found right and wrong in the present frame to the counts so far."""
        if self.frame_counts is not None:
            self._counts += self.frame_counts
            self._scored += 1

    def inspect(self, frame: Frame, row: int, column: int) -> tuple[PixelState | None, str]:
        """Return the state of one pixel, or None and the reason why there is none."""
        if self.detector.shape is None:
            return None, "The model is empty; let it process a frame."
        try:
            return self.detector.inspect(frame, row, column), ""
        except (BgsubError, ValueError) as error:
            return None, str(error)

    def load(self, path: Path, frame: Frame | None) -> Config:
        """Replace the model by a saved one, and return the configuration that comes with it.

        Raises
        ------
        ModelFileError
            If it cannot be read or was learned on other frames than this; the present model stays.
        """
        loaded = self._config.make_detector(model=path)
        if frame is not None and (loaded.shape, loaded.dtype) != (frame.shape, frame.dtype):
            raise ModelFileError(
                f"the model {path} was learned on frames of shape {loaded.shape} {loaded.dtype}, these are "
                f"{frame.shape} {frame.dtype}; open its source or learn a new model"
            )
        same = loaded.name == self._config.detector
        self._config = replace(
            self._config,
            detector=loaded.name,
            parameters=loaded.parameters,
            postprocess=self._config.postprocess if same else None,
        )
        self._pipeline = replace(self._config, roi="").make_pipeline(loaded)
        self._confined_to, self._spare = None, None
        self.is_loaded = True
        return self._config

    def view(self, result: Result, *, scored: bool) -> DetectorRunView:
        """Return a summary for the window."""
        counts = self._counts if scored else None
        share = foreground_share(result.mask)
        memory = self.detector.memory_bytes
        stages = stages_of(type(self.detector))
        effects = () if result.stages is None else find_effects(result.stages, stages)
        return DetectorRunView(
            self.detector.name,
            result,
            self.ms,
            share,
            memory,
            counts,
            self._scored,
            self.frame_counts,
            effects,
            self.detector.roi,
        )

    def _make(self) -> None:
        detector = self._config.make_detector(rate_hz=self._rate_hz)
        self._pipeline = replace(self._config, roi="").make_pipeline(detector)
        self._confined_to = None
        self._spare = None
        self._times_ms.clear()
        self._counts, self._scored = Counts(), 0
        self.is_loaded = False
        """Whether the model comes from a file and has processed no frame since."""
