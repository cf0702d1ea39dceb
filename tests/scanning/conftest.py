"""Small recordings for the tests of scans."""

from pathlib import Path

import pytest

from bgsub.scanning import scan
from tests.scanning.made import outputs, settings, write

MOVING = [(80, 110), (200, 240), (390, 420)]
"""First and last frames of what moves."""


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a minute in one file, in which something moves three times."""
    return write(tmp_path_factory.mktemp("whole") / "whole.mkv", range(1, 601), MOVING)


@pytest.fixture(scope="session")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the same minute in six files; two events span files."""
    folder = tmp_path_factory.mktemp("pieces")
    for i in range(6):
        write(folder / f"{8 + i}.mkv", range(1 + 100 * i, 101 + 100 * i), MOVING)
    return folder


@pytest.fixture(scope="session")
def outputs_of_pieces(pieces: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return what a scan of these files writes that nothing interrupts."""
    folder = tmp_path_factory.mktemp("of pieces") / "out"
    scan([pieces], folder, settings())
    return outputs(folder)
