"""Why a pixel is foreground: its support vectors, where the present colour falls, and live curves."""

import numpy as np
from PyQt6.QtCore import Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QColor, QHideEvent, QIcon, QPixmap, QShowEvent
from PyQt6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from bgsub.gui.engine.history import PIN_COLUMNS
from bgsub.gui.messages import PinView
from bgsub.gui.panels.kernel_plot import KernelPlot, SupportTable
from bgsub.gui.session import Session
from bgsub.gui.widgets.curve_plot import CurvePlot
from bgsub.gui.widgets.frame_view import PIN_COLOURS
from bgsub.gui.widgets.theme import Theme

__all__ = ["InspectorPanel", "explain"]

_INTERVAL_MS = 200
_FRAMES = 600
_EMPTY = np.empty(0)
_ELAPSED, _VALUE, _THRESHOLD, _WIDTH = (
    PIN_COLUMNS.index(name) for name in ("elapsed_s", "value", "threshold", "width")
)


def explain(pin: PinView) -> str:
    """Say in one sentence why a pixel is what it is."""
    state = pin.state
    if state is None:
        return pin.reason
    name, limit = f"{state.symbol}(x) = {state.value:.3g}", f"{state.threshold_symbol} = {state.threshold:.3g}"
    if not pin.before_learning:
        side = "below" if state.is_novel else "not below"
        return f"Seen now, after the frame was learned: {name} is {side} {limit}. The next frame tells more."
    if state.is_novel and pin.foreground:
        return f"Foreground: {name} is below {limit}; no support vector near enough explains the colour."
    if state.is_novel:
        return (
            f"Background, though {name} is below {limit}: cleaning the mask (or warm-up, region or ghost) removed it."
        )
    if pin.foreground:
        return f"Foreground, though {name} is not below {limit}: cleaning the mask added it, as part of a region."
    return f"Background: {name} is not below {limit}; the support vectors explain the colour."


class InspectorPanel(QScrollArea):
    """The panel.

    Parameters
    ----------
    session : Session
        Whose model.
    theme : Theme
        Colours.
    """

    selected = pyqtSignal(object)
    """Another pin (row, column) is looked into; None for none."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._session = session
        self._drawn: tuple[object, int] = (None, -1)
        self._places: tuple[tuple[int, int], ...] = ()
        self.pins = QComboBox()
        self.pins.setToolTip("Pixels that are looked into; click in a picture for more")
        self.pins.currentIndexChanged.connect(self._select)
        self.remove = QPushButton("Remove")
        self.remove.clicked.connect(self._remove)
        self.remove_all = QPushButton("Remove all")
        self.remove_all.clicked.connect(lambda: session.change(pins=()))
        self.verdict = QLabel()
        self.verdict.setWordWrap(True)
        self.verdict.setTextFormat(Qt.TextFormat.PlainText)
        self.verdict.setMinimumHeight(3 * self.fontMetrics().lineSpacing())
        self.verdict.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.table = SupportTable(theme)
        self.kernel = KernelPlot(theme)
        self.values = CurvePlot(theme, "f or g", ["value", "threshold"], ["curve_a", "threshold"])
        self.widths = CurvePlot(theme, "width", ["width"], ["curve_b"])
        inside = QWidget()
        layout = QVBoxLayout(inside)
        row = QHBoxLayout()
        row.addWidget(self.pins, 1)
        row.addWidget(self.remove)
        row.addWidget(self.remove_all)
        layout.addLayout(row)
        for widget in (self.verdict, self.table, self.kernel):
            layout.addWidget(widget)
        layout.addWidget(self.values, 1)
        layout.addWidget(self.widths, 1)
        self.values.setMinimumHeight(100)
        self.widths.setMinimumHeight(80)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(320)
        self._timer = QTimer(self)
        self._timer.setInterval(_INTERVAL_MS)
        self._timer.timeout.connect(self.draw)
        session.changed.connect(self._take)
        session.viewed.connect(self._show)
        self._take()

    @property
    def pin(self) -> tuple[int, int] | None:
        """The pixel (row, column) looked into."""
        place = self.pins.currentIndex()
        return self._places[place] if 0 <= place < len(self._places) else None

    def select(self, row: int, column: int) -> None:
        """Look into a pinned pixel."""
        if (row, column) in self._places:
            self.pins.setCurrentIndex(self._places.index((row, column)))

    def showEvent(self, a0: QShowEvent | None) -> None:
        self._timer.start()
        self._show()
        super().showEvent(a0)

    def hideEvent(self, a0: QHideEvent | None) -> None:
        self._timer.stop()
        super().hideEvent(a0)

    def draw(self) -> None:
        """Draw what is new of the curves."""
        pin = self.pin
        history = None if pin is None else self._session.pin_history(*pin)
        if history is None or (pin, history.written) == self._drawn:
            return
        self._drawn = (pin, history.written)
        rows = history.rows(_FRAMES)
        self.values.show_curves(rows[:, _ELAPSED], rows[:, _VALUE], rows[:, _THRESHOLD])
        self.widths.show_curves(rows[:, _ELAPSED], rows[:, _WIDTH])

    def _take(self) -> None:
        wanted = self._session.settings.pins
        if wanted == self._places:
            return
        chosen = wanted[-1] if len(wanted) > len(self._places) else self.pin
        self._places = wanted
        self.pins.blockSignals(True)
        self.pins.clear()
        for place, (row, column) in enumerate(wanted):
            mark = QPixmap(12, 12)
            mark.fill(QColor(PIN_COLOURS[place % len(PIN_COLOURS)]))
            self.pins.addItem(QIcon(mark), f"x {column}, y {row}")
        self.pins.setCurrentIndex(wanted.index(chosen) if chosen in wanted else len(wanted) - 1)
        self.pins.blockSignals(False)
        self._select()

    def _select(self) -> None:
        self.remove.setEnabled(self.pin is not None)
        self.remove_all.setEnabled(self.pin is not None)
        self._drawn = (None, -1)
        if self.pin is None:
            for plot, count in ((self.values, 2), (self.widths, 1)):
                plot.show_curves(*[_EMPTY] * (count + 1))
        self.selected.emit(self.pin)
        self._show()

    def _remove(self) -> None:
        if self.pin is not None:
            self._session.unpin(*self.pin)

    def _show(self) -> None:
        if not self.isVisible():
            return
        pin = next((view for view in self._session.view.pins if (view.row, view.column) == self.pin), None)
        state = None if pin is None else pin.state
        self.table.show_state(state)
        self.kernel.show_state(state)
        self.table.setVisible(state is not None)
        self.kernel.setVisible(state is not None)
        if pin is None:
            text = "Click a pixel in any picture to see why it is foreground or background."
            self.verdict.setText(text if self.pin is None else "Waiting for a frame…")
        else:
            self.verdict.setText(explain(pin))
