"""One-line notices for the user."""

import logging
from collections.abc import Callable

from bgsub.errors import BgsubError
from bgsub.gui.messages import Event, Level, Notice

__all__ = ["Notices", "describe"]

logger = logging.getLogger(__name__)


class Notices:
    """Sends notices, and other events, to the window.

    Parameters
    ----------
    send : callable
        Receives each `Event`.
    """

    def __init__(self, send: Callable[[Event], None]) -> None:
        self.send = send
        """Receives any event."""
        self._refused: tuple[object, object] = (None, None)

    def info(self, text: str) -> None:
        """Report a success."""
        self.send(Notice(Level.INFO, text))

    def warn(self, text: str) -> None:
        """Report something the user may not expect."""
        self.send(Notice(Level.WARNING, text))

    def error(self, error: Exception, *, can_retry: bool = False) -> None:
        """Report an error; an unexpected one with its type."""
        logger.debug("%s", error, exc_info=error)
        self.send(Notice(Level.ERROR, describe(error), can_retry))

    def lose_detector(self, error: Exception) -> None:
        """Report that a detector cannot go on."""
        logger.debug("the detector failed", exc_info=error)
        text = f"The detector failed ({describe(error)}); reset it, change it or choose another."
        self.send(Notice(Level.ERROR, text))

    def refuse(self, error: Exception, setting: object) -> None:
        """Report once that a setting cannot be used, though it fails with every frame."""
        if not any(setting is known for known in self._refused):
            self._refused = self._refused[1], setting
            self.error(error)


def describe(error: Exception) -> str:
    """Return an error as one line."""
    known = isinstance(error, BgsubError | ValueError)
    text = str(error) if known else f"unexpected {type(error).__name__}: {error}"
    return " ".join(text.split())
