"""Evaluation by the change-detection protocol: data sets, measures, reports, curves and contact sheets."""

from bgsub.evaluation.datasets import FileSequence, GroundTruth, Sequence, find_sequences
from bgsub.evaluation.metrics import MEASURES, Counts, count_pixels, mean_measures, scored_pixels
from bgsub.evaluation.pipeline_model import PipelineModel
from bgsub.evaluation.protocol import Model, evaluate
from bgsub.evaluation.reports.report import Mean, Report, Row, Sample
from bgsub.evaluation.reports.roc_plot import plot_roc
from bgsub.evaluation.reports.sheets import contact_sheet
from bgsub.evaluation.roc import Roc, RocCounter

__all__ = [
    "MEASURES",
    "Counts",
    "FileSequence",
    "GroundTruth",
    "Mean",
    "Model",
    "PipelineModel",
    "Report",
    "Roc",
    "RocCounter",
    "Row",
    "Sample",
    "Sequence",
    "contact_sheet",
    "count_pixels",
    "evaluate",
    "find_sequences",
    "mean_measures",
    "plot_roc",
    "scored_pixels",
]
