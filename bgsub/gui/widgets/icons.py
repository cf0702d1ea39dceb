"""Icons drawn in the colour of the text, which suits both themes and every screen density."""

import math

from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

__all__ = ["NAMES", "icon"]

_SIDE = 24.0
_SCALE = 4  # pixels per icon unit, sharp up to a device pixel ratio of 4

_POLYGONS: dict[str, list[list[tuple[float, float]]]] = {
    "play": [[(7, 4), (20, 12), (7, 20)]],
    "pause": [[(6, 4), (10, 4), (10, 20), (6, 20)], [(14, 4), (18, 4), (18, 20), (14, 20)]],
    "forward": [[(5, 5), (14, 12), (5, 19)], [(16, 5), (19, 5), (19, 19), (16, 19)]],
    "back": [[(19, 5), (10, 12), (19, 19)], [(5, 5), (8, 5), (8, 19), (5, 19)]],
    "folder": [[(3, 6), (9, 6), (11, 8), (21, 8), (21, 19), (3, 19)]],
    "file": [[(6, 3), (14, 3), (18, 7), (18, 21), (6, 21)]],
}


def icon(name: str, colour: str) -> QIcon:
    """Draw an icon.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    colour : str
        As `#rrggbb`.
    """
    pixmap = QPixmap(int(_SIDE * _SCALE), int(_SIDE * _SCALE))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(_SCALE, _SCALE)
    if name in _POLYGONS:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colour))
        for corners in _POLYGONS[name]:
            painter.drawPolygon(QPolygonF([QPointF(x, y) for x, y in corners]))
    else:
        _LINES[name](painter, QColor(colour))
    painter.end()
    return QIcon(pixmap)


def _pen(painter: QPainter, colour: QColor, width: float = 2.0) -> None:
    pen = QPen(colour, width)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _record(painter: QPainter, colour: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawEllipse(QPointF(12, 12), 7, 7)


def _snapshot(painter: QPainter, colour: QColor) -> None:
    _pen(painter, colour)
    painter.drawRoundedRect(QRectF(3, 7, 18, 13), 2, 2)
    painter.drawEllipse(QPointF(12, 13.5), 3.6, 3.6)
    painter.drawPolyline(QPolygonF([QPointF(8, 7), QPointF(10, 4), QPointF(14, 4), QPointF(16, 7)]))


def _camera(painter: QPainter, colour: QColor) -> None:
    _pen(painter, colour)
    painter.drawRoundedRect(QRectF(2.5, 7, 12.5, 10), 2, 2)
    painter.drawPolygon(QPolygonF([QPointF(15, 11), QPointF(21, 7.5), QPointF(21, 16.5), QPointF(15, 13)]))


def _address(painter: QPainter, colour: QColor) -> None:
    _pen(painter, colour, 1.8)
    painter.drawEllipse(QPointF(12, 12), 8.5, 8.5)
    painter.drawEllipse(QPointF(12, 12), 3.8, 8.5)
    painter.drawLine(QPointF(3.5, 12), QPointF(20.5, 12))


def _loop(painter: QPainter, colour: QColor) -> None:
    _pen(painter, colour)
    path = QPainterPath()
    path.arcMoveTo(QRectF(4, 5, 16, 14), 40)
    path.arcTo(QRectF(4, 5, 16, 14), 40, 290)
    painter.drawPath(path)
    end = path.currentPosition()
    painter.drawPolyline(QPolygonF([end + QPointF(-4.2, 0.4), end, end + QPointF(-0.6, 4.4)]))


def _grid(columns: int, rows: int, painter: QPainter, colour: QColor) -> None:
    _pen(painter, colour, 1.8)
    frame = QRectF(3.5, 5, 17, 14)
    painter.drawRoundedRect(frame, 1.5, 1.5)
    if columns > 1:
        painter.drawLine(QPointF(12, 5), QPointF(12, 19))
    if rows > 1:
        painter.drawLine(QPointF(3.5, 12), QPointF(20.5, 12))


def _freeze(painter: QPainter, colour: QColor) -> None:
    _pen(painter, colour)
    for turn in range(3):
        angle = math.pi * turn / 3 + math.pi / 2
        arm = QPointF(8.5 * math.cos(angle), 8.5 * math.sin(angle))
        painter.drawLine(QPointF(12, 12) - arm, QPointF(12, 12) + arm)


def _reset(painter: QPainter, colour: QColor) -> None:
    _pen(painter, colour)
    path = QPainterPath()
    path.arcMoveTo(QRectF(5, 5, 14, 14), 120)
    path.arcTo(QRectF(5, 5, 14, 14), 120, -290)
    painter.drawPath(path)
    start = path.pointAtPercent(0)
    painter.drawPolyline(QPolygonF([start + QPointF(4.6, -1.2), start, start + QPointF(0.4, 4.8)]))


_LINES = {
    "record": _record,
    "snapshot": _snapshot,
    "camera": _camera,
    "address": _address,
    "loop": _loop,
    "one": lambda painter, colour: _grid(1, 1, painter, colour),
    "two": lambda painter, colour: _grid(2, 1, painter, colour),
    "four": lambda painter, colour: _grid(2, 2, painter, colour),
    "freeze": _freeze,
    "reset": _reset,
}

NAMES = (*_POLYGONS, *_LINES)
"""Every icon."""
