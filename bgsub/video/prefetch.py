"""The capture thread: reads a source ahead of the model through a bounded queue."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

from bgsub.frames import Packet, VideoInfo
from bgsub.video.sources.base import FrameSource

__all__ = ["Prefetch", "Unbuffered"]

logger = logging.getLogger(__name__)

_WAKE_S = 0.25  # longest single wait, so that Ctrl-C and `stop` are noticed on every system
_JOIN_S = 6.0  # longer than the stall timeout of a stream


class Prefetch:
    """Read a source on a separate thread.

    From then on the source belongs to that thread, which closes it.

    Parameters
    ----------
    source : FrameSource
        The source to read.
    depth : int
        Largest number of frames to hold.
    newest : bool, optional
        Behaviour when the queue is full: True drops the oldest frame and counts it, False lets the source wait. By
        default live sources drop and files wait.
    stop : callable, optional
        Asked by `read` on the reader's thread; when it returns True, there are no more frames.

    Raises
    ------
    ValueError
        If the depth is less than 1.

    Examples
    --------
    >>> import numpy as np
    >>> from bgsub.frames import Packet, VideoInfo
    >>> class Three(FrameSource):
    ...     info = VideoInfo("three", count=3)
    ...     packets = iter([Packet(i, i / 25, np.zeros((2, 2), np.uint8), i + 1) for i in range(3)])
    ...
    ...     def read(self):
    ...         return next(self.packets, None)
    >>> with Prefetch(Three()) as packets:
    ...     [packet.number for packet in packets]
    [1, 2, 3]
    """

    def __init__(
        self,
        source: FrameSource,
        depth: int = 4,
        newest: bool | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        if depth < 1:
            raise ValueError(f"depth must be at least 1, got {depth}")
        self._source = source
        self._info = source.info
        self._depth = depth
        self._newest = self._info.live if newest is None else newest
        self._queue: deque[Packet] = deque()
        self._changed = threading.Condition()
        self._stop = False
        self._is_over = stop or (lambda: False)
        self._ended = False
        self._error: BaseException | None = None
        self._dropped = 0
        self._thread = threading.Thread(target=self._capture, name=f"bgsub-capture-{self._info.name}", daemon=True)
        self._thread.start()

    @property
    def info(self) -> VideoInfo:
        """The description of the source."""
        return self._info

    @property
    def dropped(self) -> int:
        """Number of frames dropped because the reader was slow."""
        return self._dropped

    @property
    def trouble(self) -> str | None:
        """Reason why the source delivers nothing, such as a lost camera; None in normal operation."""
        return self._source.trouble

    @property
    def end_verified(self) -> bool:
        """Whether it is certain, once `read` has returned None, that no frame is missing."""
        return self._source.end_verified

    def ready(self, timeout_s: float = 0.0) -> bool:
        """Return whether `read` would return or raise at once, after waiting for that if necessary.

        Parameters
        ----------
        timeout_s : float
            Longest wait in seconds.
        """
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._queue) or self._ended or self._stop, timeout_s)

    def read(self) -> Packet | None:
        """Return the next frame, waiting for it; None at the end, and after `close` or when `stop` asks for it.

        Raises
        ------
        BaseException
            Any error of the source, after the frames delivered before it.
        """
        with self._changed:
            while not (self._queue or self._ended or self._stop or self._is_over()):
                self._changed.wait(_WAKE_S)
            if self._stop or self._is_over():
                return None
            if self._queue:
                packet = self._queue.popleft()
                self._changed.notify_all()
                return packet
            error, self._error = self._error, None
        if error is not None:
            raise error
        return None

    def close(self) -> None:
        """Stop and join the thread, which closes the source. Closing twice is allowed."""
        with self._changed:
            self._stop = True
            self._queue.clear()
            self._changed.notify_all()
        self._source.interrupt()
        self._thread.join(_JOIN_S)
        if self._thread.is_alive():
            logger.warning("%s does not respond; its thread ends with the next frame", self._info.name)

    def __iter__(self) -> Iterator[Packet]:
        while (packet := self.read()) is not None:
            yield packet

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _capture(self) -> None:
        error: BaseException | None = None
        try:
            with self._source:
                while not self._stop and (packet := self._source.read()) is not None:
                    self._put(packet)
        except BaseException as caught:  # noqa: BLE001 - raised again by the reader
            error = caught
        with self._changed:
            self._error = error
            self._ended = True
            self._changed.notify_all()

    def _put(self, packet: Packet) -> None:
        with self._changed:
            if self._newest and len(self._queue) >= self._depth:
                self._queue.popleft()
                self._dropped += 1
            while len(self._queue) >= self._depth and not self._stop:
                self._changed.wait(_WAKE_S)
            if not self._stop:
                self._queue.append(packet)
                self._changed.notify_all()


class Unbuffered:
    """Read a source on the reader's thread, frame by frame, with what `Prefetch` has for files.

    Parameters
    ----------
    source : FrameSource
        The source to read; `close` closes it.
    stop : callable, optional
        Asked before each frame; when it returns True, there are no more frames.
    """

    dropped = 0
    """Nothing is dropped."""

    def __init__(self, source: FrameSource, stop: Callable[[], bool] | None = None) -> None:
        self._source = source
        self._is_over = stop or (lambda: False)

    @property
    def info(self) -> VideoInfo:
        """The description of the source."""
        return self._source.info

    @property
    def end_verified(self) -> bool:
        """Whether it is certain, once there are no more frames, that no frame is missing."""
        return self._source.end_verified

    def close(self) -> None:
        """Close the source."""
        self._source.close()

    def __iter__(self) -> Iterator[Packet]:
        while not self._is_over() and (packet := self._source.read()) is not None:
            yield packet

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
