"""Everything that decides what a scan finds."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bgsub import __version__
from bgsub.config import Config
from bgsub.events import EventRules
from bgsub.frames import VideoInfo
from bgsub.roi import Region, open_region
from bgsub.scanning.clock import parse_time, time_in_name

__all__ = ["QUICK", "ScanSettings"]

QUICK: dict[str, Any] = {"largest_px": 240, "rate_hz": 4.0}
"""Settings of a quick scan: smaller frames, and fewer of them."""

RATE_HZ = 6.0
"""Frames per second to look at, about: with more of them events are the same, and cost more."""

_MOST_REGIONS = 32


@dataclass(frozen=True, slots=True)
class ScanSettings:
    """What decides the events of a scan.

    Parameters
    ----------
    config : Config
        Detector, its parameters, post-processing and region of interest, in pixels of the source.
    rules : EventRules
        What an event is.
    regions : mapping of str to str
        Named regions, as `open_region` reads them, in pixels of the source; without any, the whole frame is one.
    largest_px : int
        Frames are shrunk by a whole number until their longer side has at most this length. Other factors take longer
        than what follows.
    scale : float, optional
        Factor by which frames are shrunk, in (0, 1], instead of `largest_px`.
    rate_hz : float, optional
        Frames per second to look at, about; by default 6, or all of them if `continuous`.
    skip : int, optional
        Look at every n-th frame, counted from the start of each file, instead of `rate_hz`; 1 for all.
    chunk_s : float, optional
        Length of the parts into which long files are divided, each with a model of its own; none by default.
    overlap_s : float
        Time before a part from which its model learns.
    continuous : bool
        Whether the files are parts of one recording, in their order.
    name_pattern : str, optional
        How the time is written in the names of the files, as `time_in_name` has it.
    start_time : str, optional
        When the first file begins, instead of the time in its name.

    Raises
    ------
    ValueError
        If a value is out of range or two contradict each other.
    ConfigError
        If a region cannot be read.
    """

    config: Config = field(default_factory=Config)
    rules: EventRules = field(default_factory=EventRules)
    regions: Mapping[str, str] = field(default_factory=dict)
    largest_px: int = 320
    scale: float | None = None
    rate_hz: float | None = None
    skip: int | None = None
    chunk_s: float | None = None
    overlap_s: float = 60.0
    continuous: bool = False
    name_pattern: str | None = None
    start_time: str | None = None

    def __post_init__(self) -> None:
        if self.scale is not None and not 0 < self.scale <= 1:
            raise ValueError(f"scale must be in (0, 1], got {self.scale}")
        if self.largest_px < 16:
            raise ValueError(f"largest_px must be at least 16, got {self.largest_px}")
        if self.skip is not None and self.skip < 1:
            raise ValueError(f"skip must be at least 1, got {self.skip}")
        if self.rate_hz is not None and not 0 < self.rate_hz < math.inf:
            raise ValueError(f"rate_hz must be positive, got {self.rate_hz}")
        if self.chunk_s is not None and not 1 <= self.chunk_s < math.inf:
            raise ValueError(f"chunk_s must be at least 1 s, got {self.chunk_s}")
        if not 0 <= self.overlap_s < math.inf:
            raise ValueError(f"overlap_s must not be negative, got {self.overlap_s}")
        if self.continuous and self.chunk_s is not None:
            raise ValueError("chunk_s divides single files; a continuous recording is one model from file to file")
        if len(self.regions) > _MOST_REGIONS:
            raise ValueError(f"regions must be at most {_MOST_REGIONS}, got {len(self.regions)}")
        if "" in self.regions:
            raise ValueError("regions must have names, got an empty one")
        if self.name_pattern is not None:
            time_in_name("", self.name_pattern)
        if self.start_time is not None:
            parse_time(self.start_time)
        for text in (*self.regions.values(), *([self.config.roi] if self.config.roi else [])):
            open_region(text)

    def sampling(self, info: VideoInfo) -> tuple[float, int]:
        """Return factor of size and step between frames for a source."""
        scale = self.scale
        if scale is None:
            longest = max(info.size) if info.size else self.largest_px
            scale = 1 / max(1, math.ceil(longest / self.largest_px))
        if self.skip is not None:
            return scale, self.skip
        # From file to file only all frames are those of one long file.
        rate_hz = RATE_HZ if self.rate_hz is None and not self.continuous else self.rate_hz
        skip = 1 if rate_hz is None or info.rate_hz is None else max(1, round(info.rate_hz / rate_hz))
        return scale, skip

    def to_json(self) -> dict[str, Any]:
        """Return all values, with the contents of region files, as JSON has them."""
        return {
            "version": __version__,
            "detector": self.config.to_toml(),
            "rules": self.rules.to_json(),
            "regions": {name: _content(text) for name, text in self.regions.items()},
            "region_of_interest": _content(self.config.roi) if self.config.roi else None,
            "largest_px": self.largest_px,
            "scale": self.scale,
            "rate_hz": self.rate_hz,
            "skip": self.skip,
            "chunk_s": self.chunk_s,
            "overlap_s": self.overlap_s,
            "continuous": self.continuous,
            "name_pattern": self.name_pattern,
            "start_time": self.start_time,
        }

    def digest(self) -> str:
        """Return a digest of all values: scans with different ones have different results."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()[:16]


def _content(text: str) -> Any:
    region: Region = open_region(text)
    if region.image is not None:
        return hashlib.sha256(region.image.tobytes()).hexdigest()
    return {"include": region.include, "exclude": region.exclude}
