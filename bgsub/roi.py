"""Regions of interest: polygons or an image, from text or a file, drawn to a mask of the frame's size."""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bgsub._files import write_text
from bgsub._input.images import GREY, read_image
from bgsub._input.texts import read_text
from bgsub._opencv import cv2
from bgsub.errors import ConfigError
from bgsub.frames import Mask

__all__ = ["Region", "open_region"]

Polygon = tuple[tuple[float, float], ...]
"""Corners (x, y) in pixels, at least three."""

_FARTHEST = 100_000
"""Largest coordinate: larger ones overflow where polygons are filled."""

_MOST_CORNERS = 2**14  # of a polygon: the time to draw it may grow with their square
_MOST_BYTES = 2**24  # of a JSON file: half a million corners

_JSON_REMEDY = 'write {"include": [[[x, y], ...]], "exclude": []}'

_POLYGON_TEXT = re.compile(r"^\s*-?[\d.]+\s*,\s*-?[\d.]+(\s+-?[\d.]+\s*,\s*-?[\d.]+)*\s*$")


@dataclass(frozen=True, slots=True)
class Region:
    """The part of a frame that counts: inside an included polygon (or anywhere if there is none) and no excluded one.

    Parameters
    ----------
    include, exclude : tuple of polygons
        Each a tuple of corners (x, y) in pixels of the frame as it is processed.
    image : (H, W) uint8 array, optional
        Instead of polygons: 255 inside.

    Raises
    ------
    ValueError
        If a polygon has fewer than three corners or more than 16384, or a corner lies far outside every frame.
    """

    include: tuple[Polygon, ...] = ()
    exclude: tuple[Polygon, ...] = ()
    image: Mask | None = None

    def __post_init__(self) -> None:
        for polygon in (*self.include, *self.exclude):
            if len(polygon) < 3:
                raise ValueError(f"polygon must have at least 3 corners, got {len(polygon)}")
            if len(polygon) > _MOST_CORNERS:
                raise ValueError(f"polygon must have at most {_MOST_CORNERS} corners, got {len(polygon)}")
            for corner in polygon:
                if not all(abs(value) <= _FARTHEST for value in corner):
                    raise ValueError(f"corners must lie within {_FARTHEST} pixels of the frame's, got {corner}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Region):
            return NotImplemented
        if (self.include, self.exclude) != (other.include, other.exclude):
            return False
        if self.image is None or other.image is None:
            return self.image is other.image
        return np.array_equal(self.image, other.image)

    def __hash__(self) -> int:
        return hash((self.include, self.exclude))

    def scaled(self, factor: float) -> "Region":
        """Return the region of a frame that is made smaller by a factor, in (0, 1]."""
        if factor == 1:
            return self
        if self.image is not None:
            height, width = self.image.shape
            size = max(1, round(width * factor)), max(1, round(height * factor))
            return Region(image=np.asarray(cv2.resize(self.image, size, interpolation=cv2.INTER_NEAREST), np.uint8))
        include, exclude = (
            tuple(tuple((x * factor, y * factor) for x, y in polygon) for polygon in polygons)
            for polygons in (self.include, self.exclude)
        )
        return Region(include, exclude)

    def mask(self, size: tuple[int, int]) -> Mask:
        """Draw the region.

        Parameters
        ----------
        size : (height, width)
            Size of the frames in pixels.

        Returns
        -------
        (H, W) uint8 array
            255 inside, 0 outside.

        Raises
        ------
        ConfigError
            If nothing of the frame lies inside, or the region's image has another size.
        """
        if self.image is not None:
            if self.image.shape != size:
                raise ConfigError(
                    f"the region's image is {self.image.shape[1]}x{self.image.shape[0]}, the frames are "
                    f"{size[1]}x{size[0]}; make it the same size"
                )
            mask = self.image
        else:
            mask = np.full(size, 0 if self.include else 255, np.uint8)
            for polygons, value in ((self.include, 255), (self.exclude, 0)):
                for polygon in polygons:
                    cv2.fillPoly(mask, [np.round(np.asarray(polygon, np.float64)).astype(np.int32)], value)
        if not mask.any():
            raise ConfigError(
                f"the region of interest leaves nothing of a {size[1]}x{size[0]} frame; check its corners"
            )
        return mask

    def save(self, path: str | Path) -> None:
        """Write polygons as JSON that `open_region` reads.

        Raises
        ------
        ConfigError
            If the file cannot be written.
        ValueError
            If the region is an image.
        """
        if self.image is not None:
            raise ValueError("only a region of polygons can be saved as JSON, this one is an image")
        text = json.dumps({"include": self.include, "exclude": self.exclude}, indent=1) + "\n"
        write_text(path, text, ConfigError, what="region")


def open_region(text: str) -> Region:
    """Make a region from text: a polygon or the name of a file.

    Parameters
    ----------
    text : str
        A polygon such as "10,10 310,10 160,230", a JSON file {"include": [[[x, y], ...], ...], "exclude": [...]},
        or an image whose non-black pixels are inside.

    Returns
    -------
    Region
        Not yet tied to a frame size.

    Raises
    ------
    ConfigError
        If the file is missing or of another kind, or the polygon has fewer than three corners.

    Examples
    --------
    >>> int((open_region("0,0 9,0 9,4 0,4").mask((10, 10)) > 0).sum())
    50
    """
    if _POLYGON_TEXT.match(text):
        return _checked(text, [[pair.split(",") for pair in re.sub(r"\s*,\s*", ",", text).split()]], [])
    path = Path(text)
    if not os.path.isfile(text):  # noqa: PTH113 - Path.is_file raises for names that are too long
        raise ConfigError(f"cannot read the region {text}: no such file, and no polygon like '10,10 310,10 160,230'")
    if path.suffix.lower() == ".json":
        return _from_json(path)
    try:
        image = read_image(path, GREY, ConfigError)
    except ConfigError as error:
        raise ConfigError(f"{error}; a region is an image, a .json of polygons or text") from error
    return Region(image=np.where(image > 0, np.uint8(255), np.uint8(0)))


def _from_json(path: Path) -> Region:
    try:
        content = json.loads(read_text(path, _MOST_BYTES))
    except RecursionError:
        raise ConfigError(f"cannot read the region {path}: its lists are nested too deeply; {_JSON_REMEDY}") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read the region {path}: {error}; {_JSON_REMEDY}") from error
    if not isinstance(content, dict) or not content or content.keys() - {"include", "exclude"}:
        raise ConfigError(f"{path} is not a region file; {_JSON_REMEDY}")
    return _checked(str(path), content.get("include", []), content.get("exclude", []))


def _checked(name: str, include: Any, exclude: Any) -> Region:
    """Make a region from nested sequences, whose contents are not yet checked."""
    try:
        polygons: list[tuple[Polygon, ...]] = [
            tuple(tuple((float(x), float(y)) for x, y in polygon) for polygon in group) for group in (include, exclude)
        ]
    except (TypeError, ValueError, OverflowError) as error:
        raise ConfigError(f"{name} is not a region ({error}); polygons are lists of corners x, y") from error
    try:
        return Region(include=polygons[0], exclude=polygons[1])
    except ValueError as error:
        raise ConfigError(f"{name} is not a region: {error}") from error
