"""The sections of a page about all videos: means, comparisons, tables, charts and provenance."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

from bgsub._lab.escape import escape_html, flatten
from bgsub.evaluation.reports.columns import COLUMNS, average
from bgsub.evaluation.reports.page.elements import definitions, html_table, legend, plain_table
from bgsub.evaluation.reports.page.svg import Series, chart, colour
from bgsub.evaluation.reports.report import Report
from bgsub.evaluation.reports.statistics import (
    FEWEST_VIDEOS,
    Estimate,
    Paired,
    compare,
    compare_by_family,
    mean_intervals,
)
from bgsub.evaluation.reports.tables import side_by_side

__all__ = ["comparisons", "knobs", "means", "pareto", "pareto_front", "provenance", "tables"]

_MEASURES = ("f_measure", "precision", "recall", "pwc")
_HEADINGS = {
    "f_measure": "F",
    "precision": "Precision",
    "recall": "Recall",
    "pwc": "Percentage of wrong classifications",
    "auc": "Area under the ROC curve",
    "ms": "Milliseconds per frame",
    "relative_time": "Time relative to the baseline",
}
_MOST_PAIRS = 15


def means(report: Report, baseline: str | None) -> str:
    """Return the means of each model with their intervals."""
    columns = [*_MEASURES, "ms", *(["relative_time"] if baseline else []), "memory_mb"]
    table = side_by_side(report, columns, baseline=baseline)
    over = {line.kind: line for line in table.means}
    intervals = {measure: mean_intervals(report, measure) for measure in _MEASURES}
    rows = []
    for index, model in enumerate(table.models):
        estimates = [intervals[measure][model] for measure in _MEASURES]
        others = [cell.text for cell in over["videos"].cells[index][len(_MEASURES) :]]
        shown = [_interval(each, measure) for each, measure in zip(estimates, _MEASURES, strict=True)]
        rows.append([model, str(estimates[0].videos), over["categories"].cells[index][0].text, *shown, *others])
    heads = [
        "model",
        "videos",
        "F, mean of categories",
        *(f"{COLUMNS[name].label}, mean of videos" for name in _MEASURES),
    ]
    heads += ["ms per frame", *([f"time / {baseline}"] if baseline else []), "MB"]
    return f"""<section id="means"><h2>Means</h2>{plain_table(heads, rows)}
<p class="note">In brackets: 95 % bootstrap intervals of the mean over videos (BCa, 10 000 resamples of families, then
of their videos). Times are geometric means of the model alone.</p></section>"""


def _interval(estimate: Estimate, measure: str) -> str:
    of = COLUMNS[measure]
    if math.isnan(estimate.low):
        return of.text(estimate.mean)
    return f"{of.text(estimate.mean)} [{of.text(estimate.low)}, {of.text(estimate.high)}]"


def comparisons(report: Report, baseline: str | None) -> str:
    """Return the paired comparisons of F: with the baseline, or of all pairs without one."""
    models = report.models
    if baseline is not None:
        pairs = [(model, baseline) for model in models if model != baseline]
    else:
        pairs = list(itertools.combinations(models, 2))
    if not pairs:
        return ""
    left_out = len(pairs) - _MOST_PAIRS if baseline is None else 0
    pairs = pairs[:_MOST_PAIRS] if baseline is None else pairs
    rows = [_compared(compare(report, *pair)) for pair in pairs]
    by_family = [_compared(each) for pair in pairs for each in compare_by_family(report, *pair)]
    heads = ["model", "compared with", "better on", "worse on", "videos", "mean difference of F", "95 % interval"]
    note = f" {left_out} more pairs are left out: choose a baseline." if left_out > 0 else ""
    family = (
        f"<details><summary>By family</summary>{plain_table(['family', *heads], by_family, text_columns=3)}</details>"
        if by_family
        else ""
    )
    rows = [row[1:] for row in rows]
    return f"""<section id="pairs"><h2>Paired comparisons</h2>{plain_table(heads, rows, text_columns=2)}
<p class="note">Differences video by video; no interval below {FEWEST_VIDEOS} videos. An interval without 0 is marked *;
of twenty such intervals between models of equal accuracy, one is expected to be marked.{note}</p>{family}</section>"""


def _compared(pair: Paired) -> list[str]:
    each, of = pair.difference, COLUMNS[pair.measure]
    interval = "-"
    if not math.isnan(each.low):
        clear = " *" if each.low > 0 or each.high < 0 else ""
        interval = f"[{each.low:+.{of.digits}f}, {each.high:+.{of.digits}f}]{clear}"
    mean = "-" if math.isnan(each.mean) else f"{each.mean:+.{of.digits}f}"
    return [pair.family, pair.model, pair.baseline, str(pair.wins), str(pair.losses), str(each.videos), mean, interval]


def tables(report: Report, baseline: str | None) -> str:
    """Return a table per measure, the first one open."""
    names = [*_MEASURES, *(["auc"] if any(row.roc is not None for row in report.rows) else []), "ms"]
    names += ["relative_time"] if baseline else []
    parts = []
    for name in names:
        table = html_table(side_by_side(report, [name], baseline=baseline))
        state = " open" if name == names[0] else ""
        parts.append(f"<details{state}><summary>{_HEADINGS[name]}</summary>{table}</details>")
    failures = "".join(
        f'<li class="failed">{escape_html(f"{row.model} failed on {row.identity}: {row.error}")}</li>'
        for row in report.rows
        if row.error
    )
    return f'<section id="tables"><h2>Video by video</h2>{"".join(parts)}<ul>{failures}</ul></section>'


def pareto_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Return the indices of the points (cost, value) that no other point beats in both, by rising cost.

    Examples
    --------
    >>> pareto_front([(3.0, 0.9), (1.0, 0.5), (2.0, 0.4)])
    [1, 0]
    """
    front: list[int] = []
    for index in sorted(range(len(points)), key=lambda index: (points[index][0], -points[index][1])):
        if not front or points[index][1] > points[front[-1]][1]:
            front.append(index)
    return front


def pareto(report: Report) -> str:
    """Return F over time, each model averaged over the videos on which all models have both."""
    f, ms = COLUMNS["f_measure"].value, COLUMNS["ms"].value
    models = report.models
    shared = [
        rows
        for rows in report.by_video().values()
        if len(rows) == len(models) and all(math.isfinite(f(row)) and math.isfinite(ms(row)) for row in rows.values())
    ]
    if not shared:
        return ""
    points = [
        (average((ms(rows[model]) for rows in shared), geometric=True), average(f(rows[model]) for rows in shared))
        for model in models
    ]
    front = [points[index] for index in pareto_front(points)]
    series = [Series("", [x for x, _ in front], [y for _, y in front], "#999")]
    series += [
        Series(model, [x], [y], colour(index), line=False)
        for index, (model, (x, y)) in enumerate(zip(models, points, strict=True))
    ]
    drawn = chart(series, x_label="ms per frame (geometric mean)", y_label="mean F", x_log=True, size=(320, 720))
    return f"""<section id="pareto"><h2>Accuracy against time</h2>{drawn}
<p class="note">Means over the {len(shared)} videos on which every model has both. The grey line joins the models that
no other model beats in both.</p></section>"""


def knobs(report: Report) -> str:
    """Return F over the varied parameter of each family of generated sequences."""
    families: dict[str, dict[str, dict[float, list[float]]]] = {}
    for row in report.rows:
        if row.knob is not None and math.isfinite(row.knob):
            curves = families.setdefault(row.family, {})
            curves.setdefault(row.model, {}).setdefault(row.knob, []).append(row.measures()["f_measure"])
    parts = []
    for family, curves in families.items():
        if len({knob for curve in curves.values() for knob in curve}) < 2:
            continue
        series = []
        for index, model in enumerate(report.models):
            curve = sorted(curves.get(model, {}).items())
            series.append(Series(model, [knob for knob, _ in curve], [average(f) for _, f in curve], colour(index)))
        drawn = chart(series, x_label=f"parameter of {family}", y_label="F", y_range=(0, 1))
        parts.append(f"<h3>{escape_html(family)}</h3>{drawn}")
    if not parts:
        return ""
    return f'<section id="knobs"><h2>Generated families</h2>{legend(report.models)}{"".join(parts)}</section>'


def provenance(report: Report) -> str:
    """Return the provenance of the report and the parameters of each model."""
    parts = [definitions(flatten(report.provenance))] if report.provenance else []
    for model in report.models:
        rows = [row for row in report.rows if row.model == model and row.parameters]
        sets: list[tuple[dict[str, Any], list[str]]] = []
        for row in rows:
            for parameters, videos in sets:
                if parameters == row.parameters:
                    videos.append(row.identity)
                    break
            else:
                sets.append((row.parameters, [row.identity]))
        for parameters, videos in sets:
            where = "" if len(sets) == 1 else f" on {', '.join(videos)}"
            parts.append(f"<h3>{escape_html(f'{model}{where}')}</h3>{definitions(flatten(parameters))}")
    return f'<section id="provenance"><h2>Provenance</h2>{"".join(parts)}</section>' if parts else ""
