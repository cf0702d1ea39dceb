"""ROC curves of a report as a plot."""

import math
from pathlib import Path

from bgsub._files import open_whole
from bgsub.errors import DependencyError
from bgsub.evaluation.reports.report import Report

__all__ = ["plot_roc"]


def plot_roc(report: Report, path: str | Path) -> None:
    """Draw the ROC curves of a report into a file; the suffix chooses the format.

    Parameters
    ----------
    report : Report
        From `evaluate(..., roc=True)`.
    path : path
        Ending in ``.png``, ``.svg`` or ``.pdf``; ``.png`` is appended to a name without a suffix.

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
    path = Path(path)
    path = path if path.suffix else path.with_suffix(".png")
    with open_whole(path) as file:
        figure.savefig(file, dpi=150, format=path.suffix[1:])
