"""Moving objects of generated families: people, cars, spots and rods on given paths."""

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.video.sources.synthetic.walkers import Sprite

__all__ = ["Actor", "Rigid", "paint_car", "paint_rod", "paint_spot"]

Image = NDArray[Any]

_SCALE = 4  # shapes are painted so much larger, so that edges come out smooth
_CARS = ((40, 40, 170), (150, 70, 30), (36, 36, 36), (214, 216, 218), (60, 150, 190), (70, 120, 50))


class Actor(Protocol):
    """A moving object."""

    foot: float
    """Row of its lower end; objects with a larger one are nearer."""

    def is_on_the_way(self, i: int) -> bool:
        """Return whether the object is there in frame i."""

    def draw(self, i: int) -> Sprite:
        """Draw the object in frame i."""


class Rigid:
    """An object of constant shape on a horizontal path.

    Parameters
    ----------
    shape : (h, w, 4) float32 array
        BGR times opacity, and opacity 0..1, as `paint_car` and its like return.
    foot : float
        Row of the lower end.
    frames, columns : sequences of float
        The path: column of the middle at some frames, straight in between.
    """

    def __init__(self, shape: Image, foot: float, frames: Sequence[float], columns: Sequence[float]) -> None:
        self.foot = foot
        rows, width = shape.shape[:2]
        self._top = math.floor(foot) - rows
        self._half = width / 2
        self._shape = np.pad(shape, ((0, 1), (0, 1), (0, 0)))  # room for a shift by less than one pixel
        self._fall = foot - math.floor(foot)
        self._frames, self._columns = list(frames), list(columns)

    def is_on_the_way(self, i: int) -> bool:
        """Return whether frame i lies in the time of the path."""
        return self._frames[0] <= i <= self._frames[-1]

    def draw(self, i: int) -> Sprite:
        """Draw the object in frame i."""
        left = float(np.interp(i, self._frames, self._columns)) - self._half
        shift = np.array([[1, 0, left - math.floor(left)], [0, 1, self._fall]])
        rows, width = self._shape.shape[:2]
        pixels = cv2.warpAffine(self._shape, shift, (width, rows), flags=cv2.INTER_LINEAR)
        return Sprite(self._top, math.floor(left), np.asarray(pixels))


def _shrink(canvas: Image, size: tuple[int, int]) -> Image:
    small: Image = cv2.resize(canvas, size[::-1], interpolation=cv2.INTER_AREA).astype(np.float32)
    small[..., 3] /= 255
    return small


def _canvas(height: float, width: float) -> tuple[Image, tuple[int, int]]:
    size = max(1, math.ceil(height)), max(1, math.ceil(width))
    return np.zeros((_SCALE * size[0], _SCALE * size[1], 4), np.uint8), size


def paint_car(random: np.random.Generator, height: float, *, right: bool) -> Image:
    """Paint a car from the side: (h, w, 4) float32."""
    canvas, size = _canvas(height, 2.5 * height)
    rows, columns = canvas.shape[:2]

    def points(*corners: tuple[float, float]) -> list[Image]:
        return [np.array([(round(x * columns), round(y * rows)) for x, y in corners], np.int32)]

    paint = np.array(_CARS[random.integers(len(_CARS))]) * random.uniform(0.9, 1.1)
    body = (*np.clip(paint, 0, 255).tolist(), 255.0)
    cv2.fillPoly(canvas, points((0.02, 0.5), (0.2, 0.42), (0.96, 0.45), (0.98, 0.84), (0.02, 0.84)), body)
    cv2.fillPoly(canvas, points((0.2, 0.44), (0.34, 0.08), (0.72, 0.08), (0.88, 0.46)), body)
    for pane in (((0.25, 0.42), (0.36, 0.14), (0.5, 0.14), (0.5, 0.42)),
                 ((0.53, 0.42), (0.53, 0.14), (0.69, 0.14), (0.81, 0.42))):  # fmt: skip
        cv2.fillPoly(canvas, points(*pane), (120, 100, 80, 255))
    cv2.fillPoly(canvas, points((0.02, 0.72), (0.98, 0.72), (0.98, 0.84), (0.02, 0.84)), (46, 46, 46, 255))
    for x in (0.22, 0.78):
        cv2.circle(canvas, (round(x * columns), round(0.82 * rows)), round(0.17 * rows), (26, 26, 26, 255), cv2.FILLED)
        cv2.circle(
            canvas, (round(x * columns), round(0.82 * rows)), round(0.08 * rows), (150, 150, 150, 255), cv2.FILLED
        )
    return _shrink(canvas if not right else np.ascontiguousarray(canvas[:, ::-1]), size)


def _contrasting(random: np.random.Generator) -> tuple[float, float, float, float]:
    """Return a colour that is clearly darker or brighter than floors are."""
    level = random.uniform(10, 45) if random.random() < 0.6 else random.uniform(215, 245)
    blue, green, red = np.clip(level + random.uniform(-10, 10, 3), 0, 255)
    return float(blue), float(green), float(red), 255.0


def paint_spot(random: np.random.Generator, diameter: float) -> Image:
    """Paint a disc, such as a bird or something far away: (h, w, 4) float32."""
    canvas, size = _canvas(diameter, diameter)
    middle = canvas.shape[1] // 2, canvas.shape[0] // 2
    radius = round(_SCALE * diameter / 2)
    cv2.ellipse(canvas, middle, (radius, radius), 0, 0, 360, _contrasting(random), cv2.FILLED)
    return _shrink(canvas, size)


def paint_rod(random: np.random.Generator, height: float, width: float) -> Image:
    """Paint an upright rod: (h, w, 4) float32."""
    canvas, size = _canvas(height, width)
    canvas[:, : round(_SCALE * width)] = _contrasting(random)
    return _shrink(canvas, size)
