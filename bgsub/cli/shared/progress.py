"""What a command shows on stderr while it works."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

__all__ = ["ProgressBar", "compile_notice", "progress_bar"]


class ProgressBar:
    """Counts frames on a terminal; while code is compiled, it says so."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self._compiling = False

    def update(self, n: int = 1) -> None:
        """Count more frames."""
        if self._compiling:
            self._compiling = False
            self._bar.set_description_str("", refresh=False)
        self._bar.update(n)

    def set_total(self, total: int) -> None:
        """Set the number of frames to come, for the time left."""
        self._bar.total = total or None
        self._bar.refresh()

    def show_compiling(self, name: str) -> None:
        """Show the name of the function that is being compiled."""
        self._compiling = True
        self._bar.set_description_str(f"compiling, once per installation: {name} ")


@contextmanager
def progress_bar(total: int | None, *, quiet: bool, unit: str = "frame") -> Iterator[ProgressBar]:
    """Show a progress bar on a terminal, and elsewhere only that the first frame waits for code to be compiled."""
    from tqdm import tqdm

    from bgsub._numba import report_compiling

    hidden = quiet or not _on_terminal()
    with tqdm(total=total, unit=unit, disable=hidden, file=sys.stderr, dynamic_ncols=True) as shown:
        bar = ProgressBar(shown)
        if hidden:
            with compile_notice(quiet=quiet):
                yield bar
        else:
            with report_compiling(bar.show_compiling):
                yield bar


@contextmanager
def compile_notice(*, quiet: bool = False) -> Iterator[None]:
    """Say in one line that code is being compiled, when it begins; nothing if all of it is in the cache."""
    from bgsub._numba import report_compiling

    reported: list[str] = []

    def report(name: str) -> None:
        if not quiet and not reported:
            click.echo("bgsub: compiling, which takes up to a minute and happens once per installation", err=True)
        reported.append(name)

    with report_compiling(report):
        yield


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
