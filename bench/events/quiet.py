"""Scenes in which nothing happens that is an event: noise, leaves, water, clouds, light switches, knocks, rain."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from bgsub._opencv import cv2
from bgsub.frames import Frame, Packet
from bgsub.video.sources.synthetic.families.camera import Effect, Light, drift
from bgsub.video.sources.synthetic.families.scene import Layer
from bgsub.video.sources.synthetic.families.scenery import Foliage, Water
from bgsub.video.sources.synthetic.families.stage import RATE_HZ, Stage

__all__ = ["SCENES", "QuietScene", "make_quiet"]


@dataclass(frozen=True)
class QuietScene:
    """A scene without any actor."""

    stage: Stage
    effects: tuple[Effect, ...]
    """Light, weather and sensor, in the order of their effect."""
    layers: tuple[Layer, ...] = ()
    knocks: tuple[int, ...] = ()
    """Frames at which the camera is turned a little, for good."""

    def frames(self, step: int = 1) -> Iterator[Packet]:
        """Draw every n-th frame."""
        scene = self.stage.scene([], layers=self.layers, effects=())
        for i in range(0, self.stage.frames, step):
            image = self._turned(scene.frame(i)[0], i)
            for effect in self.effects:
                image = effect(image, i)
            yield Packet(i, i / RATE_HZ, np.ascontiguousarray(image), i + 1)

    def _turned(self, image: Frame, i: int) -> Frame:
        turns = sum(i >= knock for knock in self.knocks)
        if not turns:
            return image
        matrix = np.array([[1, 0, 5.0 * turns], [0, 1, 3.0 * turns]])
        size = image.shape[1::-1]
        return np.asarray(cv2.warpAffine(image, matrix, size, borderMode=cv2.BORDER_REFLECT_101))


class Clouds:
    """Shadows of clouds that drift over the scene, a third darker.

    The sun is half a degree wide: the edge of the shadow of a cloud 1000 m above is at least 9 m wide, which is a good
    part of what a camera sees.
    """

    def __init__(self, seed: int, size: tuple[int, int], speed: float) -> None:
        random = np.random.default_rng((seed, 40))
        coarse = random.standard_normal((3, 12)).astype(np.float32)
        coarse = np.concatenate([coarse, coarse[:, :1]], axis=1)  # it goes round
        waves = np.asarray(cv2.resize(coarse, (6 * size[1], size[0]), interpolation=cv2.INTER_CUBIC))
        low, high = np.quantile(waves, [0.35, 0.75])
        self._shade = np.clip((waves - low) / (high - low), 0, 1)
        self._speed, self._width = speed, size[1]

    def __call__(self, image: Frame, i: int) -> Frame:
        """Return the frame under the clouds of its time."""
        left = int(i * self._speed) % self._shade.shape[1]
        shade = np.roll(self._shade, -left, axis=1)[:, : self._width]
        return np.asarray(np.rint(image * (1 - 0.35 * shade[..., None])), np.uint8)


class Rain:
    """Bright streaks in other places in each frame."""

    def __init__(self, seed: int, count: int) -> None:
        self._seed, self._count = seed, count

    def __call__(self, image: Frame, i: int) -> Frame:
        """Return the frame in the rain."""
        random = np.random.default_rng((self._seed, 41, i))
        image = image.copy()
        for x, y in random.integers(0, image.shape[1::-1], (self._count, 2)):
            length = int(random.integers(8, 30))
            cv2.line(image, (int(x), int(y)), (int(x) + length // 5, int(y) + length), (200, 200, 200), 1, cv2.LINE_AA)
        return image


def switches(every: int, depth: float) -> Callable[[int], float]:
    """Return a brightness that falls and comes back at once, every so many frames."""
    return lambda i: 1 - depth if (i // every) % 2 else 1.0


SCENES = ("noise", "leaves", "water", "clouds", "dusk", "switches", "flicker", "knocks", "rain")
"""Kinds of scenes."""


def make_quiet(kind: str, *, seed: int = 0, size: tuple[int, int] = (270, 480), frames: int = 1500) -> QuietScene:
    """Make a scene of a kind; light switches and knocks come ten times, but at most every 12 s."""
    stage = Stage(seed, size, frames, 0)
    noise, every = stage.noise(), max(300, frames // 11)
    makers: dict[str, Callable[[], QuietScene]] = {
        "noise": lambda: QuietScene(stage, (stage.noise(6.0),)),
        "leaves": lambda: QuietScene(stage, (noise,), (Foliage(stage.random(23), size, 6.0),)),
        "water": lambda: QuietScene(stage, (noise,), (Water(stage.random(23), size, 6.0),)),
        "clouds": lambda: QuietScene(stage, (Clouds(seed, size, size[1] / 1200), noise)),
        "dusk": lambda: QuietScene(stage, (Light(drift(0.6, frames)), noise)),
        "switches": lambda: QuietScene(stage, (Light(switches(every, 0.5)), noise)),
        "flicker": lambda: QuietScene(stage, (Light(lambda i: 1 - 0.04 * (1 + math.sin(0.9 * i))), noise)),
        "knocks": lambda: QuietScene(stage, (noise,), knocks=tuple(range(every, frames, every))),
        "rain": lambda: QuietScene(stage, (Rain(seed, 60), noise)),
    }
    return makers[kind]()
