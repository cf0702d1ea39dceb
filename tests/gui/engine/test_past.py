"""Looking back, turning knobs on a frame that is held, and processing frames again: driven by hand, without Qt."""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from bgsub.config import Config
from bgsub.evaluation import GroundTruth
from bgsub.frames import Packet, Result, Timings
from bgsub.gui import panes
from bgsub.gui.engine.engine import Engine
from bgsub.gui.engine.player import Arrival, PlayedFrame
from bgsub.gui.engine.processing.budget import Budget
from bgsub.gui.engine.processing.past_results import PackedMask, PastResults
from bgsub.gui.engine.processing.recent_frames import RecentFrames
from bgsub.gui.engine.processing.snapshots import Snapshot, Snapshots
from bgsub.gui.engine.recorder import Outputs
from bgsub.gui.messages import Settings
from bgsub.roi import Region
from bgsub.video.sources import open_source
from bgsub.video.sources.synthetic import SyntheticScene, write_sample
from tests.gui.conftest import FAST
from tests.gui.driving import Driver, Scripted, opener

pytestmark = pytest.mark.usefixtures("no_leaked_threads")

COUNT = 240
NORMA = {"learn_every": 2, "warmup": 3, "threads": 1}


def moving(count: int = COUNT) -> list:
    """Noise with a bright square that moves, so that masks differ from frame to frame."""
    noise = np.random.default_rng(1)
    made = []
    for index in range(count):
        frame = np.clip(70 + noise.normal(0, 12, (24, 32, 3)), 0, 255).astype(np.uint8)
        frame[4:12, index % 24 : index % 24 + 8] = 200
        made.append(frame)
    return made


@pytest.fixture
def drive():
    made = []

    def make(open_it: Callable | None = None, budget: Budget | None = None, **changed) -> Driver:
        driver = Driver(open_it or opener(moving()), replace(FAST, **changed))
        driver.engine = Engine(
            driver.views.append,
            driver.events.append,
            lambda: None,
            open_it or opener(moving()),
            replace(FAST, **changed),
            budget,
        )
        made.append(driver)
        return driver

    yield make
    for driver in made:
        driver.engine.close()


def play_to(driver: Driver, count: int, text: str = "any") -> None:
    """Open, and pause after this many frames."""
    driver.engine.open(text)
    driver.until(lambda: driver.engine.progress.processed == count - 1)
    driver.engine.pause()
    driver.settle()
    assert driver.view.position == count - 1


def mask(driver: Driver, side: int = 0) -> np.ndarray:
    return driver.engine.progress.results[side].mask.copy()


def straight(settings: Settings, count: int, items: list | None = None, other: bool = False) -> list[np.ndarray]:
    """The masks of a run without any detour."""
    config = settings.other if other else settings.config
    pipeline = replace(config, roi="").make_pipeline(config.make_detector(rate_hz=25.0))
    if settings.region is not None:
        pipeline.region = settings.region
    return [
        pipeline.step(Packet(index, index / 25, frame, index + 1)).mask
        for index, frame in enumerate((items or moving())[:count])
    ]


def changed(driver: Driver, **parameters) -> Settings:
    return replace(FAST, config=Config("norma", NORMA | parameters))


@pytest.mark.parametrize("config", [FAST.config, Config("adaptive", {"threads": 1}), Config("mog2"), Config("knn")])
def test_a_hundred_frames_back_and_forward_show_the_same_masks_and_teach_nothing(drive, config):
    driver = drive(config=config)
    play_to(driver, 130)
    shown = {driver.view.position: mask(driver)}
    detector = driver.engine.runs.main.detector
    seen, rows = (detector.frames_seen if config.detector == "norma" else None), driver.engine.history.written
    there, back = {}, {}
    for _ in range(100):
        driver.engine.step(-1)
        driver.settle()
        there[driver.view.position] = mask(driver)
    assert min(there) == 29
    for _ in range(100):
        driver.engine.step(1)
        driver.settle()
        back[driver.view.position] = mask(driver)
    assert driver.engine.runs.main.detector is detector
    assert driver.engine.history.written == rows
    if seen is not None:
        assert detector.frames_seen == seen
    assert np.array_equal(back[129], shown[129])
    for position in set(there) & set(back):
        assert np.array_equal(there[position], back[position])
    if not type(detector).repeatable:
        return
    expected = straight(replace(FAST, config=config), 140)
    for position, found in (there | back | shown).items():
        assert np.array_equal(found, expected[position])
    for _ in range(10):  # and on with the model as it was
        driver.engine.step(1)
        driver.settle()
        assert np.array_equal(mask(driver), expected[driver.view.position])
    assert driver.view.processed == 140


def test_playing_on_from_an_earlier_frame_shows_what_was_found_and_then_goes_on(drive):
    driver = drive()
    play_to(driver, 60)
    driver.engine.seek(20)
    driver.settle()
    assert driver.view.looking_back
    seen = driver.engine.runs.main.detector.frames_seen
    driver.engine.play()
    assert seen == 60
    driver.until(lambda: driver.engine.progress.processed == 61)
    assert driver.engine.runs.main.detector.frames_seen == 61
    driver.settle()
    assert not driver.view.looking_back
    expected = straight(FAST, COUNT)
    assert driver.view.position == COUNT - 1
    assert np.array_equal(mask(driver), expected[-1])
    assert driver.engine.history.written == COUNT


def test_a_frame_that_is_not_kept_is_judged_without_learning(drive):
    driver = drive(budget=Budget(results=1))
    play_to(driver, 30)
    state = driver.engine.runs.main.detector
    seen = state.frames_seen
    driver.engine.step(-1)
    driver.settle()
    assert driver.view.position == 28
    assert state.frames_seen == seen
    assert driver.engine.history.written == 30


def test_a_knob_turned_on_a_frame_that_is_held_acts_as_if_turned_before_it(drive):
    driver = drive()
    play_to(driver, 50)
    before = mask(driver)
    driver.engine.apply(changed(driver, kappa=0.9))
    driver.settle()
    after = mask(driver)
    assert not np.array_equal(before, after)
    assert driver.view.processed == 50
    assert driver.engine.history.written == 50
    assert driver.engine.runs.main.detector.frames_seen == 50
    expected = straight(FAST, 49)
    config = changed(driver, kappa=0.9).config
    pipeline = FAST.config.make_pipeline(FAST.config.make_detector(rate_hz=25.0))
    for index, frame in enumerate(moving()[:60]):
        if index == 49:
            pipeline.detector.change(kappa=0.9)
        found = pipeline.step(Packet(index, index / 25, frame, index + 1)).mask
        if index < 49:
            assert np.array_equal(found, expected[index])
        elif index == 49:
            assert np.array_equal(found, after)
    assert config.parameters["kappa"] == 0.9
    for _ in range(10):
        driver.engine.step(1)
        driver.settle()
    assert np.array_equal(mask(driver), found)


def test_turning_a_knob_and_back_leaves_no_trace(drive):
    driver = drive()
    play_to(driver, 50)
    before = mask(driver)
    for kappa in (0.9, 0.1, 0.25):
        driver.engine.apply(changed(driver, kappa=kappa))
    driver.engine.apply(FAST)
    driver.settle()
    assert np.array_equal(mask(driver), before)
    driver.engine.play()
    driver.settle()
    assert np.array_equal(mask(driver), straight(FAST, COUNT)[-1])


def test_region_freezing_scores_and_pixels_answer_on_the_frame_that_is_held(drive):
    driver = drive()
    play_to(driver, 50)
    assert driver.view.result.score is None
    driver.engine.apply(replace(FAST, panes=(panes.SCORE, panes.BACKGROUND)))
    driver.settle()
    assert set(driver.view.images) == {panes.SCORE, panes.BACKGROUND}
    assert np.array_equal(mask(driver), straight(FAST, 50)[-1])
    region = Region(include=(((0.0, 0.0), (15.0, 0.0), (15.0, 23.0), (0.0, 23.0)),))
    driver.engine.apply(replace(FAST, region=region))
    driver.settle()
    assert mask(driver)[:, 17:].max() == 0
    driver.engine.apply(replace(FAST, region=None, pinned_pixels=((5, 3),)))
    driver.settle()
    assert np.array_equal(mask(driver), straight(FAST, 50)[-1])
    assert driver.view.pinned_pixels[0].before_learning
    driver.engine.apply(replace(FAST, frozen=True))
    driver.settle()
    assert driver.engine.runs.main.detector.frames_seen == 49


def test_another_detector_chosen_while_paused_learns_from_the_frames_before(drive):
    driver = drive()
    play_to(driver, 150)
    driver.engine.apply(replace(FAST, config=Config("olk"), other=Config("mog2")))
    driver.settle()
    assert [run.name for run in driver.view.runs] == ["olk", "mog2"]
    assert driver.view.position == 149
    assert driver.engine.runs.main.detector.frames_seen >= 100
    assert driver.view.result.packet.index == 149
    assert (mask(driver, 1) == 0).mean() > 0.5  # an empty model would find everything
    driver.engine.apply(replace(FAST, config=Config("mog2", {"var_threshold": 90.0})))
    driver.settle()
    assert driver.view.runs[0].name == "mog2"
    assert (mask(driver) == 0).mean() > 0.5


def test_settings_are_applied_from_seconds_back(drive):
    driver = drive(budget=Budget(snapshot_interval_s=1.0))
    play_to(driver, 150)
    driver.engine.apply(changed(driver, kappa=0.9))
    driver.engine.rerun(2.0)
    driver.settle()
    assert driver.view.position == 149
    assert driver.view.processed == 150
    assert driver.engine.runs.main.detector.frames_seen == 150
    assert driver.engine.history.rows()[:, 1].tolist() == list(range(1, 151))
    pipeline = FAST.config.make_pipeline(FAST.config.make_detector(rate_hz=25.0))
    found = {}
    for index, frame in enumerate(moving()[:150]):
        if index == 99:
            pipeline.detector.change(kappa=0.9)
        found[index] = pipeline.step(Packet(index, index / 25, frame, index + 1)).mask
    assert np.array_equal(mask(driver), found[149])
    driver.engine.step(-30)
    driver.settle()
    assert np.array_equal(mask(driver), found[119])


@pytest.mark.parametrize("frame_bytes", [2**26, 24 * 32 * 3 * 10])
def test_a_knob_turned_on_an_earlier_frame_takes_the_model_back_to_it(drive, frame_bytes):
    driver = drive(budget=Budget(frames=frame_bytes, snapshot_interval_s=1.0))
    play_to(driver, 150)
    driver.engine.step(-40)
    driver.settle()
    before = mask(driver)
    assert driver.view.position == 109
    driver.engine.apply(changed(driver, kappa=0.9))
    driver.settle()
    assert driver.view.position == 109
    assert not driver.view.looking_back
    assert driver.view.processed == 110
    assert driver.engine.runs.main.detector.frames_seen == 110
    assert not np.array_equal(mask(driver), before)
    driver.engine.apply(FAST)
    driver.settle()
    assert np.array_equal(mask(driver), before)
    for _ in range(5):
        driver.engine.step(1)
        driver.settle()
    assert np.array_equal(mask(driver), straight(FAST, 115)[-1])
    assert driver.engine.history.rows()[:, 1].tolist() == list(range(1, 116))


def test_an_earlier_frame_shows_neither_score_nor_background_until_the_model_is_taken_back(drive):
    driver = drive(panes=(panes.SCORE, panes.BACKGROUND, panes.MASK), pinned_pixels=((5, 3),))
    play_to(driver, 60)
    driver.engine.step(-10)
    driver.settle()
    assert set(driver.view.images) == {panes.MASK}
    assert driver.view.pinned_pixels[0].state is None
    assert "Rewind" in driver.view.pinned_pixels[0].reason
    before = mask(driver)
    driver.engine.rerun(0.0)
    driver.settle()
    assert set(driver.view.images) == {panes.SCORE, panes.BACKGROUND, panes.MASK}
    assert driver.view.pinned_pixels[0].state is not None
    assert np.array_equal(mask(driver), before)


def test_settings_that_changed_on_the_way_are_used_again_where_they_were(drive):
    driver = drive(budget=Budget(snapshot_interval_s=100.0))
    play_to(driver, 40)
    driver.engine.apply(changed(driver, kappa=0.6))
    driver.engine.play()
    driver.until(lambda: driver.engine.progress.processed == 99)
    driver.engine.pause()
    driver.settle()
    driver.engine.step(-20)
    driver.settle()
    before = mask(driver)
    driver.engine.rerun(0.0)
    driver.settle()
    assert driver.view.position == 79
    assert np.array_equal(mask(driver), before)
    assert driver.engine.runs.main.detector.parameters["kappa"] == 0.6


def test_a_paused_camera_answers_from_the_frames_it_delivered(drive):
    class Paced(Scripted):
        def read(self) -> Packet | None:
            time.sleep(0.005)
            return super().read()

    driver = drive(lambda text, /, *, start: Paced(moving(), live=True))
    driver.engine.open("camera:0")
    driver.until(lambda: driver.engine.progress.processed >= 20)
    driver.engine.pause()
    driver.until(lambda: not driver.view.playing and driver.engine.progress.results)
    processed = driver.engine.progress.processed
    before = mask(driver)
    driver.engine.apply(changed(driver, kappa=0.9))
    driver.until(lambda: not np.array_equal(mask(driver), before))
    assert driver.engine.progress.processed == processed
    driver.engine.apply(replace(FAST, config=Config("olk")))
    driver.until(
        lambda: driver.engine.runs.main.detector.name == "olk" and driver.engine.runs.main.detector.frames_seen > 1
    )


def test_recordings_begin_at_zero_and_have_no_frame_twice(drive, tmp_path):
    driver = drive()
    play_to(driver, 100)
    driver.engine.record(Outputs({"mask": tmp_path / "m.mkv"}))
    driver.engine.play()
    driver.until(lambda: driver.engine.recorder.recorded == 20)
    driver.engine.step(-1)
    driver.settle()
    driver.engine.step(1)
    driver.settle()
    recorded = driver.engine.recorder.recorded
    driver.engine.apply(changed(driver, kappa=0.9))
    driver.settle()
    assert driver.engine.recorder.recorded == recorded
    driver.engine.stop_recording()
    with open_source(tmp_path / "m.mkv") as source:
        times = [packet.time_s for packet in source]
    assert times[0] == 0
    assert times[-1] == pytest.approx((recorded - 1) / 25, abs=0.05)


def test_real_files_are_looked_at_again_frame_by_frame(drive):
    driver = drive(lambda text, /, *, start: open_source(text, start=start))
    driver.engine.open("synthetic:easy?frames=60&size=64x48")
    driver.settle()
    expected = {}
    for _ in range(20):
        driver.engine.step(-1)
        driver.settle()
        expected[driver.view.position] = mask(driver)
    assert driver.engine.history.written == 60
    assert sorted(expected) == list(range(39, 59))


def test_what_is_kept_stays_within_its_memory(drive):
    budget = Budget(results=20_000, snapshots=300_000, frames=50_000, snapshot_interval_s=0.2)
    driver = drive(budget=budget)
    driver.engine.apply(replace(FAST, loop=True))
    driver.engine.open("any")
    model = 0
    for count in range(100, 900, 100):
        driver.until(lambda count=count: driver.engine.progress.processed >= count, timeout_s=60)
        model = driver.engine.runs.main.detector.memory_bytes
        results, snapshots, recent = driver.engine.work.kept_bytes
        assert results <= budget.results
        assert snapshots <= max(budget.snapshots, 2 * model)
        assert recent <= budget.frames


def test_what_is_too_much_goes_as_soon_as_the_memory_is_shared(drive):
    whole = Budget(results=20_000, snapshots=300_000, frames=100_000, snapshot_interval_s=0.2)
    driver = drive(budget=whole)
    play_to(driver, 200)
    work, part = driver.engine.work, whole.shared(5)
    assert all(kept > most for kept, most in zip(work.kept_bytes, (4_000, 60_000, 20_000), strict=True))
    work.use_budget(part)  # the tab is paused: no frame comes that could push out older ones
    assert (part.results, part.snapshots, part.frames) == (4_000, 60_000, 20_000)
    assert all(kept <= most for kept, most in zip(work.kept_bytes, (4_000, 60_000, 20_000), strict=True))
    assert min(len(work.past), len(work.recent)) > 1
    driver.engine.step(-1)
    driver.settle()
    assert driver.view.looking_back


def test_masks_are_packed_without_loss():
    random = np.random.default_rng(2)
    for shape in ((1, 1), (7, 13), (48, 64)):
        found = (random.random(shape) < 0.3).astype(np.uint8) * 255
        assert np.array_equal(PackedMask.pack(found).unpack(), found)


def test_past_results_give_way_when_memory_is_full():
    past = PastResults(3_300)
    frame = np.zeros((8, 8, 3), np.uint8)
    for index in range(5):
        result = Result(Packet(index, index / 25, frame, index), np.zeros((8, 8), np.uint8), None, Timings(0, 0, 0))
        past.add([result], FAST)
    assert len(past) == 3
    assert past.find(1 / 25) is None
    assert past.find(2 / 25) is not None
    past.drop_from(3 / 25)
    assert len(past) == 1
    past.clear()
    assert past.nbytes == 0


def test_snapshots_thin_out_between_the_first_and_the_last():
    class Held(Snapshot):
        @property
        def nbytes(self) -> int:
            return 10

    kept = Snapshots(40, 1.0)
    for time_s in range(8):
        assert kept.is_due(time_s)
        kept.add(Held(time_s, time_s, (), time_s, time_s, time_s))
    assert len(kept) == 4
    assert kept.times_s[0] == 0
    assert kept.times_s[-1] == 7
    assert kept.before(6.5).time_s <= 6.5
    assert not kept.is_due(7.5)
    kept.drop_after(0)
    assert kept.times_s == [0]


def test_recent_frames_are_bounded_by_bytes():
    recent = RecentFrames(100)
    for index in range(5):
        packet = Packet(index, index / 25, np.zeros((5, 8), np.uint8), index)
        recent.add(PlayedFrame(packet, 0.0, Arrival.NEXT, index))
    assert [played.position for played in recent.until(1.0)] == [3, 4]
    recent.drop_from(4 / 25)
    assert recent.nbytes == 40


def test_a_detector_that_cannot_be_copied_stays_as_it_is_while_the_other_one_is_tuned(drive):
    driver = drive(other=Config("mog2"))
    play_to(driver, 50)
    before, second = mask(driver), driver.engine.runs.second.detector
    found = mask(driver, 1)
    both = replace(changed(driver, kappa=0.9), other=Config("mog2"))
    driver.engine.apply(both)
    driver.settle()
    assert not np.array_equal(mask(driver), before)
    assert driver.engine.runs.second.detector is second
    assert np.array_equal(mask(driver, 1), found)
    driver.engine.apply(replace(both, panes=(panes.SCORE,), pinned_pixels=((5, 3),)))
    driver.settle()
    assert panes.SCORE in driver.view.images
    assert driver.view.pinned_pixels[0].before_learning
    driver.engine.play()
    driver.settle()
    assert np.array_equal(mask(driver, 1), straight(both, COUNT, other=True)[-1])
    processed = driver.engine.progress.processed
    driver.engine.apply(replace(both, other=None))  # at once, without processing frames before it again
    assert len(driver.engine.progress.results) == 1
    assert driver.engine.progress.processed == processed


def test_counts_are_of_each_frame_once_and_never_of_another_truth(drive, tmp_path):
    write_sample(tmp_path / "street", SyntheticScene(size=(48, 64), frames=40))
    truth, again = GroundTruth(tmp_path / "street"), GroundTruth(tmp_path / "street")
    settings = replace(FAST, truth=truth, panes=(panes.ERRORS,))
    driver = drive(lambda text, /, *, start: open_source(text, start=start), truth=truth, panes=(panes.ERRORS,))
    play_to(driver, 30, str(tmp_path / "street" / "input"))
    run = driver.view.runs[0]
    driver.engine.apply(replace(settings, config=Config("norma", NORMA | {"kappa": 0.9})))
    driver.engine.apply(settings)
    driver.settle()
    assert (driver.view.runs[0].counts, driver.view.runs[0].scored) == (run.counts, run.scored)
    assert driver.view.images[panes.ERRORS].shape == (48, 64, 3)
    driver.engine.apply(replace(settings, truth=again))
    driver.settle()
    assert driver.view.runs[0].scored == 1  # the frame that is held
    driver.engine.apply(replace(settings, truth=again, config=Config("norma", NORMA | {"kappa": 0.9})))
    driver.settle()
    assert driver.view.runs[0].scored == 1


def test_opening_while_frames_are_processed_again_uses_the_present_settings(drive):
    driver = drive()
    play_to(driver, 230)
    driver.engine.apply(replace(FAST, other=Config("mog2")))
    driver.until(lambda: driver.engine.runs.second is None)  # frames before get the settings that they had
    driver.engine.open("any")
    driver.until(lambda: driver.engine.progress.processed == 5)
    assert driver.engine.runs.second is not None
    assert len(driver.engine.progress.results) == 2
