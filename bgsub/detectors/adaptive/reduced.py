"""Frames with fewer pixels: what `quality` leaves of a frame, how masks get their size back, and squares of pixels.

Where the background moves, the mean colour of a square moves less than that of a pixel.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgsub._numba import run_bands
from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.offsets import add_channels, find_directions
from bgsub.detectors.adaptive._jit.resizing import Pictures, enlarge_rows, halve_colours
from bgsub.detectors.adaptive._jit.squares import (
    SquareRule,
    Squares,
    follow,
    mark_unlike,
)
from bgsub.frames import Frame, Mask

__all__ = [
    "PLAIN",
    "Pictures",
    "Scales",
    "Squares",
    "add_unlike",
    "add_where_moving",
    "compile_seldom_needed",
    "enlarge",
    "enlarge_mask",
    "find_likeness",
    "find_moving",
    "find_scales",
    "follow_squares",
    "make_pictures",
    "make_squares",
    "make_view",
    "reduce_frame",
    "reduce_mask",
    "reduced_shape",
    "see_view",
    "square_side",
    "view_side",
]

_SQUARED_SIDES = 120  # pixels of the geometric mean of height and width for each of a square that becomes one
_VIEW_PX = 60 * 45  # edges are compared in pictures of about so many pixels,
PLAIN = 4.0
"""Grey levels; steps from one pixel to the next by fewer count less."""
_BOTH_PX = 320 * 240  # frames with fewer show too little when they are reduced
_WIDE = 1.5  # mean width factor, in units of the least one, above which the background moves
_SQUARE_PX, _REFERENCE_PX, _GROWTH = 8, 320 * 240, 0.35  # side of squares for this area, and the power of its growth
_YOUNG = 20  # frames before a square is judged
_SQUARE_RATE = 0.01  # of the mean and variance of its colour, in the long run
_SQUARE_NOISE = 2.0  # standard deviation of noise of this mean, in grey levels
_LEAST_LIMIT, _LIMIT_STEP = 3.0, 0.5  # of the distance that is unlike, in standard deviations,
_UNLIKE_SHARE = 0.005  # and share of frames that it lets be beyond it,
_BUSY = 0.02  # where one with foreground already counts so much
_FIRST_LIMIT = 4.0  # of a square, in standard deviations
_FAR = 3.0  # halves of a kernel's box from the heaviest colour that make a pixel of an unlike square foreground
_OCCUPIED = 1 / 8  # share of a square that is foreground from which it is

_RULE = SquareRule(
    young=np.uint16(_YOUNG),
    rate=np.float32(_SQUARE_RATE),
    noise=np.float32(_SQUARE_NOISE**2),
    least=np.float32(_LEAST_LIMIT),
    step=np.float32(_LIMIT_STEP),
    share=np.float32(_UNLIKE_SHARE),
    stays=np.float32(_BUSY),
    occupied=np.float32(_OCCUPIED),
)


class Scales(NamedTuple):
    """At which sizes frames of one size are judged."""

    whole: bool
    """Whether each pixel is."""
    side: int
    """Of the squares of pixels that are judged as one, a power of two; 1 if none are."""


def find_scales(quality: str, size: tuple[int, int]) -> Scales:
    """Return how frames of (height, width) are judged.

    Examples
    --------
    >>> [find_scales("balanced", size).side for size in [(240, 320), (360, 640), (1080, 1920), (2160, 3840)]]
    [1, 2, 2, 4]
    >>> [find_scales("fast", size).side for size in [(240, 320), (360, 640), (1080, 1920), (2160, 3840)]]
    [2, 2, 4, 4]
    >>> find_scales("best", (480, 640))
    Scales(whole=True, side=2)
    """
    pixels = size[0] * size[1]
    if quality == "best":
        return Scales(True, 2 if pixels >= _BOTH_PX else 1)
    side, least = (2, _SQUARED_SIDES / 2) if quality == "fast" else (1, _SQUARED_SIDES)
    while math.sqrt(pixels) >= (2 * side) ** 2 * least:
        side *= 2
    return Scales(side == 1, side)


def reduced_shape(shape: tuple[int, ...], side: int) -> tuple[int, ...]:
    """Return the shape of a frame after `reduce_frame`."""
    return -(-shape[0] // side), -(-shape[1] // side), *shape[2:]


def reduce_frame(frame: Frame, side: int, threads: int = 1) -> Frame:
    """Return the means of squares of pixels.

    Parameters
    ----------
    frame : (H, W, 3) or (H, W) array of uint8, uint16 or float32
    side : int
        Of the squares, a power of two; beyond the right and the lower border pixels are repeated.
    threads : int
        Threads to use, 0 for one per CPU.

    Returns
    -------
    array
        ceil(H / side) times ceil(W / side) pixels, of the same dtype.
    """
    height, width = frame.shape[:2]
    right, below = -width % side, -height % side
    if right or below:
        frame = np.asarray(cv2.copyMakeBorder(frame, 0, below, 0, right, cv2.BORDER_REPLICATE))
    while side > 1:  # OpenCV is fast at halves alone
        height, width = frame.shape[0] // 2, frame.shape[1] // 2
        if frame.ndim == 3 and frame.shape[2] == 3 and frame.dtype == np.uint8:
            colours, frame = np.ascontiguousarray(frame).reshape(2 * height, -1), np.empty((height, width, 3), np.uint8)
            run_bands(halve_colours, (height, width), threads, colours, frame.reshape(height, -1))
        else:
            frame = np.asarray(cv2.resize(frame, (width, height), interpolation=cv2.INTER_AREA))
        side //= 2
    return frame


def reduce_mask(mask: Mask, side: int) -> Mask:
    """Return 255 where a whole square of pixels is 255, else 0."""
    while side > 1:  # a mean of four bytes rounds to 255 only if all are
        mask = np.asarray(cv2.threshold(reduce_frame(mask, 2), 254, 255, cv2.THRESH_BINARY)[1], np.uint8)
        side //= 2
    return mask


def enlarge(image: NDArray[Any], out: NDArray[Any], side: int, *, smooth: bool) -> None:
    """Write an image to an array that is `side` times as large, each pixel repeated, or with the values between."""
    height, width = image.shape[0] * side, image.shape[1] * side
    fits = out.shape[:2] == (height, width) and out.flags.c_contiguous
    how = cv2.INTER_LINEAR if smooth else cv2.INTER_NEAREST
    large = cv2.resize(image, (width, height), dst=out if fits else None, interpolation=how)
    if not fits:
        out[:] = large[: out.shape[0], : out.shape[1]]


def enlarge_mask(mask: Mask, out: Mask, side: int, threads: int, pictures: Pictures) -> None:
    """Write the mask of a reduced frame to a larger array, with outlines that follow the edges of the frame.

    Parameters
    ----------
    mask : (ceil(H / side), ceil(W / side)) uint8 array
        0, 127 and 255.
    out : (H, W) uint8 array
        Written.
    side : int
    threads : int
    pictures : Pictures
        From `make_pictures`.
    """
    large = np.ascontiguousarray(out)
    run_bands(enlarge_rows, (mask.shape[0], mask.shape[1]), threads, mask, side, pictures, large)
    if large is not out:
        out[:] = large


def make_pictures(frame: Frame, reduced: Frame, gain: float) -> Pictures:
    """Return a frame and what `reduce_frame` made of it; `gain` is the factor from squared distances to exponents."""
    if frame.ndim == 2:
        frame, reduced = frame[:, :, np.newaxis], reduced[:, :, np.newaxis]
    return Pictures(frame, reduced, np.float32(gain))


def find_moving(factors: NDArray[np.uint16], least: float, side: int, reach: int, moving: Mask) -> None:
    """Find where the background moves: the mean width factor in a square is far above the least one.

    Parameters
    ----------
    factors : (H, W) uint16 array
        Width factors.
    least : float
        The least one, in the same units.
    side : int
        Of the squares of pixels that become one.
    reach : int
        Side of the square of these in which the mean is taken.
    moving : (ceil(H / side), ceil(W / side)) uint8 array
        Written: 255 where the background moves, else 0.
    """
    mean = cv2.blur(reduce_frame(factors, side), (max(reach, 1), max(reach, 1)))
    moving[:] = np.where(np.asarray(mean) > _WIDE * least, np.uint8(255), np.uint8(0))


def add_where_moving(mask: Mask, coarse: Mask, moving: Mask, side: int) -> None:
    """Add the mask of the reduced frame where the background moves."""
    if cv2.hasNonZero(moving):
        where = np.empty_like(mask)
        enlarge(moving, where, side, smooth=False)
        cv2.max(mask, cv2.bitwise_and(coarse, where), mask)


def square_side(size: tuple[int, int]) -> int:
    """Return the side of the squares for frames of (height, width), a power of two.

    Examples
    --------
    >>> [square_side(size) for size in [(120, 160), (240, 320), (480, 640), (720, 1280)]]
    [4, 8, 16, 16]
    """
    side = _SQUARE_PX * (size[0] * size[1] / _REFERENCE_PX) ** _GROWTH
    return int(2 ** max(1, round(math.log2(side))))


def make_squares(size: tuple[int, int], channels: int) -> Squares:
    """Return squares of frames of (height, width) that have learned nothing."""
    grid = reduced_shape(size, square_side(size))
    features = np.zeros((*grid, _count_features(channels)), np.float32)
    limits = np.full(grid, _FIRST_LIMIT, np.float32)
    return Squares(features, np.zeros_like(features), limits, np.zeros(grid, np.uint16))


def _count_features(channels: int) -> int:
    """Return how many numbers describe a square: its mean channels, and the differences of two if there are several."""
    return channels if channels == 1 else 2 * channels


def follow_squares(planes: NDArray[Any], white: float, squares: Squares, previous_mask: Mask, allowed: Mask) -> Mask:
    """Find squares of pixels that as a whole look unlike the moving background, and learn the others.

    A dark person in front of glittering water has colours that each pixel of the water has, too, but seldom all of a
    square at once.

    Parameters
    ----------
    planes : (D, at least H * W) array
        Of the frame.
    white : float
        Value of white.
    squares : Squares
        Updated.
    previous_mask : (H, W) uint8 array
        Final mask of the frame before.
    allowed : (h, w) uint8 array
        0 for squares that must not learn.

    Returns
    -------
    (h, w) uint8 array
        255 for unlike squares, else 0.
    """
    height, width = previous_mask.shape
    sums = np.empty((len(planes) + 1, width), np.float32)
    colours, shares = np.empty_like(squares.means), np.empty_like(squares.limits)
    unit, side = np.float32(255.0 / white), square_side((height, width))
    unlike = np.empty(squares.limits.shape, np.uint8)
    follow(planes, previous_mask, side, unit, allowed, squares, _RULE, sums, colours, shares, unlike)
    return unlike


def add_unlike(
    raw: Mask, unlike: Mask, frame: NDArray[Any], background: NDArray[Any], half_box: float, threads: int, found: Mask
) -> None:
    """Write a raw mask with the pixels of unlike squares that are far from the heaviest colour of the background.

    Parameters
    ----------
    raw : (H, W) uint8 array
    unlike : (h, w) uint8 array
        From `follow_squares`.
    frame, background : (D, at least H * W) array
        Planes of the frame and of the learned background.
    half_box : float
        Half a side of the box of a kernel of the least width, in the frame's units.
    threads : int
        Threads to use, 0 for one per CPU.
    found : (H, W) uint8 array
        Written.
    """
    np.copyto(found, raw)
    size = (raw.shape[0], raw.shape[1])
    # Differences of integers are integers.
    least = np.float32(_FAR * half_box)
    most = frame.dtype.type(least if frame.dtype.kind == "f" else min(int(least), np.iinfo(frame.dtype).max))
    run_bands(mark_unlike, size, threads, frame, background, unlike, square_side(size), most, found)


def compile_seldom_needed(dtype: np.dtype[Any]) -> None:
    """Call the compiled functions that only waves and larger frames need, for frames of a type."""
    mask, planes = np.zeros((8, 8), np.uint8), np.zeros((1, 64), dtype)
    add_unlike(mask, np.zeros((4, 4), np.uint8), planes, planes, 0.0, 1, np.empty_like(mask))
    squares = make_squares((8, 8), 1)
    follow_squares(planes, 255.0, squares, mask, np.zeros(squares.limits.shape, np.uint8))
    pictures = make_pictures(np.zeros((16, 16), dtype), np.zeros((8, 8), dtype), -1.0)
    enlarge_mask(mask, np.empty((16, 16), np.uint8), 2, 1, pictures)


def see_view(planes: Sequence[NDArray[Any]] | NDArray[Any], white: float) -> NDArray[np.int8]:
    """Return the directions in which a frame, or a background, gets brighter: its gradients, strong ones of one length.

    Parameters
    ----------
    planes : sequence of (H, W) arrays
    white : float
        Value of white.

    Returns
    -------
    (2, h - 1, w - 1) int8 array
        To the right and downwards, up to 127, in the grey picture of h times w, some 60x45 pixels, that is reduced by a
        power of two.
    """
    side = view_side((planes[0].shape[0], planes[0].shape[1]))
    small = np.array([reduce_frame(plane, side) for plane in planes])
    grey, room = np.empty(small.shape[1:], np.float32), np.empty((6, small.shape[2]), np.float32)
    add_channels(small, np.float32(1), room[0], grey)
    view = np.empty((2, small.shape[1] - 1, small.shape[2] - 1), np.int8)
    find_directions(grey, np.float32(255.0 / white), np.float32(PLAIN), room, view)
    return view


def find_likeness(view: NDArray[np.int8], other: NDArray[np.int8]) -> float:
    """Return how far the edges of two views are the same, however strong they are, in [-1, 1].

    It is the correlation of what `see_view` returns (orientation correlation; Fitch, Kadyrov, Christmas and Kittler
    2002): in another view it is about 0, in another light as high as before, and something that covers a part of the
    frame lowers it by that part.
    """
    a, b = view.astype(np.float32), other.astype(np.float32)
    return float(np.vdot(a, b)) / max(math.sqrt(float(np.vdot(a, a)) * float(np.vdot(b, b))), 1.0)


def make_view(size: tuple[int, int]) -> NDArray[np.int8]:
    """Return the view of plain frames of (height, width)."""
    height, width = reduced_shape(size, view_side(size))
    return np.zeros((2, height - 1, width - 1), np.int8)


def view_side(size: tuple[int, int]) -> int:
    """Return by how much `see_view` reduces frames of (height, width), a power of two."""
    return int(2 ** max(0, round(math.log2(size[0] * size[1] / _VIEW_PX) / 2)))
