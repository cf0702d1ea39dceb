"""What a run costs beyond decoding its source and encoding its masks.

python -m bench.detectors.overhead VIDEO [ROUNDS]

Prints seconds of `bgsub.run` and of a loop that decodes the same file in the same capture thread and writes the same
masks, known beforehand, with the same writer, in turn, and the ratio.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import bgsub
from bgsub.frames import Mask, Result


class Keep(bgsub.Sink):
    """Keep the masks."""

    def __init__(self) -> None:
        self.masks: list[Mask] = []

    def write(self, result: Result) -> None:
        """Take one result."""
        self.masks.append(result.mask)


def whole(video: str, out: Path) -> float:
    """Run the pipeline; seconds."""
    source = bgsub.open_source(video)
    start = time.perf_counter()
    bgsub.run(source, bgsub.Pipeline(bgsub.create("norma")), [bgsub.MaskVideo(out, force=True)])
    return time.perf_counter() - start


def bare(video: str, out: Path, masks: list[Mask]) -> float:
    """Decode, and encode masks that are known; seconds."""
    start = time.perf_counter()
    with bgsub.Prefetch(bgsub.open_source(video)) as packets, bgsub.MaskVideo(out, force=True) as sink:
        for packet in packets:
            sink.write(Result(packet, masks[packet.index]))
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    video, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    keep = Keep()
    bgsub.run(bgsub.open_source(video), bgsub.Pipeline(bgsub.create("norma")), [keep])
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "mask.mkv"
        pairs = [(whole(video, out), bare(video, out, keep.masks)) for _ in range(rounds)]
    run_s, bare_s = (statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    sys.stdout.write(f"run {run_s:.2f} s, decode and encode only {bare_s:.2f} s, ratio {ratio:.2f}\n")


if __name__ == "__main__":
    main()
