"""bgsub: real-time video background subtraction with per-pixel banks of online kernel novelty detectors."""

__version__ = "0.1.0"
