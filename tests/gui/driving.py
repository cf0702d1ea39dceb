"""An engine driven by hand, and sources that follow a script."""

import math
import time
from collections.abc import Callable

import numpy as np

from bgsub.errors import SourceError
from bgsub.frames import Packet, VideoInfo
from bgsub.gui.engine.engine import Engine
from bgsub.gui.messages import Event, Settings, View
from bgsub.video.sources.base import FrameSource


class Scripted(FrameSource):
    """Frames of given shapes; an exception in the list is raised in its turn."""

    def __init__(self, items: list, *, live: bool = False, start: float | None = None, rate_hz: float = 25.0) -> None:
        self.items, self.index, self.rate_hz, self.live = items, math.ceil((start or 0.0) * rate_hz), rate_hz, live
        first = next(item for item in items if isinstance(item, np.ndarray))
        self.size = first.shape[:2]
        self.lost: str | None = None

    @property
    def info(self) -> VideoInfo:
        return VideoInfo("scripted", self.size, self.rate_hz, None if self.live else len(self.items), self.live)

    @property
    def trouble(self) -> str | None:
        return self.lost

    def read(self) -> Packet | None:
        if self.index >= len(self.items):
            return None
        item = self.items[self.index]
        self.index += 1
        if isinstance(item, Exception):
            raise item
        return Packet(self.index - 1, (self.index - 1) / self.rate_hz, item, self.index)


def frames(count: int, size: tuple[int, int] = (24, 32), value: int = 60) -> list:
    noise = np.random.default_rng(0)
    return [np.clip(value + noise.normal(0, 3, (*size, 3)), 0, 255).astype(np.uint8) for _ in range(count)]


def opener(items: list, **values) -> Callable[..., FrameSource]:
    def open_it(text: str, /, *, start: float | None) -> FrameSource:
        if text == "missing":
            raise SourceError("cannot open missing: no such file; check the path")
        return Scripted(items, start=start, **values)

    return open_it


class Driver:
    """An engine whose turns the test takes itself."""

    def __init__(self, open_it: Callable[..., FrameSource], settings: Settings) -> None:
        self.views: list[View] = []
        self.events: list[Event] = []
        self.engine = Engine(self.views.append, self.events.append, lambda: None, open_it, settings)

    def until(self, done: Callable[[], object], timeout_s: float = 30.0) -> None:
        """Turn until a condition holds."""
        deadline = time.monotonic() + timeout_s
        while not done():
            assert time.monotonic() < deadline, "the condition never held"
            wait = self.engine.advance()
            if wait:
                time.sleep(min(wait, 0.002) if not math.isinf(wait) else 0.002)

    def settle(self) -> None:
        """Turn until there is nothing left to do."""
        self.until(lambda: math.isinf(self.engine.advance()) and not self.engine.is_opening)

    @property
    def view(self) -> View:
        return self.views[-1]

    @property
    def texts(self) -> str:
        return "\n".join(getattr(event, "text", "") for event in self.events)
