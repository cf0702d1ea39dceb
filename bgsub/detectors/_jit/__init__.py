"""Compiled functions of the detectors."""
