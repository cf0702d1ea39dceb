"""Small watches: settings, recordings, and what they have written."""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bgsub.watching import read_settings, watch
from tests.scanning.made import write

MOVING = [(80, 110), (200, 240)]


def write_settings(folder: Path, text: str, name: str = "cameras.toml") -> Path:
    path = folder / name
    path.write_text(f'output = "out"\n{text}', encoding="utf-8")
    return path


def record(path: Path, count: int = 300, moving: Sequence[tuple[int, int]] = MOVING, codec: str = "ffv1") -> Path:
    """Write a recording in which something crosses the frame now and then."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return write(path, range(1, count + 1), moving, codec=codec)


def events(folder: Path) -> list[dict[str, Any]]:
    """Return the events of a watch whose settings are in a folder."""
    path = folder / "out" / "events.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def until(condition: Callable[[], object], timeout_s: float = 30.0) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it does not come about"
        time.sleep(0.02)


@contextlib.contextmanager
def watching(path: Path, **options: Any) -> Iterator[None]:
    """Watch on another thread while a block runs, and end the watch after it."""
    stop, failures = threading.Event(), []

    def run() -> None:
        try:
            watch(read_settings(path), stop=stop.is_set, **options)
        except BaseException as error:  # noqa: BLE001 - raised again below
            failures.append(error)

    thread = threading.Thread(target=run, name="watch")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(60)
        assert not thread.is_alive()
    if failures:
        raise failures[0]
