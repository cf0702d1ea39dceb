"""`bgsub run`: from a source to its mask video."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from bgsub.cli.options import detector_options, make_config, progress_bar
from bgsub.errors import ConfigError, UnsupportedError

__all__ = ["run"]

OUTPUTS = ("mask", "overlay", "background", "stats", "save_model")
"""Options that name a file or folder to write."""


@click.command()
@click.argument("source")
@click.option(
    "--mask", "-o", "mask", type=click.Path(path_type=Path), help="Mask video (.mkv), or a folder for bin%06d.png."
)
@click.option(
    "--overlay", type=click.Path(path_type=Path), help="Video (.mp4) of the input with the foreground marked."
)
@click.option("--overlay-style", type=click.Choice(["contour", "tint"]), default="contour", show_default=True)
@click.option("--background", type=click.Path(path_type=Path), help="Image (.png) of the learned background.")
@click.option("--stats", type=click.Path(path_type=Path), help="CSV with a line a frame.")
@detector_options
@click.option("--start", help="First frame: a number, 12.5s or HH:MM:SS.mmm.")
@click.option("--end", help="Last frame, likewise.")
@click.option("--skip", type=int, default=1, show_default=True, help="Take every n-th frame.")
@click.option("--scale", type=float, default=1.0, show_default=True, help="Shrink frames by this factor first.")
@click.option("--rate", type=float, help="Frames a second of an image sequence, or to ask a camera for.")
@click.option("--load-model", type=click.Path(path_type=Path), help="Start from a saved model.")
@click.option("--save-model", type=click.Path(path_type=Path), help="Save the model at the end (.npz).")
@click.option("--two-pass", is_flag=True, help="Learn from all of a file first, then make its masks from the start.")
@click.option("--threads", type=click.IntRange(0), help="Threads of the detector, 0 for one a processor.")
@click.option("--force", "-f", is_flag=True, help="Overwrite existing outputs.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no summary.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def run(source: str, **options: Any) -> None:
    """Write the foreground mask of SOURCE.

    SOURCE is a video file, camera:0, an rtsp:// or http:// address, a folder of images, a pattern like
    in%06d.jpg, or synthetic:walkers.
    """
    from bgsub import pipeline
    from bgsub._opencv import cv2
    from bgsub.video.sources import open_source

    config = make_config(options)
    if options["load_model"] and (options["detector"] or options["assignments"]):
        raise click.UsageError("--load-model brings its own detector and parameters; leave out --detector and --set")
    if options["threads"] is not None:
        cv2.setNumThreads(options["threads"] or -1)
    _check_places(source, options)
    part = {name: options[name] for name in ("start", "end", "skip", "scale")} | {"rate_hz": options["rate"]}
    opened = open_source(source, **part)
    sinks: list[Any] = []
    try:
        detector = config.make_detector(
            rate_hz=opened.info.rate_hz, threads=options["threads"], model=options["load_model"]
        )
        if detector.name != config.detector:  # what was not chosen suits the model, which only now is known
            config = make_config({**options, "detector": detector.name})
            detector = config.make_detector(threads=options["threads"], model=options["load_model"])
        if options["two_pass"] and opened.info.live:
            raise click.UsageError(f"--two-pass needs a source that can be read twice, not {opened.info.name}")
        made = config.make_pipeline(detector)
        sinks = _sinks(options, detector, opened.info.rate_hz or 25.0)
    except BaseException:
        opened.close()
        raise
    passes = 2 if options["two_pass"] else 1
    bar = progress_bar(opened.info.count and opened.info.count * passes, quiet=options["quiet"])
    try:
        if options["two_pass"]:
            _learn_all(open_source(source, **part), replace(config, learning_rate=-1.0).make_pipeline(detector), bar)
        summary = pipeline.run(opened, made, sinks, progress=lambda _: bar.update())
    finally:
        opened.close()
        bar.close()
    if options["as_json"]:
        click.echo(json.dumps({"source": opened.info.name, "detector": detector.name, **asdict(summary)}))
        return
    if options["quiet"]:
        return
    rate = summary.frames / summary.elapsed_s
    model_ms = summary.detect_ms + summary.postprocess_ms
    click.echo(
        f"{summary.frames} frames in {summary.elapsed_s:.1f} s ({rate:.0f} frames/s), "
        f"{100 * summary.foreground:.2f} % foreground, model {model_ms:.2f} ms a frame"
        + (f", {summary.dropped} dropped" if summary.dropped else "")
    )
    for name in OUTPUTS:
        if options[name]:
            click.echo(f"{name.replace('_', ' ')}: {options[name]}")


def _learn_all(source: Any, pipeline: Any, bar: Any) -> None:
    """Show a source to a detector without writing anything."""
    from bgsub.pipeline import run as run_pipeline

    run_pipeline(source, pipeline, [], progress=lambda _: bar.update())


def _check_places(source: str, options: dict[str, Any]) -> None:
    """Refuse outputs that would overwrite the input, whose frames are still needed, or one another."""
    origin = Path(source)
    taken = {(origin.parent if any(sign in origin.name for sign in "%*") else origin).resolve()}
    for name in OUTPUTS:
        if options[name] is None:
            continue
        path = options[name].parent if "%" in options[name].name else options[name]
        if path.resolve() in taken:
            raise ConfigError(f"cannot write {path}: it is the input or another output; choose another name")
        taken.add(path.resolve())


def _sinks(options: dict[str, Any], detector: Any, rate_hz: float) -> list[Any]:
    """Make the sinks that were asked for; none is created on disk before the first frame."""
    from bgsub.video import sinks

    force = options["force"]
    made: list[Any] = []
    mask = options["mask"]
    if mask is not None and "%" in mask.name:
        made.append(sinks.PngSequence(mask.parent, mask.name, force=force))
    elif mask is not None and mask.suffix:
        made.append(sinks.MaskVideo(mask, rate_hz=rate_hz, force=force))
    elif mask is not None:
        made.append(sinks.PngSequence(mask, force=force))
    if options["overlay"]:
        style = options["overlay_style"]
        made.append(sinks.OverlayVideo(options["overlay"], rate_hz=rate_hz, style=style, force=force))
    if options["background"]:
        made.append(sinks.BackgroundImage(options["background"], detector.background_image, force=force))
    if options["stats"]:
        made.append(sinks.StatsCsv(options["stats"], force=force))
    if options["save_model"]:
        if not detector.can_save:
            raise UnsupportedError(f"OpenCV's {detector.name} cannot be saved; leave out --save-model or use norma")
        made.append(sinks.SavedModel(options["save_model"], detector.save, force=force))
    if not made and not options["as_json"]:
        raise click.UsageError("nothing to write: give -o mask.mkv, --overlay, --background, --stats or --save-model")
    return made
