"""Objects as lines of text: JSON Lines, CSV and MOT challenge."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bgsub.frames import Packet, Result
from bgsub.video.sinks.appended import AppendedFile, csv_lines

if TYPE_CHECKING:
    from bgsub.objects import Objects

__all__ = ["CsvLines", "JsonLines", "LineFormat", "LinesFile", "MotLines", "records"]


def records(packet: Packet, objects: "Objects") -> Iterator[dict[str, Any]]:
    """Yield the objects of a frame as they are written, centroids to a hundredth of a pixel."""
    for one in objects:
        yield {
            "index": packet.index,
            "number": packet.number,
            "time_s": round(packet.time_s, 6),
            "id": one.id,
            "age": one.age,
            "box": list(one.box),
            "area": one.area,
            "centroid": [round(value, 2) for value in one.centroid],
            "score": None if one.mean_score is None else round(one.mean_score, 4),
            "regions": list(one.regions),
            "border": one.touches_border,
        }


class LineFormat(Protocol):
    """How a frame becomes lines."""

    header: str
    """The first line of the file; empty for none."""

    def lines(self, packet: Packet, objects: "Objects") -> str:
        """Return the lines of one frame."""


class JsonLines:
    """A JSON object for each object."""

    header = ""

    def lines(self, packet: Packet, objects: "Objects") -> str:
        """Return the lines of one frame."""
        return "".join(json.dumps(record) + "\n" for record in records(packet, objects))


class CsvLines:
    """A row for each object."""

    COLUMNS = (
        *("index", "number", "time_s", "id", "age", "x", "y", "width", "height", "area"),
        *("centroid_x", "centroid_y", "score", "regions", "border"),
    )
    header = csv_lines([COLUMNS])

    def lines(self, packet: Packet, objects: "Objects") -> str:
        """Return the lines of one frame."""
        rows = []
        for record in records(packet, objects):
            first = [record[name] for name in ("index", "number", "time_s", "id", "age")]
            last = [record["score"], ";".join(record["regions"]), int(record["border"])]
            rows.append([*first, *record["box"], record["area"], *record["centroid"], *last])
        return csv_lines(rows)


class MotLines:
    """A row for each object, as trackers are scored by TrackEval and the MOT challenge."""

    header = ""

    def lines(self, packet: Packet, objects: "Objects") -> str:
        """Return the lines of one frame."""
        rows = []
        for one in objects:
            x, y, width, height = one.box
            rows.append(f"{packet.index + 1},{one.id},{x + 1},{y + 1},{width},{height},1,-1,-1,-1\n")
        return "".join(rows)


class LinesFile:
    """A file of lines in one of the formats.

    Parameters
    ----------
    path : Path
        Its name.
    suffixes : tuple of str
        Endings that the name may have.
    format_ : one of the formats
        How a frame becomes lines.
    force : bool
        Overwrite an existing file.

    Raises
    ------
    SinkError
        If the file exists or cannot be written.
    """

    def __init__(self, path: Path, suffixes: tuple[str, ...], format_: LineFormat, *, force: bool) -> None:
        self._file, self._format = AppendedFile(path, suffixes, force=force), format_

    def write(self, result: Result, objects: "Objects") -> None:
        """Append the lines of one frame; the file begins with the first, also if that has no object."""
        text = self._format.lines(result.packet, objects)
        if text or not self._file.begun:
            self._file.append(text if self._file.begun else self._format.header + text)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
