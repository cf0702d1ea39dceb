"""How detectors bear other choices of frames: known sequences backwards, from busy frames on, short, with few a second.

python -m bench.detectors.cut DATASET ... [--only WAY ...]

What is in the first frame is learned as background, and leaves a ghost when it goes. Short clips have a second and a
half, without colours. A camera that sends few frames shows things far from where they were, and detectors are not told
that it does. Prints F of `adaptive`, of `adaptive` with quality=fast, and of MOG2 and KNN with a median filter of 5,
for each sequence below the folders whose frames are labelled one by one. All labelled frames count, from the first on.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable

from bench.detectors.spoiled import DETECTORS, WAYS, measure, print_means
from bgsub.evaluation import Sequence, find_sequences
from bgsub.evaluation.metrics import scored_pixels

FRAMES, SHORT = 150, 40
STARTS = 3
APART = (3, 6, 12)
LONGEST = 600  # frames of a sequence that is played backwards
_STEP = 10  # every so many frames are looked at for starts


def backwards(sequence: Sequence) -> list[int]:
    """Return the last labelled frames, the last first."""
    return sorted(sequence.scored, reverse=True)[:LONGEST]


def busy_starts(sequence: Sequence, frames: int) -> list[tuple[str, list[int]]]:
    """Return clips that begin with the most foreground, no two of them within half a clip, each with a label."""
    numbers, roi, share = sorted(sequence.scored), None, {}
    for index in range(0, max(len(numbers) - frames, 1), _STEP):
        shape = sequence.read_input(numbers[index]).shape
        size = (shape[0], shape[1])
        roi = sequence.read_roi(size) if roi is None else roi
        share[index] = scored_pixels(sequence.read_labels(numbers[index], size), roi)[0].mean()
    chosen: list[int] = []
    for index in sorted(share, key=lambda index: -share[index]):
        if share[index] > 0 and all(abs(index - other) > frames / 2 for other in chosen):
            chosen.append(index)
    clips = [numbers[index : index + frames] for index in sorted(chosen[:STARTS])]
    return [(f"{len(clip)} from frame {clip[0]}", clip) for clip in clips]


def few_frames(sequence: Sequence) -> list[tuple[str, list[int]]]:
    """Return every third, sixth and twelfth frame, each with a label."""
    return [(f"1 frame of {apart}", list(sequence.numbers)[::apart]) for apart in APART]


KINDS: dict[str, Callable[[Sequence], list[tuple[str, list[int]]]]] = {
    "backwards": lambda sequence: [("backwards", backwards(sequence))],
    "busy": lambda sequence: busy_starts(sequence, FRAMES),
    "short": lambda sequence: busy_starts(sequence, SHORT),
    "few": few_frames,
}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS))
    options = parser.parse_args()
    print(f"{'':34}" + "".join(f"{name:>10}" for name in DETECTORS))
    names, rows = {"busy": "busy starts", "short": "short and grey"}, defaultdict(list)
    for sequence in (found for folder in options.datasets for found in find_sequences(folder)):
        if len(sequence.scored) < FRAMES / 2:
            continue
        for kind in options.only:
            spoil = WAYS["grey" if kind == "short" else "as they are"]
            for label, clip in KINDS[kind](sequence):
                found = measure(sequence, spoil, clip)
                rows[names.get(kind, label)].append(found)
                print(f"{sequence.name + ', ' + label:34}" + "".join(f"{value:10.3f}" for value in found), flush=True)
    print_means(rows)


if __name__ == "__main__":
    main()
