"""Evaluation by the change-detection protocol: data sets, measures, runs, sweeps and reports."""

from bgsub.evaluation.datasets import FileSequence, GroundTruth, Sequence, find_sequences, open_datasets
from bgsub.evaluation.methods import Method, parse_method
from bgsub.evaluation.metrics import MEASURES, Counts, count_pixels, mean_measures, scored_pixels
from bgsub.evaluation.pipeline_model import PipelineModel
from bgsub.evaluation.protocol import Model, evaluate
from bgsub.evaluation.reports import Mean, Report, Row, Sample, contact_sheet, plot_roc
from bgsub.evaluation.roc import Roc, RocCounter
from bgsub.evaluation.rows_file import RowsFile
from bgsub.evaluation.runs import Failure, RunOptions, evaluate_methods
from bgsub.evaluation.score import score_masks
from bgsub.evaluation.sweeps import grid, leave_one_out, leave_one_out_search, sample_settings

__all__ = [
    "MEASURES",
    "Counts",
    "Failure",
    "FileSequence",
    "GroundTruth",
    "Mean",
    "Method",
    "Model",
    "PipelineModel",
    "Report",
    "Roc",
    "RocCounter",
    "Row",
    "RowsFile",
    "RunOptions",
    "Sample",
    "Sequence",
    "contact_sheet",
    "count_pixels",
    "evaluate",
    "evaluate_methods",
    "find_sequences",
    "grid",
    "leave_one_out",
    "leave_one_out_search",
    "mean_measures",
    "open_datasets",
    "parse_method",
    "plot_roc",
    "sample_settings",
    "score_masks",
    "scored_pixels",
]
