"""Where the time of a run goes: decoding, conversion, the detector's stages, post-processing, objects and writing."""

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bgsub.bench.clips import Clip
from bgsub.bench.specs import DetectorSpec
from bgsub.bench.stage_times import StageTimes, stages
from bgsub.detectors import Detector
from bgsub.frames import Packet, Result
from bgsub.objects import find_objects
from bgsub.pipeline import Pipeline
from bgsub.video.sinks import MaskVideo

__all__ = ["StageRow", "profile"]

_RATE_HZ = 25.0  # of clips without a rate


@dataclass(frozen=True, slots=True)
class StageRow:
    """Time of one stage of a run."""

    clip: str
    detector: str
    size: tuple[int, int]
    """(height, width) in pixels."""
    threads: int
    stage: str
    """decode, convert, detect, post-process, objects (found only where a run needs them) or write; or a part of
    detect, as `detect: score`."""
    ms: float
    """Mean time per frame in milliseconds."""
    share: float
    """Share of the sum of all stages, where parts of detect are not counted again."""
    calls: float
    """Calls per frame."""


@dataclass(slots=True)
class _Sums:
    """Total times in milliseconds."""

    detect_ms: float = 0.0
    postprocess_ms: float = 0.0
    objects_ms: float = 0.0
    write_ms: float = 0.0

    def add(self, result: Result, objects_s: float, write_s: float) -> None:
        """Add the times of one frame."""
        self.objects_ms += objects_s * 1e3
        self.detect_ms += result.timings.detect_ms
        self.postprocess_ms += result.timings.postprocess_ms
        self.write_ms += write_s * 1e3


def profile(clip: Clip, spec: DetectorSpec, threads: int, frames: int) -> list[StageRow]:
    """Measure the stages of a run of one detector on one clip: means over frames after the warm-up.

    The stages run one after another on the caller's thread, whereas a run decodes and writes on other threads. A
    first pass with another model over the same frames, which is not measured, compiles all that the second needs.

    Parameters
    ----------
    clip : Clip
        The frames; decoding and conversion were measured when it was read.
    spec : DetectorSpec
        The detector, of this package's kind.
    threads : int
        Number of threads; the caller sets OpenCV's.
    frames : int
        Number of frames after the warm-up.

    Returns
    -------
    list of StageRow
        In the order of a run. Nothing is decoded in a generated scene.

    Raises
    ------
    SinkError
        If masks cannot be written to the temporary folder of the system.
    """
    for _ in range(2):
        model = spec.make(threads=threads, rate_hz=clip.rate_hz)
        times, sums = _run(clip, model, frames)
    found: list[tuple[str, float, float]] = []  # stage, milliseconds per frame, calls per frame
    found += [("decode", clip.decode_ms, 1.0)] if clip.decode_ms is not None else []
    found += [("convert", clip.convert_ms, 1.0)] if clip.convert_ms is not None else []
    found.append(("detect", sums.detect_ms / frames, 1.0))
    parts = [(name, seconds * 1e3 / frames, times.calls[name] / frames) for name, seconds in times.seconds.items()]
    parts.append(("other", max(0.0, sums.detect_ms / frames - sum(ms for _, ms, _ in parts)), 1.0))
    found += [(f"detect: {name}", ms, calls) for name, ms, calls in parts]
    others = (("post-process", sums.postprocess_ms), ("objects", sums.objects_ms), ("write", sums.write_ms))
    found += [(stage, ms / frames, 1.0) for stage, ms in others]
    total = sum(ms for stage, ms, _ in found if ":" not in stage)
    return [
        StageRow(clip.name, spec.name, clip.size, threads, stage, ms, ms / total, calls) for stage, ms, calls in found
    ]


def _run(clip: Clip, model: Detector, frames: int) -> tuple[StageTimes, _Sums]:
    pipeline, sums = Pipeline(model), _Sums()
    rate_hz = clip.rate_hz or _RATE_HZ
    with tempfile.TemporaryDirectory(prefix="bgsub-bench-") as folder:
        sink = MaskVideo(Path(folder) / "mask.mkv", rate_hz=rate_hz)
        try:
            for packet in _packets(clip, 0, clip.warmup, rate_hz):
                sink.write(pipeline.step(packet))
            with stages(model) as times:
                for packet in _packets(clip, clip.warmup, clip.warmup + frames, rate_hz):
                    result = pipeline.step(packet)
                    start = time.perf_counter()
                    find_objects(result.mask)
                    objects_s = time.perf_counter() - start
                    start = time.perf_counter()
                    sink.write(result)
                    sums.add(result, objects_s, time.perf_counter() - start)
        finally:
            start = time.perf_counter()
            sink.close()
            sums.write_ms += (time.perf_counter() - start) * 1e3
    return times, sums


def _packets(clip: Clip, first: int, end: int, rate_hz: float) -> Iterator[Packet]:
    return (Packet(index, index / rate_hz, clip.frame(index), index + 1) for index in range(first, end))
