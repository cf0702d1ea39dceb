"""What other packages add: entry points of the groups `bgsub.detectors`, `bgsub.sources` and `bgsub.sinks`."""

import functools
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from bgsub.errors import DependencyError

__all__ = ["find_plugins", "load_plugin"]


@functools.cache
def find_plugins(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name; none is imported. Of two with one name the first found counts."""
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        found.setdefault(entry.name, entry)
    return found


def load_plugin(entry: EntryPoint) -> Any:
    """Import what an entry point names.

    Raises
    ------
    DependencyError
        If that fails, naming the package that brought it.
    """
    try:
        return entry.load()
    except Exception as error:
        package = entry.dist.name if entry.dist is not None else entry.value
        reason = str(error) or type(error).__name__
        raise DependencyError(
            f"cannot load {entry.name} of the package {package} ({reason}); update or uninstall that package"
        ) from error
