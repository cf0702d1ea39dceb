"""The size of the frames that are processed, and a first pass that learns from all of them."""

import math
from dataclasses import replace

import numpy as np
import pytest

from bgsub import pipeline
from bgsub._opencv import cv2
from bgsub.config import Config
from bgsub.errors import ConfigError
from bgsub.frames import VideoInfo
from bgsub.gui.commands import CommandId
from bgsub.gui.counting import Counting
from bgsub.gui.engine.opening import Sampled
from bgsub.gui.messages import Sampling, Settings
from bgsub.gui.panels.detector import command_line
from bgsub.gui.window.saved_tabs import SavedTabs, parse_session, session_text
from bgsub.gui.workspace import Workspace
from bgsub.roi import Region
from bgsub.video.sources import Slice
from tests.gui.conftest import EASY, FAST
from tests.gui.driving import Driver, Scripted, frames, opener

NORMA = Config("norma", {"warmup": 3, "threads": 1})
SQUARE = Region(include=(((8.0, 8.0), (40.0, 8.0), (40.0, 40.0), (8.0, 40.0)),))


# Sampling


@pytest.mark.parametrize(
    ("sampling", "info", "wanted"),
    [
        (Sampling(), VideoInfo("a", (48, 64), 25.0), (1.0, 1)),
        (Sampling(0.5), VideoInfo("a", (48, 64), 25.0), (0.5, 1)),
        (Sampling(largest_px=32), VideoInfo("a", (48, 64), 25.0), (0.5, 1)),
        (Sampling(largest_px=640), VideoInfo("a", (48, 64), 25.0), (1.0, 1)),
        (Sampling(0.25, 32), VideoInfo("a", (48, 64), 25.0), (0.25, 1)),
        (Sampling(rate_hz=5), VideoInfo("a", (48, 64), 25.0, live=True), (1.0, 5)),
        (Sampling(rate_hz=5), VideoInfo("a", (48, 64), 25.0), (1.0, 1)),  # files are shown frame by frame
        (Sampling(rate_hz=5, largest_px=32), VideoInfo("a", None, None, live=True), (1.0, 1)),
    ],
)
def test_scale_and_step_follow_from_size_and_rate(sampling, info, wanted):
    assert sampling.of(info) == wanted


def test_a_sampled_source_is_the_slice_that_a_run_makes():
    items = frames(6, (48, 64))
    sampled = Sampled(opener(items, live=True), Sampling(0.5, rate_hz=12.5))
    with sampled("any", start=None) as mine, Slice(Scripted(items), skip=2, scale=0.5) as theirs:
        assert sampled.scale == 0.5
        assert mine.info.size == (24, 32)
        for one, other in zip(mine, theirs, strict=True):
            assert one.number == other.number
            np.testing.assert_array_equal(one.frame, other.frame)


def test_a_source_whose_frames_cannot_be_scaled_is_closed():
    closed = []

    class Watched(Scripted):
        def close(self) -> None:
            closed.append(True)

    with pytest.raises(ValueError, match="scale"):
        Sampled(lambda *_, **__: Watched(frames(2)), Sampling(2.0))("any", start=None)
    assert closed == [True]


def test_another_size_keeps_frame_region_and_lines(qtbot, make_session):
    session = make_session()
    session.open(EASY)
    qtbot.waitUntil(lambda: session.view.processed >= 40)
    session.change(region=SQUARE, counting=Counting().added(((0.0, 0.0), (64.0, 48.0))))
    session.seek(20)
    qtbot.waitUntil(lambda: session.view.position == 20)
    session.choose_scale(0.5)
    qtbot.waitUntil(lambda: session.size == (24, 32) and session.view.position == 20 and not session.view.opening)
    assert session.scale == 0.5
    assert session.settings.region.include[0][2] == (20.0, 20.0)
    assert session.settings.counting.lines["line 1"] == ((0.0, 0.0), (32.0, 24.0))
    with session.opener(EASY, start=None) as again:
        assert again.info.size == (24, 32)
    assert "--scale 0.5" in command_line(session)
    session.choose_scale(1.0)
    qtbot.waitUntil(lambda: session.size == (48, 64))
    assert session.settings.region == SQUARE
    assert "--scale" not in command_line(session)


def test_another_source_comes_in_its_own_size(qtbot, make_session):
    session = make_session(settings=replace(FAST, sampling=Sampling(0.5)))
    session.open(EASY)
    qtbot.waitUntil(lambda: session.size == (24, 32))
    session.open(EASY.replace("48", "40"))
    qtbot.waitUntil(lambda: session.size == (40, 64))


def test_the_menu_shows_and_chooses_the_size(window, session, qtbot):
    window.open(EASY)
    qtbot.waitUntil(lambda: session.size == (48, 64))
    assert window.menus.actions[CommandId.FULL_SIZE].isChecked()
    window.menus.actions[CommandId.QUARTER_SIZE].trigger()
    qtbot.waitUntil(lambda: session.size == (12, 16))
    qtbot.waitUntil(window.menus.actions[CommandId.QUARTER_SIZE].isChecked)
    assert not window.menus.actions[CommandId.FULL_SIZE].isChecked()


def test_the_command_line_names_the_part(qtbot, make_session):
    session = make_session()
    session.open(EASY)
    qtbot.waitUntil(lambda: session.view.processed > 3)
    session.set_part(0.4, 1.2)
    assert "--start 0.400s --end 1.200s" in command_line(session)
    session.set_part(None, 1.2)
    assert "--start" not in command_line(session)


# Session files


def test_a_session_file_keeps_the_sampling():
    settings = Settings(sampling=Sampling(0.5, 320, 10.0))
    assert parse_session(session_text(SavedTabs((Workspace("a.mp4", 3, settings),))), "it").tabs[0].settings == settings


def test_a_session_file_keeps_a_region_that_is_an_image():
    image = np.zeros((1080, 1920), np.uint8)
    image[np.random.default_rng(0).random(image.shape) < 0.5] = 255  # nothing compresses worse
    text = session_text(SavedTabs((Workspace("", 0, Settings(region=Region(image=image))),)))
    assert len(text) < 2**19
    np.testing.assert_array_equal(parse_session(text, "it").tabs[0].settings.region.image, image)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[region]\nimage = 'no base64!'", "region.image must be an image"),
        ("[region]\nimage = 'aGVsbG8='", "region.image must be an image"),
        ("[region]\nimage = 'aGVsbG8='\ninclude = []", "region"),
        ("[region]\nimage = ''", "region.image"),
        ("[frames]\nscale = 2", "frames.scale"),
        ("[frames]\nscale = 0", "frames.scale"),
        ("[frames]\nlargest_px = 3", "frames.largest_px"),
        ("[frames]\nrate_hz = -1", "frames.rate_hz"),
        ("[frames]\nother = 1", "no entry .other.; it may have largest_px, rate_hz, scale"),
    ],
)
def test_wrong_frames_and_images_are_named(text, message):
    with pytest.raises(ConfigError, match=message):
        parse_session(f"version = 1\n{text}", "it")


def test_an_image_of_too_many_pixels_is_refused_before_it_is_decoded(monkeypatch):
    import base64

    _, data = cv2.imencode(".png", np.zeros((300, 400), np.uint8))
    monkeypatch.setenv("BGSUB_MAX_FRAME_PIXELS", "1000")
    with pytest.raises(ConfigError, match=r"region\.image"):
        parse_session(f"version = 1\n[region]\nimage = '{base64.b64encode(bytes(data)).decode()}'", "it")


# First pass


@pytest.fixture
def drive(no_leaked_threads):
    made = []

    def make(items: list, **changed) -> Driver:
        settings = replace(FAST, config=NORMA)
        driver = Driver(opener(items), settings)
        made.append(driver)
        driver.engine.open("any")
        driver.settle()
        driver.engine.apply(replace(settings, **changed))
        return driver

    yield make
    for driver in made:
        driver.engine.close()


def standing(count: int = 60) -> list:
    """Somebody who stands still at the beginning of the clip and goes; another passes at the end."""
    items = frames(count)
    for frame in items[: count // 6]:
        frame[4:20, 8:24] = 220
    for index in range(50, 54):
        items[index][2:22, 2 + index - 50 : 20 + index - 50] = 150
    return items


def masks_of_run(items: list) -> list:
    """Masks of `bgsub run --two-pass`."""
    detector = NORMA.make_detector(rate_hz=25.0)
    learning = replace(NORMA, learning_rate=-1.0).make_pipeline(detector)
    pipeline.run(Scripted(items), learning, [])
    made = NORMA.make_pipeline(detector)
    return [made.step(packet).mask for packet in Scripted(items)]


def test_a_first_pass_makes_the_masks_of_a_run_with_two(drive):
    items = standing()
    driver = drive(items)
    assert driver.view.position == 59
    driver.engine.learn_first()
    driver.until(lambda: driver.view.position == 0)  # a pass may be over before anybody sees that it is running
    driver.settle()
    masks = [driver.view.result.mask]
    for _ in range(59):
        driver.engine.step(1)
        driver.settle()
        masks.append(driver.view.result.mask)
    for mine, theirs in zip(masks, masks_of_run(items), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    only = NORMA.make_pipeline(NORMA.make_detector(rate_hz=25.0))
    once = [only.step(packet).mask for packet in Scripted(items)]
    assert any(mask.any() for mask in masks)
    assert any((mask != other).any() for mask, other in zip(masks, once, strict=True))


def test_a_first_pass_learns_from_the_part_alone(drive):
    driver = drive(standing(), part=(0.4, 1.0))
    driver.engine.learn_first()
    driver.settle()
    assert driver.view.position == 10
    assert driver.engine.runs.main.detector.frames_seen == 16 + 1  # and the frame that is shown


def test_a_first_pass_that_was_begun_while_playing_goes_on_playing(drive):
    driver = drive(standing(), loop=True, part=(0.0, 1.0))
    driver.engine.play()
    driver.engine.learn_first()
    driver.until(lambda: driver.view.playing and driver.engine.runs.main.detector.frames_seen > 30)


def test_pausing_ends_a_first_pass(drive):
    driver = drive(standing())
    driver.engine.learn_first()
    driver.until(lambda: driver.engine.runs.main.detector.frames_seen > 3)
    driver.engine.pause()
    seen = driver.engine.runs.main.detector.frames_seen
    driver.settle()
    assert driver.engine.runs.main.detector.frames_seen == seen < 60
    assert not any("learning all" in caption for caption in driver.view.captions)


def test_settings_changed_during_a_first_pass_are_used_after_it(drive):
    driver = drive(standing())
    driver.engine.learn_first()
    driver.until(lambda: driver.engine.runs.main.detector.frames_seen > 3)
    changed = Config("norma", {"warmup": 3, "threads": 1, "learn_every": 3})
    driver.engine.apply(replace(FAST, config=changed, pinned_pixels=((3, 4),)))
    driver.settle()
    assert driver.engine.runs.main.detector.frames_seen == 61
    assert driver.engine.runs.main.detector.parameters["learn_every"] == 3


def test_a_live_source_cannot_be_learned_to_its_end(no_leaked_threads):
    driver = Driver(opener(frames(5), live=True), FAST)
    driver.engine.open("any")
    driver.until(lambda: driver.engine.progress.processed)
    driver.engine.learn_first()
    assert "has an end" in driver.texts
    driver.engine.close()


def test_a_part_is_infinite_where_it_has_no_end(drive):
    driver = drive(standing(), part=(1.0, math.inf))
    driver.engine.learn_first()
    driver.settle()
    assert driver.view.position == 25
    assert driver.engine.runs.main.detector.frames_seen == 36
