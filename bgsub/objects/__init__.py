"""Objects in masks: boxes, areas, centroids and outlines of connected regions."""

from bgsub.objects.find import find_objects
from bgsub.objects.found import FoundObject, Objects
from bgsub.objects.limits import ObjectLimits

__all__ = ["FoundObject", "ObjectLimits", "Objects", "find_objects"]
