"""Compare the end of a file with what its container says about it."""

from collections.abc import Callable
from typing import BinaryIO

from bgsub.video.sources.ending import lengths, units
from bgsub.video.sources.ending.end import End

__all__ = ["End", "check_end"]

_CHECKS: tuple[tuple[Callable[[bytes], bool], Callable[[BinaryIO, int], End]], ...] = (
    (lambda head: head[:4] == b"RIFF", lengths.check_riff),
    (lambda head: head[:4] == lengths.EBML, lengths.check_ebml),
    (lambda head: head[4:8] in lengths.ISO, lengths.check_iso),
    (lambda head: head[:16] == lengths.ASF, lengths.check_asf),
    (lambda head: head[:6] in (b"GIF87a", b"GIF89a"), units.check_gif),
    (lambda head: head[:4] == b"OggS", units.check_ogg),
    (lambda head: head[:3] == b"FLV", units.check_flv),
    (lambda head: head[:4] == b"\0\0\1\xba", units.check_program_stream),
    (lambda head: head[:1] == b"G" or head[4:5] == b"G", units.check_transport_stream),
)


def check_end(file: BinaryIO, size: int) -> End:
    """Compare a file with the lengths, end marks and durations that its container states.

    Decoders treat the end of a truncated file as an ordinary end.

    Parameters
    ----------
    file : binary file
        A video, which can be seeked.
    size : int
        Its size in bytes. The first bytes of the file suffice for Matroska, ASF and MPEG-TS.

    Returns
    -------
    End
        Whether it is complete, as far as the container shows.
    """
    file.seek(0)
    head = file.read(16)
    for fits, check in _CHECKS:
        if fits(head):
            return check(file, size)
    return End(verified=False)
