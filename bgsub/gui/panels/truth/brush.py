"""A brush that paints labels on the image, and shows those that are there."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PyQt6.QtCore import QObject, QPointF, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPen

from bgsub._opencv import cv2
from bgsub.frames import Mask
from bgsub.gui.painted_truth import BACKGROUND_LABEL, FOREGROUND_LABEL

__all__ = ["BACKGROUND_COLOUR", "FOREGROUND_COLOUR", "TruthBrush", "stroke"]

FOREGROUND_COLOUR, BACKGROUND_COLOUR = QColor(30, 144, 255), QColor(255, 140, 0)
"""Of what should be foreground and what should not: distinguishable for colour-blind eyes."""

_ALPHA = 110

ToPane = Callable[[QPointF], QPointF]
Points = list[tuple[float, float]]


def stroke(points: Points, width: float, size: tuple[int, int]) -> NDArray[np.bool_]:
    """Return the pixels, (H, W) bool, under a brush of a width that went along points x, y."""
    drawn = np.zeros(size, np.uint8)
    corners = np.round(np.asarray(points, np.float64) - 0.5).astype(np.int32)
    if len(corners) > 1:
        cv2.polylines(drawn, [corners.reshape(-1, 1, 2)], False, 255, max(1, round(width)))
    for x, y in corners[[0, -1]].tolist():
        cv2.circle(drawn, (x, y), max(0, round((width - 1) / 2)), 255, cv2.FILLED)
    return np.asarray(drawn != 0)


class TruthBrush(QObject):
    """Turns mouse events into strokes; it also draws the labels of the frame."""

    painted = pyqtSignal(list)
    """The user has drawn a stroke along these points x, y of the image."""

    def __init__(self) -> None:
        super().__init__()
        self.is_active = False
        """Whether it handles the mouse; otherwise it only shows labels."""
        self.width = 11.0
        """In pixels of the image."""
        self.label = FOREGROUND_LABEL
        """What a stroke says."""
        self._points: Points = []
        self._mouse: QPointF | None = None
        self._labels: tuple[Mask, Mask, QImage] | None = None

    def show_labels(self, labels: Mask | None) -> None:
        """Show the labels of the frame, (H, W) uint8; none if None."""
        if labels is None:
            self._labels = None
        elif self._labels is None or self._labels[0] is not labels:
            tint = np.zeros((*labels.shape, 4), np.uint8)  # BGRA
            for label, colour in ((FOREGROUND_LABEL, FOREGROUND_COLOUR), (BACKGROUND_LABEL, BACKGROUND_COLOUR)):
                share = _ALPHA / 255  # colours are premultiplied
                parts = [round(part * share) for part in (colour.blue(), colour.green(), colour.red())]
                tint[labels == label] = (*parts, _ALPHA)
            height, width = labels.shape
            kind = QImage.Format.Format_ARGB32_Premultiplied
            image = QImage(tint.data, width, height, 4 * width, kind)  # type: ignore[call-overload]
            self._labels = labels, tint, image

    def paint(self, painter: QPainter, to_pane: ToPane) -> None:
        """Draw labels, the stroke under way and the brush."""
        if not self.is_active:
            return
        if self._labels is not None:
            labels, _, image = self._labels
            corner, opposite = to_pane(QPointF(0, 0)), to_pane(QPointF(labels.shape[1], labels.shape[0]))
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
            painter.drawImage(QRectF(corner, opposite), image)
        scale = to_pane(QPointF(1, 0)).x() - to_pane(QPointF(0, 0)).x()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._points:
            colour = QColor(self._colour)
            colour.setAlpha(170)
            painter.setPen(QPen(colour, self.width * scale, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            points = [to_pane(QPointF(x, y)) for x, y in self._points]
            for first, second in zip(points, points[1:] or points, strict=False):
                painter.drawLine(first, second)
        if self._mouse is not None:
            radius = max(self.width * scale / 2, 2.0)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            for width, ring in ((3, QColor(0, 0, 0, 160)), (1.5, self._colour)):
                painter.setPen(QPen(ring, width))
                painter.drawEllipse(to_pane(self._mouse), radius, radius)

    def press(self, at: QPointF, reach: float, event: QMouseEvent) -> bool:
        """Begin a stroke with the left button."""
        if not self.is_active or event.button() != Qt.MouseButton.LeftButton:
            return False
        self._points = [(at.x(), at.y())]
        return True

    def move(self, at: QPointF, reach: float) -> bool:
        """Go on with a stroke, or show the brush under the mouse."""
        if not self.is_active:
            return False
        self._mouse = at
        if self._points:
            self._points.append((at.x(), at.y()))
        return True

    def release(self) -> None:
        """End a stroke."""
        points, self._points = self._points, []
        if points:
            self.painted.emit(points)

    def double_click(self, at: QPointF) -> bool:
        """Do nothing beyond what the two presses did."""
        return self.is_active

    @property
    def _colour(self) -> QColor:
        if self.label == FOREGROUND_LABEL:
            return FOREGROUND_COLOUR
        return BACKGROUND_COLOUR if self.label == BACKGROUND_LABEL else QColor("white")
