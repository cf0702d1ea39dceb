"""Cameras that are files and growing folders: events, models, clips, and that none disturbs another."""

import json
import threading
import time

import av
import pytest

import bgsub
from bgsub._numba import JIT_ENABLED
from bgsub.watching import read_settings, watch
from tests.watching.made import events, record, until, watching, write_settings

pytestmark = pytest.mark.usefixtures("no_leaked_threads")


def test_a_file_has_the_events_that_a_scan_finds_in_it(tmp_path):
    record(tmp_path / "a_20261122_080000.mkv")
    path = write_settings(tmp_path, '[clips]\n[cameras.yard]\nsource = "a_20261122_080000.mkv"\n')
    assert watch(read_settings(path)) == []
    every = bgsub.ScanSettings(skip=1)
    found = bgsub.scan([tmp_path / "a_20261122_080000.mkv"], tmp_path / "scan", every).events
    assert len(found) == 2
    for one, expected in zip(events(tmp_path), (event.to_json() for event in found), strict=True):
        for key in ("start", "end", "peak"):
            assert one[key]["frame"] == expected[key]["frame"]
            assert one[key]["clock"] == expected[key]["clock"]
        for key in ("boxes", "union", "duration_s", "score", "objects", "detector", "width"):
            assert one[key] == expected[key]
        assert one["camera"] == "yard"
        assert (tmp_path / "out" / one["thumbnail"]).read_bytes()[:3] == b"\xff\xd8\xff"
        (clip,) = one["clips"]
        with av.open(str(tmp_path / "out" / clip)) as container:
            assert sum(1 for _ in container.decode(video=0)) >= expected["end"]["frame"] - expected["start"]["frame"]
    assert [one["sequence"] for one in events(tmp_path)] == [1, 2]
    assert len({one["id"] for one in events(tmp_path)}) == 2


def test_regions_have_events_of_their_own(tmp_path):
    record(tmp_path / "a.mkv")
    text = (
        '[cameras.yard]\nsource = "a.mkv"\n'
        '[cameras.yard.regions]\nleft = "0,0 40,0 40,71 0,71"\nnone = "0,60 9,60 9,71"\n'
    )
    watch(read_settings(write_settings(tmp_path, text)))
    assert {one["region"] for one in events(tmp_path)} == {"left"}


def test_rules_and_detector_are_those_of_each_camera(tmp_path):
    record(tmp_path / "a.mkv")
    text = (
        '[defaults]\nsource = "a.mkv"\n[cameras.one]\nrules = { min_length_s = 3.5 }\n'
        '[cameras.two]\ndetector = "norma"\nparameters = { slots = 6 }\n[cameras.three]\nroi = "0,0 95,0 95,10 0,10"\n'
    )
    watch(read_settings(write_settings(tmp_path, text)))
    found = events(tmp_path)
    assert sum(one["camera"] == "one" for one in found) == 1
    assert {one["detector"] for one in found if one["camera"] == "two"} <= {"norma"}
    assert not any(one["camera"] == "three" for one in found)


def test_a_camera_that_fails_does_not_disturb_the_others(tmp_path):
    record(tmp_path / "a.mkv")
    text = '[cameras.gone]\nsource = "gone.mkv"\n[cameras.yard]\nsource = "a.mkv"\n'
    (reason,) = watch(read_settings(write_settings(tmp_path, text)))
    assert "gone: cannot open" in reason
    assert [one["camera"] for one in events(tmp_path)] == ["yard", "yard"]


def test_an_unexpected_error_of_one_camera_is_contained(tmp_path, monkeypatch):
    from bgsub.watching.cameras.camera import Camera

    see = Camera._see

    def broken(self, result):
        if self.settings.name == "broken":
            raise ZeroDivisionError("oh")
        see(self, result)

    monkeypatch.setattr(Camera, "_see", broken)
    record(tmp_path / "a.mkv")
    text = '[cameras.broken]\nsource = "a.mkv"\n[cameras.yard]\nsource = "a.mkv"\n'
    assert watch(read_settings(write_settings(tmp_path, text))) == ["broken: unexpected ZeroDivisionError: oh"]
    assert [one["camera"] for one in events(tmp_path)] == ["yard", "yard"]


def test_the_model_is_saved_and_goes_on(tmp_path, caplog):
    record(tmp_path / "a.mkv", 50, [])
    path = write_settings(tmp_path, '[cameras.yard]\nsource = "a.mkv"\n')
    for seen in (50, 100):
        watch(read_settings(path))
        assert bgsub.load(tmp_path / "out" / "models" / "yard.npz").frames_seen == seen
    path.write_text(path.read_text() + "parameters = { slots = 12 }\n")
    watch(read_settings(path))
    assert "its settings have changed" in caplog.text
    assert bgsub.load(tmp_path / "out" / "models" / "yard.npz").frames_seen == 50
    (tmp_path / "out" / "models" / "yard.npz").write_bytes(b"damaged")
    watch(read_settings(path))
    assert "it learns from scratch" in caplog.text
    assert bgsub.load(tmp_path / "out" / "models" / "yard.npz").frames_seen == 50


def test_the_model_is_saved_while_the_watch_goes_on(tmp_path):
    path = write_settings(
        tmp_path, 'save_every_minutes = 0.01\n[cameras.yard]\nsource = "synthetic:easy?frames=1000000&size=64x48"\n'
    )
    model = tmp_path / "out" / "models" / "yard.npz"
    with watching(path):
        until(model.exists)
        first = bgsub.load(model).frames_seen
        until(lambda: bgsub.load(model).frames_seen > first)


class TestSegments:
    TEXT = '[cameras.yard]\nfolder = "rec"\nsettle_s = 0.3\n'

    def test_segments_are_one_recording(self, tmp_path):
        (tmp_path / "rec").mkdir()
        with watching(write_settings(tmp_path, self.TEXT + "[clips]\n")):
            until((tmp_path / "out" / ".watch" / "yard.segment").exists)
            for i, (first, last) in enumerate([(1, 95), (96, 180), (181, 300)]):
                from tests.scanning.made import write

                write(tmp_path / f".{i}.mkv", range(first, last + 1), [(80, 110), (200, 240)])
                (tmp_path / f".{i}.mkv").rename(tmp_path / "rec" / f"seg{i}.mkv")
            until(lambda: len(events(tmp_path)) == 2)
        one, two = events(tmp_path)
        assert (one["start"]["file"], one["end"]["file"]) == ("seg0.mkv", "seg1.mkv")
        assert 80 <= one["start"]["frame"] <= 86
        assert 10 <= one["end"]["frame"] <= 17
        assert (two["start"]["file"], two["end"]["file"]) == ("seg2.mkv", "seg2.mkv")
        assert len(one["clips"]) == 2
        assert len(two["clips"]) == 1

    def test_another_run_goes_on_after_the_last_segment(self, tmp_path):
        record(tmp_path / "rec" / "seg9.mkv")
        path = write_settings(tmp_path, self.TEXT + 'existing = "read"\n')
        memory = tmp_path / "out" / ".watch" / "yard.segment"
        with watching(path):
            until(lambda: memory.exists() and memory.read_text() == "seg9.mkv\n")
        assert len(events(tmp_path)) == 2
        record(tmp_path / "rec" / "seg10.mkv")
        with watching(path):
            until(lambda: memory.read_text() == "seg10.mkv\n")
        assert [one["start"]["file"] for one in events(tmp_path)] == ["seg9.mkv"] * 2 + ["seg10.mkv"] * 2

    def test_segments_there_before_the_first_run_are_skipped(self, tmp_path):
        record(tmp_path / "rec" / "old.mkv")
        with watching(write_settings(tmp_path, self.TEXT)):
            until((tmp_path / "out" / ".watch" / "yard.segment").exists)
            time.sleep(1)
        assert events(tmp_path) == []

    def test_a_segment_read_again_after_a_crash_reports_nothing_twice(self, tmp_path):
        record(tmp_path / "rec" / "a.mkv")
        path = write_settings(tmp_path, self.TEXT + 'existing = "read"\n')
        memory = tmp_path / "out" / ".watch" / "yard.segment"
        with watching(path):
            until(lambda: memory.exists() and memory.read_text() == "a.mkv\n")
        assert len(events(tmp_path)) == 2
        memory.write_text("\n")
        (tmp_path / "out" / "models" / "yard.npz").unlink()  # as it was when the segment was read first
        with watching(path):
            until(lambda: memory.read_text() == "a.mkv\n")
        assert len(events(tmp_path)) == 2

    def test_a_damaged_segment_is_left_out(self, tmp_path, caplog):
        (tmp_path / "rec").mkdir()
        with watching(write_settings(tmp_path, self.TEXT)):
            until((tmp_path / "out" / ".watch" / "yard.segment").exists)
            (tmp_path / "rec" / "a.mkv").write_bytes(b"no video")
            record(tmp_path / "rec" / "b.mkv")
            until(lambda: len(events(tmp_path)) == 2)
        assert "a.mkv" in caplog.text
        assert "it is left out" in caplog.text

    def test_a_folder_is_waited_for(self, tmp_path):
        with watching(write_settings(tmp_path, self.TEXT)):
            time.sleep(0.7)
            (tmp_path / "rec").mkdir()
            until((tmp_path / "out" / ".watch" / "yard.segment").exists)
            record(tmp_path / "rec" / "a.mkv")
            until(lambda: len(events(tmp_path)) == 2)

    def test_an_end_in_the_middle_of_a_segment_leaves_it_for_the_next_run(self, tmp_path, monkeypatch):
        from bgsub.watching.cameras.camera import Camera

        record(tmp_path / "rec" / "a.mkv")
        path = write_settings(tmp_path, self.TEXT + 'existing = "read"\n')
        see, reached = Camera._see, threading.Event()

        def slowly(self, result):
            see(self, result)
            if result.packet.number == 220:
                reached.set()
                self._stop.wait(30)

        with monkeypatch.context() as patch:
            patch.setattr(Camera, "_see", slowly)
            with watching(path):
                assert reached.wait(30)
        assert events(tmp_path) == []
        with watching(path):
            until(lambda: len(events(tmp_path)) == 2)


def test_two_watches_into_one_folder_are_refused(tmp_path):
    path = write_settings(tmp_path, '[cameras.yard]\nsource = "synthetic:easy?frames=1000000&size=64x48"\n')
    ports = []
    with watching(path, port=0, on_port=ports.append):
        until(lambda: ports)  # from here on the folder is its own
        with pytest.raises(bgsub.BgsubError, match="another run is writing it"):
            watch(read_settings(path))


def test_events_are_readable_json_lines(tmp_path):
    record(tmp_path / "a.mkv")
    watch(read_settings(write_settings(tmp_path, '[cameras.yard]\nsource = "a.mkv"\n')))
    text = (tmp_path / "out" / "events.jsonl").read_bytes()
    assert text.endswith(b"\n")
    assert all(json.loads(line)["version"] == bgsub.__version__ for line in text.splitlines())


@pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled under NUMBA_DISABLE_JIT")
def test_all_is_compiled_before_a_camera_is_opened(tmp_path, monkeypatch):
    order = []
    monkeypatch.setattr("bgsub.watching.run.warm_up", lambda name, **_: order.append(name) or [])
    monkeypatch.setattr("bgsub.watching.run.Camera.start", lambda camera: order.append(camera.status.name))
    text = "".join(
        f'[cameras.{name}]\nsource = "{tmp_path}/{name}.mkv"\ndetector = "{detector}"\n'
        for name, detector in (("yard", "adaptive"), ("door", "norma"), ("gate", "adaptive"))
    )
    watch(read_settings(write_settings(tmp_path, text)), stop=lambda: True)
    assert order == ["adaptive", "norma", "yard", "door", "gate"]
