"""Scans from files to outputs: the same results in one process, in several, on any executor, and resumed."""

import csv
import json
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import av
import numpy as np
import pytest

import bgsub
from bgsub.config import Config
from bgsub.errors import SinkError
from bgsub.events import EventRules
from bgsub.scanning import Clips, ScanControl, ScanInterrupted, scan
from tests.scanning.conftest import MOVING
from tests.scanning.made import outputs, settings, write

TIMES = np.array([((first - 1) / 10, (last - 1) / 10) for first, last in MOVING])


def times(result):
    return np.array([(event.event.start.time_s, event.event.end.time_s) for event in result.events])


def test_by_default_a_few_frames_per_second_are_enough(recording, tmp_path):
    result = bgsub.scan([recording], tmp_path / "out")
    assert result.files[0].frames == 300  # of 600
    assert result.files[0].duration_s == pytest.approx(60)
    assert times(result) == pytest.approx(TIMES, abs=0.11)


def test_events_are_found_to_the_frame_and_described(recording, tmp_path):
    result = bgsub.scan([recording], tmp_path / "out", settings())
    assert times(result) == pytest.approx(TIMES)
    lines = [json.loads(line) for line in (tmp_path / "out" / "events.jsonl").read_text().splitlines()]
    first = lines[0]
    assert (first["start"]["frame"], first["end"]["frame"]) == MOVING[0]
    assert first["start"] == {"file": str(recording), "frame": 80, "time_s": 7.9, "clock": None}
    assert (first["width"], first["height"], first["objects"]) == (96, 72, 1)
    x, y, width, height = first["boxes"][0]
    assert abs(y - 26) <= 2
    assert abs(width - 14) <= 3
    assert abs(height - 24) <= 3
    assert first["boxes_relative"][0] == pytest.approx([x / 96, y / 72, width / 96, height / 72], abs=0.006)
    assert first["union"][0] <= 1
    assert first["union"][2] >= 94
    assert 0.5 < first["score"] <= 1
    assert first["detector"] == "adaptive"
    with av.open(str(tmp_path / "out" / first["thumbnail"])) as picture:
        assert (picture.streams.video[0].width, picture.streams.video[0].height) == (96, 72)
    with (tmp_path / "out" / "events.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["id"] for row in table] == [line["id"] for line in lines]
    assert float(table[1]["start_s"]) == 19.9
    summary = json.loads((tmp_path / "out" / "scan.json").read_text())
    assert summary["events"] == 3
    assert summary["files"][0]["frames"] == 600
    assert summary["files"][0]["failure"] is None


def test_files_of_a_continuous_recording_are_as_one(recording, pieces, tmp_path):
    whole = scan([recording], tmp_path / "whole", settings())
    parts = scan([pieces], tmp_path / "parts", settings(continuous=True))
    assert times(parts) == pytest.approx(times(whole))
    assert [one.event.boxes for one in parts.events] == [one.event.boxes for one in whole.events]
    assert [one.event.score for one in parts.events] == [one.event.score for one in whole.events]
    first = parts.events[0]
    assert first.start.file.file.endswith("8.mkv")
    assert first.end.file.file.endswith("9.mkv")
    assert (first.end.number, first.end.time_s) == (10, pytest.approx(0.9))


def test_each_file_by_itself_has_events_of_its_own(pieces, tmp_path):
    result = scan([pieces], tmp_path / "out", settings())
    names = [Path(event.start.file.file).name for event in result.events]
    assert names == sorted(names, key=lambda name: int(name[:-4]))
    assert len(names) >= 4


@pytest.mark.slow
def test_results_do_not_depend_on_who_works(pieces, recording, tmp_path):
    places, chosen = [recording, pieces], settings(chunk_s=15, overlap_s=5)
    scan(places, tmp_path / "one", chosen)
    scan(places, tmp_path / "two", chosen, jobs=2)
    with ThreadPoolExecutor(3) as executor:
        scan(places, tmp_path / "threads", chosen, executor=executor)
    expected = outputs(tmp_path / "one")
    assert len(expected) > 8
    assert outputs(tmp_path / "two") == expected
    assert outputs(tmp_path / "threads") == expected
    found = [json.loads(line) for line in expected["events.jsonl"].splitlines()]
    whole = [(one["start"]["frame"], one["end"]["frame"]) for one in found if one["start"]["file"] == str(recording)]
    assert whole == MOVING  # also the one that two parts share


def test_parts_of_a_file_are_joined(recording, tmp_path):
    result = scan([recording], tmp_path / "out", settings(chunk_s=10, overlap_s=6))
    assert times(result) == pytest.approx(TIMES)


class _Fragile(Executor):
    """Runs jobs at once; the worker of some of them dies."""

    def __init__(self, deaths):
        self.deaths, self.calls = deaths, 0

    def submit(self, function, /, *arguments, **named):
        future = Future()
        self.calls += 1
        if self.calls in self.deaths:
            future.set_exception(BrokenProcessPool("killed"))
        else:
            future.set_result(function(*arguments, **named))
        return future


def test_a_worker_that_dies_costs_a_second_try(pieces, tmp_path):
    executor = _Fragile({2})
    result = scan([pieces], tmp_path / "out", settings(), executor=executor)
    assert executor.calls == 7
    assert not result.failures


def test_a_worker_that_dies_twice_costs_its_file_until_it_is_resumed(pieces, outputs_of_pieces, tmp_path):
    result = scan([pieces], tmp_path / "out", settings(), executor=_Fragile({1, 7}))
    (failed,) = result.failures
    assert "its worker died" in failed.failure
    again = scan([pieces], tmp_path / "out", settings(), resume=True)
    assert not again.failures
    assert outputs(tmp_path / "out") == outputs_of_pieces


def outputs_of_a_new_scan(places, tmp_path, **options):
    scan(places, tmp_path / "new", settings(**options))
    return outputs(tmp_path / "new")


@pytest.mark.parametrize("continuous", [False, True])
def test_a_scan_that_was_stopped_goes_on(pieces, tmp_path, continuous):
    chosen = settings(continuous=continuous)
    read = []
    with pytest.raises(ScanInterrupted):
        scan([pieces], tmp_path / "out", chosen, control=ScanControl(read.append, stop=lambda: sum(read) >= 250))
    assert sum(read) < 300
    again = []
    scan([pieces], tmp_path / "out", chosen, resume=True, control=ScanControl(again.append))
    assert sum(again) == 600
    assert len([step for step in again if step == 1]) == 400  # what was done is not done again
    assert outputs(tmp_path / "out") == outputs_of_a_new_scan([pieces], tmp_path, continuous=continuous)


def test_a_torn_journal_loses_its_last_line_alone(pieces, outputs_of_pieces, tmp_path):
    scan([pieces], tmp_path / "out", settings())
    journal = tmp_path / "out" / ".scan" / "journal.jsonl"
    data = journal.read_bytes()
    journal.write_bytes(data[:-20])
    again = []
    scan([pieces], tmp_path / "out", settings(), resume=True, control=ScanControl(again.append))
    assert again.count(1) == 100
    assert len(journal.read_bytes()) == len(data)
    journal.write_bytes(data[:50])
    scan([pieces], tmp_path / "out", settings(), resume=True)
    assert outputs(tmp_path / "out") == outputs_of_pieces


def test_a_finished_scan_is_not_overwritten_and_not_resumed_with_other_settings(recording, tmp_path):
    scan([recording], tmp_path / "out", settings())
    with pytest.raises(SinkError, match="holds a scan; resume it with --resume"):
        scan([recording], tmp_path / "out", settings())
    with pytest.raises(SinkError, match=r"its settings were others \(rules\)"):
        scan([recording], tmp_path / "out", settings(rules=EventRules(min_length_s=1)), resume=True)


def test_damaged_numbers_and_journals_are_named(pieces, tmp_path):
    scan([pieces], tmp_path / "out", settings())
    work = tmp_path / "out" / ".scan"
    numbers = next(iter(sorted(work.glob("*.npz"))))
    kept = numbers.read_bytes()
    numbers.write_bytes(kept[:-1])
    with pytest.raises(SinkError, match="is damaged; scan into another folder"):
        scan([pieces], tmp_path / "out", settings(), resume=True)
    numbers.write_bytes(kept)
    journal = work / "journal.jsonl"
    head, *entries = map(json.loads, journal.read_text().splitlines())
    one, found = entries[0], entries[0]["analysed"]
    wrong = [
        *({name: value for name, value in one.items() if name != left} for left in ("sha256", "analysed")),
        {**one, "key": "{}"},
        {**one, "analysed": 7},
        *({**one, "analysed": {**found, **values}} for values in ({"size": 5}, {"size": [5]}, {"size": ["5", 6]})),
        *({**one, "analysed": {**found, **values}} for values in ({"last_s": {}}, {"frames": 1e300}, {"failure": 1})),
        {**one, "analysed": {**found, "more": 1}},
    ]
    for text in ("nonsense\nmore\n", *(f"{json.dumps(head)}\n{json.dumps(entry)}\n" for entry in wrong)):
        journal.write_text(text)
        with pytest.raises(SinkError, match="is no journal of a scan"):
            scan([pieces], tmp_path / "out", settings(), resume=True)


def test_numbers_are_only_read_from_the_folder_of_the_scan(pieces, tmp_path):
    scan([pieces], tmp_path / "out", settings())
    journal = tmp_path / "out" / ".scan" / "journal.jsonl"
    head, *entries = map(json.loads, journal.read_text().splitlines())
    lines = [head, *({**entry, "numbers": "../../other.npz"} for entry in entries)]
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    scan([pieces], tmp_path / "out", settings(), resume=True)


def test_a_file_that_changed_is_scanned_again(pieces, tmp_path):
    copy = tmp_path / "in"
    copy.mkdir()
    for file in pieces.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    scan([copy], tmp_path / "out", settings())
    write(copy / "9.mkv", range(101, 201), [(140, 170)], seed=1)
    again = []
    scan([copy], tmp_path / "out", settings(), resume=True, control=ScanControl(again.append))
    assert again.count(1) == 100
    assert outputs(tmp_path / "out") == outputs_of_a_new_scan([copy], tmp_path)


def test_damaged_files_are_named_and_the_rest_goes_on(pieces, tmp_path):
    copy = tmp_path / "in"
    copy.mkdir()
    whole = (pieces / "10.mkv").read_bytes()
    (copy / "1.mkv").write_bytes(whole)
    (copy / "2.mkv").write_bytes(whole[: len(whole) // 2])
    (copy / "3.mkv").write_bytes(b"no video" * 100)
    (copy / "4.mkv").write_bytes(b"")
    result = scan([copy], tmp_path / "out", settings(), jobs=1)
    assert [Path(file.file).name for file in result.failures] == ["2.mkv", "3.mkv", "4.mkv"]
    assert result.files[0].frames == 100
    assert 20 < result.files[1].frames < 80
    page = (tmp_path / "out" / "report.html").read_text()
    assert all(f"{number}.mkv" in page for number in (1, 2, 3, 4))
    assert "3 files could not be read to the end" in page


def test_a_damaged_file_in_a_continuous_recording_costs_its_own_frames(pieces, tmp_path):
    copy = tmp_path / "in"
    copy.mkdir()
    for file in pieces.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    (copy / "10.mkv").write_bytes(b"no video" * 100)
    result = scan([copy], tmp_path / "out", settings(continuous=True))
    assert len(result.failures) == 1
    assert result.events[0].start.number == 80
    assert any(event.start.file.file.endswith("11.mkv") for event in result.events)


def test_the_clock_of_names_and_of_the_start(pieces, tmp_path):
    named = tmp_path / "in"
    named.mkdir()
    for i in range(6):
        source = pieces / f"{8 + i}.mkv"
        (named / f"cam_20261122_0800{10 * i:02d}.mkv").write_bytes(source.read_bytes())
    result = scan([named], tmp_path / "out", settings(continuous=True))
    assert [f"{event.start.clock:%H:%M:%S.%f}"[:10] for event in result.events] == [
        "08:00:07.9",
        "08:00:19.9",
        "08:00:38.9",
    ]
    told = scan([pieces], tmp_path / "told", settings(continuous=True, start_time="2026-11-22 23:59:50"))
    assert [f"{event.start.clock:%d %H:%M:%S}" for event in told.events] == [
        "22 23:59:57",
        "23 00:00:09",
        "23 00:00:28",
    ]


def test_a_pause_between_files_is_a_pause_in_the_recording(pieces, tmp_path):
    named = tmp_path / "in"
    named.mkdir()
    for minute, number in ((0, 8), (30, 9)):
        (named / f"20261122_08{minute:02d}00.mkv").write_bytes((pieces / f"{number}.mkv").read_bytes())
    result = scan([named], tmp_path / "out", settings(continuous=True))
    starts = [event.event.start.time_s for event in result.events]
    assert starts[0] == pytest.approx(7.9)
    assert all(start > 1799 for start in starts[1:])
    assert len({event.start.file.file for event in result.events}) == len(result.events)


def test_regions_are_in_pixels_of_the_source(recording, tmp_path):
    regions = {"left": "0,0 40,0 40,71 0,71", "top": "0,0 95,0 95,10 0,10"}
    for scale in (1.0, 0.5):
        result = scan([recording], tmp_path / f"out{scale}", settings(regions=regions, scale=scale))
        assert {event.region for event in result.events} == {"left"}
        assert len(result.events) == 3
        assert result.events[0].event.end.time_s < TIMES[0][1] - 0.5


def test_clips_are_copied_from_a_key_frame_or_encoded_exactly(tmp_path):
    path = write(tmp_path / "a.mp4", range(1, 301), [(100, 130), (200, 240)], codec="libx264")
    for mode in ("copy", "encode"):
        result = scan([path], tmp_path / mode, settings(), clips=mode)
        assert len(result.events) == 2
        for event in result.events:
            (name,) = event.clips
            with av.open(str(tmp_path / mode / name)) as clip:
                shown = [frame.time for frame in clip.decode(video=0)]
            asked = event.event.duration_s + 3.5
            assert shown[0] == pytest.approx(0, abs=0.21)
            assert asked - 0.05 <= shown[-1] <= asked + (0.2 if mode == "encode" else 2.1)
    assert not result.clip_failures


def test_an_event_that_spans_files_has_a_clip_of_each(pieces, tmp_path):
    result = scan([pieces], tmp_path / "out", settings(continuous=True), clips="copy")
    assert [len(event.clips) for event in result.events] == [2, 2, 2]
    assert all((tmp_path / "out" / name).stat().st_size for event in result.events for name in event.clips)


def test_clips_stop_at_the_size_allowed(recording, tmp_path):
    free = scan([recording], tmp_path / "free", settings(), clips="copy")
    sizes = [(tmp_path / "free" / event.clips[0]).stat().st_size for event in free.events]
    limited = scan([recording], tmp_path / "out", settings(), clips=Clips("copy", sizes[0] + sizes[1]))
    assert [len(event.clips) for event in limited.events] == [1, 1, 0]
    assert limited.clips_left_out == 1
    assert len(list((tmp_path / "out" / "clips").iterdir())) == 2


def test_a_file_whose_frames_are_of_another_size_begins_with_a_new_model(recording, pieces, tmp_path):
    path = tmp_path / "other.avi"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("ffv1", rate=10)
        stream.height, stream.width, stream.pix_fmt = 48, 64, "gray"
        for _ in range(60):
            image = av.VideoFrame.from_ndarray(np.full((48, 64), 80, np.uint8), format="gray")
            container.mux(stream.encode(image))
        container.mux(stream.encode(None))
    result = scan([pieces / "8.mkv", path, pieces / "10.mkv"], tmp_path / "out", settings(continuous=True))
    assert not result.failures
    assert [file.size for file in result.files] == [(72, 96), (48, 64), (72, 96)]


def test_wrong_arguments():
    with pytest.raises(ValueError, match="jobs must be at least 1"):
        scan(["a.mp4"], "out", jobs=0)
    with pytest.raises(ValueError, match="clips must be one of copy, encode, got 'cut'"):
        Clips("cut")
    with pytest.raises(ValueError, match="max_bytes must not be negative"):
        Clips("copy", -1)


def test_a_start_time_is_that_of_one_recording(pieces, tmp_path):
    with pytest.raises(ValueError, match="make 6 files one by continuous=True"):
        scan([pieces], tmp_path / "out", settings(start_time="2026-11-22"))


@pytest.mark.parametrize("detector", ["mog2", "norma"])
def test_other_detectors_find_the_same_events(recording, tmp_path, detector):
    result = scan([recording], tmp_path / "out", settings(config=Config(detector)))
    assert np.allclose(times(result)[:, 0], TIMES[:, 0], atol=0.5)
    assert len(result.events) == 3
