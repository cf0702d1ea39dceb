"""Containers that state their length in bytes: AVI, Matroska, MP4 and their relatives, ASF.

Comparing the lengths of the outermost boxes with the size of the file finds damage without frame counts, which edit
lists and dropped frames falsify.
"""

from typing import BinaryIO

from bgsub.video.sources.ending.end import End

__all__ = ["ASF", "EBML", "ISO", "check_asf", "check_ebml", "check_iso", "check_riff"]

EBML = b"\x1a\x45\xdf\xa3"
ISO = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip")
ASF = bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c")

_SEGMENT = b"\x18\x53\x80\x67"  # of Matroska, with all frames
_UNKNOWN_RIFF = (0, 0xFFFFFFFF)  # placeholders, which a muxer corrects when it closes the file
_ASF_PROPERTIES = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")
_ASF_HEAD = 2**16  # bytes in which the properties stand


def check_riff(file: BinaryIO, size: int) -> End:
    """Check AVI: one or more RIFF chunks, each with its length."""
    end = 0
    while end < size:
        file.seek(end)
        head = file.read(8)
        length = int.from_bytes(head[4:8], "little")
        if head[:4] != b"RIFF":
            return End(verified=end > 0)
        if length in _UNKNOWN_RIFF:
            return End(verified=False)
        end += 8 + length + length % 2
    return End.missing(size, end)


def check_iso(file: BinaryIO, size: int) -> End:
    """Check MP4, QuickTime and 3GP: boxes with their lengths.

    Fragments follow each other without a common length; only the index behind the last shows that it is the last.
    """
    end, names = 0, [b""]
    while end < size:
        file.seek(end)
        head = file.read(8)
        length = int.from_bytes(head[:4], "big")
        if length == 1:
            length = int.from_bytes(file.read(8), "big")
        if length == 0:  # the last box, as long as the file
            return End(verified=False)
        if length < 8 or not head[4:8].isalnum():  # players ignore trailing bytes after the boxes
            break
        names.append(head[4:8])
        end += length
    if end <= size and (b"mdat" not in names or (b"moof" in names and names[-1] != b"mfra")):
        return End(verified=False)
    return End.missing(size, end)


def check_ebml(file: BinaryIO, size: int) -> End:
    """Check Matroska and WebM: a header and a segment, each with its length."""
    end = 0
    while end < size:
        file.seek(end)
        name = file.read(4)
        length = _read_vint(file) if name in (EBML, _SEGMENT) else None
        if length is None:
            return End(verified=False)
        end = file.tell() + length
        if name == _SEGMENT:
            return End.missing(size, end)
    return End.missing(size, end)


def _read_vint(file: BinaryIO) -> int | None:
    """Read a number of 1 to 8 bytes whose leading zero bits give its length; None for "unknown"."""
    first = file.read(1)
    if not first or first == b"\0":
        return None
    extra = 8 - first[0].bit_length()
    bits = 7 * (extra + 1)
    value = int.from_bytes(first + file.read(extra), "big") & ((1 << bits) - 1)
    return None if value == (1 << bits) - 1 else value


def check_asf(file: BinaryIO, size: int) -> End:
    """Check ASF (WMV): its properties hold the size of the file, unless they call it a broadcast."""
    file.seek(0)
    head = file.read(_ASF_HEAD)
    at = head.find(_ASF_PROPERTIES)
    if at < 0 or len(head) < at + 92 or head[at + 88] & 1:
        return End(verified=False)
    return End.missing(size, int.from_bytes(head[at + 40 : at + 48], "little"))
