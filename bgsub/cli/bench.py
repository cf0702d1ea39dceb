"""`bgsub bench`: speed."""

import json
import logging
from dataclasses import asdict

import click

from bgsub.cli.options import Size

__all__ = ["bench"]

logger = logging.getLogger(__name__)


@click.command()
@click.option("--size", "sizes", type=Size(), multiple=True, help="Frame size; several may be given.")
@click.option(
    "--threads", type=click.IntRange(0), multiple=True, help="Threads, 0 for one per CPU; several may be given."
)
@click.option("--rounds", type=click.IntRange(1), default=20, show_default=True, help="Turns of each detector.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def bench(sizes: tuple[tuple[int, int], ...], threads: tuple[int, ...], rounds: int, as_json: bool) -> None:
    """Measure milliseconds per frame of the detectors and of OpenCV's, on the same frames in the same process."""
    from bgsub.bench import DEFAULT_SIZES, table
    from bgsub.bench import bench as measure

    rows = measure(
        sizes or DEFAULT_SIZES,
        threads or (1, 0),
        rounds=rounds,
        progress=lambda row: logger.info("%s %s: %.2f ms", row.size, row.detector, row.ms),
    )
    click.echo(json.dumps([asdict(row) for row in rows]) if as_json else table(rows))
