"""What files and network streams share: pictures decoded by PyAV, their numbers, times and sizes."""

from collections.abc import Callable
from fractions import Fraction

import av

from bgsub.errors import SourceError
from bgsub.frames import Frame, VideoInfo
from bgsub.video._text import text_size
from bgsub.video.sources.base import Grab, LazySource
from bgsub.video.sources.convert import PictureConverter

__all__ = ["Decoded"]

DEFAULT_RATE_HZ = 25.0


class Decoded(LazySource):
    """A source that PyAV decodes; a subclass calls `_begin` once and `_deliver` for each picture."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._number = 0
        self._time_s: float | None = None

    @property
    def info(self) -> VideoInfo:
        """Size and rate of the video; the count is the container's word."""
        return self._info

    def _begin(self, first: av.VideoFrame, rate: Fraction | None, count: int | None, live: bool = False) -> None:
        """Take layout and size of the first picture for those of the whole video."""
        self._converter = PictureConverter(first)
        self._size = first.height, first.width
        self._info = VideoInfo(
            name=self._name,
            size=self._converter.size(first),
            rate_hz=float(rate) if rate else None,
            count=count,
            live=live,
        )

    def _deliver(self, picture: av.VideoFrame, offset_s: float = 0.0) -> Grab:
        """Count the picture, check its size and note its time."""
        self._number += 1
        size = picture.height, picture.width
        if size != self._size:
            raise SourceError(
                f"the frame size of {self._name} changes from {text_size(self._size)} to {text_size(size)} "
                f"at frame {self._number}; cut it there with ffmpeg and run the parts one by one"
            )
        self._time_s = self._time_of(picture) + offset_s
        return Grab(self._number, self._time_s, self._conversion(picture))

    def _conversion(self, picture: av.VideoFrame) -> Callable[[], Frame]:
        return lambda: self._converter.convert(picture)

    def _time_of(self, picture: av.VideoFrame) -> float:
        """Return the presentation time, or one frame after the last where the container has none."""
        if picture.time is not None:
            return float(picture.time)
        if picture.dts is not None and picture.time_base is not None:
            return float(picture.dts * picture.time_base)
        return 0.0 if self._time_s is None else self._time_s + 1 / (self._info.rate_hz or DEFAULT_RATE_HZ)
