"""Frames that are too large are refused by name, before they take memory."""

import struct
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bgsub._input.frame_size import image_size
from bgsub._opencv import cv2
from bgsub.errors import ConfigError, SourceError
from bgsub.video.sources import open_source
from tests.video.moving_square import write_images, write_video


def png(width: int, height: int) -> bytes:
    """Return a small PNG that claims a size and holds almost no pixels."""
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(bytes(100))),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".bmp", ".tif", ".ppm", ".pgm"])
@pytest.mark.parametrize("size", [(48, 64), (7, 301)])
def test_the_header_gives_the_size(suffix: str, size: tuple[int, int]) -> None:
    shape = size if suffix == ".pgm" else (*size, 3)
    done, data = cv2.imencode(suffix, np.zeros(shape, np.uint8))
    assert done
    assert image_size(data.tobytes()) == size


@pytest.mark.parametrize(
    "start", [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"\xff\xd8ab", b"BM", b"II*\0\xff", b"P5 a"]
)
def test_a_damaged_header_gives_no_size(start: bytes) -> None:
    assert image_size(start) is None


@pytest.mark.parametrize("side", [30_000, 60_000])
def test_an_image_that_claims_too_many_pixels_is_refused(tmp_path: Path, side: int) -> None:
    folder = write_images(tmp_path / "i", 3)
    (folder / "in000002.png").write_bytes(png(side, side))
    with open_source(folder) as source:
        assert source.read() is not None
        tracemalloc.start()
        try:
            with pytest.raises(SourceError, match=rf"in000002\.png are {side}x{side}.*BGSUB_MAX_FRAME_PIXELS"):
                source.read()
            assert tracemalloc.get_traced_memory()[1] < 10e6
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("side", [30_000, 60_000])
def test_a_single_image_that_claims_too_many_pixels_is_refused(tmp_path: Path, side: int) -> None:
    path = tmp_path / "large.png"
    path.write_bytes(png(side, side))
    with pytest.raises(SourceError, match=rf"large\.png are {side}x{side}.*BGSUB_MAX_FRAME_PIXELS"):
        open_source(path)


def test_an_image_that_opencv_refuses_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BGSUB_MAX_FRAME_PIXELS", str(10**12))
    folder = write_images(tmp_path / "i", 3)
    (folder / "in000002.png").write_bytes(png(60_000, 60_000))
    with open_source(folder) as source:
        assert source.read() is not None
        with pytest.raises(SourceError, match=r"in000002\.png is not a readable image"):
            source.read()


def test_the_limit_holds_for_videos_and_can_be_set(video: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = video("v.mkv", count=3)
    monkeypatch.setenv("BGSUB_MAX_FRAME_PIXELS", str(48 * 64))
    assert len(list(open_source(path))) == 3
    monkeypatch.setenv("BGSUB_MAX_FRAME_PIXELS", str(48 * 64 - 1))
    with pytest.raises(SourceError, match=r"v\.mkv are 64x48, more than 3071 pixels"):
        open_source(path)
    monkeypatch.setenv("BGSUB_MAX_FRAME_PIXELS", "many")
    with pytest.raises(ConfigError, match="BGSUB_MAX_FRAME_PIXELS must be a positive whole number, got 'many'"):
        open_source(path)


def test_frames_that_become_too_large_are_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [
        write_video(tmp_path / f"{size[0]}.mjpg", 5, size, "mjpeg", "yuvj420p").read_bytes()
        for size in ((48, 64), (480, 640))
    ]
    path = tmp_path / "both.mjpg"
    path.write_bytes(b"".join(parts))
    monkeypatch.setenv("BGSUB_MAX_FRAME_PIXELS", "100000")
    with open_source(path) as source, pytest.raises(SourceError, match="is damaged after frame 5"):
        list(source)
