"""What is written on a pane: legend, zoom, and what the user must know to understand the image."""

from collections.abc import Sequence
from dataclasses import dataclass

from PyQt6.QtCore import QRect, Qt
from PyQt6.QtGui import QColor, QPainter

from bgsub.gui.panes import (
    FALSE,
    HEAT_RANGE,
    HIT,
    MISSED,
    ONLY_A,
    ONLY_B,
    SHADOW_GREY,
    Effect,
    Legend,
    Pane,
    heat_colours,
)
from bgsub.stages import SHADOWS

__all__ = ["Legends"]

_CAPTION_MARGIN_PX = 24


@dataclass(frozen=True, slots=True)
class Legends:
    """What is written on one pane."""

    pane: Pane
    zoom: float
    captions: tuple[str, ...]
    """Lines at the bottom."""
    sides: tuple[str, ...]
    """Names of the detectors that are compared; empty for A and B."""
    effects: tuple[Effect, ...]
    """What the stages of the mask did."""

    def paint(self, painter: QPainter, room: QRect) -> None:
        """Paint everything into the rectangle of the pane."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.zoom != 1:
            text = f"{self.zoom:.1f}x"
            width = painter.fontMetrics().horizontalAdvance(text) + 14
            box = QRect(8, room.height() - 30, width, 22)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(0, 0, 0, 150))
            painter.drawRoundedRect(box, 4, 4)
            painter.setPen(QColor("white"))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        self._paint_captions(painter, room)
        if self.pane.legend is Legend.HEAT:
            _paint_heat(painter, room)
        elif self.pane.legend is Legend.DIFFERENCE:
            name_a, name_b = self.sides or ("A", "B")
            self._paint_colours(painter, room, ((f"only {name_a}", ONLY_A), (f"only {name_b}", ONLY_B)))
        elif self.pane.legend is Legend.ERRORS:
            self._paint_colours(painter, room, (("hit", HIT), ("missed", MISSED), ("false", FALSE)))
        elif self.pane.legend is Legend.STEPS:
            self._paint_colours(painter, room, [(effect.text, effect.colour) for effect in self.effects], upright=True)
        elif self.pane.legend is Legend.SHADOWS and any(effect.stage == SHADOWS for effect in self.effects):
            self._paint_colours(painter, room, (("shadow", (int(SHADOW_GREY),) * 3),))

    def _paint_captions(self, painter: QPainter, room: QRect) -> None:
        bottom = room.height() - 8
        for text in reversed(self.captions):
            most = room.width() - 2 * _CAPTION_MARGIN_PX
            how = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
            needed = painter.fontMetrics().boundingRect(QRect(0, 0, most, room.height()), how, text)
            width, height = needed.width() + 18, needed.height() + 8
            box = QRect((room.width() - width) // 2, bottom - height, width, height)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(0, 0, 0, 190))
            painter.drawRoundedRect(box, 4, 4)
            painter.setPen(QColor("white"))
            painter.drawText(box, how, text)
            bottom -= height + 4

    def _paint_colours(
        self,
        painter: QPainter,
        room: QRect,
        entries: Sequence[tuple[str, tuple[int, int, int]]],
        *,
        upright: bool = False,
    ) -> None:
        metrics, most = painter.fontMetrics(), room.width() - 20
        widths = [min(metrics.horizontalAdvance(text) + 26, most) for text, _ in entries]
        upright = upright or sum(widths) + 6 * len(widths) > most  # detectors may have long names
        if upright and entries:
            widths = [max(widths)] * len(widths)
        left = room.width() - 10 - (widths[0] if upright and widths else sum(widths) + 6 * (len(widths) - 1))
        top = 8
        for (text, (blue, green, red)), width in zip(entries, widths, strict=True):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(0, 0, 0, 150))
            painter.drawRoundedRect(QRect(left, top, width, 22), 4, 4)
            painter.fillRect(left + 6, top + 6, 10, 10, QColor(red, green, blue))
            painter.setPen(QColor("white"))
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, width - 24)
            painter.drawText(QRect(left + 20, top, width - 20, 22), Qt.AlignmentFlag.AlignVCenter, shown)
            if upright:
                top += 24
            else:
                left += width + 6


def _paint_heat(painter: QPainter, room: QRect) -> None:
    colours = heat_colours()
    width, left, top = 128, room.width() - 128 - 34, 10
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(0, 0, 0, 150))
    painter.drawRoundedRect(QRect(left - 16, top - 4, width + 42, 34), 4, 4)
    for x in range(width):
        blue, green, red = (int(value) for value in colours[x * 255 // (width - 1)])
        painter.fillRect(left + x, top, 1, 10, QColor(red, green, blue))
    painter.setPen(QColor("white"))
    low, high = HEAT_RANGE
    for value in (low, 0.0, high):
        x = left + round((value - low) / (high - low) * width)
        painter.drawText(QRect(x - 20, top + 11, 40, 16), Qt.AlignmentFlag.AlignCenter, f"{value:g}")
