"""Scores against ground truth, by the change-detection protocol."""
