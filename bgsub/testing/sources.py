"""The contract of a source of frames, as a function."""

import itertools
import math
from collections.abc import Callable

import numpy as np

from bgsub.frames import Frame, Packet, VideoInfo, check_frame
from bgsub.testing._require import require
from bgsub.video.prefetch import Prefetch
from bgsub.video.sources.base import FrameSource
from bgsub.video.sources.position import Position
from bgsub.video.sources.slice import Slice

__all__ = ["check_source"]

_LEAST = 8  # frames, for a part that begins after the first, ends before the last and leaves some out


def check_source(make: Callable[[], FrameSource], *, frames: int = 30) -> None:
    """Check that a source keeps the contract of `FrameSource`.

    Checked are the description, the order and the kind of the frames, the end, parts of the source, stepping without
    pixels, reading on another thread, and closing.

    Parameters
    ----------
    make : callable
        Opens the source, each time from its start and with the same 8 or more frames. A live source needs a
        replacement for its device that delivers the same frames each time.
    frames : int
        Most frames to read; a shorter source that is not live is read to its end.

    Raises
    ------
    AssertionError
        If the source breaks the contract; the message says where.
    ValueError
        If frames is less than 8.

    Examples
    --------
    >>> from bgsub.video.sources import open_source
    >>> check_source(lambda: open_source("synthetic:easy?frames=8&size=40x32"))
    """
    if frames < _LEAST:
        raise ValueError(f"frames must be at least {_LEAST}, got {frames}")
    with make() as source:
        info = source.info
        _check_info(info)
        require(source.trouble is None, f"trouble must be None while frames arrive, got {source.trouble!r}")
        whole, copies = [], []
        for packet in itertools.islice(source, frames):
            whole.append(packet)
            copies.append(packet.frame.copy())  # at once: the next read must not change it
        if not info.live and len(whole) < frames:
            require(source.read() is None, "read must go on to return None at the end")
    require(len(whole) >= _LEAST, f"make must open a source of at least {_LEAST} frames, got {len(whole)}")
    _check_packets(info, whole)
    if not info.live and len(whole) < frames and info.count is not None:
        require(info.count == len(whole), f"info.count is {info.count}, but {len(whole)} frames are delivered")
    _check_frames_stay(whole, copies)
    _check_steps(make, whole)
    for first, last, skip in ((2, 6, 2), (len(whole) - 2, len(whole) - 2, 1), (0, 3, 1)):
        _check_part(make, whole, first, last, skip)
    _check_other_thread(make, whole)
    _check_close(make)


def _check_info(info: object) -> None:
    require(isinstance(info, VideoInfo), f"info must be a VideoInfo, got {type(info).__name__}")
    if isinstance(info, VideoInfo):
        require(info.name, "info.name must not be empty")
        rate = info.rate_hz
        require(rate is None or 0 < rate < math.inf, f"info.rate_hz must be positive or None, got {rate}")


def _check_packets(info: VideoInfo, packets: list[Packet]) -> None:
    indices = [packet.index for packet in packets]
    require(indices == list(range(len(packets))), f"index must count the frames from 0, got {indices[:5]}, ...")
    first = packets[0].frame
    for packet in packets:
        _check_frame(packet.frame, packet.number)
        same = packet.frame.shape == first.shape and packet.frame.dtype == first.dtype
        require(
            same,
            f"all frames must be like the first, {first.dtype} {first.shape}; frame {packet.number} is "
            f"{packet.frame.dtype} {packet.frame.shape}",
        )
        require(math.isfinite(packet.time_s), f"time_s must be finite, got {packet.time_s} at frame {packet.number}")
    for one, other in itertools.pairwise(packets):
        require(one.number < other.number, f"number must rise, got {other.number} after {one.number}")
        require(one.time_s <= other.time_s, f"time_s must not fall, got {other.time_s} after {one.time_s}")
    require(
        info.size is None or info.size == first.shape[:2], f"info.size is {info.size}, but frames are {first.shape}"
    )


def _check_frame(frame: Frame, number: int) -> None:
    try:
        checked = check_frame(frame, f"frame {number}")
    except ValueError as error:
        raise AssertionError(str(error)) from error
    require(checked.shape == frame.shape, f"frame {number} must have shape (H, W) if grey, got {frame.shape}")
    require(frame.flags.c_contiguous, f"frame {number} must be C-contiguous")


def _check_frames_stay(packets: list[Packet], copies: list[Frame]) -> None:
    for packet, copy in zip(packets, copies, strict=True):
        require(np.array_equal(packet.frame, copy), f"frame {packet.number} was written to after it had been delivered")


def _check_same(got: Packet | None, expected: Packet, live: bool, where: str) -> None:
    if got is None:
        raise AssertionError(f"{where}: frame {expected.number} is missing")
    require(got.number == expected.number, f"{where}: frame {expected.number} expected, got {got.number}")
    require(np.array_equal(got.frame, expected.frame), f"{where}: frame {got.number} has other pixels")
    if not live:
        require(
            got.time_s == expected.time_s, f"{where}: frame {got.number} is at {got.time_s} s, not {expected.time_s}"
        )


def _check_steps(make: Callable[[], FrameSource], whole: list[Packet]) -> None:
    """Step with `grab` and convert only every other frame."""
    with make() as source:
        for expected in whole:
            grab = source.grab()
            if grab is None:
                raise AssertionError(f"grab ends before frame {expected.number}, which read delivers")
            require(grab.number == expected.number, f"grab must count as read does, got {grab.number}")
            if expected.index % 2:
                require(np.array_equal(grab.retrieve(), expected.frame), f"grab: frame {grab.number} has other pixels")


def _check_part(make: Callable[[], FrameSource], whole: list[Packet], first: int, last: int, skip: int) -> None:
    start, end = Position(number=whole[first].number), Position(number=whole[last].number)
    expected = whole[first : last + 1 : skip]
    where = f"from frame {start} to {end}, every {skip}"
    with Slice(make(), start, end, skip) as part:
        count, live = part.info.count, part.info.live
        require(count in (None, len(expected)), f"{where}: info.count is {count} instead of {len(expected)}")
        for packet in expected:
            _check_same(part.read(), packet, live, where)
        require(part.read() is None, f"{where}: more frames than expected")


def _check_other_thread(make: Callable[[], FrameSource], whole: list[Packet]) -> None:
    """Read ahead on another thread, as a run does."""
    with Prefetch(make(), newest=False) as packets:
        for expected in whole[:_LEAST]:
            _check_same(packets.read(), expected, packets.info.live, "on another thread")


def _check_close(make: Callable[[], FrameSource]) -> None:
    source = make()
    source.interrupt()
    source.close()
    source.close()
    source.interrupt()
