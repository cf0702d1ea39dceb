"""Copies of rows and images, by loops.

Where an array is assigned to a slice, numba compiles the words of an error for arrays that do not fit: seconds for its
functions of strings, in each function that assigns one.
"""

from bgsub._numba import inlined

__all__ = ["copy_image", "copy_row"]


@inlined
def copy_row(row, to):
    """Write a row into one as long."""
    for x in range(to.shape[0]):
        to[x] = row[x]


@inlined
def copy_image(image, to):
    """Write an image into one of its size."""
    for y in range(to.shape[0]):
        copy_row(image[y], to[y])
