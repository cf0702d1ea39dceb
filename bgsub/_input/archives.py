"""Archives of arrays (npz) from others: refused before they take more memory than their size explains."""

import contextlib
import math
import os
import tokenize
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from bgsub.errors import BgsubError, ConfigError

__all__ = ["open_archive"]

_VARIABLE = "BGSUB_MAX_MODEL_BYTES"
_REMEDY = "learn and save it again"
_SMALL = 2**28
"""Bytes that any archive may unpack to, however small it is."""
_MOST_TEXT = 2**20  # bytes of a header: those that are written have hundreds


@contextlib.contextmanager
def open_archive(path: Path, kind: str, error: type[BgsubError]) -> Iterator[Any]:
    """Open an npz archive, without pickle, after checking the sizes that it declares.

    Models are written without compression, so that a file is as large as its arrays. A compressed one may unpack
    to 256 MiB, or to more if BGSUB_MAX_MODEL_BYTES says so: 3 MB of zip can hold 3 GB of zeros.

    Parameters
    ----------
    path : path
        The file.
    kind : str
        Kind of contents, for the message.
    error : type of BgsubError
        The error to raise.

    Yields
    ------
    numpy.lib.npyio.NpzFile
        Its arrays by name, each read when it is asked for. An exception of the block about a damaged archive
        becomes the error.

    Raises
    ------
    BgsubError
        Of the kind `error`, if the file is missing, no such archive, damaged or too large.
    """
    try:
        with path.open("rb") as file:
            if not zipfile.is_zipfile(file):  # numpy would take anything else for a pickle
                raise error(f"{path} is not a {kind}, or not all of it; {_REMEDY}")
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                _check_total(path, archive.zip, size, error)
                for member in archive.zip.infolist():
                    _check_member(archive.zip, member)
                yield archive
    except FileNotFoundError:
        raise error(f"cannot read the model {path}: no such file") from None
    except MemoryError as caught:
        raise error(f"the model {path} needs more memory than there is; check where it comes from") from caught
    except RecursionError as caught:
        raise error(f"{path} is not a {kind}: its header is wrong; {_REMEDY}") from caught
    except OSError as caught:
        raise error(f"cannot read the model {path}: {caught.strerror or caught}; {_REMEDY}") from caught
    except (ArithmeticError, ValueError, LookupError, TypeError, EOFError, AttributeError) as caught:
        raise error(f"{path} is not a {kind} ({caught}); {_REMEDY}") from caught
    except (SyntaxError, tokenize.TokenError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as caught:
        # numpy parses types and headers of arrays as Python; the others are damage, encryption and other compression
        raise error(f"{path} is not a {kind} ({caught}); {_REMEDY}") from caught


def _check_total(path: Path, archive: zipfile.ZipFile, size: int, error: type[BgsubError]) -> None:
    text = os.environ.get(_VARIABLE, "")
    if text and (not text.isdecimal() or int(text) == 0):
        raise ConfigError(f"{_VARIABLE} must be a positive whole number, got {text!r}")
    most = int(text) if text else max(size, _SMALL)
    total = sum(member.file_size for member in archive.infolist())
    if total > most:
        raise error(
            f"the model {path} has {size} bytes and unpacks to {total}, more than {most}; check where it comes from, "
            f"or set {_VARIABLE} to {total} or more"
        )


def _check_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Compare the size of an array, which numpy allocates at once, with that of the member that holds it."""
    with archive.open(member) as file:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(file)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize > member.file_size:
        raise ValueError(f"{member.filename} declares {dtype} of shape {shape}, which it does not hold")
    if dtype.kind in "US" and member.file_size > _MOST_TEXT and not shape:
        raise ValueError(f"{member.filename} holds a text of {member.file_size} bytes")
