"""Frames to measure on: the first of a video or of a sequence of a data set, or those of a generated scene."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from bgsub._input.frame_size import check_frame_size
from bgsub._opencv import cv2
from bgsub.errors import SourceError, UnsupportedError
from bgsub.evaluation import Sequence
from bgsub.frames import Frame
from bgsub.video._text import public_name, text_size
from bgsub.video.sources import open_source
from bgsub.video.sources.decoded import Decoded
from bgsub.video.sources.synthetic.scene import SyntheticScene

__all__ = ["FRAMES", "Clip", "ClipSource", "make_frames", "open_clip", "scene_clip", "sequence_clip"]

FRAMES = 300
"""Frames kept of a clip,"""
_MOST_BYTES = 10**9  # and so much memory, whichever is less

_WARMUP = 100  # first frames that only fill the models, at most a third of all,
_LEAST_WARMUP = 34  # but so many: norma and olk learn each of the first 32, and then work another way
_DISTINCT = 24  # frames of a generated scene


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """Successive frames in memory, played forwards and backwards, so that there is motion at each step."""

    name: str
    frames: list[Frame]
    """(H, W, 3) or (H, W) uint8, all alike."""
    first: int = 1
    """Position of the first of them in the source, from 1."""
    rate_hz: float | None = None
    rescaled: bool = False
    """Whether the frames were given another size than the source's, the same for all clips."""
    decode_ms: float | None = None
    """Mean time to decode a frame; where `convert_ms` is None, with its conversion."""
    convert_ms: float | None = None
    """Mean time to convert a decoded frame to BGR or grey."""

    @property
    def size(self) -> tuple[int, int]:
        """(height, width) in pixels."""
        return self.frames[0].shape[0], self.frames[0].shape[1]

    @property
    def warmup(self) -> int:
        """Number of frames that fill the models before anything is timed."""
        return max(_LEAST_WARMUP, min(_WARMUP, len(self.frames) // 3))

    def frame(self, index: int) -> Frame:
        """Return the frame at an index from 0, beyond the last frame backwards to the first, and so on."""
        period = max(1, 2 * (len(self.frames) - 1))
        index %= period
        return self.frames[min(index, period - index)] if index else self.frames[0]

    def describe(self) -> dict[str, Any]:
        """Return the facts about the clip for a report."""
        return {
            "clip": self.name,
            "size": list(self.size),
            "rescaled": self.rescaled,
            "rate_hz": self.rate_hz,
            "first": self.first,
            "frames": len(self.frames),
            "warmup": self.warmup,
        }


class ClipSource(NamedTuple):
    """A clip that is read when it is needed, so that only one is in memory at a time."""

    name: str
    read: Callable[[], Clip]


class _Read(NamedTuple):
    """One frame and the times in seconds to decode and to convert it; None where both are one step."""

    frame: Frame
    decode_s: float
    convert_s: float | None


def open_clip(
    text: str, *, name: str | None = None, size: tuple[int, int] | None = None, frames: int = FRAMES, start: int = 1
) -> ClipSource:
    """Return the clip of a source that `open_source` opens.

    Parameters
    ----------
    text : str
        A video file or any other source.
    name : str, optional
        Name in the report; by default the text, without credentials.
    size : (height, width), optional
        Rescale the frames.
    frames : int
        Number of frames to keep, at least 2; fewer are kept where they exceed 1 GB.
    start : int
        Position of the first frame, from 1.

    Returns
    -------
    ClipSource
        Its `read` raises BgsubError if the source fails, has fewer than two frames from `start` on, or frames of more
        than 8 bits, which OpenCV's models do not take.
    """
    shown = public_name(text) if name is None else name
    check_frame_size(shown, size)

    def read() -> Clip:
        with open_source(text) as source:
            rate_hz = source.info.rate_hz
            for _ in range(start - 1):
                if source.grab() is None:
                    break
            return _collect(shown, _grab_all(source), size, frames, start, rate_hz)

    return ClipSource(shown, read)


def sequence_clip(
    sequence: Sequence, *, size: tuple[int, int] | None = None, frames: int = FRAMES, start: int = 1
) -> ClipSource:
    """Return the clip of a sequence of a data set; parameters are those of `open_clip`."""
    check_frame_size(sequence.identity, size)

    def read() -> Clip:
        return _collect(sequence.identity, _read_all(sequence, start), size, frames, start, None)

    return ClipSource(sequence.identity, read)


def scene_clip(size: tuple[int, int]) -> ClipSource:
    """Return the clip of a generated scene with frames of (height, width)."""
    check_frame_size("the generated scene", size)
    return ClipSource(
        "generated", lambda: Clip("generated", make_frames(size)[:_DISTINCT], rate_hz=25.0, rescaled=True)
    )


def make_frames(size: tuple[int, int]) -> list[Frame]:
    """Make a scene with moving people, water and a tree once, and enlarge it, with new noise."""
    scene = SyntheticScene(size=(240, 320), frames=400)
    generator = np.random.default_rng(0)
    noise = generator.normal(0, 3, (size[0], size[1], 3)).astype(np.int16)
    frames = []
    for index in range(_DISTINCT):
        image = cv2.resize(scene.frame(100 + index)[0], (size[1], size[0]), interpolation=cv2.INTER_CUBIC)
        moved = np.roll(noise, (17 * index, 31 * index), (0, 1))
        frames.append(np.clip(image.astype(np.int16) + moved, 0, 255).astype(np.uint8))
    return frames + frames[-2:0:-1]


def _grab_all(source: Any) -> Iterator[_Read]:
    two_steps = isinstance(source, Decoded)  # others decode and convert at once
    while True:
        start = time.perf_counter()
        grab = source.grab()
        grabbed = time.perf_counter()
        if grab is None:
            return
        frame = grab.retrieve()
        retrieved = time.perf_counter()
        if two_steps:
            yield _Read(frame, grabbed - start, retrieved - grabbed)
        else:
            yield _Read(frame, retrieved - start, None)


def _read_all(sequence: Sequence, start: int) -> Iterator[_Read]:
    for number in islice(sequence.numbers, start - 1, None):
        begin = time.perf_counter()
        frame = sequence.read_input(number)
        yield _Read(frame, time.perf_counter() - begin, None)


def _collect(
    name: str,
    reads: Iterator[_Read],
    size: tuple[int, int] | None,
    count: int,
    start: int,
    rate_hz: float | None,
) -> Clip:
    """Keep frames up to a number and an amount of memory."""
    if count < 2:
        raise ValueError(f"frames must be at least 2, got {count}")
    if start < 1:
        raise ValueError(f"start must be at least 1, got {start}")
    frames: list[Frame] = []
    decode_s: list[float] = []
    convert_s: list[float] = []
    for read in reads:
        frame = read.frame if size is None else _rescale(read.frame, size)
        if not frames:
            count = max(2, min(count, _MOST_BYTES // frame.nbytes))
        _check_kind(name, frame, frames)
        frames.append(frame)
        decode_s.append(read.decode_s)
        if read.convert_s is not None:
            convert_s.append(read.convert_s)
        if len(frames) == count:
            break
    if len(frames) < 2:
        raise SourceError(f"{name} has fewer than 2 frames from frame {start} on; choose an earlier start")
    make = partial(Clip, name, frames, start, rate_hz, size is not None)
    # The first frame was decoded when the source was opened.
    return make(_mean_ms(decode_s[1:]), _mean_ms(convert_s[1:]) if convert_s else None)


def _check_kind(name: str, frame: Frame, before: list[Frame]) -> None:
    if frame.dtype != np.uint8:
        raise UnsupportedError(f"{name} has {frame.dtype} frames, which MOG2 does not take; convert it to 8 bits")
    if before and frame.shape != before[0].shape:
        raise SourceError(
            f"a frame of {name} is {_kind(frame)}, those before are {_kind(before[0])}; convert all to one kind"
        )


def _kind(frame: Frame) -> str:
    return f"{text_size((frame.shape[0], frame.shape[1]))} {'grey' if frame.ndim == 2 else 'colour'}"


def _rescale(frame: Frame, size: tuple[int, int]) -> Frame:
    if frame.shape[:2] == size:
        return frame
    shrinks = size[0] * size[1] < frame.shape[0] * frame.shape[1]
    method = cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC
    return np.ascontiguousarray(cv2.resize(frame, size[::-1], interpolation=method))


def _mean_ms(times_s: list[float]) -> float:
    return float(np.mean(times_s) * 1e3)
