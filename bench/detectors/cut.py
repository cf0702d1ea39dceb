"""How detectors bear other beginnings: F on known sequences backwards, and from where they show most foreground on.

python -m bench.detectors.cut DATASET ...

What is in the first frame is learned as background, and leaves a ghost when it goes. Prints F of `adaptive`, of
`adaptive` with quality=fast, and of MOG2 and KNN with a median filter of 5, for each sequence below the folders whose
frames are labelled one by one. All labelled frames count, from the first on.
"""

import statistics
import sys

from bench.detectors.spoiled import DETECTORS, WAYS, measure
from bgsub.evaluation import Sequence, find_sequences
from bgsub.evaluation.metrics import scored_pixels

FRAMES = 150
STARTS = 3
LONGEST = 600  # frames of a sequence that is played backwards
_STEP = 10  # every so many frames are looked at for starts


def backwards(sequence: Sequence) -> list[int]:
    """Return the last labelled frames, the last first."""
    return sorted(sequence.scored, reverse=True)[:LONGEST]


def busy_starts(sequence: Sequence) -> list[list[int]]:
    """Return clips that begin with the most foreground, no two of them within half a clip."""
    numbers, roi, share = sorted(sequence.scored), None, {}
    for index in range(0, max(len(numbers) - FRAMES, 1), _STEP):
        shape = sequence.read_input(numbers[index]).shape
        size = (shape[0], shape[1])
        roi = sequence.read_roi(size) if roi is None else roi
        share[index] = scored_pixels(sequence.read_labels(numbers[index], size), roi)[0].mean()
    chosen: list[int] = []
    for index in sorted(share, key=lambda index: -share[index]):
        if share[index] > 0 and all(abs(index - other) > FRAMES / 2 for other in chosen):
            chosen.append(index)
    return [numbers[index : index + FRAMES] for index in sorted(chosen[:STARTS])]


def main() -> None:
    """Print a table."""
    print(f"{'':34}" + "".join(f"{name:>10}" for name in DETECTORS))
    unspoiled, rows = WAYS["as they are"], {"backwards": [], "busy starts": []}
    for folder in sys.argv[1:]:
        for sequence in find_sequences(folder):
            if len(sequence.scored) < FRAMES / 2:
                continue
            clips = [("backwards", "backwards", backwards(sequence))]
            clips += [("busy starts", f"from frame {clip[0]}", clip) for clip in busy_starts(sequence)]
            for kind, label, clip in clips:
                found = measure(sequence, unspoiled, clip)
                rows[kind].append(found)
                print(f"{sequence.name + ', ' + label:34}" + "".join(f"{value:10.3f}" for value in found), flush=True)
    for kind, found_rows in rows.items():
        means = [statistics.mean(column) for column in zip(*found_rows, strict=True)]
        print(f"{'mean, ' + kind:34}" + "".join(f"{mean:10.3f}" for mean in means))


if __name__ == "__main__":
    main()
