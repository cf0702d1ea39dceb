"""Marks on an image: pinned pixels, and where an event takes place."""

from collections.abc import Callable
from dataclasses import dataclass

from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QPainter, QPen

from bgsub.events.observation import Box
from bgsub.gui.engine.happenings.ahead import Happenings

__all__ = ["PIXEL_COLOURS", "EventMark", "mark_of", "paint_event", "paint_pixels"]

PIXEL_COLOURS = ("#ff3df2", "#19e3ff", "#ffe100", "#7dff4d", "#ff8a1f", "#b78bff")
"""Marks of pinned pixels, in their order."""

_EVENT = "#ffb000"

ToPane = Callable[[QPointF], QPointF]
"""Turns a point of the image, in pixels, into one of the pane."""


@dataclass(frozen=True, slots=True)
class EventMark:
    """Where the event that goes on takes place."""

    text: str
    box: Box
    """As shares of the image."""


def mark_of(found: Happenings, time_s: float) -> EventMark | None:
    """Return the mark of the event that goes on at a time since the first frame; None if there is none."""
    index = found.event_at(time_s)
    if index is None:
        return None
    event = found.events[index]
    things = f"{event.objects} object{'' if event.objects == 1 else 's'}"
    return EventMark(f"event {index + 1} of {len(found.events)}, {things}", event.union)


def paint_event(painter: QPainter, to_pane: ToPane, width: int, height: int, mark: EventMark) -> None:
    """Draw a dashed frame round all places of an event, with its number, on an image of this size."""
    x, y, box_width, box_height = mark.box
    corner = to_pane(QPointF(x * width, y * height))
    opposite = to_pane(QPointF((x + box_width) * width, (y + box_height) * height))
    frame = QRectF(corner, opposite).adjusted(1, 1, -1, -1)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(0, 0, 0, 150), 3))
    painter.drawRect(frame)
    painter.setPen(QPen(QColor(_EVENT), 1.5, Qt.PenStyle.DashLine))
    painter.drawRect(frame)
    room = painter.fontMetrics().horizontalAdvance(mark.text) + 12
    label = QRectF(frame.right() - room, frame.bottom() - 20, room, 20)
    painter.fillRect(label, QColor(0, 0, 0, 170))
    painter.setPen(QColor(_EVENT))
    painter.drawText(label, Qt.AlignmentFlag.AlignCenter, mark.text)


def paint_pixels(
    painter: QPainter, to_pane: ToPane, pixels: tuple[tuple[int, int], ...], selected: tuple[int, int] | None
) -> None:
    """Draw a ring round each pinned pixel (row, column), with a cross on the selected one."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for number, (row, column) in enumerate(pixels):
        at = to_pane(QPointF(column + 0.5, row + 0.5))
        chosen = (row, column) == selected
        for colour, width in ((QColor("black"), 4.0), (QColor(PIXEL_COLOURS[number % len(PIXEL_COLOURS)]), 2.0)):
            painter.setPen(QPen(colour, width))
            radius = 9 if chosen else 6
            painter.drawEllipse(at, radius, radius)
            if chosen:
                for x, y in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                    painter.drawLine(at + QPointF(x * 9, y * 9), at + QPointF(x * 14, y * 14))
