"""The cache of compiled functions on disk, which may save time but never stops a run.

It is numba's own, with its errors caught: numba raises them where a function is called, so that a full disk or a file
that a power failure cut off would end every run.
"""

import logging
from functools import cache
from typing import Any

import numba

__all__ = ["enable_cache"]

logger = logging.getLogger(__name__)


def _make_cache_class() -> Any:
    """Return a cache class that reports errors and counts them as misses; the names of its base are private."""
    from numba.core.caching import FunctionCache

    class ForgivingCache(FunctionCache):
        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
            except Exception as error:  # noqa: BLE001 - damaged pickles raise anything
                _warn("read", self.cache_path, error)
            try:
                self.flush()  # type: ignore[no-untyped-call]  # else the damaged index could never be added to
            except OSError as error:
                logger.debug("cannot replace the index in %s (%s)", self.cache_path, error)
            return None

        def save_overload(self, sig: Any, data: Any) -> None:
            try:
                super().save_overload(sig, data)  # type: ignore[no-untyped-call]
            except Exception as error:  # noqa: BLE001 - as above
                _warn("write", self.cache_path, error)

    return ForgivingCache


@cache
def _cache_class() -> Any:
    """Return the cache class, or None where this version of numba has no such names."""
    try:
        return _make_cache_class()
    except (ImportError, AttributeError, TypeError) as error:
        _warn_of_no_cache(str(error))
        return None


@cache
def _warn_of_no_cache(missing: str) -> None:
    logger.warning("this version of numba (%s) lacks %s: each process compiles again", numba.__version__, missing)


_warned: list[str] = []


def _warn(verb: str, folder: str, error: Exception) -> None:
    """Log the first error of the process as a warning: one full disk fails each of some thirty functions."""
    reason = " ".join(str(error).split()) or type(error).__name__
    logger.log(
        logging.DEBUG if _warned else logging.WARNING,
        "cannot %s the cache of compiled code in %s (%s); it is compiled again, which takes longer",
        verb,
        folder,
        reason,
    )
    _warned.append(folder)


def enable_cache(dispatcher: Any) -> None:
    """Let a compiled function be cached on disk, where a folder for that is writable."""
    kind = _cache_class()
    if kind is None:
        return
    if not hasattr(dispatcher, "_cache"):
        _warn_of_no_cache("the cache of a dispatcher")
        return
    try:
        dispatcher._cache = kind(dispatcher.py_func)
    except (RuntimeError, OSError) as error:  # no writable folder: each process compiles for itself
        logger.debug("compiled code is not cached (%s)", error)
