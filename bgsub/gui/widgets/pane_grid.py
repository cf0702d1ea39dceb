"""One, two or four panes side by side, each of which shows what the person chooses."""

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QComboBox, QGridLayout, QSizePolicy, QVBoxLayout, QWidget

from bgsub.gui.messages import Pane, View
from bgsub.gui.widgets.frame_view import FrameView, Overlay
from bgsub.gui.widgets.theme import Theme
from bgsub.gui.widgets.viewport import Viewport

__all__ = ["LAYOUTS", "PaneGrid"]

LAYOUTS = (1, 2, 4)
"""Numbers of panes there can be."""

_FIRST = (Pane.OVERLAY, Pane.MASK, Pane.SCORE, Pane.BACKGROUND)


class _Slot(QWidget):
    """A pane with the box that chooses what it shows in its corner."""

    def __init__(self, viewport: Viewport, pane: Pane) -> None:
        super().__init__()
        self.box = QComboBox()
        self.box.setToolTip("What this pane shows")
        self.box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        for kind in Pane:
            self.box.addItem(kind.value, kind)
        self.box.setCurrentText(pane.value)
        self.view = FrameView(viewport)
        self.view.show_pane(pane)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.view, 1)
        self.box.setParent(self.view)
        self.box.move(6, 6)
        self.box.setCursor(Qt.CursorShape.ArrowCursor)


class PaneGrid(QWidget):
    """The panes.

    Parameters
    ----------
    theme : Theme
        Colours around the pictures.
    """

    panes_changed = pyqtSignal()
    """Other panes are shown."""
    clicked = pyqtSignal(int, int)
    """A pixel (row, column) was clicked in one of them."""
    hovered = pyqtSignal(int, int)
    """The mouse is over a pixel (row, column) of one; -1, -1 when it leaves."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.viewport = Viewport()
        self._slots = [_Slot(self.viewport, pane) for pane in _FIRST]
        self._count = 0
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
        """How many panes are shown."""
        return self._count

    @property
    def panes(self) -> tuple[Pane, ...]:
        """What they show."""
        return tuple(slot.view.pane for slot in self._shown)

    @property
    def views(self) -> list[FrameView]:
        """Those that are shown."""
        return [slot.view for slot in self._shown]

    def arrange(self, count: int) -> None:
        """Show so many panes.

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
        """Show these, in as many panes as it takes."""
        self.arrange(next(count for count in LAYOUTS if count >= min(len(panes), LAYOUTS[-1])))
        for slot, pane in zip(self._slots, panes, strict=False):
            slot.box.setCurrentText(pane.value)

    def show_view(self, view: View, hint: str) -> None:
        """Show the pictures of a view, and a hint where there is none at all."""
        pins = tuple((pin.row, pin.column) for pin in view.pins)
        for slot in self._shown:
            pane = slot.view.pane
            reason = hint
            if view.lanes and pane.of_b and len(view.lanes) < 2:
                reason = "Choose a detector to compare with in the Compare panel."
            elif view.lanes and pane is Pane.TRUTH:
                reason = "No ground truth for this frame. Choose its folder in the Compare panel."
            slot.view.show_image(view.images.get(pane), reason)
            slot.view.show_pins(pins, self._selected)

    _selected: tuple[int, int] | None = None

    def select_pin(self, pin: tuple[int, int] | None) -> None:
        """Mark one of the pinned pixels as the one that is looked into."""
        self._selected = pin

    def set_overlay(self, overlay: Overlay | None, *, crosshair: bool) -> None:
        """Draw something above all pictures, which then gets the mouse first."""
        for slot in self._slots:
            slot.view.overlay = overlay
            slot.view.rest_cursor = Qt.CursorShape.CrossCursor if crosshair else Qt.CursorShape.ArrowCursor
            slot.view.setCursor(slot.view.rest_cursor)
            slot.view.update()

    def refresh(self) -> None:
        """Paint again, since what is drawn above the pictures changed."""
        for slot in self._shown:
            slot.view.update()

    @property
    def _shown(self) -> list[_Slot]:
        return self._slots[: self._count]

    def _choose(self) -> None:
        for slot in self._slots:
            pane = slot.box.currentData()
            if pane is not slot.view.pane:
                slot.view.show_pane(pane)
        self.panes_changed.emit()

    def _paint(self) -> None:
        for slot in self._slots:
            slot.view.set_canvas(self._theme.colours.canvas)
