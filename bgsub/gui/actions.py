"""Everything a menu offers, with its key, in one list that menus and the help are made from."""

from collections.abc import Callable
from dataclasses import dataclass

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QAction, QKeySequence
from PyQt6.QtWidgets import QDialog, QLabel, QScrollArea, QVBoxLayout, QWidget

__all__ = ["Command", "HelpDialog", "make_action"]


@dataclass(frozen=True, slots=True)
class Command:
    """One thing a person can ask for."""

    menu: str
    text: str
    keys: str
    """As `QKeySequence` reads them; empty for none."""
    action: Callable[[], object]
    checkable: bool = False


def make_action(command: Command, parent: QWidget) -> QAction:
    """Make Qt's action of a command."""
    made = QAction(command.text, parent)
    if command.keys:
        made.setShortcut(QKeySequence(command.keys))
    made.setCheckable(command.checkable)
    made.triggered.connect(lambda: command.action())
    return made


_MOUSE = (
    ("Click in a picture", "look into that pixel and pin it"),
    ("Wheel", "zoom at the mouse, in all panes"),
    ("Drag", "move the picture, in all panes"),
    ("Drop a file or folder", "open it"),
)


class HelpDialog(QDialog):
    """Lists every key.

    Parameters
    ----------
    commands : list of Command
        What there is.
    parent : QWidget
        The window.
    """

    def __init__(self, commands: list[Command], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard and mouse")
        menus = list(dict.fromkeys(command.menu for command in commands if command.keys))
        rows = []
        for menu in menus:
            rows.append(f"<tr><td colspan=2><br><b>{menu}</b></td></tr>")
            rows += [
                f"<tr><td>{_shown(command.keys)}&nbsp;&nbsp;&nbsp;</td><td>{_plain(command.text)}</td></tr>"
                for command in commands
                if command.menu == menu and command.keys
            ]
        rows.append("<tr><td colspan=2><br><b>Mouse</b></td></tr>")
        rows += [f"<tr><td>{what}&nbsp;&nbsp;&nbsp;</td><td>{does}</td></tr>" for what, does in _MOUSE]
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


def _shown(keys: str) -> str:
    text = QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
    return text.replace("<", "&lt;")


def _plain(text: str) -> str:
    return text.replace("&", "").replace("…", "")
