"""Model files: a versioned npz archive with a JSON header, no pickle, written atomically."""

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._files import open_whole
from bgsub.errors import ModelFileError
from bgsub.frames import Mask

__all__ = ["FORMAT", "Snapshot", "read", "write"]

FORMAT = 2
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
    try:
        with path.open("rb") as file:
            if not zipfile.is_zipfile(file):  # numpy would take anything else for a pickle
                raise ModelFileError(f"{path} is not a bgsub model, or not all of it; learn and save it again")
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                return _unpack(path, archive)
    except FileNotFoundError:
        raise ModelFileError(f"cannot read the model {path}: no such file") from None
    except ModelFileError:
        raise
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        raise ModelFileError(f"{path} is not a readable bgsub model ({error}); learn and save it again") from error


def _unpack(path: Path, archive: Any) -> Snapshot:
    if "bgsub_format" not in archive:
        raise ModelFileError(f"{path} is not a bgsub model; models are written by --save-model or save()")
    version = int(archive["bgsub_format"])
    if version != FORMAT:
        raise ModelFileError(
            f"{path} has model format {version}, this bgsub reads {FORMAT}; learn and save the model again"
        )
    header = json.loads(str(archive["header"]))
    if not isinstance(header, dict):
        raise ModelFileError(f"{path} is not a bgsub model: its header is wrong; learn and save it again")
    return Snapshot(
        header["detector"],
        dict(header["parameters"]),
        tuple(header["shape"]),
        np.dtype(header["dtype"]),
        {name.removeprefix(_STATE): archive[name] for name in archive.files if name.startswith(_STATE)},
        dict(header["scalars"]),
        archive["roi"] if "roi" in archive.files else None,
    )
