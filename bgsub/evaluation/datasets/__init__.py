"""Data sets with ground truth."""

from bgsub.evaluation.datasets.change_detection import GroundTruth, find_sequences
from bgsub.evaluation.datasets.sequence import FileSequence, Sequence

__all__ = ["FileSequence", "GroundTruth", "Sequence", "find_sequences"]
