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

__all__ = ["RecordDialog"]


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
        choose = QPushButton("Choose…")
        choose.clicked.connect(self._choose)
        self.with_mask = QCheckBox("Mask: lossless video, every pixel 0 or 255")
        self.with_mask.setChecked(True)
        self.with_overlay = QCheckBox("Overlay: the input with the foreground marked")
        self.with_overlay.setChecked(True)
        self.with_stats = QCheckBox("Statistics of each frame, as a table")
        self.names = QLabel()
        self.names.setProperty("faint", True)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        for box in (self.with_mask, self.with_overlay, self.with_stats):
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
        self._update()

    @property
    def outputs(self) -> Outputs:
        """The files chosen."""
        start = Path(self.folder.text().strip() or ".") / (self.name.text().strip() or "recording")
        return Outputs(
            mask=start.with_name(f"{start.name}-mask.mkv") if self.with_mask.isChecked() else None,
            overlay=start.with_name(f"{start.name}-overlay.mp4") if self.with_overlay.isChecked() else None,
            stats=start.with_name(f"{start.name}-statistics.csv") if self.with_stats.isChecked() else None,
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
