"""One pane: paints an image sharply at every zoom, with its marks, and reports the pixels that are clicked."""

import numpy as np
from PyQt6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, pyqtSignal
from PyQt6.QtGui import (
    QColor,
    QCursor,
    QFocusEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PyQt6.QtWidgets import QSizePolicy, QWidget

from bgsub.frames import Frame
from bgsub.gui.counting import Counted, Counting
from bgsub.gui.panes import INPUT, Effect, Pane
from bgsub.gui.widgets.images.counting_marks import paint_counting
from bgsub.gui.widgets.images.keyboard import KeyboardCursor
from bgsub.gui.widgets.images.legends import Legends
from bgsub.gui.widgets.images.marks import EventMark, paint_event, paint_pixels
from bgsub.gui.widgets.images.overlay import Overlay
from bgsub.gui.widgets.images.scaling import shrink, to_qimage
from bgsub.gui.widgets.images.viewport import Viewport

__all__ = ["FrameView"]

_CLICK_PX = 4  # a mouse that moves further drags
_SHARP_FROM = 3.0  # device pixels per image pixel, from which on pixels are shown as squares


class FrameView(QWidget):
    """Paints one image with pinned pixels and legend, and lets the user zoom, drag and click in it.

    Parameters
    ----------
    viewport : Viewport
        Visible part; shared by all panes.
    canvas : str
        Colour around the image.
    """

    clicked = pyqtSignal(int, int)
    """A pixel (row, column) was clicked."""
    hovered = pyqtSignal(int, int)
    """The mouse is over a pixel (row, column); -1, -1 when it leaves."""
    painted = pyqtSignal()
    """An image is on its way to the screen."""

    def __init__(self, viewport: Viewport, canvas: str = "#202020") -> None:
        super().__init__()
        self.viewport = viewport
        self._canvas = QColor(canvas)
        self._image: Frame | None = None
        self._pane = INPUT
        self._hint = ""
        self._captions: tuple[str, ...] = ()
        self._usage = "Arrows move a cursor, Return does what a click does"
        self._sides: tuple[str, ...] = ()
        self._effects: tuple[Effect, ...] = ()
        self._event: EventMark | None = None
        self._counting: tuple[Counting, Counted | None] = Counting(), None
        self._pinned_pixels: tuple[tuple[int, int], ...] = ()
        self._selected: tuple[int, int] | None = None
        self._cache: tuple[tuple[object, ...], tuple[Frame, Frame], QImage] | None = None
        self._pressed: QPointF | None = None
        self._dragging = False
        self.overlay: Overlay | None = None
        """Drawn above the image; receives mouse events first."""
        self.rest_cursor = Qt.CursorShape.ArrowCursor
        """Shown while nothing is dragged."""
        viewport.changed.connect(self.update)
        self.setWhatsThis(
            "Click a pixel to see why it is foreground or background. The wheel zooms, dragging moves, in all panes "
            "together. By keyboard, arrows move a cursor and Return does what a click does."
        )
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._cursor: KeyboardCursor | None = None
        self._is_ringed = False
        self._is_pointed = False  # by the mouse, which was used last: then Return closes what it has drawn
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(QSize(120, 90))
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    @property
    def pane(self) -> Pane:
        """The pane shown."""
        return self._pane

    @property
    def image(self) -> Frame | None:
        """The image shown."""
        return self._image

    @property
    def hint(self) -> str:
        """What is written where there is no image."""
        return self._hint

    def show_pane(self, pane: Pane) -> None:
        """Show another pane from the next image on."""
        self._pane, self._image = pane, None
        self.setAccessibleName(f"Pane: {pane.label}")
        self._describe()
        self.update()

    def show_image(self, image: Frame | None, hint: str = "") -> None:
        """Show an image, (H, W, 3) BGR or (H, W) grey uint8; without one, show a hint what to do."""
        if image is self._image and hint == self._hint:
            return
        self._image, self._hint = image, hint
        self._describe()
        self.update()

    @property
    def captions(self) -> tuple[str, ...]:
        """What is written on the image."""
        return self._captions

    def show_captions(self, captions: tuple[str, ...]) -> None:
        """Write on the image what the user must know to understand it."""
        if captions != self._captions:
            self._captions = captions
            self._describe()
            self.update()

    def set_usage(self, usage: str) -> None:
        """Set what screen readers say of the keys, after what is written on the image."""
        self._usage = usage
        self._describe()

    def _describe(self) -> None:
        """Let screen readers know what is written on the image, or in the place of one; Qt reports a change."""
        written = self._captions if self._image is not None else (self._hint,)
        text = ". ".join(filter(None, (*written, self._usage)))
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)

    def show_sides(self, names: tuple[str, ...]) -> None:
        """Call the detectors that are compared by these names in the legend; empty for A and B."""
        self._sides = names
        self.update()

    def show_effects(self, effects: tuple[Effect, ...]) -> None:
        """Explain what the stages of the mask did in the legend."""
        if effects != self._effects:
            self._effects = effects
            self.update()

    @property
    def event_text(self) -> str:
        """What is written at the event that is marked; empty if none is."""
        return "" if self._event is None else self._event.text

    def show_event(self, mark: EventMark | None) -> None:
        """Mark where an event takes place."""
        if mark != self._event:
            self._event = mark
            self.update()

    def show_counting(self, counting: Counting, counted: Counted | None) -> None:
        """Show lines and zones, and the objects that were counted."""
        if (counting, counted) != self._counting:
            self._counting = counting, counted
            self.update()

    def show_pinned_pixels(self, pixels: tuple[tuple[int, int], ...], selected: tuple[int, int] | None) -> None:
        """Mark pixels (row, column)."""
        if (pixels, selected) != (self._pinned_pixels, self._selected):
            self._pinned_pixels, self._selected = pixels, selected
            self.update()

    def set_canvas(self, colour: str) -> None:
        """Change the colour around the image."""
        self._canvas = QColor(colour)
        self.update()

    # Geometry

    def image_rect(self) -> QRectF:
        """Return the rectangle of the image, in the coordinates of the pane; empty without an image."""
        if self._image is None:
            return QRectF()
        return self.viewport.image_rect(self._size(), QSizeF(self.size()))

    def to_image(self, at: QPointF) -> QPointF:
        """Turn a point of the pane into one of the image, in pixels."""
        rect, size = self.image_rect(), self._size()
        if rect.isEmpty():
            return QPointF(-1, -1)
        return QPointF(
            (at.x() - rect.left()) / rect.width() * size.width(),
            (at.y() - rect.top()) / rect.height() * size.height(),
        )

    def to_pane(self, at: QPointF) -> QPointF:
        """Turn a point of the image, in pixels, into one of the pane."""
        rect, size = self.image_rect(), self._size()
        return QPointF(
            rect.left() + at.x() / size.width() * rect.width(),
            rect.top() + at.y() / size.height() * rect.height(),
        )

    def _size(self) -> QSizeF:
        return QSizeF(1, 1) if self._image is None else QSizeF(self._image.shape[1], self._image.shape[0])

    def _reach(self) -> float:
        """Return how far a mouse may miss a point, in image pixels."""
        rect = self.image_rect()
        return 9.0 * self._size().width() / max(rect.width(), 1.0)

    # Painting

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._canvas)
        if self._image is None:
            self._paint_hint(painter)
        else:
            self._paint_image(painter, self._image)
            if self._event is not None:
                paint_event(painter, self.to_pane, self._image.shape[1], self._image.shape[0], self._event)
            paint_counting(painter, self.to_pane, *self._counting)
            paint_pixels(painter, self.to_pane, self._pinned_pixels, self._selected)
            if self.overlay is not None:
                self.overlay.paint(painter, self.to_pane)
            if self.hasFocus() and self._cursor is not None:
                self._cursor.paint(painter, self.to_pane)
            legends = Legends(self._pane, self.viewport.zoom, self._captions, self._sides, self._effects)
            legends.paint(painter, self.rect())
        if self._is_ringed:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self.palette().highlight().color(), 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
        painter.end()
        if self._image is not None:
            self.painted.emit()

    def _paint_image(self, painter: QPainter, image: Frame) -> None:
        """Draw only the visible part, in device pixels: a reduced image is made before, so that drawing is a copy."""
        ratio = self.devicePixelRatioF()
        rect = self.image_rect()
        scale = rect.width() / image.shape[1] * ratio
        seen = rect.intersected(QRectF(self.rect()))
        if seen.isEmpty():
            return
        first, last = self.to_image(seen.topLeft()), self.to_image(seen.bottomRight())
        left, top = max(0, int(first.x())), max(0, int(first.y()))
        right = min(image.shape[1], int(np.ceil(last.x() - 1e-6)))
        bottom = min(image.shape[0], int(np.ceil(last.y() - 1e-6)))
        if right <= left or bottom <= top:
            return
        corner, opposite = self.to_pane(QPointF(left, top)), self.to_pane(QPointF(right, bottom))
        target = QRectF(corner, opposite)
        small = scale < 1
        size = (max(1, round(target.width() * ratio)), max(1, round(target.height() * ratio)))
        key = (id(image), left, top, right, bottom, size if small else None)
        if self._cache is None or self._cache[0] != key:
            part = np.ascontiguousarray(image[top:bottom, left:right])
            pixels = np.ascontiguousarray(shrink(part, *size)) if small else part
            self._cache = key, (image, pixels), to_qimage(pixels)  # both kept alive: the key holds the id of the first
        if small:  # pixel by pixel: it was made to fit
            shown = self._cache[2]
            shown.setDevicePixelRatio(ratio)
            painter.drawImage(QPointF(round(target.left() * ratio) / ratio, round(target.top() * ratio) / ratio), shown)
            return
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, 1 < scale < _SHARP_FROM)
        painter.drawImage(target, self._cache[2])

    def _paint_hint(self, painter: QPainter) -> None:
        dark = self._canvas.lightness() < 128
        painter.setPen(QColor("#98a2ad" if dark else "#57606a"))
        box = self.rect().adjusted(16, 16, -16, -16)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._hint)

    # Keyboard

    def zoom(self, factor: float) -> None:
        """Zoom at the keyboard's cursor, or at the centre."""
        if self._image is not None:
            at = QPointF(self.rect().center()) if self._cursor is None else self.to_pane(self._cursor.centre)
            self.viewport.zoom_by(factor, at, self._size(), QSizeF(self.size()))

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        if a0 is None or self._image is None:
            return
        height, width = self._image.shape[:2]
        cursor = self._cursor or KeyboardCursor(height // 2, width // 2)
        plain = not a0.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if plain and cursor.can_follow(a0.key()):
            self._move_cursor(cursor.moved(a0.key(), (height, width), fast=a0.isAutoRepeat()))
        elif plain and not self._is_pointed and a0.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._click_cursor(cursor, Qt.MouseButton.LeftButton)
        elif plain and a0.key() == Qt.Key.Key_Delete:
            self._click_cursor(cursor, Qt.MouseButton.RightButton)
        else:
            super().keyPressEvent(a0)

    def _move_cursor(self, cursor: KeyboardCursor) -> None:
        self._cursor, self._is_pointed = cursor, False
        at = self.to_pane(cursor.centre)
        room = self.rect().adjusted(20, 20, -20, -20)
        inside = QPointF(min(max(at.x(), room.left()), room.right()), min(max(at.y(), room.top()), room.bottom()))
        if inside != at and self.viewport.zoom > 1:
            self.viewport.pan(inside - at, self._size(), QSizeF(self.size()))
        self.hovered.emit(cursor.row, cursor.column)
        if self.overlay is not None:
            self.overlay.move(cursor.centre, self._reach())
        self.update()

    def _click_cursor(self, cursor: KeyboardCursor, button: Qt.MouseButton) -> None:
        """Do at the cursor what a click of the mouse does."""
        self._cursor = cursor
        at = self.to_pane(cursor.centre)
        kind, none = QEvent.Type.MouseButtonPress, Qt.KeyboardModifier.NoModifier
        event = QMouseEvent(kind, at, QPointF(self.mapToGlobal(at)), button, button, none)
        if self.overlay is not None and self.overlay.press(cursor.centre, self._reach(), event):
            self.overlay.release()
            self.update()
        elif button == Qt.MouseButton.LeftButton:
            self.clicked.emit(cursor.row, cursor.column)

    def focusInEvent(self, a0: QFocusEvent | None) -> None:
        reasons = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
        self._is_ringed = a0 is not None and a0.reason() in reasons
        self._is_pointed = self._is_pointed and not self._is_ringed
        self.update()

    def focusOutEvent(self, a0: QFocusEvent | None) -> None:
        self._is_ringed = False
        self.update()

    # Mouse

    def mousePressEvent(self, a0: QMouseEvent | None) -> None:
        if a0 is None or self._image is None:
            return
        self._cursor, self._is_ringed, self._is_pointed = None, False, True
        if self.overlay is not None and self.overlay.press(self.to_image(a0.position()), self._reach(), a0):
            self.update()
            return
        self._pressed, self._dragging = a0.position(), False

    def mouseMoveEvent(self, a0: QMouseEvent | None) -> None:
        if a0 is None or self._image is None:
            return
        at = self.to_image(a0.position())
        inside = 0 <= at.x() < self._image.shape[1] and 0 <= at.y() < self._image.shape[0]
        self.hovered.emit(*((int(at.y()), int(at.x())) if inside else (-1, -1)))
        if self.overlay is not None and self.overlay.move(at, self._reach()):
            self.update()
            return
        if self._pressed is None:
            return
        moved = a0.position() - self._pressed
        if self._dragging or moved.manhattanLength() > _CLICK_PX:
            self._dragging = True
            self.setCursor(QCursor(Qt.CursorShape.ClosedHandCursor))
            self.viewport.pan(moved, self._size(), QSizeF(self.size()))
            self._pressed = a0.position()

    def mouseReleaseEvent(self, a0: QMouseEvent | None) -> None:
        if self.overlay is not None:
            self.overlay.release()
        pressed, self._pressed = self._pressed, None
        self.setCursor(self.rest_cursor)
        if a0 is None or pressed is None or self._dragging or self._image is None:
            return
        at = self.to_image(a0.position())
        row, column = int(at.y()), int(at.x())
        inside = 0 <= at.x() < self._image.shape[1] and 0 <= at.y() < self._image.shape[0]
        if inside and a0.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(row, column)

    def mouseDoubleClickEvent(self, a0: QMouseEvent | None) -> None:
        if a0 is None or self._image is None:
            return
        if self.overlay is not None and self.overlay.double_click(self.to_image(a0.position())):
            self.update()

    def wheelEvent(self, a0: QWheelEvent | None) -> None:
        if a0 is None or self._image is None:
            return
        factor = 1.0015 ** a0.angleDelta().y()
        self.viewport.zoom_by(factor, a0.position(), self._size(), QSizeF(self.size()))

    def leaveEvent(self, a0: object) -> None:
        self.hovered.emit(-1, -1)
