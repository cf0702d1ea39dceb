"""Fixtures that need a folder or the real clips."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.video.moving_square import write_video


@pytest.fixture
def video(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a video of the moving square and gives its path."""

    def make(name: str = "square.mkv", **settings: object) -> Path:
        return write_video(tmp_path / name, **settings)

    return make


@pytest.fixture
def clips() -> list[Path]:
    """Return the real clips, or skip."""
    default = Path(__file__).parents[2].parent / "shared" / "data"
    folder = Path(os.environ.get("BGSUB_DATA", default)) / "video"
    if not folder.is_dir():
        pytest.skip("no real clips: set BGSUB_DATA to the data folder")
    return sorted(path for path in folder.iterdir() if path.suffix in (".avi", ".mp4"))
