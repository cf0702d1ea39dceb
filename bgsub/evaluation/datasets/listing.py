"""The contents of one folder of a data set, and the sequences that a layout finds in it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bgsub.evaluation.datasets.sequence import Sequence

__all__ = ["Candidate", "Listing"]


@dataclass(frozen=True, slots=True)
class Listing:
    """One folder with the names in it."""

    path: Path
    """The folder, absolute."""
    folders: tuple[str, ...]
    """Names of the folders in it, sorted."""
    files: tuple[str, ...]
    """Names of the files in it, sorted."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sequence that was found but not opened."""

    folder: Path
    """Folder of the sequence, for messages and for the order."""
    open: Callable[[], Sequence]
    """Opens the sequence; raises `DatasetError` if a file is missing or wrong."""
    uses: frozenset[str]
    """Names of the folders beside or in it that belong to it."""
