"""The files to scan: named, in folders, or by patterns, in the order in which a person would list them."""

import glob
import re
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path

from bgsub.errors import SourceError
from bgsub.video.sources import public_name

__all__ = ["VIDEO_SUFFIXES", "find_files", "natural_key"]

_SUFFIXES = """
.3gp .asf .avi .dav .divx .f4v .flv .h264 .h265 .hevc .m2t .m2ts .m4v .mjpeg .mjpg .mkv .mov .mp4 .mpeg .mpg .mts .mxf
.ogm .ogv .ts .vob .webm .wmv .y4m
"""

VIDEO_SUFFIXES = frozenset(_SUFFIXES.split())
"""Suffixes of the files that are taken from folders; a file that is named may have any."""

_MADE = re.compile(r"(synthetic|generated):")


def find_files(places: Iterable[str | PathLike[str]], *, without: Path | None = None) -> list[str]:
    """Return the files that names, folders and patterns stand for.

    Folders are searched with all below them; hidden files and folders are left out. Each file appears once, where it
    was first named.

    Parameters
    ----------
    places : iterable of str or path
        Files, folders, patterns like ``rec/**/*.mp4``, or scenes like ``synthetic:walkers``.
    without : Path, optional
        Folder whose files are left out: that of the outputs.

    Returns
    -------
    list of str
        In natural order within each place: 2.mp4 comes before 10.mp4.

    Raises
    ------
    SourceError
        If a place does not exist or holds no video.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("10.mp4", "2.mp4", "notes.txt"):
    ...         Path(folder, name).touch()
    ...     [Path(file).name for file in find_files([folder])]
    ['2.mp4', '10.mp4']
    """
    if isinstance(places, str | PathLike):
        raise ValueError(f"places must be a sequence of files, folders and patterns, got {places!r}")
    found: dict[str, str] = {}
    left_out = None if without is None else without.resolve()
    for place in places:
        for file in _find(place):
            key = file if _MADE.match(file) else str(Path(file).resolve())
            if left_out is None or left_out not in Path(key).parents:
                found.setdefault(key, file)
    if not found:
        raise SourceError("there is nothing to scan; name files, folders or patterns")
    return list(found.values())


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Return a key that sorts numbers in texts by their value.

    Examples
    --------
    >>> sorted(["cam10", "cam9", "Cam1"], key=natural_key)
    ['Cam1', 'cam9', 'cam10']
    """
    parts = re.split(r"([0-9]+)", text)
    return [(1, int(part), "") if part.isdigit() else (0, 0, part.casefold()) for part in parts] + [(2, 0, text)]


def _find(place: str | PathLike[str]) -> Sequence[str]:
    text = str(place)
    if _MADE.match(text):
        return [text]
    path = Path(text)
    if "://" in text and not path.exists():
        raise SourceError(f"cannot scan {public_name(text)}: it is an address; record it, or watch it by `bgsub watch`")
    if path.is_dir():
        files = [file for file in path.rglob("*") if file.suffix.lower() in VIDEO_SUFFIXES and not _hidden(file, path)]
        names = [str(file) for file in files if file.is_file()]
        if not names:
            raise SourceError(f"the folder {path} holds no video; name files with unusual suffixes one by one")
        return sorted(names, key=natural_key)
    if path.exists():
        return [text]
    if not any(sign in text for sign in "*?["):
        raise SourceError(f"cannot open {public_name(text)}: no such file or folder; check the path")
    matches = [Path(name) for name in glob.glob(text, recursive=True)]  # noqa: PTH207 - patterns may be absolute
    names = [str(match) for match in matches if match.is_file()]
    if not names:
        raise SourceError(f"no file matches {public_name(text)}; check the pattern")
    return sorted(names, key=natural_key)


def _hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(folder).parts)
