"""Image sequences: a folder, a printf pattern or a glob, in natural order."""

import glob
import itertools
import os
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bgsub._input.images import read_image
from bgsub.errors import SourceError
from bgsub.frames import FRAME_DTYPES, RATE_INTERVAL, Frame, VideoInfo, plausible_rate
from bgsub.video._text import public_name, text_size
from bgsub.video.sources.base import Grab, LazySource, SourceOptions
from bgsub.video.sources.position import Position

__all__ = ["ImageSequence", "find_images", "is_pattern"]

_SUFFIXES = frozenset({".bmp", ".jpeg", ".jpg", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp"})
_PRINTF = re.compile(r"%(0?)(\d{0,3})d")


@dataclass(frozen=True, slots=True)
class Images:
    """The files of a sequence and the number of each."""

    paths: list[Path]
    numbers: list[int]


def is_pattern(text: str) -> bool:
    """Return whether the text names many files: by a printf number or a wildcard."""
    return _PRINTF.search(Path(text).name) is not None or glob.has_magic(text)


def find_images(text: str) -> Images:
    """List the images of a folder, a pattern like ``in%06d.jpg`` or a glob like ``*.png``.

    Raises
    ------
    SourceError
        If there are none.
    """
    path = Path(text)
    if path.is_dir():
        paths = [file for file in path.iterdir() if file.suffix.lower() in _SUFFIXES and file.is_file()]
        if not paths:
            raise SourceError(f"the folder {text} holds no images; looked for {' '.join(sorted(_SUFFIXES))}")
        return _number(paths)
    if match := _PRINTF.search(path.name):
        return _match_printf(path, match)
    paths = [Path(name) for name in glob.glob(text)]  # noqa: PTH207 - Path.glob wants its root apart
    paths = [file for file in paths if file.is_file()]
    if not paths:
        raise SourceError(f"no image matches {public_name(text)}; check the folder and quote the pattern in the shell")
    return _number(paths)


def _match_printf(path: Path, match: re.Match[str]) -> Images:
    width = int(match[2] or 1)
    digits = rf"(\d{{{width},}})" if match[1] else r"(\d+)"
    before, after = path.name[: match.start()], path.name[match.end() :]
    name = re.compile(re.escape(before) + digits + re.escape(after))
    folder = path.parent
    if not folder.is_dir():
        raise SourceError(f"no image matches {public_name(str(path))}: there is no such folder; check the path")
    found = sorted((int(hit[1]), file) for file in folder.iterdir() if (hit := name.fullmatch(file.name)))
    if not found:
        raise SourceError(f"no image matches {public_name(str(path))}; check the number of digits")
    return Images([file for _, file in found], [number for number, _ in found])


def _natural(path: Path) -> list[tuple[int, str]]:
    """Sort key that puts frame 2 before frame 10."""
    parts = re.split(r"(\d+)", str(path))
    return [(int(part), "") if part.isdecimal() else (-1, part.casefold()) for part in parts]


def _number(paths: list[Path]) -> Images:
    """Return the images numbered by the last digits of their names, or by position where these do not rise."""
    paths = sorted(paths, key=_natural)
    digits = [re.findall(r"\d+", file.stem) for file in paths]
    numbers = [int(groups[-1]) for groups in digits if groups]
    rising = all(left < right for left, right in itertools.pairwise(numbers))
    if len(numbers) != len(paths) or not rising:
        numbers = list(range(1, len(paths) + 1))
    return Images(paths, numbers)


class ImageSequence(LazySource):
    """Numbered images as a video.

    Parameters
    ----------
    text : str
        A folder, a pattern like ``in%06d.jpg`` (gaps in the numbers are fine) or a glob like ``*.png``.
    rate_hz : float
        Frames per second: an image with number n is shown at n / rate_hz seconds.

    Raises
    ------
    SourceError
        If there are no images, or the first cannot be read.
    """

    text_form = 'a folder of images, a pattern like in%06d.jpg or a glob like "*.png"'
    uses = frozenset({"rate_hz"})
    asked_last = True

    def __init__(self, text: str, rate_hz: float = 25.0) -> None:
        if plausible_rate(rate_hz) is None:
            raise ValueError(f"rate_hz must be in {RATE_INTERVAL}, got {rate_hz}")
        self._images = find_images(text)
        self._rate_hz = rate_hz
        self._next = 0
        first = self._load(self._images.paths[0])
        self._shape, self._dtype = first.shape, first.dtype
        self._info = VideoInfo(
            name=text, size=(first.shape[0], first.shape[1]), rate_hz=rate_hz, count=len(self._images.paths)
        )

    @classmethod
    def accepts(cls, text: str) -> bool:
        """Return whether the text is a folder or a pattern; a file that exists is no pattern, wildcards or not."""
        if "://" in text or os.path.isfile(text):  # noqa: PTH113 - Path.is_file raises for names that are too long
            return False
        return os.path.isdir(text) or is_pattern(text)  # noqa: PTH112

    @classmethod
    def from_text(cls, text: str, options: SourceOptions) -> "ImageSequence":
        """Open the sequence, at 25 frames per second unless another rate is given."""
        return cls(text, 25.0 if options.rate_hz is None else options.rate_hz)

    @property
    def end_verified(self) -> bool:
        """True once all are read: the files are counted when the sequence is opened."""
        return True

    @property
    def info(self) -> VideoInfo:
        """Size of the first image; the count is exact."""
        return self._info

    def grab(self) -> Grab | None:
        """Step to the next file, which is read when its pixels are requested."""
        if self._next >= len(self._images.paths):
            return None
        path, number = self._images.paths[self._next], self._images.numbers[self._next]
        self._next += 1
        return Grab(number, number / self._rate_hz, lambda: self._checked(path))

    def seek(self, start: Position) -> None:
        """Skip the files before `start` without reading them."""
        self._next = self._first_at(start)

    def count_between(self, start: Position | None, end: Position | None) -> int:
        """Return how many files lie from `start` to `end`, both included."""
        first = 0 if start is None else self._first_at(start)
        if end is None:
            last = len(self._images.numbers)
        elif end.number is not None:
            last = bisect_right(self._images.numbers, end.number)
        else:
            last = bisect_right(self._images.numbers, end.time_s, key=lambda number: number / self._rate_hz)
        return max(0, last - first)

    def close(self) -> None:
        """End the sequence; `read` returns None from here on."""
        self._next = len(self._images.paths)

    def _first_at(self, start: Position) -> int:
        if start.number is not None:
            return bisect_left(self._images.numbers, start.number)
        return bisect_left(self._images.numbers, start.time_s, key=lambda number: number / self._rate_hz)

    def _checked(self, path: Path) -> Frame:
        frame = self._load(path)
        if frame.shape[:2] != self._shape[:2]:
            found, wanted = text_size(frame.shape[:2]), text_size(self._shape[:2])
            raise SourceError(f"{path} is {found} but the sequence began with {wanted}; move it elsewhere")
        if frame.shape != self._shape or frame.dtype != self._dtype:
            raise SourceError(
                f"{path} is {_kind(frame)} but the sequence began with {_kind_of(self._shape, self._dtype)}; "
                "convert them all to one kind"
            )
        return frame

    @staticmethod
    def _load(path: Path) -> Frame:
        image = read_image(path)
        if image.dtype not in FRAME_DTYPES:
            raise SourceError(f"{path} holds {image.dtype} pixels; convert it to 8 or 16 bits")
        return image


def _kind(frame: Frame) -> str:
    return _kind_of(frame.shape, frame.dtype)


def _kind_of(shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> str:
    return f"{'grey' if len(shape) == 2 else 'colour'} {dtype}"
