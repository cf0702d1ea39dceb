"""Where results go: videos, images, tables, models."""

from bgsub.video.sinks.base import Sink
from bgsub.video.sinks.images import BackgroundImage, PngSequence
from bgsub.video.sinks.model import SavedModel
from bgsub.video.sinks.overlay import draw_overlay
from bgsub.video.sinks.stats import StatsCsv
from bgsub.video.sinks.videos import MaskVideo, OverlayVideo

__all__ = [
    "BackgroundImage",
    "MaskVideo",
    "OverlayVideo",
    "PngSequence",
    "SavedModel",
    "Sink",
    "StatsCsv",
    "draw_overlay",
]
