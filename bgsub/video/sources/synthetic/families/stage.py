"""The common parts of generated families: a background and objects on their paths, all from one seed."""

from typing import Any

import numpy as np

from bgsub.frames import Frame
from bgsub.video.sources.synthetic.families.actors import Actor, Rigid, paint_car
from bgsub.video.sources.synthetic.families.backdrop import HORIZON, paint_backdrop
from bgsub.video.sources.synthetic.families.camera import Noise
from bgsub.video.sources.synthetic.families.scene import ComposedScene
from bgsub.video.sources.synthetic.walkers import Walker

__all__ = ["NOISE", "RATE_HZ", "Stage"]

RATE_HZ = 25.0
"""Usual frames per second of generated families."""
NOISE = 2.0
"""Standard deviation of the sensor noise of families that do not vary it, in grey levels."""

_FRONT = 0.96  # row of the feet of the nearest object, as a fraction of the height


class Stage:
    """Makes the parts of one scene.

    Each kind of part has a stream of random numbers of its own, so that a scene looks the same for all values of the
    knob.

    Parameters
    ----------
    seed : int
        Seed of all random numbers.
    size : (height, width)
        Size of the frames in pixels.
    frames : int
        Length of the clip.
    empty_frames : int
        Number of frames at the start that train the model, without traffic.
    rate_hz : float
        Frames per second.
    """

    def __init__(
        self, seed: int, size: tuple[int, int], frames: int, empty_frames: int, rate_hz: float = RATE_HZ
    ) -> None:
        self.seed, self.size, self.frames, self.empty_frames, self.rate_hz = seed, size, frames, empty_frames, rate_hz

    def random(self, purpose: int) -> np.random.Generator:
        """Return the stream of random numbers for a purpose."""
        return np.random.default_rng((self.seed, purpose))

    def count(self, frames: int) -> int:
        """Return how many objects come after the empty frames if one comes every so many frames at 25 per second."""
        return round((self.frames - self.empty_frames) * (RATE_HZ / self.rate_hz) / frames)

    def backdrop(self) -> Frame:
        """Paint the background, (H, W, 3) uint8 BGR."""
        return paint_backdrop(self.random(20), self.size)

    def noise(self, sigma: float = NOISE) -> Noise:
        """Make the noise of the sensor."""
        return Noise(self.seed, self.size, sigma)

    def height_at(self, foot: float) -> float:
        """Return the height of a person whose feet are in a row, in pixels."""
        return 0.50 * (foot - 0.6 * HORIZON * self.size[0])

    def walker_or_car(
        self, random: np.random.Generator, look: int, foot: float, frames: list[float], columns: list[float]
    ) -> Actor:
        """Make a person or a car on a path; columns are fractions of the width, 0 and 1 lie outside the image."""
        height, car = self.height_at(foot), look % 3 == 2
        half = 0.85 * height if car else 0.4 * height
        width = self.size[1]
        # Outside on the left, a shadow that falls to the right must not reach in.
        ends = {0.0: -2.0 * half, 1.0: width + 1.2 * half}
        path = [ends.get(column, column * width) for column in columns]
        if car:
            return Rigid(paint_car(random, 0.65 * height, right=path[-1] > path[0]), foot, frames, path)
        return Walker(random, look, height=height, foot=foot, frames=frames, columns=path, rate_hz=self.rate_hz)

    def traffic(self) -> list[Actor]:
        """Make people and cars who cross the image after the empty frames, about three at a time."""
        random = self.random(21)
        active = max(1, self.frames - self.empty_frames)
        count = int(np.clip(self.count(28), 3, 60))
        actors = []
        for number in range(count):
            foot = random.uniform(0.6, _FRONT) * self.size[0]
            crossing = min(0.6 * active, random.uniform(2.0, 3.6) * self.rate_hz * (0.6 if number % 3 == 2 else 1.0))
            start = self.empty_frames + (number + random.uniform(0, 0.5)) / count * (active - 0.5 * crossing)
            columns = [0.0, 1.0] if random.random() < 0.5 else [1.0, 0.0]
            actors.append(self.walker_or_car(random, number, foot, [start, start + crossing], columns))
        return actors

    def crossing(self, shapes: list[Any], seconds: tuple[float, float], rows: tuple[float, float]) -> list[Actor]:
        """Let rigid shapes cross the image one after the other, in rows between two fractions of the height."""
        random = self.random(22)
        active = max(1, self.frames - self.empty_frames)
        actors: list[Actor] = []
        for number, shape in enumerate(shapes):
            foot = random.uniform(*rows) * self.size[0]
            time = min(active, random.uniform(*seconds) * self.rate_hz)
            start = self.empty_frames + (number + random.random()) / len(shapes) * active - 0.5 * time
            half = 0.5 * shape.shape[1] + 2
            path = [-half, self.size[1] + half]
            if random.random() < 0.5:
                path.reverse()
            begin = max(float(self.empty_frames), start)
            at_begin = float(np.interp(begin, [start, start + time], path))
            actors.append(Rigid(shape, foot, [begin, start + time], [at_begin, path[1]]))
        return actors

    def scene(self, actors: list[Actor], **parts: Any) -> ComposedScene:
        """Put the scene together; `parts` are fields of `ComposedScene`."""
        parts.setdefault("backdrop", self.backdrop())
        parts.setdefault("effects", (self.noise(),))
        return ComposedScene(
            size=self.size,
            frames=self.frames,
            rate_hz=self.rate_hz,
            empty_frames=self.empty_frames,
            actors=actors,
            **parts,
        )
