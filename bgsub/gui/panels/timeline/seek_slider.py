"""The slider over the length of a source, with what happened behind it."""

import math

import numpy as np
from PyQt6.QtCore import QEvent, QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PyQt6.QtWidgets import QSlider, QStyle, QStyleOptionSlider, QToolTip

from bgsub.gui.engine.happenings.ahead import Happenings
from bgsub.gui.messages import DEFAULT_RATE_HZ
from bgsub.gui.widgets.theme import Theme

__all__ = ["SeekSlider", "clock"]

_HEIGHT_PX, _BAR_PX = 34, 4
_LEAST_FULL = 0.02  # share of foreground that fills the height, where there never is more


def clock(time_s: float) -> str:
    """Return a time as `M:SS.s`, with hours if it is that long.

    Examples
    --------
    >>> clock(62.55), clock(3723)
    ('1:02.5', '1:02:03.0')
    """
    tenths = int(max(time_s, 0) * 10 + 1e-6)
    minutes, rest = divmod(tenths, 600)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{rest // 10:02d}.{rest % 10}"
    return f"{hours}:{minutes:02d}:{seconds}" if hours else f"{minutes}:{seconds}"


class SeekSlider(QSlider):
    """Slider that jumps to where it is clicked, before the activity and the events of the source.

    Parameters
    ----------
    theme : Theme
        Colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._theme = theme
        self._found: Happenings | None = None
        self.setMinimumHeight(_HEIGHT_PX)
        self.setAccessibleName("Position in the source")
        self.setWhatsThis(
            "Goes to another position. Behind it: how much was foreground, events (orange), changes of the scene (red)."
        )
        theme.changed.connect(self.update)
        self.rate_hz = DEFAULT_RATE_HZ
        """Converts frame indices to times."""
        self._part: tuple[float, float] | None = None
        self.setMouseTracking(True)

    def mousePressEvent(self, ev: QMouseEvent | None) -> None:
        if ev is not None and ev.button() == Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self.setSliderPosition(self._index(ev.position()))
            self.sliderMoved.emit(self.sliderPosition())

    def mouseMoveEvent(self, ev: QMouseEvent | None) -> None:
        if ev is None:
            return
        index = self._index(ev.position())
        if self.isSliderDown():
            self.setSliderPosition(index)
            self.sliderMoved.emit(index)
        text = f"{clock(index / self.rate_hz)}  frame {index + 1}"
        event = None if self._found is None else self._found.event_at(index / self.rate_hz)
        if event is not None and self._found is not None:
            text += f"\nevent {event + 1} of {len(self._found.events)}"
        QToolTip.showText(ev.globalPosition().toPoint(), text, self)

    def mouseReleaseEvent(self, ev: QMouseEvent | None) -> None:
        self.setSliderDown(False)

    def show_part(self, part: tuple[float, float] | None) -> None:
        """Mark the part that is repeated, in seconds."""
        if part != self._part:
            self._part = part
            self.update()

    def show_happenings(self, found: Happenings | None) -> None:
        """Draw activity and events behind the slider; nothing if None."""
        self._found = found
        self.update()

    def paintEvent(self, ev: QPaintEvent | None) -> None:
        if self._found is not None:
            self._paint_happenings(self._found)
        super().paintEvent(ev)
        if self._part is not None:
            self._paint_part(self._part)

    def _paint_happenings(self, found: Happenings) -> None:
        """Draw the activity as a curve of the square root, so that small things show, and events as bars below it."""
        painter, colours = QPainter(self), self._theme.colours
        left, right = self._x(0.0), self._x(math.inf)
        middle = self.height() - _BAR_PX - 1
        seen = np.flatnonzero(~np.isnan(found.activity))
        step = (right - left) / len(found.activity)
        painter.setPen(Qt.PenStyle.NoPen)
        if seen.size:
            shape = [QPointF(left, middle)]
            shares = np.nan_to_num(found.activity[: seen[-1] + 1])
            heights = np.sqrt(shares / max(float(shares.max()), _LEAST_FULL)) * (middle - 1)
            shape += [QPointF(left + (i + 0.5) * step, middle - float(height)) for i, height in enumerate(heights)]
            shape.append(QPointF(left + (int(seen[-1]) + 1) * step, middle))
            painter.setBrush(QColor(colours.activity))
            painter.drawPolygon(QPolygonF(shape))
        for kind, spans in ((colours.curve_b, found.events), (colours.threshold, found.changes)):
            painter.setBrush(QColor(kind))
            for span in spans:
                begin, end = (self._x(found.since_begin_s(at.time_s)) for at in (span.start, span.end))
                painter.drawRect(QRectF(begin, middle + 1, max(end - begin, 2.0), _BAR_PX))

    def _paint_part(self, part: tuple[float, float]) -> None:
        painter = QPainter(self)
        left, right = (self._x(time_s) for time_s in part)
        colour = self.palette().color(QPalette.ColorRole.Highlight)
        painter.setPen(QPen(colour, 2))
        for x, inwards in ((left, 5), (right, -5)):  # brackets, as on the keys
            low = self.height() - 2
            corners = (QPointF(x + inwards, 2), QPointF(x, 2), QPointF(x, low), QPointF(x + inwards, low))
            painter.drawPolyline(QPolygonF(corners))

    def _x(self, time_s: float) -> float:
        """Return where a time lies."""
        span = max(self.maximum() - self.minimum(), 1)
        share = min(max(time_s * self.rate_hz / span, 0.0), 1.0)
        handle = self._handle_px()
        return handle / 2 + share * max(self.width() - handle, 1)

    def event(self, event: QEvent | None) -> bool:
        if event is not None and event.type() == QEvent.Type.ToolTip:
            return True
        return super().event(event)

    def _index(self, at: QPointF) -> int:
        handle = self._handle_px()
        span = max(self.width() - handle, 1)
        return QStyle.sliderValueFromPosition(self.minimum(), self.maximum(), round(at.x() - handle / 2), span)

    def _handle_px(self) -> int:
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        style = self.style()
        return 0 if style is None else style.pixelMetric(QStyle.PixelMetric.PM_SliderLength, option, self)
