"""Session files, parts that are repeated, and the question at the end."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.config import Config
from bgsub.detectors import detector_class
from bgsub.errors import ConfigError
from bgsub.evaluation import GroundTruth
from bgsub.gui import panes
from bgsub.gui.messages import AS_FAST_AS_POSSIBLE, Settings
from bgsub.gui.painted_truth import FOREGROUND_LABEL, PaintedTruth
from bgsub.gui.panels.truth import panel as truth_panel
from bgsub.gui.panes import Side, stage_panes
from bgsub.gui.widgets.dialogs import Answer
from bgsub.gui.window import session_files
from bgsub.gui.window.main_window import MainWindow
from bgsub.gui.window.saved_tabs import (
    SavedCameras,
    SavedTabs,
    parse_session,
    read_session,
    session_text,
    write_session,
)
from bgsub.gui.workspace import Workspace, public_source
from bgsub.postprocess import Postprocess
from bgsub.roi import Region
from bgsub.video.sources import parse_position
from tests.gui.conftest import EASY, FAST
from tests.gui.driving import Driver, frames, opener

TRIANGLE = Region(include=(((0.0, 0.0), (40.0, 0.0), (40.0, 40.5)),), exclude=(((1.0, 1.0), (5.0, 1.0), (5.0, 5.0)),))


@pytest.fixture
def truth(tmp_path: Path) -> GroundTruth:
    folder = tmp_path / "groundtruth"
    folder.mkdir()
    cv2.imwrite(str(folder / "gt000003.png"), np.zeros((48, 64), np.uint8))
    return GroundTruth(folder)


def full(truth: GroundTruth) -> Workspace:
    majority = stage_panes(detector_class("adaptive"), Side.A)[1]
    settings = Settings(
        config=Config("adaptive", {"threshold": 0.3, "slots": 4}, Postprocess(7, True, 9), 0.01, 12),
        other=Config("mog2", {"var_threshold": 20.0}),
        frozen=True,
        region=TRIANGLE,
        speed=AS_FAST_AS_POSSIBLE,
        loop=True,
        part=(1.5, math.inf),
        keep_model=False,
        panes=(majority, panes.STEPS, panes.MASK_B),
        overlay_style="tint",
        pinned_pixels=((3, 4), (10, 2)),
        truth=truth,
    )
    return Workspace("/videos/street.mp4", 471, settings)


def test_a_session_file_holds_everything(truth, tmp_path):
    wanted = full(truth)
    write_session(SavedTabs((wanted,)), tmp_path / "one.session.toml")
    (found,) = read_session(tmp_path / "one.session.toml").tabs
    assert found.settings.truth.folder == truth.folder.resolve()
    assert replace(found.settings, truth=truth) == wanted.settings
    assert (found.source, found.position) == (wanted.source, wanted.position)


def test_defaults_make_a_short_file_and_come_back():
    empty = SavedTabs((Workspace(),))
    assert parse_session(session_text(empty), "it") == empty
    assert parse_session("version = 1", "it") == empty
    assert empty.is_empty


def test_several_tabs_and_cameras_are_kept_together(truth):
    one, two = full(truth), Workspace("b.mp4", 3)
    cameras = SavedCameras("/etc/cameras.toml", ("yard",), {"yard": Workspace(settings=two.settings)})
    wanted = SavedTabs((replace(one, settings=replace(one.settings, truth=None)), cameras, two), 1, "yard")
    assert parse_session(session_text(wanted), "it") == wanted
    assert "version = 2" in session_text(wanted)
    assert not wanted.is_empty


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version = 3", "version must be 1 or 2"),
        ("version = 2", "tabs must be a list of 1 to 100"),
        ("version = 2\ntabs = [3]", "tabs must be a list of tables"),
        ("version = 2\nshown = 1\n[[tabs]]\nsource = 'a.mp4'", "shown must be a whole number from 0 to 0"),
        ("version = 2\n[[tabs]]\nwatch = ''", "tabs[0].watch must be text"),
        ("version = 2\n[[tabs]]\n[[tabs]]\nwatch = 'a'\nopened = 3", "tabs[1].opened must be a list of names"),
        ("version = 2\n[[tabs]]\nwatch = 'a'\nsource = 'b'", "tabs[0] has no entry 'source'"),
        ("", "version is missing"),
        ("version = 1\nsurprise = 3", "has no entry 'surprise'"),
        ("version = 1\nposition = -1", "position must be a whole number"),
        ("version = 1\n[play]\nspeed = 'fast'", "play.speed must be a number"),
        (f"version = 1\n[play]\nspeed = 1{400 * '0'}", "play.speed must be a number"),
        (
            f"version = 1\n[region]\ninclude = [[[1{400 * '0'}, 1], [2, 2], [3, 1]]]",
            "region must hold lists of corners",
        ),
        (f"version = 1\n[counting.lines]\nx = [[1{400 * '0'}, 1], [2, 2]]", "counting.lines must hold lists of points"),
        ("version = 1\n[play]\npart = [3.0, 2.0]", "play.part must be one or two rising times"),
        ("version = 1\n[play]\npart = [nan]", "play.part must be one or two rising times"),
        ("version = 1\n[panes]\nshown = 'mask'", "panes.shown must be a list"),
        ("version = 1\n[panes]\npins = [[1]]", "panes.pins must be a list of pairs"),
        ("version = 1\n[detector]\ndetector = 'nothing'", "detector is wrong"),
        ("version = 1\n[detector]\nparameters = {threshold = 7.0}", "detector is wrong"),
        ("version = 1\n[region]\ninclude = [[[1, 2]]]", "region must hold lists"),
        ("version = 1\ntruth = '/nowhere/at/all'", "truth cannot be used: no ground truth at"),
        ("version = [", "is no valid TOML"),
        ("version = " + "[" * 5000, "is no valid TOML"),
    ],
)
def test_a_wrong_session_is_refused_by_name(text, message):
    with pytest.raises(ConfigError, match="my session") as caught:
        parse_session(text, "my session")
    assert message in str(caught.value)


def test_unknown_panes_fall_back_and_secrets_are_not_kept(tmp_path):
    (found,) = parse_session("version = 1\n[panes]\nshown = ['of-another-version']", "it").tabs
    assert found.settings.panes == Settings().panes
    assert public_source("rtsp://me:secret@10.0.0.7/live") == "rtsp://10.0.0.7/live"
    clip = tmp_path / "a.mp4"
    clip.touch()
    assert public_source(str(clip)) == str(clip.resolve())
    assert public_source("") == ""
    assert public_source(EASY) == EASY


# In the window


@pytest.fixture
def make_window(make_session, theme, kept):
    made = []

    def make() -> MainWindow:
        window = MainWindow(make_session(), theme, kept)
        window.show()
        made.append(window)
        return window

    yield make
    for window in made:
        window.end()
        window.deleteLater()


def test_the_last_session_is_continued_on_its_frame(make_window, qtbot):
    first = make_window()
    assert not first.start.resume.isEnabled()
    first.open(EASY)
    qtbot.waitUntil(lambda: first.session.view.processed == 40 and not first.session.view.playing)
    first.session.change(config=Config("norma", {"nu": 0.4, "learn_every": 2, "threads": 1}), region=TRIANGLE)
    first.session.pin(9, 9)
    first.grid.choose((panes.SCORE, panes.MASK))
    first.session.seek(31)
    qtbot.waitUntil(lambda: first.session.view.position == 31)
    first.close()

    second = make_window()
    assert second.start.resume.isEnabled()
    second.start.resume.click()
    session = second.session
    qtbot.waitUntil(lambda: session.view.position == 31 and session.view.processed == 32)
    assert not session.view.playing
    assert session.settings.config.parameters["nu"] == 0.4
    assert session.settings.region == TRIANGLE
    assert session.settings.pinned_pixels == ((9, 9),)
    assert second.grid.panes == (panes.SCORE, panes.MASK)
    assert second.windowTitle().startswith("synthetic")
    assert not session.has_unsaved_tuning


def test_a_session_is_saved_and_opened_by_file(make_window, qtbot, tmp_path, monkeypatch):
    path = tmp_path / "mine.session.toml"
    monkeypatch.setattr(session_files, "ask_save", lambda *_: path)
    first = make_window()
    first.open(EASY)
    qtbot.waitUntil(lambda: first.session.view.processed == 40)
    first.session.change(config=Config("norma", {"nu": 0.4, "learn_every": 2, "threads": 1}))
    assert first.session.has_unsaved_tuning
    assert first.session_files.save()
    assert not first.session.has_unsaved_tuning
    second = make_window()
    second.session_files.open(path)
    qtbot.waitUntil(lambda: second.session.view.position == 39 and not second.session.view.playing)
    assert second.session.settings.config.parameters["nu"] == 0.4
    path.write_text("version = 9")
    second.session_files.open(path)
    assert "version must be 1" in second.session.notices.text


def test_continuing_without_a_session_says_so(make_window):
    window = make_window()
    window.session_files.continue_last()
    assert "no session to continue" in window.session.notices.text


@pytest.mark.parametrize("answer", list(Answer))
def test_quitting_with_unsaved_tuning_asks_once(make_window, monkeypatch, tmp_path, answer):
    asked = []
    monkeypatch.setattr(session_files, "ask_to_save", lambda *_: asked.append(1) or answer)
    monkeypatch.setattr(session_files, "ask_save", lambda *_: tmp_path / "kept.session.toml")
    window = make_window()
    window.session.change(config=Config("norma", {"nu": 0.9}))
    assert window.close() is (answer is not Answer.CANCEL)
    assert asked == [1]
    assert (tmp_path / "kept.session.toml").exists() is (answer is Answer.SAVE)


@pytest.mark.parametrize("tuned", [False, True])
def test_quitting_with_labels_that_no_folder_holds_says_so_and_saves_them(make_window, monkeypatch, tmp_path, tuned):
    asked = []
    monkeypatch.setattr(session_files, "ask_to_save", lambda _, *texts: asked.append(texts) or Answer.SAVE)
    monkeypatch.setattr(session_files, "ask_save", lambda *_: tmp_path / "kept.session.toml")
    monkeypatch.setattr(truth_panel, "ask_folder", lambda *_: tmp_path)
    window = make_window()
    stroke = np.ones((24, 32), bool)
    window.session.change(truth=PaintedTruth(None).painted(1, (24, 32), stroke, FOREGROUND_LABEL))
    if tuned:
        window.session.change(config=Config("norma", {"nu": 0.9}))
    assert window.close()
    (texts,) = asked
    assert ("settings were changed" in texts[0]) is tuned
    assert "ainted labels" in " ".join(texts)
    assert (tmp_path / "kept.session.toml").exists() is tuned
    assert len(GroundTruth(tmp_path).numbers) == 1


def test_nothing_is_asked_without_tuning_or_when_the_process_ends(make_window, monkeypatch):
    def fail(*_):
        raise AssertionError("a question was asked")

    monkeypatch.setattr(session_files, "ask_to_save", fail)
    assert make_window().close()
    tuned = make_window()
    tuned.session.change(config=Config("norma", {"nu": 0.9}))
    tuned.end()
    assert not tuned.isVisible()


# Parts


@pytest.fixture
def drive(no_leaked_threads):
    made = []

    def make(**changed) -> Driver:
        driver = Driver(opener(frames(50)), replace(FAST, **changed))
        made.append(driver)
        return driver

    yield make
    for driver in made:
        driver.engine.close()


def positions(driver: Driver, count: int) -> list[int]:
    """The positions of the first frames that were processed."""
    seen: list[int] = []
    known = -1

    def collect() -> bool:
        nonlocal known
        progress = driver.engine.progress
        if progress.processed != known and progress.results:
            known = progress.processed
            seen.append(round(progress.time_s * 25))
        return len(seen) >= count

    driver.until(collect)
    return seen


def test_a_part_is_repeated_from_its_first_to_its_last_frame(drive):
    driver = drive(part=(10 / 25, 14 / 25))
    driver.engine.open("any")
    assert positions(driver, 12) == [10, 11, 12, 13, 14, 10, 11, 12, 13, 14, 10, 11]


def test_a_part_without_end_is_repeated_from_the_end_of_the_source(drive):
    driver = drive(part=(47 / 25, math.inf))
    driver.engine.open("any")
    assert positions(driver, 7) == [47, 48, 49, 47, 48, 49, 47]


def test_a_held_frame_may_lie_outside_the_part(drive):
    driver = drive(part=(10 / 25, 14 / 25))
    driver.engine.open("any")
    positions(driver, 2)
    driver.engine.pause()
    driver.settle()
    driver.engine.seek(30)
    driver.settle()
    assert driver.view.position == 30
    driver.engine.step(1)
    driver.settle()
    assert driver.view.position == 31


def test_the_part_of_the_command_line_is_played(make_window, qtbot):
    window = make_window()
    window.session.change(speed=1.0)
    window.open(EASY, (parse_position("11", "start"), parse_position("0.8s", "end")))
    session = window.session
    qtbot.waitUntil(lambda: session.settings.part is not None)
    assert session.settings.part == (0.4, 0.8)
    qtbot.waitUntil(lambda: session.view.position >= 12)
    session.pause()
    window.transport.begin_part()
    assert session.settings.part[0] == session.view.time_s
    window.session.set_part(2.0, 1.0)
    assert "must end after its beginning" in session.notices.text
    window.transport.go_to("31")
    qtbot.waitUntil(lambda: session.view.position == 30)
    window.transport.go_to("0.4s")
    qtbot.waitUntil(lambda: session.view.position == 10)
    window.session.set_part(None, None)
    assert session.settings.part is None
    with pytest.raises(ValueError, match="position"):
        window.transport.go_to("soon")
