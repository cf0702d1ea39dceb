"""Data sets with ground truth."""

from bgsub.evaluation.datasets.change_detection import GroundTruth
from bgsub.evaluation.datasets.layouts import LAYOUTS, find_sequences
from bgsub.evaluation.datasets.opening import open_datasets
from bgsub.evaluation.datasets.sequence import FileSequence, Sequence

__all__ = ["LAYOUTS", "FileSequence", "GroundTruth", "Sequence", "find_sequences", "open_datasets"]
