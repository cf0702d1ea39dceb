"""How much boxes overlap, all pairs at once."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["contained_share", "distance_iou", "to_corners"]

Boxes = NDArray[np.float64]
"""(n, 4): x, y, end of x, end of y."""


def to_corners(boxes: NDArray[np.int32]) -> Boxes:
    """Return boxes given by x, y, width and height by their corners."""
    return np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1).astype(np.float64)


def _intersection(one: Boxes, other: Boxes) -> NDArray[np.float64]:
    low = np.maximum(one[:, None, :2], other[None, :, :2])
    high = np.minimum(one[:, None, 2:], other[None, :, 2:])
    return np.asarray(np.clip(high - low, 0, None).prod(2))


def _area(boxes: Boxes) -> NDArray[np.float64]:
    return np.asarray((boxes[:, 2:] - boxes[:, :2]).prod(1))


def contained_share(one: Boxes, other: Boxes) -> NDArray[np.float64]:
    """Return which share of each box of `one` lies inside each box of `other`, (n, m)."""
    return _intersection(one, other) / _area(one)[:, None]


def distance_iou(one: Boxes, other: Boxes) -> NDArray[np.float64]:
    """Return the distance-IoU of all pairs, (n, m), in (-1, 1].

    That is the intersection over union, minus the squared distance of the centres by the squared diagonal of the
    smallest box around both (Zheng et al. 2020, equation 7 as a similarity).

    Examples
    --------
    >>> boxes = np.array([[0.0, 0, 2, 2], [2, 0, 4, 2]])
    >>> distance_iou(boxes[:1], boxes).tolist()
    [[1.0, -0.2]]
    """
    common = _intersection(one, other)
    union = _area(one)[:, None] + _area(other)[None] - common
    low = np.minimum(one[:, None, :2], other[None, :, :2])
    high = np.maximum(one[:, None, 2:], other[None, :, 2:])
    centers = (one[:, None, :2] + one[:, None, 2:] - other[None, :, :2] - other[None, :, 2:]) / 2
    return np.asarray(common / union - (centers**2).sum(2) / ((high - low) ** 2).sum(2))
