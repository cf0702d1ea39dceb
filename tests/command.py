"""The command line called as a function, as most of its tests do."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from bgsub.cli import main


def bgsub(*arguments: object) -> int:
    """Run `bgsub` with these arguments and return its exit code."""
    with _own_logging():
        return main([str(argument) for argument in arguments])


@contextmanager
def _own_logging() -> Iterator[None]:
    """Give back the handlers and the level of the log, which the command line makes its own."""
    root, ours = logging.getLogger(), logging.getLogger("bgsub")
    handlers, level = root.handlers[:], ours.level
    root.handlers.clear()  # else they would be closed
    try:
        yield
    finally:
        root.handlers[:] = handlers
        ours.setLevel(level)
