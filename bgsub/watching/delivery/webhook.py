"""Events posted by HTTP."""

import base64
import contextlib
import http.client
import io
import socket
import threading
from typing import Any
from urllib.parse import unquote, urlsplit

from bgsub import __version__
from bgsub.video._text import public_name
from bgsub.watching.delivery.event_log import Record
from bgsub.watching.delivery.worker import DeliveryError, RefusedError
from bgsub.watching.settings import WebhookSettings

__all__ = ["Webhook"]

_NEVER = (400, 405, 406, 410, 411, 413, 414, 415, 422)
"""Statuses that are about this request: the same one would be refused again. Others, such as 404, can be put right."""

_LONGEST_WAIT_S = 600.0


class _Lines(io.BufferedReader):
    """Reads the head of an answer: one that ends before its empty line, or is cut off by our own timeout, is none."""

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        if not line.endswith(b"\n") and len(line) != size:
            raise http.client.RemoteDisconnected("its answer is not complete")
        return line


class _Answer(http.client.HTTPResponse):
    """An answer whose head is complete; that of the library takes one that is cut off for whole."""

    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self.fp = _Lines(self.fp.detach())


class Webhook:
    """Posts each event as JSON; any status from 200 to 299 acknowledges it.

    Each request has the id of the event in the header ``Idempotency-Key``: whoever keeps it recognises an event that
    comes again, because the acknowledgement was lost. Redirections are not followed, since credentials would go with
    them.

    Parameters
    ----------
    settings : WebhookSettings
    """

    name = "webhook"
    trouble: str | None = None

    def __init__(self, settings: WebhookSettings) -> None:
        self._settings = settings
        self._shown = public_name(settings.url)
        self._lock = threading.Lock()
        self._connection: http.client.HTTPConnection | None = None
        self._interrupted = False

    def send(self, record: Record) -> None:
        """Post one event.

        Raises
        ------
        DeliveryError
            If it is not acknowledged.
        RefusedError
            If it never will be.
        """
        # The timeout of a socket is that of one read: a receiver that sends a byte now and then would hold for ever.
        watchdog = threading.Timer(self._settings.timeout_s, self._abort)
        watchdog.name, watchdog.daemon = "bgsub-webhook-timeout", True
        reason = ""
        watchdog.start()
        try:
            status, wait_s = self._post(record)
        except (OSError, http.client.HTTPException) as error:
            reason = _reason(error)
        finally:
            watchdog.cancel()
            watchdog.join()
        # Raised outside the handler: not even its context may hold the address with a password.
        if reason:
            raise DeliveryError(f"the webhook {self._shown} does not answer: {reason}")
        if 200 <= status < 300:
            return
        if status in _NEVER:
            raise RefusedError(f"the webhook {self._shown} answers {status}")
        hint = "; give the address that it leads to" if 300 <= status < 400 else ""
        raise DeliveryError(f"the webhook {self._shown} answers {status}{hint}", min(wait_s, _LONGEST_WAIT_S))

    def interrupt(self) -> None:
        """Break the request that is under way, and those to come."""
        self._interrupted = True
        self._abort()

    def close(self) -> None:
        """Nothing is held between requests."""

    def _post(self, record: Record) -> tuple[int, float]:
        """Return the status of the answer, and the time for which it asks to wait."""
        parts, timeout_s = urlsplit(self._settings.url), self._settings.timeout_s
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=timeout_s)
        try:
            connection.response_class = _Answer
            connection.connect()
            with self._lock:
                self._connection = connection
                if self._interrupted:
                    raise ConnectionAbortedError("it is not waited for")
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("POST", path, record.data, self._headers(record))
            answer = connection.getresponse()
            after = answer.getheader("Retry-After", "")
            return answer.status, float(after) if after.isdigit() else 0.0
        finally:
            with self._lock:
                self._connection = None
            connection.close()

    def _headers(self, record: Record) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"bgsub/{__version__}",
            "Idempotency-Key": record.id,
            "Connection": "close",
        }
        parts = urlsplit(self._settings.url)
        auth = self._settings.auth
        if auth is None and parts.username is not None:
            auth = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        if auth is not None:
            headers["Authorization"] = f"Basic {base64.b64encode(auth.encode()).decode()}"
        elif self._settings.token is not None:
            headers["Authorization"] = f"Bearer {self._settings.token}"
        return headers

    def _abort(self) -> None:
        with self._lock:
            connected = None if self._connection is None else self._connection.sock
            if connected is not None:
                with contextlib.suppress(OSError):  # the other end is gone
                    connected.shutdown(socket.SHUT_RDWR)


def _reason(error: OSError | http.client.HTTPException) -> str:
    if isinstance(error, TimeoutError):
        return "it is silent"
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return f"it breaks off ({type(error).__name__})"
