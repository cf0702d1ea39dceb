"""Compiled kernels of the detectors."""
