"""A cursor on an image that is moved by the keyboard, for all that the mouse can do there."""

from collections.abc import Callable
from dataclasses import dataclass

from PyQt6.QtCore import QPointF, Qt
from PyQt6.QtGui import QColor, QPainter, QPen

__all__ = ["KeyboardCursor"]

_WAYS = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}
_FAST = 8
"""Pixels per step while a key is held down."""


@dataclass(frozen=True, slots=True)
class KeyboardCursor:
    """A pixel of the image."""

    row: int
    column: int

    @property
    def centre(self) -> QPointF:
        """The middle of the pixel, in pixels of the image."""
        return QPointF(self.column + 0.5, self.row + 0.5)

    @staticmethod
    def can_follow(key: int) -> bool:
        """Return whether a key moves it."""
        return key in _WAYS

    def moved(self, key: int, size: tuple[int, int], *, fast: bool) -> "KeyboardCursor":
        """Return the cursor moved by an arrow key inside an image of (height, width)."""
        down, right = _WAYS[Qt.Key(key)]
        step = _FAST if fast else 1
        row, column = self.row + step * down, self.column + step * right
        return KeyboardCursor(min(max(row, 0), size[0] - 1), min(max(column, 0), size[1] - 1))

    def paint(self, painter: QPainter, to_pane: Callable[[QPointF], QPointF]) -> None:
        """Draw a cross that leaves its pixel free."""
        at = to_pane(self.centre)
        for colour, width in ((QColor("black"), 4.0), (QColor("white"), 1.5)):
            painter.setPen(QPen(colour, width))
            for x, y in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                painter.drawLine(at + QPointF(x * 4, y * 4), at + QPointF(x * 16, y * 16))
