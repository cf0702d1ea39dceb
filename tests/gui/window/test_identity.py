"""Ids, not labels, identify panes, commands, panels and statistics; a registered pane is offered everywhere."""

from dataclasses import replace

import numpy as np
import pytest
from PyQt6.QtCore import Qt

from bgsub._opencv import cv2
from bgsub.config import Config
from bgsub.gui import panes
from bgsub.gui.commands import Command, CommandId, all_commands, main_menus, pane_command_id, theme_command_id
from bgsub.gui.panels.compare import STATISTIC_LABELS, Statistic
from bgsub.gui.panels.timeline import transport
from bgsub.gui.widgets.theme import THEME_LABELS, ThemeChoice
from bgsub.gui.window import menus
from bgsub.gui.window.main_window import PANEL_LABELS, MainWindow, PanelId
from bgsub.gui.window.menus import HelpDialog
from tests.gui.conftest import EASY
from tests.gui.window.test_window import trigger


def reworded(number: int) -> str:
    return f"Étiquette {number}"


@pytest.fixture
def reword(monkeypatch, registry):
    """Replace every label of panes, commands, menus, panels, themes, statistics and speeds."""

    def reword() -> None:
        for number, pane in enumerate(list(registry.values())):
            registry[pane.id] = replace(pane, label=reworded(number))
        for labels in (PANEL_LABELS, THEME_LABELS, STATISTIC_LABELS):
            for number, key in enumerate(labels):
                monkeypatch.setitem(labels, key, reworded(number))
        monkeypatch.setattr(transport, "speed_text", lambda speed: f"speed {speed}")
        original = main_menus()
        numbers = iter(range(1000))
        shown = tuple(
            replace(
                menu,
                text=reworded(next(numbers)),
                entries=tuple(
                    replace(entry, text=reworded(next(numbers))) if isinstance(entry, Command) else entry
                    for entry in menu.entries
                ),
            )
            for menu in original
        )
        monkeypatch.setattr(menus, "main_menus", lambda: shown)

    return reword


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
        window.close()
        window.deleteLater()
    theme.choose(ThemeChoice.SYSTEM)


def played(window: MainWindow, qtbot) -> MainWindow:
    window.open(EASY)
    session = window.session
    qtbot.waitUntil(lambda: session.view.processed == 40 and not session.view.playing)
    return window


def cut_out(processed: panes.Processed) -> np.ndarray:
    """The frame where the mask is set, black elsewhere."""
    return cv2.bitwise_and(processed.result.packet.frame, processed.result.packet.frame, mask=processed.result.mask)


def test_reworded_labels_break_no_command_statistic_or_saved_choice(make_window, reword, qtbot, tmp_path):
    first = make_window()
    first.grid.choose((panes.SCORE, panes.BACKGROUND))
    first.docks[PanelId.PLOTS].hide()
    first.choose_theme(ThemeChoice.DARK)
    first.session.change(speed=2.0)
    first.close()
    words = {first.menus.actions[name].text() for name in CommandId}

    reword()
    second = make_window()
    assert words.isdisjoint(action.text() for action in second.menus.actions.values())
    number = [pane.id for pane in panes.all_panes()].index(panes.SCORE.id)
    assert second.grid.boxes[0].currentText() == panes.all_panes()[number].label == reworded(number)
    assert second.docks[PanelId.COMPARE].windowTitle() == reworded(1)
    assert second.grid.panes == (panes.SCORE, panes.BACKGROUND)
    assert second.docks[PanelId.PLOTS].isHidden()
    assert not second.docks[PanelId.DETECTOR].isHidden()
    assert second.menus.actions[theme_command_id(ThemeChoice.DARK)].isChecked()

    session = played(second, qtbot).session
    trigger(second, pane_command_id(panes.MASK))
    trigger(second, CommandId.FREEZE)
    trigger(second, CommandId.FASTER)
    trigger(second, CommandId.COMPARE)
    assert second.menus.actions[CommandId.FREEZE].isChecked()
    assert session.settings.frozen
    assert session.settings.other == Config("mog2")
    assert second.transport.speed.currentData() == session.settings.speed
    trigger(second, CommandId.DIFFERENCE)
    assert second.grid.panes == (panes.INPUT, panes.DIFFERENCE, panes.MASK, panes.MASK_B)
    session.seek(5)
    qtbot.waitUntil(lambda: len(session.view.runs) == 2 and panes.DIFFERENCE in session.view.images)
    for side, run in zip(panes.Side, session.view.runs, strict=True):
        assert second.compare.cells[Statistic.MS, side].text() == f"{run.ms:.2f}"
        assert second.compare.cells[Statistic.RECALL, side].text() == "-"
    session.save_panes(tmp_path, "shot")
    qtbot.waitUntil(lambda: (tmp_path / "shot-mask-b.png").exists())
    session.export(tmp_path / "statistics.csv")
    qtbot.waitUntil(lambda: (tmp_path / "statistics.csv").exists())
    assert (tmp_path / "statistics.csv").read_text().startswith("elapsed_s,number,time_s,foreground,ms,ms_b")


def test_every_command_has_a_handler_and_every_id_a_command(make_window):
    shown = [command.id for command in all_commands(make_window().menus.menus)]
    assert len(shown) == len(set(shown))
    assert set(CommandId) <= set(shown)


def test_old_layouts_saved_by_label_fall_back_to_the_defaults(make_window, kept):
    kept.setValue("window/panes", "Score|Ground truth")
    kept.setValue("window/theme", "DARK")
    kept.setValue("overlay/style", "Tint")
    window = make_window()
    assert window.grid.panes == (panes.OVERLAY, panes.MASK)
    assert window.session.settings.overlay_style == "contour"
    assert window.menus.actions[theme_command_id(ThemeChoice.SYSTEM)].isChecked()


def test_a_registered_pane_is_offered_drawn_saved_and_restored(make_window, registry, qtbot, tmp_path):
    pane = panes.register(panes.Pane("test-only", "Cut-out", cut_out))

    window = make_window()
    assert all(box.findData("test-only") >= 0 for box in window.grid.boxes)
    help_dialog = HelpDialog(window.menus.menus, window)
    qtbot.addWidget(help_dialog)
    assert "First pane: cut-out" in help_dialog.label.text()
    session = played(window, qtbot).session
    window.activateWindow()
    window.setFocus()
    digit = next(key for key, shown in panes.first_pane_keys() if shown is pane)
    qtbot.keyClick(window, getattr(Qt.Key, f"Key_{digit}"))
    assert window.grid.panes == (pane, panes.MASK)
    qtbot.waitUntil(lambda: pane in session.view.images)
    frame, mask = session.view.result.packet.frame, session.view.result.mask
    expected = np.where(mask[..., np.newaxis] > 0, frame, 0)
    assert mask.any()
    assert np.array_equal(session.view.images[pane], expected)
    assert np.array_equal(window.grid.views[0].image, expected)
    session.save_panes(tmp_path, "shot")
    qtbot.waitUntil(lambda: "shot-test-only.png" in session.notices.text)
    assert np.array_equal(cv2.imread(str(tmp_path / "shot-test-only.png")), expected)

    window.close()
    assert make_window().grid.panes == (pane, panes.MASK)


def test_a_pane_whose_image_fails_stays_empty(make_window, registry, qtbot):
    def fail(processed):
        raise ValueError("no image today")

    pane = panes.register(panes.Pane("broken", "Broken", fail))
    window = make_window()
    window.grid.choose((pane, panes.MASK))
    session = played(window, qtbot).session
    assert set(session.view.images) == {panes.MASK}
    assert window.grid.views[0].image is None


@pytest.mark.parametrize(("pane_id", "rule"), [("mask", "id must be new"), ("a|b", "id must consist of")])
def test_ids_of_panes_are_unique_and_suit_file_names(registry, pane_id, rule):
    with pytest.raises(ValueError, match=rule):
        panes.register(panes.Pane(pane_id, "Any", cut_out))


def test_number_keys_go_to_the_panes_that_can_always_be_shown(registry):
    for number in range(9):
        panes.register(panes.Pane(f"more-{number}", "More", cut_out))
    keys = {key: pane.id for key, pane in panes.first_pane_keys()}
    assert list(keys) == list("123456789")
    assert list(keys.values())[:5] == ["input", "mask", "overlay", "background", "score"]
    assert "more-0" in keys.values()


def test_no_two_commands_have_the_same_key():
    keys = [command.keys for command in all_commands(main_menus()) if command.keys]
    assert len(keys) == len(set(keys))
