"""The contract of a sink."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import ClassVar, Self

from bgsub.frames import Result

__all__ = ["Sink"]


class Sink(ABC):
    """Something that takes results one by one.

    A sink creates nothing before its first result, and what it wrote stays readable whatever happens: it is closed
    after an error too.
    """

    any_thread: ClassVar[bool] = False
    """Whether a run may call `write` on another thread than its caller's, never two at once."""

    @abstractmethod
    def write(self, result: Result) -> None:
        """Take one result.

        Raises
        ------
        SinkError
            If it cannot be written; the part before stays readable.
        """

    def close(self) -> None:  # noqa: B027 - a sink of one's own may have nothing to finish
        """Finish the output. Closing twice does no harm."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
