"""The numbers that decide what an event is."""

import math
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, Self, get_args

__all__ = ["FAINT", "EventRules", "Sensitivity"]

Sensitivity = Literal["low", "normal", "high"]


FAINT = 0.25
"""Share of the least area from which a thing is followed that may become large enough."""


@dataclass(frozen=True, slots=True)
class EventRules:
    """When something is an event, and what belongs to it.

    Shares are in [0, 1], times in seconds.

    Parameters
    ----------
    min_area, max_area : float
        Share of the frame that an object must cover to count, and may cover at most.
    min_travel : float
        Distance, as a share of the frame's diagonal, over which an object must move before it counts. It counts from
        where it set off, and also when it stands still later. With 0 each object counts that lasts `min_age_s`: trees
        and clouds, too.
    min_age_s : float
        Time for which an object must be seen.
    min_score : float
        Mean score that it must have: those of the light on a wall or on leaves are near 0.
    threshold : float
        Share of the region that must be foreground.
    min_length_s : float
        Shorter events are dropped.
    merge_gap_s : float
        Events that follow each other within this time are one.
    cooldown_s : float
        Time after an event in which no other begins.
    before_s, after_s : float
        Time that a clip shows before and after the event.
    flood_share : float
        Share of the frame that must turn to foreground at once to be a change of the scene: a light switch, a camera
        knock. It is reported, but it is no event.
    recovery_s : float
        Most time that the detector is given to get over a change of the scene.

    Raises
    ------
    ValueError
        If a value is out of range.

    Examples
    --------
    >>> EventRules.from_sensitivity("high").min_area < EventRules().min_area
    True
    """

    min_area: float = 0.0005
    max_area: float = 1.0
    min_travel: float = 0.03
    min_age_s: float = 0.3
    min_score: float = 0.1
    threshold: float = 0.0
    min_length_s: float = 0.5
    merge_gap_s: float = 1.2
    cooldown_s: float = 0.0
    before_s: float = 1.5
    after_s: float = 2.0
    flood_share: float = 0.5
    recovery_s: float = 10.0

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            if not number or value < 0:
                raise ValueError(f"{item.name} must be a number, at least 0, got {value!r}")
            if not item.name.endswith("_s") and value > 1:
                raise ValueError(f"{item.name} must be a share in [0, 1], got {value!r}")
        if self.max_area < self.min_area:
            raise ValueError(f"max_area must be at least min_area ({self.min_area}), got {self.max_area}")

    @classmethod
    def from_sensitivity(cls, sensitivity: Sensitivity, **changed: float) -> Self:
        """Return the rules of a sensitivity, with some of them changed.

        Raises
        ------
        ValueError
            If the sensitivity is unknown or a value out of range.
        """
        if sensitivity not in _OF:
            raise ValueError(f"sensitivity must be one of {', '.join(get_args(Sensitivity))}, got {sensitivity!r}")
        return cls(**{**_OF[sensitivity], **changed})

    def changed(self, **values: float) -> Self:
        """Return rules with some values changed."""
        return replace(self, **values)

    def to_json(self) -> dict[str, Any]:
        """Return the values by name."""
        return asdict(self)


_OF: dict[str, dict[str, float]] = {
    "low": {"min_area": 0.002, "min_travel": 0.06, "min_age_s": 0.5, "min_length_s": 1.0},
    "normal": {},
    "high": {"min_area": 0.0002, "min_travel": 0.015, "min_age_s": 0.2, "min_length_s": 0.3},
}
