"""Health and metrics by HTTP, for this computer alone."""

import http.server
import json
import threading
from collections.abc import Callable
from typing import Any

from bgsub.errors import SinkError

__all__ = ["StatusServer"]

Health = Callable[[], tuple[bool, dict[str, Any]]]

_TIMEOUT_S = 10.0
_MOST_AT_ONCE = 16


class StatusServer:
    """Answers ``/healthz`` with JSON, and 503 if something is wrong, and ``/metrics`` in the text format of Prometheus.

    Parameters
    ----------
    port : int
        Port on the loopback interface; 0 for a free one.
    health : callable
        Returns whether all is well, and what is to be known.
    metrics : callable
        Returns the text.

    Raises
    ------
    SinkError
        If the port cannot be used.
    """

    def __init__(self, port: int, health: Health, metrics: Callable[[], str]) -> None:
        handler = type("Handler", (_Handler,), {"health": staticmethod(health), "metrics": staticmethod(metrics)})
        try:
            self._server = _Server(("127.0.0.1", port), handler)
        except OSError as error:
            raise SinkError(f"cannot use port {port} for metrics: {error.strerror}; choose another") from error
        self.port = self._server.server_port
        """The port in use."""
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.2,), name="bgsub-metrics", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a client that says nothing must not delay the end

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._places = threading.BoundedSemaphore(_MOST_AT_ONCE)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over clients that leave early."""


class _Handler(http.server.BaseHTTPRequestHandler):
    health: Health
    metrics: Callable[[], str]
    timeout = _TIMEOUT_S
    server_version, sys_version = "bgsub", ""

    def do_GET(self) -> None:
        if self.path == "/healthz":
            well, values = self.health()
            self._answer(200 if well else 503, "application/json", json.dumps(values) + "\n")
        elif self.path == "/metrics":
            self._answer(200, "text/plain; version=0.0.4; charset=utf-8", self.metrics())
        else:
            self._answer(404, "text/plain; charset=utf-8", "there are /healthz and /metrics\n")

    def _answer(self, status: int, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""
