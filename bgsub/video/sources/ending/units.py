"""Containers without a common length, whose last unit shows whether it is the last: GIF, Ogg, FLV, MPEG streams."""

import struct
from typing import BinaryIO

from bgsub.video.sources.ending.end import End

__all__ = ["check_flv", "check_gif", "check_ogg", "check_program_stream", "check_transport_stream"]

_UNKNOWN = End(verified=False)
_COMPLETE = End(verified=True)
_BROKEN_OFF = End(verified=False, fault="its end is missing")

_OGG_PAGE = 27 + 255 + 255 * 255  # longest page in bytes
_FLV_TAGS = (8, 9, 18)  # sound, video, script
_SHORT_S = 1.0  # a stated duration may count the frames differently
_TS_PACKETS = ((188, 0), (192, 4), (204, 0))  # bytes, and where the sync byte stands
_TS_SYNC = 0x47


def check_gif(file: BinaryIO, _size: int) -> End:
    """Check GIF: blocks, then a trailer."""
    file.seek(10)
    _skip_colours(file)
    while (kind := file.read(1)) == b"," or kind == b"!":
        if kind == b",":
            file.seek(8, 1)
            _skip_colours(file, after=1)
        else:
            file.seek(1, 1)
        while length := file.read(1):
            if length == b"\0":
                break
            file.seek(length[0], 1)
    if kind == b";":
        return _COMPLETE
    return _UNKNOWN if kind else _BROKEN_OFF


def _skip_colours(file: BinaryIO, after: int = 2) -> None:
    """Skip flags, a number of bytes `after` them, and the table of colours that the flags announce."""
    flags = file.read(1) or b"\0"
    table = 3 * 2 ** ((flags[0] & 7) + 1) if flags[0] & 0x80 else 0
    file.seek(after + table, 1)


def check_ogg(file: BinaryIO, size: int) -> End:
    """Check Ogg: the last page of a stream has a flag."""
    file.seek(max(0, size - 2 * _OGG_PAGE))
    tail = file.read()
    at = tail.rfind(b"OggS")
    if at < 0:
        return _UNKNOWN
    page = tail[at:]
    if len(page) < 27 or len(page) < (length := 27 + page[26] + sum(page[27 : 27 + page[26]])):
        return End(verified=False, fault="its last page is incomplete")
    if length < len(page):
        return _BROKEN_OFF if b"OggS".startswith(page[length:]) else _UNKNOWN
    return _COMPLETE if page[5] & 4 else End(verified=False, fault="its last page is missing")


def check_flv(file: BinaryIO, size: int) -> End:
    """Check FLV: tags with their lengths, the first of which may state size and duration of the whole."""
    file.seek(5)
    end, last_ms, numbers = int.from_bytes(file.read(4), "big") + 4, 0, {"filesize": 0.0, "duration": 0.0}
    while end < size:
        file.seek(end)
        head = file.read(11)
        length = int.from_bytes(head[1:4], "big")
        if len(head) == 11 and head[0] & 31 not in _FLV_TAGS:
            return _UNKNOWN
        if head[:1] == b"\x12":
            numbers = _script_numbers(file.read(min(length, 2**16)), numbers)
        last_ms = int.from_bytes(head[7:8] + head[4:7], "big")
        end += 11 + length + 4
    if end > size:
        return End(verified=False, fault="its last tag is incomplete")
    missing_s = numbers["duration"] - last_ms / 1000
    if numbers["duration"] > 0 and missing_s > _SHORT_S:
        return End(verified=False, fault=f"it ends {missing_s:.1f} s before the duration that it states")
    return _COMPLETE if numbers["filesize"] == size else _UNKNOWN


def _script_numbers(script: bytes, numbers: dict[str, float]) -> dict[str, float]:
    """Return numbers of a script tag by name, the present ones where it has none."""
    found = dict(numbers)
    for name in numbers:
        _, mark, rest = script.partition(b"%b%b\0" % (len(name).to_bytes(2, "big"), name.encode()))
        if mark and len(rest) >= 8:
            (found[name],) = struct.unpack_from(">d", rest)
    return found


def check_program_stream(file: BinaryIO, size: int) -> End:
    """Check MPEG-PS: an end code shows the end, but many recordings have none."""
    file.seek(max(0, size - 4))
    return _COMPLETE if file.read() == b"\0\0\1\xb9" else _UNKNOWN


def check_transport_stream(file: BinaryIO, size: int) -> End:
    """Check MPEG-TS: it may end after any packet, but not within one."""
    file.seek(0)
    head = file.read(5 * 204)
    for length, offset in _TS_PACKETS:
        marks = head[offset::length]
        if len(marks) > 1 and marks.count(_TS_SYNC) == len(marks):
            held = size % length
            return End(verified=False, fault=f"its last packet has {held} of {length} bytes") if held else _UNKNOWN
    return _UNKNOWN
