"""Tell the window what happened: notices of what went well or wrong, in one line each."""

import logging
from collections.abc import Callable

from bgsub.errors import BgsubError
from bgsub.gui.messages import Event, Level, Notice

__all__ = ["Teller"]

logger = logging.getLogger(__name__)


class Teller:
    """Makes notices.

    Parameters
    ----------
    tell : callable
        Takes each event.
    """

    def __init__(self, tell: Callable[[Event], None]) -> None:
        self.tell = tell
        """Takes any event."""
        self._refused: tuple[object, object] = (None, None)

    def inform(self, text: str) -> None:
        """Tell of something that went well."""
        self.tell(Notice(Level.INFO, text))

    def warn(self, text: str) -> None:
        """Tell of something a person may not expect."""
        self.tell(Notice(Level.WARNING, text))

    def complain(self, error: Exception, *, can_retry: bool = False) -> None:
        """Tell of an error; one that is no error of ours by its kind too."""
        logger.debug("%s", error, exc_info=error)
        self.tell(Notice(Level.ERROR, describe(error), can_retry))

    def refuse(self, error: Exception, setting: object) -> None:
        """Complain of a setting once, though every frame meets it."""
        if not any(setting is known for known in self._refused):
            self._refused = self._refused[1], setting
            self.complain(error)


def describe(error: Exception) -> str:
    """Return an error as one line."""
    known = isinstance(error, BgsubError | ValueError)
    text = str(error) if known else f"unexpected {type(error).__name__}: {error}"
    return " ".join(text.split())
