"""Ask which files to record, and where."""

from pathlib import Path

from PyQt6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from bgsub.gui.engine.recorder import Outputs
from bgsub.gui.widgets.dialogs import ask_folder
from bgsub.gui.widgets.fields import tame_fields
from bgsub.video.sinks import Sink, recordable_sinks

__all__ = ["RecordDialog"]

_USUAL = ("mask", "overlay")
"""Sinks that are proposed."""


def _label(kind: type[Sink]) -> str:
    text = kind.__name__ if kind.option is None else kind.option.help
    return text[:1].upper() + text[1:]


class RecordDialog(QDialog):
    """Chooses the files of a recording, their folder and their names.

    Parameters
    ----------
    parent : QWidget
        The window.
    folder : Path
        Proposed folder.
    name : str
        Proposed beginning of the file names.
    """

    def __init__(self, parent: QWidget | None, folder: Path, name: str) -> None:
        super().__init__(parent)
        self.setWindowTitle("Record")
        self.folder = QLineEdit(str(folder))
        self.name = QLineEdit(name)
        self.folder.setToolTip("Folder of the files")
        self.name.setToolTip("Beginning of the names of the files")
        choose = QPushButton("Choose…")
        choose.setToolTip("Choose the folder of the files")
        choose.clicked.connect(self._choose)
        self.boxes: dict[str, QCheckBox] = {}
        for sink, kind in recordable_sinks().items():
            self.boxes[sink] = box = QCheckBox(_label(kind))
            box.setChecked(sink in _USUAL)
            box.setToolTip("Whether this is recorded")
        self.names = QLabel()
        self.names.setProperty("faint", True)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        for box in self.boxes.values():
            layout.addWidget(box)
            box.toggled.connect(self._update)
        row = QHBoxLayout()
        for widget in (QLabel("in"), self.folder, choose):
            row.addWidget(widget)
        layout.addLayout(row)
        row = QHBoxLayout()
        row.addWidget(QLabel("named"))
        row.addWidget(self.name)
        layout.addLayout(row)
        layout.addWidget(self.names)
        layout.addWidget(self.buttons)
        self.name.textChanged.connect(self._update)
        self.setMinimumWidth(460)
        tame_fields(self)
        self._update()

    @property
    def outputs(self) -> Outputs:
        """The files chosen."""
        start = Path(self.folder.text().strip() or ".") / (self.name.text().strip() or "recording")
        kinds = recordable_sinks()
        return Outputs(
            {
                sink: start.with_name(f"{start.name}-{sink}{(*kinds[sink].suffixes, '')[0]}")
                for sink, box in self.boxes.items()
                if box.isChecked()
            }
        )

    def accept(self) -> None:
        present = [path.name for path in self.outputs.paths if path.exists()]
        button = QMessageBox.StandardButton
        if present and QMessageBox.question(self, "Record", f"Overwrite {', '.join(present)}?") != button.Yes:
            return
        super().accept()

    def _choose(self) -> None:
        folder = ask_folder(self, "Folder to record to")
        if folder is not None:
            self.folder.setText(str(folder))

    def _update(self) -> None:
        paths = self.outputs.paths
        self.names.setText(", ".join(path.name for path in paths) or "Choose at least one.")
        ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        if ok is not None:
            ok.setEnabled(bool(paths))
