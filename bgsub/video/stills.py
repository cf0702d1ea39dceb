"""Single frames of video files, by number and time."""

from collections.abc import Iterable, Iterator

import av

from bgsub.errors import BgsubError
from bgsub.frames import Frame
from bgsub.video._pyav import ANY_TAGS, video_stream
from bgsub.video.sources import open_source
from bgsub.video.sources.convert import FrameConverter

__all__ = ["read_stills"]

_SAME_S = 1e-4


def read_stills(file: str, wanted: Iterable[tuple[int, float]]) -> Iterator[Frame | None]:
    """Yield some frames of a file.

    Each is sought by its time, which takes as long as decoding from the key frame before it. Where the container does
    not lead to a frame of this time, the file is decoded from its start.

    Parameters
    ----------
    file : str
        A video file, or another text that `open_source` reads.
    wanted : iterable of (int, float)
        1-based number and time in seconds of each frame, as a source delivered them.

    Yields
    ------
    (H, W, 3) or (H, W) array or None
        None for a frame that cannot be read any more.
    """
    for number, time_s in wanted:
        frame = None
        if "://" not in file and not file.startswith(("synthetic:", "generated:")):
            frame = _seek(file, time_s)
        yield frame if frame is not None else _decode(file, number)


def _seek(file: str, time_s: float) -> Frame | None:
    try:
        with av.open(f"file:{file}", **ANY_TAGS) as container:
            stream = video_stream(container, file)
            if stream is None or stream.time_base is None:
                return None
            container.seek(round((time_s + _SAME_S) / stream.time_base), stream=stream)
            for frame in container.decode(stream):
                if frame.time is None or frame.time > time_s + _SAME_S:
                    return None
                if abs(frame.time - time_s) <= _SAME_S:
                    return FrameConverter(frame).convert(frame)
    except (av.FFmpegError, OSError, BgsubError):
        return None  # decoding from the start reports what can be read
    return None


def _decode(file: str, number: int) -> Frame | None:
    try:
        with open_source(file, start=number, end=number) as source:
            packet = source.read()
    except (BgsubError, ValueError):
        return None
    return None if packet is None else packet.frame
