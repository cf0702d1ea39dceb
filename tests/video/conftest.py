"""Fixtures that need a folder or the real clips."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data import shared_data
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
    folder = shared_data() / "video"
    return sorted(path for path in folder.iterdir() if path.suffix in (".avi", ".mp4"))
