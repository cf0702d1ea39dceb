"""How detectors bear what was never tuned on: F on known sequences whose frames were spoiled.

python -m bench.detectors.spoiled DATASET ... [--only NAME ...]

A data set is a folder, or generated, such as "generated:all?size=160x120". Prints, for each way to spoil frames, the
mean F over all sequences of `adaptive`, of `adaptive` with quality=fast, and of MOG2 and KNN with a median filter of 5.
`--headlights` makes it night instead, and each labelled object a car whose headlights move along the ground before it,
which is background; it is for sequences of roads whose frames are labelled one by one. With `--dazzle` the lamps dazzle
the camera as well, on the cars and around them.
"""

import argparse
import statistics
from collections.abc import Callable, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.detectors import Detector, create
from bgsub.evaluation import Sequence, open_datasets
from bgsub.evaluation.metrics import scored_pixels
from bgsub.frames import Frame, Mask

Spoil = Callable[[Frame, int], NDArray[np.float64]]
"""Returns grey levels, for a frame (H, W, 3) uint8 and its number, the same for the same number."""
Look = Callable[[tuple[int, int], int], tuple[slice, slice]]
"""Returns the rows and columns that are seen of frames of (height, width), for the count of frames before."""

DETECTORS: dict[str, tuple[str, dict[str, str]]] = {
    "adaptive": ("adaptive", {}),
    "fast": ("adaptive", {"quality": "fast"}),
    "mog2": ("mog2", {}),
    "knn": ("knn", {}),
}
"""Name and parameters by the heading of the column."""
FLAKES = 70
NIGHT, POWER = 0.15, 0.5
"""Shares of the light that are left, and that headlights add where they are brightest."""
GLARE = 60.0
"""Grey levels that lamps which dazzle add around them."""
_LEAST_CAR_PX = 30


def dark(light: float, sigma: float) -> Spoil:
    """Less light, and the noise of a sensor."""
    return lambda frame, number: frame * light + np.random.default_rng(number).normal(0, sigma, frame.shape) + 3


def clouds(depth: float, period: float, sigma: float = 1.5) -> Spoil:
    """Light that falls by a share and comes back, again and again, and the noise of a sensor."""

    def spoil(frame: Frame, number: int) -> NDArray[np.float64]:
        light = 1 - depth * (0.5 - 0.5 * np.cos(2 * np.pi * number / period))
        return np.asarray(frame * light + np.random.default_rng(number).normal(0, sigma, frame.shape))

    return spoil


def dusk(frame: Frame, number: int) -> NDArray[np.float64]:
    """Light that falls to a tenth in 1000 frames, and comes back in as many, and the noise of a sensor."""
    light = 0.1 ** (0.5 - 0.5 * np.cos(np.pi * number / 1000))
    return np.asarray(frame * light + np.random.default_rng(number).normal(0, 1.5, frame.shape))


def fog(contrast: float, veil: float, sigma: float) -> Spoil:
    """Less contrast on a grey, and the noise of a sensor."""
    return lambda frame, number: frame * contrast + veil + np.random.default_rng(number).normal(0, sigma, frame.shape)


def grey(frame: Frame, number: int) -> NDArray[np.float64]:
    """No colours, in as many channels."""
    return np.repeat(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)[..., None] * 1.0, 3, axis=2)


def infrared(frame: Frame, number: int) -> NDArray[np.float64]:
    """A camera that sees bright for dark, without colours, softly, with noise that all channels share."""
    soft = cv2.GaussianBlur(255.0 - cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY), (0, 0), 1.2)
    noisy = 60 + 0.4 * soft + np.random.default_rng(number).normal(0, 2.0, soft.shape)
    return np.repeat(noisy[..., None], 3, axis=2)


def snow(frame: Frame, number: int) -> NDArray[np.float64]:
    """Flakes that fall by some ten pixels per frame."""
    height, width = frame.shape[:2]
    x, start, speed, radius = np.random.default_rng(0).random((4, FLAKES))
    cover = np.zeros((height, width), np.float32)
    for flake in range(FLAKES):
        fallen = start[flake] * height + (5 + 7 * speed[flake]) * number
        turn, y = divmod(fallen, height)
        column = (x[flake] + 0.37 * turn) % 1.0 * width + 3 * np.sin(0.3 * number + flake)
        cv2.circle(cover, (int(column), int(y)), 2 if radius[flake] > 0.75 else 1, 1.0, cv2.FILLED)
    share = 0.8 * cv2.GaussianBlur(cover, (0, 0), 0.8)[..., None]
    return np.asarray(frame * (1 - share) + 235 * share, np.float64)


def flicker(frame: Frame, number: int) -> NDArray[np.float64]:
    """Lamps beside the rate of the camera: 6 % more and less light, once in eight frames."""
    return frame * (1 + 0.06 * np.sin(2 * np.pi * 0.13 * number))


def compressed(frame: Frame, number: int) -> NDArray[np.float64]:
    """JPEG of quality 15."""
    return cv2.imdecode(cv2.imencode(".jpg", frame, [cv2.IMWRITE_JPEG_QUALITY, 15])[1], cv2.IMREAD_COLOR) * 1.0


def turbulent(frame: Frame, number: int) -> NDArray[np.float64]:
    """Hot air: smooth shifts of a standard deviation of about a pixel."""
    height, width = frame.shape[:2]
    field = np.random.default_rng(number).normal(0, 1, (height // 12 + 2, width // 12 + 2, 2)).astype(np.float32)
    field = cv2.resize(cv2.GaussianBlur(field, (0, 0), 1.0), (width, height), interpolation=cv2.INTER_CUBIC)
    rows, columns = np.mgrid[:height, :width].astype(np.float32)
    shift = 1.2 * field / field.std()
    moved = cv2.remap(
        frame, columns + shift[..., 0], rows + shift[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT
    )
    return moved * 1.0


def headlights(sequence: Sequence, dazzles: bool = False) -> Spoil:
    """Night, with two lamps at the front of each object of a sequence and their beam before it, and some noise."""

    def spoil(frame: Frame, number: int) -> NDArray[np.float64]:
        size = (frame.shape[0], frame.shape[1])
        cars = np.zeros(size, np.uint8)
        if number in sequence.scored:
            cars = (sequence.read_labels(number, size) == 255).astype(np.uint8)
        beams, lamps = light_up(cars)
        noise = np.random.default_rng(number).normal(0, 1.5, frame.shape)
        dark = frame * (NIGHT + POWER * beams)[..., None] + 3 + noise
        if dazzles:
            dark += GLARE * dazzle(cars, lamps)
        return np.asarray(dark * (1 - lamps) + 255 * lamps, np.float64)

    return spoil


def light_up(cars: Mask) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return how much light beams add, (H, W), 1 at most and none on cars, and where lamps are, (H, W, 1).

    Cars are 1 in `cars`, else 0, and come towards the camera.
    """
    count, _, boxes, _ = cv2.connectedComponentsWithStats(cars)
    beams, lamps = np.zeros(cars.shape, np.float32), np.zeros(cars.shape, np.float32)
    rows, columns = np.mgrid[: cars.shape[0], : cars.shape[1]].astype(np.float32)
    for left, top, width, height, area in boxes[1:count]:
        if area < _LEAST_CAR_PX:
            continue
        middle = left + width / 2
        ahead = (rows - top - height) / (1.6 * height)
        aside = (columns - middle) / (0.55 * width * (1 + np.maximum(ahead, 0)))
        beam = np.exp(-2 * aside**2 - 2 * np.where(ahead > 0, ahead, 4 * ahead) ** 2)
        beams = np.maximum(beams, beam)
        for side in (-0.3, 0.3):
            centre = int(middle + side * width), int(top + 0.75 * height)
            cv2.circle(lamps, centre, max(1, int(width / 14)), 1.0, cv2.FILLED)
    return beams * (1 - cars), cv2.GaussianBlur(lamps * cars, (0, 0), 0.7)[..., None]


def dazzle(cars: Mask, lamps: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return how much light lenses scatter around lamps, (H, W, 1), 1 at most; see `light_up`."""
    count, parts, boxes, _ = cv2.connectedComponentsWithStats(cars)
    glare = np.zeros(cars.shape, np.float32)
    for index in range(1, count):
        if boxes[index, cv2.CC_STAT_AREA] < _LEAST_CAR_PX:
            continue
        own = lamps[..., 0] * (parts == index)
        for share, reach in ((0.7, 0.12), (0.3, 0.4)):  # of the width of the car
            spread = cv2.GaussianBlur(own, (0, 0), max(1.0, reach * boxes[index, cv2.CC_STAT_WIDTH]))
            glare += share * spread / max(spread.max(), 1e-9)
    return np.minimum(glare, 1)[..., None]


WAYS: dict[str, Spoil] = {
    "as they are": lambda frame, _: frame * 1.0,
    "0.4 of the light, noise 2.5": dark(0.4, 2.5),
    "0.22 of the light, noise 3": dark(0.22, 3.0),
    "0.12 of the light, noise 1.5": dark(0.12, 1.5),
    "0.06 of the light, noise 1": dark(0.06, 1.0),
    "clouds, 60 % in 800 frames": clouds(0.6, 800),
    "clouds, 50 % in 200 frames": clouds(0.5, 200),
    "dusk and dawn": dusk,
    "fog, 0.45 of the contrast on 80": fog(0.45, 80.0, 2.0),
    "fog, 0.25 of the contrast on 100": fog(0.25, 100.0, 1.5),
    "grey": grey,
    "infrared": infrared,
    "snow": snow,
    "flicker": flicker,
    "JPEG of quality 15": compressed,
    "turbulent air": turbulent,
}


class Contest:
    """All detectors on the same frames, and how well each does."""

    def __init__(self, models: Iterable[Detector] | None = None) -> None:
        made = (create(name, **given) for name, given in DETECTORS.values()) if models is None else models
        self._models = list(made)
        self._counts = np.zeros((len(self._models), 3), np.int64)  # pixels found rightly, found, and true ones
        self._roi: Mask | None = None

    def apply(self, frame: Frame) -> list[Mask]:
        """Return each detector's mask of the next frame, with 255 for foreground and 0 for all else."""
        return [np.where(model.apply(frame) == 255, np.uint8(255), np.uint8(0)) for model in self._models]

    def count(self, masks: list[Mask], true: NDArray[np.bool_], false: NDArray[np.bool_]) -> None:
        """Count masks where the truth is known: pixels that are foreground, and pixels that are not."""
        for counts, mask, model in zip(self._counts, masks, self._models, strict=True):
            found = (mask if model.own_postprocess else cv2.medianBlur(mask, 5)) != 0
            counts += (found & true).sum(), (found & (true | false)).sum(), true.sum()

    def count_labelled(
        self, masks: list[Mask], sequence: Sequence, number: int, size: tuple[int, int], seen: tuple[slice, slice]
    ) -> None:
        """Count masks of what is seen of a labelled frame of (height, width); all must be of the same sequence."""
        if self._roi is None:
            self._roi = sequence.read_roi(size)
        true, false = scored_pixels(sequence.read_labels(number, size), self._roi)
        self.count(masks, true[seen], false[seen])

    def f_measures(self) -> list[float]:
        """Return F of each detector over all counted masks."""
        return [float(2 * hit / max(found + true, 1)) for hit, found, true in self._counts]


def measure(
    sequence: Sequence,
    spoil: Spoil,
    numbers: Iterable[int] | None = None,
    look: Look | None = None,
    models: Iterable[Detector] | None = None,
) -> list[float]:
    """Return F of each detector on a sequence, or on frames of it in a given order, or on what is seen of them.

    Detectors are those of the tables, or fresh models.
    """
    contest, scored = Contest(models), set(sequence.scored)
    for index, number in enumerate(sequence.numbers if numbers is None else numbers):
        frame = sequence.read_input(number)
        colour = frame if frame.ndim == 3 else cv2.cvtColor(frame, cv2.COLOR_GRAY2BGR)
        size = (frame.shape[0], frame.shape[1])
        seen = (slice(None), slice(None)) if look is None else look(size, index)
        spoiled = np.clip(np.rint(spoil(colour, number)), 0, 255).astype(np.uint8)[seen]
        masks = contest.apply(spoiled)
        if number in scored:
            contest.count_labelled(masks, sequence, number, size, seen)
    return contest.f_measures()


def print_means(rows: Mapping[str, list[list[float]]]) -> None:
    """Print the mean F of each detector, for each way in which frames were changed."""
    for name, found in rows.items():
        means = [statistics.mean(column) for column in zip(*found, strict=True)]
        print(f"{'mean, ' + name:34}" + "".join(f"{mean:10.3f}" for mean in means))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("datasets", nargs="+")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--only", nargs="+", choices=WAYS, default=list(WAYS))
    ways.add_argument("--headlights", action="store_true", help="make it night, and objects cars with headlights")
    ways.add_argument("--dazzle", action="store_true", help="the same with lamps that dazzle the camera")
    options = parser.parse_args()
    sequences = [sequence for where in options.datasets for sequence in open_datasets(where)]
    print(f"{'':34}" + "".join(f"{name:>10}" for name in DETECTORS))
    if options.headlights or options.dazzle:
        rows = {sequence.name: [measure(sequence, headlights(sequence, options.dazzle))] for sequence in sequences}
        print_means({**rows, "all": [row for found in rows.values() for row in found]})
        return
    for way in options.only:
        rows = [measure(sequence, WAYS[way]) for sequence in sequences]
        means = [statistics.mean(column) for column in zip(*rows, strict=True)]
        print(f"{way:34}" + "".join(f"{mean:10.3f}" for mean in means), flush=True)


if __name__ == "__main__":
    main()
