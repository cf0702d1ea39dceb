"""Families of generated scenes, each with one knob that makes it easier or harder."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bgsub._opencv import cv2
from bgsub.video.sources.synthetic.families.actors import Actor, paint_rod, paint_spot
from bgsub.video.sources.synthetic.families.camera import Grey, Jitter, Jpeg, Light, drift, step
from bgsub.video.sources.synthetic.families.scene import ComposedScene, Shadow
from bgsub.video.sources.synthetic.families.scenery import Foliage, Water
from bgsub.video.sources.synthetic.families.stage import RATE_HZ, Stage

__all__ = ["FAMILIES", "Family", "make_scene"]

_SMALLEST = 32
_FEWEST = 20
_SLOWEST_HZ, _FASTEST_HZ = 1.0, 240.0


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of scene, whose difficulty one number sets."""

    name: str
    """Name in texts and reports."""
    description: str
    """What makes the scene hard, in one line."""
    knob: str
    """Name of the number."""
    unit: str
    """Unit of the number."""
    values: tuple[float, ...]
    """Values for a curve, from easy to hard."""
    limits: tuple[float, float]
    """Least and largest value."""
    build: Callable[[Stage, float], ComposedScene]
    """Makes the scene from its common parts and the value."""
    starts_empty: bool = True
    """Whether there are no objects in the first fifth of the clip, which trains the model."""

    def empty_frames(self, frames: int) -> int:
        """Return the number of frames at the start that are not scored, in a clip of so many."""
        return frames // 5 if self.starts_empty else 1

    def check(self, knob: float, seed: int, size: tuple[int, int], frames: int, rate_hz: float = RATE_HZ) -> None:
        """Check the parameters of a scene.

        Raises
        ------
        ValueError
            If one is out of range.
        """
        low, high = self.limits
        if not low <= knob <= high:
            raise ValueError(f"{self.knob} of {self.name} must be in [{low:g}, {high:g}], got {knob:g}")
        if seed < 0:
            raise ValueError(f"seed must not be negative, got {seed}")
        if min(size) < _SMALLEST:
            raise ValueError(f"size must be at least {_SMALLEST} in both directions, got {size}")
        if not _SLOWEST_HZ <= rate_hz <= _FASTEST_HZ:
            raise ValueError(f"rate must be in [{_SLOWEST_HZ:g}, {_FASTEST_HZ:g}] frames/s, got {rate_hz:g}")
        fewest = _FEWEST
        if self.knob == "standing":  # each way takes up to 1.4 s, and a fifth of the clip may be empty
            fewest += math.ceil((knob + 2.8) * rate_hz / (0.8 if self.starts_empty else 1))
        if frames < fewest:
            raise ValueError(f"frames must be at least {fewest}, got {frames}")


def _noise(stage: Stage, sigma: float) -> ComposedScene:
    return stage.scene(stage.traffic(), effects=(stage.noise(sigma),))


def _slow_light(stage: Stage, depth: float) -> ComposedScene:
    return stage.scene(stage.traffic(), effects=(Light(drift(depth / 100, stage.frames)), stage.noise()))


def _sudden_light(stage: Stage, depth: float) -> ComposedScene:
    first, last = round(0.45 * stage.frames), round(0.75 * stage.frames)
    return stage.scene(stage.traffic(), effects=(Light(step(depth / 100, first, last)), stage.noise()))


def _jitter(stage: Stage, amplitude: float) -> ComposedScene:
    return stage.scene(stage.traffic(), jitter=Jitter(stage.seed, amplitude))


def _foliage(stage: Stage, sway: float) -> ComposedScene:
    return stage.scene(stage.traffic(), layers=(Foliage(stage.random(23), stage.size, sway),))


def _water(stage: Stage, height: float) -> ComposedScene:
    return stage.scene(stage.traffic(), layers=(Water(stage.random(23), stage.size, height),))


def _hard_shadow(stage: Stage, strength: float) -> ComposedScene:
    return stage.scene(stage.traffic(), shadow=Shadow(strength / 100, 0.008))


def _soft_shadow(stage: Stage, strength: float) -> ComposedScene:
    return stage.scene(stage.traffic(), shadow=Shadow(strength / 100, 0.07))


def _camouflage(stage: Stage, contrast: float) -> ComposedScene:
    actors = stage.traffic()
    signs = stage.random(24).choice((-1.0, 1.0), len(actors))
    return stage.scene(actors, contrasts=[contrast * float(sign) for sign in signs])


def _thermal(stage: Stage, contrast: float) -> ComposedScene:
    actors = stage.traffic()
    # The optics of thermal cameras are soft, and most of a scene has nearly one temperature.
    blurred = cv2.GaussianBlur(stage.backdrop(), (0, 0), 1.5).astype(np.float32)
    backdrop = np.clip(np.rint(70 + 0.3 * (blurred - blurred.mean())), 0, 255).astype(np.uint8)
    grey = np.repeat(cv2.cvtColor(backdrop, cv2.COLOR_BGR2GRAY)[..., None], 3, axis=2)
    parts = {"backdrop": grey, "contrasts": [contrast] * len(actors), "effects": (Grey(), stage.noise(2.5))}
    return stage.scene(actors, **parts)


def _stop_and_go(stage: Stage, standing: float) -> ComposedScene:
    return stage.scene(_stopping(stage, standing))


def _stopping(stage: Stage, standing: float) -> list[Actor]:
    """Make four people and cars that come, stand still and go."""
    random, actors = stage.random(22), []
    active = stage.frames - stage.empty_frames
    stop = standing * stage.rate_hz
    for number in range(4):
        way = float(random.uniform(0.8, 1.4)) * stage.rate_hz  # frames from the border to where it stands
        spare = max(0.0, active - stop - 2 * way)
        start = stage.empty_frames + spare * (number + random.uniform(0, 1)) / 4
        times = [start, start + way, start + way + stop, start + 2 * way + stop]
        column = (number + random.uniform(0.8, 1.2)) / 5
        ends = [0.0, 1.0] if column < 0.5 else [1.0, 0.0]
        foot = float(random.uniform(0.62, 0.95)) * stage.size[0]
        actors.append(stage.walker_or_car(random, number, foot, times, [ends[0], column, column, ends[1]]))
    return actors


def _ghost(stage: Stage, standing: float) -> ComposedScene:
    random, actors, left = stage.random(22), [], []
    for number in range(4):
        leave = standing * stage.rate_hz + 3 * number
        way = float(random.uniform(0.8, 1.4)) * stage.rate_hz
        column = (number + random.uniform(0.8, 1.2)) / 5
        foot = float(random.uniform(0.62, 0.95)) * stage.size[0]
        columns = [column, column, 1.0 if column > 0.5 else 0.0]
        actors.append(stage.walker_or_car(random, number, foot, [-1.0, leave, leave + way], columns))
        left.append(math.ceil(leave) + 1)
    passing = stage.traffic()[::3]  # few, so that ghosts weigh
    return stage.scene([*actors, *passing], left_at=[*left, *([0] * len(passing))])


def _small(stage: Stage, diameter: float) -> ComposedScene:
    random = stage.random(21)
    shapes = [paint_spot(random, diameter) for _ in range(max(4, stage.count(12)))]
    return stage.scene(stage.crossing(shapes, (3, 6), (0.1, 0.97)))


def _thin(stage: Stage, width: float) -> ComposedScene:
    random = stage.random(21)
    height, count = stage.size[0], max(4, stage.count(16))
    shapes = [paint_rod(random, random.uniform(0.2, 0.35) * height, width) for _ in range(count)]
    return stage.scene(stage.crossing(shapes, (3, 6), (0.45, 0.97)))


def _compression(stage: Stage, quality: float) -> ComposedScene:
    return stage.scene(stage.traffic(), effects=(stage.noise(), Jpeg(quality)))


_ALL = (
    Family("noise", "noise of the sensor", "sigma", "grey levels", (1, 2, 4, 8, 12, 20), (0, 60), _noise),
    Family("slow_light", "light that fades and comes back over the clip", "depth", "%", (5, 10, 20, 40, 60), (0, 100),
           _slow_light),
    Family("sudden_light", "light that drops at once and comes back later", "depth", "%", (5, 10, 20, 35, 50), (0, 100),
           _sudden_light),
    Family("jitter", "a shaking camera", "amplitude", "pixels", (0.25, 0.5, 1, 2, 4), (0, 30), _jitter),
    Family("foliage", "leaves in the wind", "sway", "pixels", (0.25, 1, 2, 5, 10), (0, 40), _foliage),
    Family("water", "water with waves", "height", "grey levels", (5, 15, 40, 80, 160), (0, 200), _water),
    Family("hard_shadow", "shadows with sharp edges", "strength", "%", (5, 15, 30, 50, 80), (0, 95), _hard_shadow),
    Family("soft_shadow", "shadows with blurred edges", "strength", "%", (5, 15, 30, 50, 80), (0, 95), _soft_shadow),
    Family("camouflage", "objects that resemble the background", "contrast", "grey levels", (60, 40, 25, 15, 8),
           (0, 255), _camouflage),
    Family("stop_and_go", "objects that stand still before they go on", "standing", "s", (0, 1, 2, 4, 8), (0, 600),
           _stop_and_go),
    Family("small", "small objects", "diameter", "pixels", (24, 12, 8, 5, 3), (1, 200), _small),
    Family("thin", "upright rods", "width", "pixels", (12, 6, 4, 2, 1), (1, 200), _thin),
    Family("ghost", "objects that are there in the first frame and leave", "standing", "s", (0, 1, 2, 4, 8), (0, 600),
           _ghost, starts_empty=False),
    Family("thermal", "a grey image of people hardly warmer than the scene", "contrast", "grey levels",
           (60, 40, 25, 15, 8), (0, 180), _thermal),
    Family("compression", "artefacts of JPEG", "quality", "of 100", (95, 75, 50, 25, 8), (1, 100), _compression),
)  # fmt: skip

FAMILIES: dict[str, Family] = {family.name: family for family in _ALL}
"""The generated families by name."""


def make_scene(
    family: str,
    knob: float,
    seed: int = 0,
    size: tuple[int, int] = (240, 320),
    frames: int = 400,
    rate_hz: float = RATE_HZ,
) -> ComposedScene:
    """Make a scene of a generated family; the same parameters give the same bits.

    Parameters
    ----------
    family : str
        A name of `FAMILIES`.
    knob : float
        The number that makes the scene easier or harder, between the limits of the family.
    seed : int
        Seed of layout, textures, objects and paths, not negative.
    size : (height, width)
        Size of the frames in pixels, each at least 32.
    frames : int
        Length of the clip, at least 20; with `standing`, long enough for objects to come, stand and go.
    rate_hz : float
        Frames per second, from 1 to 240: how far things move from frame to frame.

    Returns
    -------
    ComposedScene

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> frame, labels = make_scene("thermal", 30, size=(60, 80), frames=60).frame(40)
    >>> frame.shape, labels.dtype
    ((60, 80), dtype('uint8'))
    """
    if family not in FAMILIES:
        raise ValueError(f"family must be one of {', '.join(FAMILIES)}, got {family!r}")
    chosen = FAMILIES[family]
    chosen.check(knob, seed, size, frames, rate_hz)
    return chosen.build(Stage(seed, size, frames, chosen.empty_frames(frames), rate_hz), float(knob))
