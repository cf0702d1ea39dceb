"""Objects in masks: boxes, areas, centroids and outlines of connected regions; their tracks, and counts of these."""

from bgsub.objects.counting import Line, Zone
from bgsub.objects.find import find_objects
from bgsub.objects.finder import ObjectFinder
from bgsub.objects.found import FoundObject, Objects
from bgsub.objects.limits import ObjectLimits
from bgsub.objects.tracker import Track, Tracker

__all__ = ["FoundObject", "Line", "ObjectFinder", "ObjectLimits", "Objects", "Track", "Tracker", "Zone", "find_objects"]
