"""How detectors bear a camera that is turned: F on windows of known sequences that move over their frames.

python -m bench.detectors.turned DATASET ...

Each window covers 5/8 of the frame's width and height. Prints F of `adaptive`, of `adaptive` with quality=fast, and of
MOG2 and KNN with a median filter of 5, for each sequence below the folders whose frames are labelled one by one.
"""

import sys
from collections.abc import Callable

from bench.detectors.cut import FRAMES
from bench.detectors.spoiled import DETECTORS, WAYS, measure, print_means
from bgsub.evaluation import find_sequences

SHARE = 5 / 8
STANDS, TURNS = 160, 40  # frames, of a camera that goes to the other side and back
_SPEED = 0.7  # pixels per frame of one that pans all the time
_POSITION_FRAMES = 150  # for which a camera with two positions looks at each


def two_positions(index: int, most: int) -> int:
    """Return the left side of a window that jumps from one side of the frame to the other, `most`, and back."""
    return most * (index // _POSITION_FRAMES % 2)


def turn_and_stand(index: int, most: int) -> int:
    """Return the left side of a window that stands, then moves to the other side."""
    turn, frame = divmod(index, STANDS + TURNS)
    gone = round(most * max(0, frame - STANDS) / TURNS)
    return gone if turn % 2 == 0 else most - gone


def pan(index: int, most: int) -> int:
    """Return the left side of a window that goes to and fro without rest."""
    return int(abs(_SPEED * index % (2 * most) - most))


MOVES: dict[str, Callable[[int, int], int]] = {
    "two positions": two_positions,
    "turns and stands": turn_and_stand,
    "pans": pan,
}


def window(move: Callable[[int, int], int], size: tuple[int, int], index: int) -> tuple[slice, slice]:
    """Return the rows and columns of frames of (height, width) that the camera sees."""
    height, width = (int(side * SHARE) for side in size)
    top, left = (size[0] - height) // 2, move(index, size[1] - width)
    return slice(top, top + height), slice(left, left + width)


def main() -> None:
    """Print a table."""
    print(f"{'':34}" + "".join(f"{name:>10}" for name in DETECTORS))
    unspoiled, rows = WAYS["as they are"], {name: [] for name in MOVES}
    for sequence in (found for folder in sys.argv[1:] for found in find_sequences(folder)):
        if len(sequence.scored) < FRAMES / 2:
            continue
        for name, move in MOVES.items():
            found = measure(sequence, unspoiled, look=lambda size, index, move=move: window(move, size, index))
            rows[name].append(found)
            print(f"{sequence.name + ', ' + name:34}" + "".join(f"{value:10.3f}" for value in found), flush=True)
    print_means(rows)


if __name__ == "__main__":
    main()
