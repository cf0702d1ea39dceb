"""Menu bar, tool bar and the list of keys, built from the commands."""

from collections.abc import Callable, Iterable, Mapping

from PyQt6.QtCore import QObject, Qt
from PyQt6.QtGui import QAction, QKeySequence
from PyQt6.QtWidgets import (
    QDialog,
    QLabel,
    QMainWindow,
    QMenu,
    QScrollArea,
    QToolBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from bgsub.gui.commands import Command, CommandId, Insert, Menu, main_menus
from bgsub.gui.widgets.icons import icon
from bgsub.gui.widgets.open_source import CameraMenu, RecentSources
from bgsub.gui.widgets.theme import Theme

__all__ = ["HelpDialog", "Menus"]

_CAMERA_ICON = "camera"
_TOOLS: tuple[tuple[CommandId, str] | Insert, ...] = (
    (CommandId.OPEN_FILE, "file"),
    (CommandId.OPEN_FOLDER, "folder"),
    Insert.CAMERAS,
    (CommandId.OPEN_ADDRESS, "address"),
    Insert.SEPARATOR,
    (CommandId.RECORD, "record"),
    (CommandId.SAVE_IMAGE, "snapshot"),
    Insert.SEPARATOR,
    (CommandId.ONE_PANE, "one"),
    (CommandId.TWO_PANES, "two"),
    (CommandId.FOUR_PANES, "four"),
    Insert.SEPARATOR,
    (CommandId.FREEZE, "freeze"),
    (CommandId.RESET, "reset"),
)
"""The tool bar: commands with their icons."""

_TOOL_TEXTS = {
    "file": "Open",
    "folder": "Folder",
    "address": "Address",
    "record": "Record",
    "snapshot": "Image",
    "one": "One",
    "two": "Two",
    "four": "Four",
    "freeze": "Freeze",
    "reset": "Reset",
}
"""What is written under the icons."""

_IMAGE_KEYS = (
    ("Tab", "go to the next control; to the panes, too"),
    ("Arrows in a pane", "move the cursor"),
    ("Return in a pane", "what a click does: pin the pixel, set a corner, paint"),
    ("Delete in a pane", "what a right click does: delete a corner"),
    ("Ctrl+Return", "close the polygon that is being drawn"),
    ("Escape", "leave a field, stop drawing, dismiss a notice"),
)
_MOUSE = (
    ("Click in an image", "inspect that pixel and pin it"),
    ("Wheel", "zoom at the mouse, in all panes"),
    ("Drag", "move the image, in all panes"),
    ("Drop a file or folder", "open it"),
)


class Menus(QObject):
    """Fills the menu bar and the tool bar of a window.

    Parameters
    ----------
    window : QMainWindow
        The window.
    theme : Theme
        Colours of the icons.
    handlers : mapping of str to callable
        What each command calls, by its id.
    open_source : callable
        Receives the name of a camera or a recent source that is chosen.
    recent : RecentSources
        The sources opened last.
    panels : iterable of QAction
        Show or hide the panels.
    """

    def __init__(
        self,
        window: QMainWindow,
        theme: Theme,
        handlers: Mapping[str, Callable[[], object]],
        open_source: Callable[[str], None],
        recent: RecentSources,
        panels: Iterable[QAction],
    ) -> None:
        super().__init__(window)  # so that the theme forgets it with the window
        self._window, self._theme, self._handlers = window, theme, handlers
        self._open_source, self._recent, self._panels = open_source, recent, list(panels)
        self.menus = main_menus()
        """The commands, in the order of the menus."""
        self.actions: dict[str, QAction] = {}
        """By the id of the command."""
        self.cameras = CameraMenu(open_source, window)
        """The cameras that are connected."""
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
        self.recent.clear()
        for name in self._recent.names:
            action = self.recent.addAction(name)
            if action is not None:
                action.triggered.connect(lambda _, text=name: self._open_source(text))
        self.recent.addSeparator()
        forget = self.recent.addAction("Clear this list")
        if forget is not None:
            forget.triggered.connect(self._recent.clear)

    def check(self, command_id: str, on: bool) -> None:
        """Check or uncheck a command."""
        self.actions[command_id].setChecked(on)

    def _make_menus(self) -> None:
        bar = self._window.menuBar()
        if bar is None:
            raise RuntimeError("Qt made no menu bar")
        for menu in self.menus:
            shown = QMenu(menu.text, self._window)
            bar.addMenu(shown)
            for entry in menu.entries:
                if isinstance(entry, Command):
                    self.actions[entry.id] = self._make_action(entry)
                    shown.addAction(self.actions[entry.id])
                else:
                    self._insert(shown, entry)
        self.fill_recent()

    def _make_action(self, command: Command) -> QAction:
        action = QAction(command.text, self._window)
        action.setObjectName(command.id)
        if command.keys:
            action.setShortcut(QKeySequence(command.keys))
        action.setCheckable(command.checkable)
        handler = self._handlers[command.id]
        action.triggered.connect(lambda: handler())
        return action

    def _insert(self, shown: QMenu, entry: Insert) -> None:
        if entry is Insert.SEPARATOR:
            shown.addSeparator()
        elif entry is Insert.CAMERAS:
            shown.addMenu(self.cameras)
        elif entry is Insert.RECENT:
            shown.addMenu(self.recent)
        elif entry is Insert.PANELS:
            shown.addActions(self._panels)

    def _make_toolbar(self) -> None:
        toolbar = self.toolbar = QToolBar("Tools", self._window)
        """The tool bar."""
        toolbar.setObjectName("tools")
        toolbar.setMovable(False)
        toolbar.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        self._window.addToolBar(toolbar)
        for tool in _TOOLS:
            if tool is Insert.SEPARATOR:
                toolbar.addSeparator()
            elif tool is Insert.CAMERAS:
                self._camera_button.setMenu(self.cameras)
                self._camera_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
                self._camera_button.setToolTip("Open camera")
                self._camera_button.setText("Camera")
                self._camera_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
                toolbar.addWidget(self._camera_button)
            elif isinstance(tool, tuple):
                command_id, name = tool
                self.actions[command_id].setIconText(_TOOL_TEXTS[name])
                toolbar.addAction(self.actions[command_id])
        for button in toolbar.findChildren(QToolButton):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.setAccessibleName(button.text() or "More tools")

    def _paint(self) -> None:
        colours = self._theme.colours
        self._camera_button.setIcon(icon(_CAMERA_ICON, colours.text))
        for tool in _TOOLS:
            if isinstance(tool, tuple):
                command_id, name = tool
                colour = colours.recording if command_id is CommandId.RECORD else colours.text
                self.actions[command_id].setIcon(icon(name, colour))


class HelpDialog(QDialog):
    """Lists every key, and what the mouse does.

    Parameters
    ----------
    menus : tuple of Menu
        The commands.
    parent : QWidget
        The window.
    """

    def __init__(self, menus: tuple[Menu, ...], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Keyboard and mouse")
        rows = []
        for menu in menus:
            commands = [entry for entry in menu.entries if isinstance(entry, Command) and entry.keys]
            rows.append(_heading(_plain(menu.text)))
            rows += [_row(_keys_text(command.keys), _plain(command.text)) for command in commands]
        rows.append(_heading("Without a mouse"))
        rows += [_row(keys, effect) for keys, effect in _IMAGE_KEYS]
        rows.append(_heading("Mouse"))
        rows += [_row(action, effect) for action, effect in _MOUSE]
        self.label = QLabel(f"<table cellspacing=3>{''.join(rows)}</table>")
        self.label.setTextFormat(Qt.TextFormat.RichText)
        self.label.setMargin(12)
        area = QScrollArea()
        area.setWidget(self.label)
        area.setWidgetResizable(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(area)
        self.resize(460, 640)


def _heading(text: str) -> str:
    return f"<tr><td colspan=2><br><b>{text}</b></td></tr>"


def _row(left: str, right: str) -> str:
    return f"<tr><td>{left}&nbsp;&nbsp;&nbsp;</td><td>{right}</td></tr>"


def _keys_text(keys: str) -> str:
    text = QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
    return text.replace("<", "&lt;")


def _plain(text: str) -> str:
    return text.replace("&", "").replace("…", "")
