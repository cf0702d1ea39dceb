"""What happens in the source that is open, looked for in the background while the window shows it."""

from dataclasses import replace
from pathlib import Path

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from bgsub.events import Event, EventRules, SceneChange, Sensitivity
from bgsub.gui.engine.happenings.ahead import Ahead, Happenings, Task
from bgsub.gui.engine.happenings.export import Export
from bgsub.gui.events.finder import EventSearch
from bgsub.gui.events.live import LiveFound
from bgsub.gui.mailbox import Mailbox
from bgsub.gui.messages import DEFAULT_RATE_HZ, Level
from bgsub.gui.session import Session

__all__ = ["Lookout"]

_PATIENCE_MS = 1500
"""Time without another change of settings after which a source is looked through again."""


class Lookout(QObject):
    """Looks through the source of a session, again after each change of detector or region.

    What happens in live sources is not known ahead: there the session looks for events while it plays. Other sources of
    unknown length are left out.

    Parameters
    ----------
    session : Session
        Opens the source.
    enabled : bool
        Whether to look.
    """

    changed = pyqtSignal()
    """There are other `happenings`, or the choices changed."""
    _ready = pyqtSignal()
    _written = pyqtSignal(str)

    def __init__(self, session: Session, *, enabled: bool = True) -> None:
        super().__init__()
        self._session = session
        self._enabled = enabled or session.settings.event_search is not None
        self._sensitivity: Sensitivity = "normal"
        self._found: Happenings | None = None
        self._live: LiveFound | None = None
        self._put_away: EventSearch | None = None
        self._task: Task | None = None
        self._threads: list[Ahead] = []
        self._export: Export | None = None
        self._folder = Path()
        self._mailbox: Mailbox[Happenings] = Mailbox(self._ready.emit)
        self._ready.connect(self._take)
        self._written.connect(self._report)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PATIENCE_MS)
        self._timer.timeout.connect(self._begin)
        session.opened.connect(self._search)
        session.opened.connect(self._begin)
        session.changed.connect(self._wait)
        session.viewed.connect(self._take_live)

    @property
    def happenings(self) -> Happenings | None:
        """What was found so far; None if nothing is looked for."""
        return self._found

    @property
    def live(self) -> LiveFound | None:
        """What happened in a live source while it was shown; None if nothing is looked for."""
        return self._live

    @property
    def is_enabled(self) -> bool:
        """Whether sources are looked through."""
        return self._enabled

    @property
    def sensitivity(self) -> Sensitivity:
        """How small, short and slow an event may be."""
        return self._sensitivity

    def enable(self, on: bool) -> None:
        """Begin or stop to look through sources."""
        self._enabled = on
        self._search()
        self._begin()

    def choose_sensitivity(self, sensitivity: Sensitivity) -> None:
        """Look for smaller or larger events."""
        self._sensitivity = sensitivity
        rules = EventRules.from_sensitivity(sensitivity)
        self._put_away = None if self._put_away is None else replace(self._put_away, rules=rules)
        search = self._session.settings.event_search
        if search is not None:
            self._session.change(event_search=replace(search, rules=rules))
        self._begin()

    def go_to(self, event: Event | SceneChange) -> None:
        """Show the first frame of an event or of a change of the scene."""
        if self._found is not None and self._session.info is not None:
            rate_hz = self._session.info.rate_hz or DEFAULT_RATE_HZ
            self._session.seek(round(self._found.since_begin_s(event.start.time_s) * rate_hz))

    def go_on(self, by: int) -> None:
        """Go to the next (1) or previous (-1) event, from the frame shown."""
        if self._found is None or not self._found.events:
            self._session.notify(Level.INFO, "No event is known yet.")
            return
        here_s = self._session.view.time_s
        starts = [(self._found.since_begin_s(event.start.time_s), event) for event in self._found.events]
        margin_s = 0.5 / (self._found.file.rate_hz or DEFAULT_RATE_HZ)
        if by > 0:
            later = [event for start_s, event in starts if start_s > here_s + margin_s]
            self.go_to(later[0] if later else starts[0][1])
        else:
            earlier = [event for start_s, event in starts if start_s < here_s - margin_s]
            self.go_to(earlier[-1] if earlier else starts[-1][1])

    def export(self, folder: Path) -> None:
        """Write what was found to a folder, as `bgsub scan` does, in the background."""
        if self._found is None or self._export is not None:
            return
        self._folder = folder
        self._export = Export(self._found, folder, self._written.emit)

    def close(self) -> None:
        """End all threads."""
        self._timer.stop()
        self._end()
        for thread in self._threads:
            thread.close()
        if self._export is not None:
            self._export.close()

    def _search(self) -> None:
        """Let the session look for events while a live source plays, by the rules that it had if it had any."""
        info, present = self._session.info, self._session.settings.event_search
        self._put_away = present or self._put_away
        if not self._enabled:
            self._session.change(event_search=None)
        elif info is not None and info.live and present is None:
            search = self._put_away or EventSearch(EventRules.from_sensitivity(self._sensitivity))
            self._session.change(event_search=search)

    def _take_live(self) -> None:
        live = self._session.view.live
        if live is not self._live:
            self._live = live
            self.changed.emit()

    def _wanted(self) -> Task | None:
        session, info = self._session, self._session.info
        if not self._enabled or info is None or info.live or not info.count:
            return None
        settings = session.settings
        return Task(session.source, settings.config, settings.region, self._sensitivity)

    def _wait(self) -> None:
        if self._task is not None and self._wanted() not in (None, self._task):
            self._timer.start()

    def _begin(self) -> None:
        wanted = self._wanted()
        if wanted is not None and wanted == self._task and self._found is not None:
            return
        self._timer.stop()
        self._end()
        self._found, self._task = None, wanted
        self.changed.emit()
        if wanted is not None:
            self._threads.append(Ahead(wanted, self._session.opener, self._mailbox.put))

    def _end(self) -> None:
        for thread in self._threads:
            thread.ask_to_end()
        self._threads = [thread for thread in self._threads if thread.is_alive]

    def _take(self) -> None:
        found = self._mailbox.take()
        if found is not None and found.task is self._task:
            self._found = found
            self.changed.emit()

    def _report(self, failure: str) -> None:
        if self._export is not None:
            self._export.close()
            self._export = None
        if failure:
            self._session.notify(Level.ERROR, failure)
        else:
            self._session.notify(Level.INFO, f"The events were written to {self._folder}; report.html shows them all.")
