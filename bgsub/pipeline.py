"""A plain loop on the caller's thread: one source, one detector, many sinks, files written meanwhile."""

import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from bgsub._opencv import cv2
from bgsub.detectors.base import Detector
from bgsub.errors import ModelFileError
from bgsub.frames import Frame, Mask, Packet, Result, Score, Timings
from bgsub.postprocess import RAW, Postprocess
from bgsub.roi import Region
from bgsub.video.prefetch import Prefetch
from bgsub.video.sinks import Sink
from bgsub.video.sources import FrameSource

__all__ = ["Pipeline", "PipelineModel", "Summary", "default_postprocess", "run"]

logger = logging.getLogger(__name__)


def default_postprocess(detector: type[Detector]) -> Postprocess:
    """Return the post-processing that suits a detector: none where it does its own, else a median of 5."""
    return RAW if detector.own_postprocess else Postprocess()


class Pipeline:
    """What is done to each frame: detect, learn, post-process.

    Parameters
    ----------
    detector : Detector
        The model; its state advances with every step.
    postprocess : Postprocess, optional
        From the raw to the final mask; by default none for a detector that does its own, else a median.
    learning_rate : float
        As `Detector.apply`: -1 its own pace, 0 frozen.
    region : Region, optional
        Region of interest, drawn when the first frame tells the size.
    warmup : int
        Frames that are learned but reported as background, beyond what the detector does itself.
    want_score : bool
        Whether results carry the score.
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
    ) -> None:
        self.detector = detector
        self.postprocess = postprocess or default_postprocess(type(detector))
        self.learning_rate = learning_rate
        self.region = region
        self.warmup = warmup
        self.want_score = want_score
        self._steps = 0

    def step(self, packet: Packet, wait_ms: float = 0.0) -> Result:
        """Make a result of one frame.

        Parameters
        ----------
        packet : Packet
            The frame.
        wait_ms : float
            How long the caller waited for it, for the timings.

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
        start = time.perf_counter()
        mask = self.detector.apply(frame, None, self.learning_rate, score=score)
        if getattr(self.detector, "reports_shadows", False):  # background, in a result
            mask[mask != 255] = 0
        detected = time.perf_counter()
        mask = self.postprocess(mask)
        if self.detector.roi is not None:
            mask = np.bitwise_and(mask, self.detector.roi)  # a median or a filled hole may cross the border
        if self._steps < self.warmup:
            mask = np.zeros_like(mask)
        self._steps += 1
        finished = time.perf_counter()
        timings = Timings(wait_ms, (detected - start) * 1e3, (finished - detected) * 1e3)
        return Result(packet, mask, score, timings)


class PipelineModel:
    """A pipeline with the face of a bare model, for evaluation: frames in, final masks out.

    Parameters
    ----------
    pipeline : Pipeline
        What is done to each frame.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._frames = 0

    def apply(self, image: Frame) -> Mask:
        """Return the final mask, (H, W) uint8, of the next frame."""
        packet = Packet(self._frames, float(self._frames), image, self._frames + 1)
        self._frames += 1
        return self._pipeline.step(packet).mask

    def score(self, image: Frame) -> Score:
        """Return the detector's score, (H, W) float32, without learning."""
        return self._pipeline.detector.score(image)

    @property
    def memory_bytes(self) -> int | None:
        """Size of the model's state; None where it does not tell."""
        return self._pipeline.detector.memory_bytes


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run did."""

    frames: int
    dropped: int
    """Frames of a live source that came too fast."""
    elapsed_s: float
    foreground: float
    """Mean share of foreground pixels."""
    detect_ms: float
    """Mean time of detection, a frame."""
    postprocess_ms: float
    """Mean time of post-processing, a frame."""
    first_mask_s: float | None
    """Time from the call to the first mask; None if there was none."""


def run(
    source: FrameSource,
    pipeline: Pipeline,
    sinks: Sequence[Sink],
    *,
    depth: int = 4,
    progress: Callable[[Result], None] | None = None,
) -> Summary:
    """Run a source through a pipeline into sinks, until it ends.

    Decoding runs ahead in a thread of its own, in a queue of `depth` frames, and files are written in another while
    the next mask is made, so memory does not grow with the length of the video or with slow sinks. Source and sinks
    are closed when this returns, also by an exception (KeyboardInterrupt too): what was written stays readable.

    Parameters
    ----------
    source : FrameSource
        Where frames come from; closed at the end.
    pipeline : Pipeline
        What is done to each.
    sinks : sequence of Sink
        Each gets every result, on the caller's thread unless its `any_thread` is true; all are closed at the end.
    depth : int
        Length of the queue between the capture thread and the model.
    progress : callable, optional
        Called with each result after the sinks.

    Returns
    -------
    Summary
        Counts and times.

    Raises
    ------
    BgsubError
        If the source, the detector or a sink fails.
    """
    begin = time.perf_counter()
    frames, foreground, detect_ms, postprocess_ms = 0, 0.0, 0.0, 0.0
    first_mask_s: float | None = None
    with contextlib.ExitStack() as stack:
        for sink in sinks:
            stack.callback(sink.close)
        try:
            packets = stack.enter_context(Prefetch(source, depth=depth))
        except BaseException:
            source.close()  # no capture thread has it yet
            raise
        writer = stack.enter_context(_Writer(sinks, progress))
        for packet, wait_ms in _timed(packets):
            result = pipeline.step(packet, wait_ms)
            if first_mask_s is None:
                first_mask_s = time.perf_counter() - begin
                if first_mask_s > 2.0:
                    logger.info(
                        "the first mask took %.1f s, most of it compiling; later starts are faster", first_mask_s
                    )
            writer.write(result)
            frames += 1
            foreground += cv2.countNonZero(result.mask) / result.mask.size
            detect_ms += result.timings.detect_ms
            postprocess_ms += result.timings.postprocess_ms
        dropped = packets.dropped
    count = max(frames, 1)
    elapsed_s = time.perf_counter() - begin
    return Summary(
        frames, dropped, elapsed_s, foreground / count, detect_ms / count, postprocess_ms / count, first_mask_s
    )


class _Writer:
    """Gives results to sinks: while one is written on another thread, the caller's makes the next.

    At the end, also by an exception, the last one is written everywhere before anything is closed.
    """

    def __init__(self, sinks: Sequence[Sink], progress: Callable[[Result], None] | None) -> None:
        self._elsewhere = [sink for sink in sinks if getattr(sink, "any_thread", False)]
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
        """Begin with a result when the one before is complete."""
        self._complete()
        for sink in self._here:
            sink.write(result)
        self._last = result, self._executor.submit(self._write_elsewhere, result)

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


def _timed(packets: Iterable[Packet]) -> Iterable[tuple[Packet, float]]:
    start = time.perf_counter()
    for packet in packets:
        yield packet, (time.perf_counter() - start) * 1e3
        start = time.perf_counter()


def _check_fit(detector: Detector, frame: Frame) -> None:
    """Say what a loaded model and the frames are, where they do not go together."""
    if detector.shape is not None and (detector.shape != frame.shape or detector.dtype != frame.dtype):
        raise ModelFileError(
            f"the model was learned on {_kind(detector.shape, detector.dtype)} frames, these are "
            f"{_kind(frame.shape, frame.dtype)}; learn a new model or convert the source"
        )


def _kind(shape: tuple[int, ...], dtype: object) -> str:
    return f"{shape[1]}x{shape[0]} {'grey' if len(shape) == 2 else 'colour'} {dtype}"
