"""The state of a detector, and its file: a versioned npz archive with a JSON header, no pickle, written atomically."""

import abc
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bgsub._files import open_whole
from bgsub._input.archives import open_archive
from bgsub._input.frame_size import check_frame_size
from bgsub._threads import Exclusive, exclusive
from bgsub.detectors.parameters import Parametrized
from bgsub.errors import BgsubError, ModelFileError, UnsupportedError
from bgsub.frames import Frame, Mask

__all__ = [
    "BIT",
    "FINITE",
    "FORMAT",
    "MASK",
    "NOT_NEGATIVE",
    "Snapshot",
    "Span",
    "Stateful",
    "check_shape",
    "check_size",
    "check_state",
    "read",
    "write",
]

FORMAT = 5
"""Version of the file layout; a reader refuses every other."""

_STATE = "state_"  # in front of the names of arrays that belong to the state


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A model with everything that it has learned, as a file holds it."""

    detector: str
    """Name of the detector."""
    parameters: dict[str, Any]
    shape: tuple[int, ...]
    """Shape of the frames, (H, W) or (H, W, 3)."""
    dtype: np.dtype[Any]
    """Type of the frames."""
    arrays: dict[str, NDArray[Any]]
    scalars: dict[str, float]
    roi: Mask | None
    """Region of interest, (H, W) uint8."""

    def save(self, path: Path) -> None:
        """Write the model to a file, as `Detector.save` does; any thread may.

        Raises
        ------
        ModelFileError
            If the file cannot be written.
        """
        write(path, self)


class Span(NamedTuple):
    """The values that an array or a scalar of a model may have."""

    least: float
    most: float
    step: float = 0.0
    """Values are multiples of it; 0 for any between least and most."""


_LARGEST = float(np.finfo(np.float32).max)
FINITE, NOT_NEGATIVE = Span(-_LARGEST, _LARGEST), Span(0, _LARGEST)
BIT, MASK = Span(0, 1, 1), Span(0, 255, 255)


def check_state(
    model: Snapshot, arrays: Mapping[str, NDArray[Any]], scalars: Mapping[str, float], spans: Mapping[str, Span]
) -> None:
    """Check that a model from elsewhere has the arrays and scalars of a detector, with values that it may have.

    Compiled functions do not check what they find: an index that is too large would let them write anywhere.

    Parameters
    ----------
    model : Snapshot
        The model to check.
    arrays, scalars
        The state of the detector, of which shapes and types count.
    spans
        Values by the name of an array or scalar; others may have any.

    Raises
    ------
    ValueError
        If the model does not fit; the message names the array or scalar.
    """
    if set(model.arrays) != set(arrays):
        raise ValueError(f"its arrays are {', '.join(sorted(model.arrays))}, not {', '.join(sorted(arrays))}")
    if set(model.scalars) != set(scalars):
        raise ValueError("its scalars are incomplete")
    for name, array in arrays.items():
        if model.arrays[name].shape != array.shape or model.arrays[name].dtype != array.dtype:
            raise ValueError(f"the array {name!r} has another shape or type")
    for name, value in model.scalars.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"the scalar {name!r} is no number")
    for name, span in spans.items():
        values: Any = model.arrays[name] if name in arrays else model.scalars[name]
        if np.size(values) == 0:  # frames of a row have no edges
            continue
        low, high = (values.min(), values.max()) if name in arrays else (values, values)  # NaN where any value is
        fits = span.least <= low and high <= span.most
        if not fits or (span.step and np.any(np.remainder(values, span.step))):
            raise ValueError(f"values of {name!r} are out of range")


def check_shape(model: Snapshot) -> None:
    """Check that a model from elsewhere is for frames of an accepted shape.

    Raises
    ------
    ValueError
        If there are no frames of its shape.
    ModelFileError
        If they have too many pixels.
    """
    sides, channels = model.shape[:2], model.shape[2:]
    if len(sides) != 2 or channels not in ((), (3,)) or not all(type(side) is int and side > 0 for side in model.shape):
        raise ValueError("its header has no frame size")
    check_frame_size("the model", (sides[0], sides[1]), ModelFileError)


def check_size(model: Snapshot, row_bytes: int) -> None:
    """Check that a model from elsewhere holds about as much as its frame size needs, before that is allocated.

    Parameters
    ----------
    model : Snapshot
        The model to check.
    row_bytes : int
        Bytes of the state of 64 pixels.

    Raises
    ------
    ValueError
        If its frame size would need much more.
    """
    needed = math.prod(model.shape[:2]) * row_bytes // 64
    held = sum(array.nbytes for array in model.arrays.values())
    if needed > 4 * held:  # the exact size is known when the state is there
        raise ValueError("its arrays do not fit its header")


def write(path: Path, model: Snapshot) -> None:
    """Write a model to `path`, whole or not at all.

    Raises
    ------
    ModelFileError
        If the file cannot be written.
    """
    header = {
        "detector": model.detector,
        "parameters": model.parameters,
        "scalars": model.scalars,
        "shape": list(model.shape),
        "dtype": model.dtype.name,
    }
    arrays: dict[str, Any] = {_STATE + name: array for name, array in model.arrays.items()}
    if model.roi is not None:
        arrays["roi"] = model.roi
    with open_whole(path, ModelFileError, what="model") as file:
        np.savez(file, bgsub_format=np.int64(FORMAT), header=np.str_(json.dumps(header)), **arrays)


def read(path: Path) -> Snapshot:
    """Read a model that `write` wrote.

    Raises
    ------
    ModelFileError
        If the file is missing, is no such archive, is damaged or of another version.
    """
    with open_archive(path, "bgsub model", ModelFileError) as archive:
        return _unpack(path, archive)


def _unpack(path: Path, archive: Any) -> Snapshot:
    if "bgsub_format" not in archive:
        raise ModelFileError(f"{path} is not a bgsub model; models are written by --save-model or save()")
    version = archive["bgsub_format"]
    if version.shape or version.dtype.kind not in "iu":
        raise ModelFileError(f"{path} is not a bgsub model: its format has no number; learn and save it again")
    if version != FORMAT:
        raise ModelFileError(
            f"{path} has model format {version}, this bgsub reads {FORMAT}; learn and save the model again"
        )
    header = json.loads(str(archive["header"]))
    if not (isinstance(header, dict) and all(isinstance(header[name], dict) for name in ("parameters", "scalars"))):
        raise ModelFileError(f"{path} is not a bgsub model: its header is wrong; learn and save it again")
    return Snapshot(
        header["detector"],
        header["parameters"],
        tuple(header["shape"]),
        np.dtype(header["dtype"]),
        {name.removeprefix(_STATE): archive[name] for name in archive.files if name.startswith(_STATE)},
        header["scalars"],
        archive["roi"] if "roi" in archive.files else None,
    )


class Stateful(Exclusive, Parametrized):
    """The part of a detector that keeps its state, and copies, saves and restores it."""

    can_save: ClassVar[bool] = True
    """Whether `save` is possible."""

    def __init__(self, **parameters: Any) -> None:
        Exclusive.__init__(self)
        Parametrized.__init__(self, **parameters)
        self._roi: Mask | None = None
        self._forget()

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Shape of the frames, (H, W) or (H, W, 3); None before the first."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """Type of the frames; None before the first."""
        return self._dtype

    @property
    def frames_seen(self) -> int:
        """Frames offered for learning since the start or the last reset."""
        return int(self._scalars.get("frames", 0))

    @property
    def state(self) -> dict[str, NDArray[Any]]:
        """The arrays of the model by name, not copied; scalars are (1,) float64. Empty before the first frame."""
        self._gather()
        return self._arrays | {name: np.array([value], np.float64) for name, value in self._scalars.items()}

    @property
    def memory_bytes(self) -> int | None:
        """Size of the model's state in bytes, 0 before the first frame; None where it is not known."""
        return sum(array.nbytes for array in self._arrays.values())

    @exclusive
    def save(self, path: str | Path) -> None:
        """Write the whole model to an npz file, atomically; `bgsub.load` continues with the same bits.

        Parameters
        ----------
        path : str or Path
            The file, by habit `*.npz`; an existing one is replaced when the new one is complete.

        Raises
        ------
        BgsubError
            If no frame was seen yet, the file cannot be written, or the detector cannot be saved.
        """
        if not self.can_save:
            raise UnsupportedError(f"{self.name} cannot save what it learned; use adaptive, norma or olk")
        shape, dtype = self._need_state()
        self._gather()
        arrays, scalars, roi = self._arrays, self._scalars, self._roi
        write(Path(path), Snapshot(self.name, self._parameters, shape, dtype, arrays, scalars, roi))

    @exclusive
    def snapshot(self) -> Snapshot:
        """Return a copy of the whole model, which later frames leave as it is; its `save` writes it.

        Raises
        ------
        BgsubError
            If no frame was seen yet, or the detector cannot be saved.
        """
        if not self.can_save:
            raise UnsupportedError(f"{self.name} cannot be copied with what it learned; use adaptive, norma or olk")
        shape, dtype = self._need_state()
        self._gather()
        arrays = {name: array.copy() for name, array in self._arrays.items()}
        roi = None if self._roi is None else self._roi.copy()
        return Snapshot(self.name, dict(self._parameters), shape, dtype, arrays, dict(self._scalars), roi)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle parameters, region and what was learned; caches are made again."""
        model = None if self._shape is None else self.snapshot()
        return _rebuild, (type(self), self.parameters, self._roi, model)

    @exclusive
    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Copy as pickling would, but without the checks that a file needs."""
        if self._shape is not None and not self.can_save:
            self.snapshot()  # raises
        copied = type(self)(**self._parameters)
        copied._roi = None if self._roi is None else self._roi.copy()
        if self._shape is not None and self._dtype is not None:
            copied._begin(np.zeros(self._shape, self._dtype))
            self._gather()
            for name, array in self._arrays.items():
                np.copyto(copied._arrays[name], array)
            copied._scalars.update(self._scalars)
            copied._share_out()
        memo[id(self)] = copied
        return copied

    @abc.abstractmethod
    def _begin(self, frame: Frame) -> None:
        """Make the state for frames like this one, which is not yet learned."""

    def _gather(self) -> None:
        """Make `_arrays` and `_scalars` the whole state; for detectors that keep parts of it elsewhere meanwhile."""

    def _share_out(self) -> None:
        """Take over new values of `_arrays`, whose memory is the same, and of `_scalars`, after `_gather`."""

    def _forget(self) -> None:
        """Drop the state; called by the constructor, too."""
        self._shape: tuple[int, ...] | None = None
        self._dtype: np.dtype[Any] | None = None
        self._arrays: dict[str, NDArray[Any]] = {}
        self._scalars: dict[str, float] = {}

    def _need_state(self) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Return shape and dtype of the frames, or raise BgsubError where none was seen."""
        if self._shape is None or self._dtype is None:
            raise BgsubError(f"the {self.name} model is empty: show it a frame first")
        return self._shape, self._dtype


def _rebuild(kind: type[Any], parameters: dict[str, Any], roi: Mask | None, model: Snapshot | None) -> Any:
    detector = kind(**parameters)
    detector.roi = roi
    if model is not None:
        detector.restore(model)
    return detector
