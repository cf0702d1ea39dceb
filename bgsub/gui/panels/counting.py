"""Lines and zones: drawn on the image, listed with their counts."""

from collections.abc import Callable
from dataclasses import replace

from PyQt6.QtCore import QObject, QPointF, QSignalBlocker, Qt, pyqtSignal
from PyQt6.QtGui import QMouseEvent, QPainter, QShowEvent
from PyQt6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from bgsub.gui.counting import Counting
from bgsub.gui.session import Session
from bgsub.gui.widgets.images.counting_marks import count_text, paint_points

__all__ = ["CountingPanel", "PointCollector"]

_NAME = Qt.ItemDataRole.UserRole

ToPane = Callable[[QPointF], QPointF]


class PointCollector(QObject):
    """Collects the points of a line, which are two, or of a zone, which a double click or its first point closes."""

    collected = pyqtSignal(tuple)
    """The points x, y of a line or zone."""

    def __init__(self) -> None:
        super().__init__()
        self.is_active = False
        self.is_line = True
        self._points: list[tuple[float, float]] = []
        self._mouse: QPointF | None = None

    def begin(self, *, line: bool) -> None:
        """Begin with a line or a zone."""
        self.is_active, self.is_line, self._points = True, line, []

    def end(self) -> None:
        """Forget the points."""
        self.is_active, self._points, self._mouse = False, [], None

    def finish(self) -> None:
        """Close the zone that is being drawn."""
        if self.is_active and len(self._points) >= 3:
            self._emit()

    def paint(self, painter: QPainter, to_pane: ToPane) -> None:
        """Draw what is being drawn."""
        if self._points:
            mouse = [] if self._mouse is None else [(self._mouse.x(), self._mouse.y())]
            paint_points(painter, to_pane, [*self._points, *mouse], closed=False)

    def press(self, at: QPointF, reach: float, event: QMouseEvent) -> bool:
        """Add a point; the right button removes the last."""
        if not self.is_active:
            return False
        if event.button() == Qt.MouseButton.RightButton:
            del self._points[-1:]
            return True
        point = round(at.x(), 1), round(at.y(), 1)
        if len(self._points) >= 3 and (QPointF(*self._points[0]) - at).manhattanLength() <= reach:
            self._emit()
        elif not self._points or point != self._points[-1]:
            self._points.append(point)
            if self.is_line and len(self._points) == 2:
                self._emit()
        return True

    def move(self, at: QPointF, reach: float) -> bool:
        """Let the next side follow the mouse."""
        self._mouse = at
        return self.is_active and bool(self._points)

    def release(self) -> None:
        """Nothing is dragged."""

    def double_click(self, at: QPointF) -> bool:
        """Close the zone."""
        self.finish()
        return True

    def _emit(self) -> None:
        points = tuple(self._points)
        self.end()
        self.collected.emit(points)


class CountingPanel(QWidget):
    """Lists lines and zones with their counts, and lets the user draw more.

    Parameters
    ----------
    session : Session
        Counts.
    """

    drawing = pyqtSignal(bool)
    """The user begins or stops to draw."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.collector = PointCollector()
        self.collector.collected.connect(self._add)
        self.line = _button("Add a line", "Click its two ends on the image; crossings are counted by direction")
        self.zone = _button("Add a zone", "Click its corners; the first one, a double click or Ctrl+Return closes it")
        self.line.setCheckable(True)
        self.zone.setCheckable(True)
        self.line.toggled.connect(lambda on: self._draw(on, line=True))
        self.zone.toggled.connect(lambda on: self._draw(on, line=False))
        self.remove = _button("Remove", "Remove the selected line or zone")
        self.remove.clicked.connect(self._remove)
        self.again = _button("Count again", "Count from zero")
        self.again.clicked.connect(session.restart_objects)
        self.follow = QCheckBox("Follow objects")
        self.follow.setToolTip("Show each object with its number, its box and its trail, also without lines and zones")
        self.follow.toggled.connect(lambda on: session.change(counting=replace(session.settings.counting, follows=on)))
        self.list = QListWidget()
        self.list.setAccessibleName("Lines and zones")
        self.list.setToolTip("Lines and zones, with how many objects crossed or entered them")
        self.state = QLabel()
        self.state.setWordWrap(True)
        self.state.setProperty("faint", True)
        layout = QVBoxLayout(self)
        for pair in ((self.line, self.zone), (self.remove, self.again)):
            row = QHBoxLayout()
            for button in pair:
                row.addWidget(button)
            layout.addLayout(row)
        layout.addWidget(self.follow)
        layout.addWidget(self.state)
        layout.addWidget(self.list, 1)
        session.changed.connect(self._show)
        session.viewed.connect(self._show_frame)
        self._show()

    @property
    def is_drawing(self) -> bool:
        """Whether a line or zone is being drawn."""
        return self.collector.is_active

    def put_away(self) -> None:
        """Stop drawing."""
        self.line.setChecked(False)
        self.zone.setChecked(False)

    def _draw(self, on: bool, *, line: bool) -> None:
        if on:
            (self.zone if line else self.line).setChecked(False)
            self.collector.begin(line=line)
        elif self.collector.is_line is line:
            self.collector.end()
        self.drawing.emit(self.collector.is_active)

    def _add(self, points: tuple[tuple[float, float], ...]) -> None:
        self.put_away()
        self._session.change(counting=self._session.settings.counting.added(points))

    def _remove(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            self._session.change(counting=self._session.settings.counting.without(item.data(_NAME)))

    def showEvent(self, a0: QShowEvent | None) -> None:
        self._show()
        super().showEvent(a0)

    def _show_frame(self) -> None:
        if self.isVisible():
            self._show()

    def _show(self) -> None:
        counting, counted = self._session.settings.counting, self._session.view.counted
        with QSignalBlocker(self.follow):
            self.follow.setChecked(counting.follows)
        names = [*counting.lines, *counting.zones]
        known = [self.list.item(i) for i in range(self.list.count())]
        if [item.data(_NAME) for item in known if item is not None] != names:
            self.list.clear()
            for name in names:
                made = QListWidgetItem(name)
                made.setData(_NAME, name)
                self.list.addItem(made)
        counts = {} if counted is None else counted.counts
        for index, name in enumerate(names):
            item = self.list.item(index)
            if item is not None:
                item.setText(f"{name}: {count_text(counts[name])}" if name in counts else name)
        self.remove.setEnabled(bool(names))
        self.again.setEnabled(bool(counting))
        self.state.setText(self._describe(counting))

    def _describe(self, counting: Counting) -> str:
        counted = self._session.view.counted
        if not counting:
            return "Draw a line or a zone, and play: objects that cross, enter and leave are counted."
        return "" if counted is None else f"{counted.tracks} objects so far."


def _button(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tip)
    return button
