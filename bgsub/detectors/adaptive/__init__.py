"""The adaptive detector."""

from bgsub.detectors.adaptive.detector import Adaptive

__all__ = ["Adaptive"]
