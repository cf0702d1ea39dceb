"""Network streams through PyAV: stall timeout, reconnection, and names without credentials."""

import errno
import hashlib
import io
import logging
import threading
import time
from collections.abc import Callable, Iterator

import av
from av.container import InputContainer
from av.video.stream import VideoStream

from bgsub.errors import SourceError
from bgsub.video._credentials import read_auth, refuse_redirect, with_auth
from bgsub.video._pyav import ANY_TAGS, describe, read_head, video_stream
from bgsub.video._text import public_name
from bgsub.video.sources.base import Grab, PacketReceiver, SourceOptions
from bgsub.video.sources.decoded import Decoded, with_damage
from bgsub.video.sources.ending import check_end
from bgsub.video.sources.reconnect import Reconnector

__all__ = ["SCHEMES", "NetworkStream"]

logger = logging.getLogger(__name__)

SCHEMES = ("rtsp", "rtsps", "http", "https", "rtmp", "rtmps", "udp")

_OTHER_LENGTH = ("mpjpeg", "hls", "dash")
"""Formats of live streams: cameras that send single images state any length, playlists their own."""

_KNOWN_BY_HEAD = ("matroska,webm", "asf", "mpegts")
"""Formats of files whose first bytes suffice to compare their length with the one that the server states."""


class NetworkStream(Decoded):
    """A live stream, or a file served over HTTP, decoded by PyAV.

    A stream that stalls, breaks off or ends is opened again, and its times continue by the wall clock. A file has a
    duration or a length in bytes, so its end is final; after a break it continues after the last frame delivered.

    Some servers state neither. What comes from such a server by HTTP is a file, too, if it begins with the same frame
    when it is opened again; it has ended when it breaks off twice at the same frame.

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

    uses = frozenset({"auth"})
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
        self._sized = False  # its length in bytes is known
        self._finite = False  # its end is the end, not the loss of a live stream
        self._replayed = False  # a file of unknown length: it began again with its first frame
        self._silent = False
        self._skipped = 0  # frames still to pass over, delivered before the connection broke
        self._broken_after: int | None = None
        self._offset_s = 0.0
        self._receiver: PacketReceiver | None = None
        self._announced = False  # the receiver of packets knows of this connection
        self._passing: list[
            av.Packet[VideoStream]
        ] = []  # packets that it has not got: their offset follows from the first frame
        self._seen_s = time.monotonic()
        self._frames: Iterator[av.VideoFrame] = iter(())
        self._ahead: av.VideoFrame | None = None
        self._heard_s = time.monotonic()
        first = self._connect()
        self._ahead = first
        self._first = _fingerprint(first)
        rate = self._stream.average_rate or self._stream.guessed_rate
        self._begin(first, rate, self._stream.frames or None, live=not self._finite)

    @classmethod
    def accepts(cls, text: str) -> bool:
        """Return whether the text is an address with one of the schemes."""
        scheme, colon, _ = text.partition("://")
        return bool(colon) and scheme.lower() in SCHEMES

    @classmethod
    def from_text(cls, text: str, options: SourceOptions) -> "NetworkStream":
        """Connect to the address, with the credentials given or those of the environment if it has none."""
        url = with_auth(text, read_auth() if options.auth is None else options.auth)
        return cls(url, stall_timeout_s=options.stall_timeout_s, reconnects=options.reconnects)

    @property
    def trouble(self) -> str | None:
        """Report of a lost connection; None while it delivers."""
        return self._link.trouble

    def grab(self) -> Grab | None:
        """Decode the next frame, reconnecting as often as necessary."""
        while not self._stop.is_set():
            frame, loss = self._next()
            if loss is not None:
                if self._has_ended():
                    self._flush()
                    continue
                if (frame := self._link.reopen(loss)) is not None:
                    self._resume(frame)
            if frame is None:
                self._check_end()
                return None
            if self._skipped:
                self._skipped -= 1
                continue
            self._link.succeeded()
            self._seen_s = time.monotonic()
            raw_s = self._time_of(frame)
            grab = self._deliver(frame, self._offset_s)
            self._pass_on(grab.time_s - raw_s)
            return grab
        return None

    def pass_packets(self, receiver: PacketReceiver) -> bool:
        """Pass on the packets of a live stream, those that were read while it was opened included."""
        if self._finite:
            return False
        self._receiver = receiver
        return True

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
        self._silent, self._heard_s = False, time.monotonic()
        try:
            frame = next(self._frames, None)
        except av.FFmpegError as error:
            return None, self._reason(error)
        return (frame, None) if frame is not None or self._finite else (None, "the stream ended")

    def _pass_on(self, offset_s: float) -> None:
        passing, self._passing = self._passing, []
        if self._receiver is None:
            return
        if not self._announced:
            self._receiver.begin(self._stream)
            self._announced = True
        for packet in passing:
            self._receiver.add(packet, offset_s)

    def _has_ended(self) -> bool:
        """Return whether a file of unknown length broke off at the frame where it did before."""
        again = self._broken_after == self._number and not self._skipped
        self._broken_after = self._number
        return again and self._finite and not (self._sized or self._silent or self._is_short())

    def _is_short(self) -> bool:
        """Return whether a second or more is missing of the duration that the container states."""
        if self._container is None or self._container.duration is None or self._time_s is None:
            return False
        end_s = ((self._container.start_time or 0) + self._container.duration) / av.time_base
        return self._time_s + 1 < end_s

    def _check_end(self) -> None:
        """Check the end of a file that has been read: bytes that a server states arrive, but may not be all of it."""
        if not self._finite or self._container is None:
            return
        size = self._container.size or 0  # None since PyAV 19 where it is not known
        doubtful = size > 0 and self._container.format.name in _KNOWN_BY_HEAD and not self._lasts_as_stated()
        head = read_head(self._url, self._stall_timeout_s) if doubtful else b""
        self._end = check_end(io.BytesIO(head), size) if head else self._end_by_duration()
        if self._end.fault:
            raise SourceError(self._damage(self._end.fault))

    def _flush(self) -> None:
        """Let the decoder deliver the frames that it still holds, and then end."""
        logger.warning(
            "%s broke off twice after frame %d, which counts as its end, because the server states no length",
            self._name,
            self._number,
        )
        self._frames = iter(self._stream.decode(None))
        self._sized = True

    def _resume(self, frame: av.VideoFrame) -> None:
        """Continue a file after the last frame delivered, and the times of a live stream by the wall clock."""
        by_http = self._url.lower().startswith("http")
        if by_http and not self._finite and not self._offset_s and _fingerprint(frame) == self._first:
            self._finite = self._replayed = True
        if self._finite:
            self._skipped = self._number
        elif self._time_s is not None:  # a new connection counts from its own start
            silence_s = time.monotonic() - self._seen_s
            self._offset_s = self._time_s + silence_s - self._time_of(frame)

    def _connect(self) -> av.VideoFrame:
        """Open the stream and return its first frame."""
        self._disconnect()
        refuse_redirect(self._url, self._stall_timeout_s)
        self._heard_s = time.monotonic()
        try:
            options = {"rtsp_transport": "tcp"} if self._url.lower().startswith("rtsp") else {}
            self._container = av.open(self._url, timeout=self._stall_timeout_s, options=options, **ANY_TAGS)
            stream = video_stream(self._container, self._name)
            if stream is not None:
                self._stream = stream
                self._sized = (self._container.size or 0) > 0 and self._container.format.name not in _OTHER_LENGTH
                self._finite = self._sized or self._replayed or self._container.duration is not None
                self._frames = self._decode(self._container)
                if (first := next(self._frames, None)) is not None:
                    return first
            reason = "it has no video"
        except av.FFmpegError as error:
            reason = self._reason(error)
        # Raised outside the handler: not even its context may hold the address with the password.
        raise SourceError(f"cannot open {self._name}: {reason}; check address, password and network")

    def _disconnect(self) -> None:
        self._announced, self._passing = False, []
        self._frames = iter(())
        self._ahead = None
        if self._container is not None:
            self._container.close()
            self._container = None

    def _decode(self, container: InputContainer) -> Iterator[av.VideoFrame]:
        """Yield every frame that can be decoded: on a network damaged packets are normal."""
        packets = container.demux(self._stream)
        for packet, damaged in with_damage(packets) if self._finite else ((packet, False) for packet in packets):
            self._heard_s = time.monotonic()
            if damaged:
                raise av.InvalidDataError(errno.EIO, "a packet is incomplete")
            if packet.size == 0 and packet.dts is not None:
                continue
            self._passing.append(packet)
            try:
                yield from packet.decode()
            except av.InvalidDataError as error:
                logger.debug("%s: packet dropped: %s", self._name, describe(error))

    def _reason(self, error: av.FFmpegError) -> str:
        # Some protocols report a timeout as a failure of another kind.
        self._silent = isinstance(error, av.ExitError) or time.monotonic() - self._heard_s >= self._stall_timeout_s
        return f"silent for {self._stall_timeout_s:g} s" if self._silent else describe(error)


def _fingerprint(frame: av.VideoFrame) -> tuple[int | None, bytes]:
    """Return the time stamp and a digest of the pixels of a frame, to recognise it when it comes again."""
    return frame.pts, hashlib.sha256(memoryview(frame.planes[0])).digest()
