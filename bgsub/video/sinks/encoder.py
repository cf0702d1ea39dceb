"""One video file written with PyAV, created at its first frame and readable after any end."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import cast

import av
import numpy as np
from av.container import OutputContainer
from av.video.reformatter import ColorRange, Colorspace
from av.video.stream import VideoStream
from numpy.typing import NDArray

from bgsub._files import OutputLock, failure, lock_file
from bgsub.errors import SinkError
from bgsub.video._pyav import describe
from bgsub.video._text import text_size

__all__ = ["Encoder", "Format"]


@dataclass(frozen=True, slots=True)
class Format:
    """Codec, pixel formats and options of a video file."""

    codec: str
    pixels: str
    """Pixel format of the arrays passed to `write`."""
    stored: str
    """Pixel format in the file."""
    codec_options: dict[str, str] = field(default_factory=dict)
    narrow_options: dict[str, str] | None = None
    """Options of the codec for frames of fewer than 3 rows or columns, where they differ."""
    container_options: dict[str, str] = field(default_factory=dict)
    threads: str = "AUTO"


class Encoder:
    """Encode arrays of one size with their presentation times.

    Parameters
    ----------
    path : Path
        File to write.
    format : Format
        Codec and pixels.
    rate_hz : float
        Nominal frame rate.
    steady : bool
        For containers that store no times (AVI): frames follow each other at `rate_hz`.
    force : bool
        Overwrite an existing file.
    """

    def __init__(
        self,
        path: Path,
        format: Format,  # noqa: A002
        rate_hz: float,
        *,
        steady: bool = False,
        force: bool = False,
    ) -> None:
        if not 0 < rate_hz < float("inf"):
            raise ValueError(f"rate_hz must be positive, got {rate_hz}")
        self._path = path
        self._format = format
        self._rate = Fraction(rate_hz).limit_denominator(1001)
        # Matroska keeps milliseconds; all others get the same, so that one rule makes times distinct.
        self._tick = 1 / self._rate if steady else Fraction(1, 1000)
        self._steady = steady
        self._force = force
        self._lock = OutputLock()
        self._last: int | None = None
        self._size: tuple[int, int] | None = None
        self._container: OutputContainer | None = None
        self._failed = False
        self._closed = False

    def write(self, image: NDArray[np.uint8], time_s: float) -> None:
        """Append one image, shown at `time_s` or, where that is not later than the last, just after it.

        Raises
        ------
        SinkError
            If it cannot be written, or its size is not that of the first.
        """
        if self._closed or self._failed:
            raise SinkError(f"cannot write {self._path}: it is {'closed' if self._closed else 'incomplete'}")
        size = image.shape[0], image.shape[1]
        if self._size is not None and size != self._size:
            raise SinkError(
                f"the frame size changes from {text_size(self._size)} to {text_size(size)}, which {self._path} "
                "cannot hold; write another file"
            )
        with self._guarded():
            container = self._open(size) if self._container is None else self._container
            frame = av.VideoFrame.from_ndarray(image, format=self._format.pixels)
            frame.pts = self._last = self._next_tick(time_s)
            frame.time_base = self._tick
            container.mux(self._stream.encode(frame))

    def close(self) -> None:
        """Write the frames that the codec still holds and the end of the file.

        Raises
        ------
        SinkError
            If that fails and no earlier `write` did, or the file was removed or replaced meanwhile.
        """
        if self._closed:
            return
        self._closed = True
        try:
            self._finish()
            if not self._failed:
                self._lock.refuse_moved()
        finally:
            self._lock.release()

    def _finish(self) -> None:
        container, self._container = self._container, None
        if container is None:
            return
        if self._failed:
            # The failure was raised where it happened. Closing frees the file; its end may not fit any more.
            with contextlib.suppress(av.FFmpegError, OSError):
                container.close()
            return
        with self._guarded():
            try:
                container.mux(self._stream.encode(None))
            finally:
                container.close()

    def _next_tick(self, time_s: float) -> int:
        if self._last is None:
            return 0 if self._steady else max(0, round(time_s / self._tick))
        return self._last + 1 if self._steady else max(round(time_s / self._tick), self._last + 1)

    def _open(self, size: tuple[int, int]) -> OutputContainer:
        self._lock = lock_file(self._path, force=self._force)
        self._size = size
        # Without flushing, FFmpeg buffers even thousands of small frames, and a killed process loses them.
        options = {"flush_packets": "1", **self._format.container_options}
        # Without the prefix, FFmpeg takes a name with a colon for an address.
        self._container = container = av.open(f"file:{self._path}", "w", options=options)
        self._stream = stream = cast(VideoStream, container.add_stream(self._format.codec, rate=self._rate))
        stream.height, stream.width = size
        stream.pix_fmt = self._format.stored
        narrow = self._format.narrow_options if min(size) < 3 else None
        stream.options = dict(self._format.codec_options if narrow is None else narrow)
        stream.thread_type = self._format.threads
        stream.codec_context.time_base = self._tick
        if self._format.stored != "gray":  # else players guess the colour matrix from the size
            stream.codec_context.colorspace = Colorspace.ITU601
            stream.codec_context.color_range = ColorRange.MPEG
        return container

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """Convert errors of PyAV to one line, and remember that the file is incomplete."""
        try:
            yield
        except (av.FFmpegError, OSError) as error:
            self._failed = True
            reason = describe(error) if isinstance(error, av.FFmpegError) else error.strerror
            raise failure(self._path, reason or "") from error
