"""Images for regions of interest and ground truth are read with the checks of frames: named, limited, explained."""

import shutil
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.errors import BgsubError, ConfigError, DatasetError
from bgsub.evaluation import find_sequences
from bgsub.roi import open_region
from tests.command import bgsub
from tests.video.moving_square import SIZE, square_mask, write_images, write_video
from tests.video.sources.test_frame_limit import png


def read_region(path: Path) -> None:
    open_region(str(path)).mask(SIZE)


def read_truth(path: Path) -> None:
    folder = path.parent / "sequence"
    (folder / "groundtruth").mkdir(parents=True, exist_ok=True)
    write_images(folder / "input", 1)
    shutil.copy(path, folder / "groundtruth" / "gt000001.png")
    find_sequences(folder)[0].read_labels(1, SIZE)


def read_frame(path: Path) -> None:
    folder = path.parent / "sequence"
    for name in ("input", "groundtruth"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / name / "in000001.png")
    find_sequences(folder)[0].read_input(1)


def read_scored_part(path: Path) -> None:
    folder = path.parent / "sequence"
    folder.mkdir()
    for name in ("input", "groundtruth"):
        write_images(folder / name, 1)
    shutil.copy(path, folder / "ROI.bmp")
    find_sequences(folder)[0].read_roi(SIZE)


READERS = [
    (read_region, ConfigError),
    (read_truth, DatasetError),
    (read_frame, DatasetError),
    (read_scored_part, DatasetError),
]
readers = pytest.mark.parametrize(("reader", "error"), READERS)


@readers
@pytest.mark.parametrize("side", [30_000, 60_000])
def test_an_image_that_claims_too_many_pixels_is_refused_early(
    tmp_path: Path, reader: Callable[[Path], None], error: type[BgsubError], side: int
) -> None:
    path = tmp_path / "in000001.png"
    path.write_bytes(png(side, side))
    tracemalloc.start()
    try:
        with pytest.raises(error, match=rf"(in000001\.png|ROI\.bmp|gt000001\.png) are {side}x{side}, more than"):
            reader(path)
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()


@readers
@pytest.mark.parametrize("data", [b"", b"no image", png(64, 48)[:40]])
def test_a_damaged_image_is_named(
    tmp_path: Path, reader: Callable[[Path], None], error: type[BgsubError], data: bytes
) -> None:
    path = tmp_path / "in000001.png"
    path.write_bytes(data)
    with pytest.raises(error, match=r"(in000001\.png|ROI\.bmp|gt000001\.png) is not a readable image"):
        reader(path)


def test_a_chunk_that_states_gigabytes_takes_no_memory(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = tmp_path / "in000001.png"
    whole = cv2.imencode(".png", square_mask(0))[1].tobytes()
    at = whole.index(b"IDAT") - 4
    path.write_bytes(whole[:at] + b"\x7f\xff\xff\xf0" + whole[at + 4 :])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ConfigError, match="is not a readable image"):
        read_region(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # kB; bytes on macOS


@readers
def test_an_image_that_opencv_refuses_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Callable[[Path], None], error: type[BgsubError]
) -> None:
    monkeypatch.setenv("BGSUB_MAX_FRAME_PIXELS", str(10**12))
    path = tmp_path / "in000001.png"
    path.write_bytes(png(60_000, 60_000))
    with pytest.raises(error, match=r"is not a readable image"):
        reader(path)


def test_a_region_image_with_any_letters_in_its_name_is_read(tmp_path: Path) -> None:
    path = tmp_path / "Gebäude 東.png"
    path.write_bytes(cv2.imencode(".png", square_mask(0))[1].tobytes())
    np.testing.assert_array_equal(open_region(str(path)).mask(SIZE), square_mask(0))


@pytest.mark.skipif(sys.platform == "win32", reason="has no such device")
@pytest.mark.parametrize("option", ["--config", "--roi"])
def test_a_device_without_end_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str) -> None:
    video = write_video(tmp_path / "v.mkv", 3)
    assert bgsub("run", video, "-o", tmp_path / "m.mkv", option, "/dev/zero") == 1
    line = capsys.readouterr().err
    assert "/dev/zero" in line
    assert "unexpected" not in line


def test_a_settings_file_is_limited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "long.toml"
    path.write_text('detector = "norma"\n#' + "x" * 2**20)
    assert bgsub("config", "--config", path) == 1
    assert "long.toml is not a valid settings file: it is larger than 1048576 bytes" in capsys.readouterr().err


def test_a_region_file_is_limited(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    path.write_text('{"include": []}' + " " * 2**24)
    with pytest.raises(ConfigError, match=r"long\.json: it is larger than 16777216 bytes"):
        open_region(str(path))


def test_an_interval_is_limited(tmp_path: Path) -> None:
    for name in ("input", "groundtruth"):
        write_images(tmp_path / name, 2)
    (tmp_path / "temporalROI.txt").write_text("1 2" + " " * 2**16)
    with pytest.raises(DatasetError, match=r"temporalROI\.txt must hold two frame numbers"):
        find_sequences(tmp_path)
