"""The command line called as a function, as most of its tests do, and Python in a process of its own."""

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from bgsub.cli import main


def bgsub(*arguments: object) -> int:
    """Run `bgsub` with these arguments and return its exit code."""
    with _own_logging():
        return main([str(argument) for argument in arguments])


def python(code: str, *words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own, in which warnings are errors, and which has to end well."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ | environment,
    )
    assert done.returncode == 0, done.stderr
    return done


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
