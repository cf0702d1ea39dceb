"""Small recordings, of which it is known when something moves."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from bgsub.scanning import ScanSettings

RATE_HZ = 10
SIZE = (72, 96)


def frame(number: int, moving: Sequence[tuple[int, int]], seed: int = 0) -> np.ndarray:
    """Return a frame; each pair is the first and the last frame of a square that crosses it."""
    random = np.random.default_rng((seed, number))
    image = np.full((*SIZE, 3), 90, np.int16) + random.integers(-3, 4, (*SIZE, 3))
    for first, last in moving:
        if first <= number <= last:
            x = round((number - first) / (last - first) * (SIZE[1] - 14))
            image[26:50, x : x + 14] += 90
    return image.clip(0, 255).astype(np.uint8)


def write(
    path: Path, numbers: Sequence[int], moving: Sequence[tuple[int, int]] = (), *, codec: str = "ffv1", seed: int = 0
) -> Path:
    """Write frames of a recording to a file; with FFV1 they come back as they were."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=RATE_HZ)
        stream.height, stream.width = SIZE
        stream.pix_fmt = "bgr0" if codec == "ffv1" else "yuv420p"
        if codec == "libx264":
            stream.options = {"g": "10", "preset": "veryfast"}
        for position, number in enumerate(numbers):
            one = av.VideoFrame.from_ndarray(frame(number, moving, seed), format="bgr24")
            one.pts, one.time_base = position, Fraction(1, RATE_HZ)
            container.mux(stream.encode(one))
        container.mux(stream.encode(None))
    return path


def settings(**changed: object) -> ScanSettings:
    """Return settings for small recordings, of which every frame is looked at unless `changed` says otherwise."""
    sampled = {"skip", "rate_hz"} & set(changed)
    return ScanSettings(**changed if sampled else {"skip": 1, **changed})  # type: ignore[arg-type]


def outputs(folder: Path) -> dict[str, bytes]:
    """Return the contents of all outputs by name, the journal left out."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and ".scan" not in file.parts and not file.name.startswith(".")
    }
