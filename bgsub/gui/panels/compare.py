"""Two detectors on the same frames: side by side or as a difference, their times, and F with ground truth."""

import enum
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
from bgsub.gui.messages import DetectorRunView
from bgsub.gui.painted_truth import PaintedTruth, Truth
from bgsub.gui.panels.detector import ConfigEditor
from bgsub.gui.panes import DIFFERENCE, INPUT, MASK, MASK_B, OVERLAY, OVERLAY_B, Side
from bgsub.gui.session import Session
from bgsub.gui.widgets.dialogs import ask_folder

__all__ = ["STATISTIC_LABELS", "ComparePanel", "Statistic"]

_UNKNOWN = "-"


class Statistic(enum.StrEnum):
    """Stable names of the statistics shown of each detector."""

    MS = "ms"
    FOREGROUND = "foreground"
    F_MEASURE = "f-measure"
    PRECISION = "precision"
    RECALL = "recall"
    SCORED = "scored"


STATISTIC_LABELS = {
    Statistic.MS: "ms per frame",
    Statistic.FOREGROUND: "foreground",
    Statistic.F_MEASURE: "F",
    Statistic.PRECISION: "precision",
    Statistic.RECALL: "recall",
    Statistic.SCORED: "frames scored",
}


class ComparePanel(QScrollArea):
    """Chooses the second detector and the ground truth, and shows the statistics of both detectors.

    Parameters
    ----------
    session : Session
        Provides the statistics, and receives the choices.
    """

    panes_wanted = pyqtSignal(tuple)
    """The user asks for these panes."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.enabled = QCheckBox("Compare with a second detector (B)")
        self.enabled.setToolTip("Run a second detector, or other settings of the same one, on the same frames (C)")
        self.enabled.toggled.connect(self._enable)
        self.side_by_side_button = QPushButton("Side by side")
        self.side_by_side_button.setToolTip("Show the overlays of both detectors")
        self.side_by_side_button.clicked.connect(self.show_side_by_side)
        self.difference_button = QPushButton("Difference")
        self.difference_button.setToolTip("Show which detector finds which pixels, with both masks (D)")
        self.difference_button.clicked.connect(self.show_difference)
        self.editor = ConfigEditor(Config("mog2"))
        self.editor.changed.connect(self._configure)
        self.truth = QPushButton("Ground truth…")
        self.truth.setToolTip("A folder of label images numbered like the frames, as changedetection.net has them")
        self.truth.clicked.connect(self._ask_truth)
        self.no_truth = QPushButton("None")
        self.no_truth.setToolTip("Compare with no ground truth any more")
        self.no_truth.clicked.connect(lambda: session.change(truth=None))
        self.restart = QPushButton("Count again")
        self.restart.setToolTip("Restart the statistics below from zero")
        self.restart.clicked.connect(session.restart_counts)
        self.truth_name = QLabel()
        self.truth_name.setProperty("faint", True)
        self.truth_name.setWordWrap(True)
        self.heads: dict[Side, QLabel] = {}
        """Letter and name of each detector."""
        self.cells: dict[tuple[Statistic, Side], QLabel] = {}
        """Each statistic of each detector."""
        self._lay_out()
        session.viewed.connect(self._show_statistics)
        session.changed.connect(self._show_settings)
        self._show_settings()

    def toggle(self) -> None:
        """Begin or stop to compare."""
        self._enable(not self._session.is_comparing)

    def show_side_by_side(self) -> None:
        """Ask for the overlays of both detectors, while two are compared."""
        if self._session.is_comparing:
            self.panes_wanted.emit((OVERLAY, OVERLAY_B))

    def show_difference(self) -> None:
        """Ask for input, difference and both masks, while two detectors are compared."""
        if self._session.is_comparing:
            self.panes_wanted.emit((INPUT, DIFFERENCE, MASK, MASK_B))

    def set_truth(self, folder: str) -> bool:
        """Compare with the labels of a folder; return whether there are any."""
        return self._session.attempt(lambda: self._session.change(truth=GroundTruth(folder)))

    def _lay_out(self) -> None:
        inside = QWidget()
        layout = QVBoxLayout(inside)
        panes = QHBoxLayout()
        panes.addWidget(self.side_by_side_button)
        panes.addWidget(self.difference_button)
        buttons = QHBoxLayout()
        for button in (self.truth, self.no_truth, self.restart):
            buttons.addWidget(button)
        layout.addWidget(self.enabled)
        layout.addLayout(panes)
        layout.addWidget(self._make_statistics())
        layout.addLayout(buttons)
        layout.addWidget(self.truth_name)
        layout.addWidget(self.editor)
        layout.addStretch(1)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(inside.minimumSizeHint().width() + 24)

    def _make_statistics(self) -> QGroupBox:
        box = QGroupBox("Statistics")
        grid = QGridLayout(box)
        for side in Side:
            head = self.heads[side] = QLabel(side.name)
            head.setProperty("title", True)
            grid.addWidget(head, 0, side + 1, Qt.AlignmentFlag.AlignRight)
        for row, statistic in enumerate(Statistic):
            grid.addWidget(QLabel(STATISTIC_LABELS[statistic]), row + 1, 0)
            for side in Side:
                cell = self.cells[statistic, side] = QLabel(_UNKNOWN)
                grid.addWidget(cell, row + 1, side + 1, Qt.AlignmentFlag.AlignRight)
        return box

    def _enable(self, on: bool) -> None:
        self._session.change(other=self.editor.config if on else None)
        if on:
            self.show_side_by_side()
        else:
            self.panes_wanted.emit((OVERLAY, MASK))

    def _configure(self, config: Config) -> None:
        if self._session.is_comparing:
            self._session.change(other=config)

    def _ask_truth(self) -> None:
        folder = ask_folder(self, "Folder of ground truth")
        if folder is not None:
            self.set_truth(str(folder))

    def _show_settings(self) -> None:
        settings = self._session.settings
        comparing = self._session.is_comparing
        with QSignalBlocker(self.enabled):
            self.enabled.setChecked(comparing)
        if settings.other is not None and settings.other != self.editor.config:
            self.editor.show_config(settings.other)
        for widget in (self.editor, self.side_by_side_button, self.difference_button):
            widget.setEnabled(comparing)
        truth = settings.truth
        self.no_truth.setEnabled(truth is not None)
        self.restart.setEnabled(truth is not None)
        self.truth_name.setText(
            "F, precision and recall need ground truth."
            if truth is None
            else f"{_truth_name(truth)}: labels for {len(truth.numbers)} frames"
        )
        self.truth_name.setToolTip("" if truth is None else str(truth.folder))

    def _show_statistics(self) -> None:
        runs = self._session.view.runs
        for side in Side:
            run = runs[side] if side < len(runs) else None
            self.heads[side].setText(side.name if run is None else f"{side.name}: {run.name}")
            texts = {} if run is None else _statistics(run)
            for statistic in Statistic:
                self.cells[statistic, side].setText(texts.get(statistic, _UNKNOWN))


def _truth_name(truth: Truth) -> str:
    return "painted" if isinstance(truth, PaintedTruth) and not truth.is_saved else truth.folder.resolve().name


def _statistics(run: DetectorRunView) -> dict[Statistic, str]:
    """Return the statistics of a detector as text."""
    texts = {Statistic.FOREGROUND: f"{100 * run.share:.2f} %"}
    if not math.isnan(run.ms):
        texts[Statistic.MS] = f"{run.ms:.2f}"
    if run.counts is not None:
        scores = {
            Statistic.F_MEASURE: run.counts.f_measure,
            Statistic.PRECISION: run.counts.precision,
            Statistic.RECALL: run.counts.recall,
        }
        texts[Statistic.SCORED] = str(run.scored)
        texts |= {statistic: f"{score:.3f}" for statistic, score in scores.items() if not math.isnan(score)}
    return texts
