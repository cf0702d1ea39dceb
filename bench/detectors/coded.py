"""How detectors bear the codecs of video files: F on known sequences that were coded again.

python -m bench.detectors.coded DATASET ... [--only NAME ...]

The frames of most data sets are coded one by one, if at all. Files and network cameras code what has changed: where
nothing moves, the picture stays exactly as it was; blocks around moving things are coded again; and now and then a
whole frame is (a key frame). Prints, for each way to code, the mean F over all sequences below the folders of
`adaptive`, of `adaptive` with quality=fast, and of MOG2 and KNN with a median filter of 5, and the mean rate of bits.
"""

import argparse
import io
import statistics
from collections.abc import Iterator
from typing import NamedTuple

import av
import numpy as np

from bench.detectors.pasted import in_colour
from bench.detectors.spoiled import DETECTORS, Contest
from bgsub.evaluation import Sequence, find_sequences
from bgsub.frames import Frame

RATE, KEY_FRAMES = 25, 50
"""Frames per second, and frames from one key frame to the next."""


class Coding(NamedTuple):
    """How frames are coded."""

    codec: str
    options: dict[str, str]
    quantiser: int | None = None
    """The same for all frames, for codecs without a constant quality."""


WAYS = {
    "H.264 of quality 28": Coding("libx264", {"crf": "28", "preset": "veryfast"}),
    "H.264 of quality 35": Coding("libx264", {"crf": "35", "preset": "veryfast"}),
    "H.265 of quality 34": Coding("libx265", {"crf": "34", "preset": "ultrafast", "x265-params": "log-level=error"}),
    "MPEG-4, quantiser 10": Coding("mpeg4", {}, 10),
}
"""28 is a web video of low rate, 35 shows its blocks."""


def encode(frames: Iterator[Frame], coding: Coding) -> bytes:
    """Return frames (H, W, 3) uint8 as a Matroska file; an odd last row or column is left out."""
    file = io.BytesIO()
    with av.open(file, "w", format="matroska") as container:
        stream = None
        for frame in frames:
            height, width = frame.shape[0] & ~1, frame.shape[1] & ~1
            if stream is None:
                stream = container.add_stream(coding.codec, rate=RATE, options=coding.options)
                stream.width, stream.height, stream.pix_fmt, stream.gop_size = width, height, "yuv420p", KEY_FRAMES
                if coding.quantiser is not None:
                    stream.codec_context.qmin = stream.codec_context.qmax = coding.quantiser
            even = np.ascontiguousarray(frame[:height, :width])
            container.mux(stream.encode(av.VideoFrame.from_ndarray(even, format="bgr24")))
        if stream is not None:
            container.mux(stream.encode())
    return file.getvalue()


def decode(file: bytes) -> Iterator[Frame]:
    """Return the frames of a file."""
    with av.open(io.BytesIO(file)) as container:
        for frame in container.decode(video=0):
            yield frame.to_ndarray(format="bgr24")


def measure(sequence: Sequence, coding: Coding) -> tuple[list[float], float]:
    """Return F of each detector on a sequence that was coded again, and its rate in kbit/s."""
    file = encode((in_colour(sequence.read_input(number)) for number in sequence.numbers), coding)
    contest, scored = Contest(), set(sequence.scored)
    for number, frame in zip(sequence.numbers, decode(file), strict=True):
        masks = contest.apply(frame)
        if number in scored:
            height, width = sequence.read_input(number).shape[:2]
            contest.count_labelled(masks, sequence, number, (height, width), np.s_[: frame.shape[0], : frame.shape[1]])
    return contest.f_measures(), len(file) * 8 / 1000 / len(sequence.numbers) * RATE


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--only", nargs="+", choices=WAYS, default=list(WAYS))
    options = parser.parse_args()
    sequences = [sequence for folder in options.datasets for sequence in find_sequences(folder)]
    print(f"{'':34}" + "".join(f"{name:>10}" for name in DETECTORS) + f"{'kbit/s':>10}")
    for way in options.only:
        rows = []
        for sequence in sequences:
            found, rate = measure(sequence, WAYS[way])
            rows.append([*found, rate])
            print(f"{way + ', ' + sequence.name:34}" + "".join(f"{f:10.3f}" for f in found) + f"{rate:10.0f}")
        *means, rate = (statistics.mean(column) for column in zip(*rows, strict=True))
        print(f"{way + ', mean':34}" + "".join(f"{mean:10.3f}" for mean in means) + f"{rate:10.0f}", flush=True)


if __name__ == "__main__":
    main()
