"""What may be drawn over an image and handle the mouse there."""

from collections.abc import Callable
from typing import Protocol

from PyQt6.QtCore import QPointF
from PyQt6.QtGui import QMouseEvent, QPainter

__all__ = ["Overlay"]


class Overlay(Protocol):
    """Something drawn over the image that may also handle the mouse, such as an editor of regions."""

    def paint(self, painter: QPainter, to_pane: Callable[[QPointF], QPointF]) -> None:
        """Draw, given the function that turns points of the image into points of the pane."""

    def press(self, at: QPointF, reach: float, event: QMouseEvent) -> bool:
        """Handle a press at a point that the mouse may miss by `reach`, in image pixels; True if it is used."""

    def move(self, at: QPointF, reach: float) -> bool:
        """Handle a move; True while something is dragged."""

    def release(self) -> None:
        """Handle the end of a drag."""

    def double_click(self, at: QPointF) -> bool:
        """Handle a double click; True if it is used."""
