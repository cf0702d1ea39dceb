"""Labels of the frame: painted by a brush, compared with the mask, saved, and used to suggest settings."""

from collections import deque
from functools import partial

import numpy as np
from PyQt6.QtCore import QTimer, pyqtSignal
from PyQt6.QtGui import QHideEvent, QShowEvent
from PyQt6.QtWidgets import (
    QGridLayout,
    QGroupBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from bgsub.evaluation import GroundTruth
from bgsub.gui.engine.history import FRAME_COLUMNS
from bgsub.gui.messages import DEFAULT_RATE_HZ, Level
from bgsub.gui.painted_truth import BACKGROUND_LABEL, FOREGROUND_LABEL, UNKNOWN_LABEL, PaintedTruth, Truth
from bgsub.gui.panels.truth.brush import Points, TruthBrush, stroke
from bgsub.gui.panels.truth.suggestions import SuggestionBox, describe_counts
from bgsub.gui.panels.truth.worst import WorstFrames
from bgsub.gui.session import Session
from bgsub.gui.widgets.dialogs import ask_folder

__all__ = ["TruthPanel"]

_INTERVAL_MS = 500
_TIPS = (
    "Paint what should be foreground, in blue",
    "Paint what should not be foreground, in orange",
    "Remove labels; Escape puts the brush away",
)
_UNDO_STEPS = 50
_MODES = (
    ("Should be", FOREGROUND_LABEL),
    ("Should not be", BACKGROUND_LABEL),
    ("Erase", UNKNOWN_LABEL),
)


class TruthPanel(QScrollArea):
    """Paints and saves labels, shows how well the mask agrees, and suggests settings.

    Parameters
    ----------
    session : Session
        Holds the labels.
    """

    painting = pyqtSignal(bool)
    """The user takes the brush, or puts it away."""
    redrawn = pyqtSignal()
    """The labels of the frame changed."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._undo: deque[Truth | None] = deque(maxlen=_UNDO_STEPS)
        self.brush = TruthBrush()
        self.brush.painted.connect(self._stroke)
        self.modes = [QPushButton(text) for text, _ in _MODES]
        """What a stroke says; at most one is checked."""
        for index, button in enumerate(self.modes):
            button.setCheckable(True)
            button.setToolTip(_TIPS[index])
            button.toggled.connect(partial(self._choose_mode, index))
        self.size_box = QSpinBox()
        self.size_box.setRange(1, 400)
        self.size_box.setValue(round(self.brush.width))
        self.size_box.setSuffix(" px")
        self.size_box.setKeyboardTracking(False)
        self.size_box.setToolTip("Width of the brush, in pixels of the image")
        self.size_box.valueChanged.connect(self._resize_brush)
        self.from_mask = _button("Begin with the mask", "Take the mask of this frame as its labels", self._use_mask)
        self.rest = _button("The rest is background", "Label all that is not labelled as background", self._fill_rest)
        self.forget = _button("Forget this frame", "Remove what was painted on this frame", self._forget_frame)
        self.undo_button = _button("Undo", "Undo the last stroke (Ctrl+Z while the brush is out)", self.undo)
        self.save = _button(
            "Save…", "Write the labels to a folder, in the layout of changedetection.net", self.ask_and_save
        )
        self.state = QLabel()
        self.state.setWordWrap(True)
        self.worst = WorstFrames()
        self.worst.chosen.connect(self._go_to)
        self._judged_by: GroundTruth | None = None
        self.suggestions = SuggestionBox(session)
        self._lay_out()
        self._timer = QTimer(self)
        self._timer.setInterval(_INTERVAL_MS)
        self._timer.timeout.connect(self.draw)
        session.changed.connect(self._show)
        session.viewed.connect(self._show_frame)
        self._show()

    @property
    def is_painting(self) -> bool:
        """Whether the brush is out."""
        return self.brush.is_active

    def put_away(self) -> None:
        """Put the brush away."""
        for button in self.modes:
            button.setChecked(False)

    def undo(self) -> None:
        """Undo the last stroke."""
        if self._undo:
            self._session.change(truth=self._undo.pop())
            self._show()

    def ask_and_save(self) -> bool:
        """Ask for a folder and write the labels; return whether that was done."""
        truth = self._session.settings.truth
        if not isinstance(truth, PaintedTruth) or not truth.frames:
            self._session.notify(Level.INFO, "Nothing was painted yet.")
            return False
        folder = ask_folder(self, "Folder for the labels")
        if folder is None or not self._session.attempt(lambda: self._session.change(truth=truth.save(folder))):
            return False
        self._session.notify(
            Level.INFO, f"The labels of {len(truth.frames)} frames were saved in {folder}/groundtruth."
        )
        return True

    def showEvent(self, a0: QShowEvent | None) -> None:
        self._timer.start()
        self.draw()
        self._show()
        super().showEvent(a0)

    def hideEvent(self, a0: QHideEvent | None) -> None:
        self._timer.stop()
        super().hideEvent(a0)

    def draw(self) -> None:
        """Show the worst frames by the present labels."""
        self._note_truth()
        rows, truth = self._session.history.rows_since_mark(), self._session.settings.truth
        labelled = np.isin(rows[:, FRAME_COLUMNS.index("number")], [] if truth is None else truth.numbers)
        self.worst.show_rows(rows[labelled], self._begin_s)

    def _note_truth(self) -> None:
        """Mark since when the present ground truth judges; what is painted above it changes single frames."""
        truth = self._session.settings.truth
        base = truth.base if isinstance(truth, PaintedTruth) else truth
        if base is not self._judged_by:
            self._judged_by = base
            self._session.history.mark()

    @property
    def _begin_s(self) -> float:
        view = self._session.view
        return 0.0 if view.result is None else view.result.packet.time_s - view.time_s

    def _lay_out(self) -> None:
        inside = QWidget()
        layout = QVBoxLayout(inside)
        brush = QGroupBox("Brush")
        grid = QGridLayout(brush)
        modes = QHBoxLayout()
        for button in self.modes:
            modes.addWidget(button)
        grid.addLayout(modes, 0, 0, 1, 2)
        width = QLabel("Width")
        width.setBuddy(self.size_box)
        grid.addWidget(width, 1, 0)
        grid.addWidget(self.size_box, 1, 1)
        for index, made in enumerate((self.from_mask, self.rest, self.undo_button, self.forget)):
            grid.addWidget(made, 2 + index // 2, index % 2)
        grid.addWidget(self.save, 4, 0, 1, 2)
        layout.addWidget(brush)
        layout.addWidget(self.state)
        layout.addWidget(self.suggestions)
        worst = QLabel("Worst frames so far")
        worst.setBuddy(self.worst)
        layout.addWidget(worst)
        layout.addWidget(self.worst, 1)
        self.worst.setMinimumHeight(120)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)

    def _choose_mode(self, index: int, on: bool) -> None:
        if on:
            for other, button in enumerate(self.modes):
                if other != index:
                    button.setChecked(False)
            self.brush.label = _MODES[index][1]
        active = any(button.isChecked() for button in self.modes)
        if active and self._session.view.playing:
            self._session.pause()
        if active != self.brush.is_active or on:
            self.brush.is_active = active
            self.painting.emit(active)

    def _resize_brush(self, width: int) -> None:
        self.brush.width = float(width)
        self.redrawn.emit()

    def _painted(self) -> PaintedTruth:
        truth = self._session.settings.truth
        return truth if isinstance(truth, PaintedTruth) else PaintedTruth(truth)

    def _frame(self) -> tuple[int, tuple[int, int]] | None:
        """Return number and (height, width) of the frame shown."""
        result = self._session.view.result
        if result is None:
            self._session.notify(Level.INFO, "There is no frame to paint on.")
            return None
        return result.packet.number, (result.mask.shape[0], result.mask.shape[1])

    def _use(self, truth: PaintedTruth) -> None:
        self._undo.append(self._session.settings.truth)
        self._session.change(truth=truth)

    def _stroke(self, points: Points) -> None:
        frame = self._frame()
        if frame is not None:
            number, size = frame
            self._use(self._painted().painted(number, size, stroke(points, self.brush.width, size), self.brush.label))

    def _use_mask(self) -> None:
        frame, result = self._frame(), self._session.view.result
        if frame is not None and result is not None:
            labels = np.where(result.mask != 0, np.uint8(FOREGROUND_LABEL), np.uint8(BACKGROUND_LABEL))
            self._use(self._painted().with_frame(frame[0], labels))

    def _fill_rest(self) -> None:
        frame = self._frame()
        if frame is not None:
            number, size = frame
            truth = self._painted()
            self._use(truth.painted(number, size, truth.labels(number, size) == UNKNOWN_LABEL, BACKGROUND_LABEL))

    def _forget_frame(self) -> None:
        frame = self._frame()
        if frame is not None:
            self._use(self._painted().with_frame(frame[0], None))

    def _go_to(self, time_s: float) -> None:
        info = self._session.info
        rate_hz = (info.rate_hz if info is not None else None) or DEFAULT_RATE_HZ
        self._session.seek(max(0, round((time_s - self._begin_s) * rate_hz)))

    def _show_frame(self) -> None:
        if self.isVisible() or self.brush.is_active:  # each frame that plays would cost time otherwise
            self._show()

    def _show(self) -> None:
        self._note_truth()
        view, truth = self._session.view, self._session.settings.truth
        result = view.result
        labels = None
        if truth is not None and result is not None and self.brush.is_active:
            size = result.mask.shape[0], result.mask.shape[1]
            painted = truth.frames.get(result.packet.number) if isinstance(truth, PaintedTruth) else None
            labels = painted if painted is not None and painted.shape == size else view.labels
        self.brush.show_labels(labels)
        if self.brush.is_active:  # else it draws nothing, and each change would paint all panes once more
            self.redrawn.emit()
        self.undo_button.setEnabled(bool(self._undo))
        self.save.setEnabled(isinstance(truth, PaintedTruth) and bool(truth.frames))
        self.state.setText(self._describe(truth))

    def _describe(self, truth: Truth | None) -> str:
        if truth is None:
            return "No labels yet: paint some, or choose their folder in the Compare panel."
        view = self._session.view
        names = "" if isinstance(truth, GroundTruth) or truth.is_saved else ", not saved"
        lines = [f"Labels for {_frames(len(truth.numbers))}{names}."]
        if view.runs:
            run = view.runs[0]
            if run.frame_counts is not None:
                lines.append(f"In this frame {run.name} {describe_counts(run.frame_counts)}.")
            if run.counts is not None and run.scored:
                lines.append(f"F is {run.counts.f_measure:.3f} over {_frames(run.scored, 'scored ')}.")
        return "\n".join(lines)


def _frames(count: int, kind: str = "") -> str:
    return f"{count} {kind}frame" + "s" * (count != 1)


def _button(text: str, tip: str, action: object) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tip)
    button.clicked.connect(lambda: action())  # type: ignore[operator]
    return button
