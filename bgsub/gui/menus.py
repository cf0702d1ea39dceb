"""The menus and the tool bar of the main window, made of its commands."""

from typing import TYPE_CHECKING

from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QMenu, QToolBar, QToolButton

from bgsub.gui.actions import make_action
from bgsub.gui.commands import main_commands
from bgsub.gui.widgets.icons import icon
from bgsub.gui.widgets.open_source import CameraMenu
from bgsub.gui.widgets.theme import Theme

if TYPE_CHECKING:
    from bgsub.gui.main_window import MainWindow

__all__ = ["Menus"]

_TOOLS = (
    ("file", "Open file"),
    ("folder", "Open folder"),
    ("camera", ""),
    ("address", "Open address"),
    ("-", ""),
    ("record", "Record"),
    ("snapshot", "Save picture"),
    ("-", ""),
    ("one", "One pane"),
    ("two", "Two panes"),
    ("four", "Four panes"),
    ("-", ""),
    ("freeze", "Freeze the model"),
    ("reset", "Reset the model"),
)
"""Icon and command of each tool; `-` is a line between."""


class Menus:
    """Menus and tool bar.

    Parameters
    ----------
    window : MainWindow
        Gets them; its panels must be there.
    theme : Theme
        Colours of the icons.
    """

    def __init__(self, window: "MainWindow", theme: Theme) -> None:
        self._window, self._theme = window, theme
        self.commands = main_commands(window)
        """What there is, in the order of the menus."""
        self.actions: dict[str, QAction] = {}
        """By the text of the command, without marks."""
        self.cameras = CameraMenu(window.open, window)
        """The cameras present."""
        self.recent = QMenu("Open &recent", window)
        """The sources opened last."""
        self.recent.aboutToShow.connect(self.fill_recent)
        self._camera_button = QToolButton()
        self._make_menus()
        self._make_toolbar()
        theme.changed.connect(self._paint)
        self._paint()

    def fill_recent(self) -> None:
        """List the sources opened last."""
        recent, window = self._window.recent, self._window
        self.recent.clear()
        for name in recent.names:
            action = self.recent.addAction(name)
            if action is not None:
                action.triggered.connect(lambda _, text=name: window.open(text))
        self.recent.addSeparator()
        forget = self.recent.addAction("Clear this list")
        if forget is not None:
            forget.triggered.connect(recent.clear)

    def check(self, text: str, on: bool) -> None:
        """Check or uncheck a command."""
        self.actions[text].setChecked(on)

    def _make_menus(self) -> None:
        window, bar = self._window, self._window.menuBar()
        if bar is None:
            raise RuntimeError("Qt made no menu bar")
        menus: dict[str, QMenu] = {}
        for command in self.commands:
            menu = menus.get(command.menu)
            if menu is None:
                menu = menus[command.menu] = QMenu(f"&{command.menu}", window)
                bar.addMenu(menu)
            if command.text == "-":
                menu.addSeparator()
                continue
            action = make_action(command, window)
            self.actions[command.text.replace("&", "").rstrip("…")] = action
            menu.addAction(action)
            if command.text == "Open &folder…":
                menu.addMenu(self.cameras)
            elif command.text == "Open &address…":
                menu.addMenu(self.recent)
            elif command.text == "Whole &screen":
                for dock in window.docks.values():
                    menu.addAction(dock.toggleViewAction())
        self.fill_recent()

    def _make_toolbar(self) -> None:
        toolbar = QToolBar("Tools", self._window)
        toolbar.setObjectName("Tools")
        toolbar.setMovable(False)
        self._window.addToolBar(toolbar)
        for name, text in _TOOLS:
            if name == "-":
                toolbar.addSeparator()
            elif text:
                toolbar.addAction(self.actions[text])
            else:
                self._camera_button.setMenu(self.cameras)
                self._camera_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
                self._camera_button.setToolTip("Open camera")
                toolbar.addWidget(self._camera_button)

    def _paint(self) -> None:
        colours = self._theme.colours
        for name, text in _TOOLS:
            colour = colours.recording if name == "record" else colours.text
            if text:
                self.actions[text].setIcon(icon(name, colour))
            elif name != "-":
                self._camera_button.setIcon(icon(name, colour))
