"""The command line: each command parses its options and calls the library."""

import gc
import io
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import click

from bgsub import __version__
from bgsub.cli.bench import bench
from bgsub.cli.describe import detectors, sample, show_config, sources
from bgsub.cli.evaluate import evaluate, score
from bgsub.cli.papers import papers
from bgsub.cli.run import run
from bgsub.cli.scan import scan
from bgsub.cli.shared.interrupts import Interrupts
from bgsub.cli.view import view
from bgsub.cli.warmup import warmup
from bgsub.cli.watch import watch
from bgsub.errors import BgsubError, SinkError, conceal

__all__ = ["main"]

logger = logging.getLogger("bgsub")

_COLLECT_AFTER = 20_000
"""Objects after which Python looks for unused ones; it does after 700, ten thousand times while libraries are imported,
which is a tenth of the time to start."""

DONE, FAILED, BAD_USAGE = 0, 1, 2
"""Exit codes, beside those of an interrupted command."""


class _InterruptedError(BaseException):
    """A KeyboardInterrupt that click passes on without an empty line of its own."""


class _Commands(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; click would take an EOFError, such as of a damaged file, for the end of the user's input."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise _InterruptedError from None
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


_COMMANDS = (
    run,
    scan,
    watch,
    view,
    detectors,
    sources,
    show_config,
    sample,
    evaluate,
    score,
    bench,
    papers,
    warmup,
)
for command in _COMMANDS:
    cli.add_command(command)


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
        0 done, 1 the run failed, 2 bad usage, 128 and the number of the signal interrupted: 130 by Ctrl-C.
    """
    interrupts = Interrupts()
    if argv is not None:
        return _run(list(argv), interrupts)
    _occupy_closed_streams()
    gc.set_threshold(_COLLECT_AFTER)
    interrupts.install()
    status = _run(sys.argv[1:], interrupts)
    interrupts.ignore()
    return status


def _run(arguments: list[str], interrupts: Interrupts) -> int:
    try:
        status = cli.main(arguments, prog_name="bgsub", standalone_mode=False, obj=interrupts)
        return status if isinstance(status, int) else DONE
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        click.echo(conceal(shown.getvalue()), err=True, nl=False)  # it may repeat an address
        return BAD_USAGE
    except (KeyboardInterrupt, _InterruptedError, click.Abort):
        click.echo(interrupts.message, err=True)
        return interrupts.exit_code
    except (BgsubError, ValueError) as error:
        _explain(error)
        return FAILED if isinstance(error, BgsubError) else BAD_USAGE
    except MemoryError as error:
        _explain(error, "there is not enough memory for frames of this size; shrink them, as with --scale 0.5: ")
        return FAILED
    except OSError as error:
        if traceback.extract_tb(error.__traceback__)[-1].name == click.echo.__name__:
            _explain(SinkError(f"cannot write to the standard output: {error.strerror}; write to another disk"))
        else:
            _explain(error, "the system refuses: ")
        return FAILED
    except Exception as error:  # noqa: BLE001, the outermost handler: a defect of ours is still one line
        _explain(error, f"unexpected {type(error).__name__}: ")
        return FAILED


def _explain(error: Exception, kind: str = "") -> None:
    if logger.isEnabledFor(logging.DEBUG):
        click.echo(conceal("".join(traceback.format_exception(error))), err=True, nl=False)
    text = str(error) if isinstance(error, BgsubError | ValueError) else conceal(str(error))
    click.echo(f"bgsub: error: {kind}{' '.join(text.split())}", err=True)
