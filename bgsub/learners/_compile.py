"""Compile kernels that call kernels in other files of this folder."""

from pathlib import Path

from bgsub._numba import folder_kernel

__all__ = ["shared_kernel"]

shared_kernel = folder_kernel(Path(__file__).parent)
