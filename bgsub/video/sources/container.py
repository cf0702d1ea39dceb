"""The length in bytes that a video file declares, to distinguish a complete file from a truncated one.

Decoders treat the end of a truncated file as an ordinary end. The three common container families store the
lengths of their outermost boxes; comparing these with the size of the file finds the damage without frame counts,
which edit lists and dropped frames falsify.
"""

from pathlib import Path
from typing import BinaryIO

__all__ = ["missing_bytes"]

_EBML = (
    b"\x1a\x45\xdf\xa3",
    b"\x18\x53\x80\x67",
)  # identifiers of the header and of the segment with all frames
_UNKNOWN_RIFF = (0, 0xFFFFFFFF)  # placeholders, which a muxer corrects when it closes the file


def missing_bytes(path: Path) -> int:
    """Return the number of bytes that the container declares and the file lacks, 0 if none or unknown."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(12)
        if head[:4] == b"RIFF":
            step = _riff
        elif head[:4] == _EBML[0]:
            step = _ebml
        elif head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip"):
            step = _iso
        else:
            return 0
        end = 0
        while end < size:
            file.seek(end)
            length = step(file)
            if length is None:
                return 0
            end += length
    return end - size


def _riff(file: BinaryIO) -> int | None:
    head = file.read(8)
    length = int.from_bytes(head[4:8], "little")
    if head[:4] != b"RIFF" or length in _UNKNOWN_RIFF:
        return None
    return 8 + length + length % 2


def _iso(file: BinaryIO) -> int | None:
    head = file.read(8)
    length = int.from_bytes(head[:4], "big")
    if length == 1:
        length = int.from_bytes(file.read(8), "big")
    return length if length >= 8 and head[4:8].isalnum() else None  # players ignore trailing bytes after the boxes


def _ebml(file: BinaryIO) -> int | None:
    begin = file.tell()
    if file.read(4) not in _EBML or (length := _vint(file)) is None:
        return None
    return file.tell() - begin + length


def _vint(file: BinaryIO) -> int | None:
    """Read a number of 1 to 8 bytes whose leading zero bits give its length; None for "unknown"."""
    first = file.read(1)
    if not first or first == b"\0":
        return None
    extra = 8 - first[0].bit_length()
    bits = 7 * (extra + 1)
    value = int.from_bytes(first + file.read(extra), "big") & ((1 << bits) - 1)
    return None if value == (1 << bits) - 1 else value
