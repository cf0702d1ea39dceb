"""`bgsub evaluate` and `bgsub bench`: accuracy and speed."""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from bgsub._files import check_file, write_text
from bgsub.cli.options import Size, detector_options, make_config
from bgsub.cli.progress import compile_notice, progress_bar
from bgsub.errors import ConfigError

__all__ = ["bench", "evaluate"]

logger = logging.getLogger(__name__)

_REPORTS: dict[str, tuple[str, ...]] = {
    "json_path": (),
    "csv_path": (),
    "roc_path": (".png", ".svg", ".pdf"),
    "sheet_path": (".png",),
}
"""Options of `evaluate` that name a file to write, and the suffixes it may have; any where there are none."""


@click.command()
@click.argument("datasets", nargs=-1, required=True, type=click.Path(path_type=Path))
@detector_options
@click.option("--compare", default="", help="More detectors to run, such as mog2,knn.")
@click.option("--threads", type=click.IntRange(0, 1024), help="Threads of the detectors, 0 for one per CPU.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the report as JSON.")
@click.option("--csv", "csv_path", type=click.Path(path_type=Path), help="Write the report as CSV.")
@click.option("--roc", "roc_path", type=click.Path(path_type=Path), help="Draw ROC curves of the scores (.png).")
@click.option(
    "--sheet", "sheet_path", type=click.Path(path_type=Path), help="Draw input, truth and mask of some frames."
)
@click.option("--force", "-f", is_flag=True, help="Overwrite existing files.")
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
def evaluate(datasets: tuple[Path, ...], **options: Any) -> None:
    """Score detectors on DATASETS, folders with input/ and groundtruth/ somewhere below.

    The protocol is that of changedetection.net: only frames of temporalROI.txt, labels 85 and 170 are ignored,
    shadow (50) is background, counts pooled per video, means over videos and categories.
    """
    from bgsub.config import Config
    from bgsub.evaluation import PipelineModel, contact_sheet, find_sequences, plot_roc
    from bgsub.evaluation import evaluate as measure

    paths = _check_reports(options)
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
            roc="roc_path" in paths,
            samples=6 if "sheet_path" in paths else 0,
        )
    click.echo(report.to_table())
    writers: dict[str, Callable[[Path], object]] = {
        "json_path": lambda path: write_text(path, json.dumps(report.to_json(), indent=1) + "\n"),
        "csv_path": lambda path: write_text(path, report.to_csv()),
        "roc_path": lambda path: plot_roc(report, path),
        "sheet_path": lambda path: contact_sheet(report, path),
    }
    for name, path in paths.items():
        writers[name](path)


def _check_reports(options: Mapping[str, Any]) -> dict[str, Path]:
    """Return the files to write by option, checked before anything is measured."""
    paths: dict[str, Path] = {}
    for name, suffixes in _REPORTS.items():
        path = options[name]
        if path is None:
            continue
        if name == "roc_path" and not path.suffix:
            path = path.with_suffix(".png")
        check_file(path, suffixes, options["force"])
        if path.resolve() in (other.resolve() for other in paths.values()):
            raise ConfigError(f"cannot write {path}: it is another output; choose another name")
        paths[name] = path
    return paths


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

    with compile_notice():
        rows = measure(
            sizes or DEFAULT_SIZES,
            threads or (1, 0),
            rounds=rounds,
            progress=lambda row: logger.info("%s %s: %.2f ms", row.size, row.detector, row.ms),
        )
    click.echo(json.dumps([asdict(row) for row in rows]) if as_json else table(rows))
