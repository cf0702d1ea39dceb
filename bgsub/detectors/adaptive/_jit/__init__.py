"""Compiled functions of the adaptive detector."""
