"""Where results go: mask videos, image folders, overlays, the background, the model, a table of figures."""

import csv
from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TextIO

import numpy as np

from bgsub._opencv import cv2
from bgsub.errors import SinkError
from bgsub.frames import Frame, Result
from bgsub.video._encoder import Encoder, Format
from bgsub.video._output import Sink, check_file, check_folder, failure, write_whole
from bgsub.video.overlay import Style, check_marks, draw_overlay

__all__ = [
    "BackgroundImage",
    "MaskVideo",
    "OverlayVideo",
    "PngSequence",
    "SavedModel",
    "Sink",
    "StatsCsv",
    "draw_overlay",
    "save_image",
    "write_text",
]

# Measured at 1280x720 on two threads: 2.6 ms a mask with 9 slices and Rice codes, 3.6 with 4 slices and the range
# coder, 5 on one thread; all decode to exactly 0 and 255 and need 3.4 KB a frame.
_FFV1 = Format("ffv1", "gray", "gray", {"level": "3", "coder": "rice", "slices": "9"}, threads="SLICE")

_H264 = Format(
    "libx264",
    "bgr24",
    "yuv420p",
    {"preset": "veryfast", "crf": "20", "g": "50"},
)


# A fragment is complete on the disk whatever happens after; at a proper end the file becomes an ordinary MP4. Its
# header waits for the first frame: else the time of that frame is lost and the video begins at 0.
_H264_MP4 = replace(_H264, container_options={"movflags": "hybrid_fragmented+delay_moov"})


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
    >>> from bgsub.video.sources import open_source
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

    def __init__(self, path: str | PathLike[str], *, rate_hz: float = 25.0, force: bool = False) -> None:
        path = Path(path)
        if path.suffix.lower() not in (".mkv", ".avi"):
            raise SinkError(f"{path} would not keep masks exactly; give the file a name ending in .mkv")
        check_file(path, (".mkv", ".avi"), force)
        self._encoder = Encoder(path, _FFV1, rate_hz, steady=path.suffix.lower() == ".avi")

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
        Outline the foreground, or dye it.
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
        check_file(path, (".mp4", ".mkv"), force)
        self._style: Style = style
        self._color, self._opacity = color, opacity
        self._encoder = Encoder(path, _H264_MP4 if path.suffix.lower() == ".mp4" else _H264, rate_hz)

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


class PngSequence(Sink):
    """Masks as numbered images, in the layout of the change-detection benchmark.

    Parameters
    ----------
    folder : str or path
        Where to; it is created if its parent exists.
    pattern : str
        printf pattern of the names, filled with the number of the frame.
    force : bool
        Overwrite existing images.

    Raises
    ------
    SinkError
        If the folder cannot be written or holds such images already.
    ValueError
        If the pattern has not exactly one number, or does not end in .png.
    """

    any_thread = True

    def __init__(self, folder: str | PathLike[str], pattern: str = "bin%06d.png", *, force: bool = False) -> None:
        self._folder, self._pattern = Path(folder), pattern
        try:
            name = pattern % 1
        except (TypeError, ValueError) as error:
            raise ValueError(f"pattern must hold one number like %06d, got {pattern!r}") from error
        if name == pattern % 2 or not name.endswith(".png") or Path(name).name != name:
            raise ValueError(f"pattern must be a file name with one number that ends in .png, got {pattern!r}")
        if not self._folder.exists():
            check_folder(self._folder.parent)
            return
        check_folder(self._folder)
        first, _, last = pattern.partition("%")
        ending = last.partition("d")[2]
        taken = any(file.name.startswith(first) and file.name.endswith(ending) for file in self._folder.iterdir())
        if taken and not force:
            raise SinkError(f"{self._folder} holds such images already; choose another folder or force overwriting")

    def write(self, result: Result) -> None:
        """Write the mask under the number of its frame."""
        path = self._folder / (self._pattern % result.packet.number)
        try:
            self._folder.mkdir(exist_ok=True)
        except OSError as error:
            raise failure(self._folder, error.strerror) from error
        write_whole(path, _png(path, result.mask))

    def close(self) -> None:
        """Do nothing: every image is complete."""


class BackgroundImage(Sink):
    """The background a detector has learned, written when the run ends, even by an error.

    Parameters
    ----------
    path : str or path
        A name ending in .png.
    image : callable
        Returns the (H, W) or (H, W, 3) uint8 or uint16 image, such as a detector's `background_image`.
    force : bool
        Overwrite an existing file.

    Raises
    ------
    SinkError
        If the output exists or cannot be written.
    """

    def __init__(self, path: str | PathLike[str], image: Callable[[], Frame], *, force: bool = False) -> None:
        self._path, self._image = Path(path), image
        check_file(self._path, (".png",), force)
        self._due = False

    def write(self, result: Result) -> None:
        """Note that there is something to write at the end."""
        self._due = True

    def close(self) -> None:
        """Write the image if any frame was seen."""
        if not self._due:
            return
        self._due = False
        write_whole(self._path, _png(self._path, self._image()))


class SavedModel(Sink):
    """The model a detector has learned, saved when the run ends, even by an error.

    Parameters
    ----------
    path : str or path
        A name ending in .npz.
    save : callable
        Writes the model to a path, such as a detector's `save`.
    force : bool
        Overwrite an existing file.

    Raises
    ------
    SinkError
        If the output exists or cannot be written.
    """

    def __init__(self, path: str | PathLike[str], save: Callable[[Path], None], *, force: bool = False) -> None:
        self._path, self._save = Path(path), save
        check_file(self._path, (".npz",), force)
        self._due = False

    def write(self, result: Result) -> None:
        """Note that there is something to save at the end."""
        self._due = True

    def close(self) -> None:
        """Save the model if any frame was seen."""
        if self._due:
            self._due = False
            self._save(self._path)


class StatsCsv(Sink):
    """One line of figures a frame; every line is on the disk before the next frame.

    The columns are index, number, time_s, foreground (share of the pixels, 0 to 1), blobs (8-connected) and ms (time
    of detection and post-processing).

    Parameters
    ----------
    path : str or path
        A name ending in .csv.
    force : bool
        Overwrite an existing file.

    Raises
    ------
    SinkError
        If the output exists or cannot be written.
    """

    COLUMNS = ("index", "number", "time_s", "foreground", "blobs", "ms")

    def __init__(self, path: str | PathLike[str], *, force: bool = False) -> None:
        self._path = Path(path)
        check_file(self._path, (".csv",), force)
        self._file: TextIO | None = None
        self._closed = self._failed = False

    def write(self, result: Result) -> None:
        """Append the line of one frame."""
        if self._closed:
            raise SinkError(f"cannot write {self._path}: it is closed")
        packet, mask = result.packet, result.mask
        blobs = cv2.connectedComponents(mask, connectivity=8)[0] - 1
        share = cv2.countNonZero(mask) / mask.size
        row = (packet.index, packet.number, f"{packet.time_s:.6f}", f"{share:.6f}", blobs)
        try:
            if self._file is None:
                self._file = self._path.open("w", encoding="utf-8", newline="")
                csv.writer(self._file).writerow(self.COLUMNS)
            csv.writer(self._file).writerow((*row, f"{result.timings.total_ms:.3f}"))
            self._file.flush()
        except OSError as error:
            self._closed = self._failed = True
            raise failure(self._path, error.strerror) from error

    def close(self) -> None:
        """Close the file."""
        self._closed = True
        file, self._file = self._file, None
        if file is None:
            return
        try:
            file.close()
        except OSError as error:
            if not self._failed:  # else it was raised where it happened, and closing only tries again
                raise failure(self._path, error.strerror) from error


def save_image(path: str | PathLike[str], image: Frame) -> None:
    """Write one picture as PNG, whole or not at all; an existing file is overwritten.

    Parameters
    ----------
    path : str or path
        A name ending in .png.
    image : (H, W) or (H, W, 3) array of uint8 or uint16
        Grey or BGR.

    Raises
    ------
    SinkError
        If it cannot be written.
    """
    path = Path(path)
    check_file(path, (".png",), force=True)
    write_whole(path, _png(path, image))


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, whole or not at all; an existing file is overwritten.

    Raises
    ------
    SinkError
        If it cannot be written.
    """
    path = Path(path)
    check_folder(path.parent)
    write_whole(path, text.encode())


def _png(path: Path, image: Frame) -> bytes:
    if image.dtype not in (np.uint8, np.uint16):
        raise SinkError(f"cannot write {path}: a PNG cannot hold {image.dtype} pixels; run on frames of 8 or 16 bits")
    done, data = cv2.imencode(".png", image)
    if not done:
        raise SinkError(f"cannot write {path}: OpenCV cannot store an array of shape {image.shape} as PNG")
    return data.tobytes()
