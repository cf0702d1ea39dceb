"""The sink for objects."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from bgsub.errors import SinkError
from bgsub.frames import Result
from bgsub.video.sinks.base import RunContext, Sink, SinkOption
from bgsub.video.sinks.objects.coco import CocoFile
from bgsub.video.sinks.objects.lines import CsvLines, JsonLines, LineFormat, LinesFile, MotLines

if TYPE_CHECKING:
    from bgsub.objects import ObjectFinder

__all__ = ["ObjectFile"]

_LINES: dict[str, type[LineFormat]] = {".jsonl": JsonLines, ".csv": CsvLines, ".txt": MotLines}


class ObjectFile(Sink):
    r"""The objects of each frame with the ids of their tracks, in the format that the name of the file asks for.

    .jsonl
        JSON Lines, one object a line: index, number, time_s, id, age, box [x, y, width, height], area,
        centroid [x, y], score (mean; null without scores), regions, border (whether it touches the border).
    .csv
        The same as a table, with a column for each number; regions are separated by semicolons.
    .txt
        MOT challenge: frame, id, left, top, width, height, 1, -1, -1, -1; frame and pixel coordinates from 1.
    .json
        COCO: an image for each frame, an annotation for each object with outline, track_id and score.

    Lines are whole at every moment, those of a frame are written together. COCO is one JSON value: it is kept in a
    nameless file and written, whole or not at all, when the sink is closed, also after an error or an interruption. A
    process that is killed leaves none.

    Parameters
    ----------
    path : str or path
        A name ending in .jsonl, .csv, .txt or .json.
    finder : ObjectFinder, optional
        Finds and tracks the objects; by default all of them, from their first frame on.
    force : bool
        Overwrite an existing file.

    Raises
    ------
    SinkError
        If the output exists or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import bgsub
    >>> mask = np.zeros((48, 64), np.uint8)
    >>> mask[10:20, 30:40] = 255
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ObjectFile(f"{folder}/objects.txt") as sink:
    ...         sink.write(Result(bgsub.Packet(0, 0.04, mask, 1), mask))
    ...     Path(f"{folder}/objects.txt").read_text()
    '1,1,31,11,10,10,1,-1,-1,-1\n'
    """

    any_thread = True
    wants_score = True
    option = SinkOption("objects", "Boxes of objects, by frame (.jsonl, .csv, .txt for MOT, .json for COCO)")
    suffixes = (".jsonl", ".csv", ".txt", ".json")

    def __init__(self, path: str | PathLike[str], *, finder: "ObjectFinder | None" = None, force: bool = False) -> None:
        path = Path(path)
        suffix = path.suffix.lower()
        self._path, self._finder, self._closed = path, finder, False
        self._file: LinesFile | CocoFile
        if suffix == ".json":
            self._file = CocoFile(path, force=force)
        else:
            self._file = LinesFile(path, self.suffixes, _LINES.get(suffix, JsonLines)(), force=force)

    @classmethod
    def from_path(cls, path: Path, run: RunContext, **settings: str) -> "ObjectFile":
        """Make the file for the objects of the run."""
        return cls(path, finder=run.objects, force=run.force)

    def write(self, result: Result) -> None:
        """Write the objects of one frame."""
        if self._closed:
            raise SinkError(f"cannot write {self._path}: it is closed")
        if self._finder is None:
            from bgsub.objects import ObjectFinder

            self._finder = ObjectFinder()
        self._file.write(result, self._finder.find(result))

    def close(self) -> None:
        """Finish the file."""
        self._closed = True
        self._file.close()
