"""Masks of moving rectangles."""

from collections.abc import Iterable

import numpy as np

from bgsub.objects import Objects, find_objects

SIZE = (120, 200)


def masked(*boxes: tuple[int, int, int, int], size: tuple[int, int] = SIZE) -> np.ndarray:
    """Return a mask with these boxes (x, y, width, height) filled; parts outside are cut off."""
    mask = np.zeros(size, np.uint8)
    for x, y, width, height in boxes:
        mask[max(y, 0) : max(y + height, 0), max(x, 0) : max(x + width, 0)] = 255
    return mask


def found(*boxes: tuple[int, int, int, int]) -> Objects:
    return find_objects(masked(*boxes))


def ids_by_frame(tracker, frames: Iterable[Objects]) -> list[list[int]]:
    return [tracker.update(objects).ids.tolist() for objects in frames]
