"""From one part of a file to its numbers: the work that is distributed."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from bgsub import pipeline
from bgsub._files import open_whole
from bgsub._opencv import cv2
from bgsub.detectors import Detector, load
from bgsub.errors import BgsubError, SourceError
from bgsub.events import Measure
from bgsub.frames import Result, VideoInfo
from bgsub.pipeline import Pipeline
from bgsub.roi import open_region
from bgsub.scanning.numbers import NumberWriter
from bgsub.scanning.settings import ScanSettings
from bgsub.video.sinks import Sink
from bgsub.video.sources import FrameSource, open_source
from bgsub.video.sources.position import Position
from bgsub.video.sources.slice import Slice

__all__ = ["Analysed", "Chain", "Part", "analyse", "find_parts"]

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a file, or all of it."""

    file: str
    first: int = 1
    """Number of its first frame."""
    last: int | None = None
    """Number of its last frame; None for the end of the file."""
    learn_from: int = 1
    """Number of the frame from which its model learns."""
    frames: int = 0
    """Number of frames to read, as far as the container states it."""


@dataclass(frozen=True, slots=True)
class Analysed:
    """What was found in a part."""

    numbers: bytes
    """As `read_numbers` reads them."""
    frames: int = 0
    """Frames that were looked at."""
    size: tuple[int, int] = (0, 0)
    """(height, width) of the frames of the source in pixels."""
    rate_hz: float = 25.0
    """Frames per second of the source."""
    first_s: float = 0.0
    """Time in the file of the first frame that was looked at, in seconds."""
    last_s: float = 0.0
    """Time of the last one."""
    failure: str = ""
    """Why it could not be read, or not to its end."""


@dataclass(frozen=True, slots=True)
class Job:
    """A part, and how to analyse it."""

    part: Part
    settings: ScanSettings
    threads: int | None = None


def find_parts(file: str, settings: ScanSettings) -> tuple[list[Part], VideoInfo | None, str]:
    """Divide a file as the settings say.

    Returns
    -------
    parts : list of Part
        At least one.
    info : VideoInfo or None
        Description of the file; None if it cannot be opened.
    failure : str
        Why it cannot be opened.
    """
    try:
        with open_source(file) as source:
            info = source.info
            if info.live:
                raise SourceError(f"{info.name} has no end; scan recordings, or use `bgsub run` for live sources")
    except BgsubError as error:
        return [Part(file)], None, str(error)
    count, rate_hz = info.count, info.rate_hz
    whole = [Part(file, frames=count or 0)]
    if settings.chunk_s is None or not count or not rate_hz:
        return whole, info, ""
    length, overlap = max(1, round(settings.chunk_s * rate_hz)), round(settings.overlap_s * rate_hz)
    if count <= 1.5 * length:
        return whole, info, ""
    parts = []
    for first in range(1, max(2, count - length // 2), length):
        learn_from = max(1, first - overlap)
        parts.append(Part(file, first, first + length - 1, learn_from, first + length - learn_from))
    parts[-1] = replace(parts[-1], last=None, frames=count - parts[-1].learn_from + 1)
    return parts, info, ""


def analyse(job: Job, progress: Progress | None = None, stop: Callable[[], bool] | None = None) -> Analysed:
    """Analyse a part with a model of its own; a failure of the file is part of the result.

    Raises
    ------
    ConfigError
        If a region does not fit the frames.
    """
    before = cv2.getNumThreads()
    if job.threads is not None:
        cv2.setNumThreads(job.threads)
    try:
        return Chain(job.settings, job.threads).analyse(job.part, progress, stop)
    finally:
        cv2.setNumThreads(before)


class Chain:
    """Analyses parts one after the other with one model, which goes from one to the next.

    Parameters
    ----------
    settings : ScanSettings
    threads : int, optional
        Threads of the detector.
    """

    def __init__(self, settings: ScanSettings, threads: int | None = None) -> None:
        self._settings, self._threads = settings, threads
        self._pipeline: Pipeline | None = None
        self._measure = Measure()
        self._size: tuple[int, int] | None = None
        self._frames = 0

    def analyse(
        self,
        part: Part,
        progress: Progress | None = None,
        stop: Callable[[], bool] | None = None,
        *,
        offset: Callable[[float], float] | None = None,
    ) -> Analysed:
        """Analyse the next part.

        Parameters
        ----------
        part : Part
        progress : callable, optional
            Called with the number of frames since the call before.
        stop : callable, optional
            Asked before each frame whether to end.
        offset : callable, optional
            Gets the time of the first frame, and returns what is to be added to times in the file for those in the
            recording; by default they are the same.
        """
        settings = self._settings
        try:
            source = open_source(part.file)
        except BgsubError as error:
            return Analysed(NumberWriter(list(settings.regions)).to_bytes(), failure=str(error))
        info = source.info
        size = info.size or (0, 0)
        scale, skip = settings.sampling(info)
        try:
            made = self._prepare(info, scale, skip)
            sliced = self._slice(source, part, scale, skip)
        except BaseException:
            source.close()
            raise
        collector = _Collector(self._measure, list(settings.regions), part.first, offset)
        failure = ""

        def advance(_: Result) -> None:
            if progress is not None:
                progress(skip)

        try:
            # On one thread: frames are small, so that handing them on takes an eighth more processor time.
            pipeline.run(sliced, made, [collector], depth=0, progress=advance, stop=stop)
        except BgsubError as error:
            failure = str(error)
        self._frames += collector.seen
        return Analysed(
            collector.numbers.to_bytes(),
            len(collector.numbers),
            size,
            info.rate_hz or 25.0,
            collector.first_s,
            collector.last_s,
            failure,
        )

    def save(self, folder: Path, name: str) -> None:
        """Write the model and what else goes on, as files of a name."""
        if self._pipeline is None or self._size is None:
            return
        self._pipeline.detector.save(folder / f"{name}.model.npz")
        state: dict[str, Any] = self._measure.state() | {"size": np.array(self._size), "frames": np.array(self._frames)}
        with open_whole(folder / f"{name}.state.npz") as file:
            np.savez(file, **state)

    def restore(self, folder: Path, name: str) -> None:
        """Go on from what `save` wrote."""
        if not (folder / f"{name}.state.npz").exists():
            return
        with np.load(folder / f"{name}.state.npz", allow_pickle=False) as archive:
            state = {key: archive[key] for key in archive.files}
        height, width = state["size"].tolist()
        self._size, self._frames = (height, width), int(state["frames"])
        detector = load(folder / f"{name}.model.npz")
        if "threads" in detector.parameters and self._threads is not None:
            detector.change(threads=self._threads)
        scale, _ = self._settings.sampling(VideoInfo("", self._size))
        self._pipeline = self._make_pipeline(detector, scale)
        self._measure = self._make_measure(scale)
        self._measure.restore(state)

    def _prepare(self, info: VideoInfo, scale: float, skip: int) -> Pipeline:
        """Return the pipeline, a new one where the size of the frames has changed."""
        if self._pipeline is None or info.size != self._size:
            rate_hz = None if info.rate_hz is None else info.rate_hz / skip
            detector = self._settings.config.make_detector(rate_hz=rate_hz, threads=self._threads)
            self._size, self._frames = info.size, 0
            self._pipeline = self._make_pipeline(detector, scale)
            self._measure = self._make_measure(scale)
        return self._pipeline

    def _make_pipeline(self, detector: Detector, scale: float) -> Pipeline:
        config = self._settings.config
        return Pipeline(
            detector,
            postprocess=config.postprocess,
            learning_rate=config.learning_rate,
            region=open_region(config.roi).scaled(scale) if config.roi else None,
            warmup=max(0, (config.warmup or 0) - self._frames),
            want_score=detector.can_score,
        )

    def _make_measure(self, scale: float) -> Measure:
        regions = {name: open_region(text).scaled(scale) for name, text in self._settings.regions.items()}
        return Measure(regions, min_area=self._settings.rules.min_area)

    @staticmethod
    def _slice(source: FrameSource, part: Part, scale: float, skip: int) -> FrameSource:
        start = Position(part.learn_from) if part.learn_from > 1 else None
        end = None if part.last is None else Position(part.last)
        if start is None and end is None and skip == 1 and scale == 1:
            return source
        return Slice(source, start, end, skip, scale)


@dataclass
class _Collector(Sink):
    """A sink that keeps the numbers of each frame."""

    measure: Measure
    regions: list[str]
    first: int
    offset: Callable[[float], float] | None
    numbers: NumberWriter = field(init=False)
    seen: int = 0
    offset_s: float = 0.0
    first_s: float = math.nan
    last_s: float = 0.0
    any_thread = True

    def __post_init__(self) -> None:
        self.numbers = NumberWriter(self.regions)

    def write(self, result: Result) -> None:
        packet = result.packet
        self.seen += 1
        if math.isnan(self.first_s):
            self.first_s = packet.time_s
            self.offset_s = 0.0 if self.offset is None else self.offset(packet.time_s)
        # What the measure remembers goes on from file to file, and so must its time.
        observation = self.measure(result, time_s=self.offset_s + packet.time_s)
        if packet.number >= self.first:
            self.numbers.add(observation, packet.time_s)
            self.last_s = packet.time_s

    def close(self) -> None:
        if math.isnan(self.first_s):
            self.first_s = 0.0
