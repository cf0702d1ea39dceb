"""How detectors find the objects of one known sequence before the background of another: real waves, leaves and noise.

python -m bench.detectors.pasted DATASET ... [--only BACKGROUND ...] [--shares SHARE ...] [--spoil WAY]

Detectors learn from up to 300 frames before the first labelled one of a background; then objects, cut out along the
labels of another sequence, come at 3/5 and at 3/10 of its size relative to the frame, or at other shares. Only the
pixels of these and of what is labelled as background count, the objects that the background has of its own do not. All
frames can be spoiled in a way of `bench.detectors.spoiled`: with `--shares 0.15 0.1 --spoil infrared --margin 16`
people are far away and faint, and false alarms around near ones do not hide it. Prints F of `adaptive`, of `adaptive`
with quality=fast, and of MOG2 and KNN with a median filter of 5, for each pair of sequences below the folders whose
frames are labelled one by one.
"""

import argparse
import statistics
from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.detectors.spoiled import DETECTORS, WAYS, Contest, Spoil
from bgsub._opencv import cv2
from bgsub.evaluation import Sequence, find_sequences
from bgsub.evaluation.metrics import scored_pixels
from bgsub.frames import Frame, Mask

LEARNED, LEAST_LEARNED = 300, 100
"""Most frames to learn a background from, and least that make a sequence one."""
FRAMES, LEAST_FRAMES = 150, 60
"""Most frames of an object, which then begins again, and least."""
SHARES = (0.6, 0.3)
"""Of the background's height that the frames of objects get."""
_PLACE = 0.55, 0.5  # of the middle of the objects' frames, down and to the right, as shares of the frame
_SOLID, _CLEAR = 0.6, 0.04  # opacity from which a pixel is foreground, and up to which it is background
_SEEN = 0.002  # least share of a frame of objects that is one


class Cutout(NamedTuple):
    """The foreground of a frame."""

    colour: NDArray[np.float32]
    """(h, w, 3), multiplied by the opacity."""
    opacity: NDArray[np.float32]
    """(h, w), in [0, 1]."""


def cut_out(frame: Frame, labels: Mask, height: int) -> Cutout:
    """Return what is labelled as foreground, as frames of a height show it."""
    inside = cv2.erode(np.float32(labels == 255), np.ones((2, 2)))
    opacity = cv2.GaussianBlur(inside, (0, 0), 0.8)
    size = max(1, round(height * frame.shape[1] / frame.shape[0])), height
    colour = np.float32(in_colour(frame)) * opacity[..., None]
    how = cv2.INTER_AREA if height < frame.shape[0] else cv2.INTER_LINEAR
    return Cutout(
        np.float32(cv2.resize(colour, size, interpolation=how)),
        np.float32(cv2.resize(opacity, size, interpolation=how)),
    )


def in_colour(frame: Frame) -> Frame:
    """Return a frame in three channels."""
    return frame if frame.ndim == 3 else np.repeat(frame[..., None], 3, 2)


def paste(frame: Frame, cutout: Cutout) -> tuple[Frame, NDArray[np.float32]]:
    """Return a frame with a cutout in its middle, and the opacity of the cutout there."""
    size, opacity = cutout.opacity.shape, np.zeros(frame.shape[:2], np.float32)
    rows, columns = (
        np.arange(length) + round(place * whole) - length // 2
        for length, place, whole in zip(size, _PLACE, opacity.shape, strict=True)
    )
    down, right = (rows >= 0) & (rows < opacity.shape[0]), (columns >= 0) & (columns < opacity.shape[1])
    there, here = np.ix_(rows[down], columns[right]), np.ix_(down, right)
    opacity[there] = cutout.opacity[here]
    pasted: NDArray[Any] = np.float32(in_colour(frame))
    pasted = pasted * (1 - opacity[..., None])
    pasted[there] += cutout.colour[here]
    return np.clip(np.rint(pasted), 0, 255).astype(np.uint8), opacity


def read_objects(sequence: Sequence, height: int) -> list[Cutout]:
    """Return the objects of a sequence, from the first labelled frame on that shows any."""
    found: list[Cutout] = []
    for number in sequence.scored:
        frame = sequence.read_input(number)
        labels = sequence.read_labels(number, (frame.shape[0], frame.shape[1]))
        if found or np.mean(labels == 255) > _SEEN:
            found.append(cut_out(frame, labels, height))
        if len(found) == FRAMES:
            break
    return found


def learned_frames(sequence: Sequence) -> list[int]:
    """Return the numbers of the last frames before the first labelled one."""
    first = min(sequence.scored)
    return [number for number in sequence.numbers if number < first][-LEARNED:]


def measure(background: Sequence, objects: list[Cutout], spoil: Spoil, margin: int) -> list[float]:
    """Return F of each detector on the labelled frames of a background with objects before it, all spoiled.

    Nothing counts that is at most so many pixels from an object that the background has of its own.
    """
    contest, roi = Contest(), None

    def filmed(frame: Frame, number: int) -> Frame:
        return np.clip(np.rint(spoil(frame, number)), 0, 255).astype(np.uint8)

    for number in learned_frames(background):
        contest.apply(filmed(in_colour(background.read_input(number)), number))
    for index, number in enumerate(background.scored[: 2 * FRAMES]):
        frame, opacity = paste(background.read_input(number), objects[index % len(objects)])
        size = (frame.shape[0], frame.shape[1])
        roi = background.read_roi(size) if roi is None else roi
        labels = background.read_labels(number, size)
        empty = scored_pixels(labels, roi)[1]
        if margin > 0:
            empty &= cv2.dilate(np.uint8(labels != 0), np.ones((2 * margin + 1, 2 * margin + 1))) == 0
        contest.count(contest.apply(filmed(frame, number)), opacity > _SOLID, (opacity <= _CLEAR) & empty)
    return contest.f_measures()


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--only", nargs="+", help="names of backgrounds")
    parser.add_argument("--shares", nargs="+", type=float, default=SHARES, help="of the frame that objects get")
    parser.add_argument("--spoil", choices=WAYS, default="as they are")
    parser.add_argument("--margin", type=int, default=0, help="pixels around its own objects that do not count")
    options = parser.parse_args()
    print(f"{'':34}" + "".join(f"{name:>10}" for name in DETECTORS))
    sequences = [found for folder in options.datasets for found in find_sequences(folder)]
    sources = [
        sequence for sequence in sequences if len(sequence.scored) >= LEAST_FRAMES and not sequence.unlabelled > LEARNED
    ]
    rows = defaultdict(list)
    for background in sources:
        if len(learned_frames(background)) < LEAST_LEARNED or (options.only and background.name not in options.only):
            continue
        height = background.read_input(background.numbers[0]).shape[0]
        for source in sources:
            for share in options.shares if source is not background else ():
                found = measure(
                    background, read_objects(source, round(share * height)), WAYS[options.spoil], options.margin
                )
                rows[background.name].append(found)
                label = f"{background.name}, {source.name} {share}"
                print(f"{label:34}" + "".join(f"{value:10.3f}" for value in found), flush=True)
    for name, found_rows in rows.items():
        means = [statistics.mean(column) for column in zip(*found_rows, strict=True)]
        print(f"{'mean, ' + name:34}" + "".join(f"{mean:10.3f}" for mean in means))


if __name__ == "__main__":
    main()
