"""Cameras through OpenCV, reopened when they are lost."""

import re
import threading
import time
from collections.abc import Callable
from typing import Protocol

import numpy as np

from bgsub._opencv import cv2
from bgsub.errors import SourceError
from bgsub.frames import RATE_INTERVAL, Frame, VideoInfo, plausible_rate
from bgsub.video._text import text_size
from bgsub.video.sources.base import Grab, LazySource, SourceOptions
from bgsub.video.sources.reconnect import Reconnector

__all__ = ["Camera"]

_MOST_DEVICE = 2**31 - 1  # OpenCV takes no larger number
_MOST_DIGITS = 20
_TEXT = re.compile(r"(?:camera:)?(\d+)")


class Capture(Protocol):
    """The part of cv2.VideoCapture that a camera needs."""

    def isOpened(self) -> bool: ...  # noqa: N802 - OpenCV's name
    def read(self) -> tuple[bool, Frame | None]: ...
    def set(self, key: int, value: float, /) -> bool: ...
    def get(self, key: int, /) -> float: ...
    def release(self) -> None: ...


class Camera(LazySource):
    """A camera of this computer.

    Parameters
    ----------
    device : int
        Number of the camera, from 0.
    size : tuple of int, optional
        (height, width) to ask for; the camera may choose another.
    rate_hz : float, optional
        Frames per second to ask for.
    reconnects : int
        Attempts in a row to open a lost camera again.
    opener : callable, optional
        Makes the capture from the device number; cv2.VideoCapture by default.
    wait : callable, optional
        Replaces the pauses between attempts, see `Reconnector`.

    Raises
    ------
    SourceError
        If the camera cannot be opened or gives no frame.
    """

    text_form = "camera:0 or 0"
    uses = frozenset({"rate_hz", "size"})

    def __init__(
        self,
        device: int,
        *,
        size: tuple[int, int] | None = None,
        rate_hz: float | None = None,
        reconnects: int = 8,
        opener: Callable[[int], Capture] | None = None,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        if rate_hz is not None and plausible_rate(rate_hz) is None:
            raise ValueError(f"rate_hz must be in {RATE_INTERVAL}, got {rate_hz}")
        if size is not None and min(size) < 1:
            raise ValueError(f"size must be positive, got {size}")
        self._device = device
        self._name = f"camera:{device}"
        self._wanted_size, self._wanted_rate_hz = size, rate_hz
        self._opener = cv2.VideoCapture if opener is None else opener
        self._stop = threading.Event()
        self._link = Reconnector(self._name, self._open, reconnects, self._stop, wait)
        self._capture: Capture | None = None
        self._number = 0
        self._began_s = time.monotonic()
        self._ahead: Frame | None = self._open()
        self._shape = self._ahead.shape
        self._info = VideoInfo(
            name=self._name, size=(self._shape[0], self._shape[1]), rate_hz=self._reported_rate(), live=True
        )

    @classmethod
    def accepts(cls, text: str) -> bool:
        """Return whether the text is a number, with or without ``camera:`` before it."""
        return _TEXT.fullmatch(text) is not None

    @classmethod
    def from_text(cls, text: str, options: SourceOptions) -> "Camera":
        """Open the camera of that number."""
        digits = text.removeprefix("camera:")
        number = int(digits) if len(digits) < _MOST_DIGITS else _MOST_DEVICE + 1
        if number > _MOST_DEVICE:
            raise SourceError(f"cannot open camera:{digits[:_MOST_DIGITS]}: the number of a camera is below {2**31}")
        return cls(number, size=options.size, rate_hz=options.rate_hz, reconnects=options.reconnects)

    @property
    def info(self) -> VideoInfo:
        """Size of the first frame and the rate the driver reports."""
        return self._info

    @property
    def trouble(self) -> str | None:
        """Report of a lost camera; None while it delivers."""
        return self._link.trouble

    def grab(self) -> Grab | None:
        """Wait for the next frame, reopening the camera as often as necessary."""
        if self._stop.is_set():
            return None
        frame, self._ahead = self._ahead, None
        if frame is None:
            frame = self._read()
        if frame is None:
            frame = self._link.reopen("it gives no frames")
        if frame is None or self._stop.is_set():
            return None
        self._link.succeeded()
        self._number += 1
        if frame.shape != self._shape:
            old, new = text_size(self._shape[:2]), text_size(frame.shape[:2])
            raise SourceError(
                f"the frame size of {self._name} changes from {old} to {new} at frame {self._number}; start again"
            )
        image = np.ascontiguousarray(frame)
        return Grab(self._number, time.monotonic() - self._began_s, lambda: image)

    def interrupt(self) -> None:
        """End a pause between attempts at once."""
        self._stop.set()

    def close(self) -> None:
        """Release the camera; `read` returns None from here on."""
        self._stop.set()
        self._release()

    def _open(self) -> Frame:
        """Open the device and return its first frame."""
        self._release()
        try:
            self._capture = self._opener(self._device)
            if self._capture.isOpened():
                self._configure(self._capture)
                if (frame := self._read()) is not None:
                    return frame
            reason = "it is missing, in use or gives no frames"
        except cv2.error as error:
            reason = error.err
        self._release()
        raise SourceError(f"cannot open {self._name}: {reason}; check the cable, the number and permissions")

    def _configure(self, capture: Capture) -> None:
        if self._wanted_size is not None:
            capture.set(cv2.CAP_PROP_FRAME_HEIGHT, self._wanted_size[0])
            capture.set(cv2.CAP_PROP_FRAME_WIDTH, self._wanted_size[1])
        if self._wanted_rate_hz is not None:
            capture.set(cv2.CAP_PROP_FPS, self._wanted_rate_hz)

    def _reported_rate(self) -> float | None:
        return None if self._capture is None else plausible_rate(self._capture.get(cv2.CAP_PROP_FPS))

    def _read(self) -> Frame | None:
        """Return a new frame, None if the camera fails."""
        try:
            done, frame = (False, None) if self._capture is None else self._capture.read()
        except cv2.error:
            return None
        return frame if done else None

    def _release(self) -> None:
        if self._capture is not None:
            self._capture.release()
            self._capture = None
