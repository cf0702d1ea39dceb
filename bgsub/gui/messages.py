"""What passes between window and worker: settings one way, views and events the other; no Qt."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from bgsub.config import Config
from bgsub.detectors.pixel_state import PixelState
from bgsub.evaluation import Counts
from bgsub.frames import Frame, Mask, Result, VideoInfo
from bgsub.gui.counting import Counted, Counting
from bgsub.gui.events.finder import EventSearch
from bgsub.gui.events.live import LiveFound
from bgsub.gui.painted_truth import Truth
from bgsub.gui.panes import INPUT, MASK, Effect, Pane
from bgsub.roi import Region
from bgsub.stages import Stage
from bgsub.video.sinks.overlay import Style

__all__ = [
    "AS_FAST_AS_POSSIBLE",
    "DEFAULT_RATE_HZ",
    "Configured",
    "DetectorRunView",
    "Event",
    "Level",
    "MomentFound",
    "Notice",
    "Opened",
    "PinnedPixelView",
    "RecordingChanged",
    "Sampling",
    "Settings",
    "View",
]

AS_FAST_AS_POSSIBLE = float("inf")

DEFAULT_RATE_HZ = 25.0
"""Assumed where a source does not state its frame rate."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Which frames of a source are processed, and at what size."""

    scale: float = 1.0
    """Factor of both sides, in (0, 1]."""
    largest_px: int | None = None
    """Frames are shrunk further until their longer side has at most this length."""
    rate_hz: float | None = None
    """Frames per second of a live source to look at, about; all by default."""

    def of(self, info: VideoInfo) -> tuple[float, int]:
        """Return factor of size and step between frames for a source.

        Examples
        --------
        >>> Sampling(largest_px=320, rate_hz=10).of(VideoInfo("camera", (480, 640), rate_hz=30.0, live=True))
        (0.5, 3)
        """
        scale, skip = self.scale, 1
        if self.largest_px is not None and info.size is not None:
            scale = min(scale, self.largest_px / max(info.size))
        if self.rate_hz is not None and info.rate_hz is not None and info.live:
            skip = max(1, round(info.rate_hz / self.rate_hz))
        return scale, skip


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything the user can change while frames are processed; the worker applies it between two frames."""

    config: Config = field(default_factory=Config)
    other: Config | None = None
    """Settings of the second detector; None while nothing is compared."""
    frozen: bool = False
    region: Region | None = None
    speed: float = 1.0
    """Times real time, for files; infinite for as fast as possible."""
    loop: bool = False
    sampling: Sampling = field(default_factory=Sampling)
    """Of the source that is opened next; region, lines and pixels are those of the frames that are processed."""
    part: tuple[float, float] | None = None
    """First and last second to play again and again, since the first frame; the last may be infinite."""
    keep_model: bool = True
    """Whether the model is kept after a jump."""
    panes: tuple[Pane, ...] = (INPUT, MASK)
    """Panes to make images for."""
    overlay_style: Style = "contour"
    pinned_pixels: tuple[tuple[int, int], ...] = ()
    """Pinned pixels as (row, column), in the order they were pinned."""
    truth: Truth | None = None
    counting: Counting = field(default_factory=Counting)
    """Lines and zones at which objects are counted."""
    event_search: EventSearch | None = None
    """What is an event of a live source; None while nobody looks for events there."""


class Level(enum.Enum):
    """Severity of a notice."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Notice:
    """One line for the user that states what happened and what to do."""

    level: Level
    text: str
    can_retry: bool = False
    """Whether opening the source again may help."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A source was opened."""

    text: str
    """The name that was asked for."""
    info: VideoInfo
    scale: float = 1.0
    """Factor by which its frames are made smaller."""


@dataclass(frozen=True, slots=True)
class Configured:
    """A model file brought its own settings."""

    config: Config


@dataclass(frozen=True, slots=True)
class RecordingChanged:
    """A recording began, or ended if `paths` is empty."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MomentFound:
    """An earlier moment of a live source was looked for."""

    elapsed_s: float
    """Time since the first frame."""
    is_shown: bool
    """Whether its frame is still kept, and held now."""


Event = Notice | Opened | Configured | RecordingChanged | MomentFound


@dataclass(frozen=True, slots=True)
class DetectorRunView:
    """Result and statistics of one detector for the frame shown."""

    name: str
    result: Result
    ms: float
    """Mean time of the last frames, in milliseconds per frame."""
    share: float
    """Foreground share of the frame."""
    memory_bytes: int | None
    counts: Counts | None
    """Right and wrong pixels so far; None without ground truth."""
    scored: int = 0
    """Frames in these counts."""
    frame_counts: Counts | None = None
    """Right and wrong pixels of this frame; None if it has no labels."""
    effects: tuple[Effect, ...] = ()
    """What the stages of the mask did, if they were followed."""
    region: Mask | None = None
    """Where detection takes place, (H, W) uint8 of 0 and 255; None for the whole frame."""


@dataclass(frozen=True, slots=True)
class PinnedPixelView:
    """State of one pinned pixel in the frame shown."""

    row: int
    column: int
    state: PixelState | None
    """None if the detector has no state to show, or none yet."""
    reason: str
    """Why there is no state."""
    foreground: bool
    """In the final mask."""
    before_learning: bool
    """Whether the state is the one that judged the frame; otherwise it is the next one."""
    removed_by: str = ""
    """Why the pixel cannot be foreground, whatever its colour; empty if it could."""
    flickers: bool = False
    """Whether the model accepts a much wider range of colours here than its width alone, because the place flickers."""
    steps: tuple[tuple[Stage, bool], ...] | None = None
    """The stages that changed it, each with whether it made it foreground; None if they were not followed."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Everything the window shows at one moment."""

    serial: int
    """Counts views."""
    runs: tuple[DetectorRunView, ...] = ()
    """Empty before the first frame; then the main detector and, if there is one, the detector compared with it."""
    images: Mapping[Pane, Frame] = field(default_factory=dict)
    """(H, W, 3) BGR or (H, W) grey uint8 images, never written to again."""
    counted: Counted | None = None
    """What was counted up to the newest frame; None while nothing is counted."""
    live: LiveFound | None = None
    """What happened in a live source; None while nothing is looked for."""
    labels: Mask | None = None
    """Ground truth of the frame, (H, W) uint8, if there is any."""
    pinned_pixels: tuple[PinnedPixelView, ...] = ()
    position: int = 0
    """0-based index of the frame in the source."""
    time_s: float = 0.0
    """Time of the frame since the first one of the source."""
    processed: int = 0
    """Frames since the source was opened."""
    rate_hz: float = 0.0
    """Frames processed per second, over the last ones."""
    dropped: int = 0
    """Frames that a live source delivered too fast."""
    playing: bool = False
    looking_back: bool = False
    """Whether the frame is an earlier one, shown as it was detected."""
    captions: tuple[str, ...] = ()
    """What the user must know to understand the images, in a few words each."""
    opening: bool = False
    """Whether a source is being opened or sought."""
    preparing: bool = False
    """Whether a source is open but no frame was processed yet."""
    trouble: str | None = None
    """Why the source delivers nothing, if it should."""
    recorded: int | None = None
    """Frames recorded so far; None while nothing is recorded."""
    due_s: float = 0.0
    """`time.perf_counter()` when the frame was due."""

    @property
    def result(self) -> Result | None:
        """Result of the main detector."""
        return self.runs[0].result if self.runs else None
