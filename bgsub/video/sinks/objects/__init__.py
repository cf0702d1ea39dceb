"""Objects as a file, in the format that its name asks for."""

from bgsub.video.sinks.objects.sink import ObjectFile

__all__ = ["ObjectFile"]
