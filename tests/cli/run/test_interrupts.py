"""Runs that end early: by signals, once and again, and without any warning. What they leave, and what they say."""

import itertools
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import bgsub as library
from bgsub._opencv import cv2
from bgsub.errors import SinkError
from bgsub.video.sources import open_source
from tests.command import bgsub

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="has no such signals"),
]

SCENE = "synthetic:walkers?frames=1000000&size=64x48"
COMPLETE = "bgsub: interrupted; outputs written so far are closed and complete\n"

Start = Callable[..., "subprocess.Popen[str]"]

SLOW_SAVE = """
import sys, time
from pathlib import Path
import bgsub.detectors.model_file as model_file
write = model_file.write
def slowly(path, model):
    Path("saving").touch()
    time.sleep({seconds})
    write(path, model)
model_file.write = slowly
from bgsub.cli import main
sys.exit(main())
"""


@pytest.fixture
def start(tmp_path: Path, compiled: None) -> Iterator[Start]:
    """Return a function that starts a command in the temporary folder, in a session of its own."""
    running = []

    def begin(*arguments: object, code: str | None = None, ignored: int | None = None) -> "subprocess.Popen[str]":
        def prepare() -> None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a job in the background ignores it
            if ignored is not None:
                signal.signal(ignored, signal.SIG_IGN)

        program = ["-m", "bgsub"] if code is None else ["-c", code]
        process = subprocess.Popen(
            [sys.executable, "-W", "error", *program, *map(str, arguments)],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=prepare,
        )
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()


def wait_for(condition: Callable[[], object], process: "subprocess.Popen[str]", timeout_s: float = 60) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


def rows(path: Path) -> int:
    return len(path.read_text().splitlines()) - 1 if path.exists() else 0


def frames(path: Path) -> int:
    with open_source(path) as source:
        return len(list(source))


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signal_closes_every_output_after_the_same_frame(tmp_path: Path, start: Start, name: str) -> None:
    number = getattr(signal, name)
    outputs = [
        "-o",
        "m.mkv",
        "--overlay",
        "o.mp4",
        "--background",
        "b.png",
        "--stats",
        "s.csv",
        "--save-model",
        "g.npz",
    ]
    process = start("run", SCENE, *outputs)
    wait_for(lambda: rows(tmp_path / "s.csv") > 20, process)
    process.send_signal(number)
    out, error = process.communicate(timeout=20)
    assert (process.returncode, out, error) == (128 + number, "", COMPLETE)
    count = rows(tmp_path / "s.csv")
    assert frames(tmp_path / "m.mkv") == frames(tmp_path / "o.mp4") == count
    assert library.load(tmp_path / "g.npz").frames_seen == count
    assert cv2.imread(str(tmp_path / "b.png")) is not None
    assert sorted(file.name for file in tmp_path.iterdir()) == ["b.png", "g.npz", "m.mkv", "o.mp4", "s.csv"]


def test_signal_before_the_first_frame_leaves_nothing(tmp_path: Path, start: Start) -> None:
    code = (
        "import sys, time, bgsub.video.sources as sources\n"
        "from pathlib import Path\n"
        "def wait(*_, **__):\n"
        "    Path('opening').touch()\n"
        "    time.sleep(60)\n"
        "sources.open_source = wait\n"
        "from bgsub.cli import main\n"
        "sys.exit(main())\n"
    )
    process = start("run", SCENE, "-o", "m.mkv", code=code)
    wait_for((tmp_path / "opening").exists, process)
    process.terminate()
    assert process.communicate(timeout=20) == ("", "bgsub: interrupted\n")
    assert process.returncode == 128 + signal.SIGTERM
    assert [file.name for file in tmp_path.iterdir()] == ["opening"]


def test_hang_up_is_ignored_under_nohup(tmp_path: Path, start: Start) -> None:
    process = start("run", SCENE, "--stats", "s.csv", ignored=signal.SIGHUP)
    wait_for(lambda: rows(tmp_path / "s.csv") > 5, process)
    process.send_signal(signal.SIGHUP)
    before = rows(tmp_path / "s.csv")
    wait_for(lambda: rows(tmp_path / "s.csv") > before + 50, process)


def test_second_signal_names_what_is_not_complete(tmp_path: Path, start: Start) -> None:
    process = start(
        "run", SCENE, "-o", "m.mkv", "--stats", "s.csv", "--save-model", "g.npz", code=SLOW_SAVE.format(seconds=30)
    )
    wait_for(lambda: rows(tmp_path / "s.csv") > 20, process)
    process.send_signal(signal.SIGINT)
    wait_for((tmp_path / "saving").exists, process)
    time.sleep(1.2)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20) == ("", "bgsub: interrupted; not complete: g.npz\n")
    assert process.returncode == 128 + signal.SIGINT
    assert frames(tmp_path / "m.mkv") == rows(tmp_path / "s.csv")
    assert not (tmp_path / "g.npz").exists()


def test_signals_in_quick_succession_are_one(tmp_path: Path, start: Start) -> None:
    process = start("run", SCENE, "--stats", "s.csv", "--save-model", "g.npz", code=SLOW_SAVE.format(seconds=1))
    wait_for(lambda: rows(tmp_path / "s.csv") > 20, process)
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGHUP):  # as the shell and `timeout` send them
        process.send_signal(number)
    assert process.communicate(timeout=20) == ("", COMPLETE)
    assert process.returncode in {128 + signal.SIGHUP, 128 + signal.SIGTERM}  # whichever the system delivers first
    assert library.load(tmp_path / "g.npz").frames_seen == rows(tmp_path / "s.csv")


def test_first_signal_while_closing_lets_it_finish(tmp_path: Path, start: Start) -> None:
    scene = "synthetic:walkers?frames=30&size=64x48"
    process = start("run", scene, "--stats", "s.csv", "--save-model", "g.npz", code=SLOW_SAVE.format(seconds=2))
    wait_for((tmp_path / "saving").exists, process)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20) == ("", COMPLETE)
    assert process.returncode == 130
    assert library.load(tmp_path / "g.npz").frames_seen == rows(tmp_path / "s.csv") == 30


def test_interrupted_evaluation_names_the_reports_it_lacks(tmp_path: Path, start: Start) -> None:
    assert bgsub("sample", tmp_path / "data", "--frames", 4, "--size", "64x48") == 0
    code = (
        "import sys, time, bgsub.cli\n"
        "from pathlib import Path\n"
        "measure = sys.modules['bgsub.cli.evaluate']\n"
        "def slowly(*_):\n"
        "    Path('saving').touch()\n"
        "    time.sleep(30)\n"
        "measure.write_text = slowly\n"
        "from bgsub.cli import main\n"
        "sys.exit(main())\n"
    )
    process = start("evaluate", "data", "-d", "mog2", "--json", "r.json", "--csv", "r.csv", code=code)
    wait_for((tmp_path / "saving").exists, process)
    for _ in range(10):  # the second ends it, but on a busy machine two may come to it as one
        process.send_signal(signal.SIGTERM)
        time.sleep(1.2)
        if process.poll() is not None:
            break
    assert process.communicate(timeout=20)[1] == "bgsub: interrupted; not complete: r.json, r.csv\n"
    assert process.returncode == 128 + signal.SIGTERM


def test_kill_loses_what_was_learned_since_the_last_save(tmp_path: Path, start: Start) -> None:
    model = tmp_path / "g.npz"
    process = start("run", SCENE, "--save-model", model, "--save-every", 0.02, "--stats", "s.csv")
    wait_for(model.exists, process)
    first = library.load(model).frames_seen
    wait_for(lambda: library.load(model).frames_seen > first, process)
    process.kill()
    process.wait()
    seen, written = library.load(model).frames_seen, rows(tmp_path / "s.csv")
    assert first < seen <= written + 1
    assert {file.name for file in tmp_path.iterdir()} - {".g.npz.lock"} == {"g.npz", "s.csv"}
    assert bgsub("run", SCENE.replace("1000000", "3"), "--load-model", model, "--save-model", model, "-f", "-q") == 0
    assert library.load(model).frames_seen == seen + 3
    assert sorted(file.name for file in tmp_path.iterdir()) == ["g.npz", "s.csv"]


def test_model_is_saved_only_at_the_end_if_asked(tmp_path: Path, start: Start) -> None:
    process = start("run", SCENE, "--save-model", "g.npz", "--save-every", 0, "--stats", "s.csv")
    wait_for(lambda: rows(tmp_path / "s.csv") > 200, process)
    assert not (tmp_path / "g.npz").exists()


@pytest.mark.parametrize(
    "outputs",
    [
        {"-o": "m.mkv", "--save-model": "g.npz", "--background": "b.png", "--stats": "s.csv"},
        {"-o": "bins", "--stats": "s.csv"},
    ],
)
def test_second_run_on_an_output_is_refused(
    tmp_path: Path, start: Start, capsys: pytest.CaptureFixture[str], outputs: dict[str, str]
) -> None:
    short = SCENE.replace("1000000", "3")
    paths = {option: tmp_path / name for option, name in outputs.items()}
    first = start("run", SCENE, *itertools.chain(*paths.items()), "--save-every", 0, "--json")
    wait_for(lambda: rows(tmp_path / "s.csv") > 2, first)  # each output is locked with the first result
    for option, path in paths.items():
        for force in ([], ["--force"]):
            assert bgsub("run", short, option, path, "-q", *force) == 1
            assert re.fullmatch(rf"bgsub: error: .*{path.name}.*another run is writing it.*\n", capsys.readouterr().err)
    first.kill()
    first.wait()
    for option, path in paths.items():
        assert bgsub("run", short, option, path, "-q", "--force") == 0
    assert not [file for file in tmp_path.glob("**/.*") if file.is_file()]


def test_models_of_links_and_special_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = SCENE.replace("1000000", "3")
    for option, ending in (("--save-model", ".npz"), ("--background", ".png")):
        (tmp_path / "data").mkdir(exist_ok=True)
        link, target = tmp_path / f"latest{ending}", tmp_path / "data" / f"today{ending}"
        link.symlink_to(target)
        for force in ([], ["--force"]):
            assert bgsub("run", scene, option, link, "-q", *force) == 0
            assert link.is_symlink()
            assert target.is_file()
        pipe = tmp_path / f"pipe{ending}"
        os.mkfifo(pipe)
        assert bgsub("run", scene, option, pipe, "-q", "--force") == 1
        assert f"{pipe}: it is a pipe, a socket or a device" in capsys.readouterr().err
        assert pipe.is_fifo()
    assert sorted(file.name for file in (tmp_path / "data").iterdir()) == ["today.npz", "today.png"]


@pytest.mark.parametrize("arguments", [["detectors"], ["--help"], ["run", SCENE.replace("1000000", "3"), "--json"]])
@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="has no device that is always full")
def test_full_standard_output_is_one_line(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "bgsub", *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert done.stderr == (
        "bgsub: error: cannot write to the standard output: No space left on device; write to another disk\n"
    )


def test_failed_save_in_between_ends_the_run(tmp_path: Path) -> None:
    class Broken:
        def save(self, path: Path) -> None:
            raise SinkError("full")

    from bgsub.frames import Packet, Result
    from bgsub.video.sinks import SavedModel

    mask = np.zeros((4, 4), np.uint8)
    saved: list[Path] = []
    sink = SavedModel(tmp_path / "g.npz", saved.append, snapshot=Broken, interval_s=0.001)

    def write_for_long() -> None:
        for index in range(1000):
            sink.write(Result(Packet(index, index / 25, mask, index + 1), mask))
            time.sleep(0.001)

    with pytest.raises(SinkError, match="full"):
        write_for_long()
    sink.close()
    assert saved == [tmp_path / "g.npz"]
