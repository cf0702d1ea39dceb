"""A pane: position and sharpness of the image, and the pixel that a click hits."""

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, QPointF, QRect, QSizeF, Qt
from PyQt6.QtGui import QImage, QPainter

from bgsub._opencv import cv2
from bgsub.gui import panes
from bgsub.gui.widgets.images.frame_view import FrameView
from bgsub.gui.widgets.images.legends import Legends
from bgsub.gui.widgets.images.scaling import shrink, to_qimage
from bgsub.gui.widgets.images.viewport import Viewport


def gradient(height: int, width: int) -> np.ndarray:
    image = np.zeros((height, width, 3), np.uint8)
    image[..., 0] = np.linspace(0, 255, width).astype(np.uint8)
    image[..., 2] = np.linspace(0, 255, height).astype(np.uint8)[:, None]
    return image


@pytest.fixture
def view(qtbot):
    made = FrameView(Viewport(), "#000000")
    qtbot.addWidget(made)
    made.resize(200, 100)
    made.show()
    return made


def seen(view: FrameView) -> np.ndarray:
    """The pixels on the screen, (H, W, 3) BGR."""
    image = view.grab().toImage().convertToFormat(image_format())
    width, height = image.width(), image.height()
    pixels = np.frombuffer(image.constBits().asstring(image.sizeInBytes()), np.uint8)
    return pixels.reshape(height, image.bytesPerLine())[:, : 3 * width].reshape(height, width, 3)


def image_format():
    from PyQt6.QtGui import QImage

    return QImage.Format.Format_BGR888


def test_an_image_of_the_pane_s_size_is_shown_to_the_bit(view):
    image = gradient(100, 200)
    view.show_image(image)
    assert np.array_equal(seen(view), image)


@pytest.mark.parametrize("width", [199, 201, 333])
def test_an_image_with_rows_of_odd_length_is_not_sheared(view, width):
    view.resize(width, 100)
    image = gradient(100, width)
    view.show_image(image)
    assert np.array_equal(seen(view), image)


def test_the_aspect_ratio_is_kept(view):
    view.show_image(np.full((50, 50, 3), 255, np.uint8))
    rect = view.image_rect()
    assert (rect.left(), rect.top(), rect.width(), rect.height()) == (50, 0, 100, 100)
    shown = seen(view)
    assert shown[50, 20].tolist() == [0, 0, 0]
    assert shown[50, 100].tolist() == [255, 255, 255]


def test_pixels_are_squares_where_the_image_is_large(view):
    image = np.zeros((5, 10), np.uint8)
    image[2, 3] = 255
    view.show_image(image)
    shown = seen(view)[..., 0]
    assert set(np.unique(shown)) == {0, 255}
    assert (shown[40:60, 60:80] == 255).all()
    assert (shown == 255).sum() == 20 * 20


def test_a_large_image_is_reduced_without_aliasing(view):
    stripes = np.zeros((400, 800, 3), np.uint8)
    stripes[:, ::2] = 255
    view.show_image(stripes)
    assert np.abs(seen(view).astype(int) - 128).max() <= 2


def test_shrinking_is_near_to_the_mean_of_areas():
    image = np.random.default_rng(0).integers(0, 256, (300, 500, 3)).astype(np.uint8)
    smooth = cv2.GaussianBlur(image, (0, 0), 6)
    ours = shrink(smooth, 90, 60).astype(int)
    assert np.abs(ours - cv2.resize(smooth, (90, 60), interpolation=cv2.INTER_AREA)).mean() < 1
    assert shrink(image, 500, 300) is image


def test_zoom_keeps_the_point_under_the_mouse_and_pan_stays_inside():
    viewport, image, pane = Viewport(), QSizeF(400, 200), QSizeF(200, 100)
    at = QPointF(150, 25)
    viewport.zoom_by(4, at, image, pane)
    rect = viewport.image_rect(image, pane)
    assert rect.left() + 0.75 * rect.width() == pytest.approx(150)
    assert rect.top() + 0.25 * rect.height() == pytest.approx(25)
    viewport.pan(QPointF(1e6, 1e6), image, pane)
    assert viewport.image_rect(image, pane).topLeft() == QPointF(0, 0)
    viewport.pan(QPointF(-1e6, -1e6), image, pane)
    assert viewport.image_rect(image, pane).bottomRight() == QPointF(200, 100)
    viewport.zoom_by(1e-6, at, image, pane)
    assert viewport.zoom == 1


def test_a_click_reports_the_pixel_at_every_zoom(view, qtbot):
    view.show_image(np.zeros((50, 100, 3), np.uint8))
    with qtbot.waitSignal(view.clicked) as signal:
        qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(41, 61))
    assert signal.args == [30, 20]
    view.viewport.zoom_by(8, QPointF(41, 61), QSizeF(100, 50), QSizeF(200, 100))
    with qtbot.waitSignal(view.clicked) as signal:
        qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(41, 61))
    assert signal.args == [30, 20]


def test_a_drag_moves_the_image_and_is_no_click(view, qtbot):
    view.show_image(np.zeros((50, 100, 3), np.uint8))
    view.viewport.zoom_by(4, QPointF(100, 50), QSizeF(100, 50), QSizeF(200, 100))
    before = view.image_rect().topLeft()
    clicks = []
    view.clicked.connect(lambda *at: clicks.append(at))
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=QPoint(100, 50))
    qtbot.mouseMove(view, QPoint(110, 55))
    qtbot.mouseMove(view, QPoint(120, 60))
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=QPoint(120, 60))
    assert view.image_rect().topLeft() == before + QPointF(20, 10)
    assert clicks == []


def test_without_an_image_a_hint_is_shown(view):
    view.show_image(None, "Drop a video here")
    assert seen(view).max() > 0
    view.show_pane(panes.SCORE)
    assert view.image is None


@pytest.mark.parametrize("pane", [panes.SCORE, panes.DIFFERENCE])
def test_legends_are_painted(view, pane):
    view.show_pane(pane)
    view.show_image(np.zeros((100, 200, 3), np.uint8))
    assert seen(view)[:62, 100:].max() > 100
    assert seen(view)[62:].max() == 0


def test_a_wrapped_image_shares_the_pixels():
    image = gradient(5, 7)
    wrapped = to_qimage(image)
    assert (wrapped.width(), wrapped.height(), wrapped.bytesPerLine()) == (7, 5, 21)
    image[2, 3] = (1, 2, 3)
    colour = wrapped.pixelColor(3, 2)
    assert (colour.blue(), colour.green(), colour.red()) == (1, 2, 3)


def test_a_dense_screen_gets_every_pixel(view, monkeypatch):
    from PyQt6.QtGui import QPixmap

    monkeypatch.setattr(view, "devicePixelRatioF", lambda: 2.0)
    image = gradient(400, 800)
    image[::2] ^= 255  # rows that any blurring would mix
    view.show_image(shrunk := np.ascontiguousarray(image[:200, :400]))
    screen = QPixmap(400, 200)
    screen.setDevicePixelRatio(2.0)
    view.render(screen)
    shown = screen.toImage().convertToFormat(image_format())
    pixels = np.frombuffer(shown.constBits().asstring(shown.sizeInBytes()), np.uint8).reshape(200, 400, 3)
    assert np.array_equal(pixels, shrunk)


def test_legends_of_long_names_stay_inside_the_pane(qapp):
    names = ("adaptive threshold 0.6 smoothing 5", "adaptive threshold 0.18 smoothing 15")
    image = QImage(220, 120, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    Legends(panes.DIFFERENCE, 1.0, (), names, ()).paint(painter, QRect(0, 0, 220, 120))
    painter.end()
    drawn = np.frombuffer(image.constBits().asarray(image.sizeInBytes()), np.uint8).reshape(120, 220, 4)[..., 3] > 0
    rows, columns = np.nonzero(drawn)
    assert columns.min() >= 5
    assert columns.max() < 215
    assert np.ptp(rows) > 40  # one above the other
