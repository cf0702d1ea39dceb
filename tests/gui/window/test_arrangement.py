"""What of the window is seen: images alone, panes in windows of their own, the first page, help."""

import re
from importlib.resources import files

import pytest
from PyQt6.QtCore import QUrl
from PyQt6.QtWidgets import QTextBrowser

from bgsub import __version__
from bgsub.gui import panes
from bgsub.gui.commands import CommandId
from bgsub.gui.help.dialogs import AboutDialog, GuideDialog, licences
from bgsub.gui.window.main_window import PanelId
from tests.gui.conftest import EASY
from tests.gui.window.test_window import trigger


def played(window, qtbot):
    window.open(EASY)
    session = window.session
    qtbot.waitUntil(lambda: session.view.processed == 40 and not session.view.playing)


def test_the_images_are_shown_alone_and_all_comes_back(window):
    window.docks[PanelId.PLOTS].show()
    window.docks[PanelId.REGION].hide()
    trigger(window, CommandId.ONLY_IMAGES)
    assert all(dock.isHidden() for dock in window.docks.values())
    assert window.menus.toolbar.isHidden()
    trigger(window, CommandId.ONLY_IMAGES)
    assert {panel for panel, dock in window.docks.items() if dock.isHidden()} == {PanelId.REGION}
    assert not window.menus.toolbar.isHidden()


def test_panels_put_away_are_there_again_next_time(window, kept, make_session, theme):
    from bgsub.gui.window.main_window import MainWindow

    trigger(window, CommandId.ONLY_IMAGES)
    window.close()
    again = MainWindow(make_session(), theme, kept)
    again.show()
    assert not again.docks[PanelId.DETECTOR].isHidden()
    again.close()
    again.deleteLater()


def test_a_pane_in_a_window_of_its_own_follows_the_frames(window, qtbot):
    played(window, qtbot)
    window.grid.choose((panes.INPUT,))
    window.grid.pop_out(panes.SCORE, list(window.menus.actions.values()))
    assert panes.SCORE in window.session.settings.panes
    popped = window.grid.popped[0]
    qtbot.waitUntil(lambda: popped.image is not None)
    before = popped.image
    window.session.seek(10)
    qtbot.waitUntil(lambda: window.session.view.position == 10)
    window.session.rerun(0.0)
    qtbot.waitUntil(lambda: popped.image is not None and popped.image is not before)
    assert window.menus.actions[CommandId.PLAY_OR_PAUSE] in popped.parentWidget().actions()
    popped.parentWidget().close()
    assert window.grid.popped == []
    assert panes.SCORE not in window.session.settings.panes


def test_single_panes_close_with_the_window(window, qtbot, qapp):
    played(window, qtbot)
    trigger(window, CommandId.POP_OUT)
    assert len(window.grid.popped) == 1
    window.close()
    assert [widget for widget in qapp.topLevelWidgets() if widget.isVisible()] == []


def test_the_first_page_offers_the_example(window, qtbot):
    opened = []
    window.session.open = lambda text, part: opened.append(text)
    window.start.example.click()
    assert opened[0].startswith("synthetic:")


def test_the_guide_has_its_pictures_and_names_keys_that_exist(window):
    guide = GuideDialog(window)
    text = (files("bgsub.gui.help") / "guide.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert pictures
    for name in pictures:
        image = guide.page.loadResource(QTextBrowser().document().ResourceType.ImageResource.value, QUrl(name))
        assert image is not None, name
        assert (files("bgsub.gui.help") / name).is_file(), name
    assert "How to tune a detector" in guide.page.toPlainText()
    guide.close()


def test_about_names_versions_and_licences(window):
    about = AboutDialog(window)
    text = about.label.text()
    assert __version__ in text
    found = licences()
    assert {"numpy", "PyQt6", "av"} <= {name for name, _, _ in found}
    assert all(licence != "not stated" for _, _, licence in found)
    assert all(name in text for name, _, _ in found)
    about.close()


@pytest.mark.parametrize("command", [CommandId.GUIDE, CommandId.ABOUT, CommandId.KEYS])
def test_help_opens_from_the_menu(window, command, qtbot):
    from PyQt6.QtWidgets import QDialog

    trigger(window, command)
    dialogs = [child for child in window.findChildren(QDialog) if child.isVisible()]
    assert len(dialogs) == 1
    dialogs[0].close()


def test_what_is_this_explains_every_control_with_a_tip(window):
    from PyQt6.QtWidgets import QWidget

    silent = [widget for widget in window.findChildren(QWidget) if widget.toolTip() and not widget.whatsThis()]
    assert silent == []
