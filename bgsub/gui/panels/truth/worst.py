"""The frames in which masks and labels differ most."""

import numpy as np
from numpy.typing import NDArray
from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from bgsub.gui.engine.history import FRAME_COLUMNS
from bgsub.gui.panels.timeline.seek_slider import clock

__all__ = ["WorstFrames", "worst_rows"]

_MOST = 20
_NUMBER, _TIME, _F, _WRONG = (FRAME_COLUMNS.index(name) for name in ("number", "time_s", "f_frame", "wrong"))


def worst_rows(rows: NDArray[np.float64], most: int = _MOST) -> NDArray[np.float64]:
    """Return the rows of the frames with the largest share of wrong pixels, each frame as it was processed last."""
    scored = rows[np.isfinite(rows[:, _WRONG])]
    if not len(scored):
        return scored
    _, last = np.unique(scored[::-1, _NUMBER], return_index=True)
    newest = scored[::-1][last]
    return newest[np.argsort(-newest[:, _WRONG], kind="stable")[:most]]


class WorstFrames(QTreeWidget):
    """Lists frames by their share of wrong pixels."""

    chosen = pyqtSignal(float)
    """The user wants to see the frame of this time in the source."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setHeaderLabels(["frame", "time", "wrong", "F"])
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setAccessibleName("Frames with the most wrong pixels")
        self.setToolTip("The frames with the most wrong pixels; click one, or press Return on it, to go there")
        header = self.header()
        if header is not None:
            header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.itemClicked.connect(self._choose)
        self.itemActivated.connect(self._choose)
        self._shown: NDArray[np.float64] | None = None

    def show_rows(self, rows: NDArray[np.float64], begin_s: float) -> None:
        """Show the worst of some rows of a history, whose source begins at a time."""
        worst = worst_rows(rows)
        if self._shown is not None and np.array_equal(worst, self._shown, equal_nan=True):
            return
        self._shown = worst
        self.clear()
        for row in worst:
            score = "-" if np.isnan(row[_F]) else f"{row[_F]:.3f}"
            texts = (str(int(row[_NUMBER])), clock(row[_TIME] - begin_s), f"{100 * row[_WRONG]:.2f} %", score)
            item = QTreeWidgetItem(texts)
            item.setData(0, Qt.ItemDataRole.UserRole, float(row[_TIME]))
            self.addTopLevelItem(item)

    def _choose(self, item: QTreeWidgetItem) -> None:
        self.chosen.emit(item.data(0, Qt.ItemDataRole.UserRole))
