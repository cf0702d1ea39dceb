"""A folder that a recorder fills, as one live source: its newest file, and each that follows."""

import threading
import time

from bgsub.errors import SourceError
from bgsub.frames import Packet, VideoInfo
from bgsub.video.sources import FrameSource
from bgsub.watching.cameras.feeds import Piece, Segments
from bgsub.watching.settings import CameraSettings

__all__ = ["FollowedFolder"]

_HURRY = 2.0  # times real time while a later file waits
_LOOK_S = 1.0  # between two looks at the folder while a file plays
_LATE_S = 1.0  # a longer delay is not made up for


class FollowedFolder(FrameSource):
    """Plays the newest complete file of a folder at its speed, and then each file that comes.

    Nothing is written or remembered. While later files wait, frames come twice as fast. When all were played, `read`
    waits for the next.

    Parameters
    ----------
    settings : CameraSettings
        Of a camera with a folder.

    Raises
    ------
    SourceError
        If the folder holds no complete file yet, or its newest one cannot be opened.
    """

    def __init__(self, settings: CameraSettings) -> None:
        self._settings = settings
        self._stop = threading.Event()
        self._trouble = ""
        self._segments = Segments(settings, None, self._stop.wait, self._report)
        self._pieces = iter(self._segments)
        piece = self._segments.newest()
        if piece is None:
            raise SourceError(self._trouble or f"{settings.source} holds no complete video yet; one is waited for")
        self._piece: Piece | None = piece
        found = piece.source.info
        self._info = VideoInfo(settings.name, found.size, found.rate_hz, None, live=True)
        self._anchor: tuple[float, float, float] | None = None
        """Real time, time of a frame, and speed from which on both run together."""
        self._speed, self._looked_s = 1.0, time.monotonic()
        self._count, self._offset_s, self._last_s = 0, 0.0, -1.0

    @property
    def info(self) -> VideoInfo:
        """The camera's name, with size and rate of the file that was the newest."""
        return self._info

    @property
    def trouble(self) -> str | None:
        """Why no file comes, such as a folder that has gone."""
        return self._trouble or None

    def read(self) -> Packet | None:
        """Return the next frame when it is due.

        Raises
        ------
        SourceError
            If a file is damaged, or its frames have another size than those before.
        """
        while not self._stop.is_set():
            if self._piece is None:
                self._piece = next(self._pieces, None)
                if self._piece is None:
                    return None
                self._begin_piece(self._piece)
            packet = self._piece.source.read()
            if packet is not None:
                return self._pace(packet)
            self._piece.source.close()
            self._piece = None
        return None

    def interrupt(self) -> None:
        """Let a `read` that waits return None."""
        self._stop.set()

    def close(self) -> None:
        """Close the file that is open."""
        self._stop.set()
        if self._piece is not None:
            self._piece.source.close()
            self._piece = None

    def _report(self, reason: str) -> None:
        self._trouble = reason

    def _begin_piece(self, piece: Piece) -> None:
        """Let the times of a file go on after those of the file before."""
        size = piece.source.info.size
        if size != self._info.size:
            piece.source.close()
            self._piece = None
            raise SourceError(f"the frame size of {self._settings.name} changes from {self._info.size} to {size}")
        self._trouble = ""
        self._offset_s = self._last_s + 1 / (self._info.rate_hz or 25.0)
        self._anchor = None

    def _pace(self, packet: Packet) -> Packet | None:
        """Wait until a frame is due, and number it."""
        time_s = max(self._offset_s + packet.time_s, self._last_s + 1e-6)
        now_s = time.monotonic()
        if now_s - self._looked_s >= _LOOK_S:
            self._looked_s, self._speed = now_s, _HURRY if self._segments.is_behind else 1.0
        speed = self._speed
        if self._anchor is None or self._anchor[2] != speed:
            self._anchor = now_s, time_s, speed
        wait_s = self._anchor[0] + (time_s - self._anchor[1]) / speed - now_s
        if wait_s < -_LATE_S:
            self._anchor = now_s, time_s, speed
        if self._stop.wait(max(0.0, wait_s)):
            return None
        self._last_s, self._count = time_s, self._count + 1
        return Packet(self._count - 1, time_s, packet.frame, self._count)
