"""One, two or four panes, with a box above each that chooses what it shows."""

from collections.abc import Sequence

from PyQt6.QtCore import QSignalBlocker, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QAction, QCloseEvent, QResizeEvent
from PyQt6.QtWidgets import QComboBox, QGridLayout, QSizePolicy, QVBoxLayout, QWidget

from bgsub.detectors.base import Detector
from bgsub.gui.counting import Counted, Counting
from bgsub.gui.messages import View
from bgsub.gui.panes import (
    BACKGROUND,
    INPUT,
    MASK,
    OBJECTS,
    OBJECTS_B,
    OVERLAY,
    OVERLAY_B,
    SCORE,
    Needs,
    Pane,
    Side,
    all_panes,
    find_pane,
    stage_panes,
)
from bgsub.gui.widgets.images.frame_view import FrameView
from bgsub.gui.widgets.images.marks import EventMark
from bgsub.gui.widgets.images.overlay import Overlay
from bgsub.gui.widgets.images.viewport import Viewport
from bgsub.gui.widgets.theme import Theme

__all__ = ["LAYOUTS", "PaneGrid"]

LAYOUTS = (1, 2, 4)
"""Possible numbers of panes."""

_CLEARLY = 1.1
_HEAD_GAP_PX = 2
_MARKED = (INPUT, OVERLAY, OVERLAY_B, OBJECTS, OBJECTS_B)  # panes that show the scene itself
_POPPED = QSize(800, 600)
_DEFAULT_PANES = (OVERLAY, MASK, SCORE, BACKGROUND)


class _Slot(QWidget):
    """A pane under the box that chooses what it shows, which would take clicks meant for pixels if it lay over them."""

    closed = pyqtSignal()
    """The window of its own, if it has one, was closed."""

    def __init__(self, viewport: Viewport, pane: Pane) -> None:
        super().__init__()
        self.box = QComboBox()
        self.box.setToolTip("Choose what this pane shows")
        self.box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.offer(all_panes())
        self.choose(pane)
        self.view = FrameView(viewport)
        self.view.show_pane(pane)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(_HEAD_GAP_PX)
        layout.addWidget(self.box, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self.view, 1)
        self.box.activated.connect(lambda: self.view.setFocus())  # else keys such as Space go to the box

    @property
    def head_px(self) -> int:
        """Height that is not the image's."""
        return self.box.sizeHint().height() + _HEAD_GAP_PX

    def closeEvent(self, a0: QCloseEvent | None) -> None:
        self.closed.emit()
        super().closeEvent(a0)

    def offer(self, panes: Sequence[Pane]) -> None:
        """Offer these panes in the box; the one that is shown stays, even if it is none of them."""
        chosen = find_pane(self.box.currentData() or "")
        with QSignalBlocker(self.box):
            self.box.clear()
            for pane in panes:
                self.box.addItem(pane.label, pane.id)
        if chosen is not None:
            self.choose(chosen)

    def choose(self, pane: Pane) -> None:
        """Choose in the box."""
        if self.box.findData(pane.id) < 0:
            with QSignalBlocker(self.box):
                self.box.addItem(pane.label, pane.id)
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
        self._aspect = 0.0
        self._stacked = False
        self._names: tuple[str, ...] = ()
        self._kinds: tuple[type[Detector], ...] = ()
        self._selected: tuple[int, int] | None = None
        self._layout = QGridLayout(self)
        self._layout.setContentsMargins(6, 6, 6, 2)
        self._layout.setSpacing(6)
        self._popped: list[_Slot] = []
        for slot in self._slots:
            slot.setParent(self)
            self._listen(slot)
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
    def wanted(self) -> tuple[Pane, ...]:
        """What the panes show, and those in windows of their own."""
        return tuple(dict.fromkeys(slot.view.pane for slot in (*self._shown, *self._popped)))

    @property
    def views(self) -> list[FrameView]:
        """The panes as widgets."""
        return [slot.view for slot in self._shown]

    @property
    def focused(self) -> FrameView:
        """The pane with the focus, else the first one."""
        return next((view for view in (*self.views, *self.popped) if view.hasFocus()), self.views[0])

    @property
    def popped(self) -> list[FrameView]:
        """The panes in windows of their own."""
        return [slot.view for slot in self._popped]

    def pop_out(self, pane: Pane, actions: Sequence[QAction] = ()) -> None:
        """Show this in a window of its own, too, for another screen; the keys of some actions work there as well."""
        slot = _Slot(self.viewport, pane)
        slot.setWindowFlag(Qt.WindowType.Window)
        slot.setWindowTitle(f"{pane.label} - bgsub")
        slot.addActions(list(actions))
        slot.offer([find_pane(self._slots[0].box.itemData(i)) or pane for i in range(self._slots[0].box.count())])
        slot.choose(pane)
        slot.view.set_canvas(self._theme.colours.canvas)
        slot.view.overlay, slot.view.rest_cursor = self._slots[0].view.overlay, self._slots[0].view.rest_cursor
        self._listen(slot)
        slot.closed.connect(lambda: self._close_popped(slot))
        self._popped.append(slot)
        slot.resize(_POPPED)
        slot.show()
        self.panes_changed.emit()

    def close_popped(self) -> None:
        """Close the windows of single panes."""
        for slot in list(self._popped):
            slot.close()

    def _close_popped(self, slot: _Slot) -> None:
        if slot in self._popped:
            self._popped.remove(slot)
            slot.deleteLater()
            self.panes_changed.emit()

    def _listen(self, slot: _Slot) -> None:
        slot.box.currentIndexChanged.connect(self._choose)
        slot.view.clicked.connect(self.clicked)
        slot.view.hovered.connect(self.hovered)

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
        self._place()
        self.panes_changed.emit()

    def offer(self, kinds: Sequence[type[Detector]]) -> None:
        """Offer the panes of every detector, and those of the stages of these, the main detector first."""
        if tuple(kinds) == self._kinds:
            return
        self._kinds = tuple(kinds)
        stages = [pane for kind, side in zip(kinds, Side, strict=False) for pane in stage_panes(kind, side)]
        for slot in self._all:
            slot.offer((*all_panes(), *stages))
        self._names = ()

    @property
    def is_stacked(self) -> bool:
        """Whether two panes are one above the other, because that shows larger images."""
        return self._stacked and self._count == 2

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        super().resizeEvent(a0)
        self._choose_stacking()

    def _choose_stacking(self) -> None:
        """Stack two panes where that gives clearly larger images than side by side."""
        if not self._aspect:
            return
        width, height, head = self.width(), self.height(), self._slots[0].head_px
        beside = min(width / 2 / self._aspect, height - head)
        above = min(width / self._aspect, height / 2 - head)
        stacked = above > beside * (1 / _CLEARLY if self._stacked else _CLEARLY)
        if stacked != self._stacked:
            self._stacked = stacked
            self._place()

    def _place(self) -> None:
        columns = 1 if self._count == 1 or self.is_stacked else 2
        rows = (self._count + columns - 1) // columns
        for number, slot in enumerate(self._slots):
            self._layout.removeWidget(slot)
            slot.setVisible(number < self._count)
            if number < self._count:
                self._layout.addWidget(slot, number // columns, number % columns)
        for line in (0, 1):
            self._layout.setColumnStretch(line, 1 if line < columns else 0)
            self._layout.setRowStretch(line, 1 if line < rows else 0)

    def choose(self, panes: tuple[Pane, ...]) -> None:
        """Show these, in the smallest layout that has room for them."""
        self.arrange(next(count for count in LAYOUTS if count >= min(len(panes), LAYOUTS[-1])))
        for slot, pane in zip(self._slots, panes, strict=False):
            slot.choose(pane)

    def show_view(self, view: View, hint: str) -> None:
        """Show the images of a view, and a hint in panes without one."""
        pixels = tuple((pixel.row, pixel.column) for pixel in view.pinned_pixels)
        self._name_panes(tuple(run.name for run in view.runs))
        for slot in (*self._shown, *self._popped):
            pane = slot.view.pane
            reason = _missing(pane, view) if view.runs else hint
            slot.view.show_image(view.images.get(pane), reason)
            slot.view.show_pinned_pixels(pixels, self._selected)
            slot.view.show_captions(view.captions)
            slot.view.show_effects(view.runs[pane.side].effects if pane.side < len(view.runs) else ())
        image = next(iter(view.images.values()), None)
        if image is not None and image.shape[1] / image.shape[0] != self._aspect:
            self._aspect = image.shape[1] / image.shape[0]
            self._choose_stacking()

    def show_event(self, mark: EventMark | None) -> None:
        """Mark where an event takes place; nothing if None."""
        for slot in (*self._shown, *self._popped):
            slot.view.show_event(mark if slot.view.pane in _MARKED else None)

    def show_counting(self, counting: Counting, counted: Counted | None) -> None:
        """Show lines and zones, and the objects that were counted."""
        for slot in (*self._shown, *self._popped):
            slot.view.show_counting(counting, counted)

    def _name_panes(self, names: tuple[str, ...]) -> None:
        """Call panes after their detectors while two are compared."""
        if names == self._names:
            return
        self._names = names
        sides = _side_names(names)
        for slot in self._all:
            slot.view.show_sides(sides)
            for index in range(slot.box.count()):
                pane = find_pane(slot.box.itemData(index))
                if pane is not None:
                    slot.box.setItemText(index, _pane_title(pane, sides))

    def select_pinned_pixel(self, pixel: tuple[int, int] | None) -> None:
        """Mark one of the pinned pixels as the one being inspected."""
        self._selected = pixel

    def set_overlay(self, overlay: Overlay | None, *, crosshair: bool) -> None:
        """Draw something above all images, which then receives mouse events first."""
        for slot in self._all:
            slot.view.overlay = overlay
            slot.view.rest_cursor = Qt.CursorShape.CrossCursor if crosshair else Qt.CursorShape.ArrowCursor
            slot.view.setCursor(slot.view.rest_cursor)
            slot.view.update()

    def refresh(self) -> None:
        """Paint again after a change of what is drawn above the images."""
        for slot in (*self._shown, *self._popped):
            slot.view.update()

    @property
    def _all(self) -> list[_Slot]:
        return [*self._slots, *self._popped]

    @property
    def _shown(self) -> list[_Slot]:
        return self._slots[: self._count]

    def _choose(self) -> None:
        for slot in self._all:
            pane = find_pane(slot.box.currentData())
            if pane is not None and pane != slot.view.pane:
                slot.view.show_pane(pane)
        self.panes_changed.emit()

    def _paint(self) -> None:
        for slot in self._all:
            slot.view.set_canvas(self._theme.colours.canvas)


def _side_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return what the detectors are called while two are compared: by name, if they have different ones."""
    if len(names) < 2:
        return ()
    return names if names[0] != names[1] else (f"{names[0]} A", f"{names[1]} B")


def _pane_title(pane: Pane, sides: tuple[str, ...]) -> str:
    of_detector = pane.needs_comparison or find_pane(f"{pane.id}-b") is not None
    if not sides or not of_detector or Needs.BOTH_SIDES in pane.needs:
        return pane.label
    return f"{pane.label.removesuffix(' B')}: {sides[pane.side]}"


def _missing(pane: Pane, view: View) -> str:
    """Return why a pane has no image, though there is a frame."""
    if pane.needs_comparison and len(view.runs) < 2:
        return "Choose a detector to compare with in the Compare panel."
    if Needs.LABELS in pane.needs:
        return "No ground truth for this frame. Choose its folder in the Compare panel."
    if view.looking_back and pane.needs & (Needs.SCORE | Needs.MODEL | Needs.STAGES):
        return "Not kept for earlier frames. Rewind the model to this frame (Backspace) to see it."
    if pane.stage is not None and view.runs[pane.side].result.stages is not None:
        return f"The masks of {view.runs[pane.side].name} do not go through this stage."
    if Needs.STAGES in pane.needs:
        return "The stages of this frame were not kept; they come with the next one."
    if Needs.SCORE in pane.needs:
        return f"No score for this frame; it comes with the next one, unless {view.runs[pane.side].name} has none."
    return ""
