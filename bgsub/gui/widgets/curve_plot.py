"""Live curves by pyqtgraph, which is imported when the first plot is shown, in the colours of the theme."""

import html
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QColor, QShowEvent
from PyQt6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from bgsub.gui.widgets.theme import Theme

__all__ = ["CurvePlot"]


_TOP_PX = 7
_STYLES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)
_SAMPLES = ("━━", "╍╍", "┅┅", "━·")
"""How they look in a legend."""


class CurvePlot(QWidget):
    """A plot of several curves over time, made when it is first shown.

    Parameters
    ----------
    theme : Theme
        Colours.
    label : str
        Label of the vertical axis.
    names : sequence of str
        Names of the curves, for the legend.
    colours : sequence of str
        Names of fields of `Colours`.
    from_zero : bool
        Whether the vertical axis always begins at 0.
    """

    clicked = pyqtSignal(float)
    """The user clicked at this value of the horizontal axis."""

    def __init__(
        self,
        theme: Theme,
        label: str,
        names: Sequence[str],
        colours: Sequence[str],
        *,
        from_zero: bool = True,
    ) -> None:
        super().__init__()
        self._theme, self._label, self._from_zero = theme, label, from_zero
        self._names, self._colours = list(names), list(colours)
        self._plot: Any = None
        self._cursor: Any = None
        self.legend = QLabel()
        """Names of the curves, if there are several."""
        self.legend.setTextFormat(Qt.TextFormat.RichText)
        self.legend.setWordWrap(True)
        self.legend.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.legend.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)  # names wrap instead
        self.legend.setVisible(False)
        self.curves: list[Any] = []
        """pyqtgraph's curves; empty before the plot is first shown."""
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        self._layout.addWidget(self.legend)
        self._placeholder = QLabel("")
        self._layout.addWidget(self._placeholder, 1)
        self.setMinimumHeight(90)
        theme.changed.connect(self._paint)

    def showEvent(self, a0: QShowEvent | None) -> None:
        if self._plot is None:
            self._make()
        super().showEvent(a0)

    def set_names(self, names: Sequence[str], colours: Sequence[str]) -> None:
        """Draw other curves from now on."""
        if (list(names), list(colours)) == (self._names, self._colours):
            return
        self._names, self._colours = list(names), list(colours)
        if self._plot is not None:
            self._add_curves()
            self._paint()

    def set_label(self, label: str) -> None:
        """Rename the vertical axis."""
        if label != self._label:
            self._label = label
            self._paint()

    def show_curves(self, x: NDArray[np.float64], *curves: NDArray[np.float64], top: float | None = None) -> None:
        """Draw the points (n,) of each curve; NaN leaves gaps. Nothing above `top` is shown, if it is given."""
        if top is not None and self._plot is not None:
            self._plot.setYRange(0, top, padding=0)
        for curve, values in zip(self.curves, curves, strict=False):
            curve.setData(x, values, connect="finite")

    def show_cursor(self, x: float | None) -> None:
        """Mark a value of the horizontal axis; none if None."""
        if self._cursor is not None:
            self._cursor.setVisible(x is not None)
            if x is not None:
                self._cursor.setValue(x)

    def _click(self, event: Any) -> None:
        self.clicked.emit(float(self._plot.getViewBox().mapSceneToView(event.scenePos()).x()))

    def _make(self) -> None:
        import pyqtgraph

        self._plot = pyqtgraph.PlotWidget()
        for part in (self._plot, self._plot.viewport()):
            part.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # keys do nothing in it
        self._plot.plotItem.setContentsMargins(0, _TOP_PX, 0, 0)  # else the number at the upper end is cut
        for side in ("left", "bottom"):
            self._plot.getAxis(side).enableAutoSIPrefix(False)  # before any value could make it choose one
        self._plot.setMenuEnabled(False)
        self._plot.hideButtons()
        self._plot.setMouseEnabled(x=False, y=False)
        if self._from_zero:
            self._plot.setLimits(yMin=0)
        self._plot.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)  # as high as the room allows
        self._cursor = pyqtgraph.InfiniteLine(angle=90)
        self._cursor.setVisible(False)
        self._plot.addItem(self._cursor, ignoreBounds=True)
        self._plot.scene().sigMouseClicked.connect(self._click)
        self._layout.replaceWidget(self._placeholder, self._plot)
        self._placeholder.deleteLater()
        self._add_curves()
        self._paint()

    def _add_curves(self) -> None:
        for curve in self.curves:
            self._plot.removeItem(curve)
        self.curves = [self._plot.plot() for _ in self._names]
        for curve in self.curves:
            curve.setClipToView(True)
            curve.setDownsampling(auto=True, method="peak")

    def _paint(self) -> None:
        if self._plot is None:
            return
        colours = self._theme.colours
        self._plot.setBackground(colours.base)
        for side in ("left", "bottom"):
            axis = self._plot.getAxis(side)
            axis.setPen(QColor(colours.line))
            axis.setTextPen(QColor(colours.faint))
        self._cursor.setPen(QColor(colours.faint))
        self._plot.setAccessibleName(f"Plot: {self._label}")
        self._plot.getAxis("left").setLabel(self._label, color=colours.faint)
        self._plot.getAxis("left").setWidth(56)
        for number, (curve, name) in enumerate(zip(self.curves, self._colours, strict=True)):
            style = _STYLES[number % len(_STYLES)]  # so that colour alone tells nothing, and equal curves show both
            curve.setPen({"color": QColor(getattr(colours, name, name)), "width": 1.5, "style": style})
        self._write_legend()

    def _write_legend(self) -> None:
        """Name the curves above the plot, where the names cover nothing and wrap if the plot is narrow."""
        named = zip(self._names, self._colours, itertools.cycle(_SAMPLES))
        colours = self._theme.colours
        parts = (
            f'<span style="color: {getattr(colours, colour, colour)}">{sample}</span>&nbsp;{html.escape(name)}'
            for name, colour, sample in named
        )
        self.legend.setText(" &nbsp; ".join(parts))
        self.legend.setVisible(len(self._names) > 1)
