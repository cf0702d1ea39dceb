"""The common part of files and network streams: numbers, times and sizes of frames decoded by PyAV."""

import logging
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain, islice
from typing import TypeAlias

import av
from av.container import InputContainer
from av.video.stream import VideoStream

from bgsub.errors import SourceError
from bgsub.frames import Frame, VideoInfo, plausible_rate
from bgsub.video._pyav import stated_end_s
from bgsub.video._text import text_size
from bgsub.video.sources.base import Grab, LazySource
from bgsub.video.sources.convert import FrameConverter
from bgsub.video.sources.ending import End

__all__ = ["Decoded", "with_damage"]

logger = logging.getLogger(__name__)

DEFAULT_RATE_HZ = 25.0
_SHORT_S = 1.0
_Packet: TypeAlias = "av.Packet[VideoStream]"
_AFTER_MARK = 2  # packets between that which FFmpeg marks and the first of the next recording


def with_damage(packets: Iterator[_Packet]) -> Iterator[tuple[_Packet, bool]]:
    """Yield packets, each with whether a part of it is missing.

    Where two transport streams were joined, their counters jump as if something had been lost, and FFmpeg marks the
    last packets of the first. Nothing is missing if a keyframe with an earlier time follows.
    """
    while (packet := next(packets, None)) is not None:
        damaged = packet.is_corrupt
        if damaged and packet.dts is not None:
            ahead = list(islice(packets, _AFTER_MARK))
            packets = chain(ahead, packets)
            damaged = not any(one.is_keyframe and one.dts is not None and one.dts < packet.dts for one in ahead)
        yield packet, damaged


class Decoded(LazySource):
    """A source that PyAV decodes.

    A subclass sets `_stream`, calls `_begin` once and `_deliver` for each frame.
    """

    _stream: VideoStream
    _container: InputContainer | None = None
    _unordered = False
    """Whether the container numbers frames as they are stored, not as they are shown, and the codec reorders them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._number = 0
        self._time_s: float | None = None
        self._warned = False
        self._end = End(verified=False)

    @property
    def end_verified(self) -> bool:
        """Whether the container shows that the video was complete."""
        return self._end.verified

    @property
    def info(self) -> VideoInfo:
        """Size and rate of the video; the count is as the container states it."""
        return self._info

    def _begin(self, first: av.VideoFrame, rate: Fraction | None, count: int | None, live: bool = False) -> None:
        """Set up conversion and `info` from the first frame: all others have its layout and size."""
        self._converter = FrameConverter(first)
        self._size = first.height, first.width
        self._info = VideoInfo(
            name=self._name,
            size=self._converter.size(first),
            rate_hz=plausible_rate(float(rate)) if rate else None,
            count=count,
            live=live,
        )

    def _deliver(self, frame: av.VideoFrame, offset_s: float = 0.0) -> Grab:
        """Count the frame, check its size and store its time."""
        self._number += 1
        size = frame.height, frame.width
        if size != self._size:
            raise SourceError(
                f"the frame size of {self._name} changes from {text_size(self._size)} to {text_size(size)} "
                f"at frame {self._number}; cut it there with ffmpeg and run the parts one by one"
            )
        self._time_s = self._after_last(self._time_of(frame) + offset_s)
        return Grab(self._number, self._time_s, self._conversion(frame))

    def _conversion(self, frame: av.VideoFrame) -> Callable[[], Frame]:
        return lambda: self._converter.convert(frame)

    def _time_of(self, frame: av.VideoFrame) -> float:
        """Return the presentation time, or one frame after the last where the container has none."""
        if not self._unordered and frame.time is not None and math.isfinite(frame.time):
            return float(frame.time)
        stamp = frame.dts if self._unordered or frame.pts is None else frame.pts
        base = frame.time_base or self._stream.time_base  # a frame flushed after damage has no time base
        if stamp is not None and base:
            return float(stamp * base)
        return 0.0 if self._time_s is None else self._next_time_s(self._time_s)

    def _missing_s(self) -> float | None:
        """Return the time between the last frame and the end that the header states; None where it states none."""
        end_s = None if self._container is None else stated_end_s(self._container, self._stream)
        return None if end_s is None or self._time_s is None else end_s - self._next_time_s(self._time_s)

    def _lasts_as_stated(self) -> bool:
        missing_s = self._missing_s()
        return missing_s is not None and missing_s < 1.5 * self._next_time_s(0)

    def _end_by_duration(self) -> End:
        """Compare the last frame with the duration that the header states, where the bytes cannot be counted.

        This proves no damage: the last frame may be shown for seconds.
        """
        missing_s = self._missing_s()
        if missing_s is not None and missing_s > _SHORT_S:
            logger.warning(
                "%s ends %.1f s before the duration that it states; it may have been cut off", self._name, missing_s
            )
        return End(verified=self._lasts_as_stated())

    def _damage(self, reason: str) -> str:
        return (
            f"{self._name} is damaged after frame {self._number} ({reason}); the frames before it were read, "
            f"copy the file again or end before frame {self._number + 1}"
        )

    def _after_last(self, time_s: float) -> float:
        """Return the time, or one frame after the last where the stream goes back in time.

        Joined recordings, looped streams and encoders that restart do so. Sinks and detectors rely on times that rise.
        """
        if self._time_s is None or time_s > self._time_s:
            return time_s
        if not self._warned:
            self._warned = True
            logger.warning(
                "the times of %s go back from %g s to %g s at frame %d; from there on, such frames follow each other "
                "at the frame rate",
                self._name,
                self._time_s,
                time_s,
                self._number,
            )
        return self._next_time_s(self._time_s)

    def _next_time_s(self, time_s: float) -> float:
        return time_s + 1 / (self._info.rate_hz or DEFAULT_RATE_HZ)
