"""Results of past frames, packed: what was really detected can be shown again without the model."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bgsub.frames import Mask, Packet, Result, Timings
from bgsub.gui.messages import Settings

__all__ = ["PackedMask", "PastFrame", "PastResults", "time_key"]

_TICKS_PER_S = 1_000_000  # finer than any frame rate; the same frame has the same time to many more digits
_OVERHEAD_BYTES = 1_000  # of a frame beyond its masks


def time_key(time_s: float) -> int:
    """Return a time as the whole number by which frames are recognised."""
    return round(time_s * _TICKS_PER_S)


@dataclass(frozen=True, slots=True)
class PackedMask:
    """A mask in one bit per pixel, compressed.

    Examples
    --------
    >>> mask = np.zeros((3, 5), np.uint8)
    >>> mask[1, 2] = 255
    >>> bool((PackedMask.pack(mask).unpack() == mask).all())
    True
    """

    shape: tuple[int, int]
    data: bytes

    @classmethod
    def pack(cls, mask: Mask) -> "PackedMask":
        """Pack a mask, (H, W) uint8 of 0 and 255."""
        return cls((mask.shape[0], mask.shape[1]), zlib.compress(np.packbits(mask).tobytes(), 1))

    def unpack(self) -> Mask:
        """Return the mask, (H, W) uint8 of 0 and 255."""
        bits = np.unpackbits(np.frombuffer(zlib.decompress(self.data), np.uint8), count=self.shape[0] * self.shape[1])
        return (bits * np.uint8(255)).reshape(self.shape)


@dataclass(frozen=True, slots=True)
class PastFrame:
    """What was detected in one frame, and with which settings."""

    time_s: float
    settings: Settings
    masks: tuple[PackedMask, ...]
    """Of each detector."""
    timings: tuple[Timings, ...]

    @classmethod
    def of(cls, results: Sequence[Result], settings: Settings) -> "PastFrame":
        """Pack the results of a frame."""
        return cls(
            results[0].packet.time_s,
            settings,
            tuple(PackedMask.pack(result.mask) for result in results),
            tuple(result.timings for result in results),
        )

    @property
    def nbytes(self) -> int:
        """Size in memory, about."""
        return _OVERHEAD_BYTES + sum(len(mask.data) for mask in self.masks)

    def results(self, packet: Packet) -> list[Result]:
        """Return the results as they were, without scores, for the frame read again."""
        return [
            Result(packet, mask.unpack(), None, timings) for mask, timings in zip(self.masks, self.timings, strict=True)
        ]


class PastResults:
    """The results of the last frames, by their time in the source.

    Those of the newest frame are packed only when they are asked for or the next one comes: while settings are tried on
    a frame that is held, its image does not wait for that.

    Parameters
    ----------
    capacity_bytes : int
        Memory for them; the oldest give way.
    """

    def __init__(self, capacity_bytes: int) -> None:
        self.capacity_bytes = capacity_bytes
        self._frames: dict[int, PastFrame] = {}
        self._nbytes = 0
        self._newest: tuple[Sequence[Result], Settings] | None = None

    def __len__(self) -> int:
        return len(self._packed)

    def __iter__(self) -> Iterator[PastFrame]:
        return iter(self._packed.values())

    @property
    def nbytes(self) -> int:
        """Memory in use, about."""
        self._pack()
        return self._nbytes

    def add(self, results: Sequence[Result], settings: Settings) -> None:
        """Keep the results of a frame, as the newest."""
        self._pack()
        self._remove(time_key(results[0].packet.time_s))
        self._newest = results, settings

    def limit(self, capacity_bytes: int) -> None:
        """Keep no more than this from now on; the oldest give way at once."""
        self.capacity_bytes = capacity_bytes
        self._pack()
        self._make_room()

    def find(self, time_s: float) -> PastFrame | None:
        """Return the results of the frame of this time, if they are kept."""
        return self._packed.get(time_key(time_s))

    def drop_from(self, time_s: float) -> None:
        """Forget the frame of this time and all later ones."""
        if self._newest is not None and time_key(self._newest[0][0].packet.time_s) >= time_key(time_s):
            self._newest = None
        for key in [key for key in self._frames if key >= time_key(time_s)]:
            self._remove(key)

    def clear(self) -> None:
        """Forget all."""
        self._frames.clear()
        self._newest = None
        self._nbytes = 0

    @property
    def _packed(self) -> dict[int, PastFrame]:
        self._pack()
        return self._frames

    def _pack(self) -> None:
        """Pack the results of the newest frame."""
        newest, self._newest = self._newest, None
        if newest is not None:
            frame = PastFrame.of(*newest)
            self._frames[time_key(frame.time_s)] = frame
            self._nbytes += frame.nbytes
            self._make_room()

    def _make_room(self) -> None:
        while self._nbytes > self.capacity_bytes and len(self._frames) > 1:
            self._remove(next(iter(self._frames)))

    def _remove(self, key: int) -> None:
        frame = self._frames.pop(key, None)
        if frame is not None:
            self._nbytes -= frame.nbytes
