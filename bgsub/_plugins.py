"""Classes by name: built-in ones, and those of other packages by the entry points of a group.

The groups are `bgsub.detectors`, `bgsub.sources` and `bgsub.sinks`.
"""

import functools
import importlib
import inspect
import logging
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from bgsub.errors import DependencyError

__all__ = ["Registry", "find_plugins", "load_plugin", "warn_once"]

logger = logging.getLogger(__name__)

T = TypeVar("T")


@functools.cache
def warn_once(message: str) -> None:
    """Log a warning, once however often it is due."""
    logger.warning("%s", message)


@functools.cache
def find_plugins(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name; none is imported. Of two with one name the first found counts."""
    found: dict[str, EntryPoint] = {}
    try:
        entries = entry_points(group=group)
    except Exception as error:  # noqa: BLE001 - one package with damaged metadata makes the whole search fail
        warn_once(f"cannot read the entry points of installed packages ({error}); only built-in kinds are available")
        return found
    for entry in entries:
        found.setdefault(entry.name, entry)
    return found


def load_plugin(entry: EntryPoint) -> Any:
    """Import the object that an entry point names.

    Raises
    ------
    DependencyError
        If that fails, naming the package that brought it.
    """
    try:
        return entry.load()
    except (Exception, SystemExit) as error:
        raise _broken(entry, str(error) or type(error).__name__) from error


def _broken(entry: EntryPoint, reason: str) -> DependencyError:
    package = entry.dist.name if entry.dist is not None else entry.value
    return DependencyError(
        f"cannot load {entry.name} of the package {package} ({reason}); update or uninstall that package"
    )


class Registry(Generic[T]):
    """The classes of one kind by name, each imported when it is first asked for.

    A built-in name cannot be taken by another package.

    Parameters
    ----------
    group : str
        Group of the entry points by which other packages add classes.
    base : type
        Base of all of them.
    built_in : mapping of str to str
        Names and ``"module:Class"`` of those in this package, in the order in which they are listed.

    Examples
    --------
    >>> from fractions import Fraction
    >>> numbers = Registry("example.numbers", object, {"fraction": "fractions:Fraction"})
    >>> numbers.load("fraction") is Fraction
    True
    """

    def __init__(self, group: str, base: type[T], built_in: Mapping[str, str]) -> None:
        self.group = group
        self._base = base
        self.built_in = dict(built_in)

    def names(self) -> list[str]:
        """Return the names, those of this package first; nothing is imported."""
        others = find_plugins(self.group)
        for name in self.built_in:
            if name in others:
                warn_once(
                    f"{others[name].value} is not used: {name} of {self.group} is built in; rename that entry point"
                )
        return [*self.built_in, *(name for name in others if name not in self.built_in)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def __contains__(self, name: object) -> bool:
        return name in self.names()

    def __repr__(self) -> str:
        return f"<{self.group}: {', '.join(self)}>"

    def load(self, name: str) -> type[T]:
        """Return the class of a name.

        Raises
        ------
        ValueError
            If there is no such name.
        DependencyError
            If the class of another package cannot be imported, or is not of this kind.
        """
        if name in self.built_in:
            module, _, attribute = self.built_in[name].partition(":")
            kind: type[T] = getattr(importlib.import_module(module), attribute)
            return kind
        entry = find_plugins(self.group).get(name)
        if entry is None:
            raise ValueError(f"name must be one of {', '.join(self.names())}, got {name!r}")
        found = load_plugin(entry)
        if not (isinstance(found, type) and issubclass(found, self._base)):
            raise _broken(entry, f"it is not a subclass of {self._base.__name__}")
        if inspect.isabstract(found):
            raise _broken(
                entry, f"it does not implement {', '.join(sorted(getattr(found, '__abstractmethods__', ())))}"
            )
        own = getattr(found, "name", name)
        if isinstance(own, str) and own != name:
            raise _broken(entry, f"it calls itself {own}")
        return found

    def items(self) -> Iterator[tuple[str, type[T]]]:
        """Yield each name with its class, imported as the loop reaches it; broken ones of other packages are skipped.

        Skipping is logged as a warning, once: another package must not break those that are built in.
        """
        for name in self.names():
            try:
                kind = self.load(name)
            except DependencyError as error:
                if name in self.built_in:
                    raise
                warn_once(str(error))
                continue
            yield name, kind

    def available(self) -> list[str]:
        """Return the names of the classes that can be imported."""
        return list(dict(self.items()))

    def values(self) -> Iterator[type[T]]:
        """Yield the classes alone."""
        return (kind for _, kind in self.items())
