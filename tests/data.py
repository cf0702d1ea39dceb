"""Where the real sequences are, which are not part of the repository."""

import os
from pathlib import Path

import pytest


def shared_data() -> Path:
    """Return the folder of real sequences, or skip the test."""
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("BGSUB_DATA", root.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real sequences at {folder}; set BGSUB_DATA")
    return folder
