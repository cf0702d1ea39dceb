"""How fields, panes and the window behave for people: wheel, keys, words, names and sizes."""

import pytest
from PyQt6.QtCore import QPoint, QPointF, QRect, Qt
from PyQt6.QtGui import QWheelEvent
from PyQt6.QtWidgets import QApplication, QLabel, QScrollArea

from bgsub.config import Config
from bgsub.detectors import DETECTORS, detector_class
from bgsub.evaluation import GroundTruth
from bgsub.gui import panes
from bgsub.gui.commands import CommandId
from bgsub.gui.engine.recorder import Outputs
from bgsub.gui.messages import DetectorRunView, View
from bgsub.gui.panels.inspector import explain
from bgsub.gui.panels.parameters.form import ParameterForm
from bgsub.gui.panels.parameters.words import KNOWN, SHARED, words_of
from bgsub.gui.panels.timeline.plots import PlotsPanel
from bgsub.gui.widgets import record_dialog
from bgsub.gui.widgets.fields import tame_fields
from bgsub.gui.widgets.images.frame_view import FrameView
from bgsub.gui.widgets.images.pane_grid import PaneGrid
from bgsub.gui.widgets.images.viewport import Viewport
from bgsub.gui.window.file_commands import source_title
from bgsub.gui.window.main_window import MainWindow, PanelId
from bgsub.roi import Region
from bgsub.video.sources.synthetic import SyntheticScene, write_sample
from tests.gui.conftest import CLIP, EASY
from tests.gui.driving import frames, opener
from tests.gui.probe import post


def wheel(widget) -> None:
    at = QPointF(5, 5)
    event = QWheelEvent(
        at,
        QPointF(widget.mapToGlobal(at.toPoint())),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, event)


def trigger(window: MainWindow, command_id: str) -> None:
    window.menus.actions[command_id].trigger()


def played(window: MainWindow, qtbot, text: str = EASY, count: int = 40) -> None:
    window.open(text)
    qtbot.waitUntil(lambda: window.session.view.processed == count and not window.session.view.playing, timeout=20_000)


class TestFields:
    @pytest.fixture
    def form(self, qtbot):
        area = QScrollArea()
        form = ParameterForm()
        area.setWidget(form)
        form.show_parameters(detector_class("norma"), {})
        form.area = area
        qtbot.addWidget(area)
        area.show()
        qtbot.waitExposed(area)
        area.activateWindow()
        return form

    def test_the_wheel_changes_nothing_without_the_focus(self, form):
        entry = form.inputs["kappa"]
        for widget in (entry.editor, entry.slider, form.inputs["slots"].editor):
            widget.clearFocus()
            wheel(widget)
        assert not any(entry.is_changed for entry in form.inputs.values())
        entry.editor.setFocus()
        wheel(entry.editor)
        assert entry.is_changed

    def test_the_wheel_over_the_window_s_own_boxes_needs_the_focus(self, window):
        before = window.transport.speed.currentIndex(), window.detector.editor.detector.currentText()
        for widget in (window.transport.speed, window.detector.editor.detector, window.detector.editor.median):
            widget.clearFocus()
            wheel(widget)
        assert (window.transport.speed.currentIndex(), window.detector.editor.detector.currentText()) == before
        assert window.session.settings.config.postprocess is None

    def test_return_takes_a_value_over_and_leaves_the_field_escape_does_not(self, form, qtbot):
        editor = form.inputs["kappa"].editor
        for key, expected in ((Qt.Key.Key_Return, 0.5), (Qt.Key.Key_Escape, 0.5)):
            editor.setFocus()
            editor.selectAll()
            qtbot.keyClicks(editor, "0.5" if key == Qt.Key.Key_Return else "0.75")
            qtbot.keyClick(editor, key)
            assert editor.value() == expected
            assert editor.text() == "0.5"
            assert not editor.hasFocus()

    def test_fields_have_names_for_screen_readers(self, window):
        for field in (window.transport.play, window.transport.speed, window.transport.back, window.grid.boxes[0]):
            assert field.accessibleName()
        for entry in window.detector.editor.form.inputs.values():
            assert entry.editor.accessibleName()

    def test_scroll_bars_and_labels_keep_their_ways(self, qtbot):
        label = QLabel("text")
        qtbot.addWidget(label)
        tame_fields(label)
        assert label.accessibleName() == ""


class TestWords:
    @pytest.mark.parametrize("name", DETECTORS)
    def test_every_parameter_has_a_plain_name_and_a_sentence(self, name):
        for parameter in detector_class(name).PARAMETERS:
            words = words_of(name, parameter)
            assert words.label[0].isupper() or len(words.label) == 1
            assert "_" not in words.label
            assert words.effect.endswith(".")

    def test_words_are_of_parameters_that_exist(self):
        existing = {(name, item.name) for name in DETECTORS for item in detector_class(name).PARAMETERS}
        assert set(KNOWN) <= existing
        assert set(SHARED) <= {name for _, name in existing}

    @pytest.mark.parametrize("detector", ["adaptive", "norma", "olk", "mog2", "knn"])
    def test_every_parameter_has_plain_words_a_direction_and_usual_values(self, detector):
        directions = ("Higher ", "Lower ", "On ", "More ", "Best ", "Fixed ", "Turns ", "Set it ")
        for item in detector_class(detector).PARAMETERS:
            words = words_of(detector, item)
            assert (detector, item.name) in KNOWN or item.name in SHARED, item.name
            assert words.effect.startswith(directions), words
            if item.kind in (int, float) and item.name not in ("rate_hz", "white", "threads"):
                low, high = words.usual
                assert max(low, item.low) == low < high == min(high, item.high), item.name
                assert item.default is None or low <= item.default <= high, item.name

    def test_directions_hold(self):
        import numpy as np

        noise = np.random.default_rng(0)
        for (detector, name), words in KNOWN.items():
            if "Higher finds" not in words.effect:
                continue
            shares = []
            parameter = next(item for item in detector_class(detector).PARAMETERS if item.name == name)
            for factor in (0.3, 1.0, 3.0):
                value = (
                    parameter.kind(max(1, round(parameter.default * factor)))
                    if parameter.kind is int
                    else min(parameter.default * factor, 1.0 if parameter.high == 1 else np.inf)
                )
                extra = {"warmup": 0, "learn_every": 2} if detector in ("norma", "olk") else {}
                model = detector_class(detector)(**{name: value} | extra)
                mask = [
                    model.apply(np.clip(100 + noise.normal(0, 12, (32, 32, 3)), 0, 255).astype(np.uint8))
                    for _ in range(60)
                ][-1]
                shares.append(float((mask == 255).mean()))
            assert shares == sorted(shares, reverse="finds less" in words.effect), (detector, name, shares)

    def test_changed_values_are_marked_and_reset_one_by_one(self, qtbot):
        form = ParameterForm()
        qtbot.addWidget(form)
        form.show()
        form.show_parameters(detector_class("norma"), {"kappa": 0.5, "nu": 0.3})
        assert form.labels["kappa"].font().bold()
        assert not form.labels["width"].font().bold()
        assert not form.inputs["kappa"].default.isHidden()
        assert form.inputs["width"].default.isHidden()
        changes = []
        form.changed.connect(lambda *args: changes.append(args))
        form.inputs["kappa"].default.click()
        assert changes == [("kappa", 0.25)]
        assert not form.labels["kappa"].font().bold()
        assert form.labels["nu"].font().bold()

    def test_tips_give_name_effect_range_and_default(self, qtbot):
        form = ParameterForm()
        qtbot.addWidget(form)
        form.show_parameters(detector_class("mog2"), {})
        tip = form.labels["var_threshold"].toolTip()
        for part in ("Tolerance of colour (var_threshold)", "Higher finds less", "Usual: 10 to 50.", "Default: 16."):
            assert part in tip
        assert "Allowed: above 0." in tip
        form.show_parameters(detector_class("adaptive"), {})
        tips = [label.toolTip() for label in form.labels.values()]
        assert not [tip for tip in tips if "inf" in tip or "e+" in tip or "e-" in tip.split("Allowed")[-1]]

    def test_a_change_of_settings_is_undone_and_done_again(self, session):
        for kappa in (0.4, 0.6):
            session.change(config=Config("norma", {"kappa": kappa}))
        session.undo_settings()
        assert session.settings.config.parameters["kappa"] == 0.4
        session.redo_settings()
        assert session.settings.config.parameters["kappa"] == 0.6
        session.undo_settings()
        session.undo_settings()
        session.undo_settings()
        session.redo_settings()
        assert session.settings.config.parameters["kappa"] == 0.4

    def test_settings_of_last_time_can_be_used_again(self, make_session, theme, kept):
        first = MainWindow(make_session(), theme, kept)
        first.session.change(config=Config("norma", {"kappa": 0.7}))
        first.close()
        second = MainWindow(make_session(), theme, kept)
        second.session.change(config=Config())
        trigger(second, CommandId.LAST_SETTINGS)
        assert second.session.settings.config.parameters["kappa"] == 0.7
        second.close()
        kept.setValue("detector/settings", "rubbish")
        third = MainWindow(make_session(), theme, kept)
        trigger(third, CommandId.LAST_SETTINGS)
        third.close()


class TestWindow:
    def test_the_first_window_fits_the_screen(self, make_session, theme, kept, monkeypatch, qapp):
        class Screen:
            def availableGeometry(self) -> QRect:
                return QRect(0, 0, 1280, 720)

        monkeypatch.setattr(MainWindow, "screen", lambda _: Screen())
        window = MainWindow(make_session(), theme, kept)
        assert window.width() <= 1280
        assert window.height() <= 720
        window.close()

    def test_a_cancelled_recording_leaves_its_button_released(self, window, monkeypatch):
        monkeypatch.setattr(record_dialog.RecordDialog, "exec", lambda _: 0)
        trigger(window, CommandId.RECORD)
        assert not window.menus.actions[CommandId.RECORD].isChecked()

    def test_another_source_puts_truth_and_region_away(self, window, session, tmp_path, qtbot):
        write_sample(tmp_path / "street", SyntheticScene(size=(48, 64), frames=10))
        truth = GroundTruth(tmp_path / "street")
        region = Region(include=(((0.0, 0.0), (9.0, 0.0), (9.0, 9.0)),))
        session.change(truth=truth, region=region)
        window.open(EASY)
        assert (session.settings.truth, session.settings.region) == (truth, region)
        window.open(EASY)
        assert session.settings.truth is truth
        window.open(CLIP)
        assert (session.settings.truth, session.settings.region) == (None, None)
        assert "ground truth and region of the source before were put away" in window.notices.label.text()

    def test_a_source_that_fails_is_not_listed_as_recent(self, window, qtbot, tmp_path):
        window.open(str(tmp_path / "missing.mp4"))
        qtbot.waitUntil(lambda: window.notices.notice is not None)
        assert window.recent.names == []

    def test_folders_called_input_are_named_with_their_parent(self, tmp_path):
        assert source_title(str(tmp_path / "highway" / "input")) == "highway/input"
        assert source_title("/videos/street.mp4") == "street.mp4"

    def test_recordings_are_not_named_after_a_frame(self, window, qtbot):
        played(window, qtbot, CLIP, 300)
        assert window.files.source_stem == "walkers"
        assert window.files.file_stem == "walkers-000300"

    def test_only_the_first_pixel_brings_the_inspector_to_the_front(self, window, qtbot):
        shown = []
        window.show_panel = shown.append
        window.click(3, 4)
        window.click(5, 6)
        assert shown == [PanelId.INSPECTOR]

    def test_comparing_shows_its_panel_its_tick_and_names(self, window, qtbot):
        trigger(window, CommandId.COMPARE)
        assert window.menus.actions[CommandId.COMPARE].isChecked()
        assert not window.docks[PanelId.COMPARE].visibleRegion().isEmpty()
        played(window, qtbot)
        assert [box.currentText() for box in window.grid.boxes] == ["Overlay: norma", "Overlay: mog2"]
        trigger(window, CommandId.COMPARE)
        assert not window.menus.actions[CommandId.COMPARE].isChecked()
        qtbot.waitUntil(lambda: [box.currentText() for box in window.grid.boxes] == ["Overlay", "Mask"])

    def test_times_agree_and_begin_at_zero(self, make_session, theme, kept, qtbot):
        session = make_session(opener=opener(frames(30)))
        window = MainWindow(session, theme, kept)
        window.show()
        played(window, qtbot, "any", 30)
        qtbot.waitUntil(lambda: window.transport.time.text() == "0:01.1 / 0:01.2")
        assert window.status.frame.text() == "frame 30   0:01.1"
        session.close_source()
        qtbot.waitUntil(lambda: window.transport.time.text() == "0:00.0")
        window.close()

    def test_an_empty_window_offers_to_open_a_video(self, window, qtbot):
        assert window.start.isVisible()
        asked = []
        window.opening.ask = asked.append
        window.start.open_file.click()
        assert len(asked) == 1
        played(window, qtbot)
        assert not window.start.isVisible()
        assert window.grid.isVisible()
        window.session.close_source()
        qtbot.waitUntil(window.start.isVisible)

    def test_settings_are_applied_back_and_the_model_rewound_by_commands(self, window, qtbot):
        played(window, qtbot)
        session = window.session
        session.step(-5)
        qtbot.waitUntil(lambda: session.view.looking_back)
        assert "looking back" in window.grid.views[0].captions[0]
        trigger(window, CommandId.REWIND)
        qtbot.waitUntil(lambda: not session.view.looking_back and session.view.processed == 35)
        assert session.view.position == 34
        window.detector.back_s.setValue(0.4)
        trigger(window, CommandId.RERUN)
        qtbot.waitUntil(lambda: not session.view.captions)
        assert session.view.position == 34


class TestPanes:
    def test_two_panes_are_stacked_where_that_shows_more(self, qtbot, theme):
        import numpy as np

        grid = PaneGrid(theme)
        qtbot.addWidget(grid)
        grid.resize(800, 700)
        grid.show()
        wide = View(1, images={panes.OVERLAY: np.zeros((90, 160), np.uint8)})
        tall = View(1, images={panes.OVERLAY: np.zeros((160, 90), np.uint8)})
        grid.show_view(wide, "")
        assert grid.is_stacked
        qtbot.waitUntil(lambda: grid.views[1].parentWidget().y() > grid.views[0].parentWidget().y())
        grid.show_view(tall, "")
        assert not grid.is_stacked
        grid.show_view(wide, "")
        grid.resize(1600, 400)
        assert not grid.is_stacked

    @pytest.mark.parametrize("count", [1, 2, 4])
    def test_every_pixel_of_an_image_can_be_clicked(self, window, qtbot, count):
        played(window, qtbot)
        window.grid.arrange(count)
        window.grid.pop_out(panes.INPUT)
        views = [*window.grid.views, *window.grid.popped]
        qtbot.waitUntil(lambda: all(view.image is not None for view in views))
        for view in views:
            window.session.change(pinned_pixels=())
            top = view.window()
            inside = view.image_rect().toAlignedRect().intersected(view.rect()).adjusted(2, 2, -2, -2)
            corners = (inside.topLeft(), inside.topRight(), inside.bottomLeft(), inside.bottomRight())
            for corner in corners:
                at = view.mapTo(top, corner)
                below = top.childAt(at)
                assert below is view, f"{below} lies over the image"
                qtbot.mouseClick(below, Qt.MouseButton.LeftButton, pos=corner)
            assert len(window.session.settings.pinned_pixels) == 4

    def test_captions_are_painted_on_the_image(self, qtbot):
        import numpy as np

        view = FrameView(Viewport())
        qtbot.addWidget(view)
        view.resize(300, 200)
        view.show_image(np.full((100, 150, 3), 90, np.uint8))
        plain = view.grab().toImage()
        view.show_captions(("norma is learning: 12 of 32 frames",))
        assert view.grab().toImage() != plain
        assert view.captions == ("norma is learning: 12 of 32 frames",)

    def test_learning_and_freezing_are_stated_on_the_image(self, make_session, theme, kept, qtbot):
        session = make_session(opener=opener(frames(12)))
        session.change(config=Config("norma", {"warmup": 32}), frozen=False)
        window = MainWindow(session, theme, kept)
        window.show()
        played(window, qtbot, "any", 12)
        assert window.grid.views[0].captions == ("norma is learning: 12 of 32 frames",)
        session.change(frozen=True)
        qtbot.waitUntil(lambda: "norma is frozen: it does not learn" in window.grid.views[0].captions)
        window.close()


def test_the_inspector_names_what_removed_a_pixel(make_session, qtbot):
    region = Region(include=(((0.0, 0.0), (15.0, 0.0), (15.0, 23.0), (0.0, 23.0)),))
    bright = frames(20)
    bright[-1][5, 20] = 255
    bright[-1][5, 6] = 255
    session = make_session(opener=opener(bright))
    session.change(region=region, pinned_pixels=())
    session.open("any")
    session.pin(5, 20)
    session.pin(5, 6)
    qtbot.waitUntil(lambda: session.view.processed == 20 and not session.view.playing)
    outside, alone = (explain(view) for view in session.view.pinned_pixels)
    assert outside == "Background: nothing is learned here; it lies outside the region."
    assert "Found, but removed: most pixels around it are background [median]" in alone


def test_statistics_say_of_how_many_frames(make_session, tmp_path, qtbot):
    write_sample(tmp_path / "street", SyntheticScene(size=(48, 64), frames=30))
    session = make_session()
    session.change(truth=GroundTruth(tmp_path / "street"))
    session.open(str(tmp_path / "street" / "input"))
    qtbot.waitUntil(lambda: session.view.processed == 30 and not session.view.playing)
    run: DetectorRunView = session.view.runs[0]
    assert run.scored == sum(session.settings.truth.read(number, (48, 64)) is not None for number in range(1, 31))
    scored = run.scored
    assert scored > 20
    session.step(-3)
    qtbot.waitUntil(lambda: session.view.looking_back)
    assert session.view.runs[0].scored == scored
    session.restart_counts()
    qtbot.waitUntil(lambda: session.view.runs[0].scored == 0)


def test_curves_use_the_time_of_the_source_and_go_where_they_are_clicked(session, theme, qtbot, tmp_path):
    write_sample(tmp_path / "street", SyntheticScene(size=(48, 64), frames=30))
    panel = PlotsPanel(session, theme)
    qtbot.addWidget(panel)
    panel.show()
    session.change(truth=GroundTruth(tmp_path / "street"), other=Config("mog2"))
    session.open(str(tmp_path / "street" / "input"))
    qtbot.waitUntil(lambda: session.view.processed == 30 and not session.view.playing)
    session.play()
    qtbot.waitUntil(lambda: session.view.processed == 60 and not session.view.playing)
    panel.draw()
    x, _ = panel.share.curves[0].getData()
    assert x[0] == pytest.approx(0.0, abs=1e-9)
    assert len(x) == 30
    assert panel.scores.isVisible()
    assert len(panel.scores.curves) == 3
    _, of_frame = panel.scores.curves[0].getData()
    _, so_far = panel.scores.curves[2].getData()
    assert 0 < len(of_frame) == len(so_far) <= 30
    assert so_far[-1] == pytest.approx(session.view.runs[0].counts.f_measure)
    assert of_frame[-1] == pytest.approx(session.view.runs[0].frame_counts.f_measure)
    panel.share.clicked.emit(0.4)
    qtbot.waitUntil(lambda: session.view.position == 10)


def test_the_picture_is_shown_while_the_detector_is_prepared(make_session, qtbot):
    session = make_session(opener=opener(frames(3)))
    seen = []
    session.viewed.connect(lambda: seen.append(session.view))
    session.open("any")
    post(session, lambda engine: setattr(engine, "_process", lambda played: None))
    qtbot.waitUntil(lambda: any(view.preparing and view.images for view in seen))
    view = next(view for view in seen if view.preparing and view.images)
    assert view.captions == ("preparing the detector…",)
    assert set(view.images) == {panes.INPUT}


def test_behind_real_time_and_recording_are_stated(make_session, qtbot, tmp_path):
    session = make_session(opener=opener(frames(400), rate_hz=1e5))
    session.change(speed=1.0)
    session.open("any")
    seen = set()
    session.viewed.connect(lambda: seen.update(session.view.captions))
    session.record(Outputs({"stats": tmp_path / "s.csv"}))
    qtbot.waitUntil(lambda: session.view.processed == 400 and not session.view.playing, timeout=20_000)
    assert any(text.startswith("behind real time") for text in seen)
    assert any(text.startswith("● recording") for text in seen)


def test_two_settings_of_one_detector_are_called_by_what_differs(make_session, qtbot):
    session = make_session(opener=opener(frames(10)))
    session.change(config=Config("norma", {"threads": 1}), other=Config("norma", {"threads": 1, "nu": 0.25}))
    session.open("any")
    qtbot.waitUntil(lambda: session.view.processed == 10 and not session.view.playing)
    assert [run.name for run in session.view.runs] == ["norma nu 0.5", "norma nu 0.25"]
