"""Play a source on the worker's thread: open, pace, step, seek and loop, never waiting long."""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from bgsub.frames import Packet, VideoInfo
from bgsub.video.prefetch import Prefetch
from bgsub.video.sources import FrameSource

__all__ = ["Opener", "Player", "Taken"]

_PATIENCE_S = 0.02  # longest wait for a frame, so that commands are heard soon
_CATCH_UP_S = 0.25  # a lateness above this is forgotten: a slow model must not be followed by a burst
_JOIN_S = 15.0  # longer than a connection attempt and a capture thread may take
_FILE_DEPTH, _LIVE_DEPTH = 4, 1  # of a camera only the newest frame waits: what is shown is fresh


class Opener(Protocol):
    """Opens a source by name, like `open_source`."""

    def __call__(self, text: str, /, *, start: float | None) -> FrameSource:
        """Open `text` at a time in seconds, or at its beginning."""


class _Closable(Protocol):
    def close(self) -> None:
        """Release it."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A frame whose time has come."""

    packet: Packet
    due_s: float
    """`time.perf_counter()` at which it was due; the present for live sources and single steps."""
    jumped: bool
    """Whether it does not follow the frame before."""
    looped: bool
    """Whether the jump was from the end to the beginning."""


class _Opening:
    """A source being opened on a thread of its own, after what was open before is closed."""

    def __init__(
        self,
        opener: Opener,
        text: str,
        start: float | None,
        previous: _Closable | None,
        wake: Callable[[], None],
    ) -> None:
        self._opener, self._text, self._start, self._previous = opener, text, start, previous
        self._wake = wake
        self._cancelled = False
        self._lock = threading.Lock()
        self._packets: Prefetch | None = None
        self._error: BaseException | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"bgsub-open-{text}", daemon=True)
        self._thread.start()

    @property
    def done(self) -> bool:
        return self._done.is_set()

    def result(self) -> Prefetch:
        """Return what was opened, or raise why it could not be."""
        self._thread.join()
        if self._packets is None:
            raise self._error or RuntimeError("the opening was cancelled")
        return self._packets

    def close(self) -> None:
        with self._lock:
            self._cancelled = True
        self._thread.join(_JOIN_S)
        if self._packets is not None:
            self._packets.close()

    def _run(self) -> None:
        try:
            if self._previous is not None:
                self._previous.close()
            source = None if self._cancelled else self._opener(self._text, start=self._start)
            if source is not None:
                with self._lock:
                    if not self._cancelled:
                        self._packets = Prefetch(source, _LIVE_DEPTH if source.info.live else _FILE_DEPTH)
                if self._packets is None:
                    source.close()
        except BaseException as error:  # noqa: BLE001 - raised again by the worker
            self._error = error
        self._done.set()
        self._wake()


class Player:
    """One source and the place in it.

    Parameters
    ----------
    opener : Opener
        Opens sources.
    wake : callable
        Called on another thread when `poll` has something new to tell.
    """

    def __init__(self, opener: Opener, wake: Callable[[], None]) -> None:
        self._opener, self._wake = opener, wake
        self._text = ""
        self._packets: Prefetch | None = None
        self._opening: _Opening | None = None
        self._next_place: int | None = None
        self._held: Packet | None = None
        self._owed = 0
        self._jumped = self._looped = self._ended = False
        self._first: tuple[float, int] | None = None
        self._count: int | None = None
        self._anchor: tuple[float, float, float] | None = None
        self._position = self._heading = 0
        self.playing = False
        """Whether frames follow each other by themselves."""
        self.just_opened: VideoInfo | None = None
        """What `poll` found open for the first time; the caller takes it."""

    @property
    def text(self) -> str:
        """What was asked for; empty if nothing is open."""
        return self._text

    @property
    def info(self) -> VideoInfo | None:
        """What the source tells of itself."""
        return None if self._packets is None else self._packets.info

    @property
    def opening(self) -> bool:
        """Whether a source is being opened or searched."""
        return self._opening is not None

    @property
    def trouble(self) -> str | None:
        """What keeps the source from delivering."""
        return None if self._packets is None else self._packets.trouble

    @property
    def dropped(self) -> int:
        """Frames that a live source delivered too fast."""
        return 0 if self._packets is None else self._packets.dropped

    @property
    def position(self) -> int:
        """0-based place of the frame taken last."""
        return self._position

    @property
    def heading(self) -> int:
        """0-based place that is being searched, else that of the frame taken last."""
        return self._heading

    def open(self, text: str) -> None:
        """Open another source; what is open is closed."""
        self._text, self._first = text, None
        self._position = self._heading = 0
        self.playing = True
        self._go(None)

    def close_source(self) -> None:
        """Close what is open."""
        self.playing, self._text = False, ""
        open_things = [thing for thing in (self._opening, self._packets) if thing is not None]
        self._opening, self._packets, self._held = None, None, None
        for thing in open_things:
            thing.close()

    def play(self) -> None:
        """Let frames follow each other; from the beginning where the end was reached."""
        if self._ended:
            self.seek(0)
            self._owed = 0
        self.playing = bool(self._text)
        self._anchor = None

    def pause(self) -> None:
        """Hold the picture; a live source goes on unseen."""
        self.playing = False

    def step(self) -> None:
        """Ask for one more frame, and pause."""
        self.playing = False
        if self._packets is not None or self._opening is not None:
            self._owed = 1

    def seek(self, place: int) -> None:
        """Go to a 0-based place; while one search is under way only the newest wish is remembered."""
        info = self.info
        if not self._text or (info is not None and info.live):
            return
        if self._count:
            place = min(place, self._count - 1)
        self._heading = place = max(0, place)
        self._owed = 0 if self.playing else 1
        if self._opening is not None or self._first is None:  # what time a place has is told by the first frame
            self._next_place = place
            return
        self._jump(place, looped=False)

    def poll(self, speed: float, loop: bool) -> Taken | float:
        """Return the next frame if its time has come, else for how many seconds there is nothing to do.

        Parameters
        ----------
        speed : float
            Times real time, for files.
        loop : bool
            Whether to begin again at the end.

        Raises
        ------
        SourceError
            If the source cannot be opened or is lost; it is closed then.
        """
        if self._opening is not None and not self._finish_opening():
            return math.inf
        if self._packets is None or self._ended:
            return math.inf
        if not self.playing and not self._owed and not self._packets.info.live:
            return math.inf
        if self._held is None and not self._fetch(loop):
            return 0.0
        packet = self._held
        if packet is None:
            return 0.0
        if self._next_place is not None:
            self._jump(self._next_place, looped=False)
            return math.inf
        now = time.perf_counter()
        due = self._due(packet, speed, now)
        if due > now:
            return due - now
        self._held = None
        self._owed = 0
        self._position = self._heading = self._place_of(packet)
        taken = Taken(packet, due, self._jumped, self._looped)
        self._jumped = self._looped = False
        return taken

    def _fetch(self, loop: bool) -> bool:
        """Get the next packet where there is one now; a paused live source's are thrown away."""
        packets = self._packets
        if packets is None or not packets.ready(_PATIENCE_S):
            return False
        try:
            packet = packets.read()
        except BaseException:
            self.close_broken()
            raise
        if packet is None:
            self._end(loop)
            return False
        self._first = self._first or (packet.time_s, packet.number)
        if packets.info.live and not self.playing and not self._owed:
            return False
        self._held = packet
        return True

    def close_broken(self) -> None:
        """Close a source that failed; its name stays, so that it can be opened again."""
        text = self._text
        self.close_source()
        self._text = text

    def _end(self, loop: bool) -> None:
        if loop and self.playing:
            self._jump(0, looped=True)
            return
        self.playing = False
        self._ended = True
        self._owed = 0

    def _jump(self, place: int, *, looped: bool) -> None:
        info = self.info
        start: float | None = None
        if place > 0 and self._first is not None and info is not None:
            # half a frame early, so that rounded times do not skip it
            start = max(0.0, self._first[0] + (place - 0.5) / (info.rate_hz or 25.0))
        self._go(start)
        self._jumped, self._looped = True, looped

    def _go(self, start: float | None) -> None:
        previous: _Closable | None = self._opening or self._packets
        self._packets, self._held, self._anchor, self._ended = None, None, None, False
        self._jumped = self._looped = False
        self._next_place = None
        self._opening = _Opening(self._opener, self._text, start, previous, self._wake)

    def _finish_opening(self) -> bool:
        """Take over what was opened; False while that goes on."""
        opening = self._opening
        if opening is None or not opening.done:
            return False
        self._opening = None
        try:
            self._packets = opening.result()
        except BaseException:
            self.close_broken()
            raise
        if self._first is None:
            self.just_opened = self._packets.info
            self._count = self._packets.info.count  # after a jump the source counts only what is left
        if self._next_place is not None and self._first is not None:
            self._jump(self._next_place, looped=False)
            return False
        return True

    def _due(self, packet: Packet, speed: float, now: float) -> float:
        """Return when a frame is to be taken: by the clock for a file that plays, else now."""
        live = self._packets is not None and self._packets.info.live
        if not self.playing or live or math.isinf(speed):
            self._anchor = None
            return now
        if self._anchor is None or self._anchor[2] != speed:
            self._anchor = now, packet.time_s, speed
        due = self._anchor[0] + (packet.time_s - self._anchor[1]) / speed
        if not -_CATCH_UP_S < due - now < _CATCH_UP_S + 1 / speed + 2:
            self._anchor = now, packet.time_s, speed
            return now
        return due

    def _place_of(self, packet: Packet) -> int:
        time_s, number = self._first or (packet.time_s, packet.number)
        rate_hz = None if self.info is None else self.info.rate_hz
        if rate_hz is None:
            return packet.number - number
        return max(0, round((packet.time_s - time_s) * rate_hz))
