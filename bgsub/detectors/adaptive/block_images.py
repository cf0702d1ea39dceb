"""Arrays of blocks, pixels in the order of memory with the last one filled up, as images."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bgsub.detectors.adaptive._jit.blocks import BLOCK

__all__ = ["as_blocks", "as_image", "count_blocks"]

_Scalar = TypeVar("_Scalar", bound=np.generic)


def count_blocks(size: tuple[int, int]) -> int:
    """Return how many blocks a frame of (height, width) takes."""
    return -(-size[0] * size[1] // BLOCK)


def as_image(blocks: NDArray[_Scalar], size: tuple[int, int]) -> NDArray[_Scalar]:
    """View a contiguous array of blocks as an image of (height, width)."""
    return blocks.reshape(-1)[: size[0] * size[1]].reshape(size)


def as_blocks(image: NDArray[_Scalar], filling: int = 0) -> NDArray[_Scalar]:
    """View an image as an array of blocks; copy it where its pixels fill no whole number of them."""
    if image.size % BLOCK == 0:
        return np.ascontiguousarray(image).reshape(-1, BLOCK)
    size = (image.shape[0], image.shape[1])
    blocks = np.full((count_blocks(size), BLOCK), filling, image.dtype)
    as_image(blocks, size)[:] = image
    return blocks
