"""The contract checks pass what keeps the contract, and name what breaks it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bgsub.errors import SinkError
from bgsub.frames import Packet, Result, VideoInfo
from bgsub.testing import check_sink, check_source
from bgsub.video.sinks import Sink, StatsCsv
from bgsub.video.sources import FrameSource, Position


class Good(FrameSource):
    """Ten grey frames, made by hand."""

    info = VideoInfo("good", size=(4, 6), rate_hz=10.0, count=10)

    def __init__(self) -> None:
        self.next = 0

    def frame(self, index: int) -> np.ndarray:
        return np.full((4, 6), 20 * index, np.uint8)

    def packet(self, index: int) -> Packet:
        return Packet(index, index / 10, self.frame(index), index + 1)

    def read(self) -> Packet | None:
        if self.next == 10:
            return None
        self.next += 1
        return self.packet(self.next - 1)


class SameArray(Good):
    """Writes each frame over the one before."""

    def __init__(self) -> None:
        super().__init__()
        self.array = np.zeros((4, 6), np.uint8)

    def frame(self, index: int) -> np.ndarray:
        self.array[:] = index
        return self.array


class WrongIndex(Good):
    def packet(self, index: int) -> Packet:
        return Packet(index + 1, index / 10, self.frame(index), index + 1)


class FallingTime(Good):
    def packet(self, index: int) -> Packet:
        return Packet(index, -index / 10, self.frame(index), index + 1)


class SameNumber(Good):
    def packet(self, index: int) -> Packet:
        return Packet(index, index / 10, self.frame(index), 1)


class WrongSize(Good):
    info = VideoInfo("wrong size", size=(6, 4), count=10)


class WrongCount(Good):
    info = VideoInfo("wrong count", size=(4, 6), count=11)


class Float64(Good):
    def frame(self, index: int) -> np.ndarray:
        return np.zeros((4, 6))


class ChangingSize(Good):
    def frame(self, index: int) -> np.ndarray:
        return np.zeros((4, 6 + index // 5), np.uint8)


class SeeksTooFar(Good):
    def seek(self, start: Position) -> None:
        self.next = (start.number or 1) + 1


class Frozen(Good):
    def grab(self) -> None:
        return None


class ClosesOnce(Good):
    closed = False

    def close(self) -> None:
        if self.closed:
            raise RuntimeError("closed already")
        self.closed = True


def test_source_that_keeps_the_contract_passes() -> None:
    check_source(Good)
    check_source(Good, frames=8)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (SameArray, "frame 1 was written to after it had been delivered"),
        (WrongIndex, "index must count the frames from 0"),
        (FallingTime, "time_s must not fall"),
        (SameNumber, "number must rise, got 1 after 1"),
        (WrongSize, r"info.size is \(6, 4\), but frames are \(4, 6\)"),
        (WrongCount, "info.count is 11, but 10 frames are delivered"),
        (Float64, "frame 1 must be uint8, uint16 or float32, got float64"),
        (ChangingSize, "all frames must be like the first"),
        (SeeksTooFar, "from frame 3 to 7, every 2"),
        (Frozen, "grab ends before frame 1"),
    ],
)
def test_source_that_breaks_the_contract_is_named(kind: type[FrameSource], message: str) -> None:
    with pytest.raises(AssertionError, match=message) as caught:
        check_source(kind)
    assert "\n" not in str(caught.value)


def test_source_that_cannot_be_closed_twice_fails() -> None:
    with pytest.raises(RuntimeError, match="closed already"):
        check_source(ClosesOnce)


def test_too_few_frames_are_refused() -> None:
    with pytest.raises(ValueError, match="frames must be at least 8, got 7"):
        check_source(Good, frames=7)


def lines(path: Path) -> int:
    return len(path.read_text().splitlines()) - 1


class Early(StatsCsv):
    """Creates its file at once."""

    def __init__(self, path: Path, *, force: bool = False) -> None:
        super().__init__(path, force=True)
        path.touch()


class Overwrites(StatsCsv):
    def __init__(self, path: Path, *, force: bool = False) -> None:
        super().__init__(path, force=True)


class NoCheck(Sink):
    """Takes any path."""

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self.path, self.force, self.rows = path, force, ["header"]

    def write(self, result: Result) -> None:
        if len(self.rows) == 1 and self.path.exists() and not self.force:
            raise SinkError("too late")
        self.rows.append("row")
        self.path.write_text("\n".join(self.rows))


class Loses(StatsCsv):
    def write(self, result: Result) -> None:
        if result.packet.index != 3:
            super().write(result)


class Draws(StatsCsv):
    def write(self, result: Result) -> None:
        result.packet.frame[:] = 0
        super().write(result)


class Litters(StatsCsv):
    def write(self, result: Result) -> None:
        super().write(result)
        self._file.path.with_name("more.txt").touch()


class OneThread(StatsCsv):
    any_thread = True

    def __init__(self, path: Path, *, force: bool = False) -> None:
        import threading

        super().__init__(path, force=force)
        self.thread = threading.current_thread()

    def write(self, result: Result) -> None:
        import threading

        if threading.current_thread() is not self.thread:
            raise RuntimeError("another thread")
        super().write(result)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Early, "a sink that got no result must create nothing"),
        (Overwrites, "an existing output must be refused by a SinkError"),
        (NoCheck, "an existing output must be refused by a SinkError when the sink is made"),
        (Loses, "12 results were written, 11 can be read"),
        (Draws, "write must change neither frame nor mask"),
        (Litters, "only output.csv may be left behind"),
        (OneThread, "any_thread is true, but write fails on another thread"),
    ],
)
def test_sink_that_breaks_the_contract_is_named(kind: Callable[..., Sink], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_sink(kind, lines, name="output.csv")


def test_unreadable_output_is_named() -> None:
    with pytest.raises(AssertionError, match="the output cannot be read: KeyError"):
        check_sink(StatsCsv, lambda path: {}["gone"])
