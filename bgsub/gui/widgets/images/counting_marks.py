"""Lines, zones and counted objects on an image."""

from collections.abc import Callable, Mapping, Sequence

from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QPainter, QPen, QPolygonF

from bgsub.gui.counting import Counted, Counting

__all__ = ["count_text", "paint_counting", "paint_points"]

_COLOUR, _BOX = QColor("#19e3ff"), QColor("#ffe100")

ToPane = Callable[[QPointF], QPointF]
Points = Sequence[tuple[float, float]]


def count_text(counts: Mapping[str, int]) -> str:
    """Return counts in a few words.

    Examples
    --------
    >>> count_text({"left_to_right": 3, "right_to_left": 1})
    '3 left to right, 1 right to left'
    """
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())


def paint_counting(painter: QPainter, to_pane: ToPane, counting: Counting, counted: Counted | None) -> None:
    """Draw lines and zones with their counts, and each object with its number, its box and its trail."""
    counts = {} if counted is None else counted.counts
    for name, points in {**counting.lines, **counting.zones}.items():
        corners = paint_points(painter, to_pane, points, closed=len(points) > 2)
        here = counts.get(name)
        _write(painter, corners[0] + QPointF(6, -6), name if here is None else f"{name}: {count_text(here)}", _COLOUR)
        if len(points) == 2:
            _write(painter, corners[1] + QPointF(6, 16), "→ to here; left is on its left", _COLOUR)
    for points in () if counted is None else counted.trails.values():
        _paint_trail(painter, to_pane, points)
    for number, (x, y, width, height) in () if counted is None else counted.boxes:
        box = QRectF(to_pane(QPointF(x, y)), to_pane(QPointF(x + width, y + height)))
        for colour, pen in ((QColor(0, 0, 0, 150), 3.0), (_BOX, 1.5)):
            painter.setPen(QPen(colour, pen))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(box)
        _write(painter, box.topLeft() + QPointF(2, -3), f"#{number}", _BOX)


def _paint_trail(painter: QPainter, to_pane: ToPane, points: Points) -> None:
    drawn = QPolygonF([to_pane(QPointF(x, y)) for x, y in points])
    for colour, pen in ((QColor(0, 0, 0, 150), 3.0), (_BOX, 1.5)):
        painter.setPen(QPen(colour, pen, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
        painter.drawPolyline(drawn)


def paint_points(painter: QPainter, to_pane: ToPane, points: Points, *, closed: bool) -> list[QPointF]:
    """Draw a line through some points of the image, and return them in the pane."""
    corners = [to_pane(QPointF(x, y)) for x, y in points]
    drawn = QPolygonF([*corners, corners[0]] if closed else corners)
    for colour, width in ((QColor(0, 0, 0, 150), 4.0), (_COLOUR, 2.0)):
        painter.setPen(QPen(colour, width))
        painter.drawPolyline(drawn)
    for corner in corners:
        painter.setBrush(_COLOUR)
        painter.drawEllipse(corner, 3, 3)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    return corners


def _write(painter: QPainter, at: QPointF, text: str, colour: QColor) -> None:
    room = QRectF(painter.fontMetrics().boundingRect(text)).translated(at).adjusted(-3, -1, 3, 1)
    pane = painter.window()
    left = min(room.left(), pane.width() - room.width())
    top = min(max(room.top(), 0.0), pane.height() - room.height())
    shift = QPointF(max(left, 0.0), top) - room.topLeft()
    painter.fillRect(room.translated(shift), QColor(0, 0, 0, 160))
    painter.setPen(colour)
    painter.drawText(at + shift, text)
