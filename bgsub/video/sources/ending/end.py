"""The result of comparing the end of a video with its container."""

from typing import NamedTuple

__all__ = ["End"]


class End(NamedTuple):
    """Whether a video has been read to its end.

    Examples
    --------
    >>> End.missing(10, 15)
    End(verified=False, fault='5 bytes are missing at its end')
    """

    verified: bool
    """Whether the container shows that nothing is missing; False where it cannot."""
    fault: str = ""
    """Description of the missing part, if there is one."""

    @classmethod
    def missing(cls, size: int, stated: int) -> "End":
        """Compare the size of a file with the one it states, both in bytes; a larger file is complete."""
        if size >= stated:
            return cls(verified=True)
        return cls(verified=False, fault=f"{stated - size} bytes are missing at its end")
