"""Objects of a run: found, tracked and counted frame by frame."""

from collections.abc import Mapping
from typing import Any

from bgsub.frames import Result
from bgsub.objects.counting import Line, Zone
from bgsub.objects.find import find_objects
from bgsub.objects.found import Objects
from bgsub.objects.limits import ObjectLimits
from bgsub.objects.tracker import Tracker
from bgsub.roi import Region

__all__ = ["ObjectFinder"]


class ObjectFinder:
    """Finds the objects in each result of a run, tracks them, and counts them.

    Several sinks may share one: asked for the same result again, it returns what it found.

    Parameters
    ----------
    limits : ObjectLimits, optional
        Objects beyond them are left out; its `min_age` is that of the tracker.
    regions : mapping of str to Region, optional
        Regions by name: objects carry the names of those they are in, and tracks that enter and leave are counted.
    lines : mapping of str to Line, optional
        Lines by name, across which tracks are counted.
    tracker : Tracker, optional
        Another than that with default parameters.

    Examples
    --------
    >>> import bgsub
    >>> finder = ObjectFinder(limits=ObjectLimits(min_area=100), lines={"door": Line((160, 240), (160, 0))})
    >>> pipeline = bgsub.Pipeline(bgsub.create())
    >>> for packet in bgsub.open_source("synthetic:walkers?frames=200"):
    ...     objects = finder.find(pipeline.step(packet))
    >>> sorted(finder.counts), sorted(finder.counts["lines"]["door"])
    (['lines', 'regions', 'tracks'], ['left_to_right', 'right_to_left'])
    """

    def __init__(
        self,
        *,
        limits: ObjectLimits | None = None,
        regions: Mapping[str, Region] | None = None,
        lines: Mapping[str, Line] | None = None,
        tracker: Tracker | None = None,
    ) -> None:
        self.limits = limits or ObjectLimits()
        self.regions = dict(regions or {})
        self.lines = dict(lines or {})
        self.tracker = tracker or Tracker(min_age=max(1, self.limits.min_age))
        self._zones: dict[str, Zone] = {}
        self._last: tuple[Result, Objects] | None = None

    @property
    def counts(self) -> dict[str, Any]:
        """Number of tracks, and counts by name of the line or region."""
        return {
            "tracks": self.tracker.count,
            "lines": {name: line.counts for name, line in self.lines.items()},
            "regions": {name: zone.counts for name, zone in self._zones.items()},
        }

    def find(self, result: Result) -> Objects:
        """Return the objects of a result, with ids; each result is counted once.

        Parameters
        ----------
        result : Result
            The next of the run, or the one before again.

        Returns
        -------
        Objects
            Those within the limits whose tracks are confirmed.

        Raises
        ------
        ConfigError
            If a region does not fit the frames.
        """
        if self._last is not None and self._last[0] is result:
            return self._last[1]
        mask = result.mask
        if not self._zones:
            size = (mask.shape[0], mask.shape[1])
            self._zones = {name: Zone(region, size) for name, region in self.regions.items()}
        found = find_objects(mask, score=result.score, regions=self.regions, limits=self.limits)
        objects = self.tracker.update(found)
        tracks = self.tracker.tracks
        for line in self.lines.values():
            line.update(tracks)
        for zone in self._zones.values():
            zone.update(tracks)
        self._last = result, objects
        return objects
