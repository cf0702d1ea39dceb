"""Fixtures for every test."""

import threading
import time
from collections.abc import Iterator

import pytest


def _ours() -> list[str]:
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith("bgsub-") and not name.startswith("bgsub-band")]


@pytest.fixture
def no_leaked_threads() -> Iterator[None]:
    """Fail when a thread of ours, other than the lasting band pool, outlives the test by 5 s."""
    yield
    deadline = time.monotonic() + 5
    while _ours() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _ours()
