"""The report of a benchmark: rows, their means, stages, and all of it as JSON, CSV and a table of text."""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bgsub._lab.machine import describe_machine
from bgsub.bench.clips import Clip
from bgsub.bench.profiles import StageRow
from bgsub.bench.turns import Row
from bgsub.video._text import text_size

__all__ = ["Mean", "Report"]


@dataclass(frozen=True, slots=True)
class Mean:
    """The share of MOG2's time over all clips."""

    detector: str
    size: tuple[int, int] | None
    """(height, width) that all clips were given; None if each had its own."""
    threads: int
    clips: int
    """Number of clips."""
    relative: float
    """Geometric mean."""
    worst: float
    """The largest."""
    worst_clip: str
    """The clip with the largest."""


@dataclass(frozen=True)
class Report:
    """The measurements so far, with the conditions under which they were made."""

    rows: list[Row] = field(default_factory=list)
    stages: list[StageRow] = field(default_factory=list)
    clips: list[dict[str, Any]] = field(default_factory=list)
    """Facts about each clip: name, size, which frames were used."""
    provenance: dict[str, Any] = field(default_factory=describe_machine)

    def add_clip(self, clip: Clip) -> None:
        """Add the facts about a clip."""
        self.clips.append(clip.describe())

    def means(self) -> list[Mean]:
        """Return the means over clips of each detector, by size and number of threads."""
        groups: dict[tuple[Any, int, str], list[Row]] = {}
        for row in self.rows:
            key = (row.size if row.rescaled else None, row.threads, row.detector)
            groups.setdefault(key, []).append(row)
        means = []
        for (size, threads, detector), rows in groups.items():
            worst = max(rows, key=lambda row: row.relative)
            relative = math.exp(sum(math.log(row.relative) for row in rows) / len(rows))
            means.append(Mean(detector, size, threads, len(rows), relative, worst.relative, worst.clip))
        return means

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain dicts and lists; sizes are [height, width]."""
        return {
            "provenance": self.provenance,
            "clips": self.clips,
            "rows": [_plain(row) for row in self.rows],
            "means": [_plain(mean) for mean in self.means()],
            "stages": [_plain(row) for row in self.stages],
        }

    def to_csv(self) -> str:
        """Return the rows as CSV text with a header; unknown values are empty."""
        text = io.StringIO()
        names = [
            *("clip", "detector", "width", "height", "threads", "ms", "relative", "relative_q1", "relative_q3"),
            *("turns", "state_bytes", "floor_ms", "processor", "bgsub", "opencv"),
        ]
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        conditions = [self.provenance[name] for name in ("processor", "bgsub", "opencv")]
        for row in self.rows:
            cells = [row.clip, row.detector, row.size[1], row.size[0], row.threads, row.ms, row.relative]
            cells += [*row.relative_quartiles, row.turns, row.state_bytes, row.floor_ms, *conditions]
            writer.writerow("" if cell is None else cell for cell in cells)
        return text.getvalue()

    def to_table(self) -> str:
        """Return rows, means over several clips and stages as aligned text; "-" marks unknown values."""
        parts = [self._conditions(), *map(_frames_used, self.clips), "", self._rows_table()]
        if len({row.clip for row in self.rows}) > 1:
            parts += ["", self._means_table()]
        if self.stages:
            parts += ["", self._stages_table()]
        return "\n".join(parts)

    def _conditions(self) -> str:
        known = self.provenance
        return (
            f"{known['processor'] or 'unknown processor'}, {known['usable_cpus']} usable CPUs; bgsub {known['bgsub']}, "
            f"OpenCV {known['opencv']}, numba {known['numba']}, Python {known['python']}"
        )

    def _rows_table(self) -> str:
        lines = [["clip", "size", "threads", "detector", "ms/frame", "of MOG2", "IQR", "MB state", "of copy"]]
        for row in self.rows:
            first, third = row.relative_quartiles
            state = "-" if row.state_bytes is None else f"{row.state_bytes / 1e6:.1f}"
            copy = f"{row.ms / row.floor_ms:.2f}" if row.floor_ms else "-"
            name = [row.clip, text_size(row.size), str(row.threads), row.detector]
            lines.append([*name, f"{row.ms:.2f}", f"{row.relative:.2f}", f"{first:.2f}-{third:.2f}", state, copy])
        return _align(lines, "l>>l")

    def _means_table(self) -> str:
        lines = [["of MOG2", "size", "threads", "detector", "clips", "geometric mean", "worst", "on"]]
        for mean in self.means():
            size = "own" if mean.size is None else text_size(mean.size)
            share = [f"{mean.relative:.2f}", f"{mean.worst:.2f}", mean.worst_clip]
            lines.append(["", size, str(mean.threads), mean.detector, str(mean.clips), *share])
        return _align(lines, "l>>l>>>l")

    def _stages_table(self) -> str:
        lines = [["clip", "size", "threads", "detector", "stage", "ms/frame", "share", "calls/frame"]]
        before: list[str] = []
        for row in self.stages:
            name = [row.clip, text_size(row.size), str(row.threads), row.detector]
            stage = f"  {row.stage.removeprefix('detect: ')}" if ":" in row.stage else row.stage
            shown = [""] * len(name) if name == before else name
            lines.append([*shown, stage, f"{row.ms:.3f}", f"{row.share:.0%}", f"{row.calls:.2f}"])
            before = name
        return _align(lines, "l>>ll")


def _frames_used(clip: dict[str, Any]) -> str:
    first, count, warmup = clip["first"], clip["frames"], clip["warmup"]
    return f"{clip['clip']}: frames {first} to {first + count - 1}, models filled by {warmup} frames before"


def _align(lines: Sequence[Sequence[str]], alignment: str) -> str:
    """Align columns: `l` to the left, `>` and all further ones to the right."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    sides = alignment.ljust(len(widths), ">")
    return "\n".join(
        "  ".join(
            cell.ljust(width) if side == "l" else cell.rjust(width)
            for cell, width, side in zip(line, widths, sides, strict=True)
        ).rstrip()
        for line in lines
    )


def _plain(row: Any) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(row).items()}
