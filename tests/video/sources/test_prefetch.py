"""The capture thread: order, losses, errors and its end."""

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from bgsub.errors import SourceError
from bgsub.frames import Packet, VideoInfo
from bgsub.video.prefetch import Prefetch
from bgsub.video.sources import FrameSource

pytestmark = pytest.mark.usefixtures("no_leaked_threads")


class Numbers(FrameSource):
    """So many frames, then the end or an error; `gate` holds back the frame after the first."""

    def __init__(self, count: int, error: Exception | None = None, live: bool = False) -> None:
        self._info = VideoInfo("numbers", count=count, live=live)
        self.count, self.error, self.read_count, self.closed = count, error, 0, 0
        self.gate = threading.Event()
        self.gate.set()

    @property
    def info(self) -> VideoInfo:
        return self._info

    def read(self) -> Packet | None:
        if self.read_count:
            self.gate.wait(60)
        if self.read_count == self.count:
            if self.error is not None:
                raise self.error
            return None
        self.read_count += 1
        return Packet(self.read_count - 1, 0.0, np.zeros((2, 2), np.uint8), self.read_count)

    def interrupt(self) -> None:
        self.gate.set()

    def close(self) -> None:
        self.closed += 1


def until(condition: object) -> None:
    deadline = time.monotonic() + 30
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.005)


def numbers(packets: Prefetch) -> Iterator[int]:
    return (packet.number for packet in packets)


def test_file_loses_nothing_and_waits_for_a_slow_reader() -> None:
    source = Numbers(50)
    with Prefetch(source, depth=3) as packets:
        until(lambda: source.read_count >= 4)
        time.sleep(0.05)
        assert source.read_count == 4
        assert list(numbers(packets)) == list(range(1, 51))
        assert packets.dropped == 0
    assert source.closed == 1


def test_camera_drops_the_oldest_frames_and_counts_them() -> None:
    source = Numbers(50, live=True)
    with Prefetch(source, depth=3) as packets:
        until(lambda: source.closed)
        assert list(numbers(packets)) == [48, 49, 50]
        assert packets.dropped == 47


def test_newest_overrides_what_the_source_is() -> None:
    source = Numbers(9)
    with Prefetch(source, depth=2, newest=True) as packets:
        until(lambda: source.closed)
        assert list(numbers(packets)) == [8, 9]


def test_error_comes_after_the_frames_before_it() -> None:
    got = []
    with Prefetch(Numbers(3, SourceError("broken"))) as packets, pytest.raises(SourceError, match="broken"):
        got.extend(iter(packets.read, None))
    assert [packet.number for packet in got] == [1, 2, 3]


def test_close_frees_a_blocked_source_and_a_blocked_reader() -> None:
    source = Numbers(5)
    source.gate.clear()
    packets = Prefetch(source)
    assert packets.read() is not None
    got: list[object] = []
    reader = threading.Thread(target=lambda: got.append(packets.read()))
    reader.start()
    began = time.monotonic()
    packets.close()
    packets.close()
    reader.join(30)
    assert got == [None]
    assert time.monotonic() - began < 20
    assert source.closed == 1


def test_close_with_a_full_queue() -> None:
    source = Numbers(100)
    packets = Prefetch(source, depth=2)
    until(lambda: source.read_count >= 3)
    packets.close()
    assert packets.read() is None
    assert source.closed == 1


def test_error_in_the_consumer_joins_the_thread() -> None:
    source = Numbers(100)
    with pytest.raises(ZeroDivisionError), Prefetch(source) as packets:
        [packet.index // 0 for packet in packets]
    assert source.closed == 1


def test_thread_has_a_name() -> None:
    source = Numbers(5)
    source.gate.clear()
    with Prefetch(source):
        assert any(thread.name.startswith("bgsub-capture") for thread in threading.enumerate())


def test_depth_is_checked() -> None:
    with pytest.raises(ValueError, match="depth must be"):
        Prefetch(Numbers(1), depth=0)


def test_ready_tells_whether_read_would_wait():
    gate = threading.Event()

    class Gated(FrameSource):
        info = VideoInfo("gated")
        trouble = "the gate is shut"

        def read(self):
            return Packet(0, 0.0, np.zeros((2, 2), np.uint8), 1) if gate.wait(30) and not self.done() else None

        def done(self):
            self.count = getattr(self, "count", 0) + 1
            return self.count > 1

    with Prefetch(Gated()) as packets:
        assert not packets.ready(0.0)
        assert packets.trouble == "the gate is shut"
        gate.set()
        assert packets.ready(30.0)
        assert packets.read() is not None
        assert packets.ready(30.0)
        assert packets.read() is None
