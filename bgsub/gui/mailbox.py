"""Hand the newest item from one thread to another; at most one wake-up is pending."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Mailbox"]

T = TypeVar("T")


class Mailbox(Generic[T]):
    """Holds one item: a new one replaces an item that was not taken yet.

    A queued Qt signal per frame would grow without bound behind a slow window; here the window is woken at most once
    until it takes the item.

    Parameters
    ----------
    wake : callable
        Called by `put`, on the thread of the writer, when the box was empty before.

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
        """Items that were replaced before the reader took them."""
        return self._overwritten

    def put(self, item: T) -> None:
        """Replace the item in the box."""
        with self._lock:
            woken = self._item is not None
            self._overwritten += woken
            self._item = item
        if not woken:
            self._wake()

    def take(self) -> T | None:
        """Remove and return the item; None if the box is empty."""
        with self._lock:
            item, self._item = self._item, None
        return item
