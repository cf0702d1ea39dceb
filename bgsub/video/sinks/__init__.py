"""Sinks for results: videos, images, tables, objects, models."""

from bgsub.video.sinks.base import RunContext, Sink, SinkOption, SinkSetting
from bgsub.video.sinks.images import BackgroundImage, PngSequence
from bgsub.video.sinks.model import SavedModel
from bgsub.video.sinks.objects import ObjectFile
from bgsub.video.sinks.overlay import draw_overlay
from bgsub.video.sinks.registry import SINKS, find_sink, recordable_sinks, sink_options
from bgsub.video.sinks.stats import StatsCsv
from bgsub.video.sinks.videos import MaskVideo, OverlayVideo

__all__ = [
    "SINKS",
    "BackgroundImage",
    "MaskVideo",
    "ObjectFile",
    "OverlayVideo",
    "PngSequence",
    "RunContext",
    "SavedModel",
    "Sink",
    "SinkOption",
    "SinkSetting",
    "StatsCsv",
    "draw_overlay",
    "find_sink",
    "recordable_sinks",
    "sink_options",
]
