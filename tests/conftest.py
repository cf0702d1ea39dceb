"""Fixtures for every test."""

import gc
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

# Compiled functions carry a digest of their sources in their names, but not how they were compiled. All processes of a
# run share one cache. Set before numba is imported.
_ROOT = Path(__file__).resolve().parents[1]
_FLAGS = "".join(f"-{name[6:].lower()}" for name in ("NUMBA_BOUNDSCHECK",) if os.environ.get(name) == "1")
os.environ.setdefault("NUMBA_CACHE_DIR", str(_ROOT / ".pytest_cache" / f"numba{_FLAGS}"))

# There are as many processes as processors: more threads only wait for each other, a seventh of the time of learners.
# Set before numpy is imported, which reads it then.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup the processes that tests start would ignore it, too
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a job in the background

if os.environ.get("NUMBA_DISABLE_JIT") == "1":
    from tests.overlap import check_plain_functions

    check_plain_functions()


def pytest_collection_finish() -> None:
    """Keep what lasts, modules and ten thousand tests, from being looked through for garbage all the time."""
    gc.collect()
    gc.freeze()


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


@pytest.fixture(scope="session")
def compiled() -> None:
    """Compile all that runs of the default detector need, so that they report no compiling."""
    from bgsub.warmup import warm_up

    warm_up()
