"""Model files: a versioned npz archive with a JSON header, no pickle, written atomically."""

import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub.errors import ModelFileError

__all__ = ["FORMAT", "read", "write"]

FORMAT = 1
"""Version of the file layout; a reader refuses every other."""


def write(path: Path, header: str, arrays: dict[str, NDArray[Any]]) -> None:
    """Write header and arrays to `path`: under another name first, so that no half file ever stands there.

    Raises
    ------
    ModelFileError
        If the file cannot be written.
    """
    temporary: str | None = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            temporary = file.name
            np.savez(file, bgsub_format=np.int64(FORMAT), header=np.str_(header), **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)  # temporary files are private, a model need not be
        Path(temporary).replace(path)
    except OSError as error:
        raise ModelFileError(
            f"cannot write the model {path}: {error.strerror or error}; choose a writable folder with free space"
        ) from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


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
