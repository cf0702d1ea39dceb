"""Compiled kernels over whole masks."""
