"""What stands for pixels and cells beyond the border."""

from bgsub._numba import inlined

__all__ = ["reflect"]


@inlined
def reflect(index, length):
    """Return the place that stands for one inside or beyond the border: mirrored at the last, which is not repeated."""
    while length > 1 and not 0 <= index < length:
        index = -index if index < 0 else 2 * (length - 1) - index
    return index if length > 1 else 0
