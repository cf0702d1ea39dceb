"""Open a source on a separate thread, so that neither window nor worker waits for it."""

import threading
from collections.abc import Callable
from typing import Protocol

from bgsub.gui.messages import Sampling
from bgsub.video._credentials import SCHEMES as AUTH_SCHEMES
from bgsub.video.prefetch import Prefetch
from bgsub.video.sources import FrameSource, Slice, open_source, public_name

__all__ = ["Closable", "Opener", "OpeningThread", "Sampled", "open_for_viewer"]

_JOIN_S = 15.0  # longer than a connection attempt and a capture thread may take
_UNLIMITED = 1_000_000
"""Attempts to reconnect to a lost camera: the user decides when to stop."""

_FILE_DEPTH, _LIVE_DEPTH = 4, 1  # of a camera only the newest frame waits: the image shown is fresh


class Opener(Protocol):
    """Opens a source by name, like `open_source`."""

    def __call__(self, text: str, /, *, start: float | None) -> FrameSource:
        """Open `text` at a time in seconds, or at its beginning."""


class Sampled:
    """Opens sources as another opener does, with fewer or smaller frames.

    Parameters
    ----------
    opener : Opener
        Opens them as they are.
    sampling : Sampling
        What is made of them.
    """

    def __init__(self, opener: Opener, sampling: Sampling) -> None:
        self._opener, self._sampling = opener, sampling
        self.scale = sampling.scale
        """Factor by which the frames of the source opened last are made smaller."""

    def __call__(self, text: str, /, *, start: float | None) -> FrameSource:
        """Open `text` at a time in seconds, or at its beginning."""
        source = self._opener(text, start=start)
        try:
            self.scale, skip = self._sampling.of(source.info)
            return source if (self.scale, skip) == (1, 1) else Slice(source, skip=skip, scale=self.scale)
        except BaseException:
            source.close()
            raise


class Closable(Protocol):
    """An object to close."""

    def close(self) -> None:
        """Release it."""


class OpeningThread:
    """Opens a source on a separate thread, after the previous one is closed.

    Parameters
    ----------
    opener : Opener
        Opens the source.
    text : str
        Name of the source.
    start : float, optional
        Time in seconds to begin at; the beginning by default.
    previous : Closable, optional
        What has to be closed first.
    wake : callable
        Called on this thread at the end.
    """

    def __init__(
        self,
        opener: Opener,
        text: str,
        start: float | None,
        previous: Closable | None,
        wake: Callable[[], None],
    ) -> None:
        self._opener, self._text, self._start, self._previous = opener, text, start, previous
        self._wake = wake
        self._cancelled = False
        self._lock = threading.Lock()
        self._packets: Prefetch | None = None
        self._error: BaseException | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"bgsub-open-{public_name(text)}", daemon=True)
        self._thread.start()

    @property
    def is_done(self) -> bool:
        """Whether `result` returns at once."""
        return self._done.is_set()

    def result(self) -> Prefetch:
        """Return the open source, or raise the error that prevented it."""
        self._thread.join()
        if self._packets is None:
            raise self._error or RuntimeError("the opening was cancelled")
        return self._packets

    def close(self) -> None:
        """Close the source, even if it is not open yet."""
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


def open_for_viewer(
    text: str, /, *, start: float | None, auth: str | None = None, stall_timeout_s: float = 5.0
) -> FrameSource:
    """Open a source as `open_source` does; a lost camera is opened again until the user stops it.

    `auth` is for the addresses that may have credentials.
    """
    own = auth is not None and text.partition("://")[0].lower() in AUTH_SCHEMES
    used = auth if own else None
    return open_source(text, start=start, reconnects=_UNLIMITED, stall_timeout_s=stall_timeout_s, auth=used)
