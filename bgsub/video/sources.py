"""Open whatever delivers frames: files, streams, cameras, image sequences."""

from bgsub.video.base import FrameSource

__all__ = ["FrameSource"]
