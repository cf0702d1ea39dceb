"""The end of a video as its container describes it, to distinguish a complete file from a truncated one."""

from bgsub.video.sources.ending.check import End, check_end

__all__ = ["End", "check_end"]
