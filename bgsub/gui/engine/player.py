"""Play a source on the worker's thread: open, pace, step, seek and loop, without ever waiting long."""

import enum
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from bgsub.frames import Packet, VideoInfo
from bgsub.gui.engine.opening import Closable, Opener, OpeningThread
from bgsub.gui.messages import DEFAULT_RATE_HZ
from bgsub.video.prefetch import Prefetch

__all__ = ["Arrival", "PlayedFrame", "Player"]

_PATIENCE_S = 0.02  # longest wait for a frame, so that commands are obeyed soon
_SAME_S = 5e-4  # times of a frame and of the end of a part that differ by less are the same
_CATCH_UP_S = 0.25  # a longer delay is not made up for: a slow model must not be followed by a burst


class Arrival(enum.Enum):
    """How a frame follows the one before."""

    NEXT = "next"
    """As the next frame of the source, or the first."""
    SOUGHT = "sought"
    """After a jump that was asked for."""
    STEPPED = "stepped"
    """After one or more steps back."""
    REPLAYED = "replayed"
    """After a jump back from which frames are to be processed again."""
    LOOPED = "looped"
    """After a jump from the end to the beginning."""
    BEGUN_AGAIN = "begun-again"
    """As the first frame, because the user plays on at the end."""


@dataclass(frozen=True, slots=True)
class PlayedFrame:
    """A frame whose time has come."""

    packet: Packet
    due_s: float
    """`time.perf_counter()` at which it was due; the present for live sources and single steps."""
    arrival: Arrival
    position: int = 0
    """0-based index of the frame in the source."""

    @property
    def is_jump(self) -> bool:
        """Whether it does not follow the frame before."""
        return self.arrival is not Arrival.NEXT


@dataclass(frozen=True, slots=True)
class _Closed:
    """State: nothing is open. After a failure the name is kept, so that it can be opened again."""


@dataclass(frozen=True, slots=True)
class _Opening:
    """State: a source is being opened, at its beginning or where a jump leads."""

    thread: OpeningThread
    arrival: Arrival
    """Of its first frame."""


@dataclass(slots=True)
class _Delivering:
    """State: frames can be read."""

    packets: Prefetch
    arrival: Arrival
    """Of the next frame."""
    waiting: Packet | None = None
    """The next frame, whose time has not come."""


@dataclass(frozen=True, slots=True)
class _Ended:
    """State: the last frame was delivered."""

    packets: Prefetch


class _Clock:
    """Converts times of a file to the real times at which its frames are due."""

    def __init__(self) -> None:
        self._anchor: tuple[float, float, float] | None = None
        """Real time, time in the file, and speed from which on both run together."""

    def restart(self) -> None:
        """Let the next frame be due when it comes."""
        self._anchor = None

    def due(self, time_s: float, speed: float, now_s: float) -> float:
        """Return when the frame of this time is due; now, if it is far too late or too early."""
        if self._anchor is None or self._anchor[2] != speed:
            self._anchor = now_s, time_s, speed
        due_s = self._anchor[0] + (time_s - self._anchor[1]) / speed
        if not -_CATCH_UP_S < due_s - now_s < _CATCH_UP_S + 1 / speed + 2:
            self._anchor = now_s, time_s, speed
            return now_s
        return due_s


@dataclass(slots=True)
class _Timeline:
    """Relation of frame indices and times in a source; known after its first frame."""

    origin: tuple[float, int] | None = None
    """Time in seconds, and number, of its first frame."""
    count: int | None = None
    """Frames in the source, if known."""

    def start_of(self, index: int, rate_hz: float | None) -> float | None:
        """Return the time at which to open the source for a frame; None for the beginning."""
        if index <= 0 or self.origin is None:
            return None
        # half a frame early, so that rounded times do not skip it
        return max(0.0, self.origin[0] + (index - 0.5) / (rate_hz or DEFAULT_RATE_HZ))

    def index_of(self, packet: Packet, rate_hz: float | None) -> int:
        """Return the 0-based index of a frame."""
        time_s, number = self.origin or (packet.time_s, packet.number)
        if rate_hz is None:
            return packet.number - number
        return max(0, round((packet.time_s - time_s) * rate_hz))


class Player:
    """One source and the position in it.

    At each moment it is in one of four states: closed, opening, delivering or ended. Independently of that, it plays
    or pauses, and while paused it may owe the window one frame, after a step or a jump.

    Parameters
    ----------
    opener : Opener
        Opens sources.
    wake : callable
        Called on another thread when `poll` has news.
    """

    def __init__(self, opener: Opener, wake: Callable[[], None]) -> None:
        self.opener = opener
        """Opens the sources that come next."""
        self._wake = wake
        self._text = ""
        self._state: _Closed | _Opening | _Delivering | _Ended = _Closed()
        self._timeline = _Timeline()
        self._clock = _Clock()
        self._owed = 0
        """Frames to deliver while paused."""
        self._pending_seek: tuple[int, Arrival] | None = None
        """Frame index to jump to as soon as the source is open and its first frame is known."""
        self._position = self._target = 0
        self.playing = False
        """Whether frames follow each other by themselves."""
        self.just_opened: VideoInfo | None = None
        """Set by `poll` when a source was opened for the first time; the caller resets it."""

    @property
    def text(self) -> str:
        """Name of the source; empty if nothing is open."""
        return self._text

    @property
    def _packets(self) -> Prefetch | None:
        return self._state.packets if isinstance(self._state, _Delivering | _Ended) else None

    @property
    def info(self) -> VideoInfo | None:
        """Description of the source; None while it is not open."""
        return None if self._packets is None else self._packets.info

    @property
    def rate_hz(self) -> float | None:
        """Frame rate of the source; None if unknown."""
        return None if self.info is None else self.info.rate_hz

    @property
    def opening(self) -> bool:
        """Whether a source is being opened or sought."""
        return isinstance(self._state, _Opening)

    @property
    def trouble(self) -> str | None:
        """Why the source delivers nothing, if it should."""
        return None if self._packets is None else self._packets.trouble

    @property
    def dropped(self) -> int:
        """Frames that a live source delivered too fast."""
        return 0 if self._packets is None else self._packets.dropped

    @property
    def position(self) -> int:
        """0-based index of the latest frame."""
        return self._position

    @property
    def target(self) -> int:
        """0-based index of the frame being sought, else of the latest frame."""
        return self._target

    @property
    def owed(self) -> int:
        """Frames that will still be delivered while paused."""
        return self._owed

    @property
    def count(self) -> int | None:
        """Frames in the source, if known."""
        return self._timeline.count

    @property
    def is_last(self) -> bool:
        """Whether the latest frame is the last, as far as the length of the source is known."""
        return self._timeline.count is not None and self._position >= self._timeline.count - 1

    def since_begin_s(self, time_s: float) -> float:
        """Return a time of the source as one since its first frame."""
        return time_s - self._timeline.origin[0] if self._timeline.origin else time_s

    def open(self, text: str) -> None:
        """Open another source; the present one is closed."""
        self._text, self._timeline = text, _Timeline()
        self._position = self._target = 0
        self._owed = 0
        self.playing = True
        self._reopen(None, Arrival.NEXT)

    def close_source(self) -> None:
        """Close the source."""
        self.playing, self._text = False, ""
        state, self._state = self._state, _Closed()
        if isinstance(state, _Opening):
            state.thread.close()
        elif isinstance(state, _Delivering | _Ended):
            state.packets.close()

    def close_broken(self) -> None:
        """Close a source that failed; its name stays, so that it can be opened again."""
        text = self._text
        self.close_source()
        self._text = text

    def play(self) -> None:
        """Let frames follow each other; from the beginning if the end was reached."""
        if isinstance(self._state, _Ended):
            self.seek(0, Arrival.BEGUN_AGAIN)
            self._owed = 0
        self.playing = bool(self._text)
        self._clock.restart()

    def pause(self, *, at_once: bool = False) -> None:
        """Hold the image, `at_once` if frames were still to be delivered; a live source goes on unseen."""
        self.playing = False
        self._owed = 0 if at_once else self._owed

    def step(self) -> None:
        """Ask for one more frame, and pause."""
        self.playing = False
        if not isinstance(self._state, _Closed):
            self._owed = 1

    def replay(self, index: int, frames: int) -> None:
        """Pause, go to a 0-based frame index and deliver this many frames from there, as fast as they come."""
        self.playing = False
        self.seek(index, Arrival.REPLAYED)
        self._owed = frames

    def seek(self, index: int, arrival: Arrival = Arrival.SOUGHT) -> None:
        """Go to a 0-based frame index; while one jump is under way only the newest request is kept."""
        if not self._text or (self.info is not None and self.info.live):
            return
        self._target = self._clamp(index)
        self._owed = 0 if self.playing else 1
        if self.opening or self._timeline.origin is None:  # the first frame gives the time of an index
            self._pending_seek = self._target, arrival
        else:
            self._jump(self._target, arrival)

    def poll(self, speed: float, loop: bool, part: tuple[float, float] | None = None) -> PlayedFrame | float:
        """Return the next frame if its time has come, else for how many seconds there is nothing to do.

        Parameters
        ----------
        speed : float
            Times real time, for files.
        loop : bool
            Whether to begin again at the end.
        part : (float, float), optional
            First and last second to play again and again, since the first frame.

        Raises
        ------
        SourceError
            If the source cannot be opened or is lost; it is closed then.
        """
        if isinstance(self._state, _Opening) and not self._finish_opening(self._state, part):
            return math.inf
        state = self._state
        if not isinstance(state, _Delivering):
            return math.inf
        live = state.packets.info.live
        if not (self.playing or self._owed or live):
            return math.inf
        packet = state.waiting or self._fetch(state, loop or part is not None, self._begin_of(part))
        if packet is None:
            return 0.0
        state.waiting = packet
        if self._pending_seek is not None:
            self._jump(*self._pending_seek)
            return math.inf
        if part is not None and self.playing and not live and self.since_begin_s(packet.time_s) > part[1] + _SAME_S:
            self._jump(self._begin_of(part), Arrival.LOOPED)
            return math.inf
        now = due = time.perf_counter()
        if self.playing and not live and not math.isinf(speed):
            due = self._clock.due(packet.time_s, speed, now)
        else:
            self._clock.restart()
        if due > now:
            return due - now
        arrival, state.waiting, state.arrival = state.arrival, None, Arrival.NEXT
        self._owed = 0 if self.playing else max(0, self._owed - 1)
        self._position = self._target = self._timeline.index_of(packet, self.rate_hz)
        return PlayedFrame(packet, due, arrival, self._position)

    def _begin_of(self, part: tuple[float, float] | None) -> int:
        """Return the index of the first frame of a part."""
        return 0 if part is None else round(part[0] * (self.rate_hz or DEFAULT_RATE_HZ))

    def _fetch(self, state: _Delivering, loop: bool, begin: int) -> Packet | None:
        """Return the next packet if there is one now; those of a paused live source are dropped."""
        if not state.packets.ready(_PATIENCE_S):
            return None
        try:
            packet = state.packets.read()
        except BaseException:
            self.close_broken()
            raise
        if packet is None:
            self._end(state, loop, begin)
            return None
        self._timeline.origin = self._timeline.origin or (packet.time_s, packet.number)
        if state.packets.info.live and not self.playing and not self._owed:
            return None
        return packet

    def _end(self, state: _Delivering, loop: bool, begin: int) -> None:
        if loop and self.playing:
            self._jump(begin, Arrival.LOOPED)
            return
        self.playing, self._owed = False, 0
        self._state = _Ended(state.packets)

    def _clamp(self, index: int) -> int:
        return max(0, min(index, self._timeline.count - 1) if self._timeline.count else index)

    def _jump(self, index: int, arrival: Arrival) -> None:
        start = None if self.info is None else self._timeline.start_of(self._clamp(index), self.rate_hz)
        self._reopen(start, arrival)

    def _reopen(self, start: float | None, arrival: Arrival) -> None:
        state = self._state
        previous: Closable | None = None
        if isinstance(state, _Opening):
            previous = state.thread
        elif isinstance(state, _Delivering | _Ended):
            previous = state.packets
        self._clock.restart()
        self._pending_seek = None
        thread = OpeningThread(self.opener, self._text, start, previous, self._wake)
        self._state = _Opening(thread, arrival)

    def _finish_opening(self, opening: _Opening, part: tuple[float, float] | None) -> bool:
        """Begin to deliver if the source is open by now; False if frames have to wait."""
        if not opening.thread.is_done:
            return False
        try:
            packets = opening.thread.result()
        except BaseException:
            self.close_broken()
            raise
        self._state = _Delivering(packets, opening.arrival)
        if self._timeline.origin is None:
            self.just_opened = packets.info
            self._timeline.count = packets.info.count  # after a jump the source counts only the frames left
            if self.playing and not packets.info.live and self._begin_of(part):
                self._pending_seek = self._begin_of(part), Arrival.SOUGHT
        elif self._pending_seek is not None:
            self._jump(*self._pending_seek)
            return False
        return True
