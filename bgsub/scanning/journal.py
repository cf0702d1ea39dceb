"""The journal of a scan: what is done is on the disk, so that a scan that was killed goes on."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from bgsub._files import failure, write_whole
from bgsub.errors import SinkError
from bgsub.scanning.analyse import Analysed, Part
from bgsub.scanning.settings import ScanSettings

__all__ = ["Journal", "file_stamp", "part_key", "state_name"]

_FORMAT = 1
_LARGEST = 2**31 - 1
"""Largest number of frames, of pixels of a side, and of seconds, in a part."""


class Journal:
    """A folder with a file of JSON lines, one for each part that is done, and the numbers of each part.

    Each part is on the disk, whole, before its line is.

    Parameters
    ----------
    folder : Path
        Created if it is missing.
    settings : ScanSettings
        Of the scan.
    resume : bool
        Whether to go on with the parts that are there.

    Raises
    ------
    SinkError
        If there is a journal and `resume` is False, it is of other settings, or it cannot be written.
    """

    def __init__(self, folder: Path, settings: ScanSettings, *, resume: bool = False) -> None:
        self.folder = folder
        self._path = folder / "journal.jsonl"
        self._done: dict[str, dict[str, Any]] = {}
        header = {"format": _FORMAT, "settings": settings.digest(), "values": settings.to_json()}
        if self._path.exists():
            if not resume:
                raise SinkError(f"{folder.parent} holds a scan; resume it with --resume, or choose another folder")
            self._read(header)
        else:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise failure(folder, error.strerror) from error
            self._append(header)

    def find(self, key: str) -> Analysed | None:
        """Return what was found in the part of a key; its numbers are left out. None if it is not done."""
        entry = self._done.get(key)
        if entry is None:
            return None
        values = {**entry["analysed"], "size": tuple(entry["analysed"]["size"])}
        return Analysed(numbers=b"", **values)

    def numbers(self, key: str) -> bytes:
        """Return the numbers of a part that is done.

        Raises
        ------
        SinkError
            If they are missing or damaged.
        """
        entry = self._done[key]
        path = self.folder / _numbers_name(key)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise SinkError(f"cannot read {path}: {error.strerror}; scan into another folder") from error
        if hashlib.sha256(data).hexdigest() != entry["sha256"]:
            raise SinkError(f"{path} is damaged; scan into another folder")
        return data

    def add(self, key: str, analysed: Analysed) -> None:
        """Write what was found in a part.

        Raises
        ------
        SinkError
            If it cannot be written; what is there stays as it was.
        """
        name = _numbers_name(key)
        write_whole(self.folder / name, analysed.numbers)
        values = asdict(replace(analysed, numbers=b""))
        del values["numbers"]
        entry = {
            "key": key,
            "numbers": name,
            "sha256": hashlib.sha256(analysed.numbers).hexdigest(),
            "analysed": values,
        }
        self._append(entry)
        self._done[key] = entry

    def drop_state(self, name: str) -> None:
        """Remove the state of a model that a later part has gone on from."""
        for path in self.folder.glob(f"{name}.*.npz"):
            path.unlink(missing_ok=True)

    def _append(self, entry: Mapping[str, Any]) -> None:
        line = (json.dumps(entry, sort_keys=True) + "\n").encode()
        try:
            with self._path.open("ab", buffering=0) as file:
                end = file.tell()
                try:
                    if file.write(line) != len(line):
                        raise OSError(28, "No space left on device")
                    os.fsync(file.fileno())
                except OSError:
                    file.truncate(end)
                    raise
        except OSError as error:
            raise failure(self._path, error.strerror) from error

    def _read(self, header: Mapping[str, Any]) -> None:
        try:
            lines = self._path.read_bytes().splitlines(keepends=True)
            if lines and not lines[-1].endswith(b"\n"):  # the scan was killed while it wrote
                with self._path.open("r+b") as file:
                    file.truncate(self._path.stat().st_size - len(lines.pop()))
        except OSError as error:
            raise SinkError(f"cannot go on with {self._path}: {error.strerror}; scan into another folder") from error
        if not lines:
            self._append(header)
            return
        try:
            first, *entries = (json.loads(line) for line in lines)
            self._check(first, header)
            for entry in entries:
                _check_entry(entry)
            self._done = {entry["key"]: entry for entry in entries}
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise SinkError(f"{self._path} is no journal of a scan ({error}); scan into another folder") from error

    def _check(self, found: Mapping[str, Any], header: Mapping[str, Any]) -> None:
        if found.get("format") != _FORMAT:
            raise SinkError(f"{self._path} is of another version of bgsub; scan into another folder")
        if found.get("settings") != header["settings"]:
            old, new = found.get("values", {}), header["values"]
            changed = ", ".join(name for name in new if old.get(name) != new[name]) or "values"
            raise SinkError(
                f"cannot resume {self.folder.parent}: its settings were others ({changed}); give the same, or scan "
                "into another folder"
            )


def _check_entry(entry: Mapping[str, Any]) -> None:
    """Raise an error of any kind if an entry does not hold what was found in a part."""
    Part(**json.loads(entry["key"])["part"])
    found = Analysed(numbers=b"", **entry["analysed"])
    numbers = (*found.size, found.frames, found.rate_hz, found.first_s, found.last_s)
    right = all(type(value) in (int, float) and abs(value) <= _LARGEST for value in numbers)
    if not right or len(found.size) != 2 or not isinstance(found.failure, str) or not isinstance(entry["sha256"], str):
        raise ValueError("a part has impossible values")


def _numbers_name(key: str) -> str:
    return f"{_short(key)}.npz"


def state_name(key: str) -> str:
    """Return the name of the state of a model after a part."""
    return f"state-{_short(key)}"


def _short(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:24]


def file_stamp(file: str) -> list[int]:
    """Return size and time of change of a file; none for what is no file."""
    try:
        status = Path(file).stat()
    except OSError:
        return []
    return [status.st_size, status.st_mtime_ns]


def part_key(part: Part, before: str = "") -> str:
    """Return all that decides what is found in a part, besides the settings.

    Parameters
    ----------
    part : Part
    before : str
        Key of the part before it, where the model goes on from that.
    """
    previous = hashlib.sha256(before.encode()).hexdigest()[:16] if before else ""
    values = {"part": asdict(part), "stamp": file_stamp(part.file), "before": previous}
    return json.dumps(values, sort_keys=True)
