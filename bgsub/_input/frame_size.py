"""The largest frame that is accepted, checked before memory is allocated for it."""

import os
import re
import struct

from bgsub.errors import BgsubError, ConfigError, SourceError

__all__ = ["check_frame_size", "check_made_size", "image_size", "lacks_data", "most_pixels"]

_VARIABLE = "BGSUB_MAX_FRAME_PIXELS"
_MOST_PIXELS = 2**27
"""16384x8192: 16K video, the largest format in use, has 15360x8640.

A small file can claim any size: 2.6 MB of PNG decode to 30000x30000 pixels, for which a detector needs 100 GB.
"""

_PNG = b"\x89PNG\r\n\x1a\n"
_PNM = re.compile(rb"P[1-7]\s+(?:#[^\n]*\n\s*)*(?:(\d+)\s+(\d+)|WIDTH (\d+)\s+HEIGHT (\d+))")
_NO_FRAME_HEADER = (0xC4, 0xC8, 0xCC)  # JPEG markers in the range of the frame headers that are others


def most_pixels() -> int:
    """Return the number of pixels that a frame may have: 2**27, or as BGSUB_MAX_FRAME_PIXELS says.

    Raises
    ------
    ConfigError
        If the variable holds no positive whole number.
    """
    text = os.environ.get(_VARIABLE, "")
    if not text:
        return _MOST_PIXELS
    if not text.isdecimal() or int(text) == 0:
        raise ConfigError(f"{_VARIABLE} must be a positive whole number, got {text!r}")
    return int(text)


def check_frame_size(name: str, size: tuple[int, int] | None, error: type[BgsubError] = SourceError) -> None:
    """Refuse a frame that is too large; an unknown size passes.

    Parameters
    ----------
    name : str
        File or source, for the message.
    size : tuple of int or None
        (height, width) in pixels.
    error : type of BgsubError
        The error to raise.

    Raises
    ------
    BgsubError
        Of the kind `error`, if it has more pixels than `most_pixels`.
    """
    if size is not None and size[0] * size[1] > most_pixels():
        raise error(
            f"the frames of {name} are {size[1]}x{size[0]}, more than {most_pixels()} pixels; "
            f"scale them down, or set {_VARIABLE} to {size[0] * size[1]} or more"
        )


def check_made_size(size: tuple[int, int]) -> None:
    """Refuse the (height, width) of frames to be made that would be too large.

    Raises
    ------
    ValueError
        If they would have more pixels than `most_pixels`.
    """
    if size[0] * size[1] > most_pixels():
        raise ValueError(f"size must have at most {most_pixels()} pixels, got {size[1]}x{size[0]}")


def lacks_data(data: bytes) -> bool:
    """Return whether an image is a PNG one of whose chunks is longer than the rest of the file.

    OpenCV allocates the length that a chunk states, up to 4 GB, before it finds that there is less.
    """
    at = 8
    if not data.startswith(_PNG):
        return False
    while at + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        at += 12 + length
        if at > len(data):
            return True
        if kind == b"IEND":
            break
    return False


def image_size(data: bytes) -> tuple[int, int] | None:
    """Return (height, width) from the header of an image; None for an unknown or damaged header.

    Examples
    --------
    >>> image_size(b"P5 640 480 255 ")
    (480, 640)
    """
    try:
        if data.startswith(_PNG):
            width, height = struct.unpack_from(">II", data, 16)
        elif data[:2] == b"\xff\xd8":
            return _jpeg_size(data)
        elif data[:2] == b"BM":
            width, height = map(abs, struct.unpack_from("<ii", data, 18))
        elif data[:4] in (b"II*\0", b"MM\0*"):
            return _tiff_size(data)
        elif data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return None  # the format ends at 16383x16383
        elif match := _PNM.match(data):
            width, height = (int(digits) for digits in match.groups() if digits is not None)
        else:
            return None
    except struct.error:
        return None
    return height, width


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at < len(data):
        fill, marker, length = struct.unpack_from(">BBH", data, at)
        if fill != 0xFF:
            return None
        if 0xC0 <= marker <= 0xCF and marker not in _NO_FRAME_HEADER:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return height, width
        at += 1 if marker == 0xFF else 2 + length
    return None


def _tiff_size(data: bytes) -> tuple[int, int] | None:
    order = "<" if data[:2] == b"II" else ">"
    (at,) = struct.unpack_from(f"{order}I", data, 4)
    (count,) = struct.unpack_from(f"{order}H", data, at)
    sides = {}
    for entry in range(at + 2, at + 2 + 12 * count, 12):
        tag, kind = struct.unpack_from(f"{order}HH", data, entry)
        if tag in (256, 257):  # width, height
            (sides[tag],) = struct.unpack_from(f"{order}{'H' if kind == 3 else 'I'}", data, entry + 8)
    return (sides[257], sides[256]) if len(sides) == 2 else None
