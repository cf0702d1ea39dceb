"""The report of an evaluation: rows, their means, and both as JSON, CSV and a table of text."""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from bgsub._lab.escape import visible
from bgsub.errors import ReportError
from bgsub.evaluation.metrics import MEASURES, mean_measures
from bgsub.evaluation.reports.rows import Mean, Row, Sample
from bgsub.evaluation.reports.stored_rows import cells, plain, row_from_json, row_to_json

__all__ = ["Mean", "Report", "Row", "Sample"]

_SHORT = {"recall": "Re", "specificity": "Sp", "fpr": "FPR", "fnr": "FNR", "pwc": "PWC", "f_measure": "F"}
_SHORT["precision"] = "Pr"
_VERSION = 1


@dataclass(frozen=True)
class Report:
    """The rows of an evaluation, one per model and sequence, and results derived from them."""

    rows: list[Row] = field(default_factory=list)
    provenance: dict[str, Any] = field(default_factory=dict)
    """Where the rows come from: versions, machine, data, command. Values are those of JSON; may be nested."""

    @property
    def models(self) -> list[str]:
        """Names of the models, in the order they ran."""
        return list(dict.fromkeys(row.model for row in self.rows))

    def by_video(self) -> dict[str, dict[str, Row]]:
        """Return the rows by identity of the sequence, then by model.

        Raises
        ------
        ReportError
            If a model has two rows for one sequence.
        """
        videos: dict[str, dict[str, Row]] = {}
        for row in self.rows:
            models = videos.setdefault(row.identity, {})
            if row.model in models:
                raise ReportError(
                    f"the report has two rows of {row.model} on {row.identity}; rename a model or a video"
                )
            models[row.model] = row
        return videos

    def means(self, model: str) -> list[Mean]:
        """Average the measures of a model: each category, then over categories and over videos."""
        rows = [row for row in self.rows if row.model == model]
        categories = []
        for category in dict.fromkeys(row.category for row in rows):
            videos = [row.measures() for row in rows if row.category == category]
            categories.append(Mean(model, category, mean_measures(videos)))
        return [
            *categories,
            Mean(model, "mean of categories", mean_measures(mean.measures for mean in categories)),
            Mean(model, "mean of videos", mean_measures(row.measures() for row in rows)),
        ]

    @classmethod
    def merge(cls, *reports: Self, replace: bool = False) -> "Report":
        """Join the rows of several reports.

        Models are compared video by video, so the reports must agree on the videos. Their digests are checked where
        known, and the numbers of moving and of static pixels that were scored, which depend on the labels alone.

        Parameters
        ----------
        *reports : Report
            In the order of the rows.
        replace : bool
            Whether a row replaces, where it stands, an earlier one of the same model and video. Otherwise two such rows
            are an error, for nothing says which of them is meant.

        Returns
        -------
        Report
            With the common provenance, or, where they differ, all in a list called "merged".

        Raises
        ------
        ReportError
            If a model has two rows for one video, or a video has other frames or labels.

        Examples
        --------
        >>> from bgsub.evaluation import Counts
        >>> rows = [Row(name, "a", "b", Counts(1, 2, 3, 4), 1, 1, 50.0, 40.0, None) for name in ("mog2", "knn")]
        >>> Report.merge(Report(rows[:1]), Report(rows[1:])).models
        ['mog2', 'knn']
        """
        found: dict[tuple[str, str], Row] = {}
        for row in (row for report in reports for row in report.rows):
            if (row.model, row.identity) in found and not replace:
                raise ReportError(
                    f"two reports have rows of {row.model} on {row.identity}; leave one out or replace it"
                )
            found[row.model, row.identity] = row
        labels: dict[str, tuple[int, int, int]] = {}
        digests: dict[str, str] = {}
        for row in found.values():
            counts = row.counts
            pixels = row.scored, counts.tp + counts.fn, counts.fp + counts.tn
            same = labels.setdefault(row.identity, pixels) == pixels if not row.error else True
            if row.data:
                same &= digests.setdefault(row.identity, row.data) == row.data
            if not same:
                raise ReportError(
                    f"{row.identity} was evaluated on other data for {row.model} than before; evaluate it again"
                )
        sources = [report.provenance for report in reports if report.provenance]
        common = sources[0] if sources and all(source == sources[0] for source in sources) else {"merged": sources}
        return Report(list(found.values()), common if sources else {})

    def to_json(self, *, timelines: bool = True) -> dict[str, Any]:
        """Return everything but the samples as plain dicts and lists, which `from_json` reads.

        NaN becomes None, and curves are thinned out to about 200 points. The measures and means are there for
        readers; `from_json` computes them from the counts again.

        Parameters
        ----------
        timelines : bool
            Whether to include the counts of each scored frame, about 30 bytes per frame and model.
        """
        means = [
            {"model": mean.model, "over": mean.over, **{name: plain(v) for name, v in mean.measures.items()}}
            for model in self.models
            for mean in self.means(model)
        ]
        rows = [row_to_json(row, timelines=timelines) for row in self.rows]
        return {"version": _VERSION, "provenance": plain(self.provenance), "rows": rows, "means": means}

    @classmethod
    def from_json(cls, data: Any) -> "Report":
        """Return the report that `to_json` stored; counts and numbers are the same to the bit.

        Raises
        ------
        ReportError
            If the data are not those of a report.

        Examples
        --------
        >>> Report.from_json(Report([], {"machine": "a"}).to_json())
        Report(rows=[], provenance={'machine': 'a'})
        """
        rows = data.get("rows") if isinstance(data, Mapping) else None
        if not isinstance(rows, list):
            raise ReportError("the file is no report: it has no rows; write it again with bgsub evaluate --json")
        version, provenance = data.get("version", _VERSION), data.get("provenance", {})
        if version != _VERSION:
            raise ReportError(f"the report has version {version!r:.20}, not {_VERSION}; read it with the bgsub of then")
        if not isinstance(provenance, Mapping):
            raise ReportError("the file is no report: its provenance must be an object; remove that entry")
        return cls([row_from_json(row) for row in rows], plain(provenance))

    @classmethod
    def read(cls, path: str | Path) -> "Report":
        """Read a file that holds the JSON of `to_json`.

        Raises
        ------
        ReportError
            If the file cannot be read, or is no report.
        """
        try:
            data = json.loads(Path(path).read_bytes())
        except OSError as error:
            raise ReportError(f"cannot read {path}: {error.strerror}; check the name") from error
        except (ValueError, RecursionError):
            raise ReportError(f"cannot read {path}: it is no JSON; write it with bgsub evaluate --json") from None
        try:
            return cls.from_json(data)
        except ReportError as error:
            raise ReportError(f"cannot read {path}: {error}") from None

    def to_csv(self) -> str:
        """Return the rows as CSV text with a header; unknown values are empty."""
        text = io.StringIO()
        table = [cells(row) for row in self.rows]
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(table[0].keys() if table else ())
        for values in table:
            writer.writerow("" if plain(value) is None else value for value in values.values())
        return text.getvalue().encode(errors="replace").decode()  # names of files need not be Unicode

    def to_table(self) -> str:
        """Return rows and means as aligned text for a terminal; "-" marks unknown values."""
        with_roc = any(row.roc is not None for row in self.rows)
        header = ["model", "category", "sequence", *(_SHORT[name] for name in MEASURES)]
        header += [*(["AUC", "best F"] if with_roc else []), "frames/s", "MB"]
        lines = [header]
        for model in self.models:
            for row in self.rows:
                if row.model != model:
                    continue
                line = [visible(model), visible(row.category), visible(row.sequence), *_digits(row.measures())]
                if with_roc:
                    line += [
                        _digit(row.roc.auc if row.roc else math.nan),
                        _digit(row.roc.best_f if row.roc else math.nan),
                    ]
                memory = math.nan if row.memory_bytes is None else row.memory_bytes / 1e6
                lines.append([*line, _digit(row.model_hz, 0), _digit(memory, 1)])
            blank = [""] * (len(header) - 3 - len(MEASURES))
            lines += [
                [visible(model), visible(mean.over), "*", *_digits(mean.measures), *blank] for mean in self.means(model)
            ]
        widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if column < 3 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )


def _digit(value: float, digits: int = 3) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def _digits(measures: dict[str, float]) -> Iterator[str]:
    return (_digit(measures[name], 2 if name == "pwc" else 4 if name == "fpr" else 3) for name in MEASURES)
