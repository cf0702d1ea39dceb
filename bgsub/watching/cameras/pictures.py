"""Small pictures of the frames in which something was seen, until it is known which of them is the peak of an event."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bgsub._files import write_whole
from bgsub._opencv import cv2
from bgsub.events import Event, Observation
from bgsub.events.observation import Box
from bgsub.frames import Frame
from bgsub.scanning.outputs import thumbnail

__all__ = ["Pictures"]

_SLOT_S = 0.5
_MOST = 240
"""Pictures that are kept, about 30 kB each; when there are more, every second one is dropped."""

_QUALITY = 85


class _Picture(NamedTuple):
    time_s: float
    data: bytes


class Pictures:
    """Keeps the frame with the largest objects of each half second, as a small JPEG."""

    def __init__(self) -> None:
        self._kept: list[_Picture] = []
        self._best: tuple[float, float, Frame] | None = None
        """Area, time and frame of the present half second."""
        self._slot_s = 0.0

    def see(self, observation: Observation, frame: Frame) -> None:
        """Take the next frame."""
        if self._best is not None and observation.time_s - self._slot_s >= _SLOT_S:
            self._keep()
        area = sum(seen.area for seen in observation.objects)
        if area and (self._best is None or area > self._best[0]):
            if self._best is None:
                self._slot_s = observation.time_s
            self._best = area, observation.time_s, frame

    def write(self, path: Path, event: Event) -> bool:
        """Write the picture nearest to the peak of an event, with its boxes; return whether there is one.

        Raises
        ------
        SinkError
            If it cannot be written.
        """
        data = self.of(event)
        if data is None:
            return False
        write_whole(path, data, sync=False)
        return True

    def of(self, event: Event) -> bytes | None:
        """Return the picture nearest to the peak of an event, with its boxes, as JPEG; None if there is none."""
        self._keep()
        if not self._kept:
            return None
        nearest = min(self._kept, key=lambda one: abs(one.time_s - event.peak.time_s))
        boxes: Sequence[Box] = event.boxes if nearest.time_s == event.peak.time_s else ()
        image = np.asarray(cv2.imdecode(np.frombuffer(nearest.data, np.uint8), cv2.IMREAD_COLOR))
        return _encode(thumbnail(image, boxes))

    def forget_before(self, time_s: float) -> None:
        """Drop the pictures of times that no event to come contains."""
        self._kept = [one for one in self._kept if one.time_s >= time_s]

    def _keep(self) -> None:
        if self._best is None:
            return
        _, time_s, frame = self._best
        self._best = None
        self._kept.append(_Picture(time_s, _encode(thumbnail(frame, ()))))
        if len(self._kept) > _MOST:
            del self._kept[::2]


def _encode(image: Frame) -> bytes:
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    if not done:
        raise ValueError(f"image must be one that JPEG can hold, got an array of shape {image.shape}")
    return bytes(data)
