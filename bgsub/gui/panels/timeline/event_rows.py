"""Rows of the list of events, with their pictures."""

import base64
from collections.abc import Callable, Iterable

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtGui import QIcon, QPixmap
from PyQt6.QtWidgets import QTreeWidgetItem

from bgsub.events import Event, SceneChange
from bgsub.gui.engine.happenings.ahead import Happenings
from bgsub.gui.events.finder import Found
from bgsub.gui.events.live import LiveFound
from bgsub.gui.panels.timeline.seek_slider import clock

__all__ = ["HEADS", "ICON_SIZE", "MOMENT", "EventRows"]

HEADS = ("", "from", "length", "objects", "largest")
MOMENT = Qt.ItemDataRole.UserRole
"""Where a row keeps its event or change of the scene."""
ICON_SIZE = QSize(72, 48)


class EventRows:
    """Makes rows, and keeps the icons of events that are listed again and again."""

    def __init__(self) -> None:
        self._icons: dict[Event, QIcon] = {}

    def ahead(self, found: Happenings) -> list[QTreeWidgetItem]:
        """Return the rows of what was found ahead, in the order of the source."""
        return self._rows(found, lambda time_s: clock(found.since_begin_s(time_s)))

    def live(self, found: LiveFound) -> list[QTreeWidgetItem]:
        """Return the rows of what has happened so far, the newest first, with times of day."""
        rows = self._rows(found, found.time_of_day)[::-1]
        if not found.active:
            return rows
        since = "" if found.since_s is None else found.time_of_day(found.since_s)
        return [QTreeWidgetItem((" ".join(("now", *filter(None, found.active))), since, "goes on", "", "")), *rows]

    def _rows(self, found: Found, time_text: Callable[[float], str]) -> list[QTreeWidgetItem]:
        self._keep(found.events)
        events = [
            (event.start.time_s, self._event(index, event, found, time_text))
            for index, event in enumerate(found.events, 1)
        ]
        changes = [(change.start.time_s, _change(change, time_text)) for change in found.changes]
        return [row for _, row in sorted((*events, *changes), key=lambda pair: pair[0])]

    def _event(self, number: int, event: Event, found: Found, time_text: Callable[[float], str]) -> QTreeWidgetItem:
        name = f"{number} {event.region}" if event.region else str(number)
        start = time_text(event.start.time_s)
        texts = (name, start, f"{event.duration_s:.1f} s", str(event.objects), f"{100 * event.share:.2g} %")
        row = QTreeWidgetItem(texts)
        row.setData(0, MOMENT, event)
        picture = found.pictures.get(event)
        if picture is not None:
            row.setIcon(0, self._icon(event, picture))
            image = f'<img src="data:image/jpeg;base64,{base64.b64encode(picture).decode()}">'
            for column in range(len(HEADS)):
                row.setToolTip(column, image)
        return row

    def _icon(self, event: Event, picture: bytes) -> QIcon:
        if event not in self._icons:
            pixmap = QPixmap()
            pixmap.loadFromData(picture, "JPEG")
            self._icons[event] = QIcon(pixmap)
        return self._icons[event]

    def _keep(self, events: Iterable[Event]) -> None:
        """Forget the icons of other events."""
        here = set(events)
        self._icons = {event: icon for event, icon in self._icons.items() if event in here}


def _change(change: SceneChange, time_text: Callable[[float], str]) -> QTreeWidgetItem:
    what = "light switched" if change.cause == "light" else "camera moved"
    row = QTreeWidgetItem(("", time_text(change.start.time_s), what, "", f"{100 * change.share:.2g} %"))
    row.setData(0, MOMENT, change)
    return row
