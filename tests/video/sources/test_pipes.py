"""Pipes are read once, from their start; devices are refused for the right reason."""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from bgsub.errors import SourceError
from bgsub.video.sources import open_source

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes have no names in folders")


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Callable[[bytes], Path]]:
    """Return a function that gives the path of a pipe through which the data come."""
    path, threads = tmp_path / "pipe", []

    def send(data: bytes) -> Path:
        os.mkfifo(path)
        threads.append(threading.Thread(target=path.write_bytes, args=(data,)))
        threads[0].start()
        return path

    yield send
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("name", ["v.mkv", "v.ts"])
def test_a_pipe_is_read_like_the_file(video: Callable[..., Path], pipe: Callable[[bytes], Path], name: str) -> None:
    path = video(name, codec="libx264", pixels="yuv420p")
    with open_source(path) as source:
        expected = list(source)
    with open_source(pipe(path.read_bytes())) as source:
        packets = list(source)
    assert [packet.time_s for packet in packets] == [packet.time_s for packet in expected]
    assert all(np.array_equal(one.frame, other.frame) for one, other in zip(packets, expected, strict=True))


def test_a_part_of_a_pipe_is_decoded_from_its_start(video: Callable[..., Path], pipe: Callable[[bytes], Path]) -> None:
    with open_source(pipe(video().read_bytes()), start=11, end="0.48s") as source:
        assert [packet.number for packet in source] == [11, 12, 13]


@pytest.mark.parametrize("data", [b"", b"no video " * 1000])
def test_a_pipe_without_a_video_is_refused(pipe: Callable[[bytes], Path], data: bytes) -> None:
    with pytest.raises(SourceError, match=r"cannot open .*pipe: .*no video"):
        open_source(pipe(data))


def test_a_device_is_no_file() -> None:
    with pytest.raises(SourceError, match="/dev/null is neither a file nor a pipe"):
        open_source("/dev/null")
