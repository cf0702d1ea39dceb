"""The list of what happened: events and changes of the scene, to jump to and to export."""

from typing import get_args

from PyQt6.QtCore import QSignalBlocker
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
from bgsub.gui.events.live import LiveFound
from bgsub.gui.lookout import Lookout
from bgsub.gui.messages import Level
from bgsub.gui.panels.timeline.event_rows import HEADS, ICON_SIZE, MOMENT, EventRows
from bgsub.gui.panels.timeline.moment_dialog import MomentDialog
from bgsub.gui.panels.timeline.seek_slider import clock
from bgsub.gui.session import Session
from bgsub.gui.widgets.dialogs import ask_folder

__all__ = ["EventsPanel"]

_SENSITIVITIES = {"low": "large, slow things", "normal": "normal", "high": "small, short things, too"}


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
        self._rows = EventRows()
        self._listed: tuple[object, ...] = ()
        self._current: int | None = None
        self._wanted: Event | SceneChange | None = None
        """What the user wants to see again, of a live source."""
        self.picture: MomentDialog | None = None
        """The picture that was shown last."""
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
        self.list.setHeaderLabels(HEADS)
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setIconSize(ICON_SIZE)
        self.list.setAccessibleName("Events")
        self.list.setToolTip("What happened; click an event, or press Return on it, to go to its peak")
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
        session.moment.connect(self._show_picture)
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
        lookout, found, live = self._lookout, self._lookout.happenings, self._lookout.live
        with QSignalBlocker(self.enabled), QSignalBlocker(self.sensitivity):
            self.enabled.setChecked(lookout.is_enabled)
            self.sensitivity.setCurrentIndex(self.sensitivity.findData(lookout.sensitivity))
        self.state.setText(self._describe(found) if live is None else self._describe_live(live))
        self.list.setAccessibleDescription(self.state.text())  # which Qt reports to screen readers
        has_events = found is not None and bool(found.events)
        for button in (self.back, self.forward):
            button.setEnabled(has_events)
        self.export.setEnabled(found is not None and found.is_complete)
        shown = found if live is None else live
        listed = () if shown is None else (shown.events, shown.changes, () if live is None else live.active)
        if listed != self._listed:
            self._listed = listed
            self._fill(found, live)

    def _describe(self, found: Happenings | None) -> str:
        if not self._lookout.is_enabled:
            return "Events are not looked for."
        if found is None:
            info = self._session.info
            if info is not None and (info.live or not info.count):
                return "Nothing has happened yet." if info.live else "The length of the source is not known."
            return "Nothing was looked at yet."
        if found.failure:
            return f"The source could not be looked through: {found.failure}"
        events = f"{len(found.events)} event{'' if len(found.events) == 1 else 's'}"
        if found.is_complete:
            return f"{events} in {clock(found.seen_s)}."
        return f"{events} so far; looked at {clock(found.seen_s)} of {clock(found.length_s)}."

    def _describe_live(self, live: LiveFound) -> str:
        if not live.events and not live.active:
            return "Nothing has happened yet."
        events = f"{len(live.events)} event{'' if len(live.events) == 1 else 's'} so far"
        return f"{events}; something moves now." if live.active else f"{events}."

    def _fill(self, found: Happenings | None, live: LiveFound | None) -> None:
        self.list.clear()
        self._current = None
        if live is not None:
            self.list.addTopLevelItems(self._rows.live(live))
        elif found is not None:
            self.list.addTopLevelItems(self._rows.ahead(found))
            self._mark()

    def _go(self, row: QTreeWidgetItem) -> None:
        event = row.data(0, MOMENT)
        if event is None:
            return
        if self._lookout.live is None:
            self._lookout.go_to(event)
        else:
            self._wanted = event
            self._session.show_moment(_moment_s(event))

    def _show_picture(self, elapsed_s: float, is_shown: bool) -> None:
        """Show the picture of an event of a live source whose frames are gone."""
        event, self._wanted = self._wanted, None
        live = self._lookout.live
        if event is None or elapsed_s != _moment_s(event) or live is None:
            return
        if is_shown:
            text = "The frame is held as it was detected; playing goes on with the present."
            self._session.notify(Level.INFO, text)
        else:
            self._session.play()
            picture = live.pictures.get(event) if isinstance(event, Event) else None
            self.picture = MomentDialog(self, live.time_of_day(event.start.time_s), picture)
            self.picture.show()

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
                font.setBold(event is not None and row.data(0, MOMENT) is event)
                for column in range(len(HEADS)):
                    row.setFont(column, font)

    def _ask_folder(self) -> None:
        folder = ask_folder(self, "Folder for events, pictures and report")
        if folder is not None:
            self._lookout.export(folder)


def _moment_s(event: Event | SceneChange) -> float:
    """Return the time since the first frame that shows best what happened."""
    return event.peak.time_s if isinstance(event, Event) else event.start.time_s
