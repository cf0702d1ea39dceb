"""One thread at a time: a guard for objects with a state that two threads would ruin."""

import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

from bgsub.errors import ConcurrencyError

__all__ = ["Exclusive", "exclusive"]

_Method = TypeVar("_Method", bound=Callable[..., Any])


class Exclusive:
    """An object whose methods marked by `exclusive` refuse a second thread while they run."""

    def __init__(self) -> None:
        self._in_use = threading.RLock()  # they may call each other


def exclusive(method: _Method) -> _Method:
    """Let a method of an `Exclusive` object raise ConcurrencyError if another thread is in such a method of it.

    It never waits: threads that share a model without a rule would get results that depend on chance. The check takes
    about a microsecond.

    Examples
    --------
    >>> class Counter(Exclusive):
    ...     count = 0
    ...
    ...     @exclusive
    ...     def add(self, number):
    ...         self.count += number
    >>> counter = Counter()
    >>> counter.add(2)
    >>> counter.count
    2
    """

    @functools.wraps(method)
    def guarded(self: Exclusive, *arguments: Any, **named: Any) -> Any:
        if not self._in_use.acquire(blocking=False):
            raise ConcurrencyError(
                f"{type(self).__name__}.{method.__name__} was called while another thread uses the same object; "
                "use one object per thread, or a lock around every call"
            )
        try:
            return method(self, *arguments, **named)
        finally:
            self._in_use.release()

    return cast(_Method, guarded)
