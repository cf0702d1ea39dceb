"""Learns from a whole source before its masks are made from the start, as `bgsub run --two-pass` does."""

import math

from bgsub.gui.engine.player import Arrival, PlayedFrame, Player
from bgsub.gui.engine.processing.frame_processor import FrameProcessor
from bgsub.gui.messages import DEFAULT_RATE_HZ, Settings

__all__ = ["FirstPass"]

_ALL = 2**62
"""More frames than any source has: the first pass ends where the source does."""
_STEPS = 100


class FirstPass:
    """One pass through a file, or through the part of it that is repeated, in which the models only learn.

    Parameters
    ----------
    player : Player
        Delivers the frames as fast as they come.
    work : FrameProcessor
        Has the models, which begin again.
    part : (float, float), optional
        First and last second of the part, since the first frame.
    """

    def __init__(self, player: Player, work: FrameProcessor, part: tuple[float, float] | None) -> None:
        self._player, self._work = player, work
        begin_s, self._end_s = part or (0.0, math.inf)
        rate_hz = player.rate_hz or DEFAULT_RATE_HZ
        self._begin = round(begin_s * rate_hz)
        count = player.count or 1
        last = count if math.isinf(self._end_s) else min(count, round(self._end_s * rate_hz) + 1)
        self._count = max(1, last - self._begin)
        self._plays_on = player.playing
        self._percent = 0
        work.runs.reset()
        work.forget_past()
        player.replay(self._begin, _ALL)

    @property
    def caption(self) -> str:
        """What is going on, in a few words."""
        return f"learning all of the source first: {self._percent} %"

    @property
    def is_over(self) -> bool:
        """Whether the last frame was learned."""
        return not (self._player.opening or self._player.owed)

    def learn(self, played: PlayedFrame, settings: Settings) -> bool:
        """Learn the next frame; return whether the caption has changed."""
        if self._player.since_begin_s(played.packet.time_s) > self._end_s:
            self._player.pause(at_once=True)
            return True
        self._work.runs.learn(played.packet, settings)
        before = self._percent
        self._percent = min(_STEPS, _STEPS * (played.position - self._begin + 1) // self._count)
        return self._percent != before

    def finish(self) -> None:
        """Begin again with the models as they are."""
        self._work.runs.restart_pipelines()
        self._player.seek(self._begin, Arrival.LOOPED)
        if self._plays_on:
            self._player.play()
