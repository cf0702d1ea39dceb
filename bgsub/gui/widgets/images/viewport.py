"""Visible part of the image, the same in all panes."""

from PyQt6.QtCore import QObject, QPointF, QRectF, QSizeF, pyqtSignal

__all__ = ["Viewport"]

_MAX_ZOOM = 64.0


class Viewport(QObject):
    """Zoom, relative to the size that fits the pane, and the point of the image in the centre of the pane."""

    changed = pyqtSignal()

    def __init__(self) -> None:
        super().__init__()
        self._zoom = 1.0
        self._centre = QPointF(0.5, 0.5)

    @property
    def zoom(self) -> float:
        """1 shows the whole image."""
        return self._zoom

    def image_rect(self, image: QSizeF, pane: QSizeF) -> QRectF:
        """Return the rectangle of an image in a pane, in the coordinates of the pane; both given by their sizes."""
        scale = self.scale(image, pane)
        shown = QSizeF(image.width() * scale, image.height() * scale)
        left = self._start(self._centre.x(), shown.width(), pane.width())
        top = self._start(self._centre.y(), shown.height(), pane.height())
        return QRectF(left, top, shown.width(), shown.height())

    def scale(self, image: QSizeF, pane: QSizeF) -> float:
        """Return the size of an image pixel in the pane."""
        return min(pane.width() / image.width(), pane.height() / image.height()) * self._zoom

    def zoom_by(self, factor: float, at: QPointF, image: QSizeF, pane: QSizeF) -> None:
        """Zoom so that the point `at` of the pane stays where it is."""
        before = self.image_rect(image, pane)
        zoom = min(max(self._zoom * factor, 1.0), _MAX_ZOOM)
        if zoom == self._zoom:
            return
        fixed = QPointF((at.x() - before.left()) / before.width(), (at.y() - before.top()) / before.height())
        self._zoom = zoom
        scale = self.scale(image, pane)
        width, height = image.width() * scale, image.height() * scale
        self._centre = QPointF(
            fixed.x() + (pane.width() / 2 - at.x()) / width, fixed.y() + (pane.height() / 2 - at.y()) / height
        )
        self._keep_inside(width, height, pane)
        self.changed.emit()

    def pan(self, by: QPointF, image: QSizeF, pane: QSizeF) -> None:
        """Move the image by a distance in the pane."""
        scale = self.scale(image, pane)
        width, height = image.width() * scale, image.height() * scale
        self._centre -= QPointF(by.x() / width, by.y() / height)
        self._keep_inside(width, height, pane)
        self.changed.emit()

    def fit(self) -> None:
        """Show the whole image."""
        self._zoom, self._centre = 1.0, QPointF(0.5, 0.5)
        self.changed.emit()

    def _keep_inside(self, width: float, height: float, pane: QSizeF) -> None:
        self._centre = QPointF(
            _clamped(self._centre.x(), pane.width() / width), _clamped(self._centre.y(), pane.height() / height)
        )

    @staticmethod
    def _start(centre: float, length: float, pane: float) -> float:
        return (pane - length) / 2 if length <= pane else pane / 2 - centre * length


def _clamped(centre: float, visible: float) -> float:
    """Return the nearest centre whose visible part lies inside the image."""
    return 0.5 if visible >= 1 else min(max(centre, visible / 2), 1 - visible / 2)
