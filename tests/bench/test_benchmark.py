"""Measuring: turns, threads, reports and interruption. No test depends on how long anything takes."""

import csv
import json
import math

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.bench import Clip, ClipSource, Report, Row, bench, count_steps, default_specs, parse, scene_clip
from bgsub.errors import SourceError
from tests.bench.models import Recorder
from tests.video.moving_square import SIZE, square_frame

FRAMES = [square_frame(index) for index in range(60)]
SQUARE = ClipSource("square", lambda: Clip("square", FRAMES, rate_hz=25.0))
RECORDER = "tests.bench.models:Recorder"


def row(clip: str, relative: float, detector: str = "norma", rescaled: bool = False, size=SIZE) -> Row:
    quartiles = (relative / 2, relative * 2)
    return Row(clip, detector, size, 1, 2.0, relative, quartiles, 5, 1000, 0.5, rescaled)


def test_all_detectors_are_measured_by_default() -> None:
    report = bench([scene_clip((24, 32))], threads=[1], rounds=2)
    assert [one.detector for one in report.rows] == [spec.name for spec in default_specs()]
    assert {"adaptive", "norma", "olk:slots=8", "mog2", "knn"} <= {one.detector for one in report.rows}
    assert all(one.ms > 0 and one.relative > 0 and one.turns == 2 for one in report.rows)


def test_mog2_is_the_unit_even_if_it_is_not_chosen() -> None:
    rows = bench([SQUARE], [parse("norma"), parse("mog2:history=9")], [1], rounds=3).rows
    assert [one.detector for one in rows] == ["norma", "mog2:history=9", "mog2"]
    assert (rows[-1].relative, rows[-1].relative_quartiles) == (1.0, (1.0, 1.0))
    assert all(first <= one.relative <= third for one in rows for first, third in [one.relative_quartiles])


def test_several_settings_of_one_detector_differ_in_their_state() -> None:
    rows = bench([SQUARE], [parse("norma:slots=4"), parse("norma:slots=8"), parse("norma:slots=4")], [1], rounds=1).rows
    assert [one.detector for one in rows] == ["norma:slots=4", "norma:slots=8", "mog2"]
    assert 0 < rows[0].state_bytes < rows[1].state_bytes
    assert rows[2].state_bytes is None
    assert rows[2].floor_ms is None


def test_models_are_filled_first_and_then_see_each_frame_once() -> None:
    clip = SQUARE.read()
    bench([SQUARE], [parse(RECORDER)], [1], rounds=10)
    seen = [next(index for index, frame in enumerate(FRAMES) if frame is one) for one in Recorder.shown]
    there_and_back = [*range(60), *range(58, -1, -1)]
    assert seen == there_and_back[: clip.warmup + 10 * 4]


def test_all_detectors_get_the_very_same_frames() -> None:
    reads = []

    def read() -> Clip:
        reads.append(1)
        return Clip("square", FRAMES)

    bench([ClipSource("square", read)], [parse(RECORDER), parse("norma")], [1, 2], rounds=2)
    assert len(reads) == 1
    assert all(any(frame is one for frame in FRAMES) for one in Recorder.shown)


def test_each_number_of_threads_is_measured_once_and_opencv_gets_its_own_back() -> None:
    before = cv2.getNumThreads()
    rows = bench([SQUARE], [parse("norma")], [1, 2, 1], rounds=1).rows
    assert [one.threads for one in rows] == [1, 1, 2, 2]
    assert cv2.getNumThreads() == before


def test_progress_is_called_as_often_as_announced() -> None:
    calls = []
    specs = [parse("norma"), parse("mog2")]
    settings = {"rounds": 3, "with_stages": True}
    report = bench([SQUARE, SQUARE], specs, [1], **settings, progress=lambda: calls.append(1))
    assert len(calls) == count_steps(2, specs, [1], **settings) == 2 * (3 + 1)
    assert {one.detector for one in report.stages} == {"norma"}


def test_the_generated_scene_moves_at_each_step() -> None:
    clip = scene_clip((30, 40)).read()
    assert clip.size == (30, 40)
    for index in range(60):
        assert (clip.frame(index) != clip.frame(index + 1)).any()


def test_ctrl_c_leaves_the_rounds_that_are_complete() -> None:
    report = Report()
    specs = [
        parse("mog2"),
        parse("tests.bench.models:Interrupted:after=45"),
    ]  # 34 to warm up, then 2 turns and 3 frames
    with pytest.raises(KeyboardInterrupt):
        bench([SQUARE], specs, [1], rounds=9, report=report)
    assert [(one.detector, one.turns) for one in report.rows] == [("mog2", 2), (specs[1].name, 2)]
    assert "square" in report.to_table()


def test_ctrl_c_while_models_fill_leaves_what_was_measured_before() -> None:
    report = Report()
    specs = [parse("tests.bench.models:Interrupted:after=10")]
    bench([SQUARE], [parse("norma")], [1], rounds=1, report=report)
    with pytest.raises(KeyboardInterrupt):
        bench([SQUARE], specs, [1], rounds=1, report=report)
    assert [one.detector for one in report.rows] == ["norma", "mog2"]


def test_a_clip_that_fails_leaves_those_before() -> None:
    def fail() -> Clip:
        raise SourceError("the second clip is damaged")

    report = Report()
    with pytest.raises(SourceError, match="damaged"):
        bench([SQUARE, ClipSource("damaged", fail)], [parse("norma")], [1], rounds=1, report=report)
    assert {one.clip for one in report.rows} == {"square"}


def test_no_rounds_are_refused() -> None:
    with pytest.raises(ValueError, match="rounds must be at least 1, got 0"):
        bench([SQUARE], rounds=0)


def test_means_are_geometric_and_name_the_worst_clip() -> None:
    report = Report([row("one", 0.25), row("two", 1.0), row("one", 1.0, "mog2"), row("two", 1.0, "mog2")])
    norma, mog2 = report.means()
    assert norma.relative == pytest.approx(0.5)
    assert (norma.clips, norma.worst, norma.worst_clip, norma.size) == (2, 1.0, "two", None)
    assert mog2.relative == 1.0


def test_sizes_that_clips_were_given_have_means_of_their_own() -> None:
    small, large = (24, 32), (48, 64)
    rows = [row(clip, 0.5, rescaled=True, size=size) for size in (small, large) for clip in ("one", "two")]
    assert [(mean.size, mean.clips) for mean in Report(rows).means()] == [(small, 2), (large, 2)]


def test_json_has_rows_means_stages_clips_and_conditions() -> None:
    report = bench([SQUARE], [parse("norma")], [1], rounds=2, with_stages=True)
    found = json.loads(json.dumps(report.to_json()))
    assert list(found) == ["provenance", "clips", "rows", "means", "stages"]
    known = found["provenance"]
    assert known["opencv"] == cv2.__version__
    assert known["numpy"] == np.__version__
    assert known["processor"]
    assert known["usable_cpus"] >= 1
    assert found["clips"] == [
        {"clip": "square", "size": [*SIZE], "rescaled": False, "rate_hz": 25.0, "first": 1, "frames": 60, "warmup": 34}
    ]
    assert found["rows"][0]["size"] == [*SIZE]
    assert found["rows"][0]["threads"] == 1
    assert found["stages"][0]["stage"] == "detect"


def test_csv_has_a_line_per_row_with_the_conditions() -> None:
    report = Report([row("one, two", 0.25), Row("x", "mog2", SIZE, 1, 8.0, 1.0, (1.0, 1.0), 5, None, None, False)])
    lines = list(csv.DictReader(report.to_csv().splitlines()))
    assert lines[0]["clip"] == "one, two"
    assert (lines[0]["width"], lines[0]["height"]) == (str(SIZE[1]), str(SIZE[0]))
    assert math.isclose(float(lines[0]["relative_q3"]), 0.5)
    assert (lines[1]["state_bytes"], lines[1]["floor_ms"]) == ("", "")
    assert lines[1]["opencv"] == cv2.__version__


def test_the_table_states_frames_noise_and_means() -> None:
    report = Report([row("one", 0.25), row("two", 1.0)])
    report.add_clip(Clip("one", FRAMES, first=11))
    text = report.to_table()
    assert "one: frames 11 to 70, models filled by 34 frames before" in text
    assert "0.12-0.50" in text
    assert "geometric mean" in text
    assert text.splitlines()[-1].split() == ["own", "1", "norma", "2", "0.50", "1.00", "two"]
    assert "geometric mean" not in Report([row("one", 0.25)]).to_table()
