"""Reopen a lost camera or stream, with growing pauses that a stop ends at once."""

import logging
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from bgsub.errors import SourceError

__all__ = ["Reconnector"]

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Reconnector(Generic[T]):
    """Repeat `opener` until it succeeds, is stopped, or has failed too often in a row.

    Parameters
    ----------
    name : str
        Name of the source in messages, without credentials.
    opener : callable
        Returns the opened source or raises SourceError.
    limit : int
        Attempts in a row, without a frame between them, before giving up.
    stop : threading.Event
        Ends every pause at once.
    wait : callable, optional
        Waits the given seconds and returns whether to stop; tests pass one that returns at once.

    Raises
    ------
    ValueError
        If the limit is negative.

    Examples
    --------
    >>> import threading
    >>> pauses = []
    >>> link = Reconnector("camera:0", lambda: "open", 3, threading.Event(), lambda s: bool(pauses.append(s)))
    >>> link.reopen("unplugged"), link.reopen("unplugged"), pauses
    ('open', 'open', [0.5, 1.0])
    """

    FIRST_PAUSE_S = 0.5
    LONGEST_PAUSE_S = 10.0

    def __init__(
        self,
        name: str,
        opener: Callable[[], T],
        limit: int,
        stop: threading.Event,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        if limit < 0:
            raise ValueError(f"reconnects must not be negative, got {limit}")
        self._name = name
        self._opener = opener
        self._limit = limit
        self._stop = stop
        self._wait = stop.wait if wait is None else wait
        self._attempts = 0
        self.trouble: str | None = None
        """Report of the loss and its reason, None while connected; may be read by any thread."""

    def succeeded(self) -> None:
        """Record that a frame arrived: the next loss starts with a short pause and all attempts."""
        self._attempts = 0
        self.trouble = None

    def reopen(self, reason: str) -> T | None:
        """Return the reopened source, or None when stopped.

        Raises
        ------
        SourceError
            If every attempt failed.
        """
        logger.warning("%s is lost (%s); connecting again", self._name, reason)
        self.trouble = f"{self._name} is lost ({reason}); connecting again"
        while self._attempts < self._limit:
            pause_s = min(self.FIRST_PAUSE_S * 2**self._attempts, self.LONGEST_PAUSE_S)
            self._attempts += 1
            if self._wait(pause_s) or self._stop.is_set():
                return None
            try:
                return self._opener()
            except SourceError as error:
                reason = str(error)
                logger.info("attempt %d of %d: %s", self._attempts, self._limit, reason)
                self.trouble = f"{self._name} is lost; attempt {self._attempts + 1} to connect again follows"
        if self._stop.is_set():
            return None
        raise SourceError(
            f"{self._name} is lost, {self._limit} attempts to connect again failed ({reason}); check device and network"
        )
