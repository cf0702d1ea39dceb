"""How exact outlines are, and how much chance there is in the masks: boundary F, and F under a little noise.

python -m bench.detectors.outlines DATASET ... [--runs N]

Boundary F compares the outlines of mask and truth: the harmonic mean of the share of the mask's outline within two
pixels of the truth's and the other way round, over all labelled frames. A rim of unknown pixels round an object is
divided in the middle; other unknown pixels, and what is within two pixels of them, do not count. The spread is that of
F over N runs (ten) with other noise of standard deviation 2.55 grey levels, 1 % of white, on every frame.
"""

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.detectors import create
from bgsub.evaluation import Sequence, find_sequences
from bgsub.frames import Mask

REACH_PX = 2
RIM_PX = 8
NOISE = 2.55
_FOREGROUND, _UNKNOWN = 255, (85, 170)

Known = NDArray[np.bool_]


def outline(mask: Known) -> Known:
    """Return the pixels of a region that have a neighbour outside of it."""
    image = mask.astype(np.uint8)
    inner = np.asarray(cv2.erode(image, np.ones((3, 3), np.uint8), borderType=cv2.BORDER_REPLICATE))
    return mask & (inner == 0)


def _dilated(mask: Known) -> Known:
    size = 2 * REACH_PX + 1
    return np.asarray(cv2.dilate(mask.astype(np.uint8), np.ones((size, size), np.uint8))) != 0


def settle(labels: Mask) -> tuple[Known, Known]:
    """Return the true foreground, and what stays unknown.

    Data sets leave a rim of some pixels round each object unknown; its outline is taken to be in the middle of it.
    """
    unknown = np.isin(labels, _UNKNOWN)
    inside, outside = labels == _FOREGROUND, (labels != _FOREGROUND) & ~unknown
    if not inside.any():
        return inside, unknown
    to_inside, to_outside = (
        np.asarray(cv2.distanceTransform((~region).astype(np.uint8), cv2.DIST_L2, 5)) for region in (inside, outside)
    )
    rim = unknown & (to_inside <= RIM_PX) & (to_outside <= RIM_PX)
    return inside | (rim & (to_inside <= to_outside)), unknown & ~rim


def count(mask: Mask, labels: Mask, roi: Mask | None) -> NDArray[np.int64]:
    """Return hits and length of the mask's outline, and of the truth's."""
    truth, unknown = settle(labels)
    ignored = _dilated(unknown if roi is None else unknown | (roi == 0))
    found, true = outline(mask == _FOREGROUND), outline(truth)
    near_found, near_true = _dilated(found), _dilated(true)
    found, true = found & ~ignored, true & ~ignored
    return np.array([(found & near_true).sum(), found.sum(), (true & near_found).sum(), true.sum()], np.int64)


def boundary_f(counts: NDArray[np.int64]) -> float:
    """Return F of counts."""
    precision, recall = counts[0] / max(counts[1], 1), counts[2] / max(counts[3], 1)
    return float(2 * precision * recall / max(precision + recall, 1e-12))


def run(sequence: Sequence, name: str, seed: int | None = None) -> tuple[float, float]:
    """Return F and boundary F of a detector; with a seed, under noise."""
    model: Any = create(name)
    scored, counts, tally = set(sequence.scored), np.zeros(4, np.int64), np.zeros(3, np.int64)
    roi = None
    for number in sequence.numbers:
        image = sequence.read_input(number)
        if seed is not None:
            noise = np.random.default_rng((seed, number)).normal(0, NOISE, image.shape)
            image = np.clip(np.rint(image + noise), 0, 255).astype(np.uint8)
        mask = np.where(model.apply(image) == _FOREGROUND, np.uint8(255), np.uint8(0))
        if name != "adaptive":
            mask = cv2.medianBlur(mask, 5)
        if number in scored:
            size = (mask.shape[0], mask.shape[1])
            roi = sequence.read_roi(size) if roi is None else roi
            labels = sequence.read_labels(number, size)
            counts += count(mask, labels, roi)
            known = ~np.isin(labels, _UNKNOWN) & (roi != 0 if roi is not None else True)
            truth, found = (labels == _FOREGROUND) & known, (mask != 0) & known
            tally += np.array([(truth & found).sum(), found.sum(), truth.sum()])
    return float(2 * tally[0] / max(tally[1] + tally[2], 1)), boundary_f(counts)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    names = ("adaptive", "mog2", "knn")
    heads = "".join(f"{name:>10}" for name in names)
    print(f"{'boundary F':24}{heads}   adaptive under noise: F, range, deviation")
    for folder in options.datasets:
        for sequence in find_sequences(folder):
            line = "".join(f"{run(sequence, name)[1]:10.3f}" for name in names)
            noisy = np.array([run(sequence, "adaptive", seed)[0] for seed in range(options.runs)] or [np.nan])
            spread = f"{noisy.mean():.3f}, {noisy.min():.3f} to {noisy.max():.3f}, {noisy.std():.4f}"
            print(f"{sequence.name:24}{line}   {spread}", flush=True)


if __name__ == "__main__":
    main()
