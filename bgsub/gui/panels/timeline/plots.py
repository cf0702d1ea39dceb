"""Foreground share, milliseconds per frame and F over the time of the source."""

import numpy as np
from numpy.typing import NDArray
from PyQt6.QtCore import QTimer
from PyQt6.QtGui import QHideEvent, QShowEvent
from PyQt6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from bgsub.gui.engine.history import FRAME_COLUMNS
from bgsub.gui.messages import DEFAULT_RATE_HZ
from bgsub.gui.session import Session
from bgsub.gui.widgets.curve_plot import CurvePlot
from bgsub.gui.widgets.dialogs import ask_save
from bgsub.gui.widgets.theme import Theme

__all__ = ["PlotsPanel", "export_statistics"]

_INTERVAL_MS = 250  # drawing axes takes milliseconds, in which the model waits for Python's lock
_JUMP_S = 1.0  # between two frames that do not follow each other, at least
_FRAMES = (250, 1500, 9000)
_TIME, _SHARE, _SHARE_B, _MS, _MS_B, _F, _F_FRAME, _F_FRAME_B = (
    FRAME_COLUMNS.index(name)
    for name in ("time_s", "foreground", "foreground_b", "ms", "ms_b", "f_measure", "f_frame", "f_frame_b")
)


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
        self.scores = CurvePlot(theme, "F", ["A", "so far"], ["curve_a", "threshold"])
        self.scores.hide()
        for plot in (self.share, self.times, self.scores):
            plot.clicked.connect(self._seek)
            plot.setToolTip("Click to go there")
        self.span = QComboBox()
        self.span.setToolTip("How many of the last frames the curves show")
        for frames in _FRAMES:
            self.span.addItem(f"{frames} frames", frames)
        self.span.setCurrentIndex(1)
        self.export = QPushButton("Export…")
        self.export.setToolTip("Write the statistics of all frames so far as CSV")
        self.export.clicked.connect(lambda: export_statistics(session, self))
        self._drawn = (-1, -1)
        row = QHBoxLayout()
        row.addWidget(QLabel("last"))
        row.addWidget(self.span)
        row.addWidget(QLabel("over seconds of the source"))
        row.addStretch(1)
        row.addWidget(self.export)
        plots = QHBoxLayout()
        for plot in (self.share, self.times, self.scores):
            plots.addWidget(plot, 1)
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
        """Draw the curves, if there are new frames or another one is shown."""
        history, view = self._session.history, self._session.view
        drawn = history.written, view.serial
        if drawn == self._drawn:
            return
        self._drawn = drawn
        names = [run.name for run in view.runs] or ["A"]
        colours = ["curve_a", "curve_b"][: len(names)]
        for plot in (self.share, self.times):
            plot.set_names(names, colours)
        self.scores.set_names([*names, f"{names[0]} so far"], [*colours, "threshold"])
        self.scores.setVisible(self._session.settings.truth is not None)
        rows = _with_gaps(_last_pass(history.rows(self.span.currentData())))
        seconds = rows[:, _TIME] - self._begin_s
        self.share.show_curves(seconds, *(100 * rows[:, [_SHARE, _SHARE_B]].T))
        times = rows[:, [_MS, _MS_B]]
        top = float(np.nanpercentile(times, 98)) * 1.4 if np.isfinite(times).any() else 1.0  # the first frame compiles
        self.times.show_curves(seconds, rows[:, _MS], rows[:, _MS_B], top=max(top, 1.0))
        is_scored = np.isfinite(rows[:, _F_FRAME])  # between frames with labels there is nothing to draw
        shown = [_F_FRAME, _F_FRAME_B, _F] if len(names) > 1 else [_F_FRAME, _F]
        self.scores.show_curves(seconds[is_scored], *rows[is_scored][:, shown].T, top=1.02)
        for plot in (self.share, self.times, self.scores):
            plot.show_cursor(view.time_s if view.runs else None)

    @property
    def _begin_s(self) -> float:
        """Time of the first frame in the source."""
        view = self._session.view
        return 0.0 if view.result is None else view.result.packet.time_s - view.time_s

    def _seek(self, time_s: float) -> None:
        info = self._session.info
        if info is not None and not info.live:
            self._session.seek(max(0, round(time_s * (info.rate_hz or DEFAULT_RATE_HZ))))

    def _redraw(self) -> None:
        self._drawn = (-1, -1)


def _last_pass(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rows since the source was last begun again, or sought backwards."""
    back = np.flatnonzero(np.diff(rows[:, _TIME]) <= 0)
    return rows[back[-1] + 1 :] if len(back) else rows


def _with_gaps(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows with NaN where time was jumped over, so that no line joins what was not seen."""
    steps = np.diff(rows[:, _TIME])
    if not len(steps):
        return rows
    jumps = np.flatnonzero(steps > max(_JUMP_S, 10 * float(np.median(steps)))) + 1
    gaps = np.insert(rows, jumps, np.nan, axis=0)
    gaps[:, _TIME] = np.insert(rows[:, _TIME], jumps, rows[jumps, _TIME])  # a time that is NaN moves the axis
    return gaps


def export_statistics(session: Session, parent: QWidget) -> None:
    """Ask for a file and write the statistics of all frames so far."""
    path = ask_save(parent, "Export statistics", "statistics.csv", "Tables (*.csv)")
    if path is not None:
        session.export(path)
