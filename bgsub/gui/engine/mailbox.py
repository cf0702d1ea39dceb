"""A place for one thing: the newest wins, and at most one wake-up waits."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Mailbox"]

T = TypeVar("T")


class Mailbox(Generic[T]):
    """Hand the newest of many things from one thread to another.

    A queued Qt signal with each frame grows without bound behind a slow window; here the window is woken at most
    once until it has looked.

    Parameters
    ----------
    wake : callable
        Called by `put`, on the thread of the writer, when the reader must be told that there is something.

    Examples
    --------
    >>> calls = []
    >>> box = Mailbox(lambda: calls.append("wake"))
    >>> box.put(1)
    >>> box.put(2)
    >>> box.take(), box.take(), box.overwritten, calls
    (2, None, 1, ['wake'])
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._item: T | None = None
        self._overwritten = 0

    @property
    def overwritten(self) -> int:
        """How many things were replaced before anybody took them."""
        return self._overwritten

    def put(self, item: T) -> None:
        """Replace what is in the box."""
        with self._lock:
            woken = self._item is not None
            self._overwritten += woken
            self._item = item
        if not woken:
            self._wake()

    def take(self) -> T | None:
        """Take what is in the box; None if it is empty."""
        with self._lock:
            item, self._item = self._item, None
        return item
