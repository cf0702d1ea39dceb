"""Video files through PyAV: exact times, exact seeking, and damage reported instead of passed over."""

import logging
import os
from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
from av.container import InputContainer

from bgsub._input.frame_size import check_frame_size, image_size
from bgsub.errors import SourceError
from bgsub.video._pipe import STANDARD_INPUT, Pipe, find_pipe, redirected_file
from bgsub.video._pyav import ANY_TAGS, describe, video_stream
from bgsub.video._text import public_name
from bgsub.video.sources.base import Grab, SourceOptions
from bgsub.video.sources.decoded import Decoded, with_damage
from bgsub.video.sources.ending import End, check_end
from bgsub.video.sources.position import Position

__all__ = ["VideoFile"]

logger = logging.getLogger(__name__)

_REORDER = 64  # packets read beyond the start; none of them is shown before it
_MOST_REORDERED = 16  # frames that stand before an earlier one in the file, by the standards
_IMAGE_HEADER_BYTES = 2**20  # metadata may stand before the size of a JPEG
_HIDDEN_FRAMES = ("vp8",)  # codecs with packets that show no frame: packets cannot be counted as frames


class VideoFile(Decoded):
    """A video file, decoded by PyAV.

    A pipe is read once, from its start: it cannot be seeked, and whether it was complete is known of few containers.

    Parameters
    ----------
    path : Path, optional
        The file, or a named pipe; standard input without.

    Raises
    ------
    SourceError
        If the file is missing, empty, no video, or without one frame that can be decoded.
    """

    text_form = "a video file, or - for standard input"
    asked_last = True

    def __init__(self, path: Path | None) -> None:
        super().__init__(STANDARD_INPUT if path is None else _shown(path))
        self._path = redirected_file() if path is None else path
        self._pipe: Pipe | None = None
        self._ahead: deque[av.VideoFrame] = deque()
        try:
            self._open()
            first = next(self._frames, None)
            if first is None:
                self._refuse_large()
                raise SourceError(f"{self._name} holds no frame that can be decoded; convert it with ffmpeg")
        except BaseException:
            self.close()
            raise
        self._ahead.append(first)
        rate = self._stream.average_rate or self._stream.guessed_rate
        self._begin(first, rate, self._count(rate))

    @classmethod
    def accepts(cls, text: str) -> bool:
        """Return whether the text may be a path: whether it is not an address."""
        return "://" not in text

    @classmethod
    def from_text(cls, text: str, options: SourceOptions) -> "VideoFile":
        """Open the file."""
        return cls(None if text == "-" else Path(text))

    @property
    def can_reopen(self) -> bool:
        """False for a pipe."""
        return self._pipe is None

    def grab(self) -> Grab | None:
        """Decode the next frame."""
        frame = self._ahead.popleft() if self._ahead else next(self._frames, None)
        if frame is None:
            return None
        return self._deliver(frame)

    def seek(self, start: Position) -> None:
        """Go to the keyframe before `start`, if its number follows from the times in the container."""
        numbers = self._number_frames(start) if self.can_reopen else None
        if numbers is None:
            return
        key, by_pts = numbers
        self._close_container()
        container = self._open()
        try:
            container.seek(key, stream=self._stream)
            frame = next(self._frames, None)
        except (av.FFmpegError, SourceError):
            frame = None  # decode from the start, which reports the damage where it is
        number = None if frame is None or frame.pts is None else by_pts.get(frame.pts)
        if frame is None or number is None or start.is_before(number, self._time_of(frame)):
            logger.debug("%s cannot be seeked exactly; decoding from its start", self._name)
            self._close_container()
            self._open()
            self._ahead.clear()
            return
        self._ahead = deque([frame])
        self._number = number - 1

    def close(self) -> None:
        """Close the file; `read` returns None from here on."""
        self._close_container()
        if self._pipe is not None:
            self._pipe.close()
        self._ahead.clear()
        self._frames: Iterator[av.VideoFrame] = iter(())

    def _open(self) -> InputContainer:
        try:
            if find_pipe(self._path, self._name):
                self._pipe = Pipe(self._path)
            self._address = self._pipe.address if self._pipe else f"file:{self._path}"  # whose name may hold a colon
            container: InputContainer = av.open(self._address, **ANY_TAGS)
            self._container = container
            stream = video_stream(container, self._name)
        except FileNotFoundError:
            raise SourceError(f"cannot open {self._name}: no such file; check the path") from None
        except av.FFmpegError as error:
            self._refuse_truncated()
            raise SourceError(f"cannot open {self._name}: {describe(error)}; it may be damaged or no video") from error
        except OSError as error:
            raise SourceError(f"cannot open {self._name}: {error.strerror}; check the path") from error
        if stream is None:
            self._refuse_truncated()
            raise SourceError(f"{self._name} has no video stream; it may be a sound recording")
        self._stream = stream
        # AVI stores no times: what FFmpeg calls presentation times of H.264 are positions in the file.
        self._unordered = container.format.name == "avi" and bool(stream.codec_context.has_b_frames)
        self._frames = self._decode(container)
        return container

    def _check_end(self) -> End:
        """Return what the container shows about the end of the file, or of the pipe that has been read."""
        if self._path is None or self._pipe is not None:
            return self._end_by_duration()
        with self._path.open("rb") as file:
            return check_end(file, self._path.stat().st_size)

    def _refuse_truncated(self) -> None:
        """Report missing bytes where the rest of the file cannot even be opened."""
        try:
            fault = "" if self._pipe else self._check_end().fault
        except OSError:
            return  # the caller raises the reason
        if fault:
            raise SourceError(f"cannot open {self._name}: {fault}; copy the file again")

    def _refuse_large(self) -> None:
        """Report the size of a single image that the decoder refused: FFmpeg does not know it before."""
        if self._path is not None and self._pipe is None:
            with self._path.open("rb") as file:
                check_frame_size(self._name, image_size(file.read(_IMAGE_HEADER_BYTES)))

    def _close_container(self) -> None:
        if self._container is not None:
            self._container.close()
            self._container = None

    def _decode(self, container: InputContainer) -> Iterator[av.VideoFrame]:
        """Yield every frame; where the file is damaged, all frames before the damage, then raise."""
        stream, seen = self._stream, False
        try:
            for packet, damaged in with_damage(container.demux(stream)):
                if damaged and seen:
                    break
                if packet.size == 0 and packet.dts is not None:
                    continue  # a dropped frame in an AVI; the decoder would treat it as the end
                try:
                    frames = packet.decode()
                except av.FFmpegError:
                    if seen:
                        raise
                    continue  # a recording may begin between two keyframes
                seen = seen or bool(frames)
                yield from frames
            else:
                self._end = self._check_end()
                if not self._end.fault:
                    return
                raise SourceError(self._damage(self._end.fault))
            reason = "a packet is incomplete"
        except av.FFmpegError as error:
            reason = describe(error)
        try:
            yield from stream.decode(None)
        except av.FFmpegError as error:
            logger.debug("%s: %s while the decoder was flushed", self._name, describe(error))
        raise SourceError(self._damage(reason))

    def _count(self, rate: Fraction | None) -> int | None:
        if self._stream.frames:
            return self._stream.frames
        if self._stream.duration and self._stream.time_base:
            duration_s = float(self._stream.duration * self._stream.time_base)
        elif self._container is not None and self._container.duration:
            duration_s = self._container.duration / av.time_base
        else:
            return None
        return round(duration_s * rate) if rate else None

    def _number_frames(self, start: Position) -> tuple[int, dict[int, int]] | None:
        """Read packets, without decoding, up to `start`.

        Returns
        -------
        tuple of int and dict, or None
            Time stamp of the last keyframe at or before `start`, and frame numbers by time stamp; None where
            packets and frames may not be one to one: only decoding from the start numbers them correctly.
        """
        stamps: list[int] = []
        keys: list[int] = []
        beyond = 0
        with av.open(self._address, **ANY_TAGS) as container:
            stream = container.streams.video[0]
            base = stream.time_base
            if base is None or stream.codec_context.name in _HIDDEN_FRAMES:
                return None
            try:
                for packet in container.demux(stream):
                    if packet.size == 0 or packet.is_discard:
                        continue
                    if packet.pts is None or packet.is_corrupt or not (keys or packet.is_keyframe):
                        return None
                    stamps.append(packet.pts)
                    if packet.is_keyframe:
                        keys.append(packet.pts)
                    beyond += start.is_before(len(stamps), float(packet.pts * base))
                    if beyond > _REORDER:
                        break
            except av.FFmpegError:
                return None  # decoding will meet the damage and report it
        order = sorted(stamps)
        if not order or keys[0] != order[0] or len(set(order)) != len(order):
            return None
        by_pts = {pts: number for number, pts in enumerate(order, 1)}
        if self._unordered and order == stamps:
            return None
        if any(abs(by_pts[pts] - position) > _MOST_REORDERED for position, pts in enumerate(stamps, 1)):
            return None  # the times go back: two recordings in one file
        reached = [key for key in keys if not start.is_before(by_pts[key], float(key * base))]
        return (max(reached), by_pts) if reached and max(reached) > order[0] else None


def _shown(path: Path) -> str:
    """Return a path for messages: without secrets, where there is no such file and it may be a mistyped address."""
    text = str(path)
    return text if os.path.lexists(text) else public_name(text)
