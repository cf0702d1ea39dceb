"""A thread that delivers events one after the other, and tries again, with growing pauses, until they are received."""

import logging
import threading
from typing import Protocol

from bgsub.errors import BgsubError, SinkError
from bgsub.watching.delivery.event_log import Cursor, EventLog, Record

__all__ = ["Delivery", "DeliveryError", "RefusedError", "Sender"]

logger = logging.getLogger(__name__)

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 60.0
_WAKE_S = 1.0


class DeliveryError(BgsubError):
    """An event could not be delivered; it is tried again."""

    def __init__(self, message: str, wait_s: float = 0.0) -> None:
        super().__init__(message)
        self.wait_s = wait_s
        """Least time to wait, as the receiver asks for."""


class RefusedError(BgsubError):
    """The receiver will never take this event."""


class Sender(Protocol):
    """What delivers an event."""

    name: str
    """For messages and metrics."""

    def send(self, record: Record) -> None:
        """Deliver an event, and return when the receiver has acknowledged it.

        Raises
        ------
        DeliveryError
            If that failed.
        RefusedError
            If trying again would be in vain.
        """

    def interrupt(self) -> None:
        """Let a `send` on another thread fail soon."""

    @property
    def trouble(self) -> str | None:
        """Why the receiver cannot be reached at present, as far as that is known without an event."""

    def close(self) -> None:
        """Release what is held."""


class Delivery:
    """Delivers all events of a log, in order, each until it is acknowledged.

    Parameters
    ----------
    log : EventLog
        Where events come from.
    cursor : Cursor
        What is delivered already.
    sender : Sender
        Closed with this.
    """

    def __init__(self, log: EventLog, cursor: Cursor, sender: Sender) -> None:
        self._log, self._cursor, self._sender = log, cursor, sender
        self.name = sender.name
        self.delivered = self.refused = self.failures = 0
        self._trouble: str | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"bgsub-deliver-{sender.name}", daemon=True)

    @property
    def pending(self) -> int:
        """Events that wait to be delivered."""
        return self._cursor.pending

    @property
    def dropped(self) -> int:
        """Events that were removed before they were delivered."""
        return self._cursor.dropped

    @property
    def trouble(self) -> str | None:
        """Why nothing is delivered at present."""
        return self._trouble or self._sender.trouble

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self, patience_s: float = 5.0) -> None:
        """Deliver what waits, if that succeeds at once, and end. What is left is delivered by the next run."""
        if self._thread.ident is not None:
            self._stop.set()
            with self._log.changed:
                self._log.changed.notify_all()
            self._thread.join(patience_s)
            if self._thread.is_alive():
                self._sender.interrupt()
                self._thread.join(patience_s)
        self._sender.close()
        if self.pending:
            logger.info("%d events for %s wait for the next run", self.pending, self.name)

    def _run(self) -> None:
        pause_s = FIRST_PAUSE_S
        while True:
            record = self._next()
            if record is None:
                return
            try:
                self._sender.send(record)
            except RefusedError as error:
                self.refused += 1
                logger.error("event %s is refused and left out: %s", record.id, error)
            except DeliveryError as error:
                self._note(error)
                if self._stop.wait(max(pause_s, error.wait_s)):
                    return
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
                continue
            else:
                self.delivered += 1
            pause_s = FIRST_PAUSE_S
            if self._trouble is not None:
                self._trouble = None
                logger.warning("%s receives events again", self.name)
            self._acknowledge(record)

    def _note(self, error: DeliveryError) -> None:
        self.failures += 1
        if self._trouble is None:
            logger.warning("%s; %d events wait and are tried again", error, self.pending)
        self._trouble = str(error)

    def _next(self) -> Record | None:
        """Wait for the next event; None when all are delivered and the end was asked for."""
        with self._log.changed:
            while (record := self._cursor.next()) is None and not self._stop.is_set():
                self._log.changed.wait(_WAKE_S)
            return record

    def _acknowledge(self, record: Record) -> None:
        try:
            self._cursor.acknowledge(record)
        except SinkError as error:  # a full disk: should the process end now, the event is delivered twice
            logger.error("%s", error)
