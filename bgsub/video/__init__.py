"""Sources of frames, the capture thread, and sinks for results."""

from bgsub.video.prefetch import Prefetch
from bgsub.video.sinks import BackgroundImage, MaskVideo, OverlayVideo, PngSequence, Sink, StatsCsv
from bgsub.video.sinks.overlay import draw_overlay
from bgsub.video.sources import FrameSource, open_source

__all__ = [
    "BackgroundImage",
    "FrameSource",
    "MaskVideo",
    "OverlayVideo",
    "PngSequence",
    "Prefetch",
    "Sink",
    "StatsCsv",
    "draw_overlay",
    "open_source",
]
