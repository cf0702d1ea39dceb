"""One, two or four panes side by side, with a box in each that chooses what it shows."""

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QComboBox, QGridLayout, QSizePolicy, QVBoxLayout, QWidget

from bgsub.gui.messages import View
from bgsub.gui.panes import BACKGROUND, MASK, OVERLAY, SCORE, Needs, Pane, all_panes, find_pane
from bgsub.gui.widgets.frame_view import FrameView, Overlay
from bgsub.gui.widgets.theme import Theme
from bgsub.gui.widgets.viewport import Viewport

__all__ = ["LAYOUTS", "PaneGrid"]

LAYOUTS = (1, 2, 4)
"""Possible numbers of panes."""

_DEFAULT_PANES = (OVERLAY, MASK, SCORE, BACKGROUND)


class _Slot(QWidget):
    """A pane, with the box that chooses what it shows in its corner."""

    def __init__(self, viewport: Viewport, pane: Pane) -> None:
        super().__init__()
        self.box = QComboBox()
        self.box.setToolTip("Choose what this pane shows")
        self.box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        for offered in all_panes():
            self.box.addItem(offered.label, offered.id)
        self.choose(pane)
        self.view = FrameView(viewport)
        self.view.show_pane(pane)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.view, 1)
        self.box.setParent(self.view)
        self.box.move(6, 6)
        self.box.setCursor(Qt.CursorShape.ArrowCursor)

    def choose(self, pane: Pane) -> None:
        """Choose in the box."""
        self.box.setCurrentIndex(self.box.findData(pane.id))


class PaneGrid(QWidget):
    """Arranges the panes, and zooms and moves their images together.

    Parameters
    ----------
    theme : Theme
        Colours around the images.
    """

    panes_changed = pyqtSignal()
    """The panes shown changed."""
    clicked = pyqtSignal(int, int)
    """A pixel (row, column) was clicked in one of them."""
    hovered = pyqtSignal(int, int)
    """The mouse is over a pixel (row, column) of one; -1, -1 when it leaves."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.viewport = Viewport()
        self._slots = [_Slot(self.viewport, pane) for pane in _DEFAULT_PANES]
        self._count = 0
        self._selected: tuple[int, int] | None = None
        self._layout = QGridLayout(self)
        self._layout.setContentsMargins(6, 6, 6, 2)
        self._layout.setSpacing(6)
        for slot in self._slots:
            slot.setParent(self)
            slot.box.currentIndexChanged.connect(self._choose)
            slot.view.clicked.connect(self.clicked)
            slot.view.hovered.connect(self.hovered)
        theme.changed.connect(self._paint)
        self._paint()
        self.arrange(2)

    @property
    def count(self) -> int:
        """Number of panes shown."""
        return self._count

    @property
    def panes(self) -> tuple[Pane, ...]:
        """What the panes show."""
        return tuple(slot.view.pane for slot in self._shown)

    @property
    def views(self) -> list[FrameView]:
        """The panes as widgets."""
        return [slot.view for slot in self._shown]

    @property
    def boxes(self) -> list[QComboBox]:
        """The boxes that choose what the panes show."""
        return [slot.box for slot in self._shown]

    def arrange(self, count: int) -> None:
        """Show this number of panes.

        Raises
        ------
        ValueError
            If count is not one of `LAYOUTS`.
        """
        if count not in LAYOUTS:
            raise ValueError(f"count must be one of {LAYOUTS}, got {count}")
        if count == self._count:
            return
        self._count = count
        for number, slot in enumerate(self._slots):
            self._layout.removeWidget(slot)
            slot.setVisible(number < count)
            if number < count:
                self._layout.addWidget(slot, number // 2, number % 2)
        for line in (0, 1):
            self._layout.setColumnStretch(line, 1 if line < min(count, 2) else 0)
            self._layout.setRowStretch(line, 1 if line < (count + 1) // 2 else 0)
        self.panes_changed.emit()

    def choose(self, panes: tuple[Pane, ...]) -> None:
        """Show these, in the smallest layout that has room for them."""
        self.arrange(next(count for count in LAYOUTS if count >= min(len(panes), LAYOUTS[-1])))
        for slot, pane in zip(self._slots, panes, strict=False):
            slot.choose(pane)

    def show_view(self, view: View, hint: str) -> None:
        """Show the images of a view, and a hint in panes without one."""
        pixels = tuple((pixel.row, pixel.column) for pixel in view.pinned_pixels)
        for slot in self._shown:
            pane = slot.view.pane
            reason = hint
            if view.runs and pane.needs_comparison and len(view.runs) < 2:
                reason = "Choose a detector to compare with in the Compare panel."
            elif view.runs and Needs.LABELS in pane.needs:
                reason = "No ground truth for this frame. Choose its folder in the Compare panel."
            slot.view.show_image(view.images.get(pane), reason)
            slot.view.show_pinned_pixels(pixels, self._selected)

    def select_pinned_pixel(self, pixel: tuple[int, int] | None) -> None:
        """Mark one of the pinned pixels as the one being inspected."""
        self._selected = pixel

    def set_overlay(self, overlay: Overlay | None, *, crosshair: bool) -> None:
        """Draw something above all images, which then receives mouse events first."""
        for slot in self._slots:
            slot.view.overlay = overlay
            slot.view.rest_cursor = Qt.CursorShape.CrossCursor if crosshair else Qt.CursorShape.ArrowCursor
            slot.view.setCursor(slot.view.rest_cursor)
            slot.view.update()

    def refresh(self) -> None:
        """Paint again after a change of what is drawn above the images."""
        for slot in self._shown:
            slot.view.update()

    @property
    def _shown(self) -> list[_Slot]:
        return self._slots[: self._count]

    def _choose(self) -> None:
        for slot in self._slots:
            pane = find_pane(slot.box.currentData())
            if pane is not None and pane != slot.view.pane:
                slot.view.show_pane(pane)
        self.panes_changed.emit()

    def _paint(self) -> None:
        for slot in self._slots:
            slot.view.set_canvas(self._theme.colours.canvas)
