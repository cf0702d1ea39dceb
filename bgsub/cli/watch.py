"""`bgsub watch`: cameras, live."""

import contextlib
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from bgsub.cli.shared.interrupts import Interrupts
from bgsub.cli.shared.progress import compile_notice

__all__ = ["GIVEN_UP", "watch"]

GIVEN_UP = 3
"""Exit code of a watch that has given up a camera."""


@click.command()
@click.argument("settings_file", metavar="CAMERAS.TOML", type=click.Path(path_type=Path))
@click.option("--metrics", "port", type=click.IntRange(0, 65535), help="Port for /healthz and /metrics on 127.0.0.1.")
@click.option("--check", is_flag=True, help="Check the file of settings, and end.")
@click.option("--quiet", "-q", is_flag=True, help="No status line.")
@click.make_pass_decorator(Interrupts, ensure=True)
def watch(interrupts: Interrupts, /, settings_file: Path, port: int | None, *, check: bool, quiet: bool) -> int:
    """Watch the cameras that a file names, and report when something moves.

    Ends when it is interrupted, or when all sources have ended, with 3 if one was given up.
    """
    from bgsub.watching import read_settings
    from bgsub.watching import watch as watch_all

    settings = read_settings(settings_file)
    if check:
        for camera in settings.cameras:
            click.echo(f"{camera.name}: {camera.address}")
        return 0
    output = str(settings.output)
    interrupts.begin(output)
    with interrupts.closing(), _status_line(quiet=quiet) as show, compile_notice(quiet=quiet):
        given_up = watch_all(
            settings,
            stop=lambda: interrupts.requested,
            port=port,
            show=show,
            on_port=lambda port: click.echo(f"http://127.0.0.1:{port}/metrics"),
        )
        interrupts.complete(output)
    for reason in given_up:
        click.echo(f"bgsub: {reason}", err=True)
    return GIVEN_UP if given_up else 0


@contextlib.contextmanager
def _status_line(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show a line on a terminal, which messages do not tear."""
    from tqdm import tqdm
    from tqdm.contrib.logging import logging_redirect_tqdm

    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    with (
        tqdm(bar_format="{desc}", file=sys.stderr, dynamic_ncols=True, leave=False) as bar,
        logging_redirect_tqdm([logging.getLogger()]),
    ):
        yield bar.set_description_str
