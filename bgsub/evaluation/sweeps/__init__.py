"""Sweeps over a detector's parameters, and what a setting that was chosen on some scenes gets on others."""

from bgsub.evaluation.sweeps.leave_one_out import Fold, LeaveOneOut, leave_one_out, leave_one_out_search
from bgsub.evaluation.sweeps.settings import grid, sample_settings

__all__ = ["Fold", "LeaveOneOut", "grid", "leave_one_out", "leave_one_out_search", "sample_settings"]
