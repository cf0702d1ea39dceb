"""Videos of masks and of marked frames."""

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import cast, get_args

import numpy as np

from bgsub._files import check_file
from bgsub._opencv import cv2
from bgsub.errors import SinkError
from bgsub.frames import Result
from bgsub.video.sinks.base import RunContext, Sink, SinkOption, SinkSetting
from bgsub.video.sinks.encoder import Encoder, Format
from bgsub.video.sinks.overlay import Style, check_marks, draw_overlay

__all__ = ["H264_MP4", "MaskVideo", "OverlayVideo"]

# Measured at 1280x720 on two threads: 2.6 ms per mask with 9 slices and Rice codes, 3.6 with 4 slices and the range
# coder, 5 on one thread; all decode to exactly 0 and 255 and need 3.4 KB per frame.
# Each of the 3 x 3 slices needs a pixel; level 1 has no slices.
_FFV1 = Format(
    "ffv1",
    "gray",
    "gray",
    {"level": "3", "coder": "rice", "slices": "9"},
    {"level": "1", "coder": "rice"},
    threads="SLICE",
)

_H264 = Format(
    "libx264",
    "bgr24",
    "yuv420p",
    {"preset": "veryfast", "crf": "20", "g": "50"},
)


# A fragment on disk stays complete whatever happens later; at a proper end the file becomes an ordinary MP4. Its
# header is written with the first frame: otherwise the time of that frame is lost and the video begins at 0.
H264_MP4 = replace(_H264, container_options={"movflags": "hybrid_fragmented+delay_moov"})


class MaskVideo(Sink):
    """Masks as a lossless video: FFV1, grey, exactly 0 and 255 after decoding.

    Parameters
    ----------
    path : str or path
        A name ending in .mkv, which keeps the presentation times to the millisecond, or in .avi, which keeps none:
        its frames follow each other at `rate_hz`.
    rate_hz : float
        Nominal frame rate.
    force : bool
        Overwrite an existing file.

    Raises
    ------
    SinkError
        If the output exists or cannot be written, or its format would not be lossless.

    Examples
    --------
    >>> import tempfile
    >>> from bgsub.frames import Packet
    >>> from bgsub.video.sources.open import open_source
    >>> mask = np.zeros((48, 64), np.uint8)
    >>> mask[10:20, 30:40] = 255
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with MaskVideo(f"{folder}/masks.mkv") as sink:
    ...         sink.write(Result(Packet(0, 1.5, mask, 1), mask))
    ...     with open_source(f"{folder}/masks.mkv") as source:
    ...         packet = source.read()
    >>> packet.time_s, bool((packet.frame == mask).all())
    (1.5, True)
    """

    any_thread = True
    continuous = True
    option = SinkOption("mask", "Mask video (.mkv)", short="-o", example="-o mask.mkv")
    suffixes = (".mkv", ".avi")

    def __init__(self, path: str | PathLike[str], *, rate_hz: float = 25.0, force: bool = False) -> None:
        path = Path(path)
        if path.suffix.lower() not in self.suffixes:
            raise SinkError(f"{path} would not keep masks exactly; give the file a name ending in .mkv")
        check_file(path, self.suffixes, force, whole=False)
        self._encoder = Encoder(path, _FFV1, rate_hz, steady=path.suffix.lower() == ".avi", force=force)

    @classmethod
    def from_path(cls, path: Path, run: RunContext, **settings: str) -> "MaskVideo":
        """Make the video at the frame rate of the run."""
        return cls(path, rate_hz=run.rate_hz, force=run.force)

    def write(self, result: Result) -> None:
        """Append the mask at the time of its frame."""
        self._encoder.write(result.mask, result.packet.time_s)

    def close(self) -> None:
        """Finish the file."""
        self._encoder.close()


class OverlayVideo(Sink):
    """The input with its foreground marked, as H.264; odd sizes are padded by one row or column.

    Parameters
    ----------
    path : str or path
        A name ending in .mp4 or .mkv.
    rate_hz : float
        Nominal frame rate; the real presentation times are kept.
    style : {"contour", "tint"}
        Outline the foreground, or tint it.
    color : tuple of int
        Blue, green and red of the marks.
    opacity : float
        Weight of the colour in a tint, in [0, 1].
    force : bool
        Overwrite an existing file.

    Raises
    ------
    SinkError
        If the output exists or cannot be written.
    ValueError
        If style, colour or opacity are out of range.
    """

    any_thread = True
    continuous = True
    option = SinkOption(
        "overlay",
        "Video (.mp4) of the input with the foreground marked",
        settings=(SinkSetting("style", get_args(Style), "contour"),),
    )
    suffixes = (".mp4", ".mkv")

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        rate_hz: float = 25.0,
        style: Style = "contour",
        color: tuple[int, int, int] = (0, 0, 255),
        opacity: float = 0.5,
        force: bool = False,
    ) -> None:
        check_marks(style, color, opacity)
        path = Path(path)
        check_file(path, self.suffixes, force, whole=False)
        self._style: Style = style
        self._color, self._opacity = color, opacity
        format_ = H264_MP4 if path.suffix.lower() == ".mp4" else _H264
        self._encoder = Encoder(path, format_, rate_hz, force=force)

    @classmethod
    def from_path(cls, path: Path, run: RunContext, **settings: str) -> "OverlayVideo":
        """Make the video at the frame rate of the run; the setting is `style`."""
        style = cast(Style, settings.get("style", "contour"))
        return cls(path, rate_hz=run.rate_hz, style=style, force=run.force)

    def write(self, result: Result) -> None:
        """Append the marked frame."""
        frame, mask = result.packet.frame, result.mask
        image = draw_overlay(frame, mask, style=self._style, color=self._color, opacity=self._opacity)
        height, width = mask.shape
        if height % 2 or width % 2:
            image = np.asarray(cv2.copyMakeBorder(image, 0, height % 2, 0, width % 2, cv2.BORDER_REPLICATE), np.uint8)
        self._encoder.write(image, result.packet.time_s)

    def close(self) -> None:
        """Finish the file."""
        self._encoder.close()
