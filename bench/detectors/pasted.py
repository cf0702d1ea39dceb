"""How detectors find the objects of one known sequence before the background of another: real waves, leaves and noise.

python -m bench.detectors.pasted DATASET ... [--only BACKGROUND ...] [--shares SHARE ...] [--spoil WAY] [--objects DO]

Detectors learn from up to 300 frames before the first labelled one of a background; then objects, cut out along the
labels of another sequence, come at 3/5 and at 3/10 of its size relative to the frame, or at other shares. Only the
pixels of these and of what is labelled as background count, the objects that the background has of its own do not. All
frames can be spoiled in a way of `bench.detectors.spoiled`: with `--shares 0.15 0.1 --spoil infrared --margin 16`
people are far away and faint, and false alarms around near ones do not hide it. With `--objects stay` an object comes,
stands where most of it is seen, but for small movements, and goes on; with `--objects leave` it was there from the
start. Then only pixels near where it ever is count, since false alarms elsewhere are the same for all. With `--cast
0.5` objects take half of the light from where their shadows fall, as in a low sun, and shadows are background. Prints F
of `adaptive`, of `adaptive` with quality=fast, and of MOG2 and KNN with a median filter of 5, for each pair of
sequences below the folders whose frames are labelled one by one.
"""

import argparse
from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.detectors.spoiled import DETECTORS, WAYS, Contest, Spoil, print_means
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
_COMING, _STAYING, _GOING, _GONE = 40, 120, 60, 40  # frames at most of who stays, or leaves, before the next phase,
_FIDGETING, _FIDGET_STEP = (0, 1, 2, 3, 4, 3, 2, 1, 0, -1, -2, -3, -4, -3, -2, -1), 2  # so far, for so many frames
_NEAR_PX = 10  # from an object that stays or leaves
_ALONG, _UP, _BLUR = 1.5, 0.3, 0.7  # of a shadow, to the right and up for each pixel of height, and of its outline


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


def shade(opacity: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return how much of the light the shadow of each object takes, which falls from its lowest row on."""
    count, parts, stats, _ = cv2.connectedComponentsWithStats(np.uint8(opacity > _CLEAR))
    shades, size = np.zeros_like(opacity), (opacity.shape[1], opacity.shape[0])
    for part in range(1, count):
        foot = stats[part, cv2.CC_STAT_TOP] + stats[part, cv2.CC_STAT_HEIGHT] - 1
        fall = np.array([[1, -_ALONG, _ALONG * foot], [0, _UP, foot - _UP * foot]], np.float32)
        shades = np.maximum(shades, cv2.warpAffine(np.where(parts == part, opacity, np.float32(0)), fall, size))
    return np.asarray(cv2.GaussianBlur(shades, (0, 0), _BLUR), np.float32)


def paste(frame: Frame, cutout: Cutout, cast: float = 0.0) -> tuple[Frame, NDArray[np.float32]]:
    """Return a frame with a cutout in its middle that takes a share of the light, and its opacity there."""
    size, opacity = cutout.opacity.shape, np.zeros(frame.shape[:2], np.float32)
    rows, columns = (
        np.arange(length) + round(place * whole) - length // 2
        for length, place, whole in zip(size, _PLACE, opacity.shape, strict=True)
    )
    down, right = (rows >= 0) & (rows < opacity.shape[0]), (columns >= 0) & (columns < opacity.shape[1])
    there, here = np.ix_(rows[down], columns[right]), np.ix_(down, right)
    opacity[there] = cutout.opacity[here]
    pasted: NDArray[Any] = np.float32(in_colour(frame))
    if cast > 0:
        pasted *= 1 - cast * shade(opacity)[..., None]
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


def pass_by(objects: list[Cutout]) -> list[int | None]:
    """Return which object each frame shows: all of them, again and again."""
    return [index % len(objects) for index in range(2 * FRAMES)]


def stay(objects: list[Cutout]) -> list[int | None]:
    """Return which object each frame shows: those up to the best view, the same for long, and those after it."""
    best = best_view(objects)
    coming = range(max(best - _COMING, 0), best)
    moves = (best + _FIDGETING[index // _FIDGET_STEP % len(_FIDGETING)] for index in range(_STAYING))
    return [*coming, *(min(max(index, 0), len(objects) - 1) for index in moves), *_go(objects, best)]


def leave(objects: list[Cutout]) -> list[int | None]:
    """Return which object each frame shows: those from the best view on, and then none."""
    return [*_go(objects, best_view(objects)), *[None] * _GONE]


def _go(objects: list[Cutout], begin: int) -> range:
    return range(begin, min(len(objects), begin + _GOING))


def best_view(objects: list[Cutout]) -> int:
    """Return the number of the largest object; the size of those that the border cuts counts as a third."""
    solid = [cutout.opacity > _SOLID for cutout in objects]
    cut = [view[0].any() or view[-1].any() or view[:, 0].any() or view[:, -1].any() for view in solid]
    return int(np.argmax([view.sum() / (3 if is_cut else 1) for view, is_cut in zip(solid, cut, strict=True)]))


OBJECTS = {"pass": pass_by, "stay": stay, "leave": leave}


def learned_frames(sequence: Sequence) -> list[int]:
    """Return the numbers of the last frames before the first labelled one."""
    first = min(sequence.scored)
    return [number for number in sequence.numbers if number < first][-LEARNED:]


def measure(
    background: Sequence, objects: list[Cutout], spoil: Spoil, margin: int, do: str, cast: float = 0.0
) -> list[float]:
    """Return F of each detector on the labelled frames of a background with objects before it, all spoiled.

    Nothing counts that is at most so many pixels from an object that the background has of its own, nor, if objects do
    anything but "pass", what is far from where they ever are.
    """
    contest, roi, near = Contest(), None, None
    nothing = Cutout(np.zeros_like(objects[0].colour), np.zeros_like(objects[0].opacity))
    shown, numbers = OBJECTS[do](objects), background.scored[: 2 * FRAMES]
    if do != "pass":
        numbers = [*numbers, *numbers[::-1]] * (len(shown) // len(numbers) + 1)  # there and back, if there are few
        near = find_near(background, [objects[index] for index in shown if index is not None])

    def filmed(number: int, index: int | None) -> tuple[Frame, NDArray[np.float32]]:
        frame = background.read_input(number)
        frame, opacity = paste(frame, nothing if index is None else objects[index], cast)
        return np.clip(np.rint(spoil(frame, number)), 0, 255).astype(np.uint8), opacity

    for number in learned_frames(background):
        contest.apply(filmed(number, shown[0] if do == "leave" else None)[0])
    for index, number in zip(shown, numbers, strict=False):
        frame, opacity = filmed(number, index)
        size = (frame.shape[0], frame.shape[1])
        roi = background.read_roi(size) if roi is None else roi
        labels = background.read_labels(number, size)
        empty = scored_pixels(labels, roi)[1]
        if margin > 0:
            empty &= cv2.dilate(np.uint8(labels != 0), np.ones((2 * margin + 1, 2 * margin + 1))) == 0
        if near is not None:
            empty &= near
        contest.count(contest.apply(frame), opacity > _SOLID, (opacity <= _CLEAR) & empty)
    return contest.f_measures()


def find_near(background: Sequence, objects: list[Cutout]) -> NDArray[np.bool_]:
    """Return where any of the objects is in a frame, or near it."""
    frame = background.read_input(background.numbers[0])
    ever = np.max([paste(frame, cutout)[1] for cutout in objects], 0)
    return np.asarray(cv2.dilate(np.uint8(ever > _CLEAR), np.ones((2 * _NEAR_PX + 1, 2 * _NEAR_PX + 1))) != 0)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--only", nargs="+", help="names of backgrounds")
    parser.add_argument("--shares", nargs="+", type=float, default=SHARES, help="of the frame that objects get")
    parser.add_argument("--spoil", choices=WAYS, default="as they are")
    parser.add_argument("--margin", type=int, default=0, help="pixels around its own objects that do not count")
    parser.add_argument("--objects", choices=OBJECTS, default="pass", help="what objects do")
    parser.add_argument("--cast", type=float, default=0.0, help="share of the light that shadows of objects take")
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
                objects = read_objects(source, round(share * height))
                spoil, margin = WAYS[options.spoil], options.margin
                found = measure(background, objects, spoil, margin, options.objects, options.cast)
                rows[background.name].append(found)
                label = f"{background.name}, {source.name} {share}"
                print(f"{label:34}" + "".join(f"{value:10.3f}" for value in found), flush=True)
    print_means(rows)


if __name__ == "__main__":
    main()
