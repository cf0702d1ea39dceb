"""The command line as a process of its own: entry points, signals, pipes, a full disk."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bgsub.errors import SourceError
from bgsub.video.sources import open_source
from tests.video.moving_square import write_images, write_video

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("compiled")]

posix = pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")

MODULE = (sys.executable, "-W", "error", "-m", "bgsub")


def run(*arguments: object, **settings: object) -> subprocess.CompletedProcess[str]:
    command = [str(argument) for argument in arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **settings)  # type: ignore[call-overload,no-any-return]


def test_installed_script(tmp_path: Path) -> None:
    script = shutil.which("bgsub", path=Path(sys.executable).parent)
    if script is None:
        pytest.skip("the package is not installed")
    video = write_video(tmp_path / "square.mkv", 12)
    done = run(script, "run", video, "-o", tmp_path / "mask.mkv", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["frames"] == 12
    assert run(script, "run", "none.mp4", "-o", "mask.mkv").returncode == 1
    assert run(script, "run").returncode == 2


def test_module(tmp_path: Path) -> None:
    video = write_video(tmp_path / "square.mkv", 12)
    done = run(*MODULE, "run", video, "-o", tmp_path / "mask.mkv")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("12 frames in ")


FULL_DISK = """
import resource, signal, sys
import numpy as np
import bgsub
from bgsub.cli import main
model = bgsub.create("norma", learn_every=8, warmup=0)  # the cache of compiled code must be written before
for _ in range(4):
    model.apply(np.zeros((48, 64, 3), np.uint8))
model.background_image()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.exit(main(sys.argv[2:]))
"""


@posix
@pytest.mark.parametrize(
    ("limit", "option", "name"),
    [
        (15_000, "-o", "mask.mkv"),
        (14_000, "--overlay", "overlay.mp4"),
        (1000, "--stats", "stats.csv"),
        (9000, "--save-model", "model.npz"),
        (200, "--background", "background.png"),
    ],
)
def test_full_disk_is_one_line(tmp_path: Path, limit: int, option: str, name: str) -> None:
    output = tmp_path / name
    scene = "synthetic:walkers?frames=90&size=64x48"
    detector = ("--detector", "norma", "--set", "warmup=0", "--raw")
    done = run(sys.executable, "-c", FULL_DISK, limit, "run", scene, option, output, *detector)
    assert done.returncode == 1, done.stdout
    assert done.stderr.startswith("bgsub: error: cannot write ")
    assert done.stderr.count("\n") == 1
    assert str(output) in done.stderr
    assert "free space" in done.stderr
    if output.suffix in (".png", ".npz"):
        assert not list(tmp_path.iterdir())
    elif output.suffix == ".csv":
        lines = output.read_text().splitlines(keepends=True)
        assert len(lines) > 5
        assert all(line.endswith("\n") and line.count(",") == 5 for line in lines)
    else:
        count = 0
        with open_source(output) as written, contextlib.suppress(SourceError):
            for _ in written:
                count += 1
        assert 5 < count < 90


@posix
def test_reader_that_leaves_early_hears_no_complaint() -> None:
    with subprocess.Popen([*MODULE, "detectors"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_opencv_is_silent_about_what_the_error_says(tmp_path: Path) -> None:
    images = write_images(tmp_path / "images", 2)
    (images / "in000002.png").write_bytes((images / "in000001.png").read_bytes()[:300])
    environment = {name: value for name, value in os.environ.items() if name != "OPENCV_LOG_LEVEL"}
    done = run(*MODULE, "run", images, "-o", tmp_path / "mask.mkv", env=environment)
    assert done.returncode == 1
    assert done.stderr.startswith("bgsub: error: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.usefixtures("no_leaked_threads")
def test_camera_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    done = run(*MODULE, "run", "camera:77", "-o", tmp_path / "mask.mkv")
    assert done.returncode == 1
    assert done.stderr.startswith("bgsub: error: cannot open camera:77")
    assert done.stderr.count("\n") == 1
