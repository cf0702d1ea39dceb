"""How much foreground looks like shadow but is brighter, as only objects can be: whether colours tell the two apart."""

from typing import Any

import numpy as np

from bgsub._jit.majority import CELL, IN_LARGE
from bgsub._jit.runs import has_any
from bgsub._numba import compiled_views, inlined, part
from bgsub.detectors.adaptive._jit.shadows.darkening import REACH, SEGMENT

__all__ = ["count_brighter"]


@inlined
def _is_brighter_and_alike(images, rule, pixel):
    """Return whether a pixel is brighter than the background, and whether it is that and has its chromaticity."""
    channels, one = images.frame.shape[0], np.float32(1.0)
    share, added = images.unit / np.float32(channels), one - images.black
    seen, learned = added, added
    for c in range(channels):
        seen += np.float32(images.frame[c, pixel]) * share
        learned += np.float32(images.background[c, pixel]) * share
    seen, learned = max(seen, one), max(learned, one)
    if learned >= rule.lightest * seen:
        return False, False
    change = np.float32(0.0)
    for c in range(channels):
        now = max(np.float32(images.frame[c, pixel]) * images.unit + added, one)
        before = max(np.float32(images.background[c, pixel]) * images.unit + added, one)
        change = max(change, abs(now * learned - before * seen))
    return True, change < rule.chromaticity * seen * learned


@part
def _are_enough_alike(images, rule, y, x, step):
    """Return whether enough of the square around a pixel is brighter and has the background's chromaticity."""
    (height, width), missing = images.mask.shape, np.float32(rule.least)
    for row in range(max(0, y - REACH * step), min(height, y + REACH * step + 1), step):
        for column in range(max(0, x - REACH * step), min(width, x + REACH * step + 1), step):
            if images.mask[row, column] != 0 and _is_brighter_and_alike(images, rule, row * width + column)[1]:
                missing -= np.float32(1.0)
                if missing <= np.float32(0.0):
                    return True
    return False


@compiled_views
def count_brighter(images: Any, cells: Any, rule: Any, step: Any) -> Any:
    """Return how much foreground is brighter than the background, and how much of that would be shadow if darker.

    That is what has the background's chromaticity, as has enough of the square around it: `find_darkened` asks for the
    same. Single pixels of its chromaticity are frequent in any object of several colours.

    Parameters
    ----------
    images : Images
    cells : (ceil(H / CELL), ceil(W / CELL)) u1
        Bits of the votes, from `vote_thrice`: pixels count where a large square has a majority in their cell.
    rule : Darkening
    step : i8
        Every so many rows and columns make the grid on which shadows are looked for; a quarter of it is counted.
    """
    height, width = images.mask.shape
    brighter, alike = 0, 0
    for y in range(0, height, 2 * step):
        for begin in range(0, width, SEGMENT):
            end = min(begin + SEGMENT, width)
            if not has_any(images.mask[y, begin:end]):
                continue
            for x in range(begin, end, 2 * step):
                if images.mask[y, x] == 0 or cells[y // CELL, x // CELL] & IN_LARGE == 0:
                    continue
                is_brighter, is_alike = _is_brighter_and_alike(images, rule, y * width + x)
                brighter += 1 if is_brighter else 0
                alike += 1 if is_alike and _are_enough_alike(images, rule, y, x, step) else 0
    return brighter, alike
