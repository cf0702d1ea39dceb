"""One detector on its way through the frames: its pipeline, changed between two frames, its times and its score."""

from collections import deque
from dataclasses import replace
from pathlib import Path

from bgsub._opencv import cv2
from bgsub.config import Config
from bgsub.detectors import detector_class
from bgsub.detectors.base import Detector
from bgsub.detectors.pixel_state import PixelState
from bgsub.errors import BgsubError, ModelFileError
from bgsub.evaluation import Counts, count_pixels
from bgsub.frames import Frame, Mask, Packet, Result
from bgsub.gui.messages import LaneView
from bgsub.pipeline import default_postprocess
from bgsub.roi import Region

__all__ = ["Lane", "needs_new_model"]

_LATELY = 25
"""Frames that the mean time is of."""


def needs_new_model(present: Config, wanted: Config) -> bool:
    """Tell whether going from one configuration to another loses what was learned."""
    if present.detector != wanted.detector:
        return True
    now, then = present.make_detector().parameters, wanted.make_detector().parameters
    return any(
        item.shapes_state and now[item.name] != then[item.name] for item in detector_class(wanted.detector).PARAMETERS
    )


class Lane:
    """A detector with all that is done around it.

    Parameters
    ----------
    config : Config
        What to make.
    rate_hz : float, optional
        Frame rate of the source.
    """

    def __init__(self, config: Config, rate_hz: float | None = None) -> None:
        self._config = config
        self._rate_hz = rate_hz
        self._region: Region | None = None
        self._drawn_for: tuple[Region | None, tuple[int, ...]] | None = None
        self._times_ms: deque[float] = deque(maxlen=_LATELY)
        self._counts = Counts()
        self._make()

    @property
    def config(self) -> Config:
        """What it was made of or changed to."""
        return self._config

    @property
    def detector(self) -> Detector:
        """The model itself."""
        return self._pipeline.detector

    @property
    def ms(self) -> float:
        """Mean time of the last frames in milliseconds; NaN before the first."""
        return sum(self._times_ms) / len(self._times_ms) if self._times_ms else float("nan")

    @property
    def counts(self) -> Counts:
        """Right and wrong pixels so far."""
        return self._counts

    def configure(self, config: Config) -> bool:
        """Take another configuration, with the model kept where that is possible.

        Returns
        -------
        bool
            Whether a new model had to be made.
        """
        if config == self._config:
            return False
        anew = needs_new_model(self._config, config)
        self._config = config
        if anew:
            self._make()
            return True
        self.detector.change(**config.make_detector(rate_hz=self._rate_hz).parameters)
        self._pipeline.postprocess = config.postprocess or default_postprocess(type(self.detector))
        self._pipeline.learning_rate = config.learning_rate
        self._pipeline.warmup = config.warmup or 0
        return False

    def confine(self, region: Region | None, size: tuple[int, int]) -> None:
        """Look only at a region of frames of that (height, width); everywhere if None.

        Raises
        ------
        ConfigError
            If nothing is left of the frame; the region before stays.
        """
        if self._drawn_for == (region, size) or (region is None and self.detector.roi is None):
            return
        self.detector.roi = None if region is None else region.mask(size)
        self._region, self._drawn_for = region, (region, size)

    def reset(self) -> None:
        """Forget what was learned, and the score."""
        self._make()

    def restart_counts(self) -> None:
        """Count right and wrong pixels anew."""
        self._counts = Counts()

    def step(self, packet: Packet, *, frozen: bool, want_score: bool) -> Result:
        """Make a result of one frame; a detector that cannot freeze goes on learning."""
        self._pipeline.want_score = want_score
        can_freeze = frozen and self.detector.can_freeze
        self._pipeline.learning_rate = 0.0 if can_freeze else self._config.learning_rate
        result = self._pipeline.step(packet)
        self.is_loaded = False
        self._times_ms.append(result.timings.total_ms)
        return result

    def count(self, mask: Mask, selected: tuple[Frame, Frame]) -> None:
        """Compare a mask with the pixels that are foreground and those that are not."""
        self._counts += count_pixels(mask, *selected)

    def inspect(self, frame: Frame, row: int, column: int) -> tuple[PixelState | None, str]:
        """Look into one pixel: its state, or None and why there is none."""
        if self.detector.shape is None:
            return None, "The model is empty; let it see a frame."
        try:
            return self.detector.inspect(frame, row, column), ""
        except (BgsubError, ValueError) as error:
            return None, str(error)

    def load(self, path: Path, frame: Frame | None) -> Config:
        """Replace the model by a saved one, which brings its own detector and parameters, and return these.

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
        self._drawn_for = None
        self.is_loaded = True
        return self._config

    def view(self, result: Result, *, scored: bool) -> LaneView:
        """Summarise for the window."""
        counts = self._counts if scored else None
        share = cv2.countNonZero(result.mask) / result.mask.size
        return LaneView(self.detector.name, result, self.ms, share, self.detector.memory_bytes, counts)

    def _make(self) -> None:
        detector = self._config.make_detector(rate_hz=self._rate_hz)
        self._pipeline = replace(self._config, roi="").make_pipeline(detector)
        self._drawn_for = None
        self._times_ms.clear()
        self._counts = Counts()
        self.is_loaded = False
        """Whether the model is one from a file that has seen no frame since."""
