"""Events of a live source while it runs."""

import datetime
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from bgsub.errors import BgsubError
from bgsub.events import Event, SceneChange
from bgsub.frames import Result
from bgsub.gui.events.finder import EventFinder, EventSearch, Found

__all__ = ["LiveEvents", "LiveFound"]

_MOST_EVENTS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class LiveFound(Found):
    """What happened since a live source was opened."""

    active: tuple[str, ...] = ()
    """Names of the regions in which something moves at present; the empty name is the whole frame."""
    since_s: float | None = None
    """Since when, after the first frame."""
    opened_at_s: float = 0.0
    """`time.time()` of the first frame."""

    def time_of_day(self, time_s: float) -> str:
        """Return the time of day of a time since the first frame, as HH:MM:SS.

        Examples
        --------
        >>> len(LiveFound().time_of_day(3.0))
        8
        """
        return datetime.datetime.fromtimestamp(self.opened_at_s + time_s).astimezone().strftime("%H:%M:%S")


class LiveEvents:
    """Finds events in the results of a live source, as `bgsub watch` does.

    Parameters
    ----------
    refuse : callable
        Receives the error, and the search, if the regions do not fit the frames.
    """

    def __init__(self, refuse: Callable[[Exception, object], None]) -> None:
        self._refuse = refuse
        self._search: EventSearch | None = None
        self._finder: EventFinder | None = None
        self._shape: tuple[int, ...] = ()
        self._time_s = -1.0
        self.found: LiveFound | None = None
        """So far; None while nothing is looked for. It is replaced when it changes."""

    @property
    def is_on(self) -> bool:
        """Whether events are looked for."""
        return self._search is not None

    def use(self, search: EventSearch | None) -> None:
        """Look for other events from now on, or for none; those found before stay."""
        if search == self._search:
            return
        self.finish()
        self._search, self._finder = search, None
        self.found = None if search is None else self.found or LiveFound()

    def clear(self) -> None:
        """Forget everything, for another source."""
        self._finder, self._time_s = None, -1.0
        self.found = None if self._search is None else LiveFound()

    def see(self, result: Result, time_s: float) -> bool:
        """Take the next result, at a time since the first frame; return whether more is known now."""
        before = self.found
        if self._search is None or before is None or time_s <= self._time_s:
            return False
        if self._finder is None or result.mask.shape != self._shape:
            self.finish()
            self._finder, self._shape = EventFinder(self._search), result.mask.shape
        try:
            observation = self._finder.measure(result, time_s)
        except (BgsubError, ValueError) as error:
            self._refuse(error, self._search)
            return False
        self._time_s = time_s
        self._note(self._finder, self._finder.see(observation, result))
        return self.found is not before

    def finish(self) -> None:
        """Report what goes on as over: the source delivers nothing any more."""
        if self._finder is not None:
            self._note(self._finder, self._finder.finish())

    def _note(self, finder: EventFinder, new: list[Event | SceneChange]) -> None:
        found = self.found
        if found is None:
            return
        pictures = finder.take_pictures(new, self._time_s)
        if new:
            found = found.with_more(new, pictures, _MOST_EVENTS)
        if new or finder.active != found.active:
            began_s = time.time() - self._time_s
            found = replace(found, active=finder.active, since_s=finder.since_s, opened_at_s=began_s)
        self.found = found
