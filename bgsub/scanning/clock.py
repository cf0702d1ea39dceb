"""When a file was recorded: by its name, or as told."""

import datetime
import re
from pathlib import Path

__all__ = ["parse_time", "time_in_name"]

_USUAL = re.compile(
    r"(?<![0-9])(?P<year>(?:19|20)[0-9]{2})[-_.]?(?P<month>[01][0-9])[-_.]?(?P<day>[0-3][0-9])"
    r"[-_ .T]{0,3}(?P<hour>[0-2][0-9])[-_.:h]?(?P<minute>[0-5][0-9])(?:[-_.:m]?(?P<second>[0-5][0-9]))?(?![0-9])"
)
"""Year, month, day, hour, minute and perhaps second, as cameras write them: 20261122_080000, 2026-11-22T08-00."""

_FIELDS = {
    "%Y": r"(?P<Y>[0-9]{4})",
    "%y": r"(?P<y>[0-9]{2})",
    "%m": r"(?P<m>[0-9]{1,2})",
    "%d": r"(?P<d>[0-9]{1,2})",
    "%H": r"(?P<H>[0-9]{1,2})",
    "%M": r"(?P<M>[0-9]{1,2})",
    "%S": r"(?P<S>[0-9]{1,2})",
    "%s": r"(?P<s>[0-9]{9,11})",
    "%%": "%",
}


def time_in_name(path: str, pattern: str | None = None) -> datetime.datetime | None:
    """Return the time that a file name holds, None if it holds none.

    Parameters
    ----------
    path : str
        The file. A pattern with a slash is compared with the folders, too.
    pattern : str, optional
        How the time is written, with %Y %m %d %H %M %S, or %s for seconds since 1970 (UTC), such as
        ``cam1_%d%m%Y-%H%M%S``. By default year, month, day, hour and minute in this order.

    Raises
    ------
    ValueError
        If the pattern does not give a date.

    Examples
    --------
    >>> time_in_name("yard/cam1_20261122_080500.mp4")
    datetime.datetime(2026, 11, 22, 8, 5)
    >>> time_in_name("22.11.26 8h05.mp4", "%d.%m.%y %Hh%M")
    datetime.datetime(2026, 11, 22, 8, 5)
    """
    if pattern is None:
        match = _USUAL.search(Path(path).name)
        if match is None:
            return None
        parts = {name: int(value) for name, value in match.groupdict(default="0").items()}
        try:
            return datetime.datetime(**parts)  # type: ignore[arg-type]
        except ValueError:
            return None
    text = path.replace("\\", "/") if "/" in pattern else Path(path).name
    found = _compiled(pattern).search(text)
    return None if found is None else _time_of(found)


def parse_time(text: str) -> datetime.datetime:
    """Return the time that a text such as ``2026-11-22 08:05:00`` stands for.

    Raises
    ------
    ValueError
        If it is none.
    """
    try:
        time = datetime.datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"the start time must be like 2026-11-22 08:05:00, got {text!r}") from None
    return time.astimezone().replace(tzinfo=None) if time.tzinfo else time


def _compiled(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(%.)", pattern)
    unknown = [part for part in parts if part.startswith("%") and part not in _FIELDS]
    if unknown:
        raise ValueError(f"the name pattern may have {' '.join(_FIELDS)}, got {unknown[0]}")
    try:
        compiled = re.compile("".join(_FIELDS.get(part, re.escape(part)) for part in parts))
    except re.error:
        raise ValueError(f"the name pattern has a field twice: {pattern!r}") from None
    names = set(compiled.groupindex)
    if not ({"m", "d"} <= names and names & {"Y", "y"}) and "s" not in names:
        raise ValueError(f"the name pattern must have %Y, %m and %d, or %s, got {pattern!r}")
    return compiled


def _time_of(match: re.Match[str]) -> datetime.datetime | None:
    parts = {name: int(value) for name, value in match.groupdict().items()}
    try:
        if "s" in parts:
            return datetime.datetime.fromtimestamp(parts["s"], datetime.UTC).replace(tzinfo=None)
        year = parts["Y"] if "Y" in parts else 2000 + parts["y"]
        return datetime.datetime(year, parts["m"], parts["d"], parts.get("H", 0), parts.get("M", 0), parts.get("S", 0))
    except (ValueError, OverflowError, OSError):
        return None
