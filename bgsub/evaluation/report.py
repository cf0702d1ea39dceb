"""What an evaluation found: rows, means, tables, curves and contact sheets."""

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bgsub._opencv import cv2
from bgsub.errors import DependencyError, SinkError
from bgsub.evaluation.metrics import MEASURES, Counts, Roc, mean_measures, thin_out
from bgsub.frames import Frame, Mask

__all__ = ["Report", "Row", "Sample", "contact_sheet", "plot_roc"]

_SHORT = {"recall": "Re", "specificity": "Sp", "fpr": "FPR", "fnr": "FNR", "pwc": "PWC", "f_measure": "F"}
_SHORT["precision"] = "Pr"
_CURVE_POINTS = 200


@dataclass(frozen=True, slots=True)
class Sample:
    """One scored frame kept to be looked at."""

    number: int
    frame: Frame
    labels: Mask
    mask: Mask


@dataclass(frozen=True, slots=True)
class Row:
    """What one model did on one sequence."""

    model: str
    category: str
    sequence: str
    counts: Counts
    frames: int
    """Number of frames the model saw."""
    scored: int
    """Number of frames that were scored."""
    model_hz: float
    """Frames a second of the model alone; its first frame, which may compile and allocate, is not counted."""
    total_hz: float
    """Frames a second with reading, post-processing and scoring."""
    memory_bytes: int | None
    """Size of the model after the last frame, if it tells."""
    roc: Roc | None = None
    samples: tuple[Sample, ...] = ()


@dataclass(frozen=True, slots=True)
class Mean:
    """Measures averaged over videos, or over the averages of categories."""

    model: str
    over: str
    """Name of the category, or "mean of categories", or "mean of videos"."""
    measures: dict[str, float]


@dataclass(frozen=True)
class Report:
    """The rows of an evaluation, one a model and sequence, and what follows from them."""

    rows: list[Row] = field(default_factory=list)

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
        return {"rows": rows, "means": means}

    def to_csv(self) -> str:
        """Return the rows as CSV text with a header; what is not known is empty."""
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
            "tp": row.counts.tp,
            "fp": row.counts.fp,
            "fn": row.counts.fn,
            "tn": row.counts.tn,
            **row.counts.measures(),
            "frames": row.frames,
            "scored": row.scored,
            "model_hz": row.model_hz,
            "total_hz": row.total_hz,
            "memory_bytes": row.memory_bytes,
            **{name: curve.get(name) for name in ("auc", "best_f", "best_threshold")},
        }

    def to_table(self) -> str:
        """Return rows and means as aligned text for a terminal; "-" is what is not known."""
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


def plot_roc(report: Report, path: str | Path) -> None:
    """Draw the ROC curves of a report into a file; the suffix tells the format.

    Parameters
    ----------
    report : Report
        From `evaluate(..., roc=True)`.
    path : path
        ``.png``, ``.svg`` or ``.pdf``.

    Raises
    ------
    DependencyError
        If matplotlib is missing.
    SinkError
        If the file cannot be written.
    ValueError
        If no row has a curve.
    """
    curves = [(f"{row.model}, {row.sequence}", row.roc) for row in report.rows if row.roc is not None]
    curves = [(label, roc) for label, roc in curves if not math.isnan(roc.auc)]
    if not curves:
        raise ValueError("report must have rows with a curve, got none: evaluate with roc=True")
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise DependencyError(f"plots need matplotlib ({error}); run: pip install 'bgsub[plot]'") from error
    figure = Figure(figsize=(6, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for label, roc in curves:
        axes.plot(roc.fpr, roc.tpr, label=f"{label} ({roc.auc:.3f})", linewidth=1.5)
    axes.set(xlabel="false positive rate", ylabel="recall", xlim=(0, 1), ylim=(0, 1))
    axes.grid(visible=True, alpha=0.3)
    axes.legend(loc="lower right", fontsize="small", title="area under the curve")
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise SinkError(f"cannot write {path}: {error.strerror}") from error


def contact_sheet(report: Report, path: str | Path | None = None, *, width: int = 240) -> Frame:
    """Show input, ground truth and masks of the kept samples side by side.

    One line a sample: its frame, its labels, then the mask of each model.

    Parameters
    ----------
    report : Report
        From `evaluate(..., samples=N)`.
    path : path, optional
        Where to write it, as PNG.
    width : int
        Of one picture in pixels.

    Returns
    -------
    (H, W, 3) uint8 array
        The sheet.

    Raises
    ------
    SinkError
        If the file cannot be written.
    ValueError
        If no sample was kept.
    """
    lines: dict[tuple[str, str, int], dict[str, Sample]] = {}
    for row in report.rows:
        for sample in row.samples:
            lines.setdefault((row.category, row.sequence, sample.number), {})[row.model] = sample
    if not lines:
        raise ValueError("report must have samples, got none: evaluate with samples=4 or so")
    models = report.models
    strips = [_caption(["input", "ground truth", *models], width)]
    for (_, sequence, number), by_model in lines.items():
        some = next(iter(by_model.values()))
        cells = [some.frame, some.labels]
        cells += [by_model[model].mask if model in by_model else np.zeros_like(some.labels) for model in models]
        pictures = [_fit(cell, width) for cell in cells]
        pictures[0][:18] //= 3  # a dark ground for the caption
        _write(pictures[0], f"{sequence} {number}", 5, 13)
        strips.append(np.hstack(pictures))
    sheet = np.vstack(strips)
    if path is not None:
        done, data = cv2.imencode(".png", sheet)
        if not done:
            raise SinkError(f"cannot write {path}: OpenCV cannot encode PNG images")
        try:
            Path(path).write_bytes(data.tobytes())
        except OSError as error:
            raise SinkError(f"cannot write {path}: {error.strerror}") from error
    return sheet


def _caption(names: list[str], width: int) -> Frame:
    strip = np.full((22, width * len(names), 3), 32, np.uint8)
    for column, name in enumerate(names):
        _write(strip, name, column * width + 5, 15)
    return strip


def _write(image: Frame, text: str, x: int, y: int) -> None:
    cv2.putText(image, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (230, 230, 230), 1, cv2.LINE_AA)


def _fit(image: Frame, width: int) -> Frame:
    """Scale to a width, with a thin border, as BGR; labels and masks keep their values."""
    height = max(1, round(image.shape[0] * width / image.shape[1]))
    smooth = cv2.INTER_AREA if image.ndim == 3 else cv2.INTER_NEAREST
    small = np.asarray(cv2.resize(image, (width, height), interpolation=smooth), np.uint8)
    if small.ndim == 2:
        small = np.asarray(cv2.cvtColor(small, cv2.COLOR_GRAY2BGR), np.uint8)
    small[-1:], small[:, -1:] = 32, 32
    return small
