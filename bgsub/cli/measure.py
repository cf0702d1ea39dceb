"""`bgsub evaluate` and `bgsub bench`: accuracy and speed."""

import json
import logging
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from bgsub._files import write_text
from bgsub.cli.options import Size, detector_options, make_config, progress_bar

__all__ = ["bench", "evaluate"]

logger = logging.getLogger(__name__)


@click.command()
@click.argument("datasets", nargs=-1, required=True, type=click.Path(path_type=Path))
@detector_options
@click.option("--compare", default="", help="More detectors to run, such as mog2,knn.")
@click.option("--threads", type=click.IntRange(0), help="Threads of the detectors, 0 for one per CPU.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the report as JSON.")
@click.option("--csv", "csv_path", type=click.Path(path_type=Path), help="Write the report as CSV.")
@click.option("--roc", "roc_path", type=click.Path(path_type=Path), help="Draw ROC curves of the scores (.png).")
@click.option(
    "--sheet", "sheet_path", type=click.Path(path_type=Path), help="Draw input, truth and mask of some frames."
)
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
def evaluate(datasets: tuple[Path, ...], **options: Any) -> None:
    """Score detectors on DATASETS, folders with input/ and groundtruth/ somewhere below.

    The protocol is that of changedetection.net: only frames of temporalROI.txt, labels 85 and 170 are ignored,
    shadow (50) is background, counts pooled per video, means over videos and categories.
    """
    from bgsub.config import Config
    from bgsub.evaluation import PipelineModel, contact_sheet, find_sequences, plot_roc
    from bgsub.evaluation import evaluate as measure

    config = make_config(options)
    names = [name.strip() for name in options["compare"].split(",") if name.strip()]
    configs = {config.detector: config}
    for name in names:
        configs.setdefault(name, make_config({**options, "detector": name, "assignments": ()}))

    def maker(chosen: Config) -> Callable[[Any], PipelineModel]:
        return lambda _sequence: PipelineModel(chosen.make_pipeline(chosen.make_detector(threads=options["threads"])))

    sequences = [sequence for folder in datasets for sequence in find_sequences(folder)]
    frames = sum(len(sequence.inputs) for sequence in sequences) * len(configs)
    with progress_bar(frames, quiet=options["quiet"]) as bar:
        report = measure(
            sequences,
            {name: maker(chosen) for name, chosen in configs.items()},
            progress=lambda *_: bar.update(),
            roc=options["roc_path"] is not None,
            samples=6 if options["sheet_path"] else 0,
        )
    click.echo(report.to_table())
    if options["json_path"]:
        write_text(options["json_path"], json.dumps(report.to_json(), indent=1) + "\n")
    if options["csv_path"]:
        write_text(options["csv_path"], report.to_csv())
    if options["roc_path"]:
        plot_roc(report, options["roc_path"])
    if options["sheet_path"]:
        contact_sheet(report, options["sheet_path"])


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
