"""Draw a region of interest over the images: the editor that follows the mouse, and its panel."""

from collections.abc import Callable

from PyQt6.QtCore import QObject, QPointF, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QMouseEvent, QPainter, QPainterPath, QPen, QPolygonF
from PyQt6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from bgsub.gui.messages import Level
from bgsub.gui.panels.roi_draft import Draft, Shape
from bgsub.gui.session import Session
from bgsub.gui.widgets.dialogs import ask_open, ask_save
from bgsub.roi import Region, open_region

__all__ = ["RoiEditor", "RoiPanel"]

_INCLUDE, _EXCLUDE = QColor("#35d07f"), QColor("#ff5f57")
_CORNER = 5.0


class RoiEditor(QObject):
    """Turns mouse events into changes of a draft, and paints it."""

    changed = pyqtSignal()
    """The draft changed."""

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self.draft = draft
        self.exclude = False
        """Whether new polygons exclude."""
        self.is_active = False
        """Whether it handles the mouse; otherwise it only paints."""
        self._dragged: tuple[int, int] | None = None
        self._mouse: QPointF | None = None

    def paint(self, painter: QPainter, to_pane: Callable[[QPointF], QPointF]) -> None:
        """Draw all polygons."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for shape in self.draft.shapes:
            colour = _EXCLUDE if shape.exclude else _INCLUDE
            corners = [to_pane(QPointF(x, y)) for x, y in shape.points]
            self._paint_edges(painter, shape, corners, colour, to_pane)
            for corner in corners if self.is_active else ():
                painter.setPen(QPen(QColor(0, 0, 0, 180), 1))
                painter.setBrush(colour)
                painter.drawEllipse(corner, _CORNER, _CORNER)

    def _paint_edges(
        self,
        painter: QPainter,
        shape: Shape,
        corners: list[QPointF],
        colour: QColor,
        to_pane: Callable[[QPointF], QPointF],
    ) -> None:
        path = QPainterPath()
        path.addPolygon(QPolygonF(corners))
        if shape.closed:
            path.closeSubpath()
            fill = QColor(colour)
            fill.setAlpha(46 if self.is_active else 0)
            painter.fillPath(path, fill)
        elif self._mouse is not None:
            path.lineTo(to_pane(self._mouse))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(0, 0, 0, 140), 4))
        painter.drawPath(path)
        painter.setPen(QPen(colour, 2, Qt.PenStyle.SolidLine if shape.closed else Qt.PenStyle.DashLine))
        painter.drawPath(path)

    def press(self, at: QPointF, reach: float, event: QMouseEvent) -> bool:
        """Drag a corner, delete one (right button), split an edge (Shift), or add a corner."""
        if not self.is_active:
            return False
        point, draft = (round(at.x(), 1), round(at.y(), 1)), self.draft
        corner = draft.find_corner(point, reach)
        if event.button() == Qt.MouseButton.RightButton:
            if draft.drawing is not None:
                draft.cancel()
            elif corner is not None:
                draft.delete_point(*corner)
            self.changed.emit()
            return True
        if event.button() != Qt.MouseButton.LeftButton:
            return False
        drawing = draft.drawing
        if corner is not None and drawing is not None and corner == (len(draft.shapes) - 1, 0):
            draft.close()
            self.changed.emit()
            return True
        if corner is not None:
            self._dragged = corner
            draft.begin_drag()
            return True
        edge = draft.find_edge(point, reach) if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else None
        if edge is not None:
            draft.insert_point(edge[0], edge[1], point)
        else:
            draft.add_point(point, exclude=self.exclude)
        self.changed.emit()
        return True

    def move(self, at: QPointF, reach: float) -> bool:
        """Drag a corner, or let the next edge follow the mouse."""
        if not self.is_active:
            return False
        self._mouse = at
        if self._dragged is None:
            return self.draft.drawing is not None
        self.draft.move_point(*self._dragged, (round(at.x(), 1), round(at.y(), 1)))
        return True

    def release(self) -> None:
        """End a drag."""
        if self._dragged is not None:
            self._dragged = None
            self.draft.end_drag()
            self.changed.emit()

    def double_click(self, at: QPointF) -> bool:
        """Close the polygon that is being drawn; the two clicks added its last corner."""
        if not self.is_active or self.draft.drawing is None:
            return False
        self.draft.close()
        self.changed.emit()
        return True


class RoiPanel(QWidget):
    """Lists the polygons of the region of interest, with buttons to draw, undo, load and save it.

    Parameters
    ----------
    session : Session
        Receives the region.
    """

    editing = pyqtSignal(bool)
    """The user begins or stops drawing."""
    redrawn = pyqtSignal()
    """The polygons changed."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.draft = Draft()
        self.editor = RoiEditor(self.draft)
        self.editor.changed.connect(self._use_draft)
        self.edit = QPushButton("Draw on the image")
        self.edit.setCheckable(True)
        self.edit.setToolTip("Click sets corners; a click on the first one, a double click or Enter closes (E)")
        self.edit.toggled.connect(self.editing)
        self.kind = QComboBox()
        self.kind.setToolTip("Whether polygons that are drawn from now on include or exclude")
        self.kind.addItem("New polygons include", False)
        self.kind.addItem("New polygons exclude", True)
        self.kind.currentIndexChanged.connect(self._set_kind)
        self.undo_button = self._button("Undo", "Undo the last change (Ctrl+Z)", self.undo)
        self.redo_button = self._button("Redo", "Redo the change undone last (Ctrl+Shift+Z)", self.redo)
        self.list = QListWidget()
        self.list.setToolTip("Polygons; a pixel counts if it is in a green one (or there is none) and in no red one")
        self.list.currentRowChanged.connect(self._select)
        self.excludes = QCheckBox("Selected polygon excludes")
        self.excludes.setToolTip("Nothing is detected inside the polygon that is selected in the list")
        self.excludes.clicked.connect(self._set_exclude)
        self.delete = self._button("Delete polygon", "Delete the selected polygon", self._delete)
        self.clear = self._button("Clear", "Process the whole frame again", self._clear)
        self.load = self._button("Load…", "A file for `bgsub run --roi`: .json or an image", self.load_file)
        self.save = self._button("Save…", "Write a file for `bgsub run --roi`", self.save_file)
        self.hint = QLabel()
        self.hint.setWordWrap(True)
        self.hint.setProperty("faint", True)
        layout = QVBoxLayout(self)
        layout.addWidget(self.edit)
        layout.addWidget(self.kind)
        history = QHBoxLayout()
        history.addWidget(self.undo_button)
        history.addWidget(self.redo_button)
        layout.addLayout(history)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.excludes)
        grid = QGridLayout()
        for index, button in enumerate((self.delete, self.clear, self.load, self.save)):
            grid.addWidget(button, index // 2, index % 2)
        layout.addLayout(grid)
        layout.addWidget(self.hint)
        session.changed.connect(self._show_settings)
        self._known: Region | None = None
        self._refresh()

    @property
    def is_editing(self) -> bool:
        """Whether the mouse draws."""
        return self.edit.isChecked()

    def toggle_editing(self) -> None:
        """Begin or stop drawing."""
        self.edit.setChecked(not self.is_editing)

    def undo(self) -> None:
        """Undo the last change, if there is one."""
        if self.draft.can_undo:
            self.draft.undo()
            self._use_draft()

    def redo(self) -> None:
        """Redo the change undone last, if there is one."""
        if self.draft.can_redo:
            self.draft.redo()
            self._use_draft()

    def finish(self) -> None:
        """Close the polygon that is being drawn."""
        if self.draft.close():
            self._use_draft()

    def read(self, path: str) -> bool:
        """Use the region of a file; return whether it is valid."""
        return self._session.attempt(lambda: self._session.set_region(open_region(path)))

    def write(self, path: str) -> bool:
        """Write the region to a file; return whether that worked."""
        region = self._session.settings.region
        if region is None:
            self._session.notify(Level.WARNING, "There is no region yet; draw one first.")
            return False
        return self._session.attempt(lambda: region.save(path))

    def load_file(self) -> None:
        """Ask for a file and use its region."""
        path = ask_open(self, "Load region", "Regions (*.json *.png *.bmp *.jpg)")
        if path is not None:
            self.read(str(path))

    def save_file(self) -> None:
        """Ask for a name and write the region."""
        path = ask_save(self, "Save region", "region.json", "Regions (*.json)")
        if path is not None and self.write(str(path)):
            self._session.notify(Level.INFO, f"Saved. On the command line: bgsub run SOURCE --roi {path}")

    def _button(self, text: str, tip: str, action: Callable[[], None]) -> QPushButton:
        button = QPushButton(text)
        button.setToolTip(tip)
        button.clicked.connect(lambda: action())
        return button

    def _set_kind(self) -> None:
        self.editor.exclude = self.kind.currentData()

    def _set_exclude(self, on: bool) -> None:
        if self.list.currentRow() >= 0:
            self.draft.set_exclude(self.list.currentRow(), on)
            self._use_draft()

    def _delete(self) -> None:
        if self.list.currentRow() >= 0:
            self.draft.delete_shape(self.list.currentRow())
            self._use_draft()

    def _clear(self) -> None:
        self.draft.clear()
        self._session.set_region(None)
        self._use_draft()

    def _use_draft(self) -> None:
        region = self.draft.region()
        if region is not None or self._known is not None:
            self._known = region
            self._session.set_region(region)
        self._refresh()
        self.redrawn.emit()

    def _show_settings(self) -> None:
        region = self._session.settings.region
        if region == self._known:
            return
        self._known = region
        self.draft.load(None if region is None or region.image is not None else region)
        self._refresh()
        self.redrawn.emit()

    def _refresh(self) -> None:
        row = self.list.currentRow()
        self.list.blockSignals(True)
        self.list.clear()
        for shape in self.draft.shapes:
            what = "exclude" if shape.exclude else "include"
            self.list.addItem(f"{what}: {len(shape.points)} corners" + ("" if shape.closed else ", being drawn"))
        self.list.setCurrentRow(min(max(row, 0), self.list.count() - 1))
        self.list.blockSignals(False)
        self.undo_button.setEnabled(self.draft.can_undo)
        self.redo_button.setEnabled(self.draft.can_redo)
        self.clear.setEnabled(bool(self.draft.shapes) or self._session.settings.region is not None)
        region = self._session.settings.region
        if region is not None and region.image is not None:
            self.hint.setText("The region is an image; draw polygons to replace it, or clear it.")
        else:
            self.hint.setText(
                "Click: corner. First corner, double click or Enter: close. Drag: move a corner. "
                "Right click: delete a corner. Shift+click on an edge: new corner."
            )
        self._select()

    def _select(self) -> None:
        row = self.list.currentRow()
        chosen = 0 <= row < len(self.draft.shapes)
        self.excludes.setEnabled(chosen)
        self.delete.setEnabled(chosen)
        self.excludes.setChecked(chosen and self.draft.shapes[row].exclude)
