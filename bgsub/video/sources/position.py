"""Positions in a video: a frame number or a time, and their text form."""

import re
from dataclasses import dataclass

__all__ = ["Position", "parse_position"]

_NUMBER = re.compile(r"\d{1,15}")
_SECONDS = re.compile(r"(\d{1,15}(?:\.\d*)?|\.\d+)s")
_CLOCK = re.compile(r"(?:(\d{1,9}):)?(\d{1,2}):(\d{1,2}(?:\.\d*)?)")


@dataclass(frozen=True, slots=True)
class Position:
    """A frame number or a time in seconds; exactly one of them is given."""

    number: int | None = None
    time_s: float | None = None

    def __str__(self) -> str:
        return f"{self.time_s:g}s" if self.number is None else str(self.number)

    def is_after(self, number: int, time_s: float) -> bool:
        """Return whether this position lies after the frame with that number and time."""
        if self.number is not None:
            return self.number > number
        return self.time_s is not None and self.time_s > time_s

    def is_before(self, number: int, time_s: float) -> bool:
        """Return whether this position lies before the frame with that number and time."""
        if self.number is not None:
            return self.number < number
        return self.time_s is not None and self.time_s < time_s

    def estimate_number(self, rate_hz: float | None) -> int | None:
        """Return the 1-based number of the frame shown here at a constant rate, None without a rate."""
        if self.number is not None:
            return self.number
        return None if self.time_s is None or rate_hz is None else int(self.time_s * rate_hz) + 1


def parse_position(value: int | float | str | Position | None, name: str) -> Position | None:
    """Parse a position in a video.

    Parameters
    ----------
    value : int, float, str, Position or None
        An integer is a frame number (`Packet.number`), a float a time in seconds (`Packet.time_s`). Text is
        one of ``"120"`` (frame number), ``"3.5s"`` (seconds), ``"MM:SS"`` or ``"HH:MM:SS.mmm"``.
    name : str
        Name of the argument in the message.

    Raises
    ------
    ValueError
        If the text has none of these forms, or the value is negative.

    Examples
    --------
    >>> parse_position("120", "start")
    Position(number=120, time_s=None)
    >>> parse_position("1:02.5", "start")
    Position(number=None, time_s=62.5)
    """
    if value is None or isinstance(value, Position):
        return value
    if isinstance(value, str):
        text = value.strip()
        if _NUMBER.fullmatch(text):
            return Position(number=int(text))
        if match := _SECONDS.fullmatch(text):
            return Position(time_s=float(match[1]))
        if match := _CLOCK.fullmatch(text):
            return Position(time_s=3600 * int(match[1] or 0) + 60 * int(match[2]) + float(match[3]))
        raise ValueError(f"{name} must be a frame number, seconds like 3.5s or a time like 1:02:03.5, got {value!r}")
    if isinstance(value, bool) or not 0 <= value < float("inf"):
        raise ValueError(f"{name} must not be negative, got {value!r}")
    return Position(number=value) if isinstance(value, int) else Position(time_s=float(value))
