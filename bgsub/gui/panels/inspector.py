"""Why a pixel is foreground: its support vectors, its present colour among them, and live curves."""

import numpy as np
from PyQt6.QtCore import Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QColor, QHideEvent, QIcon, QPixmap, QShowEvent
from PyQt6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from bgsub.gui.engine.history import PIXEL_COLUMNS
from bgsub.gui.messages import PinnedPixelView
from bgsub.gui.panels.kernel_plot import KernelPlot, SupportTable, digits
from bgsub.gui.session import Session
from bgsub.gui.widgets.curve_plot import CurvePlot
from bgsub.gui.widgets.images.marks import PIXEL_COLOURS
from bgsub.gui.widgets.theme import Theme
from bgsub.stages import RAW, Stage

__all__ = ["InspectorPanel", "explain"]

_INTERVAL_MS = 200
_FRAMES = 600
_EMPTY = np.empty(0)
_ELAPSED, _VALUE, _THRESHOLD, _WIDTH = (
    PIXEL_COLUMNS.index(name) for name in ("elapsed_s", "value", "threshold", "width")
)


_FLICKERS = " This place has flickered: its colours are learned in a wider range than elsewhere."


def explain(view: PinnedPixelView) -> str:
    """Return one sentence on why a pixel is foreground or background."""
    state = view.state
    if state is None:
        return view.reason
    numbers = (
        f"({state.symbol}(x) = {digits(state.value)} is {'below' if state.is_novel else 'not below'} "
        f"{state.threshold_symbol} = {digits(state.threshold)})"
    )
    if not view.before_learning:
        return f"Inspected after the frame was learned {numbers}. The next frame shows more."
    if not len(state.support) and not view.foreground:
        return f"Background: nothing is learned here{f'; {view.removed_by}' if view.removed_by else ' yet'}."
    if view.steps is not None:
        return f"{_explain_steps(view, view.steps)} {numbers}.{_FLICKERS if view.flickers else ''}"
    if state.is_novel and view.foreground:
        return f"Foreground: the model knows no colour here that is near enough to this one {numbers}."
    if state.is_novel:
        return f"Found, but removed: {view.removed_by or 'a step after the raw mask removed it'} {numbers}."
    if view.foreground:
        return f"Added: the colour is known here, but a step after the raw mask added it {numbers}."
    return f"Background: the model knows this colour here {numbers}."


def _explain_steps(view: PinnedPixelView, steps: tuple[tuple[Stage, bool], ...]) -> str:
    """Return the sentence, without its end, on the steps that decided a pixel."""
    found = bool(steps) and steps[0][0] == RAW
    later = steps[1:] if found else steps
    reasons = [
        f"{'added' if added else 'removed'}: {stage.adds if added else stage.removes} [{stage.label.lower()}]"
        for stage, added in later
    ]
    if not later:
        if found:
            return "Foreground: the model knows no colour here that is near enough to this one"
        if view.removed_by:
            known = view.state is not None and not view.state.is_novel
            return f"Background: {view.removed_by}" if known else f"Found, but removed: {view.removed_by}"
        return "Background: the model knows this colour here"
    return f"{'Found' if found else 'Not found'}, but {'; then '.join(reasons)}"


class InspectorPanel(QScrollArea):
    """Explains the pinned pixels: verdict, support vectors, kernel plot and curves of the selected one.

    Parameters
    ----------
    session : Session
        Provides the states of the pixels.
    theme : Theme
        Colours.
    """

    selected = pyqtSignal(object)
    """Another pinned pixel (row, column) is shown; None for none."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._session = session
        self._drawn: tuple[object, int] = (None, -1)
        self._pinned: tuple[tuple[int, int], ...] = ()
        self.pixels = QComboBox()
        self.pixels.setToolTip("Pinned pixels; click in an image to pin more")
        self.pixels.currentIndexChanged.connect(self._select)
        self.remove = QPushButton("Remove")
        self.remove.setToolTip("Stop inspecting this pixel")
        self.remove.clicked.connect(self._remove)
        self.remove_all = QPushButton("Remove all")
        self.remove_all.setToolTip("Stop inspecting all pixels")
        self.remove_all.clicked.connect(lambda: session.change(pinned_pixels=()))
        self.verdict = QLabel()
        self.verdict.setWordWrap(True)
        self.verdict.setTextFormat(Qt.TextFormat.PlainText)
        self.verdict.setMinimumHeight(3 * self.fontMetrics().lineSpacing())
        self.verdict.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.table = SupportTable(theme)
        self.kernel = KernelPlot(theme)
        self.values = CurvePlot(theme, "match", ["value", "threshold"], ["curve_a", "threshold"])
        self.widths = CurvePlot(theme, "tolerance", ["width"], ["curve_b"])
        inside = QWidget()
        layout = QVBoxLayout(inside)
        row = QHBoxLayout()
        row.addWidget(self.pixels, 1)
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
        session.changed.connect(self._show_pinned_pixels)
        session.viewed.connect(self._show_state)
        self._show_pinned_pixels()

    @property
    def pixel(self) -> tuple[int, int] | None:
        """The pinned pixel (row, column) that is shown."""
        index = self.pixels.currentIndex()
        return self._pinned[index] if 0 <= index < len(self._pinned) else None

    def select(self, row: int, column: int) -> None:
        """Show a pinned pixel."""
        if (row, column) in self._pinned:
            self.pixels.setCurrentIndex(self._pinned.index((row, column)))

    def showEvent(self, a0: QShowEvent | None) -> None:
        self._timer.start()
        self._show_state()
        super().showEvent(a0)

    def hideEvent(self, a0: QHideEvent | None) -> None:
        self._timer.stop()
        super().hideEvent(a0)

    def draw(self) -> None:
        """Draw the curves, if there are new frames."""
        pixel = self.pixel
        history = None if pixel is None else self._session.pixel_history(*pixel)
        if history is None or (pixel, history.written) == self._drawn:
            return
        self._drawn = (pixel, history.written)
        rows = history.rows(_FRAMES)
        self.values.show_curves(rows[:, _ELAPSED], rows[:, _VALUE], rows[:, _THRESHOLD])
        self.widths.show_curves(rows[:, _ELAPSED], rows[:, _WIDTH])

    def _show_pinned_pixels(self) -> None:
        wanted = self._session.settings.pinned_pixels
        if wanted == self._pinned:
            return
        chosen = wanted[-1] if len(wanted) > len(self._pinned) else self.pixel
        self._pinned = wanted
        self.pixels.blockSignals(True)
        self.pixels.clear()
        for number, (row, column) in enumerate(wanted):
            mark = QPixmap(12, 12)
            mark.fill(QColor(PIXEL_COLOURS[number % len(PIXEL_COLOURS)]))
            self.pixels.addItem(QIcon(mark), f"x {column}, y {row}")
        self.pixels.setCurrentIndex(wanted.index(chosen) if chosen in wanted else len(wanted) - 1)
        self.pixels.blockSignals(False)
        self._select()

    def _select(self) -> None:
        self.remove.setEnabled(self.pixel is not None)
        self.remove_all.setEnabled(self.pixel is not None)
        self._drawn = (None, -1)
        if self.pixel is None:
            for plot, count in ((self.values, 2), (self.widths, 1)):
                plot.show_curves(*[_EMPTY] * (count + 1))
        self.selected.emit(self.pixel)
        self._show_state()

    def _remove(self) -> None:
        if self.pixel is not None:
            self._session.unpin(*self.pixel)

    def _show_state(self) -> None:
        if not self.isVisible():
            return
        views = self._session.view.pinned_pixels
        view = next((view for view in views if (view.row, view.column) == self.pixel), None)
        state = None if view is None or view.state is None or not len(view.state.support) else view.state
        self.table.show_state(state)
        self.kernel.show_state(state)
        self.table.setVisible(state is not None)
        self.kernel.setVisible(state is not None)
        if view is None:
            text = "Click a pixel in any image to see why it is foreground or background."
            self.verdict.setText(text if self.pixel is None else "Waiting for a frame…")
        else:
            self.verdict.setText(explain(view))
