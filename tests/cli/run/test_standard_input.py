"""Standard input and pipes as sources of `bgsub run`, and what cannot be read twice."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bgsub.video.sources import open_source
from tests.command import bgsub
from tests.video.moving_square import write_video
from tests.watching.made import until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="pipes have no names in folders")]

COUNT = 20
H264 = {"codec": "libx264", "pixels": "yuv420p"}

NOTED = """
import sys
from pathlib import Path
import bgsub.video.sources as sources
open_source = sources.open_source
def noting(*arguments, **options):
    Path("opening").touch()
    return open_source(*arguments, **options)
sources.open_source = noting
from bgsub.cli import main
sys.exit(main())
"""


def run(*arguments: object, **settings: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "bgsub", *(str(argument) for argument in arguments)]
    return subprocess.run(command, capture_output=True, check=False, timeout=60, **settings)  # type: ignore[call-overload,no-any-return]


def frames(path: Path) -> int:
    with open_source(path) as source:
        return len(list(source))


@pytest.mark.parametrize(("source", "name"), [("-", "v.mkv"), ("/dev/stdin", "v.ts")])
def test_a_video_is_read_from_a_pipe(tmp_path: Path, name: str, source: str) -> None:
    data = write_video(tmp_path / name, COUNT, **H264).read_bytes()
    done = run("run", source, "-o", tmp_path / "m.mkv", "--start", 3, input=data)
    assert (done.returncode, done.stderr) == (0, b"")
    assert frames(tmp_path / "m.mkv") == COUNT - 2


def test_a_redirected_file_is_read_like_a_file(tmp_path: Path) -> None:
    path = write_video(tmp_path / "v.mp4", COUNT, **H264)  # whose index stands behind the frames
    with path.open("rb") as file:
        done = run("run", "-", "-o", tmp_path / "m.mkv", "--two-pass", stdin=file)
    assert (done.returncode, done.stderr) == (0, b"")
    assert frames(tmp_path / "m.mkv") == COUNT
    before = path.read_bytes()
    with path.open("rb") as file:
        done = run("run", "-", "-o", tmp_path / "v.mp4", "--force", stdin=file)
    assert done.returncode == 1
    assert path.read_bytes() == before


def test_a_redirected_output_does_not_overwrite_the_input(tmp_path: Path) -> None:
    path = write_video(tmp_path / "v.mkv", COUNT)
    before = path.read_bytes()
    with path.open("rb") as file:
        done = run("run", "-", "-o", path, "--force", stdin=file)
    assert b"it is the input" in done.stderr
    assert path.read_bytes() == before


@pytest.mark.parametrize("data", [b"", b"no video " * 999])
def test_input_that_is_no_video_is_one_line(tmp_path: Path, data: bytes) -> None:
    done = run("run", "-", "-o", tmp_path / "m.mkv", input=data)
    assert done.returncode == 1
    assert done.stderr.startswith(b"bgsub: error: cannot open standard input: ")
    assert done.stderr.count(b"\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_terminal_is_no_video(tmp_path: Path) -> None:
    master, terminal = os.openpty()
    try:
        done = run("run", "-", "-o", tmp_path / "m.mkv", stdin=terminal)
    finally:
        os.close(terminal)
        os.close(master)
    assert done.returncode == 1
    assert b"standard input is a terminal; pipe a video into bgsub or give a file" in done.stderr


def test_the_length_of_a_matroska_pipe_is_verified_by_its_duration(tmp_path: Path) -> None:
    data = write_video(tmp_path / "v.mkv", 60, **H264).read_bytes()
    whole = run("run", "-", "--json", input=data)
    assert b'"end": "verified"' in whole.stdout
    short = run("run", "-", "--json", input=data[: len(data) // 2])
    assert b'"end": "verified"' not in short.stdout
    assert b"before the duration that it states" in short.stderr or short.returncode == 1


def test_two_passes_over_standard_input_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    data = write_video(tmp_path / "v.mkv", COUNT).read_bytes()
    done = run("run", "-", "-o", tmp_path / "m.mkv", "--two-pass", input=data)
    assert done.returncode == 2
    assert b"--two-pass needs a source that can be read twice, not standard input" in done.stderr
    assert not (tmp_path / "m.mkv").exists()


def test_two_passes_over_a_named_pipe_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = write_video(tmp_path / "v.mkv", 3).read_bytes()
    os.mkfifo(tmp_path / "pipe")
    thread = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(data,))
    thread.start()
    assert bgsub("run", tmp_path / "pipe", "-o", tmp_path / "m.mkv", "--two-pass") == 2
    thread.join()
    assert "--two-pass needs a source that can be read twice" in capsys.readouterr().err
    assert not (tmp_path / "m.mkv").exists()


@pytest.mark.parametrize("writes", [False, True], ids=["without a writer", "with a silent writer"])
def test_a_pipe_that_stays_silent_ends_by_a_signal(tmp_path: Path, writes: bool) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR) if writes else None
    process = subprocess.Popen([sys.executable, "-c", NOTED, "run", "pipe", "-o", "m.mkv"], cwd=tmp_path)
    try:
        until((tmp_path / "opening").exists)  # before, nothing handles a signal
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)
        process.terminate()
        assert process.wait(20) == 128 + signal.SIGTERM
    finally:
        process.kill()
        process.wait()
        if writer is not None:
            os.close(writer)
