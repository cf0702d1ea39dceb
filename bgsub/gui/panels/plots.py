"""Foreground share and milliseconds per frame over time."""

import numpy as np
from PyQt6.QtCore import QTimer
from PyQt6.QtGui import QHideEvent, QShowEvent
from PyQt6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from bgsub.gui.engine.history import FRAME_COLUMNS
from bgsub.gui.session import Session
from bgsub.gui.widgets.curve_plot import CurvePlot
from bgsub.gui.widgets.dialogs import ask_save
from bgsub.gui.widgets.theme import Theme

__all__ = ["PlotsPanel", "export_statistics"]

_INTERVAL_MS = 250  # drawing axes takes milliseconds, in which the model waits for Python's lock
_FRAMES = (250, 1500, 9000)
_ELAPSED, _SHARE, _MS, _MS_B = (FRAME_COLUMNS.index(name) for name in ("elapsed_s", "foreground", "ms", "ms_b"))


class PlotsPanel(QWidget):
    """Plots foreground share and processing time of the last frames.

    Parameters
    ----------
    session : Session
        Provides the statistics.
    theme : Theme
        Colours.
    """

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._session = session
        self.share = CurvePlot(theme, "foreground, %", ["share"], ["curve_a"])
        self.times = CurvePlot(theme, "ms per frame", ["A"], ["curve_a"])
        self.span = QComboBox()
        for frames in _FRAMES:
            self.span.addItem(f"{frames} frames", frames)
        self.span.setCurrentIndex(1)
        self.export = QPushButton("Export…")
        self.export.setToolTip("Write the statistics of all frames so far as CSV")
        self.export.clicked.connect(lambda: export_statistics(session, self))
        self._drawn = -1
        row = QHBoxLayout()
        row.addWidget(QLabel("last"))
        row.addWidget(self.span)
        row.addWidget(QLabel("over seconds"))
        row.addStretch(1)
        row.addWidget(self.export)
        plots = QHBoxLayout()
        plots.addWidget(self.share)
        plots.addWidget(self.times)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 2, 6, 4)
        layout.addLayout(row)
        layout.addLayout(plots, 1)
        self._timer = QTimer(self)
        self._timer.setInterval(_INTERVAL_MS)
        self._timer.timeout.connect(self.draw)
        self.span.currentIndexChanged.connect(self._redraw)

    def showEvent(self, a0: QShowEvent | None) -> None:
        self._timer.start()
        super().showEvent(a0)

    def hideEvent(self, a0: QHideEvent | None) -> None:
        self._timer.stop()
        super().hideEvent(a0)

    def draw(self) -> None:
        """Draw the curves, if there are new frames."""
        history = self._session.history
        if history.written == self._drawn:
            return
        self._drawn = history.written
        names = [run.name for run in self._session.view.runs] or ["A"]
        self.times.set_names(names, ["curve_a", "curve_b"][: len(names)])
        rows = history.rows(self.span.currentData())
        self.share.show_curves(rows[:, _ELAPSED], 100 * rows[:, _SHARE])
        times = rows[:, [_MS, _MS_B]]
        top = float(np.nanpercentile(times, 98)) * 1.4 if len(times) else 1.0  # the first frame compiles
        self.times.show_curves(rows[:, _ELAPSED], rows[:, _MS], rows[:, _MS_B], top=max(top, 1.0))

    def _redraw(self) -> None:
        self._drawn = -1


def export_statistics(session: Session, parent: QWidget) -> None:
    """Ask for a file and write the statistics of all frames so far."""
    path = ask_save(parent, "Export statistics", "statistics.csv", "Tables (*.csv)")
    if path is not None:
        session.export(path)
