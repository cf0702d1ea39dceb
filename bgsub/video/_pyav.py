"""Small helpers over PyAV that sources and sinks share."""

import av
from av.container import InputContainer
from av.video.stream import VideoStream

__all__ = ["describe", "video_stream"]


def describe(error: av.FFmpegError) -> str:
    """Return FFmpeg's reason alone: the text of the exception repeats the address, with its credentials."""
    return (error.strerror or type(error).__name__).rstrip(". ")


def video_stream(container: InputContainer) -> VideoStream | None:
    """Return the first video stream, set to decode on all cores; None without one."""
    if not container.streams.video:
        return None
    stream = container.streams.video[0]
    stream.thread_type = "AUTO"
    return stream
