"""What crosses the wall between window and worker: settings one way, views and events the other."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from bgsub.config import Config
from bgsub.detectors.pixel_state import PixelState
from bgsub.evaluation import Counts, GroundTruth
from bgsub.frames import Frame, Result, VideoInfo
from bgsub.roi import Region
from bgsub.video.sinks.overlay import Style

__all__ = [
    "AS_FAST_AS_POSSIBLE",
    "Configured",
    "Event",
    "LaneView",
    "Level",
    "Notice",
    "Opened",
    "Pane",
    "PinView",
    "Recording",
    "Settings",
    "View",
]

AS_FAST_AS_POSSIBLE = float("inf")


class Pane(enum.Enum):
    """What one pane of the window can show."""

    INPUT = "Input"
    MASK = "Mask"
    OVERLAY = "Overlay"
    BACKGROUND = "Background"
    SCORE = "Score"
    MASK_B = "Mask B"
    OVERLAY_B = "Overlay B"
    BACKGROUND_B = "Background B"
    SCORE_B = "Score B"
    DIFFERENCE = "Difference"
    TRUTH = "Ground truth"

    @property
    def of_b(self) -> bool:
        """Whether it needs the second detector."""
        return self.value.endswith(" B") or self is Pane.DIFFERENCE


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a person can change while frames go on; the worker takes a new one between two frames."""

    config: Config = field(default_factory=Config)
    other: Config | None = None
    """Settings of the detector to compare with; None for none."""
    frozen: bool = False
    region: Region | None = None
    speed: float = 1.0
    """Times real time, for files; infinite for as fast as possible."""
    loop: bool = False
    keep_model: bool = True
    """Whether the model is kept after a jump."""
    panes: tuple[Pane, ...] = (Pane.INPUT, Pane.MASK)
    """What to make pictures of."""
    overlay_style: Style = "contour"
    pins: tuple[tuple[int, int], ...] = ()
    """Pixels (row, column) to look into."""
    truth: GroundTruth | None = None


class Level(enum.Enum):
    """How bad a notice is."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to tell the person: one line that says what and what to do."""

    level: Level
    text: str
    can_retry: bool = False
    """Whether opening the source again may help."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A source was opened."""

    text: str
    info: VideoInfo


@dataclass(frozen=True, slots=True)
class Configured:
    """A model file brought its own settings."""

    config: Config


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording began, or ended if `paths` is empty."""

    paths: tuple[str, ...]


Event = Notice | Opened | Configured | Recording


@dataclass(frozen=True, slots=True)
class LaneView:
    """What one detector made of the frame shown."""

    name: str
    result: Result
    ms: float
    """Mean time of the last frames, in milliseconds."""
    share: float
    """Foreground share of the frame."""
    memory_bytes: int | None
    counts: Counts | None
    """Right and wrong pixels so far; None without ground truth."""


@dataclass(frozen=True, slots=True)
class PinView:
    """What is known of one pixel in the frame shown."""

    row: int
    column: int
    state: PixelState | None
    """None where the detector does not tell, or not yet."""
    reason: str
    """Why there is no state."""
    foreground: bool
    """In the final mask."""
    before_learning: bool
    """Whether the state is the one that judged the frame; after a click in a paused picture it is the next one."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """All the window shows at one moment."""

    serial: int
    """Counts views."""
    lanes: tuple[LaneView, ...] = ()
    """None before the first frame; then the detector, and the one compared with it."""
    images: Mapping[Pane, Frame] = field(default_factory=dict)
    """(H, W, 3) BGR or (H, W) grey uint8 pictures; nobody writes to them again."""
    pins: tuple[PinView, ...] = ()
    position: int = 0
    """0-based place in the source, in frames."""
    processed: int = 0
    """Frames since the source was opened."""
    rate_hz: float = 0.0
    """Frames processed a second, lately."""
    dropped: int = 0
    """Frames that a live source delivered too fast."""
    playing: bool = False
    opening: bool = False
    """Whether a source is being opened or searched."""
    preparing: bool = False
    """Whether a source is open but no frame was processed yet."""
    trouble: str | None = None
    """What keeps the source from delivering."""
    recorded: int | None = None
    """Frames recorded so far; None while nothing is recorded."""
    taken_s: float = 0.0
    """`time.perf_counter()` when the worker took the frame."""
    due_s: float = 0.0
    """`time.perf_counter()` when the frame was due; differs from `taken_s` by the delay of a slow worker."""

    @property
    def result(self) -> Result | None:
        """What the first detector made of the frame."""
        return self.lanes[0].result if self.lanes else None
