"""A real HTTP server on loopback that receives events, and fails as it is asked to."""

import contextlib
import http.server
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any


class Receiver:
    """Receives events by POST; `mode` decides how it answers."""

    def __init__(self, port: int = 0) -> None:
        self.acknowledged: list[dict[str, Any]] = []
        """Events that were answered by 200."""
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.times_s: list[float] = []
        """When they came."""
        self.mode = "ok"
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver.receive(self)

            def log_message(self, *arguments: object) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads, block_on_close = True, False

            def handle_error(self, request: object, client_address: object) -> None:
                pass

        self._server = Server(("127.0.0.1", port), Handler)
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}/hook"
        self._gone = threading.Event()
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), name="receiver", daemon=True)
        self._thread.start()

    def receive(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        mode = self.mode  # before the request can be seen, after which a test may change it
        self.times_s.append(time.monotonic())
        self.requests.append((dict(handler.headers), body))
        if mode == "hang":
            self._gone.wait(60)
            return
        if mode == "drip":  # a byte now and then, which no timeout of a single read notices
            with contextlib.suppress(OSError):
                for letter in b"HTTP/1.0 200 " + b"x" * 600:
                    handler.wfile.write(bytes([letter]))
                    if self._gone.wait(0.05):
                        return
            return
        if mode == "cut":  # an answer that would be one if it went on
            handler.wfile.write(b"HTTP/1.0 200 OK\r\nServer: none\r\n")
            handler.connection.shutdown(socket.SHUT_RDWR)
            return
        if mode == "cut early":
            handler.wfile.write(b"HTTP/1.0 200 O")
            handler.connection.shutdown(socket.SHUT_RDWR)
            return
        if mode == "die":  # received, but not acknowledged
            handler.connection.shutdown(socket.SHUT_RDWR)
            return
        status = 200 if mode == "ok" else int(mode)
        if status == 200:
            self.acknowledged.append(body)
        handler.send_response(status)
        if status == 429:
            handler.send_header("Retry-After", "1")
        if 300 <= status < 400:
            handler.send_header("Location", "http://127.0.0.1:1/")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    @property
    def ids(self) -> list[str]:
        return [one["id"] for one in self.acknowledged]

    def close(self) -> None:
        self._gone.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextlib.contextmanager
def receiving(port: int = 0) -> Iterator[Receiver]:
    """Receive while a block runs."""
    deadline = time.monotonic() + 10
    while True:
        try:
            receiver = Receiver(port)
            break
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    try:
        yield receiver
    finally:
        receiver.close()
