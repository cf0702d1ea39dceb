"""Small helpers over PyAV that sources and sinks share."""

from typing import Any

import av
from av.container import InputContainer
from av.video.stream import VideoStream

from bgsub.video._frame_limit import check_frame_size, most_pixels

__all__ = ["ANY_TAGS", "describe", "video_stream"]

ANY_TAGS: dict[str, Any] = {"metadata_errors": "replace"} if int(av.__version__.partition(".")[0]) < 19 else {}
"""Options of `av.open` with which tags may hold other bytes than UTF-8; since PyAV 19 they always may."""


def describe(error: av.FFmpegError) -> str:
    """Return FFmpeg's reason alone: the text of the exception repeats the address, with its credentials."""
    return (error.strerror or type(error).__name__).rstrip(". ")


def video_stream(container: InputContainer, name: str) -> VideoStream | None:
    """Return the first video stream, set to decode on all cores; None without one.

    Raises
    ------
    SourceError
        If its frames are too large; `name` is that of the source for the message.
    """
    if not container.streams.video:
        return None
    stream = container.streams.video[0]
    check_frame_size(name, (stream.height, stream.width))
    stream.codec_context.options = {"max_pixels": str(most_pixels())}  # the size may change later
    stream.thread_type = "AUTO"
    return stream
