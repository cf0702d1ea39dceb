"""The command line: each command parses its options and calls the library."""

import logging
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import click

from bgsub import __version__
from bgsub.cli.describe import detectors, sample, show_config, sources
from bgsub.cli.measure import bench, evaluate
from bgsub.cli.run import run
from bgsub.cli.view import view
from bgsub.cli.warmup import warmup
from bgsub.errors import BgsubError

__all__ = ["main"]

logger = logging.getLogger("bgsub")

DONE, FAILED, BAD_USAGE, INTERRUPTED = 0, 1, 2, 130
"""Exit codes."""


class _Commands(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; click would take an EOFError, such as of a damaged file, for the end of the user's input."""
        try:
            return super().invoke(ctx)
        except EOFError as error:
            raise BgsubError(f"unexpected {type(error).__name__}: {str(error) or 'a file ends too early'}") from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bgsub")
@click.option("-v", "--verbose", count=True, help="Report more; twice for tracebacks.")
def cli(verbose: int) -> None:
    """Separate moving objects from their background in videos, cameras and streams."""
    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    logging.basicConfig(format="bgsub: %(message)s", stream=sys.stderr, force=True)
    logger.setLevel(level)  # ours alone: numba's debug log fills screens
    if level > logging.DEBUG:
        os.environ.setdefault("OPENCV_LOG_LEVEL", "SILENT")  # our errors say the same in one line


for command in (run, view, detectors, sources, show_config, sample, evaluate, bench, warmup):
    cli.add_command(command)


def _on_terminate(_number: int, _frame: Any) -> None:
    raise KeyboardInterrupt


def _occupy_closed_streams() -> None:
    """Open the null device in place of closed standard streams, else an output would receive what libraries print."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; those of the process by default.

    Returns
    -------
    int
        0 done, 1 the run failed, 2 bad usage, 130 interrupted.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        _occupy_closed_streams()
        signal.signal(signal.SIGTERM, _on_terminate)  # outputs are closed as on Ctrl-C
    try:
        status = cli.main(arguments, prog_name="bgsub", standalone_mode=False)
        return status if isinstance(status, int) else DONE
    except click.ClickException as error:
        error.show()
        return BAD_USAGE
    except (KeyboardInterrupt, click.Abort):
        click.echo("bgsub: interrupted; outputs written so far are closed and complete", err=True)
        return INTERRUPTED
    except (BgsubError, ValueError) as error:
        _explain(error)
        return FAILED if isinstance(error, BgsubError) else BAD_USAGE
    except Exception as error:  # noqa: BLE001, the outermost handler: a defect of ours is still one line
        _explain(error, f"unexpected {type(error).__name__}: ")
        return FAILED


def _explain(error: Exception, kind: str = "") -> None:
    if logger.isEnabledFor(logging.DEBUG):
        traceback.print_exception(error)
    click.echo(f"bgsub: error: {kind}{' '.join(str(error).split())}", err=True)
