"""Plots of one pixel's kernel expansion: its support vectors, and the present colour among them."""

import math

import numpy as np
from numpy.typing import NDArray
from PyQt6.QtCore import QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen
from PyQt6.QtWidgets import QWidget

from bgsub.detectors.pixel_state import PixelState
from bgsub.gui.widgets.theme import Theme

__all__ = ["KernelPlot", "SupportTable", "digits", "to_colour"]

_NOTHING = 1e-6  # smaller values of a kernel are shown as 0


def digits(value: float) -> str:
    """Return a value of the model in a few digits.

    Examples
    --------
    >>> digits(0.25381), digits(6.99e-95)
    ('0.254', '0')
    """
    return f"{0.0 if abs(value) < _NOTHING else value:.3g}"


def to_colour(values: NDArray[np.generic], white: float) -> QColor:
    """Return the colour of a BGR or grey value."""
    levels = np.clip(np.asarray(values, np.float64) / white * 255, 0, 255).round().astype(int)
    blue, green, red = levels if len(levels) == 3 else (levels[0],) * 3
    return QColor(int(red), int(green), int(blue))


class _StatePlot(QWidget):
    """Paints one `PixelState`."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._state: PixelState | None = None
        theme.changed.connect(self.update)

    def show_state(self, state: PixelState | None) -> None:
        """Show the state of a pixel."""
        self._state = state
        self.updateGeometry()
        self.update()


class SupportTable(_StatePlot):
    """Lists the present colour and every support vector: colour sample, values, coefficient, kernel value."""

    _ROW = 20
    _MAX_ROWS = 12

    def sizeHint(self) -> QSize:
        rows = 0 if self._state is None else min(len(self._state.support), self._MAX_ROWS)
        return QSize(300, self._ROW * (rows + 2) + 6)

    def minimumSizeHint(self) -> QSize:
        return QSize(260, self.sizeHint().height())

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        state = self._state
        if state is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours = self._theme.colours
        width = self.width()
        heads = ((36, "colour"), (0.36 * width, "coefficient"), (0.70 * width, "kernel k(s, x)"))
        painter.setPen(QColor(colours.faint))
        for x, text in heads:
            painter.drawText(QPointF(x, 14), text)
        self._row(painter, 0, state.colour, state.white, "x, now")
        largest = float(state.coefficients.max()) if len(state.coefficients) else 1.0
        for index in range(min(len(state.support), self._MAX_ROWS)):
            self._row(painter, index + 1, state.support[index], state.white, f"s{index + 1}")
            y = self._ROW * (index + 2)
            share = float(state.coefficients[index]) / max(largest, 1e-12)
            self._bar(painter, 0.36 * width, y, 0.16 * width, share, colours.curve_a)
            self._bar(painter, 0.70 * width, y, 0.16 * width, float(state.kernel[index]), colours.curve_b)
            painter.setPen(QColor(colours.text))
            painter.drawText(QPointF(0.54 * width, y + 14), digits(float(state.coefficients[index])))
            painter.drawText(QPointF(0.88 * width, y + 14), f"{state.kernel[index]:.2f}")
        painter.end()

    def _row(self, painter: QPainter, row: int, values: NDArray[np.generic], white: float, name: str) -> None:
        y = self._ROW * (row + 1)
        painter.setPen(QPen(QColor(self._theme.colours.line), 1))
        painter.setBrush(to_colour(values, white))
        painter.drawRoundedRect(QRectF(4, y + 2, 24, self._ROW - 4), 3, 3)
        painter.setPen(QColor(self._theme.colours.text))
        text = " ".join(f"{float(value):.4g}" for value in reversed(values.tolist()))
        painter.drawText(QPointF(36, y + 14), f"{name}:  {text}" if row == 0 else text)

    def _bar(self, painter: QPainter, x: float, y: float, length: float, share: float, colour: str) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._theme.colours.line))
        painter.drawRoundedRect(QRectF(x, y + 7, length, 6), 3, 3)
        painter.setBrush(QColor(colour))
        painter.drawRoundedRect(QRectF(x, y + 7, max(length * min(max(share, 0.0), 1.0), 2), 6), 3, 3)


class KernelPlot(_StatePlot):
    """Plots the kernel over distance, with each support vector at its distance from the present colour.

    A bar below shows value and threshold on one scale.
    """

    def sizeHint(self) -> QSize:
        return QSize(300, 150)

    def minimumSizeHint(self) -> QSize:
        return QSize(240, 150)

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        if self._state is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._kernel(painter, self._state)
        self._scale(painter, self._state)
        painter.end()

    def _kernel(self, painter: QPainter, state: PixelState) -> None:
        colours = self._theme.colours
        box = QRectF(10, 18, self.width() - 20, self.height() - 92)
        difference = state.support.astype(np.float64) - state.colour.astype(np.float64)
        distances = np.linalg.norm(difference, axis=1) * 255 / state.white
        reach = max(2.6 * state.width, float(distances.max(initial=0)) * 1.05 if len(distances) else 0)
        reach = min(reach, 6 * state.width)

        def point(distance: float, k: float) -> QPointF:
            return QPointF(box.left() + distance / reach * box.width(), box.bottom() - k * box.height())

        curve = QPainterPath(point(0, 1))
        for step in range(1, 121):
            distance = reach * step / 120
            curve.lineTo(point(distance, math.exp(-((distance / state.width) ** 2))))
        painter.setPen(QPen(QColor(colours.line), 1))
        painter.drawLine(point(0, 0), point(reach, 0))
        painter.setPen(QPen(QColor(colours.faint), 1.5))
        painter.drawPath(curve)
        painter.setPen(QColor(colours.faint))
        painter.drawText(QPointF(box.left(), 12), "kernel at the distance of each colour from x")
        painter.drawText(QPointF(box.left(), box.bottom() + 22), "0")
        end = f"{reach:.0f} grey levels"
        painter.drawText(QPointF(box.right() - painter.fontMetrics().horizontalAdvance(end), box.bottom() + 22), end)
        at = point(state.width, 0)
        painter.drawText(QPointF(at.x() - 4, box.bottom() + 22), f"width {state.width:.0f}")
        painter.setPen(QPen(QColor(colours.line), 1, Qt.PenStyle.DashLine))
        painter.drawLine(at, point(state.width, math.exp(-1)))
        largest = max(float(state.coefficients.max(initial=0)), 1e-12)
        for distance, k, weight, support in sorted(
            zip(distances, state.kernel, state.coefficients, state.support, strict=True), key=lambda item: -item[2]
        ):
            radius = 4 + 7 * math.sqrt(max(float(weight), 0) / largest)
            painter.setPen(QPen(QColor(colours.text), 1))
            painter.setBrush(to_colour(support, state.white))
            painter.drawEllipse(point(min(float(distance), reach), float(k)), radius, radius)

    def _scale(self, painter: QPainter, state: PixelState) -> None:
        colours = self._theme.colours
        top = self.height() - 40
        bar = QRectF(10, top, self.width() - 20, 10)
        full_scale = 1.0 if state.symbol == "g" else max(state.value, state.threshold, 1e-9) * 1.25
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.line))
        painter.drawRoundedRect(bar, 4, 4)
        share = min(max(state.value / full_scale, 0.0), 1.0)
        painter.setBrush(QColor(colours.threshold if state.is_novel else colours.curve_a))
        painter.drawRoundedRect(QRectF(bar.left(), top, max(bar.width() * share, 4), 10), 4, 4)
        x = bar.left() + bar.width() * min(max(state.threshold / full_scale, 0.0), 1.0)
        painter.setPen(QPen(QColor(colours.text), 2))
        painter.drawLine(QPointF(x, top - 4), QPointF(x, top + 14))
        painter.setPen(QColor(colours.text))
        painter.drawText(QPointF(bar.left(), top + 28), f"{state.symbol}(x) = {digits(state.value)}")
        text = f"{state.threshold_symbol} = {digits(state.threshold)}"
        painter.drawText(QPointF(bar.right() - painter.fontMetrics().horizontalAdvance(text), top + 28), text)
