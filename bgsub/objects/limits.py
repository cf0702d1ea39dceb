"""Which objects count: limits of area, sides, aspect and age."""

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub.objects.found import Objects

__all__ = ["ObjectLimits"]


@dataclass(frozen=True, slots=True)
class ObjectLimits:
    """Limits that an object must keep to count; the bounds themselves are allowed.

    Parameters
    ----------
    min_area, max_area : int or float
        Number of pixels as an int, or share of the image in [0, 1] as a float: 1 is one pixel, 1.0 the whole image.
    min_side, max_side : int
        Least length of the shorter side of the box, and greatest of the longer one, in pixels.
    min_aspect, max_aspect : float
        Bounds of width / height of the box: people who walk have about 0.3 to 0.6.
    min_age : int
        Least number of frames in which the object was seen. Only a `Tracker` knows it: what was not tracked has every
        age.

    Raises
    ------
    ValueError
        If a limit is negative, of another type, or below the one that it belongs to.

    Examples
    --------
    >>> import bgsub
    >>> mask = np.zeros((20, 30), np.uint8)
    >>> mask[3:7, 10:20] = 255
    >>> mask[12:14, 0:2] = 255
    >>> len(bgsub.find_objects(mask, limits=ObjectLimits(min_area=5, max_aspect=3)))
    1
    """

    min_area: int | float = 0
    max_area: int | float | None = None
    min_side: int = 0
    max_side: int | None = None
    min_aspect: float = 0.0
    max_aspect: float = math.inf
    min_age: int = 1

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if value is not None:
                _check(item.name, value)
        for low, high in (("min_area", "max_area"), ("min_side", "max_side"), ("min_aspect", "max_aspect")):
            least, most = getattr(self, low), getattr(self, high)
            if most is not None and type(least) is type(most) and least > most:
                raise ValueError(f"{high} must be at least {low} ({least}), got {most}")

    def keep(self, objects: Objects) -> NDArray[np.bool_]:
        """Return which objects are within the limits.

        Parameters
        ----------
        objects : Objects
            Of one mask.

        Returns
        -------
        (n,) bool array
            True for those that are; ``objects[limits.keep(objects)]`` has no others.
        """
        pixels = objects.size[0] * objects.size[1]
        sides = objects.boxes[:, 2:]
        kept = objects.areas >= _pixels(self.min_area, pixels)
        if self.max_area is not None:
            kept &= objects.areas <= _pixels(self.max_area, pixels)
        kept &= sides.min(1) >= self.min_side
        if self.max_side is not None:
            kept &= sides.max(1) <= self.max_side
        aspects = sides[:, 0] / sides[:, 1]
        kept &= (aspects >= self.min_aspect) & (aspects <= self.max_aspect)
        if objects.ages is not None:
            kept &= objects.ages >= self.min_age
        return np.asarray(kept, np.bool_)


def _pixels(area: float, of: int) -> float:
    return area * of if isinstance(area, float) else area


def _check(name: str, value: Any) -> None:
    """Refuse a limit of the wrong type or sign."""
    number = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    if name in ("min_area", "max_area"):
        if not number or (isinstance(value, float) and value > 1):
            raise ValueError(f"{name} must be a whole number of pixels or a share in [0.0, 1.0], got {value!r}")
    elif name in ("min_aspect", "max_aspect"):
        if not number:
            raise ValueError(f"{name} must be a number, at least 0, got {value!r}")
    elif not number or not isinstance(value, int):
        raise ValueError(f"{name} must be a whole number, at least 0, got {value!r}")
