"""Tables with one line per video and one group of columns per model, and means below."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bgsub.evaluation.reports.columns import Column, average, column
from bgsub.evaluation.reports.report import Report
from bgsub.evaluation.reports.rows import Row

__all__ = ["Cell", "Line", "Table", "side_by_side"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of a table."""

    value: float
    text: str
    """The value rounded; "-" if unknown, "failed" where the model failed."""
    best: bool = False
    """Whether no other model has a better value, as rounded."""
    partial: bool = False
    """Whether it is a mean that lacks videos which are in the mean of another model."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a table."""

    kind: str
    """"video", "category", "family", "categories" (mean of their means) or "videos"."""
    category: str
    """Category of a video; otherwise empty."""
    label: str
    """Name of the video, category or family, or of the mean."""
    cells: tuple[tuple[Cell, ...], ...]
    """Cells of each model, one per column."""


@dataclass(frozen=True)
class Table:
    """Models side by side."""

    models: list[str]
    columns: list[Column]
    lines: list[Line]
    baseline: str | None = None
    """The model whose time is 1."""
    failures: list[tuple[str, str, str]] = field(default_factory=list)
    """Model, video and reason of each failure."""
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def videos(self) -> list[Line]:
        """The lines of videos, those of one category together."""
        return [line for line in self.lines if line.kind == "video"]

    @property
    def means(self) -> list[Line]:
        """The lines of means."""
        return [line for line in self.lines if line.kind != "video"]

    @property
    def has_partial(self) -> bool:
        """Whether a mean lacks videos that are in the mean of another model."""
        return any(cell.partial for line in self.lines for cells in line.cells for cell in cells)


def side_by_side(report: Report, measures: Sequence[str] = ("f_measure",), *, baseline: str | None = None) -> Table:
    """Arrange the rows of a report as one line per video and one group of columns per model.

    Below the videos are the means of each category, of each family unless families are the categories, over the
    categories and over all videos. Unknown values and failures are left out of means. Means of times are geometric.

    Parameters
    ----------
    report : Report
        With at most one row per model and video.
    measures : sequence of str
        The columns of each model, names from `COLUMNS`.
    baseline : str, optional
        The model whose time is 1 in the column "relative_time"; needed for that column only.

    Returns
    -------
    Table

    Raises
    ------
    ReportError
        If a model has two rows for one video.
    ValueError
        If a measure or the baseline is unknown.

    Examples
    --------
    >>> from bgsub.evaluation import Counts, Row
    >>> rows = [Row(name, "a", "b", Counts(tp, 2, 3, 4), 1, 1, 50.0, 40.0, None) for name, tp in (("x", 1), ("y", 9))]
    >>> [[cell.text for cell in cells] for cells in side_by_side(Report(rows)).lines[0].cells]
    [['0.286'], ['0.783']]
    """
    columns = [column(name) for name in measures]
    models = report.models
    if not columns:
        raise ValueError("measures must name at least one column, got none")
    if baseline is not None and baseline not in models:
        raise ValueError(f"baseline must be one of {', '.join(models)}, got {baseline}")
    if baseline is None and any(each.relative for each in columns):
        raise ValueError("baseline must name a model for relative_time, got none")
    videos = [_Video(rows, models, columns, baseline) for rows in report.by_video().values()]
    order = {category: index for index, category in enumerate(dict.fromkeys(video.category for video in videos))}
    videos.sort(key=lambda video: order[video.category])  # stable: videos keep their order within a category
    lines = [video.line(columns) for video in videos]
    lines += _group_means(videos, columns, "category", lambda video: video.category)
    if any(video.family not in ("", video.category) for video in videos):
        lines += _group_means(videos, columns, "family", lambda video: video.family)
    if videos:
        lines += _overall_means(videos, columns)
    failures = [(row.model, row.identity, row.error) for row in report.rows if row.error]
    return Table(models, columns, lines, baseline, failures, dict(report.provenance))


class _Video:
    """The values of all models on one video: [model][column]."""

    def __init__(self, rows: dict[str, Row], models: list[str], columns: list[Column], baseline: str | None) -> None:
        some = next(iter(rows.values()))
        self.category, self.name, self.family = some.category, some.sequence, some.family
        reference = rows.get(baseline) if baseline is not None else None
        self.failed = [model in rows and bool(rows[model].error) for model in models]
        self.values = [[_value(rows.get(model), reference, each) for each in columns] for model in models]

    def line(self, columns: list[Column]) -> Line:
        texts = [
            ["failed" if failed else each.text(value) for each, value in zip(columns, values, strict=True)]
            for failed, values in zip(self.failed, self.values, strict=True)
        ]
        return Line("video", self.category, self.name, _cells(self.values, texts, columns))


def _value(row: Row | None, reference: Row | None, of: Column) -> float:
    if row is None:
        return math.nan
    if not of.relative:
        return of.value(row)
    return math.nan if reference is None else of.value(row) / of.value(reference)


def _cells(
    values: list[list[float]], texts: list[list[str]], columns: list[Column], partial: list[list[bool]] | None = None
) -> tuple[tuple[Cell, ...], ...]:
    """Return the cells of a line, with the best of each column marked unless its values are not comparable."""
    cells = [[Cell(value, text) for value, text in zip(*pair, strict=True)] for pair in zip(values, texts, strict=True)]
    for index, of in enumerate(columns):
        known = [round(line[index], of.digits) for line in values if math.isfinite(line[index])]
        comparable = partial is None or not any(line[index] for line in partial)
        best = (max(known) if of.better > 0 else min(known)) if known else math.nan
        for model, line in enumerate(cells):
            value = line[index].value
            line[index] = Cell(
                value,
                line[index].text,
                comparable and len(known) > 1 and math.isfinite(value) and round(value, of.digits) == best,
                partial is not None and partial[model][index],
            )
    return tuple(map(tuple, cells))


def _mean_line(kind: str, label: str, videos: list[_Video], columns: list[Column], values: list[list[float]]) -> Line:
    """Return a line of means over videos; a mean is partial if another model has a value where this one has none."""
    models = range(len(values))
    partial = [[False] * len(columns) for _ in models]
    for video in videos:
        for index in range(len(columns)):
            known = [math.isfinite(video.values[model][index]) for model in models]
            for model in models:
                partial[model][index] |= any(known) and not known[model] and math.isfinite(values[model][index])
    texts = [[of.text(value) for of, value in zip(columns, line, strict=True)] for line in values]
    return Line(kind, "", label, _cells(values, texts, columns, partial))


def _averages(groups: Iterable[list[list[float]]], columns: list[Column]) -> list[list[float]]:
    """Average values, [model][column] each."""
    by_model = zip(*groups, strict=True)
    return [
        [average(each, geometric=of.geometric) for of, each in zip(columns, zip(*lines, strict=True), strict=True)]
        for lines in by_model
    ]


def _group_means(videos: list[_Video], columns: list[Column], kind: str, key: Callable[[_Video], str]) -> list[Line]:
    lines = []
    for name in dict.fromkeys(key(video) for video in videos):
        members = [video for video in videos if key(video) == name]
        means = _averages((video.values for video in members), columns)
        lines.append(_mean_line(kind, name, members, columns, means))
    return lines


def _overall_means(videos: list[_Video], columns: list[Column]) -> list[Line]:
    categories = [
        _averages((video.values for video in videos if video.category == name), columns)
        for name in dict.fromkeys(video.category for video in videos)
    ]
    over_categories = _averages(categories, columns)
    over_videos = _averages((video.values for video in videos), columns)
    return [
        _mean_line("categories", "mean of categories", videos, columns, over_categories),
        _mean_line("videos", "mean of videos", videos, columns, over_videos),
    ]
