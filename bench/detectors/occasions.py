"""Clips in which one thing happens that misleads subtractors: something parks, a lamp goes on, the camera is knocked.

python -m bench.detectors.occasions

Prints the mean errors of the detectors in the four seconds after it happened.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bench.events.quiet import Clouds
from bgsub._opencv import cv2
from bgsub.detectors import create
from bgsub.frames import Frame, Mask
from bgsub.video.sources.synthetic.families.actors import Actor, Rigid, paint_car
from bgsub.video.sources.synthetic.families.camera import Light
from bgsub.video.sources.synthetic.families.scene import ComposedScene
from bgsub.video.sources.synthetic.families.scenery import Foliage
from bgsub.video.sources.synthetic.families.stage import RATE_HZ, Stage
from bgsub.video.sources.synthetic.walkers import Walker

__all__ = ["OCCASIONS", "Errors", "Occasion", "follow"]

_SIZE = (120, 160)
_TOLERANCE_PX = 2  # outlines are not exact
WHEN = 150
"""Frame at which it happens."""


class Errors(NamedTuple):
    """What is wrong in a mask."""

    missed: float
    """Share of the pixels of moving things, without their outermost two, that the mask misses; 0 without any."""
    false: float
    """Share of all pixels that are foreground and more than two pixels away from them."""


@dataclass(frozen=True)
class Occasion:
    """A clip, and what a mask should be after it happened."""

    title: str
    scene: ComposedScene
    pictured: Sequence[int]
    """Frames worth showing."""
    turn: Callable[[Frame, int], Frame] | None = None
    """What the camera does to frame i and to its labels."""

    def frames(self) -> Iterator[tuple[Frame, Mask]]:
        """Yield frames and labels."""
        for i in range(self.scene.frames):
            image, labels = self.scene.frame(i)
            if self.turn is not None:
                image, labels = self.turn(image, i), self.turn(labels, i)
            yield image, labels


def compare(mask: Mask, labels: Mask) -> Errors:
    """Compare a mask with labels."""
    square = np.ones((2 * _TOLERANCE_PX + 1,) * 2, np.uint8)
    things = np.where(labels == 255, np.uint8(255), np.uint8(0))
    inner, outer = cv2.erode(things, square), cv2.dilate(np.where(labels != 0, np.uint8(255), np.uint8(0)), square)
    count = cv2.countNonZero(inner)
    missed = cv2.countNonZero(cv2.bitwise_and(inner, cv2.bitwise_not(mask))) / count if count else 0.0
    return Errors(missed, cv2.countNonZero(cv2.bitwise_and(mask, cv2.bitwise_not(outer))) / mask.size)


def follow(
    occasion: Occasion,
    name: str = "adaptive",
    *,
    dtype: type[np.uint8 | np.float32] = np.uint8,
    skip: int = 0,
    **parameters: object,
) -> list[Errors]:
    """Run a detector over an occasion, with frames of a type, and return the errors of each frame.

    The first `skip` frames are left out: what happens may find the detector in any frame of its rounds.
    """
    model, white = create(name, **parameters), 1 if dtype is np.uint8 else 255
    errors = []
    for image, labels in itertools.islice(occasion.frames(), skip, None):
        mask = model.apply((image if white == 1 else image / white).astype(dtype))
        errors.append(compare(np.where(mask == 255, np.uint8(255), np.uint8(0)), labels))
    return errors


def _stage(frames: int) -> Stage:
    return Stage(1, _SIZE, frames, 0)


def _walker(stage: Stage, foot: float, frames: list[float], columns: list[float], look: int = 0) -> Walker:
    height = stage.height_at(foot)
    return Walker(
        stage.random(50 + look), look, height=height, foot=foot, frames=frames, columns=columns, rate_hz=RATE_HZ
    )


def _car(stage: Stage, height: float, foot: float, frames: list[float], columns: list[float]) -> Rigid:
    return Rigid(paint_car(stage.random(60), height, right=columns[-1] > columns[0]), foot, frames, columns)


def _passing(stage: Stage) -> list[Actor]:
    """Return two people who cross the image one after the other for the whole clip."""
    actors: list[Actor] = []
    for number, start in enumerate(range(20, stage.frames, 90)):
        actors.append(_walker(stage, 112, [start, start + 130], [-20, 185] if number % 2 else [185, -20], number))
    return actors


def _parks() -> Occasion:
    stage = _stage(520)
    car = _car(stage, 34, 108, [100, WHEN, 520], [-50, 90, 90])
    return Occasion("a car parks", stage.scene([car]), (120, 160, 300, 400))


def _starts() -> Occasion:
    stage = _stage(300)
    person = _walker(stage, 108, [0, WHEN, WHEN + 60, 300], [60, 60, 190, 190])
    return Occasion("someone who stood there from the start goes away", stage.scene([person]), (140, 165, 180, 240))


def _lamp() -> Occasion:
    stage = _stage(260)
    light = Light(lambda i: 0.6 if i < WHEN else 1.0)
    scene = stage.scene(_passing(stage), effects=(light, stage.noise()))
    return Occasion("a lamp is switched on", scene, (149, 150, 152, 170))


def _cloud() -> Occasion:
    stage = _stage(400)
    clouds = Clouds(3, _SIZE, 0.25)

    def shade(image: Frame, i: int) -> Frame:
        return clouds(image, max(0, i - WHEN))

    return Occasion("a cloud", stage.scene(_passing(stage), effects=(shade, stage.noise())), (149, 200, 280, 380))


def _lorry() -> Occasion:
    stage = _stage(320)
    leaves = Foliage(stage.random(23), _SIZE, 3.0)
    lorry = _car(stage, 60, 100, [WHEN, WHEN + 90], [-80, 240])
    return Occasion("a lorry before leaves", stage.scene([lorry], layers=[leaves]), (149, 190, 230, 250))


def _exposure() -> Occasion:
    stage = _stage(320)

    def curve(i: int) -> float:
        return float(np.interp(i, [WHEN, WHEN + 25, WHEN + 100, WHEN + 125], [1, 0.7, 0.7, 1]))

    scene = stage.scene(_passing(stage), effects=(Light(curve), stage.noise()))
    return Occasion("automatic exposure", scene, (149, 165, 200, 280))


def _nudge() -> Occasion:
    stage = _stage(320)

    def turn(image: Frame, i: int) -> Frame:
        if i < WHEN:
            return image
        matrix, size = np.array([[1, 0, 4.0], [0, 1, 3.0]]), image.shape[1::-1]
        flags = cv2.INTER_LINEAR if image.ndim == 3 else cv2.INTER_NEAREST
        return np.asarray(cv2.warpAffine(image, matrix, size, flags=flags, borderMode=cv2.BORDER_REFLECT_101))

    return Occasion("the camera is nudged", stage.scene(_passing(stage)), (149, 150, 175, 260), turn=turn)


def _bag() -> Occasion:
    stage = _stage(520)
    person = _walker(stage, 108, [80, WHEN, WHEN + 20, WHEN + 90], [-20, 80, 80, 190])
    bag = np.zeros((14, 12, 4), np.float32)
    bag[2:, 1:-1] = (40, 40, 60, 1)
    bag[:3, 4:8] = (30, 30, 40, 1)
    left = Rigid(bag, 109, [WHEN, 520], [80, 80])
    return Occasion("a bag is left", stage.scene([person, left]), (130, 160, 190, 420))


OCCASIONS: dict[str, Callable[[], Occasion]] = {
    "park": _parks,
    "start": _starts,
    "lamp": _lamp,
    "cloud": _cloud,
    "lorry": _lorry,
    "exposure": _exposure,
    "nudge": _nudge,
    "bag": _bag,
}
"""Makers of the occasions by a short name."""


def main() -> None:
    """Print the table."""
    names = ("adaptive", "mog2", "knn", "norma", "olk")
    print("missed, false in percent".ljust(58) + "".join(name.rjust(14) for name in names))
    for make in OCCASIONS.values():
        occasion, line = make(), ""
        for name in names:
            errors = np.array(follow(occasion, name)[WHEN : WHEN + round(4 * RATE_HZ)])
            line += f"{100 * errors[:, 0].mean():8.1f}{100 * errors[:, 1].mean():6.2f}"
        print(occasion.title.ljust(58) + line, flush=True)


if __name__ == "__main__":
    main()
