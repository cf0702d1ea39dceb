"""Compiled kernels of the adaptive detector."""
