"""The people of a generated scene, who walk, stop and cast shadows."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2

__all__ = ["Sprite", "Walker", "cast_shadow"]

Image = NDArray[Any]

_SHADOW_STRENGTH = 0.45  # share of the light missing where a shadow is darkest
_SHADOW_SHIFT, _SHADOW_FALL = 0.55, 0.16  # where the shadow of a point one unit above the ground lies
_STRIDE = 0.82  # two steps, in body heights
_PALETTE = (
    ((52, 48, 168), (88, 60, 44)),
    ((176, 112, 40), (46, 44, 42)),
    ((70, 168, 196), (120, 84, 56)),
    ((96, 58, 110), (74, 82, 92)),
    ((64, 120, 48), (140, 132, 120)),
    ((214, 212, 206), (60, 52, 48)),
    ((44, 42, 40), (96, 108, 124)),
    ((60, 110, 214), (52, 50, 60)),
)
_SKIN = ((138, 172, 222), (96, 130, 184), (58, 84, 128))
_HAIR = ((30, 36, 48), (52, 90, 130), (140, 146, 150), (24, 24, 26))


@dataclass(frozen=True, slots=True)
class Sprite:
    """The pixels of a figure and their position in the image."""

    top: int
    left: int
    pixels: Image
    """(h, w, 4) float32: BGR times opacity, and opacity 0..1."""


def _limb(root: tuple[float, float], lengths: tuple[float, float], angles: tuple[float, float]) -> Image:
    """Return the positions of the three joints of a limb; angles from straight down, positive towards the right."""
    points = [root]
    for length, angle in zip(lengths, angles, strict=True):
        x, y = points[-1]
        points.append((x + length * math.sin(angle), y + length * math.cos(angle)))
    return np.array(points)


class Walker:
    """A person on a given path.

    Parameters
    ----------
    random : Generator
        Source of random numbers for clothes and build.
    look : int
        Index of the colours and the pattern of the clothes.
    height : float
        Height of the body in pixels.
    foot : float
        Row of the feet.
    frames, columns : sequences of float
        The path: column of the body at some frames, straight in between.
    rate_hz : float
        Frames per second.
    """

    def __init__(
        self,
        random: np.random.Generator,
        look: int,
        *,
        height: float,
        foot: float,
        frames: list[float],
        columns: list[float],
        rate_hz: float,
    ) -> None:
        self.height, self.foot = height, foot
        self._frames, self._columns = frames, columns
        # Wide enough for the longest step and the hands.
        self._half = math.ceil(0.34 * height) + 2
        self._rows = math.ceil(1.04 * height) + 4
        self._natural = 0.5 * height / rate_hz  # pixels per frame at a comfortable pace
        self._right = 1.0 if columns[-1] > columns[0] else -1.0
        self._phase = random.uniform(0, 2 * math.pi)
        self._scale = int(np.clip(round(200 / height), 2, 6))
        jacket, trousers = _PALETTE[look % len(_PALETTE)]
        self._jacket, self._trousers = np.array(jacket, np.float32), np.array(trousers, np.float32)
        self._skin, self._hair = _SKIN[random.integers(len(_SKIN))], _HAIR[random.integers(len(_HAIR))]
        self._bag = random.random() < 0.45
        self._skirt = random.random() < 0.3
        self._cloth = self._weave(random, look)
        self._light = np.linspace(1.15, 0.85, 2 * self._half, dtype=np.float32)  # the sun is on the left

    def _weave(self, random: np.random.Generator, look: int) -> Image:
        """Make the pattern of the jacket: its deviation from a brightness factor of 1, over the whole sprite."""
        rows, columns = self._rows, 2 * self._half
        y, x = np.mgrid[0:rows, 0:columns].astype(np.float32) / self.height
        style = look % 4
        if style == 1:
            cloth = 1 + 0.35 * np.sign(np.sin(y * 115))
        elif style == 2:
            cloth = 1 + 0.22 * np.sign(np.sin(y * 95)) + 0.22 * np.sign(np.sin(x * 95))
        elif style == 3:
            cloth = np.where(y < 0.36, 1.5, 0.8)
        else:
            cloth = np.ones_like(y)
        grain = 0.06 * random.standard_normal((rows, columns), np.float32)
        pattern: Image = (cloth - 1 + grain).astype(np.float32)
        return pattern

    def column(self, i: int) -> float:
        """Return the column of the body at frame i."""
        return float(np.interp(i, self._frames, self._columns))

    def is_on_the_way(self, i: int) -> bool:
        """Return whether frame i lies in the time of the path."""
        return self._frames[0] <= i <= self._frames[-1]

    def draw(self, i: int) -> Sprite:
        """Draw the walker in frame i."""
        column = self.column(i)
        ahead, behind = self.column(i + 2), self.column(i - 2)
        effort = min(1.0, abs(ahead - behind) / 4 / self._natural)
        left, top = math.floor(column) - self._half, math.floor(self.foot) - self._rows + 2
        s = self._scale
        canvas = np.zeros((s * self._rows, s * 2 * self._half, 4), np.uint8)
        origin = (s * (column - left), s * (self.foot - top))
        jacket = self._draw_body(canvas, origin, column, effort)
        size = (2 * self._half, self._rows)
        pixels = cv2.resize(canvas, size, interpolation=cv2.INTER_AREA).astype(np.float32)
        worn = cv2.resize(jacket, size, interpolation=cv2.INTER_AREA) * np.float32(1 / 255)
        pixels[..., :3] *= ((1 + worn * self._cloth) * self._light)[..., None]
        opacity = pixels[..., 3]
        opacity *= 1 / 255
        np.minimum(pixels[..., :3], 255 * opacity[..., None], out=pixels[..., :3])
        return Sprite(top, left, pixels)

    def _draw_body(self, canvas: Image, origin: tuple[float, float], column: float, effort: float) -> Image:
        """Draw on the enlarged canvas; return the mask of the jacket."""
        unit = self._scale * self.height
        cycle = 2 * math.pi * column * self._right / (_STRIDE * self.height) + self._phase
        swing = effort * math.sin(cycle)
        lean = 0.05 * effort * self._right
        jacket = np.zeros(canvas.shape[:2], np.uint8)
        bends = []
        for side in (-1, 1):
            angle = 0.48 * swing * side
            knee = 0.75 * effort * max(0.0, math.cos(cycle) * side) + 0.06
            bends.append((angle * self._right, (angle - knee) * self._right))
        hip = 0.02 + max(0.25 * math.cos(thigh) + 0.24 * math.cos(shin) for thigh, shin in bends)

        def at(x: float, y: float) -> tuple[float, float]:
            """Return the position of a point of the body, whose hip is at 0.51 and sinks when the legs are spread."""
            return origin[0] + unit * (x + lean * max(0.0, y - 0.5)), origin[1] - unit * (y + hip - 0.51)

        def stroke(points: Image, thick: float, colour: Any, *, coat: bool = False) -> None:
            line = [np.rint(points).astype(np.int32)]
            cv2.polylines(canvas, line, False, (*map(float, colour), 255.0), max(1, round(thick * unit)))
            if coat:
                cv2.polylines(jacket, line, False, 255, max(1, round(thick * unit)))

        def leg(bend: tuple[float, float], shade: float) -> None:
            joints = _limb(at(0, 0.51), (0.25 * unit, 0.24 * unit), bend)
            stroke(joints, 0.075, self._trousers * shade)
            shoe = np.array([joints[-1], joints[-1] + (0.06 * unit * self._right, 0.012 * unit)])
            stroke(shoe, 0.045, (34, 36, 40))

        def arm(side: float, shade: float) -> None:
            angle = -0.55 * swing * side
            joints = _limb(
                at(0, 0.80), (0.165 * unit, 0.15 * unit), (angle * self._right, (angle + 0.35) * self._right)
            )
            stroke(joints, 0.058, self._jacket * shade, coat=True)
            stroke(np.array([joints[-1], joints[-1] + (0, 0.01 * unit)]), 0.05, self._skin)

        arm(-1, 0.72)
        leg(bends[0], 0.75)
        leg(bends[1], 1.0)
        if self._bag:
            back = at(-0.10 * self._right, 0.70)
            axes = (round(0.075 * unit), round(0.12 * unit))
            cv2.ellipse(canvas, (round(back[0]), round(back[1])), axes, 0, 0, 360, (52, 62, 58, 255), cv2.FILLED)
        hem = 0.36 if self._skirt else 0.47
        flare = 0.115 if self._skirt else 0.082
        outline = [
            at(-0.085, 0.83), at(0.085, 0.83), at(0.088, 0.66), at(flare, hem), at(-flare, hem), at(-0.088, 0.66)
        ]  # fmt: skip
        torso = [np.rint(np.array(outline)).astype(np.int32)]
        cv2.fillPoly(canvas, torso, (*map(float, self._jacket), 255.0))
        cv2.fillPoly(jacket, torso, 255)
        arm(1, 1.08)
        stroke(np.array([at(0, 0.82), at(0, 0.87)]), 0.06, self._skin)
        self._draw_head(canvas, at(0.012 * self._right, 0.925), 0.066 * unit)
        return jacket

    def _draw_head(self, canvas: Image, head: tuple[float, float], radius: float) -> None:
        """Draw face and hair around a middle, given as x and y."""
        middle = (round(head[0]), round(head[1]))
        cv2.ellipse(canvas, middle, (round(0.85 * radius), round(radius)), 0, 0, 360, (*self._skin, 255), cv2.FILLED)
        crown = (round(head[0] - 0.25 * radius * self._right), round(head[1] - 0.3 * radius))
        cv2.ellipse(
            canvas, crown, (round(0.85 * radius), round(0.85 * radius)), 0, 0, 360, (*self._hair, 255), cv2.FILLED
        )


def cast_shadow(
    sprite: Sprite,
    foot: float,
    *,
    strength: float = _SHADOW_STRENGTH,
    softness: float = 0.012,
    margin: int = 3,
    fall: float = _SHADOW_FALL,
) -> Sprite:
    """Return the shadow of a figure on the ground.

    Parameters
    ----------
    sprite : Sprite
        The figure.
    foot : float
        Row of its feet.
    strength : float
        Share of the light that is missing where the shadow is darkest.
    softness : float
        Standard deviation of the blur in heights of the figure.
    margin : int
        Pixels around the sharp shadow that the blur may reach.
    fall : float
        How far down in the image the shadow of the head lies, in heights of the figure.

    Returns
    -------
    Sprite
        `pixels` is a (h, w) float32 share of the light that is missing.
    """
    columns = sprite.pixels.shape[1]
    tall = foot - sprite.top
    width = columns + math.ceil(_SHADOW_SHIFT * tall) + 2 * margin
    height = math.ceil(fall * tall) + 2 * margin + 2
    # A point z above the ground falls on (x + shift z, foot + fall z).
    map_to = np.array(
        [
            [1, -_SHADOW_SHIFT, _SHADOW_SHIFT * tall + margin],
            [0, -fall, fall * tall + margin],
        ]
    )
    flat = cv2.warpAffine(np.ascontiguousarray(sprite.pixels[..., 3]), map_to, (width, height), flags=cv2.INTER_LINEAR)
    soft = cv2.GaussianBlur(flat, (0, 0), max(0.6, softness * tall))
    return Sprite(math.floor(foot) - margin, sprite.left - margin, strength * soft)
