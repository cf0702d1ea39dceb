"""The whole window: one way through everything, its remembered layout, and its survival of errors."""

import csv
import gc
import re
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import QEvent, QMimeData, QPoint, QPointF, QSizeF, Qt, QUrl
from PyQt6.QtGui import QDropEvent
from PyQt6.QtWidgets import QApplication, QLabel

import bgsub
from bgsub._opencv import cv2
from bgsub.config import Config
from bgsub.detectors import load
from bgsub.gui import panes
from bgsub.gui.app import ExceptionHook
from bgsub.gui.commands import CommandId, all_commands, theme_command_id
from bgsub.gui.engine.recorder import Outputs
from bgsub.gui.panels.parameters import presets
from bgsub.gui.panels.status_bar import score_text
from bgsub.gui.widgets.theme import ThemeChoice
from bgsub.gui.window import file_commands
from bgsub.gui.window.main_window import MainWindow, PanelId
from bgsub.gui.window.menus import HelpDialog
from bgsub.roi import Region, open_region
from tests.gui.conftest import CLIP, EASY
from tests.gui.driving import frames
from tests.gui.probe import engine_of


def point(view, row: float, column: float) -> QPoint:
    """The point of a pane that shows a pixel of the image."""
    return view.to_pane(QPointF(column + 0.5, row + 0.5)).toPoint()


def trigger(window: MainWindow, command_id: str) -> None:
    window.menus.actions[command_id].trigger()


def test_from_the_clip_to_its_files(window, session, qtbot, tmp_path, monkeypatch):
    # Open the bundled clip in real time, and see images.
    session.change(speed=1.0, config=Config("adaptive"))
    with qtbot.waitSignal(session.opened):
        window.open(CLIP)
    view = window.grid.views[0]
    qtbot.waitUntil(lambda: view.image is not None, timeout=30_000)
    assert view.image.shape == (240, 320, 3)

    # Change a parameter in the form: the model in use has it, and is kept.
    window.detector.editor.form.inputs["threshold"].editor.setValue(0.3)
    detector = engine_of(session).runs.main.detector
    qtbot.waitUntil(lambda: detector.parameters["threshold"] == 0.3)
    assert engine_of(session).runs.main.detector is detector
    assert session.settings.config.parameters == {"threshold": 0.3}

    # Inspect a pixel by clicking it.
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=point(view, 120, 160))
    qtbot.waitUntil(lambda: "(x) = " in window.inspector.verdict.text())
    assert session.settings.pinned_pixels == ((120, 160),)
    assert session.view.pinned_pixels[0].state.threshold == 0.3

    # Draw a region around the lower half with the mouse.
    trigger(window, CommandId.DRAW_REGION)
    assert window.roi.isVisible()
    for row, column in ((130, 5), (130, 310), (235, 310), (235, 5)):
        qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=point(view, row, column))
    qtbot.keyClick(window, Qt.Key.Key_Return)
    region = session.settings.region
    assert len(region.include) == 1
    assert np.abs(np.array(region.include[0]) - [(5, 130), (310, 130), (310, 235), (5, 235)]).max() < 2
    trigger(window, CommandId.DRAW_REGION)
    assert window.roi.write(str(tmp_path / "region.json"))
    qtbot.waitUntil(lambda: engine_of(session).runs.main.detector.roi is not None)

    # Record while playing, as fast as possible, over a jump.
    outputs = Outputs(
        {"mask": tmp_path / "clip-mask.mkv", "overlay": tmp_path / "clip-overlay.mp4", "stats": tmp_path / "clip.csv"}
    )
    with qtbot.waitSignal(session.recording):
        session.record(outputs)
    window.transport.speed.setCurrentText("max")
    session.seek(150)
    qtbot.waitUntil(lambda: session.view.position >= 150)
    qtbot.waitUntil(lambda: session.view.position == 299 and not session.view.playing, timeout=30_000)
    with qtbot.waitSignal(session.recording):
        trigger(window, CommandId.RECORD)

    # Seek back while paused.
    window.transport.slider.sliderMoved.emit(100)
    qtbot.waitUntil(lambda: session.view.position == 100)
    assert session.view.result.packet.number == 101

    # Save everything else that can be saved.
    assert session.attempt(lambda: presets.write_preset(session, tmp_path / "clip.toml"))
    session.save_model(tmp_path / "clip.npz")
    session.save_panes(tmp_path, window.files.file_stem)
    session.export(tmp_path / "all.csv")
    monkeypatch.setattr(file_commands, "ask_save", lambda *_: tmp_path / "one.png")
    trigger(window, CommandId.SAVE_IMAGE)
    qtbot.waitUntil(lambda: (tmp_path / "one.png").exists())
    window.close()

    # The files exist, play and agree.
    with bgsub.open_source(outputs.files["mask"]) as source:
        masks = [packet.frame for packet in source]
    with bgsub.open_source(outputs.files["overlay"]) as source:
        assert sum(1 for _ in source) == len(masks)
    rows = list(csv.DictReader(outputs.files["stats"].read_text().splitlines()))
    assert len(rows) == len(masks) >= 150
    inside = open_region(str(tmp_path / "region.json")).mask((240, 320))
    for mask, row in zip(masks, rows, strict=True):
        assert set(np.unique(mask)) <= {0, 255}
        assert not mask[inside == 0].any()
        assert (mask > 0).mean() == pytest.approx(float(row["foreground"]), abs=1e-6)
    assert max(float(row["foreground"]) for row in rows) > 0.005
    config = Config.from_toml(tmp_path / "clip.toml")
    assert config.parameters["threshold"] == 0.3
    assert open_region(config.roi) == region
    assert load(tmp_path / "clip.npz").parameters["threshold"] == 0.3
    assert (tmp_path / "one.png").exists()
    assert sorted(path.name for path in tmp_path.glob("walkers-*.png")) == [
        "walkers-000101-mask.png",
        "walkers-000101-overlay.png",
    ]
    assert len((tmp_path / "all.csv").read_text().splitlines()) > 150


def test_layout_theme_and_panes_are_remembered(qtbot, make_session, theme, kept):
    first = MainWindow(make_session(), theme, kept)
    first.show()
    first.docks[PanelId.PLOTS].hide()
    first.grid.choose((panes.SCORE,))
    trigger(first, theme_command_id(ThemeChoice.DARK))
    trigger(first, CommandId.OVERLAY_STYLE)
    trigger(first, CommandId.LOOP)
    first.transport.jump.setCurrentIndex(1)
    first.close()
    session = make_session()
    second = MainWindow(session, theme, kept)
    second.show()
    assert second.docks[PanelId.PLOTS].isHidden()
    assert not second.docks[PanelId.DETECTOR].isHidden()
    assert second.grid.panes == (panes.SCORE,)
    assert theme.choice is ThemeChoice.DARK
    assert session.settings.overlay_style == "tint"
    assert session.settings.loop
    assert not session.settings.keep_model
    second.choose_theme(ThemeChoice.SYSTEM)
    second.close()


def test_rubbish_in_remembered_settings_does_no_harm(qtbot, make_session, theme, kept):
    for key in ("window/geometry", "window/state", "window/panes", "window/theme", "sources/recent", "overlay/style"):
        kept.setValue(key, "rubbish")
    window = MainWindow(make_session(), theme, kept)
    window.show()
    assert window.grid.count == 2
    window.close()


def test_every_key_is_used_once_and_listed_in_the_help(window, qtbot):
    commands = all_commands(window.menus.menus)
    keys = [command.keys for command in commands if command.keys]
    assert len(keys) == len(set(keys))
    dialog = HelpDialog(window.menus.menus, window)
    qtbot.addWidget(dialog)
    for command in commands:
        if command.keys:
            assert command.text.replace("&", "").replace("…", "") in dialog.label.text()
    trigger(window, CommandId.KEYS)
    shown = [
        widget for widget in QApplication.topLevelWidgets() if isinstance(widget, HelpDialog) and widget.isVisible()
    ]
    assert len(shown) == 1
    shown[0].close()


def test_keys_trigger_their_commands(window, session, qtbot):
    window.open(EASY)
    qtbot.waitUntil(lambda: session.view.processed == 40 and not session.view.playing)
    window.activateWindow()
    window.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: session.view.position == 0)
    qtbot.keyClick(window, Qt.Key.Key_Period)
    qtbot.waitUntil(lambda: session.view.position == 1)
    qtbot.keyClick(window, Qt.Key.Key_L)
    assert session.settings.loop
    qtbot.keyClick(window, Qt.Key.Key_F)
    assert session.settings.frozen
    qtbot.keyClick(window, Qt.Key.Key_4, Qt.KeyboardModifier.ControlModifier)
    assert window.grid.count == 4
    qtbot.keyClick(window, Qt.Key.Key_5)
    assert window.grid.panes[0] is panes.SCORE
    qtbot.keyClick(window, Qt.Key.Key_T)
    assert session.settings.overlay_style == "tint"
    qtbot.keyClick(window, Qt.Key.Key_C)
    assert session.settings.other is not None
    qtbot.keyClick(window, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: session.view.playing)


def test_a_dropped_file_is_opened_and_listed_as_recent(window, session, qtbot):
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(CLIP)])
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        mime,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
        QEvent.Type.Drop,
    )
    with qtbot.waitSignal(session.opened) as signal:
        window.dropEvent(event)
    assert signal.args[0] == CLIP
    assert window.windowTitle() == "walkers.mp4 - bgsub"
    window.menus.fill_recent()
    assert window.menus.recent.actions()[0].text() == CLIP


def test_the_status_bar_shows_the_numbers(window, session, qtbot):
    window.open(EASY)
    qtbot.waitUntil(lambda: session.view.processed == 40 and not session.view.playing)
    status = window.status
    assert status.frame.text() == "frame 40   0:01.5"
    assert status.size_label.text() == "64x48"
    assert status.ms.text().startswith("norma ")
    assert status.dropped.text() == "0 dropped"
    assert status.state.text() == "Paused"
    status.hover(10, 20)
    blue, green, red = session.view.result.packet.frame[10, 20]
    assert status.pixel.text().startswith(f"x 20, y 10:  {red} {green} {blue}")


def test_the_status_bar_says_what_has_no_number(window, session, qtbot):
    window.grid.choose((panes.INPUT, panes.SCORE))
    session.change(region=Region(include=(((0, 0), (30, 0), (30, 47), (0, 47)),)))
    window.open(EASY)
    qtbot.waitUntil(lambda: session.view.processed == 40 and not session.view.playing)
    window.status.hover(10, 20)
    assert re.search(r" (foreground|background).*   score -?\d+\.\d\d$", window.status.pixel.text())
    window.status.hover(10, 40)
    assert window.status.pixel.text().endswith("   outside the region")
    session.reset()
    session.rerun(0.0)
    session.configure(Config("mog2"), saved=False)
    qtbot.waitUntil(lambda: session.view.runs[0].name == "mog2")
    shown = [label.text() for label in window.findChildren(QLabel)]
    assert not [text for text in shown if re.search(r"\b(nan|inf)\b|-1e\+?06|-1000000", text)]


@pytest.mark.parametrize(
    ("score", "text"),
    [
        (0.5, "score 0.50"),
        (-99.0, "score -99.00"),
        (-1_090_060.0, "no score: no colour is foreground here"),
        (-5_000.0, "score below -100"),
        (float("nan"), "no score"),
        (float("-inf"), "no score: no colour is foreground here"),
    ],
)
def test_scores_are_given_in_words_where_digits_say_nothing(score, text):
    assert score_text(score) == text


def test_panes_are_zoomed_and_moved_together(window, session, qtbot):
    window.open(EASY)
    qtbot.waitUntil(lambda: session.view.processed == 40 and not session.view.playing)
    one, other = window.grid.views
    qtbot.waitUntil(lambda: one.image is not None and other.image is not None)
    window.grid.viewport.zoom_by(3, QPointF(10, 10), QSizeF(64, 48), one.size().toSizeF())
    width, other_width = one.image_rect().width(), other.image_rect().width()
    assert width == pytest.approx(other_width, rel=0.01)  # a pane may be a pixel higher than the other
    assert one.image_rect().width() > one.width()
    trigger(window, CommandId.FIT_IMAGE)
    assert one.image_rect().width() <= one.width()


def test_errors_are_shown_in_the_window_which_survives_them(window, session, qtbot, tmp_path):
    (tmp_path / "sound.mp4").write_bytes(b"no video at all")
    for name, text in (("missing.mp4", "no such file"), ("sound.mp4", "it may be damaged or no video")):
        window.open(str(tmp_path / name))
        qtbot.waitUntil(lambda: window.notices.notice is not None)
        assert text in window.notices.label.text()
        assert window.notices.again.isVisible()
        window.notices.clear()
    window.open("gopher://x")
    qtbot.waitUntil(lambda: "no kind of source accepts it" in window.notices.label.text())
    window.open("camera:77")
    qtbot.waitUntil(lambda: "cannot open camera:77" in window.notices.label.text(), timeout=20_000)
    window.open(EASY)
    qtbot.waitUntil(lambda: session.view.processed == 40)
    assert window.notices.notice is None


def test_a_folder_of_changedetection_net_is_opened_with_its_ground_truth(window, session, qtbot, tmp_path):
    folder = tmp_path / "highway"
    for name in ("input", "groundtruth"):
        (folder / name).mkdir(parents=True)
    for number, frame in enumerate(frames(5), 1):
        cv2.imwrite(str(folder / "input" / f"in{number:06d}.png"), frame)
        cv2.imwrite(str(folder / "groundtruth" / f"gt{number:06d}.png"), np.zeros(frame.shape[:2], np.uint8))
    cv2.imwrite(str(folder / "ROI.bmp"), np.full((24, 32), 255, np.uint8))
    window.open(str(folder))
    qtbot.waitUntil(lambda: session.view.processed == 5)
    assert window.windowTitle() == "highway/input - bgsub"
    assert session.view.runs[0].scored == 5
    assert "changedetection.net" in window.notices.label.text()


def test_try_again_opens_what_was_missing(window, session, qtbot, tmp_path):
    path = tmp_path / "late.mp4"
    window.open(str(path))
    qtbot.waitUntil(lambda: window.notices.again.isVisible())
    path.write_bytes(Path(CLIP).read_bytes())
    qtbot.mouseClick(window.notices.again, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.view.processed > 10)


def test_an_error_in_a_slot_is_shown_and_the_process_survives(window, session, qtbot, monkeypatch, caplog):
    monkeypatch.setattr(sys, "excepthook", ExceptionHook(lambda: session))
    with qtbot.capture_exceptions() as raised:
        qtbot.waitUntil(lambda: True)
    assert raised == []
    try:
        raise LookupError("a defect")
    except LookupError as error:
        sys.excepthook(type(error), error, error.__traceback__)
    assert "Unexpected LookupError: a defect" in window.notices.label.text()
    assert "a defect" in caplog.text


def test_without_scikit_learn_the_learners_name_the_package_to_install(window, session, monkeypatch):
    for name in [name for name in sys.modules if name.startswith(("sklearn", "bgsub.learners", "bgsub.gui.learn"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "bgsub.gui.learners_page.surface_view", raising=False)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    trigger(window, CommandId.LEARNERS)
    assert "pip install 'bgsub[learners]'" in window.notices.label.text()
    assert window.learners is None


def test_the_learners_window_opens_and_closes_with_the_window(window, qtbot):
    trigger(window, CommandId.LEARNERS)
    assert window.learners.isVisible()
    trigger(window, CommandId.LEARNERS)
    window.close()
    assert not window.learners.isVisible()


def test_closing_while_recording_finishes_the_file(window, session, qtbot, tmp_path):
    session.change(loop=True)
    window.open(EASY)
    qtbot.waitUntil(lambda: session.view.processed > 3)
    session.record(Outputs({"mask": tmp_path / "mask.mkv"}))
    qtbot.waitUntil(lambda: (session.view.recorded or 0) > 20)
    window.close()
    with bgsub.open_source(tmp_path / "mask.mkv") as source:
        assert sum(1 for _ in source) > 20


def test_garbage_is_collected_by_the_window_s_thread_while_it_lives(qtbot, make_session, theme, kept, monkeypatch):
    monkeypatch.setattr(gc, "isenabled", lambda: True)
    window = MainWindow(make_session(), theme, kept)
    monkeypatch.undo()
    assert not gc.isenabled()
    cycle: list[object] = [weak := WeakMe()]
    cycle.append(cycle)
    gone = weakref.ref(weak)
    del cycle, weak
    gc.set_threshold(0, *gc.get_threshold()[1:])
    window.garbage.collect()
    assert gone() is None
    gc.set_threshold(700, *gc.get_threshold()[1:])
    window.close()
    assert gc.isenabled()


class WeakMe:
    """Can be referred to weakly."""
