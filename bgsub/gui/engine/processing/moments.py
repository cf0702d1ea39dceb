"""Earlier moments of a live source, which cannot be read again: only what is kept can be shown."""

from bgsub.gui.engine.history import History
from bgsub.gui.engine.player import PlayedFrame
from bgsub.gui.engine.processing.past_results import PastFrame, PastResults, time_key
from bgsub.gui.engine.processing.recent_frames import RecentFrames

__all__ = ["find_moment"]

_SAME_S = 1e-3  # since the first frame; frames are further apart


def find_moment(
    elapsed_s: float, history: History, past: PastResults, recent: RecentFrames
) -> tuple[PlayedFrame, PastFrame] | None:
    """Return the frame that was processed at a time since the first one, and its result; None if it is not kept."""
    rows = history.rows()
    near = rows[abs(rows[:, 0] - elapsed_s) < _SAME_S]
    if not len(near):
        return None
    time_s = float(near[-1, 2])
    found = past.find(time_s)
    frames = [played for played in recent.until(time_s) if time_key(played.packet.time_s) == time_key(time_s)]
    return (frames[-1], found) if frames and found is not None else None
