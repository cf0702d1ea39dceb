"""Rows of an evaluation, written to a file as they come, so that a run that was killed can go on."""

import json
import os
from pathlib import Path
from typing import Any

from bgsub.errors import DatasetError, SinkError
from bgsub.evaluation.reports.report import Report, Row

__all__ = ["RowsFile"]


class RowsFile:
    """A file of JSON lines, one for each method and sequence; each is on the disk before the next one is measured.

    Parameters
    ----------
    path : path
        Created with the first row.
    resume : bool
        Whether to keep the rows that are in it; otherwise an existing file is refused.

    Raises
    ------
    SinkError
        If the file exists and `resume` is False, or it cannot be written.
    DatasetError
        If it does not hold such rows.
    """

    def __init__(self, path: str | Path, *, resume: bool = False) -> None:
        self.path = Path(path)
        self._rows: dict[tuple[str, ...], Row] = {}
        if self.path.exists() and not resume:
            raise SinkError(f"cannot write {self.path}: it exists; resume that run or choose another name")
        if self.path.exists():
            self._read()

    def find(self, key: tuple[str, ...]) -> Row | None:
        """Return the row that was measured under a key: all that determines its scores."""
        return self._rows.get(key)

    def has(self, identity: str) -> bool:
        """Return whether there is any row of a sequence."""
        return any(row_key[2] == identity for row_key in self._rows)

    def add(self, key: tuple[str, ...], row: Row) -> None:
        """Append a row.

        Raises
        ------
        SinkError
            If it cannot be written.
        """
        (entry,) = Report([row]).to_json()["rows"]
        line = json.dumps({"key": list(key), "row": entry}) + "\n"
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise SinkError(f"cannot write {self.path}: {error.strerror}; free space or choose another name") from error

    def _read(self) -> None:
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
        except (OSError, UnicodeDecodeError) as error:
            raise DatasetError(f"cannot read {self.path}: {error}") from error
        if lines and not lines[-1].endswith("\n"):  # the run was killed while it wrote
            self._drop_last(lines.pop())
        for number, line in enumerate(lines, 1):
            try:
                entry: dict[str, Any] = json.loads(line)
                (row,) = Report.from_json({"rows": [entry["row"]]}).rows
                self._rows[tuple(entry["key"])] = row
            except (ValueError, KeyError, TypeError) as error:
                raise DatasetError(f"{self.path}, line {number}: no row of an evaluation ({error!r})") from error

    def _drop_last(self, torn: str) -> None:
        try:
            with self.path.open("r+b") as file:
                file.truncate(self.path.stat().st_size - len(torn.encode()))
        except OSError as error:
            raise SinkError(f"cannot write {self.path}: {error.strerror}") from error
