"""How detectors bear a camera that shakes: F on known sequences whose frames and labels are moved together.

python -m bench.detectors.shaken DATASET ... [--only WAY ...]

A camera trembles when something knocks on it all the time, so that each frame is elsewhere; it sways on a mast in the
wind, to and fro in a second or two, and is turned a little by that. Pictures move by fractions of a pixel, what comes
into view is cut off, and is not counted. Prints F of `adaptive`, of `adaptive` with quality=fast, and of MOG2 and KNN
with a median filter of 5, for each sequence below the folders whose frames are labelled one by one.
"""

import argparse
import math
from collections import defaultdict
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bench.detectors.cut import FRAMES
from bench.detectors.spoiled import DETECTORS, Contest, print_means
from bgsub._opencv import cv2
from bgsub.evaluation import Sequence, find_sequences
from bgsub.evaluation.metrics import scored_pixels

_PERIODS = 37, 11.3, 23, 7.1  # frames of the swaying to the right, twice, and downwards, twice;
_SECOND = 0.4  # weight of the second ones
_TURN = 0.03  # degrees per pixel of swaying
_SEED = 5

Move = Callable[[int], tuple[float, float, float]]
"""Pixels to the right and down, and degrees, by which a frame lies elsewhere."""


def tremble(amplitude: float, index: int) -> tuple[float, float, float]:
    """Return a place anywhere within the amplitude in each direction."""
    right, down = np.random.default_rng((_SEED, index)).uniform(-amplitude, amplitude, 2)
    return float(right), float(down), 0.0


def sway(amplitude: float, index: int) -> tuple[float, float, float]:
    """Return a place on the way to and fro, by up to the amplitude in each direction."""
    first, second, third, fourth = (math.sin(2 * math.pi * index / period) for period in _PERIODS)
    right, down = (amplitude * (a + _SECOND * b) / (1 + _SECOND) for a, b in ((first, second), (third, fourth)))
    return right, down, _TURN * right


MOVES: dict[str, tuple[Callable[[float, int], tuple[float, float, float]], float]] = {
    "trembles by 1 px": (tremble, 1),
    "trembles by 3 px": (tremble, 3),
    "trembles by 8 px": (tremble, 8),
    "sways by 4 px": (sway, 4),
    "sways by 12 px": (sway, 12),
}


def shake(image: NDArray[np.uint8], move: tuple[float, float, float], labels: bool = False) -> NDArray[np.uint8]:
    """Return a frame, or labels, that lie elsewhere; what comes into view is like the border."""
    height, width = image.shape[:2]
    right, down, turn = move
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), turn, 1.0)
    matrix[:, 2] += right, down
    how = cv2.INTER_NEAREST if labels else cv2.INTER_LINEAR
    return np.asarray(cv2.warpAffine(image, matrix, (width, height), flags=how, borderMode=cv2.BORDER_REPLICATE))


def measure(sequence: Sequence, move: Move, margin: int) -> list[float]:
    """Return F of each detector on a sequence, but for a margin in which frames may show what they never had."""
    contest, scored, roi = Contest(), set(sequence.scored), None
    inside = slice(margin, -margin), slice(margin, -margin)
    for index, number in enumerate(sequence.numbers):
        frame = sequence.read_input(number)
        frame = frame if frame.ndim == 3 else cv2.cvtColor(frame, cv2.COLOR_GRAY2BGR)
        masks = contest.apply(shake(frame, move(index))[inside])
        if number in scored:
            size = frame.shape[0], frame.shape[1]
            roi = sequence.read_roi(size) if roi is None else roi
            true, false = scored_pixels(shake(sequence.read_labels(number, size), move(index), labels=True), roi)
            contest.count(masks, true[inside], false[inside])
    return contest.f_measures()


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--only", nargs="+", choices=MOVES, default=list(MOVES))
    options = parser.parse_args()
    print(f"{'':34}" + "".join(f"{name:>10}" for name in DETECTORS))
    rows = defaultdict(list)
    for sequence in (found for folder in options.datasets for found in find_sequences(folder)):
        if len(sequence.scored) < FRAMES / 2:
            continue
        for name in options.only:
            way, amplitude = MOVES[name]
            found = measure(sequence, partial(way, amplitude), math.ceil(amplitude) + 2)
            rows[name].append(found)
            print(f"{sequence.name + ', ' + name:34}" + "".join(f"{value:10.3f}" for value in found), flush=True)
    print_means(rows)


if __name__ == "__main__":
    main()
