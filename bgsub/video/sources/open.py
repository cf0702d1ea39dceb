"""Open whatever delivers frames: files, streams, cameras, image sequences, synthetic scenes."""

import re
from os import PathLike, fspath
from pathlib import Path

from bgsub.errors import SourceError
from bgsub.video.sources.base import FrameSource
from bgsub.video.sources.camera import Camera
from bgsub.video.sources.file import VideoFile
from bgsub.video.sources.images import ImageSequence, is_pattern
from bgsub.video.sources.position import parse_position
from bgsub.video.sources.slice import Slice
from bgsub.video.sources.stream import SCHEMES, NetworkStream, public_name

__all__ = ["open_source"]

_CAMERA = re.compile(r"(?:camera:)?(\d+)")
_SYNTHETIC = "synthetic:"


def open_source(
    text: str | PathLike[str],
    *,
    start: int | float | str | None = None,
    end: int | float | str | None = None,
    skip: int = 1,
    scale: float = 1.0,
    rate_hz: float | None = None,
    size: tuple[int, int] | None = None,
    reconnects: int = 8,
    stall_timeout_s: float = 5.0,
) -> FrameSource:
    """Open a video, whatever it is.

    Parameters
    ----------
    text : str or path
        A video file; a folder of images, a pattern like ``in%06d.jpg`` or a glob like ``"*.png"``;
        ``camera:0`` or ``0``; an rtsp, http, https, rtmp or udp address;
        ``synthetic:NAME?seed=3&frames=200``.
    start, end : int, float or str, optional
        First and last frame, both included. An integer or ``"120"`` is a frame number as in `Packet.number`
        (digits of the file name for images, else counted from 1); a float, ``"3.5s"``, ``"MM:SS"`` or
        ``"HH:MM:SS.mmm"`` is a time as in `Packet.time_s`.
    skip : int
        Deliver every n-th frame.
    scale : float
        Make frames smaller by this factor, in (0, 1].
    rate_hz : float, optional
        Rate of an image sequence (25 by default), or to ask a camera for.
    size : tuple of int, optional
        (height, width) to ask a camera for.
    reconnects : int
        Attempts in a row to open a lost camera or stream again.
    stall_timeout_s : float
        Silence after which a stream counts as lost.

    Returns
    -------
    FrameSource
        To be closed, best by ``with``.

    Raises
    ------
    SourceError
        If it cannot be opened.
    ValueError
        If a parameter is out of range, or does not apply to this kind of source.

    Examples
    --------
    >>> import tempfile
    >>> from bgsub._opencv import cv2
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for number in range(1, 9):
    ...         done = cv2.imwrite(f"{folder}/in{number:06d}.png", np.full((6, 8), number, np.uint8))
    ...     with open_source(f"{folder}/in%06d.png", start=3, skip=2) as source:
    ...         print(source.info.count, [packet.number for packet in source])
    3 [3, 5, 7]
    """
    first, last = parse_position(start, "start"), parse_position(end, "end")
    name = fspath(text)
    if not name.strip():
        raise SourceError("the name of the source is empty; give a file, a folder, camera:0 or an address")
    camera = _CAMERA.fullmatch(name)
    if rate_hz is not None and not (camera or _is_sequence(name)):
        raise ValueError(f"rate_hz is for cameras and image sequences, got {rate_hz} for another source")
    if size is not None and not camera:
        raise ValueError(f"size is for cameras, got {size} for another source; use scale")
    source: FrameSource
    if camera:
        source = Camera(int(camera[1]), size=size, rate_hz=rate_hz, reconnects=reconnects)
    elif name.startswith(_SYNTHETIC):
        from bgsub.video.sources.synthetic.scene import open_synthetic

        source = open_synthetic(name.removeprefix(_SYNTHETIC))
    elif "://" in name:
        scheme = name.partition("://")[0].lower()
        if scheme not in SCHEMES:
            raise SourceError(f"cannot open {public_name(name)}: the address must begin with {', '.join(SCHEMES)}")
        source = NetworkStream(name, stall_timeout_s=stall_timeout_s, reconnects=reconnects)
    elif _is_sequence(name):
        source = ImageSequence(name, 25.0 if rate_hz is None else rate_hz)
    else:
        source = VideoFile(Path(name))
    if first is None and last is None and skip == 1 and scale == 1:
        return source
    try:
        return Slice(source, first, last, skip, scale)
    except BaseException:
        source.close()
        raise


def _is_sequence(name: str) -> bool:
    """Tell whether the text stands for images; a file that exists is taken by its name, wildcards or not."""
    path = Path(name)
    if "://" in name or name.startswith(_SYNTHETIC) or path.is_file():
        return False
    return path.is_dir() or is_pattern(name)
