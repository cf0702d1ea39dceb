"""The command line: each command parses its options and calls the library."""

import json
import logging
import signal
import sys
import traceback
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from bgsub import __version__
from bgsub.errors import BgsubError, ConfigError

__all__ = ["main"]

logger = logging.getLogger("bgsub")

DONE, FAILED, BAD_USAGE, INTERRUPTED = 0, 1, 2, 130
"""Exit codes."""


class _Assignment(click.ParamType):
    """`name=value`, as a pair."""

    name = "name=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Split at the first equals sign."""
        name, equals, text = value.partition("=")
        if not equals or not name:
            self.fail(f"{value!r} is not of the form name=value", param, ctx)
        return name.strip(), text


class _Size(click.ParamType):
    """`WIDTHxHEIGHT`, as (height, width)."""

    name = "WIDTHxHEIGHT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Read two whole numbers."""
        width, _, height = str(value).lower().partition("x")
        if not (width.isdigit() and height.isdigit() and int(width) and int(height)):
            self.fail(f"{value!r} is not of the form 640x480", param, ctx)
        return int(height), int(width)


def _detector_options(command: Any) -> Any:
    """Options that make a `Config`."""
    options = [
        click.option(
            "--detector", "-d", help="norma, olk, mog2 or knn; `bgsub detectors` tells more.  [default: norma]"
        ),
        click.option(
            "--set", "assignments", type=_Assignment(), multiple=True, help="Set a parameter of the detector."
        ),
        click.option("--config", type=click.Path(path_type=Path), help="TOML file of settings; options win over it."),
        click.option("--roi", help="Region of interest: '10,10 310,10 160,230', a .json of polygons, or an image."),
        click.option("--median", type=int, help="Side of the median filter, odd; 1 for none.  [default: 5]"),
        click.option("--min-area", type=int, help="Drop foreground regions of fewer pixels.  [default: 0]"),
        click.option("--fill-holes/--keep-holes", default=None, help="Fill background that foreground encloses."),
        click.option("--raw", is_flag=True, help="No post-processing at all."),
        click.option("--learning-rate", type=float, help="-1 automatic, 0 frozen, else the share a frame replaces."),
        click.option("--warmup", type=int, help="First frames to learn from without foreground."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _config(options: dict[str, Any]) -> Any:
    """Build the `Config`: defaults, then the file, then the options."""
    from bgsub.config import Config
    from bgsub.postprocess import RAW

    config = Config.from_toml(options["config"]) if options["config"] else Config()
    if options["detector"] and options["detector"] != config.detector:
        config = replace(config, detector=options["detector"], parameters={})
    config = config.with_parameters(dict(options["assignments"]))
    names = ("median", "min_area", "fill_holes")
    post = {name: options[name] for name in names if options[name] is not None}
    if options["raw"] and post:
        raise click.UsageError("--raw excludes --median, --min-area and --fill-holes")
    postprocess = RAW if options["raw"] else replace(config.postprocess, **post)
    given = {name: options[name] for name in ("roi", "learning_rate", "warmup") if options[name] is not None}
    return replace(config, postprocess=postprocess, **given)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bgsub")
@click.option("-v", "--verbose", count=True, help="Tell more; twice for tracebacks.")
def cli(verbose: int) -> None:
    """Tell moving things from their background in videos, cameras and streams."""
    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    logging.basicConfig(level=level, format="bgsub: %(message)s", stream=sys.stderr, force=True)


@cli.command()
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
@_detector_options
@click.option("--start", help="First frame: a number, 12.5s or HH:MM:SS.mmm.")
@click.option("--end", help="Last frame, likewise.")
@click.option("--skip", type=int, default=1, show_default=True, help="Take every n-th frame.")
@click.option("--scale", type=float, default=1.0, show_default=True, help="Shrink frames by this factor first.")
@click.option("--rate", type=float, help="Frames a second of an image sequence, or to ask a camera for.")
@click.option("--load-model", type=click.Path(path_type=Path), help="Start from a saved model.")
@click.option("--save-model", type=click.Path(path_type=Path), help="Save the model at the end (.npz).")
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

    config = _config(options)
    if options["load_model"] and (options["detector"] or options["assignments"]):
        raise click.UsageError("--load-model brings its own detector and parameters; leave out --detector and --set")
    if options["threads"] is not None:
        cv2.setNumThreads(options["threads"] or -1)
    if options["save_model"] and options["save_model"].exists() and not options["force"]:
        raise ConfigError(f"{options['save_model']} exists; choose another name or add --force")
    opened = open_source(
        source,
        start=options["start"],
        end=options["end"],
        skip=options["skip"],
        scale=options["scale"],
        rate_hz=options["rate"],
    )
    sinks: list[Any] = []
    try:
        detector = config.make_detector(
            rate_hz=opened.info.rate_hz, threads=options["threads"], model=options["load_model"]
        )
        made = config.make_pipeline(detector)
        sinks = _sinks(options, detector, opened.info.rate_hz or 25.0)
    except BaseException:
        opened.close()
        raise
    bar = _progress(opened.info.count, quiet=options["quiet"])
    try:
        summary = pipeline.run(opened, made, sinks, progress=lambda _: bar.update())
    finally:
        bar.close()
        if options["save_model"] and detector.shape is not None:
            detector.save(options["save_model"])
    if options["quiet"]:
        return
    if options["as_json"]:
        click.echo(json.dumps({"source": opened.info.name, "detector": detector.name, **asdict(summary)}))
        return
    rate = summary.frames / summary.elapsed_s
    click.echo(
        f"{summary.frames} frames in {summary.elapsed_s:.1f} s ({rate:.0f} frames/s), "
        f"{100 * summary.foreground:.2f} % foreground, model {summary.detect_ms + summary.postprocess_ms:.2f} ms a frame"
        + (f", {summary.dropped} dropped" if summary.dropped else "")
    )
    for name in ("mask", "overlay", "background", "stats", "save_model"):
        if options[name]:
            click.echo(f"{name.replace('_', ' ')}: {options[name]}")


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
    if not made and not options["save_model"] and not options["as_json"]:
        raise click.UsageError("nothing to write: give -o mask.mkv, --overlay, --background, --stats or --save-model")
    return made


def _progress(total: int | None, *, quiet: bool, unit: str = "frame") -> Any:
    """Return a progress bar, which shows itself only on a terminal."""
    from tqdm import tqdm

    return tqdm(total=total, unit=unit, disable=quiet or not sys.stderr.isatty(), file=sys.stderr, dynamic_ncols=True)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def detectors(as_json: bool) -> None:
    """List the detectors, each with its parameters, their ranges and defaults."""
    from bgsub.bank import DETECTORS, detector_class
    from bgsub.bank.parameters import defaults

    found = {}
    for name in DETECTORS:
        kind = detector_class(name)
        values = defaults(kind)
        found[name] = {
            "summary": (kind.__doc__ or "").strip().splitlines()[0],
            "parameters": {
                item.name: {
                    "default": values[item.name],
                    "range": item.range_text,
                    "unit": item.unit,
                    "meaning": item.meaning,
                }
                for item in kind.PARAMETERS
            },
        }
    if as_json:
        click.echo(json.dumps(found))
        return
    for name, description in found.items():
        click.echo(f"{name}: {description['summary']}")
        for parameter, entry in description["parameters"].items():  # type: ignore[attr-defined]
            shown = "none" if entry["default"] is None else str(entry["default"]).lower()
            unit = f" {entry['unit']}" if entry["unit"] else ""
            click.echo(f"  {parameter:<16} {shown + unit:<16} {entry['range']:<38} {entry['meaning']}")


@cli.command("config")
@_detector_options
def show_config(**options: Any) -> None:
    """Print the settings that the given options lead to, as TOML for --config."""
    click.echo(_config(options).to_toml(), nl=False)


@cli.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--scene", default="walkers", show_default=True, help="walkers (everything), water, tree, light, stop or easy."
)
@click.option("--frames", type=click.IntRange(1), default=400, show_default=True)
@click.option("--size", type=_Size(), default="320x240", show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--force", "-f", is_flag=True, help="Overwrite an existing folder.")
def sample(out: Path, scene: str, frames: int, size: tuple[int, int], seed: int, force: bool) -> None:
    """Write a generated clip with its ground truth to the folder OUT, in the change-detection layout."""
    from bgsub.video.synthetic import open_synthetic, write_sample

    height, width = size
    made = open_synthetic(f"{scene}?frames={frames}&size={width}x{height}&seed={seed}").scene
    write_sample(out, made, force=force)
    click.echo(f"{frames} frames of {width}x{height}: {out}")


@cli.command()
@click.argument("datasets", nargs=-1, required=True, type=click.Path(path_type=Path))
@_detector_options
@click.option("--compare", default="", help="More detectors to run, such as mog2,knn.")
@click.option("--threads", type=click.IntRange(0), help="Threads of the detectors, 0 for one a processor.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the report as JSON.")
@click.option("--csv", "csv_path", type=click.Path(path_type=Path), help="Write the report as CSV.")
@click.option("--roc", "roc_path", type=click.Path(path_type=Path), help="Draw ROC curves of the scores (.png).")
@click.option(
    "--sheet", "sheet_path", type=click.Path(path_type=Path), help="Draw input, truth and mask of some frames."
)
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
def evaluate(datasets: tuple[Path, ...], **options: Any) -> None:
    """Score detectors on DATASETS, folders with input/ and groundtruth/ somewhere below.

    The protocol is that of changedetection.net: only frames of temporalROI.txt, labels 85 and 170 not counted,
    shadow (50) is background, counts pooled a video, means over videos and categories.
    """
    from bgsub import evaluation_run

    names = [name.strip() for name in options["compare"].split(",") if name.strip()]
    evaluation_run.evaluate_folders(
        datasets,
        _config(options),
        compare=names,
        threads=options["threads"],
        json_path=options["json_path"],
        csv_path=options["csv_path"],
        roc_path=options["roc_path"],
        sheet_path=options["sheet_path"],
        bar=lambda total: _progress(total, quiet=options["quiet"]),
        echo=click.echo,
    )


@cli.command()
@click.option("--size", "sizes", type=_Size(), multiple=True, help="Frame size; several may be given.")
@click.option(
    "--threads", type=click.IntRange(0), multiple=True, help="Threads, 0 for one a processor; several may be given."
)
@click.option("--rounds", type=click.IntRange(1), default=30, show_default=True, help="Timed frames a detector.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def bench(sizes: tuple[tuple[int, int], ...], threads: tuple[int, ...], rounds: int, as_json: bool) -> None:
    """Measure milliseconds a frame of the detectors and of OpenCV's, on the same frames in the same process."""
    from bgsub.bench import DEFAULT_SIZES, table
    from bgsub.bench import bench as measure

    rows = measure(
        sizes or DEFAULT_SIZES,
        threads or (1, 0),
        rounds=rounds,
        progress=lambda row: logger.info("%s %s: %.2f ms", row.size, row.detector, row.ms),
    )
    click.echo(json.dumps([asdict(row) for row in rows]) if as_json else table(rows))


def _on_terminate(_number: int, _frame: Any) -> None:
    raise KeyboardInterrupt


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
    except BrokenPipeError:
        return DONE
    except Exception as error:  # noqa: BLE001, the outermost place: a defect of ours is still one line
        _explain(error, f"unexpected {type(error).__name__}: ")
        return FAILED


def _explain(error: Exception, kind: str = "") -> None:
    if logging.getLogger().isEnabledFor(logging.DEBUG):
        traceback.print_exception(error)
    click.echo(f"bgsub: error: {kind}{' '.join(str(error).split())}", err=True)
