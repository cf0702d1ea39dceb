"""Ask for files and folders, beginning in the folder used last."""

import enum
from pathlib import Path

from PyQt6.QtCore import QSettings
from PyQt6.QtWidgets import QFileDialog, QMessageBox, QWidget

__all__ = ["Answer", "ask_folder", "ask_open", "ask_save", "ask_to_save", "last_folder", "remember_in"]

_KEY = "folders/last"
_settings: QSettings | None = None


def remember_in(settings: QSettings) -> None:
    """Keep the last folder in these settings."""
    global _settings
    _settings = settings


def ask_open(parent: QWidget, title: str, files: str) -> Path | None:
    """Ask for a file that exists; `files` filters, such as `Models (*.npz)`. None if the user cancels."""
    name, _ = QFileDialog.getOpenFileName(parent, title, _last(), f"{files};;All files (*)")
    return _remember(name)


def ask_save(parent: QWidget, title: str, name: str, files: str) -> Path | None:
    """Ask for a file to write, and before overwriting one. A missing suffix is taken from the proposed name."""
    dialog = QFileDialog(parent, title, str(Path(_last()) / name), files)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(Path(name).suffix.removeprefix("."))
    chosen = dialog.selectedFiles() if dialog.exec() else []
    dialog.deleteLater()
    return _remember(chosen[0]) if chosen else None


class Answer(enum.Enum):
    """What to do with changes that no file holds."""

    SAVE = "save"
    DISCARD = "discard"
    CANCEL = "cancel"


def ask_to_save(parent: QWidget, text: str, remark: str) -> Answer:
    """Ask whether to save changes before they are lost; closing the question cancels."""
    box = QMessageBox(QMessageBox.Icon.Question, "bgsub", text, parent=parent)
    box.setInformativeText(remark)
    kinds = QMessageBox.StandardButton
    box.setStandardButtons(kinds.Save | kinds.Discard | kinds.Cancel)
    box.setDefaultButton(kinds.Save)
    answers = {kinds.Save: Answer.SAVE, kinds.Discard: Answer.DISCARD}
    chosen = answers.get(kinds(box.exec()), Answer.CANCEL)
    box.deleteLater()
    return chosen


def ask_folder(parent: QWidget, title: str) -> Path | None:
    """Ask for a folder."""
    return _remember(QFileDialog.getExistingDirectory(parent, title, _last()))


def last_folder() -> Path | None:
    """Return the folder used last."""
    folder = _last()
    return Path(folder) if folder else None


def _last() -> str:
    return "" if _settings is None else str(_settings.value(_KEY, ""))


def _remember(name: str) -> Path | None:
    if not name:
        return None
    path = Path(name)
    if _settings is not None:
        _settings.setValue(_KEY, str(path if path.is_dir() else path.parent))
    return path
