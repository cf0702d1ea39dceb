"""Objects on the command line."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from bgsub._opencv import cv2
from tests.command import bgsub

pytestmark = pytest.mark.usefixtures("no_leaked_threads", "compiled")

WALKERS = "synthetic:walkers?frames=200"
GATE = ("--count-line", "gate=160,240,160,0")


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_summary_and_file_have_the_same_objects(tmp_path, capsys):
    out = tmp_path / "o.jsonl"
    left = "left=0,0 160,0 160,239 0,239"
    assert bgsub("run", WALKERS, "--objects", out, *GATE, "--region", left, "--object-area", "60:", "--json") == 0
    counts = json.loads(capsys.readouterr().out)["objects"]
    found = lines(out)
    assert len({one["id"] for one in found}) == counts["tracks"] > 1
    assert min(one["area"] for one in found) >= 60
    assert min(one["age"] for one in found) == 3
    assert {name for one in found for name in one["regions"]} == {"left"}
    assert all((one["centroid"][0] <= 160.5) == ("left" in one["regions"]) for one in found)
    assert -1 < min(one["score"] for one in found) <= max(one["score"] for one in found) <= 1
    left_counts = counts["regions"]["left"]
    assert left_counts["entered"] - left_counts["left"] == left_counts["inside"]


def test_crossings_are_counted_by_direction(tmp_path, capsys):
    rng = np.random.default_rng(0)
    for index in range(70):
        frame = rng.integers(60, 66, (120, 200), dtype=np.uint8)
        way = 5 * (index - 30)
        for left, top in ((way - 20, 20), (200 - way, 70)):  # from both sides, from the 30th frame on
            frame[top : top + 24, max(left, 0) : max(left + 20, 0)] = 220
        assert cv2.imwrite(str(tmp_path / f"{index:03d}.png"), frame)
    options = ("-d", "mog2", "--object-area", "100:", "--count-line", "gate=100,119,100,0", "--json")
    assert bgsub("run", tmp_path, *options) == 0
    counts = json.loads(capsys.readouterr().out)["objects"]
    assert counts == {"tracks": 2, "lines": {"gate": {"left_to_right": 1, "right_to_left": 1}}, "regions": {}}


def test_counting_alone_is_a_reason_to_run(capsys):
    assert bgsub("run", WALKERS, *GATE) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[1].endswith(" objects")
    assert printed[2].startswith("gate: ")
    assert printed[2].endswith(" right to left")


def test_masks_do_not_depend_on_objects(tmp_path):
    for name, more in (("plain", ()), ("objects", ("--objects", tmp_path / "o.csv"))):
        assert bgsub("run", "synthetic:walkers?frames=90", "-o", tmp_path / name, *more, "-q") == 0
    plain, objects = (sorted((tmp_path / name).iterdir()) for name in ("plain", "objects"))
    assert len(plain) == 90
    assert [path.read_bytes() for path in plain] == [path.read_bytes() for path in objects]


def test_limits_leave_objects_out(tmp_path):
    counts = []
    for i, more in enumerate([(), ("--object-area", "1%:"), ("--object-area", ":0.5%"), ("--object-age", "20")]):
        assert bgsub("run", WALKERS, "--end", "90", "--objects", tmp_path / f"{i}.txt", *more, "-q") == 0
        counts.append(len((tmp_path / f"{i}.txt").read_text().splitlines()))
    assert 0 < counts[1] < counts[0]
    assert 0 < counts[2] < counts[0]
    assert 0 < counts[3] < counts[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--object-area", "many"], "is not of the form 50:20000"),
        (["--object-area", "50:20"], "max_area must be at least min_area (50), got 20"),
        (["--object-area", "150%:"], "min_area must be a whole number of pixels or a share"),
        (["--object-age", "0"], "x>=1"),
        (["--count-line", "gate"], "is not of the form name=value"),
        (["--count-line", "gate=1,2,3"], "--count-line gate=1,2,3 is not of the form gate=160,240,160,0"),
        (["--count-line", "gate=1,2,1,2"], "is not of the form"),
        (["--count-line", "gate=nan,2,1,2"], "is not of the form"),
        ([*GATE, *GATE], "--count-line gate is given twice"),
    ],
)
def test_wrong_options_are_bad_usage(arguments, message, tmp_path, capsys):
    assert bgsub("run", WALKERS, "--objects", tmp_path / "o.csv", *arguments) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_options_without_effect_are_refused(tmp_path, capsys):
    assert bgsub("run", WALKERS, "-o", tmp_path / "m.mkv", "--object-age", 5) == 2
    assert "--object-age needs --objects, --region or --count-line" in capsys.readouterr().err


def test_region_that_is_missing_is_one_line(tmp_path, capsys):
    assert bgsub("run", WALKERS, "--objects", tmp_path / "o.csv", "--region", "door=door.json") == 1
    assert "cannot read the region door.json: no such file" in capsys.readouterr().err


def test_region_outside_the_frame_is_one_line(tmp_path, capsys):
    assert bgsub("run", WALKERS, "--objects", tmp_path / "o.csv", "--region", "door=900,900 990,900 990,990") == 1
    assert "leaves nothing of a 320x240 frame" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGINT for processes")
@pytest.mark.parametrize("suffix", ["csv", "json"])  # lines of any format, and COCO, which is written at the end
def test_interrupted_run_leaves_a_readable_file(suffix, tmp_path):
    out = tmp_path / f"o.{suffix}"
    table, source = tmp_path / "s.csv", "synthetic:walkers?frames=100000"
    command = [sys.executable, "-m", "bgsub", "run", source, "--objects", str(out), "--stats", str(table), "-q"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not (table.exists() and table.stat().st_size > 5000):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    frames = len(table.read_text().splitlines()) - 1
    whole = tmp_path / f"whole.{suffix}"
    assert bgsub("run", source, "--end", frames, "--objects", whole, "-q") == 0
    assert out.read_bytes() == whole.read_bytes()
    assert out.stat().st_size > 200
