"""A part of a source: from start to end, every n-th frame, scaled down."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bgsub._opencv import cv2
from bgsub.errors import SourceError
from bgsub.frames import Frame, VideoInfo, plausible_rate
from bgsub.video.sources.base import FrameSource, Grab, LazySource, PacketReceiver
from bgsub.video.sources.position import Position

__all__ = ["Slice"]

_MOST_SKIPPED = 10**9


class Slice(LazySource):
    """Deliver part of a source, which belongs to the slice and is closed with it.

    Parameters
    ----------
    source : FrameSource
        Source of the frames, not yet read from.
    start, end : Position, optional
        First and last frame, both included.
    skip : int
        Deliver every n-th frame, beginning with the first.
    scale : float
        Factor of both sides, in (0, 1].

    Raises
    ------
    ValueError
        If skip or scale is out of range, or the end lies before the start.
    """

    def __init__(
        self,
        source: FrameSource,
        start: Position | None = None,
        end: Position | None = None,
        skip: int = 1,
        scale: float = 1.0,
    ) -> None:
        if not 1 <= skip <= _MOST_SKIPPED:
            raise ValueError(f"skip must be from 1 to {_MOST_SKIPPED}, got {skip}")
        if not 0 < scale <= 1:
            raise ValueError(f"scale must be in (0, 1], got {scale}")
        if start is not None and end is not None and _precedes(end, start):
            raise ValueError(f"end must not lie before start, got {end} and {start}")
        self._source = source
        self._start, self._end, self._skip, self._scale = start, end, skip, scale
        self._passed = 0
        self._interrupted = False
        self._reached_end = False
        info = source.info
        count = source.count_between(start, end)
        self._info = replace(
            info,
            size=None if info.size is None else self._scaled(info.size),
            rate_hz=None if info.rate_hz is None else plausible_rate(info.rate_hz / skip),
            count=None if count is None else -(-count // skip),
        )
        if start is not None:
            source.seek(start)

    @property
    def info(self) -> VideoInfo:
        """That of the source, with the count, rate and size of the part."""
        return self._info

    @property
    def trouble(self) -> str | None:
        """That of the source."""
        return self._source.trouble

    @property
    def end_verified(self) -> bool:
        """True where the end asked for was reached; otherwise that of the source."""
        return self._reached_end or self._source.end_verified

    @property
    def can_reopen(self) -> bool:
        """That of the source."""
        return self._source.can_reopen

    def grab(self) -> Grab | None:
        """Step to the next frame of the part; those left out are not converted."""
        last = None
        while (grab := self._source.grab()) is not None:
            last = grab
            if self._end is not None and self._end.is_before(grab.number, grab.time_s):
                self._reached_end = True
                break
            if self._start is not None and self._start.is_after(grab.number, grab.time_s):
                continue
            self._passed += 1
            if (self._passed - 1) % self._skip == 0:
                return Grab(grab.number, grab.time_s, self._scaling(grab))
        if self._passed == 0 and not self._interrupted:
            self._refuse_nothing(last)
        return None

    def pass_packets(self, receiver: PacketReceiver) -> bool:
        """Pass on all packets of the source."""
        return self._source.pass_packets(receiver)

    def interrupt(self) -> None:
        """Pass the request on."""
        self._interrupted = True
        self._source.interrupt()

    def close(self) -> None:
        """Close the source."""
        self._interrupted = True
        self._source.close()

    def _refuse_nothing(self, last: Grab | None) -> None:
        """Raise for a start or an end that leaves no frame."""
        last_frame = "" if last is None else f", with frame {last.number} at {last.time_s:g} s"
        if last is not None and self._end is not None and self._end.is_before(last.number, last.time_s):
            raise SourceError(
                f"{self._info.name} has no frame from start to end{last_frame} after it; choose a later end"
            )
        if self._start is not None:
            raise SourceError(f"{self._info.name} ends before the start asked for{last_frame}; choose an earlier one")

    def _scaled(self, size: tuple[int, int]) -> tuple[int, int]:
        return max(1, round(size[0] * self._scale)), max(1, round(size[1] * self._scale))

    def _scaling(self, grab: Grab) -> Callable[[], Frame]:
        if self._scale == 1:
            return grab.retrieve

        def retrieve() -> Frame:
            frame = grab.retrieve()
            height, width = self._scaled((frame.shape[0], frame.shape[1]))
            return np.ascontiguousarray(cv2.resize(frame, (width, height), interpolation=cv2.INTER_AREA))

        return retrieve


def _precedes(one: Position, other: Position) -> bool:
    """Return whether a position lies before another; False for a number and a time, which only frames relate."""
    if one.number is not None and other.number is not None:
        return one.number < other.number
    return one.time_s is not None and other.time_s is not None and one.time_s < other.time_s
