"""Encoded packets of live streams: the newest in memory, and clips made of them without encoding anything again."""

import contextlib
import io
import itertools
import threading
from collections import deque
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import av
from av.container import InputContainer, OutputContainer
from av.video.stream import VideoStream

from bgsub._files import failure
from bgsub.video._pyav import describe

__all__ = ["ClipWriter", "PacketRing", "StoredPacket"]

_IN_MP4 = ("h264", "hevc", "av1")
"""Codecs whose clips are MP4, which browsers play; those of others are Matroska, which holds nearly every codec."""


class Header(NamedTuple):
    """What a container needs to know of a stream: a file in memory that holds nothing else.

    Each stretch of a stream has its own, also where two are equal: packets of one stretch cannot
    follow those of another.
    """

    data: bytes
    codec: str

    @property
    def suffix(self) -> str:
        """Suffix of clips of this stream."""
        return ".mp4" if self.codec in _IN_MP4 else ".mkv"


class StoredPacket(NamedTuple):
    """A packet that outlives its stream."""

    serial: int
    header: Header
    data: bytes
    pts: int
    dts: int
    duration: int
    time_base: Fraction
    keyframe: bool
    time_s: float
    """Time as that of frames."""


class PacketRing:
    """The newest packets of a live stream, from a key frame on: a `PacketReceiver`.

    Parameters
    ----------
    keep_s : float
        Time in seconds that is kept at least, if it fits.
    most_bytes : int
        Most bytes that are kept.

    Raises
    ------
    ValueError
        If a value is not positive.
    """

    def __init__(self, keep_s: float, most_bytes: int) -> None:
        if not keep_s > 0 or not most_bytes > 0:
            raise ValueError(f"keep_s and most_bytes must be positive, got {keep_s} and {most_bytes}")
        self._keep_s, self._most_bytes = keep_s, most_bytes
        self._lock = threading.Lock()
        self._packets: deque[StoredPacket] = deque()
        self._bytes = 0
        self._serial = 0
        self._header: Header | None = None
        self._begun = False
        self._last_dts: int | None = None

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        return self._bytes

    def begin(self, stream: VideoStream) -> None:
        """Forget the packets of the connection before: those of another one cannot follow them."""
        with self._lock:
            self._packets.clear()
            self._bytes, self._header, self._begun = 0, None, True
            self._last_dts = None

    def add(self, packet: "av.Packet[VideoStream]", offset_s: float) -> None:
        """Keep a packet, and drop those that are too old or too many."""
        # That of the packet, which lives: the container that the ring began with may have been closed since.
        stream = packet.stream
        if packet.pts is None or packet.time_base is None or stream is None or not self._begun:
            return
        dts = packet.dts
        if dts is None:
            if stream.codec_context.has_b_frames:
                return  # where frames are reordered, the first packets of a connection may have no place in the order
            dts = packet.pts
        time_s = float(packet.pts * packet.time_base) + offset_s
        with self._lock:
            if self._last_dts is not None and dts <= self._last_dts:
                self._packets.clear()  # the stream begins again, as cameras do that are switched off and on
                self._bytes, self._header = 0, None
            self._last_dts = dts
            if not self._packets and not packet.is_keyframe:
                return
            data = bytes(packet)
            if self._header is None:
                self._header = _make_header(stream, data)
            self._serial += 1
            self._packets.append(
                StoredPacket(
                    self._serial,
                    self._header,
                    data,
                    packet.pts,
                    dts,
                    packet.duration or 0,
                    packet.time_base,
                    packet.is_keyframe,
                    time_s,
                )
            )
            self._bytes += len(data)
            self._trim(time_s)

    def since(self, serial: int) -> list[StoredPacket]:
        """Return the packets after one with a serial number."""
        with self._lock:
            newer = itertools.takewhile(lambda one: one.serial > serial, reversed(self._packets))
            return list(newer)[::-1]

    def serial_before(self, time_s: float) -> int:
        """Return the serial number before the last key frame at or before a time, or before the first there is."""
        with self._lock:
            keys = [one for one in self._packets if one.keyframe]
            begin = next((one for one in reversed(keys) if one.time_s <= time_s), keys[0] if keys else None)
            return self._serial if begin is None else begin.serial - 1

    def _trim(self, now_s: float) -> None:
        """Drop whole groups of pictures, since frames after a key frame are of no use without it."""
        while (end := self._second_key()) is not None and (
            self._bytes > self._most_bytes or self._packets[end].time_s <= now_s - self._keep_s
        ):
            for _ in range(end):
                self._bytes -= len(self._packets.popleft().data)
        if self._bytes > self._most_bytes:  # one group alone is too large
            self._packets.clear()
            self._bytes = 0

    def _second_key(self) -> int | None:
        for i in range(1, len(self._packets)):
            if self._packets[i].keyframe:
                return i
        return None


class ClipWriter:
    """A clip that is written packet by packet. It begins with a key frame; packets before one are left out.

    Parameters
    ----------
    path : Path
        Where to write.
    header : Header
        Of the packets that it will get: they follow each other in one stretch of a stream.

    Raises
    ------
    SinkError
        If it cannot be written.
    """

    def __init__(self, path: Path, header: Header) -> None:
        self.path, self.header = path, header
        self.begin_s: float | None = None
        """Time of its first frame; None as long as there is none."""
        self._offset = 0
        self._template: InputContainer | None = None
        self._target: OutputContainer | None = None
        # Fragments make an MP4 readable as far as it was written, should the disk be full or the process killed.
        options = {"movflags": "frag_keyframe+empty_moov+default_base_moof"} if header.suffix == ".mp4" else {}
        kind = "mp4" if header.suffix == ".mp4" else "matroska"
        try:
            template = self._template = av.open(io.BytesIO(header.data), "r", format="nut")
            target = self._target = av.open(f"file:{path}", "w", format=kind, options=options)
            self._stream = target.add_stream_from_template(template.streams.video[0])
        except (av.FFmpegError, OSError, ValueError) as error:
            self._release()
            raise self._failure(error) from error

    def write(self, packet: StoredPacket) -> None:
        """Add a packet.

        Raises
        ------
        SinkError
            If it cannot be written; the clip is closed then.
        """
        if self._target is None:
            return
        if self.begin_s is None:
            if not packet.keyframe:
                return
            self.begin_s, self._offset = packet.time_s, min(packet.dts, packet.pts)
        copy = av.Packet(packet.data)
        copy.time_base = packet.time_base
        copy.pts, copy.dts, copy.duration = packet.pts - self._offset, packet.dts - self._offset, packet.duration
        copy.is_keyframe = packet.keyframe
        copy.stream = self._stream
        try:
            self._target.mux(copy)
        except (av.FFmpegError, OSError, ValueError) as error:
            self._release()
            raise self._failure(error) from error

    def close(self) -> None:
        """Complete the clip. Closing twice is allowed.

        Raises
        ------
        SinkError
            If its end cannot be written.
        """
        target, self._target = self._target, None
        try:
            if target is not None:
                target.close()
        except (av.FFmpegError, OSError, ValueError) as error:
            raise self._failure(error) from error
        finally:
            self._release()

    def _release(self) -> None:
        target, self._target = self._target, None
        if target is not None:
            with contextlib.suppress(av.FFmpegError, OSError, ValueError):  # what matters was raised before
                target.close()
        template, self._template = self._template, None
        if template is not None:
            template.close()

    def _failure(self, error: Exception) -> Exception:
        reason = describe(error) if isinstance(error, av.FFmpegError) else str(error)
        return failure(self.path, reason, what="clip")


def _make_header(stream: VideoStream, key: bytes) -> Header:
    """Return a header that outlives the stream. NUT stores what describes the codec as it is; others rewrite it."""
    data = io.BytesIO()
    with av.open(data, "w", format="nut") as container:
        packet = av.Packet(key)
        packet.pts, packet.dts, packet.time_base, packet.is_keyframe = 0, 0, Fraction(1, 1000), True
        packet.stream = container.add_stream_from_template(stream)
        container.mux(packet)
    return Header(data.getvalue(), stream.codec_context.name)
