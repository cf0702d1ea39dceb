"""Parts of a background that move by themselves: water and leaves."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.video.sources.synthetic.families.backdrop import HORIZON
from bgsub.video.sources.synthetic.scenery import fractal_noise

__all__ = ["Foliage", "Water"]

Image = NDArray[Any]


class Water:
    """Water from wall to floor, with waves of several lengths.

    Parameters
    ----------
    random : Generator
        Source of random numbers for colour, texture and waves.
    size : (height, width)
        Size of the image in pixels.
    height : float
        Brightness between trough and crest of the largest waves, in grey levels.
    """

    def __init__(self, random: np.random.Generator, size: tuple[int, int], height: float) -> None:
        rows, width = size
        self._rows = slice(round(HORIZON * rows), round(random.uniform(0.66, 0.74) * rows))
        y, x = np.mgrid[self._rows, 0:width].astype(np.float32)
        colour = np.array(((128, 112, 84), (110, 120, 90), (140, 128, 110))[random.integers(3)], np.float32)
        murk = 5 * fractal_noise(random, y.shape, width / 12, stretch=3)
        self._still = colour + murk[..., None] + 24 * ((self._rows.stop - y) / rows)[..., None]
        self._height = height
        unit = width / 320
        self._waves = []
        for length, share, period in ((26, 0.5, 1.7), (13, 0.3, 1.0), (7, 0.2, 0.6)):
            heading = random.uniform(-0.5, 0.5)
            k = 2 * math.pi / (length * unit)
            # Seen at a grazing angle, waves are closer together from top to bottom.
            phase = k * (math.cos(heading) * x + 3 * math.sin(heading + 0.4) * y) + random.uniform(0, 6.28)
            phase += 1.2 * fractal_noise(random, y.shape, width / 6, stretch=3)  # crests are no straight lines
            self._waves.append((phase.astype(np.float32), np.float32(share), 2 * math.pi / period))

    def draw(self, image: Image, time_s: float) -> None:
        """Draw the water as it is at a time, into a (H, W, 3) uint8 image."""
        swell = np.zeros(self._still.shape[:2], np.float32)
        for phase, share, speed in self._waves:
            swell += share * np.sin(phase - np.float32(speed * time_s))
        swell += 1.5 * np.maximum(swell - np.float32(0.45), 0)  # glints
        image[self._rows] = np.clip(self._still + np.float32(0.5 * self._height) * swell[..., None], 0, 255)


class Foliage:
    """Leaves before the wall and half of the floor, which sway in the wind.

    Parameters
    ----------
    random : Generator
        Source of random numbers for leaves and gusts.
    size : (height, width)
        Size of the image in pixels.
    sway : float
        Largest displacement of a leaf, in pixels.
    """

    def __init__(self, random: np.random.Generator, size: tuple[int, int], sway: float) -> None:
        height, width = size
        self._sway = sway
        rows = round(random.uniform(0.58, 0.66) * height)
        light = fractal_noise(random, (rows, width), width / 10) + fractal_noise(random, (rows, width), width / 50)
        leaves = np.clip(0.75 + 0.28 * light, 0.15, 1.6)[..., None] * np.array((50, 116, 84), np.float32)
        # Gaps between the leaves, where the wall shows through.
        gaps = fractal_noise(random, (rows, width), width / 16)
        edge = (np.arange(rows) / rows)[:, None]
        opacity = np.clip(2.5 * (1.3 - gaps - 20 * np.maximum(edge - 0.8, 0)), 0, 1)[..., None]
        self._layer = np.concatenate((leaves * opacity, opacity), axis=2).astype(np.float32)
        self._y, self._x = np.mgrid[0:rows, 0:width].astype(np.float32)
        self._phase = (2.5 * fractal_noise(random, (rows, width), width / 8)).astype(np.float32)
        self._turns = random.uniform(0, 2 * math.pi, 3)

    def draw(self, image: Image, time_s: float) -> None:
        """Draw the leaves as they are at a time, into a (H, W, 3) uint8 image."""
        gust = 0.65 + 0.35 * math.sin(0.5 * time_s + self._turns[0])
        swing = 0.6 * math.sin(1.9 * time_s + self._turns[1])
        ripple = 0.4 * np.sin(self._phase + np.float32(6.0 * time_s + self._turns[2]))
        shift = np.float32(self._sway * gust) * (ripple + np.float32(swing))
        moved = cv2.remap(
            self._layer, self._x + shift, self._y + 0.5 * shift, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT
        )
        region = image[: len(moved)]
        region[:] = region * (1 - moved[..., 3:]) + moved[..., :3]
