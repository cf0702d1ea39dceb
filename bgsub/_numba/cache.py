"""The cache of compiled functions on disk, which may save time but never stops a run.

It is numba's own, with its errors caught: numba raises them where a function is called, so that a full disk or a file
that a power failure cut off would end every run.
"""

import importlib.util
import logging
from functools import cache
from typing import Any

import numba

from bgsub._numba import compiling

__all__ = ["enable_cache"]

logger = logging.getLogger(__name__)


def _make_cache_classes() -> tuple[Any, Any]:
    """Return a cache class that reports errors and counts them as misses, and one that keeps nothing.

    Both note when loading or compiling begins and ends: numba asks its cache before, and fills it after. The names of
    their bases are private.
    """
    from numba.core.caching import FunctionCache, NullCache
    from numba.core.runtime.nrt import rtsys

    class ForgivingCache(FunctionCache):
        def load_overload(self, sig: Any, target_context: Any) -> Any:
            compiling.begin()
            _prepare_loading()
            found = self._load(sig, target_context)
            if found is None:
                compiling.report_miss(self._py_func.__name__)
            else:
                compiling.end()
            return found

        def _load(self, sig: Any, target_context: Any) -> Any:
            try:
                # Numba would refresh the context here, which imports and registers all that its compiler knows, and
                # takes longer than to load the functions. Machine code needs its runtime alone; where a function must
                # be compiled, the compiler refreshes the context itself.
                rtsys.initialize(target_context)
                with self._guard_against_spurious_io_errors():
                    return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
                return None
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
            finally:
                compiling.end()

    class NoCache(NullCache):
        def __init__(self, function: Any) -> None:
            super().__init__()
            self._name = function.__name__

        def load_overload(self, sig: Any, target_context: Any) -> None:
            compiling.begin()
            _prepare_loading()
            compiling.report_miss(self._name)

        def save_overload(self, sig: Any, data: Any) -> None:
            compiling.end()

    return ForgivingCache, NoCache


@cache
def _prepare_loading() -> None:
    """Import what numba's code for arrays needs, but not the linear algebra of SciPy before anything uses it.

    Numba imports that, which takes a quarter of a second, only to see whether it is there, and looks again for each
    function that uses it. Nothing else changes where this version of numba has other names.
    """
    try:
        from numba.np import linalg

        names: Any = linalg
        check = names.ensure_blas
    except (ImportError, AttributeError) as error:
        logger.debug("numba %s imports SciPy before it loads compiled code (%s)", numba.__version__, error)
        return
    if importlib.util.find_spec("scipy") is None:
        return
    names.ensure_blas = lambda: None
    try:
        from numba.np import arraymath

        arraymath.ensure_blas = check  # type: ignore[attr-defined]
    finally:
        names.ensure_blas = check


@cache
def _cache_classes() -> tuple[Any, Any] | None:
    """Return the cache classes, or None where this version of numba has no such names."""
    try:
        return _make_cache_classes()
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
    kinds = _cache_classes()
    if kinds is None:
        return
    kind, uncached = kinds
    if not hasattr(dispatcher, "_cache"):
        _warn_of_no_cache("the cache of a dispatcher")
        return
    try:
        dispatcher._cache = kind(dispatcher.py_func)
    except (RuntimeError, OSError) as error:  # no writable folder: each process compiles for itself
        dispatcher._cache = uncached(dispatcher.py_func)
        logger.debug("compiled code is not cached (%s)", error)
