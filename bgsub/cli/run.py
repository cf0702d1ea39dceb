"""`bgsub run`: from a source to its outputs."""

import json
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from bgsub._plugins import warn_once
from bgsub.cli.shared.interrupts import Interrupts, TrackedOutput
from bgsub.cli.shared.objects import count_text, make_finder, object_options
from bgsub.cli.shared.options import auth_option, detector_options, find_auth, make_config
from bgsub.cli.shared.progress import progress_bar
from bgsub.errors import ConfigError

if TYPE_CHECKING:
    from bgsub.config import Config
    from bgsub.detectors import Detector
    from bgsub.frames import Result
    from bgsub.objects import ObjectFinder
    from bgsub.pipeline import Summary
    from bgsub.video.sinks import Sink
    from bgsub.video.sources import FrameSource

__all__ = ["run"]


class _RunCommand(click.Command):
    """A command with one more option for each output that a registered sink writes.

    They are looked up when the command is used: sinks of other packages appear as the built-in ones do, and the rest
    of the command line does not wait for them to be imported.
    """

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return source, outputs, then the other options."""
        argument, *others = super().get_params(ctx)
        used = {flag for parameter in others for flag in (*parameter.opts, *parameter.secondary_opts)}
        outputs = []
        for option in _output_options():
            if used.isdisjoint(option.opts):
                used.update(option.opts)
                outputs.append(option)
            else:  # only possible in another package
                warn_once(f"a sink cannot have the option {option.opts[0]}, which exists; the sink is not offered")
        return [argument, *outputs, *others]


def _output_options() -> list[click.Option]:
    from bgsub.video.sinks import sink_options

    made = []
    for option in sink_options():
        names = [f"--{option.name}", *filter(None, [option.short]), _key(option.name)]
        made.append(click.Option(names, type=click.Path(path_type=Path), help=f"{option.help}."))
        made += [
            click.Option(
                [f"--{option.name}-{setting.name}", _key(option.name, setting.name)],
                type=click.Choice(setting.choices),
                default=setting.default,
                show_default=True,
                help=setting.help or None,
            )
            for setting in option.settings
        ]
    return made


def _key(*names: str) -> str:
    """Return the keyword under which click passes the option of an output on; no other option has such a keyword."""
    return "_".join(("output", *names)).replace("-", "_").lower()


@click.command(cls=_RunCommand)
@click.argument("source")
@detector_options
@object_options
@click.option("--start", help="First frame: a number, 12.5s or HH:MM:SS.mmm.")
@click.option("--end", help="Last frame, in the same form.")
@click.option("--skip", type=int, default=1, show_default=True, help="Use every n-th frame.")
@click.option("--scale", type=float, default=1.0, show_default=True, help="Shrink frames by this factor first.")
@click.option("--rate", type=float, help="Frames per second of an image sequence, or to ask a camera for.")
@click.option(
    "--save-every",
    "save_minutes",
    type=click.FloatRange(min=0),
    default=10.0,
    show_default=True,
    help="Minutes between two saves of the model while running; 0 for only at the end.",
)
@auth_option
@click.option("--load-model", type=click.Path(path_type=Path), help="Start from a saved model.")
@click.option("--two-pass", is_flag=True, help="Learn from all of a file first, then make its masks from the start.")
@click.option("--threads", type=click.IntRange(0, 1024), help="Threads of the detector, 0 for one per CPU.")
@click.option("--force", "-f", is_flag=True, help="Overwrite existing outputs.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no summary.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.make_pass_decorator(Interrupts, ensure=True)
def run(interrupts: Interrupts, /, source: str, **options: Any) -> None:
    """Write the foreground mask of SOURCE.

    SOURCE is a video file, camera:0, an rtsp:// or http:// address, a folder of images, a pattern like
    in%06d.jpg, or synthetic:walkers; `bgsub sources` lists every kind.
    """
    from bgsub._opencv import cv2
    from bgsub.video.sources import open_source

    config = make_config(options)
    if options["load_model"] and (options["detector"] or options["assignments"]):
        raise click.UsageError("--load-model brings its own detector and parameters; leave out --detector and --set")
    if options["threads"] is not None:
        cv2.setNumThreads(options["threads"] or -1)
    outputs = _find_outputs(source, options)
    finder = make_finder(options, wanted="objects" in outputs)
    part = {name: options[name] for name in ("start", "end", "skip", "scale")} | {"rate_hz": options["rate"]}
    if auth := find_auth(options):
        part["auth"] = auth
    opened = open_source(source, **part)
    try:
        if options["two_pass"] and not opened.can_reopen:
            raise click.UsageError(f"--two-pass needs a source that can be read twice, not {opened.info.name}")
        config, detector = _make_detector(config, options, opened.info.rate_hz)
        made = _make_sinks(outputs, options, detector, finder, opened.info.rate_hz)
        sinks = [TrackedOutput(sink, str(path), interrupts) for sink, path in zip(made, outputs.values(), strict=True)]
        again = partial(open_source, source, **part) if options["two_pass"] else None
        summary = _run_passes(config, detector, again, opened, sinks, finder, interrupts, options["quiet"])
    finally:
        opened.close()
    _report(summary, opened.info.name, detector.name, outputs, finder, options)


def _find_outputs(source: str, options: Mapping[str, Any]) -> dict[str, Path]:
    """Return the paths to write to by option.

    Raises
    ------
    ConfigError
        If one would overwrite the input, whose frames are still needed, or another output.
    """
    from bgsub.video.sinks import sink_options

    names = [option.name for option in sink_options()]
    outputs = {name: options[_key(name)] for name in names if options.get(_key(name)) is not None}
    origin = Path("/dev/stdin" if source == "-" else source)
    used = [origin.parent if any(sign in origin.name for sign in "%*") else origin]
    for path in outputs.values():
        file = path.parent if "%" in path.name else path
        if any(_are_same(file, other) for other in used):
            raise ConfigError(f"cannot write {file}: it is the input or another output; choose another name")
        if _is_standard_output(file) and (options["as_json"] or not options["quiet"]):
            raise ConfigError(f"cannot write {file}: it is where the summary goes; give --quiet or choose another name")
        used.append(file)
    return outputs


def _are_same(one: Path, other: Path) -> bool:
    """Return whether two paths lead to one file, also by links; neither need exist."""
    try:
        return one.resolve() == other.resolve() or one.samefile(other)
    except (OSError, RuntimeError, ValueError):  # one is missing, a loop of links, or no path at all
        return False


def _is_standard_output(path: Path) -> bool:
    """Return whether standard output goes to this regular file, where each of two writers overwrites the other."""
    try:
        output = os.fstat(1)
        return stat.S_ISREG(output.st_mode) and os.path.samestat(output, path.stat())
    except (OSError, ValueError):  # one of them is closed, or missing
        return False


def _make_detector(config: "Config", options: dict[str, Any], rate_hz: float | None) -> tuple["Config", "Detector"]:
    """Return the detector, and the settings that suit it: those of a loaded model are known only now."""
    threads, model = options["threads"], options["load_model"]
    detector = config.make_detector(rate_hz=rate_hz, threads=threads, model=model)
    if detector.name == config.detector:
        return config, detector
    config = make_config({**options, "detector": detector.name})
    return config, config.make_detector(threads=threads, model=model)


def _make_sinks(
    outputs: Mapping[str, Path],
    options: Mapping[str, Any],
    detector: "Detector",
    finder: "ObjectFinder | None",
    rate_hz: float | None,
) -> list["Sink"]:
    """Make the sinks that were asked for; none creates anything on disk before the first frame."""
    from bgsub.video.sinks import RunContext, find_sink, sink_options

    known = {option.name: option for option in sink_options()}
    if not outputs and not options["as_json"] and finder is None:
        *names, last = (option.usage for option in known.values())
        raise click.UsageError(f"nothing to write: give {', '.join(names)} or {last}")
    context = RunContext(rate_hz or 25.0, options["force"], detector, 60 * options["save_minutes"], finder)
    sinks = []
    for name, path in outputs.items():
        settings = {one.name: options[_key(name, one.name)] for one in known[name].settings}
        sinks.append(find_sink(name, path).from_path(path, context, **settings))
    return sinks


def _run_passes(
    config: "Config",
    detector: "Detector",
    again: "Callable[[], FrameSource] | None",
    source: "FrameSource",
    sinks: Sequence[TrackedOutput],
    finder: "ObjectFinder | None",
    interrupts: Interrupts,
    quiet: bool,
) -> "Summary":
    """Run the source into the sinks; where `again` opens it a second time, learn from all of it before."""
    from bgsub import pipeline

    made = config.make_pipeline(detector, want_score=any(sink.wants_score for sink in sinks))
    passes = 1 if again is None else 2
    with progress_bar(source.info.count and source.info.count * passes, quiet=quiet) as bar:
        if again is not None:
            learning = replace(config, learning_rate=-1.0).make_pipeline(detector)
            pipeline.run(again(), learning, [], progress=lambda _: bar.update())

        def advance(result: "Result") -> None:
            if finder is not None:
                finder.find(result)  # where no output has asked for the objects
            bar.update()

        with interrupts.closing():
            tracked = cast("Sequence[Sink]", sinks)
            return pipeline.run(source, made, tracked, progress=advance, stop=lambda: interrupts.requested)


def _report(
    summary: "Summary",
    source: str,
    detector: str,
    outputs: Mapping[str, Path],
    finder: "ObjectFinder | None",
    options: Mapping[str, Any],
) -> None:
    if options["as_json"]:
        objects = {} if finder is None else {"objects": finder.counts}
        click.echo(json.dumps({"source": source, "detector": detector, **asdict(summary), **objects}))
        return
    if options["quiet"]:
        return
    elapsed_s = summary.elapsed_s - summary.startup_s
    rate = summary.frames / elapsed_s
    model_ms = summary.detect_ms + summary.postprocess_ms
    click.echo(
        f"{summary.frames} frames in {elapsed_s:.1f} s ({rate:.0f} frames/s), "
        f"{100 * summary.foreground:.2f} % foreground, model {model_ms:.2f} ms per frame"
        + (f", {summary.dropped} dropped" if summary.dropped else "")
        + (", end unverified" if summary.end == "unverified" else "")
        + (f", after {summary.startup_s:.1f} s of start-up" if summary.startup_s >= 1 else "")
    )
    if finder is not None:
        click.echo(count_text(finder.counts))
    for name, path in outputs.items():
        click.echo(f"{name.replace('-', ' ')}: {path}")
