"""Two detectors on the same frames: side by side or as a difference, their times, and F with ground truth."""

import math

from PyQt6.QtCore import QSignalBlocker, Qt, pyqtSignal
from PyQt6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QGroupBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from bgsub.config import Config
from bgsub.evaluation import GroundTruth
from bgsub.gui.messages import LaneView, Pane
from bgsub.gui.panels.detector import ConfigEditor
from bgsub.gui.session import Session
from bgsub.gui.widgets.dialogs import ask_folder

__all__ = ["ComparePanel"]

_ROWS = ("ms a frame", "foreground", "F", "precision", "recall")


class ComparePanel(QScrollArea):
    """The panel.

    Parameters
    ----------
    session : Session
        What it controls.
    """

    panes_wanted = pyqtSignal(tuple)
    """The person wants these panes."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.enabled = QCheckBox("Compare with a second detector (B)")
        self.enabled.toggled.connect(self._enable)
        self.side_by_side = QPushButton("Side by side")
        self.side_by_side.clicked.connect(lambda: self.panes_wanted.emit((Pane.OVERLAY, Pane.OVERLAY_B)))
        self.difference = QPushButton("Difference")
        self.difference.clicked.connect(
            lambda: self.panes_wanted.emit((Pane.INPUT, Pane.DIFFERENCE, Pane.MASK, Pane.MASK_B))
        )
        self.editor = ConfigEditor(Config("mog2"))
        self.editor.changed.connect(self._configure)
        self.truth = QPushButton("Ground truth…")
        self.truth.setToolTip("A folder of label images numbered like the frames, as changedetection.net has them")
        self.truth.clicked.connect(self._ask_truth)
        self.no_truth = QPushButton("None")
        self.no_truth.clicked.connect(lambda: session.change(truth=None))
        self.restart = QPushButton("Count anew")
        self.restart.setToolTip("Begin the figures below anew")
        self.restart.clicked.connect(session.restart_counts)
        self.truth_name = QLabel()
        self.truth_name.setProperty("faint", True)
        self.truth_name.setWordWrap(True)
        self.cells: list[list[QLabel]] = []
        """Of each figure, the labels of A and B."""
        self._lay_out()
        session.viewed.connect(self._show)
        session.changed.connect(self._take)
        self._take()

    def set_truth(self, folder: str) -> bool:
        """Compare with the labels of a folder; tell whether there are some."""
        return self._session.attempt(lambda: self._session.change(truth=GroundTruth(folder)))

    def _lay_out(self) -> None:
        inside = QWidget()
        layout = QVBoxLayout(inside)
        panes = QHBoxLayout()
        panes.addWidget(self.side_by_side)
        panes.addWidget(self.difference)
        figures = QGroupBox("Figures")
        grid = QGridLayout(figures)
        self.heads = [QLabel("A"), QLabel("B")]
        for column, head in enumerate(self.heads):
            head.setProperty("title", True)
            grid.addWidget(head, 0, column + 1, Qt.AlignmentFlag.AlignRight)
        for row, name in enumerate(_ROWS):
            grid.addWidget(QLabel(name), row + 1, 0)
            cells = [QLabel("-"), QLabel("-")]
            for column, cell in enumerate(cells):
                grid.addWidget(cell, row + 1, column + 1, Qt.AlignmentFlag.AlignRight)
            self.cells.append(cells)
        buttons = QHBoxLayout()
        for button in (self.truth, self.no_truth, self.restart):
            buttons.addWidget(button)
        layout.addWidget(self.enabled)
        layout.addLayout(panes)
        layout.addWidget(figures)
        layout.addLayout(buttons)
        layout.addWidget(self.truth_name)
        layout.addWidget(self.editor)
        layout.addStretch(1)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(inside.minimumSizeHint().width() + 24)

    def _enable(self, on: bool) -> None:
        self._session.change(other=self.editor.config if on else None)
        if on:
            self.panes_wanted.emit((Pane.OVERLAY, Pane.OVERLAY_B))
        else:
            self.panes_wanted.emit((Pane.OVERLAY, Pane.MASK))

    def _configure(self, config: Config) -> None:
        if self._session.settings.other is not None:
            self._session.change(other=config)

    def _ask_truth(self) -> None:
        folder = ask_folder(self, "Folder of ground truth")
        if folder is not None:
            self.set_truth(str(folder))

    def _take(self) -> None:
        settings = self._session.settings
        with QSignalBlocker(self.enabled):
            self.enabled.setChecked(settings.other is not None)
        if settings.other is not None and settings.other != self.editor.config:
            self.editor.show_config(settings.other)
        self.editor.setEnabled(settings.other is not None)
        self.side_by_side.setEnabled(settings.other is not None)
        self.difference.setEnabled(settings.other is not None)
        truth = settings.truth
        self.no_truth.setEnabled(truth is not None)
        self.restart.setEnabled(truth is not None)
        self.truth_name.setText(
            "F, precision and recall need ground truth."
            if truth is None
            else f"{truth.folder.resolve().name}: {len(truth.numbers)} scored frames"
        )
        self.truth_name.setToolTip("" if truth is None else str(truth.folder))

    def _show(self) -> None:
        lanes = self._session.view.lanes
        for column, letter in enumerate("AB"):
            lane = lanes[column] if column < len(lanes) else None
            self.heads[column].setText(letter if lane is None else f"{letter}: {lane.name}")
            for cells, text in zip(self.cells, _figures(lane), strict=True):
                cells[column].setText(text)


def _figures(lane: LaneView | None) -> list[str]:
    """Return the figures of a detector as text, in the order of the rows."""
    if lane is None:
        return ["-"] * len(_ROWS)
    counts = lane.counts
    scores = [math.nan] * 3 if counts is None else [counts.f_measure, counts.precision, counts.recall]
    shown = ["-" if math.isnan(score) else f"{score:.3f}" for score in scores]
    return [f"{lane.ms:.2f}", f"{100 * lane.share:.2f} %", *shown]
