"""The scripts in samples/ run as they stand, and their classes keep the contracts that they claim to keep."""

import json
import runpy
from pathlib import Path

import pytest

from bgsub.testing import check_detector, check_sink
from tests.video.moving_square import write_video

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
SCRIPTS = {path.name for path in SAMPLES.glob("*.py")}


def define(name):
    """Return what a script defines, without running it."""
    return runpy.run_path(str(SAMPLES / name), run_name="sample")


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Return a function that runs a script on a short video and returns its output."""
    video = write_video(tmp_path / "square.mkv", count=70, size=(96, 160), empty=30)
    monkeypatch.chdir(tmp_path)

    def run(name, *arguments):
        path = str(SAMPLES / name)
        monkeypatch.setattr("sys.argv", [path, *(arguments or (str(video),))])
        runpy.run_path(path, run_name="__main__")
        return capsys.readouterr().out

    return run


def test_every_script_is_tested_here():
    assert {"camera_boxes.py", "drop_in.py", "learners.py", "own_detector.py", "own_sink.py", "track.py"} == SCRIPTS


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_scripts_are_short_and_run_on_the_bundled_clip_by_default(name):
    text = (SAMPLES / name).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 55
    assert name == "learners.py" or 'Path(__file__).with_name("walkers.mp4")' in text


def test_drop_in_prints_the_foreground(run):
    output = run("drop_in.py")
    assert "frame 0: 0.0% foreground" in output
    assert "70 frames; the mean colour of the background (BGR) is [" in output


def test_a_video_that_cannot_be_opened_ends_the_drop_in_with_a_message(run):
    with pytest.raises(SystemExit, match=r"cannot open nowhere\.mp4"):
        run("drop_in.py", "nowhere.mp4")


def test_own_detector_keeps_the_contract_and_finds_the_square(run):
    output = run("own_detector.py")
    assert "FrameDifference keeps the contract of a detector" in output
    assert "70 frames, 0." in output


def test_a_detector_that_breaks_the_contract_fails_the_check():
    found = define("own_detector.py")["FrameDifference"]

    class WritesWhileScoring(found):
        name = "writes"

        def _score(self, frame):
            score = super()._score(frame)
            self._arrays["last"][:] = frame
            return score

    with pytest.raises(AssertionError):
        check_detector(WritesWhileScoring)


def test_own_sink_writes_the_boxes_of_every_frame(run, tmp_path):
    run("own_sink.py")
    lines = [json.loads(line) for line in (tmp_path / "boxes.jsonl").read_text().splitlines()]
    assert [line["frame"] for line in lines] == list(range(1, 71))
    assert [len(line["boxes"]) for line in (lines[20], lines[60])] == [0, 1]
    x, y, width, height = lines[60]["boxes"][0]
    assert abs(x + width / 2 - (2 * 60 + 6)) < 4
    assert abs(y + height / 2 - 22) < 4


def test_own_sink_keeps_the_contract():
    check_sink(define("own_sink.py")["BoxLines"], lambda path: len(path.read_text().splitlines()))


def test_camera_boxes_follows_one_object_under_one_id(run):
    lines = run("camera_boxes.py").splitlines()
    assert len(lines) > 20
    assert all(": #1 " in line for line in lines)


def test_track_counts_one_object_that_crosses_the_middle(run):
    *lines, last = run("track.py").splitlines()
    assert len(lines) > 20
    assert all(line.startswith("#1 at (") for line in lines)
    assert last == "1 objects; {'left_to_right': 1, 'right_to_left': 0}"


def test_learners_predicts_and_keeps_its_bits_in_a_file(run):
    output = run("learners.py", "600")
    assert "600 samples: " in output
    assert output.endswith("the same bits after loading: True\n")


def test_scripts_leave_nothing_but_their_output(run, tmp_path):
    before = {path.name for path in tmp_path.iterdir()}
    for name in sorted(SCRIPTS - {"own_sink.py", "learners.py"}):
        run(name)
    run("learners.py", "100")
    assert {path.name for path in tmp_path.iterdir()} == before
