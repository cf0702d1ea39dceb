"""`bgsub bench`, called as a function."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.command import bgsub
from tests.video.moving_square import write_video

pytestmark = pytest.mark.usefixtures("no_leaked_threads")

QUICK = ("--threads", 1, "--rounds", 1, "--quiet")


@pytest.fixture
def video(tmp_path: Path) -> Path:
    return write_video(tmp_path / "square.mkv", 30)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("street", "yard"):
        path = tmp_path / "data" / "town" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        assert bgsub("sample", path, "--frames", 8, "--size", "40x32", "--scene", "easy") == 0
    return tmp_path / "data"


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@pytest.mark.slow
def test_every_detector_is_measured_on_a_generated_scene(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    assert bgsub("bench", "--size", "64x48", *QUICK, "--json", path) == 0
    rows = read(path)["rows"]
    assert {"adaptive", "norma", "norma:learn_every=1", "olk:slots=8", "mog2", "knn"} <= {
        row["detector"] for row in rows
    }
    assert all(row["ms"] > 0 for row in rows)


def test_videos_and_data_sets_are_measured_together(
    video: Path, tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, table = tmp_path / "bench.json", tmp_path / "bench.csv"
    capsys.readouterr()
    command = ("bench", "--video", video, "--data", tree, "-d", "norma:slots=4,norma", "-d", "mog2", *QUICK)
    assert bgsub(*command, "--json", path, "--csv", table) == 0
    clips = ["square.mkv", "town/street", "town/yard"]
    rows = read(path)["rows"]
    assert [row["clip"] for row in rows] == [clip for clip in clips for _ in range(3)]
    assert [row["detector"] for row in rows] == ["norma:slots=4", "norma", "mog2"] * 3
    assert {tuple(row["size"]) for row in rows} == {(48, 64), (32, 40)}
    shown = capsys.readouterr()
    assert "geometric mean" in shown.out
    assert all(clip in shown.out for clip in clips)
    assert shown.err == ""
    with table.open(newline="") as file:
        assert [line["clip"] for line in csv.DictReader(file)] == [row["clip"] for row in rows]


def test_sizes_frames_and_start(video: Path, tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    options = ("--size", "32x24", "--size", "16x12", "--frames", 9, "--start", 4)
    assert bgsub("bench", "--video", video, "-d", "norma", *options, *QUICK, "--json", path) == 0
    found = read(path)
    assert [(clip["size"], clip["frames"], clip["first"]) for clip in found["clips"]] == [
        ([24, 32], 9, 4),
        ([12, 16], 9, 4),
    ]
    assert [mean["size"] for mean in found["means"]] == [[24, 32], [24, 32], [12, 16], [12, 16]]


def test_stages_are_printed_and_written(video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bench.json"
    assert bgsub("bench", "--video", video, "-d", "adaptive", "--stages", *QUICK, "--json", path) == 0
    stages = [row["stage"] for row in read(path)["stages"]]
    assert stages[:3] == ["decode", "convert", "detect"]
    assert stages[-2:] == ["objects", "write"]
    assert {"detect: score", "detect: final mask", "detect: update"} <= set(stages)
    assert "final mask" in capsys.readouterr().out
    assert bgsub("bench", "--video", video, "-d", "norma", *QUICK, "--json", path, "--force") == 0
    assert read(path)["stages"] == []


def test_videos_of_one_name_keep_their_paths(tmp_path: Path) -> None:
    videos = []
    for folder in ("left", "right"):
        (tmp_path / folder).mkdir()
        videos += ["--video", write_video(tmp_path / folder / "square.mkv", 3)]
    path = tmp_path / "bench.json"
    assert bgsub("bench", *videos, "-d", "mog2", *QUICK, "--json", path) == 0
    assert [clip["clip"] for clip in read(path)["clips"]] == [str(video) for video in videos[1::2]]


def test_ctrl_c_leaves_the_partial_table_and_files(
    video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bench.json"
    names = "mog2,tests.bench.models:Interrupted:after=60"  # 34 frames to warm up, then 6 turns and 2 frames
    assert bgsub("bench", "--video", video, "-d", names, "--threads", 1, "--rounds", 20, "--json", path) == 130
    shown = capsys.readouterr()
    assert "interrupted" in shown.err
    assert "square.mkv" in shown.out
    assert [row["turns"] for row in read(path)["rows"]] == [6, 6]


def test_ctrl_c_before_the_first_measurement_writes_nothing(
    video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bench.json"
    names = "tests.bench.models:Interrupted:after=3"
    assert bgsub("bench", "--video", video, "-d", names, *QUICK, "--json", path) == 130
    assert capsys.readouterr().out == ""
    assert not path.exists()


def test_a_missing_video_leaves_the_measurements_before(
    video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "missing.mkv"
    assert bgsub("bench", "--video", video, "--video", missing, "-d", "norma", *QUICK) == 1
    shown = capsys.readouterr()
    assert "square.mkv" in shown.out
    assert "missing.mkv" in shown.err
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("-d", "nothing"), 2, "must be one of"),
        (("-d", "norma:slot=1"), 2, "no parameter 'slot'"),
        (("-d", "no.module:Class"), 1, "cannot import no.module:Class"),
        (("-d", "tests.bench.models:Broken"), 2, "apply(frame)"),
        (("--data", "missing"), 1, "no data set at missing"),
        (("--video", "missing.mkv"), 1, "missing.mkv"),
        (("--size", "900000x900000"), 1, "more than"),
        (("--start", 3), 2, "--start applies to --video and --data"),
        (("--frames", 3), 2, "--frames applies to --video and --data"),
        (("--frames", 1, "--video", "missing.mkv"), 2, "--frames"),
        (("--rounds", 0), 2, "--rounds"),
        (("--threads", 5000), 2, "--threads"),
        (("--json", "no/such/folder/bench.json"), 1, "no folder"),
        (("--json", "same", "--csv", "same"), 1, "another output"),
    ],
)
def test_wrong_usage_is_explained_before_anything_is_measured(
    options: tuple[object, ...],
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    size = () if "--size" in options or "--video" in options else ("--size", "16x12")
    assert bgsub("bench", "--rounds", 1, "--threads", 1, *size, *options) == code
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.out == ""
    assert list(tmp_path.iterdir()) == []


def test_existing_files_are_kept_unless_forced(video: Path, tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    path.write_text("mine")
    command = ("bench", "--video", video, "-d", "mog2", *QUICK, "--json", path)
    assert bgsub(*command) == 1
    assert path.read_text() == "mine"
    assert bgsub(*command, "--force") == 0
    assert read(path)["rows"]
