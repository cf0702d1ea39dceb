"""Network streams through PyAV: stall timeout, reconnection, and names without credentials."""

import errno
import logging
import threading
import time
from collections.abc import Callable, Iterator

import av
from av.container import InputContainer

from bgsub.errors import SourceError
from bgsub.video._pyav import describe, video_stream
from bgsub.video._text import public_name
from bgsub.video.sources.base import Grab, SourceOptions
from bgsub.video.sources.decoded import Decoded
from bgsub.video.sources.reconnect import Reconnector

__all__ = ["SCHEMES", "NetworkStream"]

logger = logging.getLogger(__name__)

SCHEMES = ("rtsp", "rtsps", "http", "https", "rtmp", "rtmps", "udp")


class NetworkStream(Decoded):
    """A live stream, or a file served over HTTP, decoded by PyAV.

    A stream that stalls, breaks off or ends is opened again, and its times continue by the wall clock. A file
    has a duration, so its end is final; after a break it continues after the last frame delivered.

    Parameters
    ----------
    url : str
        Address with one of the schemes rtsp, rtsps, http, https, rtmp, rtmps or udp.
    stall_timeout_s : float
        Longest silence, while connecting or reading, before the stream counts as lost.
    reconnects : int
        Attempts in a row to connect again.
    wait : callable, optional
        Replaces the pauses between attempts, see `Reconnector`.

    Raises
    ------
    SourceError
        If the first connection fails; its text and cause are free of credentials.
    """

    text_form = f"an address that begins with {', '.join(SCHEMES)}"

    def __init__(
        self,
        url: str,
        *,
        stall_timeout_s: float = 5.0,
        reconnects: int = 8,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        if not 0 < stall_timeout_s < float("inf"):
            raise ValueError(f"stall_timeout_s must be positive, got {stall_timeout_s}")
        super().__init__(public_name(url))
        self._url = url
        self._stall_timeout_s = stall_timeout_s
        self._stop = threading.Event()
        self._link = Reconnector(self._name, self._connect, reconnects, self._stop, wait)
        self._offset_s = 0.0
        self._seen_s = time.monotonic()
        self._container: InputContainer | None = None
        self._frames: Iterator[av.VideoFrame] = iter(())
        self._ahead: av.VideoFrame | None = None
        first = self._connect()
        self._ahead = first
        rate = self._stream.average_rate or self._stream.guessed_rate
        self._begin(first, rate, self._stream.frames or None, live=not self._finite)

    @classmethod
    def accepts(cls, text: str) -> bool:
        """Return whether the text is an address with one of the schemes."""
        scheme, colon, _ = text.partition("://")
        return bool(colon) and scheme.lower() in SCHEMES

    @classmethod
    def from_text(cls, text: str, options: SourceOptions) -> "NetworkStream":
        """Connect to the address."""
        return cls(text, stall_timeout_s=options.stall_timeout_s, reconnects=options.reconnects)

    @property
    def trouble(self) -> str | None:
        """Report of a lost connection; None while it delivers."""
        return self._link.trouble

    def grab(self) -> Grab | None:
        """Decode the next frame, reconnecting as often as necessary."""
        while not self._stop.is_set():
            frame, loss = self._next()
            if loss is not None and (frame := self._link.reopen(loss)) is not None:
                self._resume(frame)
            if frame is None:
                return None
            if self._finite and self._time_s is not None and self._time_of(frame) <= self._time_s:
                continue  # delivered before the connection broke
            self._link.succeeded()
            self._seen_s = time.monotonic()
            return self._deliver(frame, self._offset_s)
        return None

    def interrupt(self) -> None:
        """End a pause between attempts at once and a silent connection after the stall timeout."""
        self._stop.set()

    def close(self) -> None:
        """Disconnect; `read` returns None from here on."""
        self._stop.set()
        self._disconnect()

    def _next(self) -> tuple[av.VideoFrame | None, str | None]:
        """Return the next frame, None at the end, and the reason if the connection is lost."""
        frame, self._ahead = self._ahead, None
        if frame is not None:
            return frame, None
        try:
            frame = next(self._frames, None)
        except av.FFmpegError as error:
            return None, self._reason(error)
        return (frame, None) if frame is not None or self._finite else (None, "the stream ended")

    def _resume(self, frame: av.VideoFrame) -> None:
        """Continue the times of a live stream by the wall clock: a new connection counts from its own start."""
        if self._time_s is not None and not self._finite:
            silence_s = time.monotonic() - self._seen_s
            self._offset_s = self._time_s + silence_s - self._time_of(frame)

    def _connect(self) -> av.VideoFrame:
        """Open the stream and return its first frame."""
        self._disconnect()
        try:
            options = {"rtsp_transport": "tcp"} if self._url.lower().startswith("rtsp") else {}
            self._container = av.open(
                self._url, timeout=self._stall_timeout_s, options=options, metadata_errors="replace"
            )
            stream = video_stream(self._container)
            if stream is not None:
                self._stream = stream
                self._finite = self._container.duration is not None
                self._frames = self._decode(self._container)
                if (first := next(self._frames, None)) is not None:
                    return first
            reason = "it has no video"
        except av.FFmpegError as error:
            reason = self._reason(error)
        # Raised outside the handler: not even its context may hold the address with the password.
        raise SourceError(f"cannot open {self._name}: {reason}; check address, password and network")

    def _disconnect(self) -> None:
        self._frames = iter(())
        self._ahead = None
        if self._container is not None:
            self._container.close()
            self._container = None

    def _decode(self, container: InputContainer) -> Iterator[av.VideoFrame]:
        """Yield every frame that can be decoded: on a network damaged packets are normal."""
        for packet in container.demux(self._stream):
            if packet.is_corrupt and self._finite:
                raise av.InvalidDataError(errno.EIO, "a packet is incomplete")
            if packet.size == 0 and packet.dts is not None:
                continue
            try:
                yield from packet.decode()
            except av.InvalidDataError as error:
                logger.debug("%s: packet dropped: %s", self._name, describe(error))

    def _reason(self, error: av.FFmpegError) -> str:
        if isinstance(error, av.ExitError):
            return f"silent for {self._stall_timeout_s:g} s"
        return describe(error)
