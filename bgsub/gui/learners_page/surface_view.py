"""Image of one learner: decision surface or curve, samples, support vectors."""

import numpy as np
from numpy.typing import NDArray
from PyQt6.QtCore import QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QImage, QPainter, QPainterPath, QPaintEvent, QPen, QPolygonF
from PyQt6.QtWidgets import QSizePolicy, QWidget

from bgsub._opencv import cv2
from bgsub.gui.learners_page.race import LearnerView, RaceView
from bgsub.gui.learners_page.streams import Kind
from bgsub.gui.widgets.theme import Theme

__all__ = ["SurfaceView"]

_HEAD = 24.0
_STRIP = 44.0
_LEGIBLE = 0.3
"""Share of the strip that a name needs."""
_MINUS, _PLUS, _OUTLIER = "#e8871e", "#2f7fd6", "#d6336c"
_CLASSES = (_MINUS, _PLUS, "#2f9e44")
_MEMBERS = ("#5f3dc4", "#087f5b", "#a61e4d", "#1864ab", "#5c940d")


class SurfaceView(QWidget):
    """Paints the decision surface or curve of one learner of a race, with samples and support vectors.

    Parameters
    ----------
    theme : Theme
        Colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._race: RaceView | None = None
        self._learner: LearnerView | None = None
        theme.changed.connect(self.update)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        return QSize(300, 320)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, 170)

    @property
    def learner(self) -> LearnerView | None:
        """The learner shown."""
        return self._learner

    def show_learner(self, race: RaceView, learner: LearnerView) -> None:
        """Show the present state of a learner."""
        self._race, self._learner = race, learner
        self.update()

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        race, learner, colours = self._race, self._learner, self._theme.colours
        if race is None or learner is None:
            return
        box = self._box(race, learner)
        painter.fillRect(box, QColor(colours.base))
        self._head(painter, race, learner)
        if learner.failure:
            painter.setPen(QColor(colours.threshold))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, learner.failure)
            return
        painter.setClipRect(box)
        if race.setup.stream.kind is Kind.REGRESSION:
            self._curve(painter, box, race, learner)
        else:
            self._surface(painter, box, race, learner)
        painter.setClipping(False)
        strip = QRectF(box.left(), box.bottom() + 4, box.width(), _STRIP - 4)
        if learner.shares is not None:
            self._shares(painter, strip, learner.shares, learner.share_names)
        if learner.resets is not None:
            self._resets(painter, strip, race.times, learner.resets)
        painter.setPen(QPen(QColor(colours.line), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(box)

    def _box(self, race: RaceView, learner: LearnerView) -> QRectF:
        """Return the rectangle of the surface or curve: square for two dimensions."""
        width, height = self.width() - 2.0, self.height() - _HEAD - 2
        if learner.shares is not None or learner.resets is not None:
            height -= _STRIP
        if race.setup.stream.kind is Kind.REGRESSION:
            return QRectF(1, _HEAD, width, height)
        side = min(width, height)
        return QRectF(1 + (width - side) / 2, _HEAD, side, side)

    def _head(self, painter: QPainter, race: RaceView, learner: LearnerView) -> None:
        colours = self._theme.colours
        font = painter.font()
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(QColor(colours.text))
        painter.drawText(QPointF(2, 16), learner.method.label)
        left = painter.fontMetrics().horizontalAdvance(learner.method.label) + 12
        font.setBold(False)
        painter.setFont(font)
        painter.setPen(QColor(colours.faint))
        recent = float(learner.recent_errors[-1]) if len(learner.recent_errors) else 0.0
        if race.setup.stream.kind is Kind.REGRESSION:
            text = f"recent error {recent:.3f}, {len(learner.support)} SV"
        else:
            text = f"{100 * recent:.1f} % wrong, {len(learner.support)} SV"
        if learner.resets is not None:
            text += f", {len(learner.resets)} restart{'' if len(learner.resets) == 1 else 's'}"
        room = int(self.width() - left)
        painter.drawText(QPointF(left, 16), painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room))

    def _point(self, box: QRectF, race: RaceView, x: float, y: float) -> QPointF:
        left, right, bottom, top = race.setup.stream.extent
        return QPointF(
            box.left() + (x - left) / (right - left) * box.width(),
            box.top() + (top - y) / (top - bottom) * box.height(),
        )

    def _surface(self, painter: QPainter, box: QRectF, race: RaceView, learner: LearnerView) -> None:
        colours = self._theme.colours
        values, kind = learner.values, race.setup.stream.kind
        size = (max(int(box.width()), 2), max(int(box.height()), 2))
        if kind is Kind.REGIONS:
            parts = [(values == label).astype(np.float32) for label in range(len(_CLASSES))]
            labels = np.argmax([cv2.resize(part, size, interpolation=cv2.INTER_CUBIC) for part in parts], axis=0)
            image = _regions(labels, QColor(colours.base))
            inner = [labels == label for label in range(len(_CLASSES))]
        else:
            smooth = np.asarray(cv2.resize(values.astype(np.float32), size, interpolation=cv2.INTER_CUBIC), np.float32)
            image = _tinted(smooth, QColor(colours.base), novelty=kind is Kind.NOVELTY)
            inner = [smooth > 0]
        painter.drawImage(box.topLeft(), QImage(image.tobytes(), *size, 3 * size[0], QImage.Format.Format_RGB888))
        painter.setPen(QPen(QColor(colours.text), 1.6))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for inside in inner:
            self._outline(painter, box, inside)
        for number, sample in enumerate(race.recent):
            colour = QColor(_sample_colour(kind, sample.y))
            colour.setAlphaF(0.25 + 0.75 * (number + 1) / len(race.recent))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawEllipse(self._point(box, race, *sample.x), 2.6, 2.6)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colours.text), 1))
        for x, y in learner.support:
            painter.drawEllipse(self._point(box, race, float(x), float(y)), 4.5, 4.5)

    def _outline(self, painter: QPainter, box: QRectF, inside: NDArray[np.bool_]) -> None:
        outlines, _ = cv2.findContours(inside.astype(np.uint8), cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
        for outline in outlines:
            points = np.asarray(outline).reshape(-1, 2)
            path = QPainterPath(box.topLeft() + QPointF(float(points[0, 0]), float(points[0, 1])))
            for x, y in points[1:]:
                path.lineTo(box.topLeft() + QPointF(float(x), float(y)))
            path.closeSubpath()
            painter.drawPath(path)

    def _shares(self, painter: QPainter, strip: QRectF, shares: NDArray[np.float64], names: tuple[str, ...]) -> None:
        """Paint the weights of a bank over time as bands above each other, the latest on the right."""
        tops = np.concatenate([np.zeros((len(shares), 1)), shares.cumsum(axis=1)], axis=1)
        across = np.linspace(strip.left(), strip.right(), len(shares))
        painter.setPen(Qt.PenStyle.NoPen)
        for member, name in enumerate(names):
            low, high = (strip.bottom() - tops[:, member + side] * strip.height() for side in (0, 1))
            outline = [*zip(across, high, strict=True), *zip(across[::-1], low[::-1], strict=True)]
            painter.setBrush(QColor(_MEMBERS[member % len(_MEMBERS)]))
            painter.drawPolygon(QPolygonF([QPointF(float(x), float(y)) for x, y in outline]))
            if shares[-1, member] > _LEGIBLE:
                painter.setPen(QColor("white"))
                middle = float(low[-1] + high[-1]) / 2
                painter.drawText(
                    QRectF(strip.left(), middle - 10, strip.width() - 6, 20),
                    Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
                    name,
                )
                painter.setPen(Qt.PenStyle.NoPen)

    def _resets(self, painter: QPainter, strip: QRectF, times: NDArray[np.float64], resets: tuple[int, ...]) -> None:
        """Mark on a line of time where the learner started again, the latest sample on the right."""
        painter.setPen(QPen(QColor(self._theme.colours.faint), 1))
        painter.drawLine(QPointF(strip.left(), strip.center().y()), QPointF(strip.right(), strip.center().y()))
        first, last = (float(times[0]), float(times[-1])) if len(times) else (0.0, 1.0)
        painter.setPen(QPen(QColor(_OUTLIER), 2))
        for reset in resets:
            if reset >= first:
                x = strip.left() + (reset - first) / max(last - first, 1.0) * strip.width()
                painter.drawLine(QPointF(x, strip.top() + 6), QPointF(x, strip.bottom() - 6))

    def _curve(self, painter: QPainter, box: QRectF, race: RaceView, learner: LearnerView) -> None:
        colours = self._theme.colours
        left, right, bottom, _ = race.setup.stream.extent
        across = np.linspace(left, right, len(learner.values))
        for number, sample in enumerate(race.recent):
            colour = QColor(_OUTLIER if abs(sample.y - sample.truth) > 0.6 else _PLUS)
            colour.setAlphaF(0.2 + 0.7 * (number + 1) / len(race.recent))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawEllipse(self._point(box, race, float(sample.x[0]), sample.y), 2.6, 2.6)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if race.target is not None:
            painter.setPen(QPen(QColor(colours.faint), 1.5, Qt.PenStyle.DashLine))
            painter.drawPath(self._path(box, race, across, race.target))
        if learner.deviation is not None:
            upper = self._path(box, race, across, learner.values + 2 * learner.deviation)
            upper.connectPath(self._path(box, race, across[::-1], (learner.values - 2 * learner.deviation)[::-1]))
            band = QColor(colours.curve_a)
            band.setAlphaF(0.25)
            painter.fillPath(upper, band)
        painter.setPen(QPen(QColor(colours.text), 2.2))
        painter.drawPath(self._path(box, race, across, learner.values))
        painter.setPen(QPen(QColor(colours.curve_b), 1.5))
        for (x,) in learner.support:
            at = self._point(box, race, float(x), bottom)
            painter.drawLine(at, at - QPointF(0, 9))

    def _path(
        self, box: QRectF, race: RaceView, across: NDArray[np.float64], values: NDArray[np.float64]
    ) -> QPainterPath:
        path = QPainterPath(self._point(box, race, float(across[0]), float(values[0])))
        for x, y in zip(across[1:], values[1:], strict=True):
            path.lineTo(self._point(box, race, float(x), float(np.clip(y, -50, 50))))
        return path


def _sample_colour(kind: Kind, y: float) -> str:
    if kind is Kind.REGIONS:
        return _CLASSES[int(y)]
    return _PLUS if y > 0 else _OUTLIER if kind is Kind.NOVELTY else _MINUS


def _channels(colour: QColor) -> NDArray[np.float64]:
    return np.array([colour.red(), colour.green(), colour.blue()], np.float64)


def _regions(labels: NDArray[np.intp], base: QColor) -> NDArray[np.uint8]:
    """Colour classes, (H, W) from 0, as (H, W, 3) RGB."""
    table = np.stack([0.6 * _channels(base) + 0.4 * _channels(QColor(colour)) for colour in _CLASSES])
    return np.asarray(np.round(table[labels]), np.uint8)


def _tinted(values: NDArray[np.float32], base: QColor, *, novelty: bool) -> NDArray[np.uint8]:
    """Colour a decision function, (H, W), as (H, W, 3) RGB: one hue per sign, stronger further from 0."""
    scale = max(float(np.percentile(np.abs(values), 95)), 1e-9)
    strength = (np.clip(np.abs(values) / scale, 0, 1) ** 0.7 * 0.55)[..., np.newaxis]
    plus, minus = QColor(_PLUS), QColor(_OUTLIER if novelty else _MINUS)
    hue = np.where(values[..., np.newaxis] > 0, _channels(plus), _channels(minus))
    return np.asarray(np.round(_channels(base) * (1 - strength) + hue * strength), np.uint8)
