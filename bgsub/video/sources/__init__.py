"""Sources of frames: files, streams, cameras, images, generated scenes."""

from bgsub.video._text import public_name
from bgsub.video.sources.base import FrameSource, Grab, LazySource, SourceOptions
from bgsub.video.sources.camera import Camera
from bgsub.video.sources.file import VideoFile
from bgsub.video.sources.images import ImageSequence
from bgsub.video.sources.open import SOURCES, open_source
from bgsub.video.sources.position import Position, parse_position
from bgsub.video.sources.slice import Slice
from bgsub.video.sources.stream import NetworkStream

__all__ = [
    "SOURCES",
    "Camera",
    "FrameSource",
    "Grab",
    "ImageSequence",
    "LazySource",
    "NetworkStream",
    "Position",
    "Slice",
    "SourceOptions",
    "VideoFile",
    "open_source",
    "parse_position",
    "public_name",
]
