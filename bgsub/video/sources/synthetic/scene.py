"""A generated surveillance scene with exact ground truth, the same for the same seed."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bgsub._opencv import cv2
from bgsub.errors import SinkError, SourceError
from bgsub.frames import Frame, Mask, Packet, VideoInfo
from bgsub.video.sources.base import FrameSource
from bgsub.video.sources.position import Position
from bgsub.video.sources.synthetic.scenery import Pond, Tree, paint_set
from bgsub.video.sources.synthetic.walkers import Sprite, Walker, cast

__all__ = ["SCENES", "SyntheticScene", "SyntheticSource", "open_synthetic", "write_sample"]

SCENES: dict[str, dict[str, Any]] = {
    "walkers": {},
    "water": {"tree": False, "slow_light": False, "sudden_light": False, "stopper": False},
    "tree": {"water": False, "slow_light": False, "sudden_light": False, "stopper": False},
    "light": {"water": False, "tree": False, "stopper": False},
    "stop": {"water": False, "tree": False, "slow_light": False, "sudden_light": False, "walkers": False},
    "easy": {"water": False, "tree": False, "slow_light": False, "sudden_light": False, "stopper": False},
}
"""Effects switched off in each named scene; "walkers" has them all."""

STATIC, SHADOW, UNKNOWN, MOVING = 0, 50, 170, 255

_HORIZON = 0.12  # row at which somebody infinitely far would stand, as a fraction of the height
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
        Frames per second, positive. Water, tree and people move in real time; nobody is slower than it takes
        to cross the picture within the clip.
    seed : int
        Decides on everything left to chance, not negative.
    noise : float
        Standard deviation of the sensor noise in grey levels, not negative.
    water, tree : bool
        Whether the pond ripples and the tree sways.
    slow_light, sudden_light : bool
        Whether light drifts over the clip and drops at once at 62 % of it.
    walkers, stopper : bool
        Whether people cross the picture, and whether somebody walks in, stands for half the rest of the clip
        and goes on.

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
        if frames < 1:
            raise ValueError(f"frames must be at least 1, got {frames}")
        if not (rate_hz > 0 and math.isfinite(rate_hz)):
            raise ValueError(f"rate_hz must be positive, got {rate_hz}")
        if seed < 0:
            raise ValueError(f"seed must not be negative, got {seed}")
        if not (noise >= 0 and math.isfinite(noise)):
            raise ValueError(f"noise must not be negative, got {noise}")
        self.size, self.frames, self.rate_hz = size, frames, float(rate_hz)
        self.seed, self.noise = seed, noise
        self.water, self.tree, self.slow_light, self.sudden_light = water, tree, slow_light, sudden_light
        self.quiet = frames // 5
        """Number of frames at the start that nobody is in."""
        # One stream a purpose: switching an effect off leaves the rest of the scene as it is.
        streams = [np.random.default_rng((seed, purpose)) for purpose in range(5)]
        self._set = paint_set(streams[0], size)
        self._pond, self._tree = Pond(streams[1], size), Tree(streams[2], size)
        self._film = (noise * streams[3].standard_normal((size[0] + 64, size[1] + 64, 3), np.float32)).round()
        self._film = self._film.astype(np.int16)
        self._people = self._send_people(streams[4], walkers=walkers, stopper=stopper)
        if not water:
            self._pond.draw(self._set, 0.0)
        self._still_tree = None if tree else self._tree.bend(0.0)

    def _send_people(self, random: np.random.Generator, *, walkers: bool, stopper: bool) -> list[Walker]:
        """Put everybody on a path, nearest last."""
        height, width = self.size
        active = max(1, self.frames - self.quiet)
        people = []

        def send(look: int, lane: float, frames: list[float], places: list[float]) -> None:
            tall = 0.52 * (lane - _HORIZON) * height
            people.append(
                Walker(
                    random,
                    look,
                    height=tall,
                    foot=lane * height,
                    frames=frames,
                    places=[_off_stage(place, width, tall) for place in places],
                    rate_hz=self.rate_hz,
                )
            )

        count = int(np.clip(round(active / self.rate_hz / 1.4), 4, 40)) if walkers else 0
        for number in range(count):
            lane = _LANES[number % len(_LANES)] + random.uniform(-0.012, 0.012)
            pace = 0.55 * (lane - _HORIZON) * height / width * random.uniform(0.8, 1.3) / self.rate_hz
            crossing = min(1 / pace, 0.6 * active)
            start = self.quiet + 0.85 * active * (number / count) + random.uniform(0, 0.05) * active
            ways = [0.0, 1.0] if random.random() < 0.5 else [1.0, 0.0]
            send(number + 1, lane, [start, start + crossing], ways)
        if stopper:
            times = [self.quiet + share * active for share in (0.02, 0.22, 0.70, 0.98)]
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
            0 static, 50 shadow, 170 unknown (the edge of a figure, leaves before it), 255 moving object.

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
        image = self._set.copy()
        labels = np.zeros(self.size, np.uint8)
        if self.water:
            self._pond.draw(image, time_s)
        figures = [(person, person.draw(i)) for person in people if person.is_on_the_way(i)]
        for person, figure in figures:
            _darken(image, labels, cast(figure, person.foot))
        for person, figure in figures:
            if person.foot <= self._tree.foot:
                _overlay(image, labels, figure)
        tree = self._tree.bend(time_s) if self._still_tree is None else self._still_tree
        _overlay(image, labels, Sprite(0, 0, tree), moving=False)
        for person, figure in figures:
            if person.foot > self._tree.foot:
                _overlay(image, labels, figure)
        image = cv2.LUT(image, self._exposure(i))
        return self._expose(image, i), labels

    def _exposure(self, i: int) -> Frame:
        """Brightness of frame i as a (1, 256, 3) table: less light is bluer."""
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
        film = self._film[top : top + self.size[0], left : left + self.size[1]]
        noisy: Frame = cv2.add(image, film, dtype=cv2.CV_8U)
        return noisy


def _off_stage(place: float, width: int, tall: float) -> float:
    """Turn a place in widths into a column; the ends lie so far outside that no shadow reaches in."""
    return place * width + tall * (-1.0 if place == 0 else 0.4 if place == 1 else 0.0)


def _window(sprite: Sprite, size: tuple[int, int]) -> tuple[tuple[slice, slice], Any]:
    """Cut what lies outside the picture off a sprite: where it goes, and what is left of its pixels."""
    rows, columns = sprite.pixels.shape[:2]
    top, left = max(0, sprite.top), max(0, sprite.left)
    bottom, right = max(top, min(size[0], sprite.top + rows)), max(left, min(size[1], sprite.left + columns))
    pixels = sprite.pixels[top - sprite.top : bottom - sprite.top, left - sprite.left : right - sprite.left]
    return (slice(top, bottom), slice(left, right)), pixels


def _darken(image: Frame, labels: Mask, shadow: Sprite) -> None:
    place, share = _window(shadow, labels.shape)
    region = image[place]
    region[:] = region * (1 - share[..., None]) + 0.5
    labels[place][share > 0.04] = SHADOW  # less is within the noise


def _overlay(image: Frame, labels: Mask, sprite: Sprite, *, moving: bool = True) -> None:
    place, pixels = _window(sprite, labels.shape)
    region, marks = image[place], labels[place]
    opacity = pixels[..., 3]
    region[:] = region * (1 - opacity[..., None]) + pixels[..., :3] + 0.5
    if moving:
        marks[opacity > 0.04] = UNKNOWN
        marks[opacity > 0.75] = MOVING
    else:
        marks[(opacity > 0.25) & (marks != STATIC)] = UNKNOWN
        marks[opacity > 0.75] = STATIC


class SyntheticSource(FrameSource):
    """Delivers the frames of a scene from first to last, as fast as they are read.

    Parameters
    ----------
    scene : SyntheticScene
        What is drawn.
    name : str
        How the source is called in messages.

    Examples
    --------
    >>> with SyntheticSource(SyntheticScene(size=(60, 80), frames=3)) as source:
    ...     [packet.number for packet in source]
    [1, 2, 3]
    """

    def __init__(self, scene: SyntheticScene, name: str = "synthetic") -> None:
        self.scene = scene
        self._info = VideoInfo(name=name, size=scene.size, rate_hz=scene.rate_hz, count=scene.frames)
        self._next = 0
        self._delivered = 0

    @property
    def info(self) -> VideoInfo:
        """Name, frame size, rate and number of frames."""
        return self._info

    def read(self) -> Packet | None:
        """Return the next frame, or None at the end."""
        if self._next >= self.scene.frames:
            return None
        frame, _ = self.scene.frame(self._next)
        packet = Packet(
            index=self._delivered, time_s=self._next / self.scene.rate_hz, frame=frame, number=self._next + 1
        )
        self._next += 1
        self._delivered += 1
        return packet

    def seek(self, start: Position) -> None:
        """Go to the frame at `start`."""
        number = start.estimate_number(self.scene.rate_hz)
        self._next = 0 if number is None else max(0, number - 1)


def _parse_size(text: str) -> tuple[int, int]:
    width, height = text.lower().split("x")
    return int(height), int(width)


_KEYS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "frames": ("frames", int),
    "noise": ("noise", float),
    "rate": ("rate_hz", float),
    "seed": ("seed", int),
    "size": ("size", _parse_size),
}


def open_synthetic(text: str) -> SyntheticSource:
    """Open a generated scene by what follows ``synthetic:``.

    Parameters
    ----------
    text : str
        ``NAME?KEY=VALUE&...``: a name of `SCENES` (nothing is "walkers") and any of frames, noise, rate
        (frames per second), seed and size (WIDTHxHEIGHT).

    Returns
    -------
    SyntheticSource

    Raises
    ------
    SourceError
        If a name, key or value is wrong; it lists the right ones.

    Examples
    --------
    >>> open_synthetic("water?seed=3&frames=200&size=160x120&rate=25").info
    VideoInfo(name='synthetic:water?seed=3&frames=200&size=160x120&rate=25', size=(120, 160), rate_hz=25.0,
              count=200, live=False)
    """
    name, _, query = text.partition("?")
    where = f"synthetic:{text}"
    scene = SCENES.get(name or "walkers")
    if scene is None:
        raise SourceError(f"cannot open {where}: no scene {name!r}, there are {', '.join(SCENES)}")
    given: dict[str, Any] = {}
    for part in filter(None, query.split("&")):
        key, _, value = part.partition("=")
        if key not in _KEYS:
            raise SourceError(f"cannot open {where}: no setting {key!r}, there are {', '.join(_KEYS)}")
        parameter, convert = _KEYS[key]
        try:
            given[parameter] = convert(value)
        except ValueError:
            raise SourceError(f"cannot open {where}: {key}={value} is not understood") from None
    try:
        return SyntheticSource(SyntheticScene(**given, **scene), where)
    except ValueError as error:
        raise SourceError(f"cannot open {where}: {error}") from error


def write_sample(folder: str | Path, scene: SyntheticScene, *, suffix: str = ".png", force: bool = False) -> Path:
    """Write a scene in the layout of the change-detection benchmark.

    ``input/in000001.png``, ``groundtruth/gt000001.png`` and so on, ``ROI.bmp``, and ``temporalROI.txt``,
    which leaves the empty frames at the start to training.

    Parameters
    ----------
    folder : path
        Made where it is missing.
    scene : SyntheticScene
        What is drawn.
    suffix : {".png", ".jpg"}
        Of the input images.
    force : bool
        Whether a folder with contents may be written to; frames of an earlier sample are removed from it.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    SinkError
        If the folder has contents and `force` is False, or it cannot be written to.
    ValueError
        If the suffix is another.
    """
    if suffix not in (".png", ".jpg"):
        raise ValueError(f"suffix must be '.png' or '.jpg', got {suffix!r}")
    folder = Path(folder)
    try:
        if folder.exists() and any(folder.iterdir()) and not force:
            raise SinkError(f"cannot write a sample to {folder}: it is not empty (use force to write all the same)")
        for part, prefix in (("input", "in"), ("groundtruth", "gt")):
            (folder / part).mkdir(parents=True, exist_ok=True)
            for old in (folder / part).glob(f"{prefix}[0-9]*.*"):
                old.unlink()
        for i in range(scene.frames):
            frame, labels = scene.frame(i)
            _write_image(folder / "input" / f"in{i + 1:06d}{suffix}", frame)
            _write_image(folder / "groundtruth" / f"gt{i + 1:06d}.png", labels)
        _write_image(folder / "ROI.bmp", np.full(scene.size, 255, np.uint8))
        (folder / "temporalROI.txt").write_text(f"{scene.quiet + 1} {scene.frames}\n")
    except OSError as error:
        raise SinkError(
            f"cannot write a sample to {folder}: {error.strerror or error}; free space or choose another folder"
        ) from error
    return folder


def _write_image(path: Path, image: Frame) -> None:
    """Write through Python, whose errors name the cause and whose paths may have any letters."""
    done, data = cv2.imencode(path.suffix, image)
    if not done:
        raise SinkError(f"cannot write {path}: OpenCV cannot encode {path.suffix} images")
    path.write_bytes(data.tobytes())
