"""Reports of evaluations: rows and means, tables, statistics, curves, sheets of images, and pages."""

from bgsub.evaluation.reports.columns import COLUMNS, Column
from bgsub.evaluation.reports.formats import (
    FORMATS,
    table_csv,
    table_json,
    table_latex,
    table_markdown,
    table_text,
)
from bgsub.evaluation.reports.page import page_html, write_page
from bgsub.evaluation.reports.report import Mean, Report, Row, Sample
from bgsub.evaluation.reports.roc_plot import plot_roc
from bgsub.evaluation.reports.rows import measure_over_time
from bgsub.evaluation.reports.sheets import contact_sheet, draw_errors
from bgsub.evaluation.reports.statistics import (
    Estimate,
    Paired,
    bootstrap_mean,
    compare,
    compare_by_family,
    mean_intervals,
)
from bgsub.evaluation.reports.tables import Table, side_by_side

__all__ = [
    "COLUMNS",
    "FORMATS",
    "Column",
    "Estimate",
    "Mean",
    "Paired",
    "Report",
    "Row",
    "Sample",
    "Table",
    "bootstrap_mean",
    "compare",
    "compare_by_family",
    "contact_sheet",
    "draw_errors",
    "mean_intervals",
    "measure_over_time",
    "page_html",
    "plot_roc",
    "side_by_side",
    "table_csv",
    "table_json",
    "table_latex",
    "table_markdown",
    "table_text",
    "write_page",
]
