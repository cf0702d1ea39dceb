"""Model files: a versioned npz archive with a JSON header, no pickle, written atomically."""

import json
import math
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bgsub._files import open_whole
from bgsub.errors import ModelFileError

if TYPE_CHECKING:
    from bgsub.detectors.base import Detector

__all__ = ["FORMAT", "read", "restore", "save", "write"]

FORMAT = 2
"""Version of the file layout; a reader refuses every other."""


def write(path: Path, header: str, arrays: dict[str, NDArray[Any]]) -> None:
    """Write header and arrays to `path`, whole or not at all.

    Raises
    ------
    ModelFileError
        If the file cannot be written.
    """
    with open_whole(path, ModelFileError, what="model") as file:
        np.savez(file, bgsub_format=np.int64(FORMAT), header=np.str_(header), **arrays)  # type: ignore[arg-type]


def read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read header and arrays.

    Raises
    ------
    ModelFileError
        If the file is missing, is no such archive, is damaged or of another version.
    """
    try:
        with path.open("rb") as file:
            if not zipfile.is_zipfile(file):  # numpy would take anything else for a pickle
                raise ModelFileError(f"{path} is not a bgsub model, or not all of it; learn and save it again")
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                header, arrays = _unpack(path, archive)
    except FileNotFoundError:
        raise ModelFileError(f"cannot read the model {path}: no such file") from None
    except ModelFileError:
        raise
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        raise ModelFileError(f"{path} is not a readable bgsub model ({error}); learn and save it again") from error
    if not isinstance(header, dict):
        raise ModelFileError(f"{path} is not a bgsub model: its header is wrong; learn and save it again")
    return header, arrays


def _unpack(path: Path, archive: Any) -> tuple[Any, dict[str, NDArray[Any]]]:
    if "bgsub_format" not in archive:
        raise ModelFileError(f"{path} is not a bgsub model; models are written by --save-model or save()")
    version = int(archive["bgsub_format"])
    if version != FORMAT:
        raise ModelFileError(
            f"{path} has model format {version}, this bgsub reads {FORMAT}; learn and save the model again"
        )
    arrays = {name: archive[name] for name in archive.files if name not in ("bgsub_format", "header")}
    return json.loads(str(archive["header"])), arrays


def save(detector: "Detector", path: Path) -> None:
    """Write parameters, state and region of a detector that has seen a frame.

    Raises
    ------
    ModelFileError
        If the file cannot be written.
    """
    header = {
        "detector": detector.name,
        "parameters": detector.parameters,
        "scalars": detector._scalars,
        "shape": list(detector.shape or ()),
        "dtype": str(detector.dtype),
    }
    arrays = {f"state_{name}": array for name, array in detector._arrays.items()}
    if detector.roi is not None:
        arrays["roi"] = detector.roi
    write(path, json.dumps(header), arrays)


def restore(detector: "Detector", path: Path, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Give an empty detector the state that `save` wrote.

    Raises
    ------
    ModelFileError
        If the arrays are not those of a model with these parameters.
    """
    shape, dtype = tuple(header["shape"]), np.dtype(header["dtype"])
    # A header may claim any size. Every model has an array with a number for each pixel, so no more is allocated
    # here than the file itself holds, times the bytes that a pixel takes.
    if math.prod(shape[:2]) > max((array.size for array in arrays.values()), default=0):
        raise ModelFileError(f"{path} is not a valid model: its arrays do not fit its header; save it again")
    detector._accept(np.zeros(shape, dtype), "frame")
    for name, array in detector._arrays.items():
        saved = arrays.get(f"state_{name}")
        if saved is None or saved.shape != array.shape or saved.dtype != array.dtype:
            raise ModelFileError(f"{path} is not a valid model: the array {name!r} is missing or wrong; save it again")
        array[...] = saved  # keeps where the array lies in memory
    if set(header["scalars"]) != set(detector._scalars):
        raise ModelFileError(f"{path} is not a valid model: its scalars are incomplete; save it again")
    detector._scalars = dict(header["scalars"])
    detector.roi = arrays.get("roi")
