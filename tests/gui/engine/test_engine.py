"""The engine, driven by hand: views, models, counts, files and notices, without a thread or Qt."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bgsub
from bgsub._opencv import cv2
from bgsub.config import Config
from bgsub.errors import SourceError
from bgsub.evaluation import GroundTruth, PipelineModel, evaluate, find_sequences
from bgsub.gui import panes
from bgsub.gui.engine.recorder import Outputs
from bgsub.gui.messages import AS_FAST_AS_POSSIBLE, Configured, Level, Notice, Opened, RecordingChanged
from bgsub.postprocess import Postprocess
from bgsub.roi import Region
from bgsub.video.sources import open_source
from bgsub.video.sources.synthetic import SyntheticScene, write_sample
from tests.gui.conftest import FAST
from tests.gui.driving import Driver, frames, opener

pytestmark = pytest.mark.usefixtures("no_leaked_threads")


@pytest.fixture
def drive():
    made = []

    def make(open_it=None, **changed) -> Driver:
        driver = Driver(open_it or opener(frames(20)), replace(FAST, **changed))
        made.append(driver)
        return driver

    yield make
    for driver in made:
        driver.engine.close()


def opened(driver: Driver, text: str = "any") -> Driver:
    driver.engine.open(text)
    driver.settle()
    return driver


def test_a_file_is_played_to_its_end_and_reported(drive):
    driver = opened(drive())
    assert driver.view.processed == 20
    assert driver.view.position == 19
    assert not driver.view.playing
    assert next(event for event in driver.events if isinstance(event, Opened)).info.count == 20
    assert len(driver.engine.history.rows()) == 20


def test_masks_are_those_of_the_command_line(drive):
    config = Config("norma", {"learn_every": 2, "warmup": 3})
    driver = drive(lambda text, /, *, start: open_source(text, start=start), config=config)
    opened(driver, "synthetic:easy?frames=30&size=64x48")
    with open_source("synthetic:easy?frames=30&size=64x48") as source:
        pipeline = config.make_pipeline(config.make_detector(rate_hz=source.info.rate_hz))
        for packet in source:
            mask = pipeline.step(packet).mask
    assert np.array_equal(driver.view.images[panes.MASK], mask)
    assert np.array_equal(driver.view.result.mask, mask)


def test_every_pane_has_an_image(drive):
    shown = tuple(pane for pane in panes.all_panes() if panes.Needs.LABELS not in pane.needs)
    driver = opened(drive(panes=shown, other=Config("mog2")))
    assert set(driver.view.images) == set(shown)
    for image in driver.view.images.values():
        assert image.dtype == np.uint8
        assert image.shape[:2] == (24, 32)


def test_playing_keeps_the_time_of_the_file(drive):
    driver = drive(speed=4.0)
    driver.engine.open("any")
    driver.until(lambda: driver.engine.progress.processed == 1)
    begin = driver.engine.progress.due_s
    driver.settle()
    assert 19 / 25 / 4 * 0.95 < driver.view.due_s - begin < 19 / 25 / 4 * 2


def test_steps_and_jumps_show_the_frame_asked_for(drive):
    driver = opened(drive())
    driver.engine.seek(7)
    driver.settle()
    assert driver.view.position == 7
    driver.engine.step(-1)
    driver.engine.step(-1)
    driver.settle()
    assert driver.view.position == 5
    driver.engine.step(1)
    driver.settle()
    assert driver.view.position == 6
    driver.engine.seek(1000)
    driver.settle()
    assert driver.view.position == 19


def test_playing_at_the_end_begins_again_and_a_loop_never_ends(drive):
    driver = opened(drive())
    driver.engine.play()
    driver.until(lambda: driver.view.processed == 40)
    driver.engine.apply(replace(FAST, loop=True))
    driver.engine.play()
    driver.until(lambda: driver.view.processed > 85)
    elapsed = driver.engine.history.rows()[:, 0]
    assert (np.diff(elapsed) > 0).all()


def test_a_jump_keeps_or_resets_the_model(drive):
    for keep, expected in ((True, 7), (False, 1)):
        driver = drive(keep_model=keep)
        driver.engine.open("any")
        driver.until(lambda driver=driver: driver.engine.progress.processed == 5)
        driver.engine.pause()
        driver.settle()
        driver.engine.seek(13)
        driver.settle()
        assert driver.engine.runs.main.detector.frames_seen == expected


def test_a_changed_parameter_is_used_from_the_next_frame_and_keeps_the_model(drive):
    driver = drive()
    driver.engine.open("any")
    driver.until(lambda: driver.engine.progress.processed == 5)
    detector = driver.engine.runs.main.detector
    config = replace(FAST.config, parameters={**FAST.config.parameters, "kappa": 0.5})
    driver.engine.apply(replace(FAST, config=config))
    driver.settle()
    assert driver.engine.runs.main.detector is detector
    assert detector.parameters["kappa"] == 0.5
    assert detector.frames_seen == 20


def test_another_slot_count_or_detector_begins_with_a_new_model(drive):
    driver = drive()
    driver.engine.open("any")
    for config, processed in ((Config("norma", {"slots": 3}), 5), (Config("olk"), 9)):
        driver.until(lambda processed=processed: driver.engine.progress.processed == processed)
        driver.engine.apply(replace(FAST, config=config))
        driver.until(lambda processed=processed: driver.engine.progress.processed == processed + 2)
        assert driver.engine.runs.main.detector.name == config.detector
        assert driver.engine.runs.main.detector.frames_seen == 2


def test_postprocessing_and_freezing_act_on_the_next_frame(drive):
    driver = opened(drive(frozen=True))
    assert driver.engine.runs.main.detector.frames_seen == 0
    bright = frames(20)
    bright[19][10:12, 10:12] = 255
    config = replace(FAST.config, postprocess=Postprocess(median=1))
    driver = opened(drive(opener(bright), config=config))
    assert driver.view.result.mask[10, 10] == 255
    driver.engine.apply(replace(FAST, config=replace(config, postprocess=Postprocess(median=1, min_area=9))))
    driver.engine.seek(19)
    driver.settle()
    assert driver.view.result.mask[10, 10] == 0


def test_knn_goes_on_though_it_cannot_be_frozen(drive):
    driver = opened(drive(config=Config("knn"), frozen=True))
    assert driver.view.processed == 20
    assert driver.texts.strip() == "any"


def test_a_pixel_shows_the_state_that_judged_it(drive):
    bright = frames(20)
    bright[-1][5, 6] = 255
    driver = opened(drive(opener(bright), pinned_pixels=((5, 6), (1, 1))))
    odd, usual = driver.view.pinned_pixels
    assert (odd.row, odd.column, odd.before_learning) == (5, 6, True)
    assert odd.state.is_novel
    assert odd.state.colour.tolist() == [255, 255, 255]
    assert not usual.state.is_novel
    rows = driver.engine.work.pinned_pixels.histories[5, 6].rows()
    assert len(rows) == 19  # the first frame meets an empty model
    assert rows[-1, 1] == pytest.approx(odd.state.value)


def test_a_pixel_pinned_in_a_paused_image_is_inspected_at_once(drive):
    driver = opened(drive())
    driver.engine.apply(replace(FAST, pinned_pixels=((2, 3),)))
    driver.settle()
    pixel = driver.view.pinned_pixels[0]
    assert pixel.state is not None
    assert pixel.before_learning
    assert driver.engine.runs.main.detector.frames_seen == 20


def test_opencv_detectors_explain_that_they_have_no_state_to_show(drive):
    driver = opened(drive(config=Config("mog2"), pinned_pixels=((2, 3),)))
    assert driver.view.pinned_pixels[0].state is None
    assert "use adaptive, norma or olk" in driver.view.pinned_pixels[0].reason


@pytest.mark.slow
def test_f_is_that_of_the_evaluation(drive, tmp_path):
    write_sample(tmp_path / "street", SyntheticScene(size=(48, 64), frames=40))
    config, other = Config("norma", {"warmup": 5}), Config("mog2")
    driver = drive(
        lambda text, /, *, start: open_source(text, start=start),
        config=config,
        other=other,
        truth=GroundTruth(tmp_path / "street"),
        panes=(panes.GROUND_TRUTH,),
    )
    opened(driver, str(tmp_path / "street" / "input"))
    models = {
        chosen.detector: lambda _, chosen=chosen: PipelineModel(chosen.make_pipeline(chosen.make_detector(rate_hz=25)))
        for chosen in (config, other)
    }
    report = evaluate(find_sequences(tmp_path / "street"), models)
    assert [run.counts for run in driver.view.runs] == [row.counts for row in report.rows]
    assert set(np.unique(driver.view.images[panes.GROUND_TRUTH])) <= {0, 50, 170, 255}
    driver.engine.restart_counts()
    assert driver.engine.runs.main.counts.tp == 0


def test_a_region_confines_both_detectors(drive):
    region = Region(include=(((0.0, 0.0), (15.0, 0.0), (15.0, 23.0), (0.0, 23.0)),))
    bright = frames(20)
    bright[-1][:] = 255
    driver = opened(drive(opener(bright), region=region, other=Config("mog2")))
    for run in driver.view.runs:
        assert run.result.mask[:, 17:].max() == 0
        assert run.result.mask[:, :14].max() == 255
    driver.engine.apply(replace(FAST, region=None))
    driver.engine.seek(19)
    driver.settle()
    assert driver.engine.runs.main.detector.roi is None


def test_recordings_continue_over_jumps_and_play(drive, tmp_path):
    driver = drive(overlay_style="tint")
    driver.engine.open("any")
    driver.until(lambda: driver.engine.progress.processed == 1)
    outputs = Outputs({"mask": tmp_path / "m.mkv", "overlay": tmp_path / "o.mp4", "stats": tmp_path / "s.csv"})
    driver.engine.record(outputs)
    driver.settle()
    driver.engine.seek(4)  # a frame shown again is not recorded again
    driver.settle()
    driver.engine.seek(19)
    driver.settle()
    driver.engine.play()
    driver.settle()
    assert driver.view.recorded == 19
    driver.engine.play()  # at the end: again from the beginning
    driver.settle()
    assert driver.view.recorded == 39
    driver.engine.stop_recording()
    with bgsub.open_source(outputs.files["mask"]) as source:
        times = [packet.time_s for packet in source]
    assert len(times) == 39
    assert np.diff(times) == pytest.approx([0.04] * 38, abs=0.002)
    with bgsub.open_source(outputs.files["overlay"]) as source:
        assert sum(1 for _ in source) == 39
    assert len(outputs.files["stats"].read_text().splitlines()) == 40
    assert [event.paths for event in driver.events if isinstance(event, RecordingChanged)][-1] == ()


def test_a_full_disk_ends_the_recording_and_nothing_else(drive, tmp_path, monkeypatch):
    driver = drive()
    driver.engine.open("any")
    driver.until(lambda: driver.engine.progress.processed == 1)
    outputs = Outputs({"mask": tmp_path / "m.mkv", "stats": tmp_path / "s.csv"})
    driver.engine.record(outputs)
    driver.until(lambda: driver.engine.recorder.recorded == 5)
    from bgsub.errors import SinkError
    from bgsub.video.sinks import StatsCsv

    def full(*_):
        raise SinkError("cannot write s.csv: No space left on device; free space or choose another folder")

    monkeypatch.setattr(StatsCsv, "write", full)
    driver.settle()
    assert driver.view.processed == 20
    assert driver.view.recorded is None
    assert "No space left on device; free space" in driver.texts
    with bgsub.open_source(outputs.files["mask"]) as source:
        assert sum(1 for _ in source) >= 5


def test_a_saved_model_continues(drive, tmp_path):
    path = tmp_path / "model.npz"
    driver = opened(drive())
    driver.engine.save_model(path)
    other = drive(config=Config("olk"))
    other.engine.load_model(path)
    opened(other)
    assert other.engine.runs.main.detector.name == "norma"
    assert other.engine.runs.main.detector.frames_seen == 40
    assert next(event for event in other.events if isinstance(event, Configured)).config.detector == "norma"


def test_a_model_of_another_size_or_kind_is_refused_and_the_present_one_stays(drive, tmp_path):
    driver = opened(drive(opener(frames(5, (30, 40)))))
    driver.engine.save_model(tmp_path / "model.npz")
    (tmp_path / "no.npz").write_text("no model")
    other = opened(drive())
    detector = other.engine.runs.main.detector
    for name in ("model.npz", "no.npz", "missing.npz"):
        other.engine.load_model(tmp_path / name)
        assert other.engine.runs.main.detector is detector
    assert "learned on frames of shape (30, 40, 3)" in other.texts
    assert "is not a bgsub model" in other.texts
    assert "no such file" in other.texts


def test_an_empty_model_cannot_be_saved(drive, tmp_path):
    driver = drive()
    driver.engine.save_model(tmp_path / "model.npz")
    assert "show it a frame first" in driver.texts


def errors(driver: Driver) -> list[Notice]:
    return [event for event in driver.events if isinstance(event, Notice) and event.level is Level.ERROR]


def test_a_missing_source_can_be_tried_again(drive):
    driver = opened(drive(), "missing")
    assert errors(driver)[0].can_retry
    assert "no such file; check the path" in errors(driver)[0].text
    opened(driver)
    assert driver.view.processed == 20


def test_a_source_that_breaks_off_closes_recordings_and_can_be_opened_again(drive, tmp_path):
    broken = [*frames(6), SourceError("the file is damaged after frame 6; copy it again"), *frames(6)]
    driver = drive(opener(broken))
    driver.engine.open("any")
    driver.until(lambda: driver.engine.progress.processed == 1)
    driver.engine.record(Outputs({"mask": tmp_path / "m.mkv"}))
    driver.until(lambda: errors(driver))
    assert errors(driver)[0].can_retry
    with bgsub.open_source(tmp_path / "m.mkv") as source:
        assert sum(1 for _ in source) == 5
    seen = driver.engine.runs.main.detector.frames_seen
    driver.engine.retry()
    driver.until(lambda: len(errors(driver)) == 2)
    assert driver.engine.runs.main.detector.frames_seen == 2 * seen


def test_frames_of_another_size_get_a_new_model(drive):
    driver = opened(drive(opener([*frames(5), *frames(5, (48, 64))])))
    assert driver.view.processed == 10
    assert driver.view.result.mask.shape == (48, 64)
    assert "64x48 now: norma learns a new model" in driver.texts


def test_a_detector_that_raises_pauses_and_closes_the_recording(drive, tmp_path):
    driver = drive()
    driver.engine.open("any")
    driver.until(lambda: driver.engine.progress.processed == 3)
    driver.engine.record(Outputs({"mask": tmp_path / "m.mkv"}))
    driver.until(lambda: driver.engine.recorder.recorded == 2)

    def broken(*_, **__):
        raise ZeroDivisionError("by nought")

    driver.engine.runs.main.detector.apply = broken
    driver.until(lambda: errors(driver))
    driver.settle()
    assert "ZeroDivisionError: by nought); reset it" in errors(driver)[0].text
    assert not driver.view.playing
    with bgsub.open_source(tmp_path / "m.mkv") as source:
        assert sum(1 for _ in source) >= 2
    driver.engine.reset()
    driver.engine.play()
    driver.settle()
    assert driver.view.position == 19


def test_a_region_that_leaves_nothing_is_reported_once(drive):
    region = Region(include=(((900.0, 900.0), (950.0, 900.0), (950.0, 950.0)),))
    driver = opened(drive(region=region))
    assert driver.view.processed == 20
    assert driver.texts.count("leaves nothing of a 32x24 frame") == 1


def test_ground_truth_of_another_size_is_reported_once(drive, tmp_path):
    for number in range(1, 21):
        cv2.imwrite(str(tmp_path / f"gt{number:06d}.png"), np.zeros((5, 5), np.uint8))
    driver = opened(drive(truth=GroundTruth(tmp_path)))
    assert driver.view.processed == 20
    assert driver.texts.count("must have the size of its frame") == 1


def test_a_lost_camera_is_reported_until_it_is_back(drive):
    sources = []

    def open_it(text, /, *, start):
        import threading

        from tests.gui.driving import Scripted

        class Losing(Scripted):
            gate = threading.Event()

            def read(self):
                if self.index == 3 and not self.gate.is_set():
                    self.lost = "camera:0 is lost (it gives no frames); connecting again"
                    self.gate.wait(20)
                    self.lost = None
                return super().read()

            def interrupt(self):
                self.gate.set()

        sources.append(Losing(frames(8), live=True))
        return sources[-1]

    driver = drive(open_it)
    driver.engine.open("camera:0")
    driver.until(lambda: driver.views and driver.view.trouble)
    assert "camera:0 is lost" in driver.view.trouble
    sources[0].gate.set()
    driver.until(lambda: driver.view.processed + driver.view.dropped == 8 and driver.view.trouble is None)


def test_a_paused_camera_goes_on_unseen(drive):
    driver = drive(opener(frames(30), live=True))
    driver.engine.open("camera:0")
    driver.engine.pause()
    driver.settle()
    assert driver.view.processed == 0
    assert driver.view.result is None


def test_the_newest_of_many_seeks_wins(drive):
    driver = opened(drive())
    for index in range(18):
        driver.engine.seek(index)
    driver.settle()
    assert driver.view.position == 17
    assert driver.engine.history.written <= 23


def test_fast_frames_are_not_all_drawn(drive):
    driver = drive(opener(frames(400)), speed=AS_FAST_AS_POSSIBLE)
    opened(driver)
    assert driver.view.processed == 400
    assert len(driver.views) < 300


def test_a_history_is_written_as_a_table(drive, tmp_path: Path):
    driver = opened(drive())
    assert driver.engine.history.to_csv(tmp_path / "statistics.csv") == 20
    lines = (tmp_path / "statistics.csv").read_text().splitlines()
    columns = "elapsed_s,number,time_s,foreground,ms,ms_b,f_measure,f_measure_b,f_frame,wrong,f_frame_b,wrong_b"
    columns += ",foreground_b"
    assert lines[0] == columns
    assert lines[-1].startswith("0.76,20,0.76,")
