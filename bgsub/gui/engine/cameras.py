"""The cameras of a file of `bgsub watch`, each with its own source, settings and regions; no Qt."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from bgsub._input.tables import read_toml
from bgsub.config import Config
from bgsub.detectors import detector_class
from bgsub.gui.engine.opening import Opener, open_for_viewer
from bgsub.gui.events.finder import EventSearch
from bgsub.gui.messages import Sampling, Settings
from bgsub.roi import open_region
from bgsub.video.sources import FrameSource
from bgsub.watching.cameras.feeds import may_return
from bgsub.watching.cameras.following import FollowedFolder
from bgsub.watching.settings import CameraSettings, read_settings

__all__ = ["WatchedCamera", "is_watch_file", "read_cameras"]

_MOST_BYTES = 2**23


@dataclass(frozen=True, slots=True)
class WatchedCamera:
    """One camera of a watch, as a session shows it."""

    name: str
    source: str = field(repr=False)
    """Name of the source; it may contain a password."""
    opener: Opener = field(repr=False)
    settings: Settings
    """Without regions, whose size follows from that of the frames."""
    may_return: bool = True
    """Whether it may be there later if it cannot be opened: a stream, a camera or a folder, but no file."""
    roi: str = ""
    """Region of interest in pixels of the source, as `open_region` reads it."""
    regions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Named regions, each with events of its own, in the same form."""

    def fitted(self, settings: Settings, scale: float) -> Settings:
        """Return settings with the regions for frames that are smaller than those of the source by a factor."""
        regions = {name: open_region(text).scaled(scale) for name, text in self.regions.items()}
        search = settings.event_search
        return replace(
            settings,
            region=open_region(self.roi).scaled(scale) if self.roi else None,
            event_search=None if search is None else replace(search, regions=MappingProxyType(regions)),
        )


def is_watch_file(path: Path) -> bool:
    """Return whether a TOML file describes cameras, and so is no session.

    Raises
    ------
    ConfigError
        If it cannot be read.
    """
    return "cameras" in read_toml(path, _MOST_BYTES)


def read_cameras(path: Path) -> tuple[WatchedCamera, ...]:
    """Read the cameras of a file of `bgsub watch`; what else it says is checked, and not used.

    Raises
    ------
    ConfigError
        If the file is missing or wrong; the message names file, entry and value, but no secret.
    """
    return tuple(_camera(camera) for camera in read_settings(path).cameras)


def _camera(camera: CameraSettings) -> WatchedCamera:
    scan = camera.scan
    opener: Opener = partial(open_for_viewer, auth=camera.auth, stall_timeout_s=camera.stall_timeout_s)
    if camera.folder:
        opener = partial(_follow_folder, camera)
    return WatchedCamera(
        name=camera.name,
        source=camera.source,
        opener=opener,
        settings=Settings(
            config=_with_threads(replace(scan.config, roi=""), camera.threads),
            sampling=Sampling(largest_px=scan.largest_px, rate_hz=scan.rate_hz),
            loop=True,
            event_search=EventSearch(scan.rules),
        ),
        may_return=camera.folder or may_return(camera.source),
        roi=scan.config.roi,
        regions=scan.regions,
    )


def _with_threads(config: Config, threads: int) -> Config:
    """Return a configuration with a number of threads, where the detector has a choice and none was made."""
    has_choice = any(item.name == "threads" for item in detector_class(config.detector).PARAMETERS)
    if not has_choice or "threads" in config.parameters:
        return config
    return replace(config, parameters={**config.parameters, "threads": threads})


def _follow_folder(camera: CameraSettings, _text: str, /, *, start: float | None) -> FrameSource:  # noqa: ARG001 - an opener's signature
    return FollowedFolder(camera)
