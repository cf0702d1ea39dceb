"""The base class of all sources of frames."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Protocol, Self

from bgsub.frames import Frame, Packet, VideoInfo
from bgsub.video.sources.position import Position

if TYPE_CHECKING:
    import av
    from av.video.stream import VideoStream

__all__ = ["FrameSource", "Grab", "LazySource", "PacketReceiver", "SourceOptions"]


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The settings of `open_source` that are passed on to the class of the source."""

    rate_hz: float | None = None
    """Rate of an image sequence, or to request from a camera."""
    size: tuple[int, int] | None = None
    """(height, width) to request from a camera."""
    reconnects: int = 8
    """Attempts in a row to open a lost camera or stream again."""
    stall_timeout_s: float = 5.0
    """Time without data after which a stream counts as lost."""
    auth: str | None = field(default=None, repr=False)
    """``user:password`` for an address that has none."""


@dataclass(frozen=True, slots=True)
class Grab:
    """One frame a source has stepped to; its pixels are made only on request."""

    number: int
    time_s: float
    retrieve: Callable[[], Frame]
    """Convert the frame; to be called at most once, before the next frame is grabbed."""


class PacketReceiver(Protocol):
    """What keeps the encoded packets of a source; it is called on the thread that reads the source."""

    def begin(self, stream: "VideoStream") -> None:
        """Take notice of a connection: the packets that follow are of this stream, which lives as long as it."""

    def add(self, packet: "av.Packet[VideoStream]", offset_s: float) -> None:
        """Take the next packet; with the offset its times are those of the frames."""


class FrameSource(ABC):
    """One video, image sequence, stream or camera, read frame by frame on one thread.

    A subclass provides `info` and `read`, and `close` if there is something to release. The other methods
    have defaults that are right, if not the fastest, for every source.

    For `open_source` to find it, a subclass also provides `text_form` and `accepts`, and `from_text` if its
    constructor needs more than the text. It is registered by one line in `bgsub/video/sources/open.py`, or by another
    package as an entry point of the group `bgsub.sources`.
    """

    text_form: ClassVar[str] = ""
    """Form of the text that it accepts, for help and messages, such as ``camera:0``."""
    uses: ClassVar[frozenset[str]] = frozenset()
    """Which of the options `rate_hz`, `size` and `auth` apply to it."""
    asked_last: ClassVar[bool] = False
    """Whether it accepts texts that a more special kind may claim, such as any file name."""

    @classmethod
    def accepts(cls, text: str) -> bool:
        """Return whether the text names a source of this kind; nothing is opened."""
        return False

    @classmethod
    def from_text(cls, text: str, options: SourceOptions) -> "FrameSource":
        """Open the source that an accepted text names; by default the constructor gets the text.

        Raises
        ------
        SourceError
            If it cannot be opened.
        """
        return cls(text)  # type: ignore[call-arg]

    @property
    @abstractmethod
    def info(self) -> VideoInfo:
        """Name, frame size, rate and number of frames, as far as known."""

    @property
    def trouble(self) -> str | None:
        """Reason why a live source delivers nothing, such as a lost camera; None in normal operation.

        Like `interrupt` it may be used from any thread.
        """
        return None

    @property
    def end_verified(self) -> bool:
        """Whether it is certain, once `read` has returned None, that no frame is missing.

        False where the container states neither length nor end, such as MPEG-TS: it may have been cut off.
        """
        return False

    @property
    def can_reopen(self) -> bool:
        """Whether opening it again gives the same frames, unlike a camera, a live stream or a pipe."""
        return not self.info.live

    @abstractmethod
    def read(self) -> Packet | None:
        """Return the next frame, or None at the end.

        Raises
        ------
        SourceError
            If the source is damaged or lost; the frames before were delivered.
        """

    def close(self) -> None:  # noqa: B027 - a source without resources has nothing to close
        """Release file or device. Closing twice is allowed."""

    def pass_packets(self, receiver: PacketReceiver) -> bool:
        """Pass on the encoded packets, too, so that they can be stored without encoding frames again.

        To be called before the first `read`. A packet is passed before the frames that are decoded from it.

        Returns
        -------
        bool
            Whether this source has packets: live streams that PyAV reads do.
        """
        return False

    def interrupt(self) -> None:  # noqa: B027 - a source that never waits has nothing to do
        """Ask a `read` that waits in another thread to return None soon.

        Apart from `trouble`, only this method may be called from a thread other than the reader's.
        """

    def grab(self) -> Grab | None:
        """Step to the next frame without converting its pixels where that is possible; None at the end."""
        packet = self.read()
        return None if packet is None else Grab(packet.number, packet.time_s, lambda: packet.frame)

    def seek(self, start: Position) -> None:  # noqa: B027 - reading on from here is always right
        """Move to the frame at `start` or to one before it; to be called before the first `read`."""

    def count_between(self, start: Position | None, end: Position | None) -> int | None:
        """Return the number of frames from `start` to `end`, both included, or None if it is unknown."""
        count, rate = self.info.count, self.info.rate_hz
        last = count if end is None else end.estimate_number(rate)
        first = 1 if start is None else start.estimate_number(rate)
        if first is None or last is None:
            return None
        return max(0, (last if count is None else min(last, count)) - max(first, 1) + 1)

    def __iter__(self) -> Iterator[Packet]:
        while (packet := self.read()) is not None:
            yield packet

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class LazySource(FrameSource):
    """A source that implements `grab` and gets `read` from it."""

    _delivered = 0

    @abstractmethod
    def grab(self) -> Grab | None:
        """Step to the next frame; None at the end."""

    def read(self) -> Packet | None:
        """Return the next frame, or None at the end."""
        grab = self.grab()
        if grab is None:
            return None
        packet = Packet(index=self._delivered, time_s=grab.time_s, frame=grab.retrieve(), number=grab.number)
        self._delivered += 1
        return packet
