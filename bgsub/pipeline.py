"""Run one source through one detector into many sinks: a plain loop on the caller's thread."""

import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bgsub._numba import startup_seconds
from bgsub._opencv import cv2
from bgsub.detectors.base import Detector
from bgsub.errors import ModelFileError
from bgsub.frames import Frame, Mask, Packet, Result, Score, Timings
from bgsub.postprocess import RAW, Postprocess
from bgsub.roi import Region
from bgsub.stages import FILL_HOLES, MEDIAN, MIN_AREA, REGION, SHADOWS, WARMUP, Stage, StageTrace
from bgsub.video.prefetch import Prefetch, Unbuffered
from bgsub.video.sinks import Sink
from bgsub.video.sources import FrameSource

__all__ = ["STAGES", "Pipeline", "Summary", "default_postprocess", "run"]

logger = logging.getLogger(__name__)


def default_postprocess(detector: type[Detector]) -> Postprocess:
    """Return the default post-processing of a detector: none if it cleans its masks itself, else a median of 5."""
    return RAW if detector.own_postprocess else Postprocess()


STAGES: tuple[Stage, ...] = (SHADOWS, MEDIAN, FILL_HOLES, MIN_AREA, REGION, WARMUP)
"""The stages that a pipeline adds to those of its detector, in their order."""


class Pipeline:
    """The steps applied to each frame: detect, learn, post-process.

    Parameters
    ----------
    detector : Detector
        The model; every step updates its state.
    postprocess : Postprocess, optional
        Turns the raw into the final mask; by default none for a detector that cleans its masks itself, else a median.
    learning_rate : float
        As for `Detector.apply`: -1 automatic, 0 frozen.
    region : Region, optional
        Region of interest, drawn when the first frame gives the size.
    warmup : int
        First frames that are learned but reported as background, beyond the detector's own warm-up.
    want_score : bool
        Whether results carry the score.
    want_stages : bool
        Whether results carry the masks after each stage, which takes a copy of each.
    """

    def __init__(
        self,
        detector: Detector,
        *,
        postprocess: Postprocess | None = None,
        learning_rate: float = -1.0,
        region: Region | None = None,
        warmup: int = 0,
        want_score: bool = False,
        want_stages: bool = False,
    ) -> None:
        if isinstance(detector, str | type):
            raise ValueError(f"detector must be one that bgsub.create makes, got {detector!r}")
        self.detector = detector
        self.postprocess = postprocess or default_postprocess(type(detector))
        self.learning_rate = learning_rate
        self.region = region
        self.warmup = warmup
        self.want_score = want_score
        self.want_stages = want_stages
        self._steps = 0

    def step(self, packet: Packet, wait_ms: float = 0.0) -> Result:
        """Process one frame.

        Parameters
        ----------
        packet : Packet
            The frame.
        wait_ms : float
            Time in milliseconds that the caller waited for it, for the timings.

        Returns
        -------
        Result
            With the final mask, and the score if wanted.

        Raises
        ------
        ValueError
            If the frame's shape or dtype differs from the first one's.
        ConfigError
            If the region does not fit the frame.
        ModelFileError
            If the detector has learned from frames of another size or kind before the first step.
        """
        frame = packet.frame
        if self._steps == 0:
            _check_fit(self.detector, frame)
            if self.region is not None:
                self.detector.roi = self.region.mask((frame.shape[0], frame.shape[1]))
        score = np.empty(frame.shape[:2], np.float32) if self.want_score else None
        trace = StageTrace() if self.want_stages else None
        start, startup_s = time.perf_counter(), startup_seconds()
        mask = self._detect(frame, score, trace)
        if self.detector.reports_shadows:  # shadow is background in a result
            mask[mask != 255] = 0
            _keep(trace, SHADOWS, mask)
        detected = time.perf_counter()
        detect_s = detected - start - (startup_seconds() - startup_s)
        startup_s = startup_seconds()
        mask = self.postprocess(mask, trace)
        if self.detector.roi is not None:
            # The detector's mask is confined to the region, but a median or a filled hole may cross its border.
            mask = np.bitwise_and(mask, self.detector.roi)
            _keep(trace, REGION, mask)
        if self._steps < self.warmup:
            mask = np.zeros_like(mask)
            _keep(trace, WARMUP, mask)
        self._steps += 1
        finished = time.perf_counter()
        postprocess_s = finished - detected - (startup_seconds() - startup_s)
        timings = Timings(wait_ms, detect_s * 1e3, postprocess_s * 1e3)
        return Result(packet, mask, score, timings, trace)

    def _detect(self, frame: Frame, score: Score | None, trace: StageTrace | None) -> Mask:
        """Let the detector process a frame and note its stages in the trace, if there is one."""
        self.detector.trace = trace
        try:
            return self.detector.apply(frame, None, self.learning_rate, score=score)
        finally:
            self.detector.trace = None


def _keep(trace: StageTrace | None, stage: Stage, mask: Mask) -> None:
    if trace is not None:
        trace.keep(stage, mask)


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts and mean times of a run."""

    frames: int
    dropped: int
    """Frames of a live source dropped because the run was slower."""
    elapsed_s: float
    foreground: float
    """Mean share of foreground pixels."""
    detect_ms: float
    """Mean time of detection per frame."""
    postprocess_ms: float
    """Mean time of post-processing per frame."""
    first_mask_s: float | None
    """Time from the call to the first mask; None if there was none."""
    startup_s: float
    """Time spent compiling code, or loading it from the cache; in `elapsed_s` and `first_mask_s`, in no other time."""
    end: Literal["verified", "unverified"] = "unverified"
    """Whether the source is known to have no frame after the last; some containers do not show where they end."""


def run(
    source: FrameSource,
    pipeline: Pipeline,
    sinks: Sequence[Sink],
    *,
    depth: int = 4,
    progress: Callable[[Result], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Summary:
    """Run a source through a pipeline into sinks, until it ends.

    Decoding runs ahead in its own thread, through a queue of `depth` frames, and files are written in another thread
    while the next mask is made, so memory grows neither with the length of the video nor with slow sinks. Source and
    sinks are closed when this returns or raises (KeyboardInterrupt too): outputs stay readable.

    Parameters
    ----------
    source : FrameSource
        Where frames come from; closed at the end.
    pipeline : Pipeline
        The steps applied to each frame.
    sinks : sequence of Sink
        Each gets every result, on the caller's thread unless its `any_thread` is true; all are closed at the end.
    depth : int
        Length of the queue between the capture thread and the model. With 0 there is neither queue nor thread: the
        caller's does everything, which takes longer, but less processor time where other processes use the rest.
    progress : callable, optional
        Called with each result after the sinks.
    stop : callable, optional
        Asked before each frame, and several times a second while there is none; when it returns True, the run ends as
        with the last frame. Signal handlers and other threads end a run so, without an exception at a random moment.

    Returns
    -------
    Summary
        Counts and times.

    Raises
    ------
    BgsubError
        If the source, the detector or a sink fails.
    """
    if isinstance(source, str):
        raise ValueError(f"source must be one that bgsub.open_source opens, got {source!r}")
    begin, startup_s = time.perf_counter(), startup_seconds()
    frames, foreground, detect_ms, postprocess_ms = 0, 0.0, 0.0, 0.0
    first_mask_s: float | None = None
    with contextlib.ExitStack() as stack:
        for sink in reversed(sinks):  # so that they are closed in their order
            stack.callback(sink.close)
        try:
            packets = _read(source, depth, stop)
        except BaseException:
            source.close()  # there is no capture thread yet to close it
            raise
        stack.enter_context(packets)
        writer = stack.enter_context(_Writer(sinks, progress, threaded=depth > 0))
        for packet, wait_ms in _timed(packets):
            result = pipeline.step(packet, wait_ms)
            if first_mask_s is None:
                first_mask_s = time.perf_counter() - begin
            writer.write(result)
            frames += 1
            foreground += cv2.countNonZero(result.mask) / result.mask.size
            detect_ms += result.timings.detect_ms
            postprocess_ms += result.timings.postprocess_ms
        dropped = packets.dropped
        complete = packets.end_verified
    if not complete:
        logger.info("%s does not state where it ends: frames may be missing after frame %d", packets.info.name, frames)
    count = max(frames, 1)
    elapsed_s = time.perf_counter() - begin
    return Summary(
        frames,
        dropped,
        elapsed_s,
        foreground / count,
        detect_ms / count,
        postprocess_ms / count,
        first_mask_s,
        startup_seconds() - startup_s,
        "verified" if complete else "unverified",
    )


class _Writer:
    """Gives results to sinks: while one result is written on another thread, the caller makes the next.

    Without threads all is written at once. At the end, and after an exception, the last result is written everywhere
    before anything is closed.
    """

    def __init__(self, sinks: Sequence[Sink], progress: Callable[[Result], None] | None, *, threaded: bool) -> None:
        self._elsewhere = [sink for sink in sinks if sink.any_thread and threaded]
        self._here = [sink for sink in sinks if sink not in self._elsewhere]
        self._progress = progress
        self._executor = ThreadPoolExecutor(1, "bgsub-writer")
        self._last: tuple[Result, Future[None]] | None = None

    def __enter__(self) -> "_Writer":
        return self

    def __exit__(self, *error: object) -> None:
        with self._executor:  # which waits for its thread to end
            self._complete()

    def write(self, result: Result) -> None:
        """Start to write a result once the one before is complete."""
        self._complete()
        for sink in self._here:
            sink.write(result)
        if self._elsewhere:
            self._last = result, self._executor.submit(self._write_elsewhere, result)
        elif self._progress is not None:
            self._progress(result)

    def _write_elsewhere(self, result: Result) -> None:
        for sink in self._elsewhere:
            sink.write(result)

    def _complete(self) -> None:
        if self._last is None:
            return
        (result, future), self._last = self._last, None
        future.result()
        if self._progress is not None:
            self._progress(result)


def _read(source: FrameSource, depth: int, stop: Callable[[], bool] | None) -> Prefetch | Unbuffered:
    return Prefetch(source, depth=depth, stop=stop) if depth else Unbuffered(source, stop)


def _timed(packets: Iterable[Packet]) -> Iterable[tuple[Packet, float]]:
    start = time.perf_counter()
    for packet in packets:
        yield packet, (time.perf_counter() - start) * 1e3
        start = time.perf_counter()


def _check_fit(detector: Detector, frame: Frame) -> None:
    """Refuse frames of another size or kind than those a loaded model has learned."""
    if detector.shape is not None and (detector.shape != frame.shape or detector.dtype != frame.dtype):
        raise ModelFileError(
            f"the model was learned on {_kind(detector.shape, detector.dtype)} frames, these are "
            f"{_kind(frame.shape, frame.dtype)}; learn a new model or convert the source"
        )


def _kind(shape: tuple[int, ...], dtype: object) -> str:
    return f"{shape[1]}x{shape[0]} {'grey' if len(shape) == 2 else 'colour'} {dtype}"
