"""The report of an evaluation: rows, their means, and both as JSON, CSV and a table of text."""

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bgsub.evaluation.metrics import MEASURES, Counts, mean_measures
from bgsub.evaluation.roc import Roc, thin_out
from bgsub.frames import Frame, Mask

__all__ = ["Mean", "Report", "Row", "Sample"]

_SHORT = {"recall": "Re", "specificity": "Sp", "fpr": "FPR", "fnr": "FNR", "pwc": "PWC", "f_measure": "F"}
_SHORT["precision"] = "Pr"
_CURVE_POINTS = 200


@dataclass(frozen=True, slots=True)
class Sample:
    """One scored frame, kept for a contact sheet."""

    number: int
    frame: Frame
    labels: Mask
    mask: Mask


@dataclass(frozen=True, slots=True)
class Row:
    """Measurements of one model on one sequence."""

    model: str
    category: str
    sequence: str
    counts: Counts
    frames: int
    """Number of frames the model saw."""
    scored: int
    """Number of frames that were scored."""
    model_hz: float
    """Frames per second of the model alone; its first frame, which may compile and allocate, is not counted."""
    total_hz: float
    """Frames per second with reading, post-processing and scoring."""
    memory_bytes: int | None
    """Size of the model after the last frame; None if unknown."""
    roc: Roc | None = None
    samples: tuple[Sample, ...] = ()
    unlabelled: int = 0
    """Number of frames of the interval to score that have no labels, and so were not scored."""
    family: str = ""
    """Kind of scene or origin of the sequence."""
    data: str = ""
    """Digest of the sequence: frames, labels and region."""


@dataclass(frozen=True, slots=True)
class Mean:
    """Measures averaged over videos, or over the averages of categories."""

    model: str
    over: str
    """Name of the category, or "mean of categories", or "mean of videos"."""
    measures: dict[str, float]


@dataclass(frozen=True)
class Report:
    """The rows of an evaluation, one per model and sequence, and results derived from them."""

    rows: list[Row] = field(default_factory=list)
    provenance: dict[str, Any] = field(default_factory=dict)
    """Versions, machine, settings of the models: what the numbers depend on."""

    @property
    def models(self) -> list[str]:
        """Names of the models, in the order they ran."""
        return list(dict.fromkeys(row.model for row in self.rows))

    def means(self, model: str) -> list[Mean]:
        """Average the measures of a model: each category, then over categories and over videos."""
        rows = [row for row in self.rows if row.model == model]
        categories = []
        for category in dict.fromkeys(row.category for row in rows):
            videos = [row.counts.measures() for row in rows if row.category == category]
            categories.append(Mean(model, category, mean_measures(videos)))
        return [
            *categories,
            Mean(model, "mean of categories", mean_measures(mean.measures for mean in categories)),
            Mean(model, "mean of videos", mean_measures(row.counts.measures() for row in rows)),
        ]

    def to_json(self) -> dict[str, Any]:
        """Return everything but the samples as plain dicts and lists; NaN becomes None, curves are thinned out."""
        rows = []
        for row in self.rows:
            entry: dict[str, Any] = dict(self._cells(row))
            if row.roc is not None:
                entry["roc"] = thin_out(row.roc, _CURVE_POINTS)
            rows.append({name: _plain(value) for name, value in entry.items()})
        means = [
            {"model": mean.model, "over": mean.over, **{name: _plain(v) for name, v in mean.measures.items()}}
            for model in self.models
            for mean in self.means(model)
        ]
        return {"rows": rows, "means": means, "provenance": self.provenance}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Report":
        """Return the report that `to_json` described, without curves and samples."""
        names = ("model", "category", "sequence", "frames", "scored", "model_hz", "total_hz", "memory_bytes")
        rows = [
            Row(
                **{name: entry[name] for name in names},
                counts=Counts(*(entry[name] for name in ("tp", "fp", "fn", "tn"))),
                unlabelled=entry["unlabelled"],
                family=entry["family"],
                data=entry["data"],
            )
            for entry in data["rows"]
        ]
        return cls(rows, data.get("provenance", {}))

    def to_csv(self) -> str:
        """Return the rows as CSV text with a header; unknown values are empty."""
        text = io.StringIO()
        table = [self._cells(row) for row in self.rows]
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(table[0].keys() if table else ())
        for cells in table:
            writer.writerow("" if _plain(value) is None else value for value in cells.values())
        return text.getvalue()

    @staticmethod
    def _cells(row: Row) -> dict[str, Any]:
        roc = row.roc
        curve = {} if roc is None else {"auc": roc.auc, "best_f": roc.best_f, "best_threshold": roc.best_threshold}
        return {
            "model": row.model,
            "category": row.category,
            "sequence": row.sequence,
            "family": row.family,
            "tp": row.counts.tp,
            "fp": row.counts.fp,
            "fn": row.counts.fn,
            "tn": row.counts.tn,
            **row.counts.measures(),
            "frames": row.frames,
            "scored": row.scored,
            "unlabelled": row.unlabelled,
            "model_hz": row.model_hz,
            "total_hz": row.total_hz,
            "memory_bytes": row.memory_bytes,
            "data": row.data,
            **{name: curve.get(name) for name in ("auc", "best_f", "best_threshold")},
        }

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
                line = [model, row.category, row.sequence, *_digits(row.counts.measures())]
                if with_roc:
                    line += [
                        _digit(row.roc.auc if row.roc else math.nan),
                        _digit(row.roc.best_f if row.roc else math.nan),
                    ]
                memory = math.nan if row.memory_bytes is None else row.memory_bytes / 1e6
                lines.append([*line, _digit(row.model_hz, 0), _digit(memory, 1)])
            blank = [""] * (len(header) - 3 - len(MEASURES))
            lines += [[model, mean.over, "*", *_digits(mean.measures), *blank] for mean in self.means(model)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if column < 3 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _digit(value: float, digits: int = 3) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def _digits(measures: dict[str, float]) -> Iterator[str]:
    return (_digit(measures[name], 2 if name == "pwc" else 4 if name == "fpr" else 3) for name in MEASURES)
