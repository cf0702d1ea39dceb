"""Observations of a part of a file as compact bytes."""

import io
import zipfile
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub.errors import SourceError
from bgsub.events import Observation, Seen

__all__ = ["NumberWriter", "read_numbers"]

_FRAME = ("number", "time_s", "foreground", "spread", "light", "shift", "objects")
_KINDS = dict(zip(_FRAME, "qdffffH", strict=True))


class NumberWriter:
    """Collects observations.

    Parameters
    ----------
    regions : sequence of str
        Names of the regions.
    """

    def __init__(self, regions: Sequence[str]) -> None:
        self._regions = list(regions)
        self._columns: dict[str, array[Any]] = {name: array(kind) for name, kind in _KINDS.items()}
        self._shares = array("f")
        self._objects = array("f")
        self._inside = array("Q")
        self._aspect = 4 / 3

    def __len__(self) -> int:
        return len(self._columns["number"])

    def add(self, one: Observation, time_s: float) -> None:
        """Add what a frame shows; `time_s` is its time in the file."""
        values = (one.number, time_s, one.foreground, one.spread, one.light, one.shift, len(one.objects))
        for column, value in zip(self._columns.values(), values, strict=True):
            column.append(value)
        self._aspect = one.aspect
        self._shares.extend(one.shares.get(name, 0.0) for name in self._regions)
        for seen in one.objects:
            self._objects.extend((*seen.box, seen.area, seen.score, seen.diffuse))
            self._inside.append(sum(1 << i for i, name in enumerate(self._regions) if name in seen.regions))

    def to_bytes(self) -> bytes:
        """Return everything as an npz archive."""
        file = io.BytesIO()
        arrays: dict[str, Any] = {name: np.asarray(column) for name, column in self._columns.items()}
        np.savez_compressed(
            file,
            shares=np.asarray(self._shares, np.float32),
            seen=np.asarray(self._objects, np.float32),
            inside=np.asarray(self._inside, np.uint64),
            aspect=np.float64(self._aspect),
            **arrays,
        )
        return file.getvalue()


def read_numbers(data: bytes, regions: Sequence[str], *, file: int = 0, offset_s: float = 0.0) -> Iterator[Observation]:
    """Yield the observations in bytes.

    Parameters
    ----------
    data : bytes
        As `NumberWriter.to_bytes` made them.
    regions : sequence of str
        Names of the regions.
    file : int
        Position of the file in the recording.
    offset_s : float
        To be added to times in the file for those in the recording.

    Raises
    ------
    SourceError
        If they are damaged.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        columns = [arrays[name].tolist() for name in _FRAME]
        seen = arrays["seen"].reshape(-1, 7).tolist()
        shares = arrays["shares"].reshape(len(columns[0]), -1).tolist() if regions else [()] * len(columns[0])
        inside, aspect = arrays["inside"].tolist(), float(arrays["aspect"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise SourceError(f"the numbers of an earlier scan are damaged ({error}); scan into another folder") from error
    yield from _observations(columns, seen, inside, shares, tuple(regions), aspect, file, offset_s)


def _observations(
    columns: list[list[Any]],
    seen: list[list[float]],
    inside: list[int],
    shares: Sequence[Sequence[float]],
    regions: tuple[str, ...],
    aspect: float,
    file: int,
    offset_s: float,
) -> Iterator[Observation]:
    position = 0
    names = {bits: tuple(name for i, name in enumerate(regions) if bits >> i & 1) for bits in set(inside)}
    for row, (number, time_s, foreground, spread, light, shift, count) in enumerate(zip(*columns, strict=True)):
        objects = [
            Seen((x, y, width, height), area, score, diffuse, names[inside[position + i]])
            for i, (x, y, width, height, area, score, diffuse) in enumerate(seen[position : position + count])
        ]
        position += count
        yield Observation(
            number,
            offset_s + time_s,
            objects,
            foreground,
            spread,
            light,
            shift,
            aspect,
            file,
            dict(zip(regions, shares[row], strict=True)),
        )


def times_of(data: bytes) -> NDArray[np.float64]:
    """Return the times in the file of all frames, in seconds."""
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return np.asarray(archive["time_s"], np.float64)
