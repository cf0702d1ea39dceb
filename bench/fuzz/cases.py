"""Cases: a damaged input and the arguments with which `bgsub` gets it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.fuzz.mutations import EXTREMES, mutate_archive, mutate_bytes, mutate_text
from bgsub.detectors import detector_class

__all__ = ["Case", "make_case"]

Random = np.random.Generator
Seeds = Mapping[str, list[Path]]

_KINDS = ("video", "video", "video", "model", "model", "learner", "settings", "region", "image", "arguments")
_DETECTORS = ("norma", "norma", "adaptive", "olk", "mog2")
_SIGNAL_EVERY = 40
_OPTIONS = ("--rate", "--start", "--end", "--skip", "--scale", "--median", "--min-area", "--warmup", "--learning-rate")


@dataclass(frozen=True, slots=True)
class Case:
    """One call of the command line."""

    kind: str
    arguments: list[str]
    outputs: Path
    """Folder that the arguments write to."""
    allowed: tuple[int, ...] = (0, 1)
    """Exit codes that are right."""
    signal_after_s: float | None = None
    """Time after which the process gets a signal."""


def make_case(number: int, seed: int, seeds: Seeds, folder: Path) -> Case:
    """Make the case of a number, the same each time; its inputs and outputs go into a folder."""
    random = np.random.default_rng((seed, number))
    outputs = folder / "out"
    outputs.mkdir(parents=True)
    if number % _SIGNAL_EVERY == _SIGNAL_EVERY - 1:
        writes = [*_outputs(outputs, "norma"), "--overlay", str(outputs / "overlay.mkv")]
        arguments = ["run", "synthetic:easy?size=64x48&frames=1000000", "-d", "norma", *writes]
        return Case("signal", arguments, outputs, (0, 129, 130, 143), float(random.uniform(0.2, 3)))
    kind = _KINDS[random.integers(len(_KINDS))]
    return _MAKERS[kind](random, seeds, folder, outputs)


def _damaged(kind: str, random: Random, seeds: Seeds, folder: Path, mutate: Callable[[bytes, Random], bytes]) -> Path:
    origin = seeds[kind][random.integers(len(seeds[kind]))]
    path = folder / origin.name
    path.write_bytes(mutate(origin.read_bytes(), random))
    return path


def _outputs(folder: Path, detector: str) -> list[str]:
    arguments = ["-o", str(folder / "mask.mkv"), "--stats", str(folder / "stats.csv"), "--json"]
    return arguments if detector == "mog2" else [*arguments, "--save-model", str(folder / "model.npz")]


def _video(random: Random, seeds: Seeds, folder: Path, outputs: Path) -> Case:
    path = _damaged("video", random, seeds, folder, mutate_bytes)
    detector = _DETECTORS[random.integers(len(_DETECTORS))]
    parts = ([], [], ["--start", "5"], ["--start", "0.3s"], ["--two-pass"], ["--skip", "3", "--scale", "0.5"])
    part = parts[random.integers(len(parts))]
    return Case("video", ["run", str(path), "-d", detector, *_outputs(outputs, detector), *part], outputs)


def _model(random: Random, seeds: Seeds, folder: Path, outputs: Path) -> Case:
    path = _damaged("model", random, seeds, folder, mutate_archive)
    arguments = ["run", str(seeds["video"][0]), "--load-model", str(path), *_outputs(outputs, "norma")]
    return Case("model", arguments, outputs)


def _learner(random: Random, seeds: Seeds, folder: Path, outputs: Path) -> Case:
    return Case("learner", ["learner", str(_damaged("learner", random, seeds, folder, mutate_archive))], outputs)


def _settings(random: Random, seeds: Seeds, folder: Path, outputs: Path) -> Case:
    path = _damaged("settings", random, seeds, folder, mutate_text)
    arguments = ["run", str(seeds["video"][0]), "--config", str(path), *_outputs(outputs, "mog2")]
    return Case("settings", arguments, outputs)


def _region(random: Random, seeds: Seeds, folder: Path, outputs: Path) -> Case:
    path = _damaged("region", random, seeds, folder, mutate_bytes if random.random() < 0.5 else _mutate_region)
    arguments = ["run", str(seeds["video"][0]), "-d", "norma", "--roi", str(path), *_outputs(outputs, "norma")]
    return Case("region", arguments, outputs)


def _mutate_region(data: bytes, random: Random) -> bytes:
    return mutate_text(data, random) if data.startswith(b"{") else mutate_bytes(data, random)


def _image(random: Random, seeds: Seeds, folder: Path, outputs: Path) -> Case:
    path = _damaged("image", random, seeds, folder, mutate_bytes)
    images = folder / "images"
    images.mkdir()
    original = next(seed for seed in seeds["image"] if seed.name == path.name).read_bytes()
    for number in range(1, 6):
        (images / f"in{number}{path.suffix}").write_bytes(path.read_bytes() if number == 3 else original)
    return Case("image", ["run", str(images), "-d", "norma", *_outputs(outputs, "norma")], outputs)


def _arguments(random: Random, seeds: Seeds, folder: Path, outputs: Path) -> Case:
    """Return a run with absurd arguments; it may also be too slow a scale or too large a number that works."""
    detector = _DETECTORS[random.integers(len(_DETECTORS))]
    value = EXTREMES[random.integers(len(EXTREMES))]
    if random.random() < 0.6:
        parameters = detector_class(detector).PARAMETERS
        given = ["--set", f"{parameters[random.integers(len(parameters))].name}={value}"]
    else:
        given = [f"{_OPTIONS[random.integers(len(_OPTIONS))]}={value}"]
    source = str(seeds["video"][random.integers(2)])
    arguments = ["run", source, "-d", detector, *given, *_outputs(outputs, detector)]
    return Case("arguments", arguments, outputs, (0, 1, 2))


_MAKERS: dict[str, Callable[[Random, Seeds, Path, Path], Case]] = {
    "video": _video,
    "model": _model,
    "learner": _learner,
    "settings": _settings,
    "region": _region,
    "image": _image,
    "arguments": _arguments,
}
