"""The session without any widget: commands reach the worker, and its views come back."""

import threading
import time

import numpy as np

from bgsub.config import Config
from bgsub.gui import panes
from bgsub.video.sources import Camera
from tests.gui.conftest import CLIP, EASY
from tests.gui.driving import frames, opener
from tests.gui.probe import count_wake_ups, engine_of, let_worker_run, post
from tests.video.moving_square import FakeCapture


def test_the_clip_is_played_on_another_thread(session, qtbot):
    with qtbot.waitSignal(session.opened) as signal:
        session.open(CLIP)
    assert signal.args[1].count == 300
    qtbot.waitUntil(lambda: session.view.processed == 300, timeout=20_000)
    assert "bgsub-view" in [thread.name for thread in threading.enumerate()]
    assert session.size == (240, 320)
    assert session.view.images[panes.INPUT].shape == (240, 320, 3)
    session.close_source()
    qtbot.waitUntil(lambda: session.view.result is None)


def test_views_do_not_queue_up_behind_a_window_that_is_busy(session, qtbot):
    session.open(EASY)
    session.change(loop=True)
    wake_ups = count_wake_ups(session)
    engine = engine_of(session)
    deadline = time.monotonic() + 30
    while engine.history.written < 200:  # no event is processed here
        assert time.monotonic() < deadline, "the worker is stuck"
        let_worker_run(session, 0.005)
    written = engine.history.written
    qtbot.waitUntil(lambda: session.view.processed >= written)
    assert session.unseen > 0
    assert len(wake_ups) < written


def test_settings_changed_while_playing_are_used(session, qtbot):
    session.change(loop=True)
    session.open(EASY)
    qtbot.waitUntil(lambda: session.view.processed > 5)
    session.change(config=Config("olk"), panes=(panes.SCORE, panes.BACKGROUND))
    qtbot.waitUntil(lambda: set(session.view.images) == {panes.SCORE, panes.BACKGROUND})
    assert session.view.runs[0].name == "olk"


def test_pause_step_and_seek(session, qtbot):
    session.open(EASY)
    session.pause()
    qtbot.waitUntil(lambda: session.info is not None and not session.view.playing)
    session.seek(12)
    qtbot.waitUntil(lambda: session.view.position == 12)
    session.step(1)
    qtbot.waitUntil(lambda: session.view.position == 13)
    session.step(-1)
    qtbot.waitUntil(lambda: session.view.position == 12)
    session.toggle()
    qtbot.waitUntil(lambda: session.view.position == 39 and not session.view.playing)


def test_pinned_pixels_are_inspected_and_unpinned(session, qtbot):
    session.open(EASY)
    session.pin(3, 4)
    session.pin(3, 4)
    session.pin(5, 6)
    assert session.settings.pinned_pixels == ((3, 4), (5, 6))
    session.change(loop=True)
    session.play()
    qtbot.waitUntil(lambda: len(session.view.pinned_pixels) == 2 and session.view.pinned_pixels[0].state is not None)
    assert session.pixel_history(3, 4).written > 0
    session.unpin(3, 4)
    qtbot.waitUntil(lambda: len(session.view.pinned_pixels) == 1)
    assert session.pixel_history(3, 4) is None


def test_only_a_detector_that_can_freeze_is_frozen(session):
    session.toggle_frozen()
    assert session.settings.frozen
    session.toggle_frozen()
    session.change(config=Config("knn"))
    assert not session.can_freeze
    session.toggle_frozen()
    assert not session.settings.frozen


def test_a_model_file_changes_the_settings(session, make_session, qtbot, tmp_path):
    session.open(EASY)
    qtbot.waitUntil(lambda: session.view.processed == 40)
    session.save_model(tmp_path / "model.npz")
    qtbot.waitUntil(lambda: (tmp_path / "model.npz").exists() and bool(session.notices))
    other = make_session()
    other.change(config=Config("olk"))
    with qtbot.waitSignal(other.configured):
        other.load_model(tmp_path / "model.npz")
    assert other.settings.config.detector == "norma"


def test_saved_images_are_those_shown(session, qtbot, tmp_path):
    from bgsub._opencv import cv2

    session.open(EASY)
    qtbot.waitUntil(lambda: session.view.processed == 40 and not session.view.playing)
    session.save_panes(tmp_path, "shot")
    qtbot.waitUntil(lambda: "shot-mask.png" in session.notices.text)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["shot-input.png", "shot-mask.png"]
    assert np.array_equal(cv2.imread(str(tmp_path / "shot-input.png")), session.view.images[panes.INPUT])
    session.save_panes(tmp_path / "missing", "shot")
    qtbot.waitUntil(lambda: "there is no folder" in session.notices.text)


def test_a_real_camera_that_is_unplugged_comes_back(make_session, qtbot):
    captures = [FakeCapture(5), FakeCapture(0, opened=False), FakeCapture(5)]
    waiting, go_on = threading.Event(), threading.Event()

    def wait(_seconds: float) -> bool:
        waiting.set()
        go_on.wait(30)
        return False

    def open_it(text, /, *, start):
        return Camera(0, opener=lambda device: captures.pop(0) if captures else FakeCapture(1000), wait=wait)

    session = make_session(opener=open_it)
    session.open("camera:0")
    qtbot.waitUntil(lambda: session.view.trouble is not None)
    assert waiting.is_set()
    assert "camera:0 is lost" in session.view.trouble
    go_on.set()
    qtbot.waitUntil(lambda: session.view.trouble is None and session.view.processed + session.view.dropped > 5)


def test_closing_while_a_source_is_being_opened_leaves_nothing(make_session, qtbot):
    gate = threading.Event()
    closed = threading.Event()

    def slow(text, /, *, start):
        assert gate.wait(30)
        source = opener(frames(3))(text, start=start)
        source.close = closed.set
        return source

    session = make_session(opener=slow)
    session.open("slow")
    qtbot.waitUntil(lambda: session.view.opening)
    threading.Timer(0.05, gate.set).start()
    session.close()
    assert closed.wait(30)


def test_the_newest_of_several_sources_is_opened(make_session, qtbot):
    session = make_session(opener=opener(frames(10)))
    for name in "abc":
        session.open(name)
    with qtbot.waitSignal(session.opened) as signal:
        pass
    assert signal.args[0] == "c"
    qtbot.waitUntil(lambda: session.view.processed == 10)


def test_a_defect_in_a_command_is_shown_and_the_worker_lives(session, qtbot):
    post(session, lambda engine: 1 / 0)
    qtbot.waitUntil(lambda: "unexpected ZeroDivisionError" in session.notices.text)
    session.open(EASY)
    qtbot.waitUntil(lambda: session.view.processed == 40)
