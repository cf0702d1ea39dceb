"""Signals that end a command: its outputs are closed first, and what is not complete is named."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from bgsub.frames import Result
    from bgsub.video.sinks.base import Sink

__all__ = ["INTERRUPTED", "Interrupts", "TrackedOutput"]

INTERRUPTED = 128
"""Exit code of an interrupted command, less the number of the signal: 130 for SIGINT, as shells have it."""

_SAME_S = 1.0
"""Signals that follow each other as quickly are one wish: shells and `timeout` pass them on to whole groups."""


class Interrupts:
    """Signals received, and outputs that are not complete yet.

    Before anything is written a signal raises KeyboardInterrupt wherever the program is. From then on it only sets a
    flag, which the run asks for between two frames, so that nothing interrupts the closing of outputs. Another signal
    ends the process at once, and names the outputs that are lost.
    """

    def __init__(self) -> None:
        self._number: int | None = None
        self._first_s = 0.0
        self._holding = False
        self._outputs: dict[str, bool] = {}

    def install(self) -> None:
        """Handle SIGINT, SIGTERM and SIGHUP, apart from those that the process was started to ignore (`nohup`)."""
        for number in self._numbers():
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._handle)

    def ignore(self) -> None:
        """Ignore signals from now on: all is done, and ending the process takes a moment."""
        for number in self._numbers():
            signal.signal(number, signal.SIG_IGN)

    @property
    def requested(self) -> bool:
        """Whether a signal asks for the end."""
        return self._number is not None

    @property
    def exit_code(self) -> int:
        """The exit code of a command that was interrupted."""
        return INTERRUPTED + (self._number or signal.SIGINT)

    @property
    def message(self) -> str:
        """One line on what the interrupted command leaves behind."""
        lost = [name for name, complete in self._outputs.items() if not complete]
        if lost:
            return f"bgsub: interrupted; not complete: {', '.join(lost)}"
        if self._outputs:
            return "bgsub: interrupted; outputs written so far are closed and complete"
        return "bgsub: interrupted"

    def begin(self, output: str) -> None:
        """Note that an output is being written; from now on signals wait for it."""
        self._holding = True
        self._outputs[output] = False

    def complete(self, output: str) -> None:
        """Note that an output is complete."""
        self._outputs[output] = True

    @contextmanager
    def closing(self) -> Iterator[None]:
        """Raise KeyboardInterrupt after a block that has closed its outputs, if a signal had to wait for them."""
        yield
        self._holding = False
        if self.requested:
            raise KeyboardInterrupt

    @staticmethod
    def _numbers() -> list[int]:
        names = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP
        return [getattr(signal, name) for name in names if hasattr(signal, name)]

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._number is None:
            self._number, self._first_s = number, now
            if not self._holding:
                raise KeyboardInterrupt
        elif now - self._first_s > _SAME_S:
            self._abandon()

    def _abandon(self) -> NoReturn:
        """End the process now; an exception would be raised in the middle of whatever is being closed."""
        with suppress(OSError):  # nobody reads it
            os.write(2, f"{self.message}\n".encode(errors="backslashreplace"))
        os._exit(self.exit_code)


class TrackedOutput:
    """A sink that passes results on to another, and notes when the output is complete.

    Parameters
    ----------
    sink : Sink
        Writes the output.
    name : str
        Its name in messages.
    interrupts : Interrupts
        Where to note it.
    """

    def __init__(self, sink: "Sink", name: str, interrupts: Interrupts) -> None:
        self._sink, self._name, self._interrupts = sink, name, interrupts
        self._begun = False
        self.any_thread, self.wants_score = sink.any_thread, sink.wants_score

    def write(self, result: "Result") -> None:
        """Write one result."""
        if not self._begun:
            self._begun = True
            self._interrupts.begin(self._name)
        self._sink.write(result)

    def close(self) -> None:
        """Finish the output."""
        self._sink.close()
        if self._begun:
            self._interrupts.complete(self._name)
