"""The window of the learners: several methods on one stream, live, with surfaces, support vectors and mistakes."""

import enum
from dataclasses import replace

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QCloseEvent, QHideEvent, QShowEvent
from PyQt6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QGridLayout,
    QGroupBox,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from bgsub.gui.learners_page.methods import METHODS
from bgsub.gui.learners_page.race import LearningThread, RaceView, Setup
from bgsub.gui.learners_page.streams import STREAMS, Kind
from bgsub.gui.learners_page.surface_view import SurfaceView
from bgsub.gui.mailbox import Mailbox
from bgsub.gui.widgets.curve_plot import CurvePlot
from bgsub.gui.widgets.fields import tame_fields
from bgsub.gui.widgets.theme import Theme

__all__ = ["LearnersWindow"]

_SPEEDS = (20.0, 50.0, 200.0, 500.0, 2000.0)
_CHECKED = 6
_PANEL_PX = 270
_SIZE, _FRAME = QSize(1180, 820), QSize(8, 36)  # of the window, and of what a window manager adds
_PREPARING = "Preparing the methods; the first time they are compiled, which takes a while."
_ID_ROLE = Qt.ItemDataRole.UserRole
_COLOURS = (
    "curve_a",
    "curve_b",
    "#2f9e44",
    "#ae3ec9",
    "#e03131",
    "#1098ad",
    "#868e96",
    "#f08c00",
    "#c2255c",
    "#5f3dc4",
    "#087f5b",
)


class ErrorCurve(enum.Enum):
    """What the curves show."""

    RECENT = "recent"
    CUMULATIVE = "cumulative"


class LearnersWindow(QWidget):
    """Lets the user choose a stream and methods, and shows surfaces and error curves of a race between them.

    Parameters
    ----------
    theme : Theme
        Colours.
    """

    _ready = pyqtSignal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setWindowTitle("Learners - bgsub")
        self._theme = theme
        self._setup = Setup()
        self.view: RaceView | None = None
        """Latest view."""
        self.stream = QComboBox()
        for stream in STREAMS:
            self.stream.addItem(stream.label)
        self.stream.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.stream.setMinimumContentsLength(max(len(stream.label) for stream in STREAMS))
        self.stream.setToolTip("What the methods learn; a change restarts the race")
        self.stream.currentIndexChanged.connect(self._choose_stream)
        self.methods = QListWidget()
        self.methods.setAccessibleName("Methods")
        self.methods.setToolTip("The methods that take part; a change restarts the race")
        self.methods.itemChanged.connect(lambda _: self.restart())
        self.sigma = QDoubleSpinBox()
        self.sigma.setRange(0.05, 10)
        self.sigma.setSingleStep(0.05)
        self.sigma.setValue(self._setup.sigma)
        self.sigma.setKeyboardTracking(False)
        self.sigma.setToolTip("Width of the kernel: exp(-|x - s|² / (2 sigma²)); a change restarts the race")
        self.sigma.valueChanged.connect(lambda _: self.restart())
        self.speed = QComboBox()
        for rate in _SPEEDS:
            self.speed.addItem(f"{rate:.0f} samples/s", rate)
        self.speed.setCurrentIndex(_SPEEDS.index(self._setup.rate_hz))
        self.speed.setToolTip("How many samples each method learns per second")
        self.speed.currentIndexChanged.connect(lambda _: self._thread.set_rate(self.speed.currentData()))
        self.measure = QComboBox()
        self.measure.addItem("of the last 200", ErrorCurve.RECENT)
        self.measure.addItem("cumulative", ErrorCurve.CUMULATIVE)
        self.measure.setToolTip("Errors shown in the curves below")
        self.measure.currentIndexChanged.connect(lambda _: self._draw())
        self.pause = QPushButton("Pause")
        self.pause.setToolTip("Hold the race, or go on")
        self.pause.setCheckable(True)
        self.pause.toggled.connect(lambda on: self._thread.pause(on))
        self.restart_button = QPushButton("Restart")
        self.restart_button.setToolTip("Begin with models that know nothing")
        self.restart_button.clicked.connect(self.restart)
        self.count = QLabel(_PREPARING)
        self.count.setWordWrap(True)
        self.count.setProperty("faint", True)
        self.surfaces: list[SurfaceView] = []
        """One per method."""
        self._arranged: tuple[int, Kind] = (0, Kind.CLASSES)
        self.curves = CurvePlot(theme, "mistakes", ["NORMA"], ["curve_a"])
        self._grid = QGridLayout()
        self._grid.setSpacing(8)
        self._lay_out()
        self._ready.connect(self._take_view)
        self._mailbox: Mailbox[RaceView] = Mailbox(self._ready.emit)
        self._list_methods()
        self._setup = self._wanted()
        screen = self.screen()
        self._thread = LearningThread(self._mailbox.put, self._setup)
        tame_fields(self)
        self.resize(_SIZE if screen is None else _SIZE.boundedTo(screen.availableGeometry().size() - _FRAME))

    def restart(self) -> None:
        """Begin another race with the present choices."""
        before, self._setup = self._setup, self._wanted()
        self.count.setText(_PREPARING)
        if (before.stream, before.methods) != (self._setup.stream, self._setup.methods):
            self._clear()  # what was learned from another stream must not be taken for this one
        self._thread.start(self._setup)

    def _clear(self) -> None:
        self.view = None
        self._arranged = (0, self._setup.stream.kind)
        self._arrange(0)
        self.curves.set_names([], [])

    def _wanted(self) -> Setup:
        chosen = []
        for row in range(self.methods.count()):
            item = self.methods.item(row)
            if item is not None and item.checkState() == Qt.CheckState.Checked:
                chosen.append(item.data(_ID_ROLE))
        return replace(
            self._setup,
            stream=STREAMS[self.stream.currentIndex()],
            methods=tuple(chosen),
            sigma=self.sigma.value(),
            rate_hz=self.speed.currentData(),
        )

    def _lay_out(self) -> None:
        side = QVBoxLayout()
        form = QFormLayout()
        form.addRow("stream", self.stream)
        form.addRow("kernel width", self.sigma)
        form.addRow("speed", self.speed)
        form.addRow("curves", self.measure)
        box = QGroupBox("Methods")
        inner = QVBoxLayout(box)
        inner.addWidget(self.methods)
        buttons = QHBoxLayout()
        buttons.addWidget(self.pause)
        buttons.addWidget(self.restart_button)
        legend = QLabel(
            "Circles are support vectors, the line is the decision (of a regression: the prediction, dashes the "
            "truth, ticks the support vectors, the band two standard deviations where they are known). Pink marks "
            "outliers. A strip below shows the shares of a bank's widths over time, or the restarts after drift."
        )
        legend.setWordWrap(True)
        legend.setProperty("faint", True)
        side.addLayout(form)
        side.addWidget(box, 1)
        side.addLayout(buttons)
        side.addWidget(self.count)
        side.addWidget(legend)
        panel = QWidget()
        panel.setLayout(side)
        panel.setFixedWidth(max(_PANEL_PX, form.sizeHint().width() + 24))  # a longer name would be cut
        self._right = QVBoxLayout()
        self._right.addLayout(self._grid, 3)
        self._right.addWidget(self.curves, 1)
        layout = QHBoxLayout(self)
        layout.addWidget(panel)
        layout.addLayout(self._right, 1)

    def _choose_stream(self) -> None:
        if STREAMS[self.stream.currentIndex()].kind is not self._setup.stream.kind:
            self._list_methods()
        self.restart()

    def _list_methods(self) -> None:
        self.methods.blockSignals(True)
        self.methods.clear()
        for number, method in enumerate(METHODS[STREAMS[self.stream.currentIndex()].kind].values()):
            item = QListWidgetItem(method.label, self.methods)
            item.setData(_ID_ROLE, method.id)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if number < _CHECKED else Qt.CheckState.Unchecked)
        self.methods.blockSignals(False)

    def _take_view(self) -> None:
        view = self._mailbox.take()
        if view is not None and view.setup is self._setup:
            self.view = view
            self._draw()

    def _draw(self) -> None:
        view = self.view
        if view is None:
            return
        kind = view.setup.stream.kind
        if (len(view.learners), kind) != self._arranged:
            self._arranged = (len(view.learners), kind)
            self._arrange(len(view.learners))
        for surface, learner in zip(self.surfaces, view.learners, strict=True):
            surface.show_learner(view, learner)
        self.count.setText(f"{view.t} samples")
        labels = [learner.method.label for learner in view.learners]
        self.curves.set_names(labels, _COLOURS[: len(labels)])
        recent = self.measure.currentData() is ErrorCurve.RECENT
        scale = 100.0 if recent and view.setup.stream.kind is not Kind.REGRESSION else 1.0
        self.curves.set_label(
            "error" if view.setup.stream.kind is Kind.REGRESSION else "mistakes, %" if recent else "mistakes"
        )
        self.curves.show_curves(
            view.times, *(scale * (learner.recent_errors if recent else learner.errors) for learner in view.learners)
        )

    def _arrange(self, count: int) -> None:
        for surface in self.surfaces:
            self._grid.removeWidget(surface)
            surface.deleteLater()
        self.surfaces = [SurfaceView(self._theme) for _ in range(count)]
        flat = self._setup.stream.kind is Kind.REGRESSION
        columns = min(count, 2 if flat or count in (2, 4) else 3)
        for index, surface in enumerate(self.surfaces):
            self._grid.addWidget(surface, index // columns, index % columns)
        rows = -(-count // max(columns, 1))
        self._right.setStretch(0, 2 if rows == 1 else 3)

    def showEvent(self, a0: QShowEvent | None) -> None:
        self._thread.pause(self.pause.isChecked())
        super().showEvent(a0)

    def hideEvent(self, a0: QHideEvent | None) -> None:
        self._thread.pause(True)
        super().hideEvent(a0)

    def finish(self) -> None:
        """Stop learning for good."""
        self._thread.close()

    def closeEvent(self, a0: QCloseEvent | None) -> None:
        self._thread.pause(True)
        super().closeEvent(a0)
