"""Which part of the picture is seen, the same for all panes."""

from PyQt6.QtCore import QObject, QPointF, QRectF, QSizeF, pyqtSignal

__all__ = ["Viewport"]

_LARGEST = 64.0


class Viewport(QObject):
    """Zoom, as a factor of the size that fits the pane, and the point in its centre."""

    changed = pyqtSignal()

    def __init__(self) -> None:
        super().__init__()
        self._zoom = 1.0
        self._centre = QPointF(0.5, 0.5)

    @property
    def zoom(self) -> float:
        """1 shows the whole picture."""
        return self._zoom

    def picture(self, image: QSizeF, pane: QSizeF) -> QRectF:
        """Return where an image of some size lies in a pane, in the pane's coordinates."""
        scale = self.scale(image, pane)
        shown = QSizeF(image.width() * scale, image.height() * scale)
        left = self._start(self._centre.x(), shown.width(), pane.width())
        top = self._start(self._centre.y(), shown.height(), pane.height())
        return QRectF(left, top, shown.width(), shown.height())

    def scale(self, image: QSizeF, pane: QSizeF) -> float:
        """Return how large a pixel of the image is in the pane."""
        return min(pane.width() / image.width(), pane.height() / image.height()) * self._zoom

    def zoom_by(self, factor: float, at: QPointF, image: QSizeF, pane: QSizeF) -> None:
        """Zoom so that the point `at` of the pane stays where it is."""
        before = self.picture(image, pane)
        zoom = min(max(self._zoom * factor, 1.0), _LARGEST)
        if zoom == self._zoom:
            return
        place = QPointF((at.x() - before.left()) / before.width(), (at.y() - before.top()) / before.height())
        self._zoom = zoom
        scale = self.scale(image, pane)
        width, height = image.width() * scale, image.height() * scale
        self._centre = QPointF(
            place.x() + (pane.width() / 2 - at.x()) / width, place.y() + (pane.height() / 2 - at.y()) / height
        )
        self._keep_inside(width, height, pane)
        self.changed.emit()

    def pan(self, by: QPointF, image: QSizeF, pane: QSizeF) -> None:
        """Move the picture by a distance in the pane."""
        scale = self.scale(image, pane)
        width, height = image.width() * scale, image.height() * scale
        self._centre -= QPointF(by.x() / width, by.y() / height)
        self._keep_inside(width, height, pane)
        self.changed.emit()

    def fit(self) -> None:
        """Show the whole picture."""
        self._zoom, self._centre = 1.0, QPointF(0.5, 0.5)
        self.changed.emit()

    def _keep_inside(self, width: float, height: float, pane: QSizeF) -> None:
        self._centre = QPointF(
            _clamped(self._centre.x(), pane.width() / width), _clamped(self._centre.y(), pane.height() / height)
        )

    @staticmethod
    def _start(centre: float, length: float, pane: float) -> float:
        return (pane - length) / 2 if length <= pane else pane / 2 - centre * length


def _clamped(centre: float, seen: float) -> float:
    """Keep the seen share of the picture inside it."""
    return 0.5 if seen >= 1 else min(max(centre, seen / 2), 1 - seen / 2)
