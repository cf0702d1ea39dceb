"""The background of a generated scene: a house, a lawn with a pond and a tree, a pavement and a road."""

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2

__all__ = ["Pond", "Tree", "fractal_noise", "paint_background"]

Image = NDArray[Any]

# Lower edges, from top to bottom, as fractions of the height.
HOUSE, HEDGE, LAWN, PAVEMENT, KERB = 0.235, 0.30, 0.565, 0.845, 0.868


def fractal_noise(
    random: np.random.Generator, size: tuple[int, int], coarsest: float, *, stretch: float = 1.0
) -> Image:
    """Make smooth noise on several scales, each half as coarse and 0.6 times as strong as the one before.

    Parameters
    ----------
    random : Generator
        Source of random numbers.
    size : (height, width)
        Size of the result in pixels.
    coarsest : float
        Size of the largest spots in pixels.
    stretch : float
        How much wider than high the spots are.

    Returns
    -------
    (H, W) float32 array
        Mean 0, standard deviation 1.
    """
    height, width = size
    total: Image = np.zeros(size, np.float32)
    strength = 1.0
    while coarsest >= 1:
        grid = (math.ceil(height / coarsest) + 2, math.ceil(width / (coarsest * stretch)) + 2)
        coarse = random.standard_normal(grid, np.float32)
        total += np.float32(strength) * cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
        coarsest, strength = coarsest / 2, strength * 0.6
    total -= total.mean()
    return total / np.float32(max(float(total.std()), 1e-6))


def _paint(canvas: Image, top: float, bottom: float, colour: tuple[float, float, float], texture: Image) -> None:
    """Fill a band of rows, given in fractions of the height, with a colour and a brightness texture."""
    rows = slice(round(top * len(canvas)), round(bottom * len(canvas)))
    canvas[rows] = np.array(colour, np.float32) + texture[rows, :, None]


def _paint_house(canvas: Image, random: np.random.Generator) -> None:
    height, width = canvas.shape[:2]
    bottom = round(HOUSE * height)
    _paint(canvas, 0, HOUSE, (98, 118, 158), 7 * fractal_noise(random, (height, width), 6, stretch=2))
    course = max(2, height // 80)
    for row, y in enumerate(range(0, bottom, course)):
        canvas[y, :] *= 0.86
        for x in range((row % 2) * course, width, 2 * course):
            canvas[y : min(y + course, bottom), x] *= 0.90
    window, pitch = round(0.06 * width), width / 8
    top, low = round(0.045 * height), round(0.165 * height)
    for column in range(8):
        x = round((column + 0.5) * pitch) - window // 2
        frame = max(2, width // 160)
        canvas[top - frame : low + frame, x - frame : x + window + frame] = (205, 212, 215)
        glass = np.linspace(150, 85, low - top, dtype=np.float32)[:, None, None] * np.array(
            (1.0, 0.92, 0.82), np.float32
        )
        lit = random.uniform(0.55, 1.1)
        canvas[top:low, x : x + window] = glass * lit
        canvas[top:low, x + window // 2 - frame // 2 : x + window // 2 + (frame + 1) // 2] = (205, 212, 215)
        canvas[low + frame : low + 2 * frame, x - 2 * frame : x + window + 2 * frame] *= 0.7


def _paint_hedge(canvas: Image, random: np.random.Generator) -> None:
    height, width = canvas.shape[:2]
    bumps = fractal_noise(random, (1, width), width / 20)[0] * 0.010 * height
    leaves = fractal_noise(random, (height, width), 5)
    rows = np.arange(height)[:, None]
    inside = (rows > HOUSE * height - 0.012 * height + bumps) & (rows < HEDGE * height)
    depth = (rows / height - HOUSE) / (HEDGE - HOUSE)  # darker towards its foot
    shade = np.clip(1.15 - 0.45 * depth, 0.5, 1.2) + 0.20 * leaves
    canvas[inside] = (shade[..., None] * np.array((42, 92, 62), np.float32))[inside]


def _paint_slabs(canvas: Image, random: np.random.Generator) -> None:
    height, width = canvas.shape[:2]
    texture = 5 * fractal_noise(random, (height, width), 40) + 3 * random.standard_normal((height, width), np.float32)
    _paint(canvas, LAWN, PAVEMENT, (168, 174, 178), texture)
    vanishing = -0.6 * height
    joints = np.geomspace(1, 1 + (PAVEMENT - LAWN) / (LAWN + 0.6), 6)
    edges = [round(vanishing + (LAWN * height - vanishing) * joint) for joint in joints]
    for row, (top, bottom) in enumerate(itertools.pairwise(edges)):
        pitch = 0.11 * width
        for column in range(-14, 15):
            ends = []
            for y in (top, bottom):
                spread = (y - vanishing) / (LAWN * height - vanishing)
                ends.append((round(width / 2 + (column + 0.5 * (row % 2)) * pitch * spread), y))
            following = [(x + round(pitch * (y - vanishing) / (LAWN * height - vanishing)), y) for x, y in ends]
            slab = np.array([ends[0], ends[1], following[1], following[0]], np.int32)
            mask = cv2.fillConvexPoly(np.zeros((height, width), np.uint8), slab, 255) > 0
            canvas[mask] *= random.uniform(0.93, 1.05)
            cv2.line(canvas, ends[0], ends[1], (125, 130, 134), max(1, width // 400), cv2.LINE_AA)
        cv2.line(canvas, (0, top), (width, top), (125, 130, 134), max(1, width // 400), cv2.LINE_AA)


def _paint_road(canvas: Image, random: np.random.Generator) -> None:
    height, width = canvas.shape[:2]
    texture = 4 * fractal_noise(random, (height, width), 60, stretch=4)
    texture += 7 * random.standard_normal((height, width), np.float32)
    _paint(canvas, KERB, 1, (92, 92, 90), texture)
    _paint(canvas, PAVEMENT, KERB, (150, 152, 152), 0.5 * texture)
    canvas[round(KERB * height) - 1 : round((KERB + 0.008) * height)] *= 0.6
    top, bottom = round(0.945 * height), round(0.96 * height)
    for x in range(round(0.04 * width), width, round(0.16 * width)):
        dash = canvas[top:bottom, x : x + round(0.09 * width)]
        dash += (225 - dash) * 0.8


def paint_background(random: np.random.Generator, size: tuple[int, int]) -> Image:
    """Paint everything that neither moves nor ripples.

    Parameters
    ----------
    random : Generator
        Source of random numbers for every texture.
    size : (height, width)
        Size of the image in pixels.

    Returns
    -------
    (H, W, 3) uint8 array
    """
    height, width = 2 * size[0], 2 * size[1]  # painted twice as large, so that edges come out smooth
    canvas = np.zeros((height, width, 3), np.float32)
    _paint_house(canvas, random)
    grass = 9 * fractal_noise(random, (height, width), 90, stretch=3)
    grass += 8 * fractal_noise(random, (height, width), 6, stretch=0.5)
    _paint(canvas, HEDGE, LAWN, (62, 132, 104), grass)
    canvas[round(HEDGE * height) : round((HEDGE + 0.02) * height)] *= 0.75
    _paint_hedge(canvas, random)
    _paint_slabs(canvas, random)
    _paint_road(canvas, random)
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j].astype(np.float32)
    canvas *= (1.04 - 0.09 * (x * x + y * y))[..., None]  # a lens darkens its corners
    small = cv2.resize(canvas, size[::-1], interpolation=cv2.INTER_AREA)
    return np.clip(np.rint(small), 0, 255).astype(np.uint8)


@dataclass(frozen=True, slots=True)
class Patch:
    """A rectangle of the image: rows top to bottom, columns left to right, ends excluded."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def slices(self) -> tuple[slice, slice]:
        """Slices that index an image."""
        return slice(self.top, self.bottom), slice(self.left, self.right)

    @property
    def size(self) -> tuple[int, int]:
        """(height, width)."""
        return self.bottom - self.top, self.right - self.left


class Pond:
    """Rippling water with a stone rim.

    Parameters
    ----------
    random : Generator
        Source of random numbers for texture and waves.
    size : (height, width)
        Size of the image in pixels.
    """

    def __init__(self, random: np.random.Generator, size: tuple[int, int]) -> None:
        height, width = size
        middle = (0.725 * width, 0.455 * height)
        radii = (0.215 * width, 0.078 * height)
        self.patch = Patch(
            max(0, math.floor(middle[1] - radii[1] - 3)),
            min(height, math.ceil(middle[1] + radii[1] + 3)),
            max(0, math.floor(middle[0] - radii[0] - 3)),
            min(width, math.ceil(middle[0] + radii[0] + 3)),
        )
        y, x = np.mgrid[self.patch.slices].astype(np.float32)
        # A wobbling outline looks dug, an exact ellipse drawn.
        angle = np.arctan2((y - middle[1]) / radii[1], (x - middle[0]) / radii[0])
        radius = np.hypot((y - middle[1]) / radii[1], (x - middle[0]) / radii[0])
        radius += 0.05 * np.sin(3 * angle + 1) + 0.03 * np.sin(7 * angle)
        softness = 1.2 / radii[1]
        self._alpha = np.clip((0.90 - radius) / softness + 0.5, 0, 1)[..., None]
        self._rim = np.clip((1.0 - radius) / softness + 0.5, 0, 1)[..., None]
        stones = 14 * fractal_noise(random, self.patch.size, 4)[..., None] + np.array((128, 136, 140), np.float32)
        self._stones = stones.astype(np.float32)
        self._murk = (10 * fractal_noise(random, self.patch.size, width / 16, stretch=3)).astype(np.float32)
        self._colour = np.array((128, 112, 84), np.float32) + 22 * ((middle[1] - y) / radii[1])[..., None]
        self._x, self._y = x - self.patch.left, y - self.patch.top
        unit = 320 / width
        waves = []
        for length, height_of_wave, period in ((17, 9.0, 1.9), (9, 6.0, 1.1), (5.5, 4.0, 0.7)):
            heading = random.uniform(-0.6, 0.6)
            k = 2 * math.pi / length * unit
            # Seen at a grazing angle, waves are closer together from top to bottom.
            phase = k * (math.cos(heading) * x + 3.2 * math.sin(heading + 0.35) * y) + random.uniform(0, 6.28)
            waves.append((phase.astype(np.float32), np.float32(height_of_wave), 2 * math.pi / period))
        self._waves = waves

    def draw(self, image: Image, time_s: float) -> None:
        """Draw the water as it is at a time, into a (H, W, 3) uint8 image."""
        swell = np.zeros(self.patch.size, np.float32)
        for phase, height, speed in self._waves:
            swell += height * np.sin(phase - np.float32(speed * time_s))
        murk = cv2.remap(
            self._murk,
            self._x + 0.25 * swell,
            self._y + 0.1 * swell,
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REFLECT,
        )
        glint = np.maximum(swell - 9, 0) * 3
        water = self._colour + (murk + swell + glint)[..., None]
        region = image[self.patch.slices]
        shore = region + self._rim * (self._stones - region)
        region[:] = np.clip(shore + self._alpha * (water - shore), 0, 255)


class Tree:
    """A tree whose crown sways and whose leaves flutter.

    Parameters
    ----------
    random : Generator
        Source of random numbers for every leaf.
    size : (height, width)
        Size of the image in pixels.
    """

    def __init__(self, random: np.random.Generator, size: tuple[int, int]) -> None:
        height, width = size
        self.foot = 0.555 * height
        """Row of the foot of the trunk; people who walk above it are behind the tree."""
        self.patch = Patch(0, math.ceil(self.foot) + 2, 0, math.ceil(0.37 * width))
        rows, columns = self.patch.size
        layer = self._paint(random, (rows, columns), height, width)
        self._layer = layer
        y, x = np.mgrid[0:rows, 0:columns].astype(np.float32)
        self._x, self._y = x, y
        reach = np.clip((self.foot - y) / self.foot, 0, 1) ** 1.5
        self._reach = (reach * 2.2 * height / 240).astype(np.float32)
        self._flutter = (np.clip(reach * 4 - 1.2, 0, 1) * 0.9 * height / 240).astype(np.float32)
        self._phase = (2.5 * fractal_noise(random, (rows, columns), width / 18)).astype(np.float32)

    @staticmethod
    def _paint(random: np.random.Generator, size: tuple[int, int], height: int, width: int) -> Image:
        """Paint the tree at rest: (H, W, 4) float32 of BGR times opacity and opacity 0..1."""
        scale = 4
        canvas = np.zeros((scale * size[0], scale * size[1], 4), np.uint8)
        unit_x, unit_y = scale * width, scale * height
        foot, middle = (0.165 * unit_x, 0.555 * unit_y), (0.165 * unit_x, 0.215 * unit_y)
        thick = 0.011 * unit_x
        trunk = [
            (foot[0] - 1.7 * thick, foot[1]),
            (foot[0] - thick, foot[1] - 0.03 * unit_y),
            (middle[0] - 0.7 * thick, middle[1]),
            (middle[0] + 0.7 * thick, middle[1]),
            (foot[0] + thick, foot[1] - 0.03 * unit_y),
            (foot[0] + 1.7 * thick, foot[1]),
        ]
        cv2.fillPoly(canvas, [np.array(trunk, np.int32)], (48, 66, 84, 255))
        cv2.fillPoly(canvas, [np.array([*trunk[3:], (foot[0] + 0.2 * thick, foot[1])], np.int32)], (38, 52, 66, 255))
        clumps = []
        for _ in range(26):
            angle, distance = random.uniform(0, 2 * math.pi), math.sqrt(random.uniform(0, 1))
            clumps.append(
                (
                    middle[0] + 0.098 * unit_x * distance * math.cos(angle),
                    middle[1] + 0.135 * unit_y * distance * math.sin(angle) - 0.02 * unit_y,
                )
            )
        for x, y in clumps[::3]:
            cv2.line(
                canvas,
                (int(middle[0]), int(0.34 * unit_y)),
                (int(x), int(y)),
                (44, 60, 76, 255),
                max(1, round(thick / 2)),
            )
        leaf = max(2.0, 0.0075 * unit_x)
        for x, y in sorted(clumps, key=lambda clump: -clump[1]):
            for _ in range(70):
                dx, dy = random.normal(0, 0.023 * unit_x), random.normal(0, 0.021 * unit_x)
                # Lit from above left: leaves there are brighter than those inside and below.
                light = 0.78 - 0.24 * (dy / (0.03 * unit_x)) - 0.12 * (dx / (0.03 * unit_x))
                light += 0.25 * (middle[1] - y) / (0.13 * unit_y) + random.normal(0, 0.12)
                colour = np.clip(np.array((48, 118, 84)) * max(light, 0.35), 0, 255)
                axes = (round(leaf * random.uniform(0.6, 1.2)), round(leaf * random.uniform(0.3, 0.7)))
                centre = (round(x + dx), round(y + dy))
                cv2.ellipse(
                    canvas,
                    centre,
                    axes,
                    random.uniform(0, 180),
                    0,
                    360,
                    (*map(float, colour), 255.0),
                    cv2.FILLED,
                )
        small = cv2.resize(canvas, size[::-1], interpolation=cv2.INTER_AREA).astype(np.float32)
        small[..., 3] /= 255
        return small

    def bend(self, time_s: float) -> Image:
        """Return the tree at a time: (h, w, 4) float32 over `patch`, BGR times opacity and opacity 0..1."""
        t = time_s
        gust = 0.6 + 0.4 * math.sin(0.45 * t + 1)
        sway = gust * (math.sin(1.7 * t) + 0.5 * math.sin(2.9 * t + 2))
        x = self._reach * np.float32(sway)
        ripple = np.sin(self._phase + np.float32(7.5 * t)) * (self._flutter * np.float32(0.5 + gust))
        moved: Image = cv2.remap(self._layer, self._x + x + ripple, self._y + 0.7 * ripple, cv2.INTER_LINEAR)
        return moved
