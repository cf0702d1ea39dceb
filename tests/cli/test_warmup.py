"""Compiling is reported, left out of the times per frame, and can be done ahead."""

import csv
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import bgsub.warmup
from bgsub._numba import JIT_ENABLED
from tests.command import bgsub as command
from tests.command import python

pytestmark = pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled under NUMBA_DISABLE_JIT")

# Only the median after it is compiled for this detector, which takes a second.
RUN = ("run", "synthetic:easy?frames=20&size=64x48", "--detector", "mog2")
SOURCE = "synthetic:walkers?frames=120&size=160x120"
NOTICE = "bgsub: compiling, which takes up to a minute and happens once per installation\n"


def run(cache: Path, *arguments: object, before: str = "") -> subprocess.CompletedProcess[str]:
    code = f"{before}\nimport sys; from bgsub.cli import main; sys.exit(main(sys.argv[1:]))"
    return python(code, *arguments, NUMBA_CACHE_DIR=str(cache))


@pytest.mark.slow
def test_first_run_reports_that_it_compiles_and_keeps_it_out_of_the_times(tmp_path: Path) -> None:
    stats = tmp_path / "stats.csv"
    first = run(tmp_path / "cache", *RUN, "--json", "--stats", stats)
    assert first.stderr == NOTICE
    summary = json.loads(first.stdout)
    assert 0.05 < summary["startup_s"] < summary["first_mask_s"] < summary["elapsed_s"]
    with stats.open() as file:
        times_ms = [float(row["ms"]) for row in csv.DictReader(file)]
    assert sum(times_ms) < 500 * summary["startup_s"]
    assert run(tmp_path / "cache", *RUN, "--json").stderr == ""


@pytest.mark.slow
def test_quiet_run_reports_no_compiling(tmp_path: Path) -> None:
    assert run(tmp_path, *RUN, "--stats", tmp_path / "s.csv", "--quiet").stderr == ""


@pytest.mark.slow
def test_compiling_is_reported_where_no_folder_can_be_written(tmp_path: Path) -> None:
    unwritable = (
        "import numba.core.caching\n"
        "def refuse(*_): raise RuntimeError('no locator available')\n"
        "numba.core.caching.FunctionCache.__init__ = refuse"
    )
    done = run(tmp_path, *RUN, "--json", before=unwritable)
    assert done.stderr == NOTICE
    assert json.loads(done.stdout)["startup_s"] > 0.05


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no pseudo-terminals")
def test_terminal_shows_what_is_compiled(tmp_path: Path) -> None:
    import fcntl
    import termios

    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    words = [sys.executable, "-m", "bgsub", *RUN, "--stats", str(tmp_path / "s.csv")]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:  # the terminal's other side is closed
            pass
        finally:
            os.close(ours)
    assert process.returncode == 0
    text = shown.decode()
    assert "compiling, once per installation: median" in text
    last = text.rstrip().rpartition("\r")[2]
    assert "20/20" in last
    assert "compiling" not in last


@pytest.mark.slow
def test_warmup_leaves_nothing_to_compile(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = run(cache, "warmup", "mog2")
    assert first.stderr == NOTICE
    # the median, what helps with it, and objects: no detector of ours
    assert first.stdout.startswith("mog2 uint8: 5 functions compiled in ")
    assert str(cache) in first.stdout
    again = run(cache, "warmup", "mog2")
    assert again.stderr == ""
    assert again.stdout.startswith("mog2 uint8: compiled before\n")
    assert run(cache, *RUN, "--json").stderr == ""


# In a process of its own, since other tests compile for other types. Whether a function was compiled or found in the
# cache that the tests share makes no difference to what it is compiled for.
WHAT_RUNS_COMPILE = """
import gc, json, sys
from numba.core.dispatcher import Dispatcher
from bgsub.cli import main
from bgsub.warmup import warm_up

def compiled():
    dispatchers = (one for one in gc.get_objects() if isinstance(one, Dispatcher))
    return {f"{one.__module__}.{one.__name__}{types}" for one in dispatchers for types in one.overloads}

words = sys.argv[1:]
before = compiled()
warm_up(words[words.index("--detector") + 1])
warm = compiled()
for options in ((), ("--roi", "10,10 150,10 150,110", "--median", "5"), ("--learning-rate", "0.05", "--threads", "1")):
    assert main([*words, *options, "--force", "--quiet"]) == 0
print(json.dumps({"by warmup": sorted(warm - before), "by runs": sorted(compiled() - warm)}))
"""


# Pixels of the last one fill no whole number of blocks, which makes other types of views of them.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "source"),
    [
        *((name, SOURCE) for name in ("adaptive", "norma", "olk")),
        ("adaptive", "generated:ghost?standing=8&size=163x97&frames=300"),
    ],
)
def test_warmup_compiles_all_that_runs_need(tmp_path: Path, name: str, source: str) -> None:
    outputs = ("--stats", tmp_path / "s.csv", "--background", tmp_path / "b.png", "--overlay", tmp_path / "o.mp4")
    done = python(WHAT_RUNS_COMPILE, "run", source, "--detector", name, *outputs)
    compiled = json.loads(done.stdout.splitlines()[-1])
    assert len(compiled["by warmup"]) > 5
    assert compiled["by runs"] == []
    if name == "adaptive":  # waves, large frames and knocks at the camera need these
        names = {each.partition("(")[0].rpartition(".")[2].partition("-")[0] for each in compiled["by warmup"]}
        assert {"mark_unlike", "follow", "enlarge_rows", "take_grid", "add_border", "compare_shifted"} <= names


def test_warmup_where_nothing_can_be_kept_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Uncached:
        class stats:  # noqa: N801
            cache_path = None

    monkeypatch.setattr(bgsub.warmup, "median", Uncached)
    assert command("warmup", "adaptive") == 1
    assert "set NUMBA_CACHE_DIR" in capsys.readouterr().err


def test_warmup_of_an_unknown_detector_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("warmup", "adaptve") == 2
    assert "detector must be one of" in capsys.readouterr().err
