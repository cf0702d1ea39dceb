"""The list of cameras, from a copy of the files in which Linux lists them."""

import sys
from pathlib import Path

import pytest

from bgsub.video.list_cameras import FoundCamera, list_cameras

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not list their cameras")


def device(root: Path, number: int, index: str, name: str) -> None:
    folder = root / f"video{number}"
    folder.mkdir(parents=True)
    (folder / "index").write_text(index + "\n")
    (folder / "name").write_text(name + "\n")


def test_each_camera_is_listed_once_by_number(tmp_path: Path) -> None:
    device(tmp_path, 10, "0", "USB camera")
    device(tmp_path, 2, "0", "Built-in camera")
    device(tmp_path, 3, "1", "Built-in camera: metadata")
    (tmp_path / "video7").mkdir()
    assert list_cameras(tmp_path) == [FoundCamera(2, "Built-in camera"), FoundCamera(10, "USB camera")]


def test_no_camera_is_an_empty_list(tmp_path: Path) -> None:
    assert list_cameras(tmp_path / "missing") == []
