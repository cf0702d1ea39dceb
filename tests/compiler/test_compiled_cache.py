"""A damaged or full cache of compiled code costs time, never a run."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bgsub._numba import JIT_ENABLED
from tests.command import python

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled under NUMBA_DISABLE_JIT"),
]

# One small function stands for all: what is cached, and how, does not depend on what it computes.
PROGRAM = """
import logging
logging.basicConfig(format="%(message)s")
import numpy as np
from bgsub._jit.majority import median
mask = np.zeros((9, 9), np.uint8)
mask[2:7, 2:7] = 255
smoothed = np.empty_like(mask)
median(0, 9, mask, 3, smoothed)
print(int(smoothed.sum()) // 255, sum(median.stats.cache_hits.values()))
"""
COMPILED, CACHED = "21 0\n", "21 1\n"


def run(folder: Path, before: str = "", after: str = "") -> tuple[str, str]:
    """Run the function in another process with its cache in a folder; return what it printed and logged."""
    done = python(before + PROGRAM + after, NUMBA_CACHE_DIR=str(folder))
    return done.stdout, done.stderr


# Another signature of the same function is compiled beside the one that was loaded.
ANOTHER = """
import sys
print("numba.typed.typeddict" in sys.modules)
median(0, 9, np.asfortranarray(mask), 3, smoothed)
print(int(smoothed.sum()) // 255, len(median.signatures), "numba.typed.typeddict" in sys.modules)
"""


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:30])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def scramble(path: Path) -> None:
    path.write_bytes(bytes(reversed(path.read_bytes())))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a good cache."""
    folder = tmp_path_factory.mktemp("good")
    assert run(folder) == (COMPILED, "")
    assert run(folder) == (CACHED, "")
    return folder


def test_loading_needs_no_compiler_and_leaves_it_working(filled: Path, tmp_path: Path) -> None:
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    assert run(tmp_path, after=ANOTHER) == (CACHED + "False\n21 2 True\n", "")


@pytest.mark.parametrize(("damage", "suffix"), [(truncate, ".nbi"), (empty, ".nbc"), (scramble, ".nbc")])
def test_damaged_cache_is_reported_once_and_replaced(
    filled: Path, tmp_path: Path, damage: Callable[[Path], None], suffix: str
) -> None:
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    files = [path for path in tmp_path.rglob("*") if path.suffix == suffix]
    assert files
    for path in files:
        damage(path)
    done, log = run(tmp_path)
    assert done == COMPILED
    assert log.count("\n") == 1
    assert f"cannot read the cache of compiled code in {tmp_path}" in log
    assert run(tmp_path) == (CACHED, "")


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit on file sizes")
def test_full_disk_is_reported_once(tmp_path: Path) -> None:
    limit = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
    )
    done, log = run(tmp_path, limit)
    assert done == COMPILED
    assert log.count("\n") == 1
    assert f"cannot write the cache of compiled code in {tmp_path}" in log
    assert "File too large" in log


def test_numba_without_its_private_cache_compiles_in_each_process(filled: Path) -> None:
    done, log = run(filled, "import numba.core.ccallback, numba.core.caching as place; del place.FunctionCache\n")
    assert done == COMPILED
    assert log.count("\n") == 1
    assert "lacks cannot import name 'FunctionCache'" in log
