"""bgsub: real-time video background subtraction with per-pixel banks of online kernel novelty detectors.

The names below are imported when first used, so that `import bgsub` is quick.

Examples
--------
>>> import numpy as np
>>> import bgsub
>>> model = bgsub.create("norma", warmup=2)
>>> frame = np.full((120, 160, 3), 80, np.uint8)
>>> model.apply(frame).shape
(120, 160)
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bgsub.config import Config
    from bgsub.detectors import DETECTORS, Detector, create, load
    from bgsub.errors import BgsubError
    from bgsub.events import EventRules
    from bgsub.frames import Packet, Result, VideoInfo
    from bgsub.objects import Line, ObjectFinder, ObjectLimits, Objects, Track, Tracker, Zone, find_objects
    from bgsub.pipeline import Pipeline, Summary, run
    from bgsub.postprocess import Postprocess
    from bgsub.roi import Region, open_region
    from bgsub.scanning import ScanSettings, scan
    from bgsub.video.prefetch import Prefetch
    from bgsub.video.sinks import BackgroundImage, MaskVideo, ObjectFile, OverlayVideo, PngSequence, Sink, StatsCsv
    from bgsub.video.sources import FrameSource, open_source

__version__ = "0.1.0"

_HOMES = {
    "bgsub.detectors": ("DETECTORS", "Detector", "create", "load"),
    "bgsub.config": ("Config",),
    "bgsub.errors": ("BgsubError",),
    "bgsub.frames": ("Packet", "Result", "VideoInfo"),
    "bgsub.objects": ("Line", "ObjectFinder", "ObjectLimits", "Objects", "Track", "Tracker", "Zone", "find_objects"),
    "bgsub.pipeline": ("Pipeline", "Summary", "run"),
    "bgsub.postprocess": ("Postprocess",),
    "bgsub.roi": ("Region", "open_region"),
    "bgsub.events": ("EventRules",),
    "bgsub.scanning": ("ScanSettings", "scan"),
    "bgsub.video.prefetch": ("Prefetch",),
    "bgsub.video.sinks": (
        "BackgroundImage",
        "MaskVideo",
        "ObjectFile",
        "OverlayVideo",
        "PngSequence",
        "Sink",
        "StatsCsv",
    ),
    "bgsub.video.sources": ("FrameSource", "open_source"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "DETECTORS",
    "BackgroundImage",
    "BgsubError",
    "Config",
    "Detector",
    "EventRules",
    "FrameSource",
    "Line",
    "MaskVideo",
    "ObjectFile",
    "ObjectFinder",
    "ObjectLimits",
    "Objects",
    "OverlayVideo",
    "Packet",
    "Pipeline",
    "PngSequence",
    "Postprocess",
    "Prefetch",
    "Region",
    "Result",
    "ScanSettings",
    "Sink",
    "StatsCsv",
    "Summary",
    "Track",
    "Tracker",
    "VideoInfo",
    "Zone",
    "__version__",
    "create",
    "find_objects",
    "load",
    "open_region",
    "open_source",
    "run",
    "scan",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'bgsub' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
