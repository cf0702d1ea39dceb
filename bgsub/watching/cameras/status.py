"""What is known of a camera at present; written by its thread, read by any."""

import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bgsub.watching.cameras.recorder import Recorder

__all__ = ["CameraStatus"]

_WINDOW_S = 10.0


@dataclass
class CameraStatus:
    """Counts and states of one camera."""

    name: str
    address: str
    """As it may be shown."""
    regions: list[str] = field(default_factory=list)
    available: bool = False
    """Whether frames arrive."""
    failed: bool = False
    """Whether it was given up."""
    trouble: str | None = None
    """Why nothing arrives."""
    frames: int = 0
    dropped: int = 0
    """Frames that were left out because they arrived faster than they could be looked at."""
    events: int = 0
    scene_changes: int = 0
    failures: int = 0
    """Streams given up, and files that could not be read to their end."""
    clipless: bool = False
    recorder: "Recorder | None" = None
    last_frame_s: float | None = None
    """Seconds since 1970 when the last frame arrived."""
    motion: dict[str, bool] = field(default_factory=dict)
    """Whether something moves, by region; the empty name is the whole frame."""

    def __post_init__(self) -> None:
        self.motion = dict.fromkeys(["", *self.regions], False)
        self._recent: deque[float] = deque(maxlen=4096)

    def note_frame(self) -> None:
        """Count a frame."""
        self.frames += 1
        self.last_frame_s = time.time()
        self._recent.append(time.monotonic())

    @property
    def silent_s(self) -> float | None:
        """Time since the last frame; None before the first."""
        return time.monotonic() - self._recent[-1] if self._recent else None

    @property
    def rate_hz(self) -> float:
        """Frames per second during the last ten seconds."""
        now = time.monotonic()
        return sum(now - one < _WINDOW_S for one in list(self._recent)) / _WINDOW_S
