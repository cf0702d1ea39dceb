"""`bgsub bench`: speed."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bgsub._files import check_file, write_text
from bgsub.cli.shared.options import Size
from bgsub.cli.shared.progress import progress_bar
from bgsub.errors import ConfigError

if TYPE_CHECKING:
    from bgsub.bench import ClipSource, DetectorSpec, Report

__all__ = ["bench"]

_SCENE_SIZES = ((240, 320), (480, 640), (720, 1280), (1080, 1920), (2160, 3840))


@click.command()
@click.option("--video", "videos", multiple=True, help="Video to measure on, or any other source; several are allowed.")
@click.option(
    "--data",
    "trees",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Folder with sequences of images in the layout of changedetection.net somewhere below.",
)
@click.option(
    "--detectors",
    "-d",
    "texts",
    multiple=True,
    help="Detectors, such as adaptive:slots=2,mog2,package.module:Class.  [default: all]",
)
@click.option("--size", "sizes", type=Size(), multiple=True, help="Rescale frames; several sizes may be given.")
@click.option(
    "--threads", type=click.IntRange(0, 1024), multiple=True, help="Threads, 0 for one per CPU; several may be given."
)
@click.option("--rounds", type=click.IntRange(1), help="Turns of each detector.  [default: 50; 20 in scenes]")
@click.option("--frames", type=click.IntRange(2), help="Most frames to use of each clip, within 1 GB.  [default: 300]")
@click.option("--start", type=click.IntRange(1), help="First frame to use of each clip, from 1.  [default: 1]")
@click.option("--stages", is_flag=True, help="Measure the stages of a run as well.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write everything as JSON.")
@click.option("--csv", "csv_path", type=click.Path(path_type=Path), help="Write the times as CSV.")
@click.option("--force", "-f", is_flag=True, help="Overwrite existing files.")
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
def bench(**options: Any) -> None:
    """Measure milliseconds per frame of detectors beside OpenCV's, on the same frames in the same process.

    The frames are those of videos or of a data set, else of a generated scene in several sizes. Ctrl-C ends early
    with the measurements so far.
    """
    from bgsub._lab.specs import split_specs
    from bgsub.bench import CLIP_ROUNDS, SCENE_ROUNDS, Report, count_steps, parse
    from bgsub.bench import bench as measure

    paths = _check_outputs(options)
    real = bool(options["videos"] or options["trees"])
    specs: list[DetectorSpec] = [parse(name) for text in options["texts"] for name in split_specs(text)]
    clips = _real_clips(options) if real else _scenes(options)
    settings = {
        "rounds": options["rounds"] or (CLIP_ROUNDS if real else SCENE_ROUNDS),
        "with_stages": options["stages"],
    }
    threads, report = options["threads"] or (1, 0), Report()
    total = count_steps(len(clips), specs, threads, **settings)
    try:
        with progress_bar(total, quiet=options["quiet"], unit="turn") as bar:
            measure(clips, specs, threads, **settings, report=report, progress=bar.update)
    finally:  # an error or Ctrl-C after an hour leaves the measurements before
        if report.rows:
            _write(report, paths)


def _real_clips(options: Mapping[str, Any]) -> "list[ClipSource]":
    """Return the clips of videos and data sets, each in every size."""
    from bgsub.bench import open_clip, sequence_clip
    from bgsub.evaluation import find_sequences

    names = _short_names(options["videos"])
    sequences = [sequence for tree in options["trees"] for sequence in find_sequences(tree)]
    part = {name: options[name] for name in ("frames", "start") if options[name] is not None}
    clips = []
    for size in options["sizes"] or (None,):
        clips += [open_clip(text, name=names[text], size=size, **part) for text in options["videos"]]
        clips += [sequence_clip(sequence, size=size, **part) for sequence in sequences]
    return clips


def _scenes(options: Mapping[str, Any]) -> "list[ClipSource]":
    from bgsub.bench import scene_clip

    for name in ("frames", "start"):
        if options[name] is not None:
            raise click.UsageError(f"--{name} applies to --video and --data, not to generated scenes")
    return [scene_clip(size) for size in options["sizes"] or _SCENE_SIZES]


def _short_names(videos: Sequence[str]) -> dict[str, str | None]:
    """Return the last part of each path, if no other has the same; None for the full text."""
    names = {text: "" if "://" in text else Path(text).name for text in videos}
    return {text: name if list(names.values()).count(name) == 1 and name else None for text, name in names.items()}


def _check_outputs(options: Mapping[str, Any]) -> dict[str, Path]:
    """Return the files to write by option, checked before anything is measured."""
    paths = {name: options[name] for name in ("json_path", "csv_path") if options[name] is not None}
    for path in paths.values():
        check_file(path, (), options["force"])
    if len({path.resolve() for path in paths.values()}) < len(paths):
        raise ConfigError(f"cannot write {options['csv_path']}: it is another output; choose another name")
    return paths


def _write(report: "Report", paths: Mapping[str, Path]) -> None:
    click.echo(report.to_table())
    if "json_path" in paths:
        write_text(paths["json_path"], json.dumps(report.to_json(), indent=1) + "\n")
    if "csv_path" in paths:
        write_text(paths["csv_path"], report.to_csv())
