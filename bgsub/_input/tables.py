"""TOML files read entry by entry: each is checked for its kind and range, and others are refused."""

import math
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bgsub._input.texts import read_text
from bgsub.errors import ConfigError

__all__ = ["Table", "read_toml"]

_MISSING: Any = object()


class Table:
    r"""A table of a TOML file, whose entries are taken out one by one.

    Parameters
    ----------
    values : dict
        As tomllib reads them.
    file : str
        Name of the file, for messages.
    where : str
        Name of the table in the file; empty for the file itself.

    Examples
    --------
    >>> table = Table({"rate": 3, "colour": "red"}, "lamp.toml", "lamp")
    >>> table.number("rate", 1.0, least=0)
    3.0
    >>> table.finish()
    Traceback (most recent call last):
    bgsub.errors.ConfigError: lamp.toml: lamp has no entry 'colour'; it may have rate
    """

    def __init__(self, values: dict[str, Any], file: str, where: str = "") -> None:
        self.file, self.where = file, where
        self._values = values
        self._asked: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def error(self, key: str, rule: str, value: Any = _MISSING) -> ConfigError:
        """Return the error for an entry; without `value`, such as one that may be secret, it is not repeated."""
        name = f"{self.where}.{key}" if self.where else key
        got = "" if value is _MISSING else f", got {value!r}"
        return ConfigError(f"{self.file}: {name} {rule}{got}")

    def text(self, key: str, default: str = _MISSING, *, choices: Sequence[str] = (), secret: bool = False) -> str:
        """Take an entry that is text, and not empty unless that is the default.

        Raises
        ------
        ConfigError
            If it is missing and has no default, or has another kind or value.
        """
        value = self._take(key, default)
        shown = _MISSING if secret else value
        if not isinstance(value, str) or "\0" in value or (not value.strip() and value != default):
            raise self.error(key, "must be text", shown)
        if choices and value not in choices:
            raise self.error(key, f"must be one of {', '.join(choices)}", shown)
        return value

    def number(self, key: str, default: float = _MISSING, *, least: float = 0.0, most: float = math.inf) -> float:
        """Take an entry that is a finite number in a range."""
        value = self._take(key, default)
        # A whole number may have thousands of digits, and then cannot be made a float.
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
            raise self.error(key, "must be a number", value)
        if not least <= value <= most:
            raise self.error(key, f"must be at least {least:g} and at most {most:g}", value)
        return float(value)

    def whole(self, key: str, default: int = _MISSING, *, least: int = 0, most: int = 2**31 - 1) -> int:
        """Take an entry that is a whole number in a range."""
        value = self._take(key, default)
        if type(value) is not int or not least <= value <= most:
            raise self.error(key, f"must be a whole number from {least} to {most}", value)
        return value

    def flag(self, key: str, default: bool) -> bool:
        """Take an entry that is true or false."""
        value = self._take(key, default)
        if not isinstance(value, bool):
            raise self.error(key, "must be true or false", value)
        return value

    def raw(self, key: str, default: Any = None) -> Any:
        """Take an entry as it is."""
        return self._take(key, default)

    def table(self, key: str) -> "Table":
        """Take an entry that is a table; an empty one if it is missing."""
        value = self._take(key, {})
        if not isinstance(value, dict):
            raise self.error(key, "must be a table", value)
        return Table(value, self.file, f"{self.where}.{key}" if self.where else key)

    def tables(self) -> Iterator[tuple[str, "Table"]]:
        """Yield all entries, which must be tables, by name."""
        for key in list(self._values):
            yield key, self.table(key)

    def values(self) -> dict[str, Any]:
        """Take all entries as they are."""
        self._asked += list(self._values)
        return dict(self._values)

    def finish(self) -> None:
        """Refuse entries that were not taken.

        Raises
        ------
        ConfigError
            If there are any.
        """
        for key in self._values:
            if key not in self._asked:
                known = ", ".join(sorted(set(self._asked)))
                raise ConfigError(f"{self.file}: {self.where or 'the file'} has no entry {key!r}; it may have {known}")

    def _take(self, key: str, default: Any) -> Any:
        self._asked.append(key)
        value = self._values.get(key, default)
        if value is _MISSING:
            raise self.error(key, "is missing")
        return value


def read_toml(path: str | Path, most_bytes: int) -> Table:
    """Read a TOML file.

    Parameters
    ----------
    path : str or path
        The file.
    most_bytes : int
        Largest size in bytes.

    Returns
    -------
    Table
        Its top level.

    Raises
    ------
    ConfigError
        If it cannot be read, or is no TOML.
    """
    try:
        return Table(tomllib.loads(read_text(path, most_bytes)), str(path))
    except RecursionError:
        raise ConfigError(f"{path} is no valid TOML: its values are nested too deeply; write them flat") from None
    except OSError as error:
        raise ConfigError(f"cannot read the settings {path}: {error.strerror or error}; check the path") from error
    except ValueError as error:
        raise ConfigError(f"{path} is no valid TOML: {error}; correct it there") from error
