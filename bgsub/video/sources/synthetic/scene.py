"""A generated surveillance scene with exact ground truth, determined by its seed."""

import math

import numpy as np

from bgsub._input.frame_size import check_made_size
from bgsub._opencv import cv2
from bgsub.frames import RATE_INTERVAL, Frame, Mask, plausible_rate
from bgsub.video.sources.synthetic.compose import darken, overlay
from bgsub.video.sources.synthetic.scenery import Pond, Tree, paint_background
from bgsub.video.sources.synthetic.walkers import Sprite, Walker, cast_shadow

__all__ = ["SyntheticScene"]

_HORIZON = 0.12  # row of the feet of a person infinitely far away, as a fraction of the height
_LANES = (0.80, 0.625, 0.70, 0.345, 0.76, 0.585, 0.665)
_SMALLEST = 32


class SyntheticScene:
    """A street with pond and tree that people walk through, drawn frame by frame with its labels.

    The first fifth of the clip is empty, so that a model can learn. Any frame can be asked for at any time;
    the same parameters give the same bits.

    Parameters
    ----------
    size : (height, width)
        In pixels, each at least 32.
    frames : int
        Length of the clip, at least 1.
    rate_hz : float
        Frames per second, in [1e-6, 1e6]. Water, tree and people move in real time; everybody is fast enough
        to cross the image within the clip.
    seed : int
        Seed of all random numbers, not negative.
    noise : float
        Standard deviation of the sensor noise in grey levels, in [0, 255].
    water, tree : bool
        Whether the pond ripples and the tree sways.
    slow_light, sudden_light : bool
        Whether light drifts over the clip and drops at once at 62 % of it.
    walkers, stopper : bool
        Whether people cross the image, and whether one person walks in, stops for half the rest of the clip
        and walks on.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> scene = SyntheticScene(size=(60, 80), frames=50, seed=1)
    >>> frame, labels = scene.frame(30)
    >>> frame.shape, frame.dtype, labels.shape
    ((60, 80, 3), dtype('uint8'), (60, 80))
    >>> np.unique(labels)
    array([  0,  50, 170, 255], dtype=uint8)
    """

    def __init__(
        self,
        size: tuple[int, int] = (240, 320),
        frames: int = 300,
        rate_hz: float = 25.0,
        seed: int = 0,
        *,
        noise: float = 2.5,
        water: bool = True,
        tree: bool = True,
        slow_light: bool = True,
        sudden_light: bool = True,
        walkers: bool = True,
        stopper: bool = True,
    ) -> None:
        if min(size) < _SMALLEST:
            raise ValueError(f"size must be at least {_SMALLEST} in both directions, got {size}")
        check_made_size(size)
        if frames < 1:
            raise ValueError(f"frames must be at least 1, got {frames}")
        if plausible_rate(rate_hz) is None:
            raise ValueError(f"rate_hz must be in {RATE_INTERVAL}, got {rate_hz}")
        if seed < 0:
            raise ValueError(f"seed must not be negative, got {seed}")
        if not 0 <= noise <= 255:
            raise ValueError(f"noise must be in [0, 255], got {noise}")
        self.size, self.frames, self.rate_hz = size, frames, float(rate_hz)
        self.seed, self.noise = seed, noise
        self.water, self.tree, self.slow_light, self.sudden_light = water, tree, slow_light, sudden_light
        self.empty_frames = frames // 5
        """Number of frames at the start without people."""
        # One stream per purpose: switching an effect off leaves the rest of the scene unchanged.
        streams = [np.random.default_rng((seed, purpose)) for purpose in range(5)]
        self._still_background = paint_background(streams[0], size)
        self._pond, self._tree = Pond(streams[1], size), Tree(streams[2], size)
        self._noise_field = (noise * streams[3].standard_normal((size[0] + 64, size[1] + 64, 3), np.float32)).round()
        self._noise_field = self._noise_field.astype(np.int16)
        self._people = self._make_walkers(streams[4], walkers=walkers, stopper=stopper)
        if not water:
            self._pond.draw(self._still_background, 0.0)
        self._still_tree = None if tree else self._tree.bend(0.0)

    def _make_walkers(self, random: np.random.Generator, *, walkers: bool, stopper: bool) -> list[Walker]:
        """Make the people with their paths, nearest last."""
        height, width = self.size
        active = max(1, self.frames - self.empty_frames)
        people = []

        def send(look: int, lane: float, frames: list[float], columns: list[float]) -> None:
            tall = 0.52 * (lane - _HORIZON) * height
            people.append(
                Walker(
                    random,
                    look,
                    height=tall,
                    foot=lane * height,
                    frames=frames,
                    columns=[_to_column(position, width, tall) for position in columns],
                    rate_hz=self.rate_hz,
                )
            )

        count = int(np.clip(round(active / self.rate_hz / 1.4), 4, 40)) if walkers else 0
        for number in range(count):
            lane = _LANES[number % len(_LANES)] + random.uniform(-0.012, 0.012)
            pace = 0.55 * (lane - _HORIZON) * height / width * random.uniform(0.8, 1.3) / self.rate_hz
            crossing = min(1 / pace, 0.6 * active)
            start = self.empty_frames + 0.85 * active * (number / count) + random.uniform(0, 0.05) * active
            ways = [0.0, 1.0] if random.random() < 0.5 else [1.0, 0.0]
            send(number + 1, lane, [start, start + crossing], ways)
        if stopper:
            times = [self.empty_frames + share * active for share in (0.02, 0.22, 0.70, 0.98)]
            send(0, 0.735, times, [0.0, 0.42, 0.42, 1.0])
        return sorted(people, key=lambda person: person.foot)

    def frame(self, i: int) -> tuple[Frame, Mask]:
        """Draw frame i and its labels.

        Parameters
        ----------
        i : int
            0-based, below `frames`.

        Returns
        -------
        frame : (H, W, 3) uint8 array
            BGR.
        labels : (H, W) uint8 array
            0 static, 50 shadow, 170 unknown (the edge of a person, leaves in front), 255 moving object.

        Raises
        ------
        ValueError
            If there is no such frame.
        """
        return self._render(i, self._people)

    def background(self, i: int) -> Frame:
        """Draw frame i as it would be without people, down to the same noise."""
        return self._render(i, [])[0]

    def _render(self, i: int, people: list[Walker]) -> tuple[Frame, Mask]:
        if not 0 <= i < self.frames:
            raise ValueError(f"i must be in [0, {self.frames}), got {i}")
        time_s = i / self.rate_hz
        image = self._still_background.copy()
        labels = np.zeros(self.size, np.uint8)
        if self.water:
            self._pond.draw(image, time_s)
        sprites = [(person, person.draw(i)) for person in people if person.is_on_the_way(i)]
        for person, sprite in sprites:
            darken(image, labels, cast_shadow(sprite, person.foot))
        for person, sprite in sprites:
            if person.foot <= self._tree.foot:
                overlay(image, labels, sprite)
        tree = self._tree.bend(time_s) if self._still_tree is None else self._still_tree
        overlay(image, labels, Sprite(0, 0, tree), moving=False)
        for person, sprite in sprites:
            if person.foot > self._tree.foot:
                overlay(image, labels, sprite)
        image = cv2.LUT(image, self._exposure(i))
        return self._expose(image, i), labels

    def _exposure(self, i: int) -> Frame:
        """Return the brightness of frame i as a (1, 256, 3) table: less light is bluer."""
        progress = i / self.frames
        light = 1.0
        if self.slow_light:
            light += 0.10 * math.sin(2 * math.pi * progress) - 0.06 * progress
        if self.sudden_light and progress >= 0.62:
            light *= 0.78
        warmth = np.array((0.80, 0.97, 1.08)) ** (light - 1) if light != 1 else np.ones(3)
        table = np.arange(256)[None, :, None] * light * warmth
        return np.clip(np.rint(table), 0, 255).astype(np.uint8)

    def _expose(self, image: Frame, i: int) -> Frame:
        """Add the sensor noise of frame i: a piece of one large field, another piece for each frame."""
        top, left = np.random.default_rng((self.seed, 5, i)).integers(0, 65, 2)
        field = self._noise_field[top : top + self.size[0], left : left + self.size[1]]
        noisy: Frame = cv2.add(image, field, dtype=cv2.CV_8U)
        return noisy


def _to_column(position: float, width: int, tall: float) -> float:
    """Convert a position in widths to a column; the ends lie so far outside that no shadow reaches in."""
    return position * width + tall * (-1.0 if position == 0 else 0.4 if position == 1 else 0.0)
