"""Reports of evaluations: rows and means, tables, curves and contact sheets."""

from bgsub.evaluation.reports.report import Mean, Report, Row, Sample
from bgsub.evaluation.reports.roc_plot import plot_roc
from bgsub.evaluation.reports.sheets import contact_sheet

__all__ = ["Mean", "Report", "Row", "Sample", "contact_sheet", "plot_roc"]
