"""The worker's thread: runs the engine, and commands between two frames."""

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable

from bgsub.gui.engine.engine import Engine
from bgsub.gui.engine.opening import Opener
from bgsub.gui.engine.processing.budget import Budget
from bgsub.gui.messages import Event, Settings, View

__all__ = ["Worker"]

logger = logging.getLogger(__name__)

_HAND_OVER_S = 1e-4  # without it the caller, which shows the change, keeps Python's lock for a millisecond
_JOIN_S = 30.0  # the longest a frame, a closing file and a dead stream may take together


class Worker:
    """Runs an engine on a separate thread.

    Parameters
    ----------
    put, send : callable
        Receive views and events, on the worker's thread.
    opener : Opener
        Opens sources.
    settings : Settings
        Initial settings.
    budget : Budget, optional
        Memory for past frames.
    """

    def __init__(
        self,
        put: Callable[[View], None],
        send: Callable[[Event], None],
        opener: Opener,
        settings: Settings,
        budget: Budget | None = None,
    ) -> None:
        self._changed = threading.Condition()
        self._commands: deque[Callable[[], None]] = deque()
        self._settings: Settings | None = None
        self._woken = self._stop = False
        self.engine = Engine(put, send, self._wake, opener, settings, budget)
        """Its histories may be read from any thread, everything else only by commands."""
        self._thread = threading.Thread(target=self._run, name="bgsub-view", daemon=True)
        self._thread.start()

    def apply(self, settings: Settings) -> None:
        """Use these settings from the next frame on; of several only the newest counts."""
        with self._changed:
            self._settings = settings
            self._changed.notify_all()
        time.sleep(_HAND_OVER_S)

    def post(self, command: Callable[[], None]) -> None:
        """Call something between two frames, after the settings applied before."""
        with self._changed:
            if self._settings is not None:
                settings, self._settings = self._settings, None
                self._commands.append(lambda: self.engine.apply(settings))
            self._commands.append(command)
            self._changed.notify_all()

    def ask_to_end(self) -> None:
        """Let the thread end, after the frame that it is at."""
        with self._changed:
            self._stop = True
            self._changed.notify_all()

    def close(self) -> None:
        """Finish recordings, close the source and join the thread. Closing twice does no harm."""
        self.ask_to_end()
        self._thread.join(_JOIN_S)
        if self._thread.is_alive():
            logger.warning("the worker does not answer; its thread ends with the next frame")

    def _wake(self) -> None:
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def _run(self) -> None:
        try:
            while not self._stop:
                try:
                    for command in self._pending_commands():
                        command()
                    wait_s = 0.0 if self._stop else self.engine.advance()
                except Exception as error:  # noqa: BLE001 - a defect must not end the thread in silence
                    self.engine.report(error)
                    continue
                self._wait(wait_s)
        finally:
            self.engine.close()

    def _pending_commands(self) -> list[Callable[[], None]]:
        with self._changed:
            commands = list(self._commands)
            self._commands.clear()
            settings, self._settings = self._settings, None
            self._woken = False
        if settings is not None:
            commands.append(lambda: self.engine.apply(settings))
        return commands

    def _wait(self, seconds: float) -> None:
        if seconds <= 0:
            return
        with self._changed:
            self._changed.wait_for(
                lambda: bool(self._stop or self._woken or self._commands or self._settings is not None),
                None if math.isinf(seconds) else seconds,
            )
