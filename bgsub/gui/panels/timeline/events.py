"""The list of what happened: events and changes of the scene, to jump to and to export."""

from typing import get_args

from PyQt6.QtCore import QSignalBlocker, Qt
from PyQt6.QtGui import QShowEvent
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from bgsub.events import Event, SceneChange, Sensitivity
from bgsub.gui.engine.happenings.ahead import Happenings
from bgsub.gui.lookout import Lookout
from bgsub.gui.panels.timeline.seek_slider import clock
from bgsub.gui.session import Session
from bgsub.gui.widgets.dialogs import ask_folder

__all__ = ["EventsPanel"]

_HEADS = ("", "from", "length", "objects", "largest")
_SENSITIVITIES = {"low": "large, slow things", "normal": "normal", "high": "small, short things, too"}
_MOMENT = Qt.ItemDataRole.UserRole


class EventsPanel(QWidget):
    """Lists what was found ahead in the source, and goes there.

    Parameters
    ----------
    session : Session
        Shows the frames.
    lookout : Lookout
        Finds the events.
    """

    def __init__(self, session: Session, lookout: Lookout) -> None:
        super().__init__()
        self._session, self._lookout = session, lookout
        self._listed: Happenings | None = None
        self._current: int | None = None
        self.enabled = QCheckBox("Look for events ahead")
        self.enabled.setToolTip("Look through the whole source in the background, at a small size")
        self.enabled.toggled.connect(lookout.enable)
        self.marks = QCheckBox("Mark on the image")
        self.marks.setToolTip("Draw a dashed frame round the places of the event that goes on")
        self.marks.setChecked(True)
        self.marks.toggled.connect(lookout.changed)
        self.sensitivity = QComboBox()
        self.sensitivity.setToolTip("How small, short and slow an event may be")
        for name in get_args(Sensitivity):
            self.sensitivity.addItem(_SENSITIVITIES[name], name)
        self.sensitivity.currentIndexChanged.connect(lambda: lookout.choose_sensitivity(self.sensitivity.currentData()))
        self.state = QLabel()
        self.state.setWordWrap(True)
        self.state.setProperty("faint", True)
        self.list = QTreeWidget()
        self.list.setHeaderLabels(_HEADS)
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setToolTip("Click an event, or press Return on it, to go there")
        self.list.setAccessibleName("Events")
        header = self.list.header()
        if header is not None:
            header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.list.itemClicked.connect(self._go)
        self.list.itemActivated.connect(self._go)
        self.back = QPushButton("Previous")
        self.back.setToolTip("Go to the event before (Shift+N)")
        self.back.clicked.connect(lambda: lookout.go_on(-1))
        self.forward = QPushButton("Next")
        self.forward.setToolTip("Go to the next event (N)")
        self.forward.clicked.connect(lambda: lookout.go_on(1))
        self.export = QPushButton("Export…")
        self.export.setToolTip("Write events, pictures and a page to a folder, as `bgsub scan` does")
        self.export.clicked.connect(self._ask_folder)
        self._lay_out()
        lookout.changed.connect(self._show)
        session.viewed.connect(self._mark)
        self._show()

    def showEvent(self, a0: QShowEvent | None) -> None:
        super().showEvent(a0)
        self._mark()

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        choices = QHBoxLayout()
        choices.addWidget(self.enabled)
        choices.addStretch(1)
        choices.addWidget(self.sensitivity)
        buttons = QHBoxLayout()
        for button in (self.back, self.forward, self.export):
            buttons.addWidget(button)
        layout.addLayout(choices)
        layout.addWidget(self.marks)
        layout.addWidget(self.state)
        layout.addWidget(self.list, 1)
        layout.addLayout(buttons)

    def _show(self) -> None:
        lookout, found = self._lookout, self._lookout.happenings
        with QSignalBlocker(self.enabled), QSignalBlocker(self.sensitivity):
            self.enabled.setChecked(lookout.is_enabled)
            self.sensitivity.setCurrentIndex(self.sensitivity.findData(lookout.sensitivity))
        self.state.setText(self._describe(found))
        has_events = found is not None and bool(found.events)
        for button in (self.back, self.forward):
            button.setEnabled(has_events)
        self.export.setEnabled(found is not None and found.is_complete)
        before, self._listed = self._listed, found
        if (
            before is None
            or found is None
            or (len(before.events), len(before.changes))
            != (
                len(found.events),
                len(found.changes),
            )
        ):
            self._fill(found)

    def _describe(self, found: Happenings | None) -> str:
        if not self._lookout.is_enabled:
            return "Events are not looked for."
        if found is None:
            info = self._session.info
            if info is not None and (info.live or not info.count):
                return "What happens in a live source is not known ahead; bgsub watch reports it."
            return "Nothing was looked at yet."
        if found.failure:
            return f"The source could not be looked through: {found.failure}"
        events = f"{len(found.events)} event{'' if len(found.events) == 1 else 's'}"
        if found.is_complete:
            return f"{events} in {clock(found.seen_s)}."
        return f"{events} so far; looked at {clock(found.seen_s)} of {clock(found.length_s)}."

    def _fill(self, found: Happenings | None) -> None:
        self.list.clear()
        self._current = None
        if found is None:
            return
        events = [(event.start.time_s, _event_row(i + 1, event, found)) for i, event in enumerate(found.events)]
        changes = [(change.start.time_s, _change_row(change, found)) for change in found.changes]
        self.list.addTopLevelItems([row for _, row in sorted((*events, *changes), key=lambda pair: pair[0])])
        self._mark()

    def _go(self, row: QTreeWidgetItem) -> None:
        event = row.data(0, _MOMENT)
        if event is not None:
            self._lookout.go_to(event)

    def _mark(self) -> None:
        """Write the event that goes on in bold."""
        if not self.isVisible():
            return
        found = self._lookout.happenings
        here = None if found is None else found.event_at(self._session.view.time_s)
        if here == self._current or found is None:
            return
        self._current = here
        event = None if here is None else found.events[here]
        for index in range(self.list.topLevelItemCount()):
            row = self.list.topLevelItem(index)
            if row is not None:
                font = row.font(0)
                font.setBold(event is not None and row.data(0, _MOMENT) is event)
                for column in range(len(_HEADS)):
                    row.setFont(column, font)

    def _ask_folder(self) -> None:
        folder = ask_folder(self, "Folder for events, pictures and report")
        if folder is not None:
            self._lookout.export(folder)


def _event_row(number: int, event: Event, found: Happenings) -> QTreeWidgetItem:
    start = clock(found.since_begin_s(event.start.time_s))
    texts = (str(number), start, f"{event.duration_s:.1f} s", str(event.objects), f"{100 * event.share:.2g} %")
    row = QTreeWidgetItem(texts)
    row.setData(0, _MOMENT, event)
    return row


def _change_row(change: SceneChange, found: Happenings) -> QTreeWidgetItem:
    what = "light switched" if change.cause == "light" else "camera moved"
    row = QTreeWidgetItem(
        ("", clock(found.since_begin_s(change.start.time_s)), what, "", f"{100 * change.share:.2g} %")
    )
    row.setData(0, _MOMENT, change)
    return row
