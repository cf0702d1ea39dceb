"""Parts of video files as files of their own: copied as they are stored, or encoded again."""

import contextlib
import errno
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.container import InputContainer, OutputContainer

from bgsub._files import failure
from bgsub._opencv import cv2
from bgsub.errors import SourceError
from bgsub.video._pyav import ANY_TAGS, describe
from bgsub.video.sinks.encoder import Encoder
from bgsub.video.sinks.videos import H264_MP4
from bgsub.video.sources import open_source

__all__ = ["clip_suffix", "copy_clip", "encode_clip"]

_CONTAINERS = {".mp4": "mp4", ".m4v": "mp4", ".mov": "mov", ".mkv": "matroska", ".webm": "webm", ".ts": "mpegts"}
"""Containers that clips are copied to as they are; those of others go to Matroska, which holds nearly every codec."""


def clip_suffix(file: str) -> str:
    """Return the suffix of a clip that is copied from a file."""
    suffix = Path(file).suffix.lower()
    return suffix if suffix in _CONTAINERS else ".mkv"


def copy_clip(path: Path, file: str, start_s: float, end_s: float) -> None:
    """Write a part of a file as a file of its own, without decoding it.

    It begins with the last key frame at or before the start, with the sound, and ends with the first key frame after
    the end.

    Parameters
    ----------
    path : Path
        Where to write, whatever its suffix: the container is that of `clip_suffix`.
    file : str
        A video file.
    start_s, end_s : float
        Times in the file, in seconds.

    Raises
    ------
    SourceError
        If the file cannot be read, or its streams cannot be copied.
    SinkError
        If the clip cannot be written.
    """
    kind = _CONTAINERS.get(clip_suffix(file), "matroska")
    try:
        with av.open(f"file:{file}", **ANY_TAGS) as source:
            try:
                with av.open(f"file:{path}", "w", format=kind, options={"fflags": "+bitexact"}) as target:
                    _copy(source, target, start_s, end_s)
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS):
                    raise failure(path, error.strerror) from error
                raise
    except (av.FFmpegError, OSError, ValueError) as error:
        reason = describe(error) if isinstance(error, av.FFmpegError) else str(error)
        raise SourceError(f"cannot cut a clip out of {file}: {reason}; encode clips instead") from error


def _copy(source: InputContainer, target: OutputContainer, start_s: float, end_s: float) -> None:
    video = source.streams.video[0]
    if video.time_base is None:
        raise ValueError("it has no times")
    kept: dict[int, Any] = {video.index: target.add_stream_from_template(video)}
    for sound in source.streams.audio[:1]:
        with contextlib.suppress(ValueError, av.FFmpegError):  # a codec that the container cannot hold
            kept[sound.index] = target.add_stream_from_template(sound)
    source.seek(max(0, round(start_s / video.time_base)), stream=video)
    begin: Fraction | None = None
    shown: Fraction | None = None
    for packet in source.demux([stream for stream in source.streams if stream.index in kept]):
        if packet.dts is None or packet.pts is None or packet.time_base is None:
            continue
        time = packet.pts * packet.time_base
        if packet.stream.index == video.index:
            if begin is None:
                if not packet.is_keyframe:
                    continue
                begin, shown = min(time, packet.dts * packet.time_base), time
            elif packet.is_keyframe and time > end_s:
                break
        if begin is None or shown is None or time < shown:  # which needs frames before the key frame
            continue
        offset = round(begin / packet.time_base)
        packet.pts, packet.dts = packet.pts - offset, packet.dts - offset
        packet.stream = kept[packet.stream.index]
        target.mux(packet)
    if begin is None:
        raise ValueError("it has no key frame there")


def encode_clip(path: Path, file: str, start_s: float, end_s: float, stop: Callable[[], bool] | None = None) -> None:
    """Write a part of a file as H.264 in an MP4, frame by frame from `start_s` to `end_s`.

    Raises
    ------
    SourceError
        If the file cannot be read.
    SinkError
        If the clip cannot be written.
    """
    with open_source(file, start=float(max(0.0, start_s)), end=float(end_s)) as source:
        encoder = Encoder(path, H264_MP4, source.info.rate_hz or 25.0, force=True)
        try:
            for packet in source:
                if stop is not None and stop():
                    break
                image = np.asarray(packet.frame)
                if image.dtype != np.uint8:
                    image = (image / (257 if image.dtype == np.uint16 else 1 / 255)).astype(np.uint8)
                if image.ndim == 2:
                    image = np.asarray(cv2.cvtColor(image, cv2.COLOR_GRAY2BGR))
                height, width = image.shape[:2]
                if height % 2 or width % 2:
                    image = np.asarray(
                        cv2.copyMakeBorder(image, 0, height % 2, 0, width % 2, cv2.BORDER_REPLICATE), np.uint8
                    )
                encoder.write(image, max(0.0, packet.time_s - start_s))
        finally:
            encoder.close()
