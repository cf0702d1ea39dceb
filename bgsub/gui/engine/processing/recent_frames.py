"""The last frames as they came, so that a model can see them again without reading the source again."""

from collections import deque
from collections.abc import Sequence

from bgsub.gui.engine.player import PlayedFrame
from bgsub.gui.engine.processing.past_results import time_key

__all__ = ["SAME_S", "RecentFrames", "covers"]

SAME_S = 5e-7  # times that differ by less are the same


def covers(frames: Sequence[PlayedFrame], first_s: float, last_s: float) -> bool:
    """Return whether frames begin and end as early and as late as that."""
    return bool(frames and frames[0].packet.time_s <= first_s + SAME_S and frames[-1].packet.time_s >= last_s - SAME_S)


class RecentFrames:
    """The last frames that were processed.

    Parameters
    ----------
    capacity_bytes : int
        Memory for them; the oldest give way, the newest stays in any case.
    """

    def __init__(self, capacity_bytes: int) -> None:
        self.capacity_bytes = capacity_bytes
        self._frames: deque[PlayedFrame] = deque()
        self._nbytes = 0

    def __len__(self) -> int:
        return len(self._frames)

    @property
    def nbytes(self) -> int:
        """Memory in use."""
        return self._nbytes

    def add(self, played: PlayedFrame) -> None:
        """Keep a frame, as the newest."""
        self._frames.append(played)
        self._nbytes += played.packet.frame.nbytes
        self._make_room()

    def limit(self, capacity_bytes: int) -> None:
        """Keep no more than this from now on; the oldest give way at once."""
        self.capacity_bytes = capacity_bytes
        self._make_room()

    def until(self, time_s: float) -> list[PlayedFrame]:
        """Return the kept frames up to the one of this time, which is included."""
        return [played for played in self._frames if time_key(played.packet.time_s) <= time_key(time_s)]

    def drop_from(self, time_s: float) -> None:
        """Forget the frame of this time and all later ones."""
        while self._frames and time_key(self._frames[-1].packet.time_s) >= time_key(time_s):
            self._nbytes -= self._frames.pop().packet.frame.nbytes

    def clear(self) -> None:
        """Forget all."""
        self._frames.clear()
        self._nbytes = 0

    def _make_room(self) -> None:
        while self._nbytes > self.capacity_bytes and len(self._frames) > 1:
            self._nbytes -= self._frames.popleft().packet.frame.nbytes
