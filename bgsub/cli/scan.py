"""`bgsub scan`: from recordings to events."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bgsub.cli.shared.cluster import check_jobs, dask_executor
from bgsub.cli.shared.interrupts import Interrupts
from bgsub.cli.shared.options import Assignment, detector_options, make_config
from bgsub.cli.shared.progress import progress_bar

if TYPE_CHECKING:
    from bgsub.scanning import ScanResult, ScanSettings

__all__ = ["INCOMPLETE", "scan"]

INCOMPLETE = 3
"""Exit code of a scan in which some files could not be read to their end."""

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}

_RULES = {
    "min_area": "Least share of the frame that an object covers.  [default: 0.0005]",
    "min_travel": "Least way of an object, as a share of the diagonal.  [default: 0.03]",
    "threshold": "Least share of the region that is foreground.  [default: 0]",
    "min_length_s": "Least length of an event in seconds.  [default: 0.5]",
    "before_s": "Seconds that a clip shows before an event.  [default: 1.5]",
    "after_s": "Seconds that a clip shows after an event.  [default: 2]",
    "merge_gap_s": "Seconds between events that are one.  [default: 1.2]",
    "cooldown_s": "Seconds after an event without another.  [default: 0]",
    "flood_share": "Share of the frame that changes at once if the scene changes.  [default: 0.5]",
}


def _rule_options(command: Any) -> Any:
    for name, text in reversed(_RULES.items()):
        option = "--min-size" if name == "min_area" else f"--{name.removesuffix('_s').replace('_', '-')}"
        command = click.option(option, f"rule_{name}", type=float, help=text)(command)  # min_area is an option, too
    return command


@click.command()
@click.argument("places", nargs=-1, required=True)
@click.option("--output", "-o", type=click.Path(path_type=Path), help="Folder for events, pictures and report.")
@click.option(
    "--sensitivity",
    type=click.Choice(["low", "normal", "high"]),
    default="normal",
    show_default=True,
    help="How small, short and slow an event may be.",
)
@click.option("--region", "regions", type=Assignment(), multiple=True, help="A region with events of its own.")
@_rule_options
@click.option("--quick", is_flag=True, help="Look at smaller frames, four times per second.")
@click.option("--scale", type=float, help="Shrink frames by this factor.  [default: to 320 pixels]")
@click.option("--skip", type=int, help="Use every n-th frame.  [default: about 6 per second]")
@click.option("--continuous", is_flag=True, help="The files are parts of one recording, in their order.")
@click.option("--start-time", help="When the first file begins, such as '2026-11-22 08:05:00'.")
@click.option("--name-pattern", help="Time in file names, such as cam1_%d%m%Y-%H%M%S.")
@click.option("--clips", type=click.Choice(["copy", "encode"]), help="Cut clips out, as stored or encoded again.")
@click.option("--max-size", help="Most bytes of all clips, such as 500M or 20G.")
@click.option("--chunk", type=float, metavar="MINUTES", help="Divide longer files into parts of this length.")
@click.option("--overlap", type=float, default=60.0, show_default=True, help="Seconds before a part to learn from.")
@click.option("--jobs", "-j", type=click.IntRange(1, 1024), default=1, help="Processes to run at once.")
@click.option("--dask", metavar="ADDRESS", help="Address of a Dask scheduler, whose workers analyse the files.")
@click.option("--resume", is_flag=True, help="Go on with the scan in the folder.")
@click.option("--dry-run", is_flag=True, help="List what would be scanned; write nothing.")
@detector_options
@click.option("--quiet", "-q", is_flag=True, help="No progress and no summary.")
@click.make_pass_decorator(Interrupts, ensure=True)
def scan(interrupts: Interrupts, /, places: tuple[str, ...], **options: Any) -> int:
    """Find when something moved in PLACES: video files, folders of them, or patterns.

    Writes events.jsonl, events.csv, pictures and report.html to the folder of --output. Exits with 3 if a file could
    not be read to its end.
    """
    from bgsub.scanning import Clips, ScanControl, ScanInterrupted
    from bgsub.scanning import scan as scan_all

    settings = _make_settings(options)
    _check(options, settings)
    max_bytes = _parse_size(options["max_size"])
    if options["dry_run"]:
        return _show_plan(places, settings, options)
    quiet = options["quiet"]
    with dask_executor(options["dask"]) as executor, progress_bar(None, quiet=quiet) as bar:
        control = ScanControl(bar.update, lambda plan: bar.set_total(plan.frames), lambda: interrupts.requested)
        interrupts.begin(str(options["output"]))
        try:
            result = scan_all(
                places,
                options["output"],
                settings,
                jobs=options["jobs"],
                executor=executor,
                resume=options["resume"],
                clips=Clips(options["clips"], max_bytes) if options["clips"] else None,
                control=control,
            )
        except ScanInterrupted:
            click.echo(f"bgsub: go on with --resume -o {options['output']}", err=True)
            raise
        interrupts.complete(str(options["output"]))
    return _report(result, options, max_bytes)


def _make_settings(options: Mapping[str, Any]) -> "ScanSettings":
    from bgsub.events import EventRules
    from bgsub.scanning import QUICK, ScanSettings

    given = {name: value for name in _RULES if (value := options[f"rule_{name}"]) is not None}
    names = [name for name, _ in options["regions"]]
    for name in names:
        if names.count(name) > 1:
            raise click.UsageError(f"--region {name} is given twice; give each region a name of its own")
    return ScanSettings(
        config=make_config(options),
        rules=EventRules.from_sensitivity(options["sensitivity"], **given),
        regions=dict(options["regions"]),
        scale=options["scale"],
        skip=options["skip"],
        chunk_s=None if options["chunk"] is None else 60 * options["chunk"],
        overlap_s=options["overlap"],
        continuous=options["continuous"],
        name_pattern=options["name_pattern"],
        start_time=options["start_time"],
        **(QUICK if options["quick"] else {}),
    )


def _check(options: Mapping[str, Any], settings: "ScanSettings") -> None:
    if options["output"] is None and not options["dry_run"]:
        raise click.UsageError("nothing to write to: give --output FOLDER, or --dry-run")
    if options["quick"] and (options["scale"] is not None or options["skip"] is not None):
        raise click.UsageError("--quick excludes --scale and --skip")
    if options["max_size"] and not options["clips"]:
        raise click.UsageError("--max-size limits clips; give --clips copy or --clips encode")
    if settings.continuous and (options["jobs"] > 1 or options["dask"]):
        raise click.UsageError("--continuous goes from file to file with one model; leave out --jobs and --dask")
    check_jobs(options["jobs"], options["dask"])


def _parse_size(text: str | None) -> int | None:
    """Return the number of bytes that a text such as 500M stands for."""
    if text is None:
        return None
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)B?\s*", text, re.IGNORECASE)
    if match is None:
        raise click.UsageError(f"--max-size must be like 500M or 20G, got {text!r}")
    return round(float(match[1]) * _UNITS[match[2].upper()])


def _show_plan(places: tuple[str, ...], settings: "ScanSettings", options: Mapping[str, Any]) -> int:
    from bgsub.scanning import find_files, make_plan
    from bgsub.scanning.report import span_text

    plan = make_plan(find_files(places, without=options["output"]), settings)
    size, length_s = 0, 0.0
    for file, info in plan.infos.items():
        path = Path(file)
        size += path.stat().st_size if path.is_file() else 0
        if info is None:
            click.echo(f"{file}: {plan.failures[file]}")
            continue
        here_s = info.count / info.rate_hz if info.count and info.rate_hz else 0.0
        length_s += here_s
        parts = sum(part.file == file for part in plan.parts)
        click.echo(f"{file}: {span_text(here_s)}" + (f" in {parts} parts" if parts > 1 else ""))
    click.echo(
        f"{len(plan.infos)} files, {span_text(length_s)}, {size / 1e6:.1f} MB, {len(plan.parts)} parts"
        + (f"; clips take up to {size / 1e6:.1f} MB" if options["clips"] == "copy" else "")
    )
    if options["output"] is not None and options["resume"]:
        _show_clips(options["output"])
    return INCOMPLETE if plan.failures else 0


def _show_clips(folder: Path) -> None:
    """Report what the scan in a folder has found so far."""
    events = folder / "events.jsonl"
    count = len(events.read_text(encoding="utf-8").splitlines()) if events.is_file() else 0
    click.echo(f"{folder} holds {count} events")


def _report(result: "ScanResult", options: Mapping[str, Any], max_bytes: int | None) -> int:
    from bgsub.scanning.report import by_day, span_text

    if not options["quiet"]:
        for day in by_day(result.events, result.files):
            busiest = f", most at {day.busiest}" if day.busiest else ""
            name = f"{day.date}: " if day.date else ""
            moving, recorded = span_text(day.moving_s), span_text(day.recorded_s)
            click.echo(f"{name}{day.events} events, {moving} of motion in {recorded}{busiest}")
        if result.changes:
            click.echo(f"{len(result.changes)} changes of the whole scene, which are no events")
        click.echo(f"report: {options['output'] / 'report.html'}")
    if result.clips_left_out and max_bytes is not None:
        click.echo(f"bgsub: {result.clips_left_out} clips are left out: they would exceed --max-size", err=True)
    for reason in result.clip_failures:
        click.echo(f"bgsub: {reason}", err=True)
    for file in result.failures:
        click.echo(f"bgsub: {file.file}: {file.failure}", err=True)
    return INCOMPLETE if result.failures or result.clip_failures else 0
