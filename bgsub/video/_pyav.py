"""Small helpers over PyAV that sources and sinks share."""

import re
from typing import Any

import av
from av.container import InputContainer
from av.video.stream import VideoStream

from bgsub._input.frame_size import check_frame_size, most_pixels
from bgsub.errors import SourceError

__all__ = ["ANY_TAGS", "describe", "read_head", "stated_end_s", "video_stream"]

ANY_TAGS: dict[str, Any] = {"metadata_errors": "replace"} if int(av.__version__.partition(".")[0]) < 19 else {}
"""Options of `av.open` with which tags may hold other bytes than UTF-8; since PyAV 19 they always may."""

_ONE_THREAD_PX = 854 * 480
"""Frames up to this size are decoded on one thread: on two it takes 0.3 ms instead of 0.4, but a third more of their
time together."""

_CLOCK = re.compile(r"(\d+):(\d\d):(\d\d(?:\.\d*)?)")


def describe(error: av.FFmpegError) -> str:
    """Return FFmpeg's reason alone: the text of the exception repeats the address, with its credentials."""
    return (error.strerror or type(error).__name__).rstrip(". ")


def video_stream(container: InputContainer, name: str) -> VideoStream | None:
    """Return the first video stream, set to decode on all cores if frames are large; None without one.

    Raises
    ------
    SourceError
        If its codec is unknown, or its frames are too large; `name` is that of the source for the message.
    """
    if not container.streams.video:
        return None
    stream = container.streams.video[0]
    if stream.codec_context is None:  # PyAV's attributes are those of the decoder
        raise SourceError(f"the video of {name} has an unknown codec; it may be damaged, or convert it with ffmpeg")
    check_frame_size(name, (stream.height, stream.width))
    stream.codec_context.options = {"max_pixels": str(most_pixels())}  # the size may change later
    small = 0 < stream.height * stream.width <= _ONE_THREAD_PX
    stream.thread_type = "NONE" if small else "AUTO"
    return stream


def stated_end_s(container: InputContainer, stream: VideoStream) -> float | None:
    """Return the time at which a video ends by its header, in seconds; None where the header does not state it.

    FFmpeg reports a duration for every container, which it estimates where the container has none.
    """
    if container.format.name not in ("matroska,webm", "flv"):
        return None
    if match := _CLOCK.match(stream.metadata.get("DURATION", "")):
        return 3600 * int(match[1]) + 60 * int(match[2]) + float(match[3])
    alone = len(container.streams) == 1  # else the sound may be longer
    return container.duration / av.time_base if alone and container.duration else None


def read_head(url: str, timeout_s: float, most_bytes: int = 2**16) -> bytes:
    """Return the first bytes behind an address; none where they cannot be read again."""
    head = b""
    try:
        with av.open(url, format="data", timeout=timeout_s) as container:
            for packet in container.demux():
                head += bytes(packet)
                if len(head) >= most_bytes:
                    break
    except av.FFmpegError:
        return b""
    return head[:most_bytes]
