"""Copies of the models as they were before some frames, in bounded memory."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bgsub.gui.engine.processing.detector_run import RunState
from bgsub.gui.engine.processing.past_results import time_key

__all__ = ["Snapshot", "Snapshots"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state before one frame was processed."""

    time_s: float
    """Time of that frame in the source."""
    position: int
    """Its 0-based index in the source."""
    runs: tuple[RunState, ...]
    processed: int
    """Frames processed before it."""
    elapsed_s: float
    previous_s: float
    """Time of the frame before it."""
    counting: int = 0
    """How often counts had been restarted; those of another number no longer hold."""

    @property
    def nbytes(self) -> int:
        """Size in memory, about."""
        return sum(run.nbytes for run in self.runs)


class Snapshots:
    """Snapshots of one uninterrupted stretch of a source, oldest first.

    Parameters
    ----------
    capacity_bytes : int
        Memory for them. Of too many, those go whose neighbours are nearest; the first and the last stay as long as any.
    interval_s : float
        Time of the source between two.
    least : int
        Number that is kept even if they are larger.
    """

    def __init__(self, capacity_bytes: int, interval_s: float, least: int = 2) -> None:
        self.capacity_bytes, self.least = capacity_bytes, least
        self._interval_s = interval_s
        self._kept: list[Snapshot] = []
        self._refused_s = -math.inf
        """Time of the last one that was not kept, because there is no memory for any."""

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def times_s(self) -> Sequence[float]:
        """Times of the snapshots."""
        return [snapshot.time_s for snapshot in self._kept]

    @property
    def nbytes(self) -> int:
        """Memory in use, about."""
        return sum(snapshot.nbytes for snapshot in self._kept)

    def is_due(self, time_s: float) -> bool:
        """Return whether a snapshot before the frame of this time is wanted."""
        last_s = self._kept[-1].time_s if self._kept else self._refused_s
        return not 0 <= time_s - last_s < self._interval_s

    def add(self, snapshot: Snapshot) -> None:
        """Keep a snapshot, as the newest."""
        self._kept.append(snapshot)
        self._refused_s = -math.inf
        self._make_room()

    def limit(self, capacity_bytes: int, least: int) -> None:
        """Keep no more than this, but at least so many, from now on; those that are too many go at once."""
        self.capacity_bytes, self.least = capacity_bytes, least
        self._make_room()

    def before(self, time_s: float) -> Snapshot | None:
        """Return the newest snapshot of a frame that is not later than this time."""
        found = [item for item in self._kept if time_key(item.time_s) <= time_key(time_s)]
        return found[-1] if found else None

    def drop_after(self, time_s: float) -> None:
        """Forget the snapshots of frames later than this time."""
        self._kept = [item for item in self._kept if time_key(item.time_s) <= time_key(time_s)]

    def clear(self) -> None:
        """Forget all."""
        self._kept.clear()
        self._refused_s = -math.inf

    def _make_room(self) -> None:
        while self.nbytes > self.capacity_bytes and len(self._kept) > self.least:
            if len(self._kept) > 2:
                gaps = [after.time_s - before.time_s for before, after in zip(self._kept, self._kept[2:], strict=False)]
                del self._kept[1 + gaps.index(min(gaps))]
            else:
                self._refused_s = self._kept.pop(0).time_s
