"""Every panel: the state it shows, and the commands it sends to the session."""

import shlex
from dataclasses import replace

import numpy as np
import pytest
from PyQt6.QtCore import QMimeData, QPointF, Qt, QUrl
from PyQt6.QtGui import QMouseEvent
from PyQt6.QtWidgets import QApplication, QCheckBox, QStyle, QStyleOptionComboBox

from bgsub.cli.shared.options import detector_options, make_config
from bgsub.config import Config
from bgsub.detectors import DETECTORS, detector_class
from bgsub.detectors.parameters import defaults
from bgsub.gui import panes
from bgsub.gui.engine.history import FRAME_COLUMNS
from bgsub.gui.learners_page.streams import STREAMS, Kind
from bgsub.gui.learners_page.window import LearnersWindow
from bgsub.gui.lookout import Lookout
from bgsub.gui.messages import Level, Notice
from bgsub.gui.panels.compare import ComparePanel, Statistic
from bgsub.gui.panels.detector import DetectorPanel, command_line
from bgsub.gui.panels.inspector import InspectorPanel, explain
from bgsub.gui.panels.parameters.form import ParameterForm
from bgsub.gui.panels.parameters.presets import read_preset, write_preset
from bgsub.gui.panels.parameters.words import range_in_words
from bgsub.gui.panels.roi import RoiPanel
from bgsub.gui.panels.timeline.plots import PlotsPanel, _with_gaps
from bgsub.gui.panels.timeline.transport import TransportBar
from bgsub.gui.widgets import dialogs
from bgsub.gui.widgets.images.pane_grid import PaneGrid
from bgsub.gui.widgets.notice_bar import NoticeBar
from bgsub.gui.widgets.open_source import CameraMenu, RecentSources, dropped_sources
from bgsub.gui.widgets.record_dialog import RecordDialog
from bgsub.gui.widgets.theme import Theme, ThemeChoice
from bgsub.roi import Region, open_region
from bgsub.video.list_cameras import FoundCamera
from bgsub.video.sources.synthetic import SyntheticScene, write_sample
from tests.gui.conftest import EASY


def add(qtbot, widget):
    qtbot.addWidget(widget)
    widget.show()
    return widget


def played(session, qtbot):
    session.open(EASY)
    qtbot.waitUntil(lambda: session.view.processed == 40 and not session.view.playing)
    return session


class TestForm:
    @pytest.mark.parametrize("name", DETECTORS)
    def test_it_has_an_entry_with_range_and_meaning_for_every_parameter(self, qtbot, name):
        form = add(qtbot, ParameterForm())
        kind = detector_class(name)
        form.show_parameters(kind, {})
        groups = [form.inputs[name].parameter.group for name in form.inputs]
        assert groups == sorted(groups)  # those for experts come last
        assert set(form.inputs) == {parameter.name for parameter in kind.PARAMETERS}
        for parameter in kind.PARAMETERS:
            entry = form.inputs[parameter.name]
            assert entry.value == defaults(kind)[parameter.name]
            assert range_in_words(parameter) in entry.toolTip()
            assert parameter.unit in entry.toolTip() or parameter.default is None
            assert ("new model" in entry.toolTip()) == parameter.shapes_state

    def test_a_typed_value_has_the_type_of_the_parameter(self, qtbot):
        form = add(qtbot, ParameterForm())
        form.show_parameters(detector_class("norma"), {})
        changes = []
        form.changed.connect(lambda *args: changes.append(args))
        form.inputs["slots"].editor.setValue(5)
        form.inputs["nu"].editor.setValue(0.25)
        form.inputs["memory_s"].is_set.setChecked(True)
        form.inputs["memory_s"].editor.setValue(7)
        assert changes == [("slots", 5), ("nu", 0.25), ("memory_s", 100.0), ("memory_s", 7.0)]
        form.inputs["memory_s"].is_set.setChecked(False)
        assert changes[-1] == ("memory_s", None)

    def test_a_slider_and_its_number_go_together(self, qtbot):
        form = add(qtbot, ParameterForm())
        form.show_parameters(detector_class("adaptive"), {})
        entry = form.inputs["threshold"]
        entry.slider.setValue(100)
        assert entry.value == 0.5
        entry.editor.setValue(0.25)
        assert entry.slider.value() == 50

    def test_values_out_of_range_cannot_be_set(self, qtbot):
        form = add(qtbot, ParameterForm())
        form.show_parameters(detector_class("norma"), {})
        for name in form.inputs:
            editor = form.inputs[name].editor
            if isinstance(editor, QCheckBox):
                continue
            for end in (editor.minimum(), editor.maximum()):
                editor.setValue(end)
                form.inputs[name].parameter.check(form.inputs[name].value)


class TestDetectorPanel:
    def test_changes_reach_the_settings(self, session, qtbot):
        panel = add(qtbot, DetectorPanel(session))
        panel.editor.detector.setCurrentText("olk")
        panel.editor.form.inputs["rho_rule"].editor.setCurrentText("pooled")
        panel.editor.median.setValue(7)
        panel.editor.fill_holes.setChecked(True)
        panel.editor.min_area.setValue(12)
        panel.automatic_rate.setChecked(False)
        panel.rate.setValue(0.25)
        panel.freeze.click()
        config = session.settings.config
        assert (config.detector, config.parameters["rho_rule"], config.learning_rate) == ("olk", "pooled", 0.25)
        assert (config.postprocess.median, config.postprocess.fill_holes, config.postprocess.min_area) == (7, True, 12)
        assert session.settings.frozen

    def test_values_that_do_not_go_together_are_explained_and_not_used(self, session, qtbot):
        panel = add(qtbot, DetectorPanel(session))
        panel.editor.detector.setCurrentText("olk")
        panel.editor.form.inputs["v"].editor.setValue(0.9)
        assert "v must be below C" in panel.editor.error.text()
        assert panel.editor.error.isVisible()
        assert session.settings.config == Config("olk")
        panel.editor.form.inputs["C"].editor.setValue(0.5)
        assert not panel.editor.error.isVisible()

    def test_an_even_median_becomes_odd(self, session, qtbot):
        panel = add(qtbot, DetectorPanel(session))
        panel.editor.median.setValue(8)
        assert session.settings.config.postprocess.median == 9

    def test_knn_offers_no_freezing(self, session, qtbot):
        panel = add(qtbot, DetectorPanel(session))
        panel.editor.detector.setCurrentText("knn")
        assert not panel.freeze.isEnabled()
        assert "cannot be frozen" in panel.freeze.toolTip()

    def test_the_rate_of_the_source_is_shown_but_not_set(self, session, qtbot):
        panel = add(qtbot, DetectorPanel(session))
        panel.editor.set_rate(10.0)
        assert panel.editor.form.inputs["rate_hz"].value == 10.0
        assert "rate_hz" not in session.settings.config.parameters

    def test_earlier_settings_are_listed_and_returned_to(self, session, qtbot):
        panel = add(qtbot, DetectorPanel(session))
        session.configure(Config("adaptive"))
        for threshold in (0.3, 0.4):
            session.configure(Config("adaptive", {"threshold": threshold}))
        session.configure(Config("adaptive", {"threshold": 0.4}, learning_rate=0.01))
        menu = panel.history.menu()

        def listed() -> list[tuple[str, bool]]:
            menu.aboutToShow.emit()
            return [(action.text(), action.isChecked()) for action in menu.actions()]

        texts = [
            "learning rate automatic → 0.01",
            "Sensitivity 0.3 → 0.4",
            "Sensitivity 0.18 → 0.3",
            "adaptive",
            "Settings at the beginning",
        ]
        assert listed() == [(text, index == 0) for index, text in enumerate(texts)]
        menu.actions()[2].trigger()
        assert session.settings.config == Config("adaptive", {"threshold": 0.3})
        assert panel.editor.form.inputs["threshold"].value == 0.3
        assert listed() == [(text, index == 2) for index, text in enumerate(texts)]
        menu.actions()[0].trigger()
        assert session.settings.config.learning_rate == 0.01

    def test_presets_suit_the_command_line(self, session, qtbot, tmp_path):
        session.change(config=Config("olk", {"slots": 4}), frozen=True)
        region = Region(include=(((0.0, 0.0), (9.0, 0.0), (9.0, 9.0)),), exclude=())
        session.set_region(region)
        write_preset(session, tmp_path / "my.toml")
        config = Config.from_toml(tmp_path / "my.toml")
        assert config.parameters["slots"] == 4
        assert config.learning_rate == 0
        assert open_region(config.roi) == region
        session.change(config=Config(), region=None)
        read_preset(session, tmp_path / "my.toml")
        assert session.settings.config.detector == "olk"
        assert session.settings.region == region

    def test_a_wrong_preset_is_explained_and_nothing_changes(self, session, qtbot, tmp_path):
        (tmp_path / "bad.toml").write_text("detector = 'norma'\n[parameters]\nslots = -1\n")
        before = session.settings
        assert not session.attempt(lambda: read_preset(session, tmp_path / "bad.toml"))
        assert "slots must be" in session.notices.text
        assert "bad.toml is not a valid settings file" in session.notices.text
        assert session.settings == before

    def test_the_command_line_makes_the_same_configuration(self, session, qtbot):
        import click

        config = Config("norma", {"nu": 0.3, "memory_s": 9.0}).with_postprocess(median=9, fill_holes=True)
        session.change(config=config)
        session.set_region(Region(include=(((0.0, 0.0), (9.0, 0.0), (9.0, 9.5)),)))
        panel = add(qtbot, DetectorPanel(session))
        panel.copy_command()
        words = shlex.split(QApplication.clipboard().text())
        assert QApplication.clipboard().text() == command_line(session)
        assert words[:5] == ["bgsub", "run", "SOURCE", "-o", "SOURCE-mask.mkv"]
        options = detector_options(click.Command("any")).make_context("any", words[5:]).params
        again = make_config(options)
        assert again.with_parameters({}).to_toml().replace(again.roi, "") == config.to_toml()
        assert open_region(again.roi) == session.settings.region


class TestCompare:
    def test_a_second_detector_with_ground_truth(self, session, qtbot, tmp_path):
        write_sample(tmp_path / "street", SyntheticScene(size=(48, 64), frames=30))
        panel = add(qtbot, ComparePanel(session))
        wanted = []
        panel.panes_wanted.connect(wanted.append)
        panel.enabled.setChecked(True)
        assert session.settings.other == Config("mog2")
        panel.editor.detector.setCurrentText("knn")
        assert panel.set_truth(str(tmp_path / "street"))
        session.open(str(tmp_path / "street" / "input"))
        qtbot.waitUntil(lambda: session.view.processed == 30)
        assert [head.text() for head in panel.heads.values()] == ["A: norma", "B: knn"]
        for side, run in zip(panes.Side, session.view.runs, strict=True):
            assert panel.cells[Statistic.F_MEASURE, side].text() == f"{run.counts.f_measure:.3f}"
            assert float(panel.cells[Statistic.MS, side].text()) > 0
        panel.difference_button.click()
        assert wanted[-1][1] is panes.DIFFERENCE
        panel.enabled.setChecked(False)
        assert session.settings.other is None
        assert wanted[-1] == (panes.OVERLAY, panes.MASK)
        panel.show_difference()
        panel.show_side_by_side()
        assert wanted[-1] == (panes.OVERLAY, panes.MASK)
        panel.toggle()
        assert session.is_comparing
        assert panel.enabled.isChecked()
        assert wanted[-1] == (panes.OVERLAY, panes.OVERLAY_B)

    def test_a_folder_without_labels_is_explained(self, session, qtbot, tmp_path):
        panel = add(qtbot, ComparePanel(session))
        assert not panel.set_truth(str(tmp_path))
        assert "holds no numbered label images" in session.notices.text
        assert session.settings.truth is None


class TestInspector:
    def test_a_pinned_pixel_is_explained_with_colours_and_curves(self, session, qtbot, theme):
        panel = add(qtbot, InspectorPanel(session, theme))
        panel.resize(340, 700)
        assert "Click a pixel" in panel.verdict.text()
        session.open(EASY)
        session.pin(20, 30)
        qtbot.waitUntil(lambda: session.view.processed == 40 and not session.view.playing)
        qtbot.waitUntil(lambda: "f(x) = " in panel.verdict.text())
        assert panel.pixel == (20, 30)
        assert panel.table.isVisible()
        assert panel.table.grab().toImage().pixelColor(16, 30) != panel.palette().window().color()
        panel.draw()
        x, _ = panel.values.curves[0].getData()
        assert len(x) == session.pixel_history(20, 30).written >= 39
        panel.remove.click()
        assert session.settings.pinned_pixels == ()
        assert panel.pixel is None

    def test_one_of_several_pinned_pixels_can_be_chosen(self, session, qtbot, theme):
        panel = add(qtbot, InspectorPanel(session, theme))
        chosen = []
        panel.selected.connect(chosen.append)
        for pixel in ((1, 1), (2, 2), (3, 3)):
            session.pin(*pixel)
        assert panel.pixel == (3, 3)
        panel.select(1, 1)
        assert chosen[-1] == (1, 1)
        panel.remove.click()
        assert session.settings.pinned_pixels == ((2, 2), (3, 3))
        panel.remove_all.click()
        assert session.settings.pinned_pixels == ()

    def test_each_outcome_has_its_sentence(self, session, qtbot):
        from dataclasses import replace

        played(session, qtbot)
        session.pin(2, 2)
        qtbot.waitUntil(lambda: len(session.view.pinned_pixels) == 1)
        pixel = replace(session.view.pinned_pixels[0], before_learning=True)
        low, high = (replace(pixel.state, value=value, threshold=0.5) for value in (0.1, 0.9))
        sentences = {
            explain(replace(pixel, state=state, foreground=foreground, steps=None))
            for state in (low, high)
            for foreground in (False, True)
        }
        assert len(sentences) == 4
        assert "after the frame was learned" in explain(replace(pixel, before_learning=False))
        assert explain(replace(pixel, state=None, reason="no model")) == "no model"


class TestPlots:
    def test_curves_follow_the_frames(self, session, qtbot, theme):
        panel = add(qtbot, PlotsPanel(session, theme))
        session.change(other=Config("mog2"))
        played(session, qtbot)
        panel.draw()
        x, share = panel.share.curves[0].getData()
        assert len(x) == 40
        assert share[-1] == pytest.approx(100 * session.view.runs[0].share)
        assert len(panel.times.curves) == 2
        panel.span.setCurrentIndex(0)
        theme.choose(ThemeChoice.DARK)
        theme.choose(ThemeChoice.SYSTEM)

    def test_no_line_joins_what_a_jump_left_out(self):
        rows = np.zeros((6, len(FRAME_COLUMNS)))
        rows[:, FRAME_COLUMNS.index("time_s")] = 0, 0.04, 0.08, 40.0, 40.04, 40.08
        shown = _with_gaps(rows)
        np.testing.assert_array_equal(np.isnan(shown[:, FRAME_COLUMNS.index("foreground")]), [0, 0, 0, 1, 0, 0, 0])
        assert np.isfinite(shown[:, FRAME_COLUMNS.index("time_s")]).all()
        np.testing.assert_array_equal(_with_gaps(rows[:3]), rows[:3])
        assert len(_with_gaps(rows[:0])) == 0

    def test_statistics_are_exported(self, session, qtbot, theme, tmp_path, monkeypatch):
        from bgsub.gui.panels.timeline import plots as plots_panel

        panel = add(qtbot, PlotsPanel(session, theme))
        played(session, qtbot)
        monkeypatch.setattr(plots_panel, "ask_save", lambda *_: tmp_path / "s.csv")
        panel.export.click()
        qtbot.waitUntil(lambda: "statistics of 40 frames" in session.notices.text)
        assert len((tmp_path / "s.csv").read_text().splitlines()) == 41
        monkeypatch.setattr(plots_panel, "ask_save", lambda *_: tmp_path / "missing" / "s.csv")
        panel.export.click()
        qtbot.waitUntil(lambda: "there is no folder" in session.notices.text)


def mouse(button=Qt.MouseButton.LeftButton, modifiers=Qt.KeyboardModifier.NoModifier) -> QMouseEvent:
    at = QPointF(0, 0)
    return QMouseEvent(QMouseEvent.Type.MouseButtonPress, at, at, button, button, modifiers)


class TestRegion:
    def draw(self, panel, corners):
        for x, y in corners:
            panel.editor.press(QPointF(x, y), 1.0, mouse())
            panel.editor.release()
        panel.finish()

    def test_polygons_are_drawn_moved_and_deleted_with_undo(self, session, qtbot):
        panel = add(qtbot, RoiPanel(session))
        panel.edit.setChecked(True)
        panel.editor.is_active = True
        self.draw(panel, [(2, 2), (30, 2), (30, 30), (2, 30)])
        assert session.settings.region.include == (((2, 2), (30, 2), (30, 30), (2, 30)),)
        panel.kind.setCurrentIndex(1)
        self.draw(panel, [(5, 5), (9, 5), (9, 9)])
        assert session.settings.region.exclude == (((5, 5), (9, 5), (9, 9)),)
        panel.editor.press(QPointF(30, 30), 1.0, mouse())
        panel.editor.move(QPointF(40, 41), 1.0)
        panel.editor.release()
        assert session.settings.region.include[0][2] == (40, 41)
        panel.editor.press(QPointF(16, 2), 1.0, mouse(modifiers=Qt.KeyboardModifier.ShiftModifier))
        assert len(session.settings.region.include[0]) == 5
        panel.editor.press(QPointF(16, 2), 1.0, mouse(Qt.MouseButton.RightButton))
        assert len(session.settings.region.include[0]) == 4
        panel.undo_button.click()
        panel.undo_button.click()
        panel.undo_button.click()
        assert session.settings.region.include[0][2] == (30, 30)
        panel.redo_button.click()
        assert session.settings.region.include[0][2] == (40, 41)
        panel.list.setCurrentRow(1)
        panel.excludes.click()
        assert len(session.settings.region.include) == 2
        panel.delete.click()
        assert len(session.settings.region.include) == 1
        panel.clear.click()
        assert session.settings.region is None

    def test_a_click_on_the_first_corner_or_a_double_click_closes(self, session, qtbot):
        panel = add(qtbot, RoiPanel(session))
        panel.editor.is_active = True
        for x, y in [(2, 2), (30, 2), (30, 30), (2.5, 2.5)]:
            panel.editor.press(QPointF(x, y), 2.0, mouse())
            panel.editor.release()
        assert len(session.settings.region.include[0]) == 3
        for x, y in [(50, 2), (60, 2), (60, 30)]:
            panel.editor.press(QPointF(x, y), 2.0, mouse())
        assert panel.editor.double_click(QPointF(60, 30))
        assert len(session.settings.region.include) == 2

    def test_a_saved_region_suits_the_command_line(self, session, qtbot, tmp_path):
        panel = add(qtbot, RoiPanel(session))
        assert not panel.write(str(tmp_path / "r.json"))
        panel.editor.is_active = True
        self.draw(panel, [(2, 2), (30, 2), (30, 30)])
        assert panel.write(str(tmp_path / "r.json"))
        assert open_region(str(tmp_path / "r.json")) == session.settings.region
        saved = session.settings.region
        panel.clear.click()
        assert panel.read(str(tmp_path / "r.json"))
        assert session.settings.region == saved
        assert panel.list.count() == 1

    def test_a_wrong_file_is_explained(self, session, qtbot, tmp_path):
        panel = add(qtbot, RoiPanel(session))
        (tmp_path / "bad.json").write_text('{"include": [[[1, 2]]]}')
        assert not panel.read(str(tmp_path / "bad.json"))
        assert "at least 3 corners" in session.notices.text
        assert session.settings.region is None

    def test_a_region_that_is_an_image_can_be_used_and_cleared(self, session, qtbot, tmp_path):
        from bgsub._opencv import cv2

        cv2.imwrite(str(tmp_path / "r.png"), np.full((48, 64), 255, np.uint8))
        panel = add(qtbot, RoiPanel(session))
        assert panel.read(str(tmp_path / "r.png"))
        assert "is an image" in panel.hint.text()
        cv2.imwrite(str(tmp_path / "r2.png"), np.eye(48, 64, dtype=np.uint8) * 255)
        assert panel.read(str(tmp_path / "r2.png"))
        assert session.settings.region.image.sum() == 48 * 255
        saved = session.settings.region
        panel.undo()
        panel.redo()
        assert session.settings.region == saved
        panel.clear.click()
        assert session.settings.region is None


class TestTransport:
    def test_it_shows_and_controls_the_position(self, session, qtbot, theme):
        bar = add(qtbot, TransportBar(session, Lookout(session, enabled=False), theme))
        assert not bar.slider.isEnabled()
        played(session, qtbot)
        assert bar.slider.isEnabled()
        assert bar.slider.maximum() == 39
        assert bar.time.text() == "0:01.5 / 0:01.6"
        bar.slider.sliderMoved.emit(10)
        qtbot.waitUntil(lambda: session.view.position == 10)
        bar.forward.click()
        qtbot.waitUntil(lambda: session.view.position == 11)
        assert bar.slider.value() == 11
        bar.loop.click()
        bar.jump.setCurrentIndex(1)
        bar.change_speed(-1)
        assert (session.settings.loop, session.settings.keep_model, session.settings.speed) == (True, False, 4.0)
        bar.play.click()
        qtbot.waitUntil(lambda: session.view.playing)


class TestNotices:
    def test_errors_wait_for_each_other_and_information_does_not(self, qtbot, theme):
        bar = add(qtbot, NoticeBar(theme))
        bar.show_notice(Notice(Level.INFO, "news"))
        bar.show_notice(Notice(Level.ERROR, "first", can_retry=True))
        bar.show_notice(Notice(Level.ERROR, "second"))
        bar.show_notice(Notice(Level.ERROR, "second"))
        assert bar.notice.text == "first"
        assert bar.waiting == 1
        assert bar.again.isVisible()
        with qtbot.waitSignal(bar.retry):
            bar.again.click()
        assert bar.notice.text == "second"
        assert not bar.again.isVisible()
        bar.dismiss()
        assert not bar.isVisible()


class TestPanes:
    def test_layouts_and_choices(self, qtbot, theme):
        grid = add(qtbot, PaneGrid(theme))
        grid.arrange(4)
        assert len(grid.panes) == 4
        grid.choose((panes.SCORE,))
        assert grid.panes == (panes.SCORE,)
        grid.choose((panes.INPUT, panes.MASK, panes.DIFFERENCE))
        assert grid.panes[:3] == (panes.INPUT, panes.MASK, panes.DIFFERENCE)
        with pytest.raises(ValueError, match="count must be one of"):
            grid.arrange(3)


class TestSources:
    def test_recent_ones_are_kept_without_secrets(self, kept, tmp_path):
        recent = RecentSources(kept)
        for number in range(12):
            recent.add(f"synthetic:easy?seed={number}")
        recent.add("rtsp://user:secret@camera/stream")
        recent.add("rtsp://camera/stream")
        (tmp_path / "a.mp4").write_text("")
        recent.add(str(tmp_path / "a.mp4"))
        assert len(recent.names) == 10
        assert recent.names[:2] == [str(tmp_path / "a.mp4"), "rtsp://camera/stream"]
        assert "secret" not in "".join(recent.names)
        recent.clear()
        assert recent.names == []

    def test_a_dropped_file_or_address_is_a_source(self, tmp_path):
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(tmp_path / "in000001.png"))])
        assert dropped_sources(mime.urls()) == [str(tmp_path)]
        assert dropped_sources([QUrl.fromLocalFile("/clips/a.mp4")]) == ["/clips/a.mp4"]
        assert dropped_sources([QUrl("http://host/a.mp4")]) == ["http://host/a.mp4"]
        assert dropped_sources([]) == []

    def test_cameras_are_looked_for_when_the_menu_opens(self, qtbot, no_leaked_threads):
        chosen, found = [], [FoundCamera(0, "Desk"), FoundCamera(2, "Door")]
        menu = CameraMenu(chosen.append, find=lambda: found)
        qtbot.addWidget(menu)
        assert menu.actions()[0].text() == "No camera found"
        menu.search()
        qtbot.waitUntil(lambda: len(menu.actions()) == 2)
        menu.actions()[1].trigger()
        assert chosen == ["camera:2"]
        menu.finish()


class TestDialogs:
    def test_files_to_record_are_chosen(self, qtbot, tmp_path):
        dialog = RecordDialog(None, tmp_path, "street")
        qtbot.addWidget(dialog)
        dialog.boxes["stats"].setChecked(True)
        assert [path.name for path in dialog.outputs.paths] == [
            "street-mask.mkv",
            "street-overlay.mp4",
            "street-stats.csv",
        ]
        dialog.boxes["images"].setChecked(True)
        assert "street-images" in dialog.names.text()
        for box in dialog.boxes.values():
            box.setChecked(False)
        assert not dialog.buttons.button(dialog.buttons.StandardButton.Ok).isEnabled()

    def test_the_last_folder_is_remembered(self, qtbot, kept, tmp_path, monkeypatch):
        dialogs.remember_in(kept)
        asked = []

        def choose(parent, title, folder, files):
            asked.append(folder)
            return str(tmp_path / "a.mp4"), files

        monkeypatch.setattr(dialogs.QFileDialog, "getOpenFileName", choose)
        assert dialogs.ask_open(None, "Open", "All (*)") == tmp_path / "a.mp4"
        dialogs.ask_open(None, "Open", "All (*)")
        assert asked == ["", str(tmp_path)]
        monkeypatch.setattr(dialogs.QFileDialog, "getOpenFileName", lambda *_: ("", ""))
        assert dialogs.ask_open(None, "Open", "All (*)") is None


class TestLearnersPage:
    @pytest.mark.slow
    def test_methods_learn_live_on_every_kind_of_stream(self, qtbot, theme, no_leaked_threads):
        page = add(qtbot, LearnersWindow(theme))
        try:
            for combo in (page.stream, page.speed, page.measure):  # no name is cut
                option = QStyleOptionComboBox()
                combo.initStyleOption(option)
                kind, part = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
                room = combo.style().subControlRect(kind, option, part, combo).width()
                assert room >= max(
                    map(combo.fontMetrics().horizontalAdvance, map(combo.itemText, range(combo.count())))
                )
            page.speed.setCurrentIndex(page.speed.count() - 1)
            kinds = {stream.kind: number for number, stream in enumerate(STREAMS)}
            for kind in Kind:
                page.stream.setCurrentIndex(kinds[kind])
                if kind is not Kind.CLASSES:  # what was learned from the stream before is gone at once
                    assert (page.view, page.surfaces, page.curves.curves) == (None, [], [])
                    assert page.count.text().startswith("Preparing")
                qtbot.waitUntil(
                    lambda kind=kind: (
                        page.view is not None and page.view.setup.stream.kind is kind and page.view.t > 100
                    ),
                    timeout=60_000,
                )
                qtbot.waitUntil(lambda: len(page.surfaces) == len(page.view.learners) > 1)
                image = page.surfaces[0].grab().toImage()
                colours = {
                    image.pixelColor(x, y).name()
                    for x in range(0, image.width(), 7)
                    for y in range(0, image.height(), 7)
                }
                assert len(colours) > 10 or kind is Kind.REGRESSION
            page.measure.setCurrentIndex(1)
            assert len(page.curves.curves) == len(page.view.learners)
            page.pause.click()
            held, shown = page.view.t, len(page.view.learners)
            qtbot.waitUntil(lambda: page.pause.isChecked())
            item = page.methods.item(0)
            item.setCheckState(Qt.CheckState.Unchecked)
            page.pause.click()
            qtbot.waitUntil(
                lambda: page.view is not None and page.view.t != held and len(page.view.learners) == shown - 1
            )
        finally:
            page.close()
            page.finish()


class TestTheme:
    def test_it_follows_the_choice_and_the_system(self, qapp, theme: Theme):
        theme.choose(ThemeChoice.DARK)
        assert theme.is_dark
        assert qapp.palette().window().color().lightness() < 100
        theme.choose(ThemeChoice.LIGHT)
        assert qapp.palette().window().color().lightness() > 200
        theme.choose(ThemeChoice.SYSTEM)
        dark = qapp.styleHints().colorScheme() == Qt.ColorScheme.Dark
        assert theme.is_dark == dark


def test_a_kind_of_scene_gives_settings_to_begin_with(session, qtbot, theme):
    from bgsub.gui.panels.parameters.scenes import SCENES

    panel = add(qtbot, DetectorPanel(session))
    before = session.settings.config
    session.change(config=replace(before, learning_rate=0.01))
    for index, scene in enumerate(SCENES):
        panel.scene.activated.emit(index)
        config = session.settings.config
        assert config.detector == "adaptive"
        assert config.learning_rate == 0.01
        assert {name: config.parameters[name] for name in scene.parameters} == dict(scene.parameters)
        assert scene.advice in session.notices.text
        assert panel.scene.currentIndex() == -1
    session.undo_settings()
    assert session.settings.config != config


def test_parameters_for_experts_are_shown_when_asked_for_or_changed(session, qtbot):
    panel = add(qtbot, DetectorPanel(session))
    session.change(config=Config("adaptive"))
    form = panel.editor.form
    expert = next(entry for entry in form.inputs.values() if entry.parameter.group == "expert")
    assert expert.isHidden()
    form.experts.click()
    assert not expert.isHidden()
    session.change(config=Config("norma"))
    session.change(config=Config("adaptive", {"threads": 1}))
    assert not panel.editor.form.inputs["threads"].isHidden()


def test_settings_are_kept_as_the_second_detector(session, qtbot):
    panel = add(qtbot, DetectorPanel(session))
    panel.keep.click()
    assert session.settings.other == session.settings.config
