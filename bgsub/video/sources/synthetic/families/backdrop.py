"""Backgrounds whose layout, colours and textures follow from a seed: a wall or a hedge above a floor."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.video.sources.synthetic.scenery import fractal_noise

__all__ = ["HORIZON", "paint_backdrop"]

Image = NDArray[Any]

HORIZON = 0.34
"""Row where wall and floor meet, as a fraction of the height."""

_WALLS = ((98, 118, 158), (150, 160, 168), (120, 132, 128), (96, 104, 112), (138, 150, 176))
_FLOORS = ((150, 156, 160), (94, 96, 94), (92, 132, 112), (128, 146, 164), (112, 118, 132))


def _paint_wall(canvas: Image, random: np.random.Generator, bottom: int) -> None:
    """Paint a wall of courses with windows and doors."""
    height, width = canvas.shape[:2]
    texture = 6 * fractal_noise(random, (height, width), height / 12, stretch=2)
    texture += 4 * random.standard_normal((height, width), np.float32)
    canvas[:bottom] = np.array(_WALLS[random.integers(len(_WALLS))], np.float32) + texture[:bottom, :, None]
    course = random.integers(6, 18)
    for row, y in enumerate(range(0, bottom, course)):
        canvas[y, :] *= 0.86
        for x in range((row % 2) * course, width, 2 * course):
            canvas[y : min(y + course, bottom), x] *= 0.9
    count = int(random.integers(3, 8))
    for column in range(count):
        left = round((column + random.uniform(0.15, 0.35)) * width / count)
        right = round((column + random.uniform(0.6, 0.85)) * width / count)
        top = round(random.uniform(0.1, 0.3) * bottom)
        low = bottom if random.random() < 0.3 else round(random.uniform(0.6, 0.85) * bottom)
        canvas[top - 3 : low + 3, left - 3 : right + 3] = 60 if random.random() < 0.5 else 208
        shine = np.linspace(1.1, 0.7, low - top, dtype=np.float32)[:, None, None]
        canvas[top:low, left:right] = shine * random.uniform(50, 170, 3).astype(np.float32)


def _paint_floor(canvas: Image, random: np.random.Generator, top: int) -> None:
    """Paint a floor of slabs, gravel or grass with lines towards a vanishing point."""
    height, width = canvas.shape[:2]
    grain = random.uniform(3, 10)
    texture = 7 * fractal_noise(random, (height, width), height / 8, stretch=3)
    texture += grain * fractal_noise(random, (height, width), 6, stretch=2)
    canvas[top:] = np.array(_FLOORS[random.integers(len(_FLOORS))], np.float32) + texture[top:, :, None]
    vanishing = random.uniform(0.2, 0.8) * width, -random.uniform(0.1, 0.8) * height
    shade = float(random.uniform(0.8, 1.15))
    lines = np.zeros((height, width), np.uint8)
    for foot in np.arange(-2 * width, 3 * width, random.uniform(0.12, 0.4) * width):
        cv2.line(lines, (round(vanishing[0]), round(vanishing[1])), (round(foot), height), 255, 2, cv2.LINE_AA)
    for y in np.geomspace(top, height, int(random.integers(4, 9))):
        cv2.line(lines, (0, round(y)), (width, round(y)), 255, 2, cv2.LINE_AA)
    canvas[top:] *= 1 + (shade - 1) * lines[top:, :, None].astype(np.float32) / 255


def _paint_props(canvas: Image, random: np.random.Generator) -> None:
    """Put crates, bollards and bushes on the floor."""
    height, width = canvas.shape[:2]
    leaves = fractal_noise(random, (height, width), 8)
    for foot in sorted(random.uniform(HORIZON + 0.03, 0.6, int(random.integers(3, 7)))):
        tall = round(random.uniform(0.25, 0.5) * foot * 0.5 * height)
        wide = round(tall * random.choice((0.15, 0.8, 1.3)))
        x, y = int(random.uniform(0, width)), round(foot * height)
        colour = random.uniform(40, 190, 3)
        outline = np.zeros((height, width), np.uint8)
        if random.random() < 0.4:
            cv2.ellipse(outline, (x, y - tall // 2), (max(wide, tall // 2), tall // 2), 0, 0, 360, 255, cv2.FILLED)
            colour = np.array((48, 104, 70)) * random.uniform(0.7, 1.3)
        else:
            cv2.rectangle(outline, (x, y - tall), (x + wide, y), 255, cv2.FILLED)
        inside = outline > 0
        canvas[inside] = (colour * (1 + 0.12 * leaves[..., None]))[inside]


def paint_backdrop(random: np.random.Generator, size: tuple[int, int]) -> Image:
    """Paint a background.

    Parameters
    ----------
    random : Generator
        Source of random numbers for layout, colours and textures.
    size : (height, width)
        Size of the image in pixels.

    Returns
    -------
    (H, W, 3) uint8 array
        BGR.
    """
    height, width = 2 * size[0], 2 * size[1]  # painted twice as large, so that edges come out smooth
    canvas = np.zeros((height, width, 3), np.float32)
    horizon = round(HORIZON * height)
    _paint_wall(canvas, random, horizon)
    _paint_floor(canvas, random, horizon)
    _paint_props(canvas, random)
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j].astype(np.float32)
    canvas *= (1.04 - 0.09 * (x * x + y * y))[..., None]  # a lens darkens its corners
    small = cv2.resize(canvas, size[::-1], interpolation=cv2.INTER_AREA)
    return np.clip(np.rint(small), 0, 255).astype(np.uint8)
