"""Connected regions of a mask."""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._jit.runs import find_runs
from bgsub.frames import Mask, Score
from bgsub.objects._jit.measures import add_scores, measure
from bgsub.objects.found import Objects, Runs
from bgsub.objects.limits import ObjectLimits
from bgsub.roi import Region

__all__ = ["find_objects"]

_SHADOW = 127


def find_objects(
    mask: Mask,
    *,
    score: Score | None = None,
    regions: Mapping[str, Region] | None = None,
    limits: ObjectLimits | None = None,
) -> Objects:
    """Find the connected regions of a mask.

    Pixels are connected if they touch at a side or a corner. Boxes, areas and centroids are those of
    `cv2.connectedComponentsWithStats`, to the bit, in a small part of its time.

    Parameters
    ----------
    mask : (H, W) uint8 or bool array
        255, or True, is foreground; 0 and 127 (shadow) are not.
    score : (H, W) float32 array, optional
        Score of each pixel, as `Detector.apply` fills it, for the mean scores.
    regions : mapping of str to Region, optional
        Regions by name. An object lies in those that contain its centroid.
    limits : ObjectLimits, optional
        Objects beyond them are left out.

    Returns
    -------
    Objects
        From top to bottom and from left to right.

    Raises
    ------
    ValueError
        If an array has another shape or dtype, or the largest value of the mask is neither 0, 127 nor 255.
    ConfigError
        If a region does not fit the mask.

    Examples
    --------
    >>> from bgsub.roi import open_region
    >>> mask = np.zeros((20, 30), np.uint8)
    >>> mask[3:7, 10:20] = 255
    >>> for found in find_objects(mask, regions={"door": open_region("5,0 29,0 29,9 5,9")}):
    ...     print(found.box, found.area, found.centroid, found.regions)
    (10, 3, 10, 4) 40 (14.5, 4.5) ('door',)
    """
    mask = _checked(mask)
    size = (mask.shape[0], mask.shape[1])
    if score is not None and (not isinstance(score, np.ndarray) or score.shape != size or score.dtype != np.float32):
        raise ValueError(f"score must be a float32 array of the mask's shape {size}, got {_describe(score)}")
    objects = _measure(*_label(mask), size, None if score is None else np.ascontiguousarray(score), regions or {})
    if not len(objects) and (highest := int(mask.max())) not in (0, _SHADOW, 255):
        raise ValueError(f"mask must hold 255 for foreground, 127 for shadow and 0, its largest value is {highest}")
    return objects if limits is None else objects[limits.keep(objects)]


def _checked(mask: Any) -> Mask:
    """Return the mask as a contiguous array of uint8."""
    if not isinstance(mask, np.ndarray) or mask.ndim != 2 or mask.size == 0 or mask.dtype not in (np.uint8, np.bool_):
        raise ValueError(f"mask must be an (H, W) uint8 or bool array with at least one pixel, got {_describe(mask)}")
    return np.ascontiguousarray(mask if mask.dtype == np.uint8 else mask * np.uint8(255))


def _describe(array: Any) -> str:
    return f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__


def _label(mask: Mask) -> tuple[NDArray[np.int32], int]:
    """Return the runs of a mask, with their labels, and the number of labels."""
    most = np.empty((mask.shape[0] * -(-mask.shape[1] // 2), 4), np.int32)  # only what is written takes memory
    count, labels = find_runs(mask, np.ones(len(mask), np.uint8), 1, most)
    return most[:count].copy(), labels


def _measure(
    runs: NDArray[np.int32], count: int, size: tuple[int, int], score: Score | None, regions: Mapping[str, Region]
) -> Objects:
    """Return the objects that consist of runs."""
    corners, areas = np.empty((count, 4), np.int32), np.empty(count, np.int32)
    sums = np.empty((count, 2), np.int64)
    measure(runs, corners, areas, sums)
    order = np.lexsort((corners[:, 0], corners[:, 1]))
    first, last, areas = corners[order, :2], corners[order, 2:], areas[order]
    centroids = sums[order] / areas[:, None]
    means = None
    if score is not None:
        totals = np.empty(count, np.float64)
        add_scores(runs, score, totals)
        means = (totals[order] / areas).astype(np.float32)
    return Objects(
        size,
        np.concatenate([first, last - first + 1], axis=1),
        areas,
        centroids,
        (first == 0).any(1) | (last == (size[1] - 1, size[0] - 1)).any(1),
        _regions_of(centroids, regions, size),
        means,
        _runs=Runs(runs),
        _labels=order,
    )


def _regions_of(
    centroids: NDArray[np.float64], regions: Mapping[str, Region], size: tuple[int, int]
) -> tuple[tuple[str, ...], ...]:
    """Return the names of the regions that contain each point."""
    if not regions:
        return ((),) * len(centroids)
    columns, rows = np.rint(centroids).astype(np.intp).T
    inside = [_drawn(region, size)[rows, columns] != 0 for region in regions.values()]
    return tuple(
        tuple(name for name, within in zip(regions, inside, strict=True) if within[i]) for i in range(len(rows))
    )


@functools.lru_cache(maxsize=32)
def _drawn(region: Region, size: tuple[int, int]) -> Mask:
    """Draw a region, once for all frames of a size."""
    return region.mask(size)
