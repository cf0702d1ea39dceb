"""`bgsub evaluate` and `bgsub score`: accuracy."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bgsub._files import check_file, write_text
from bgsub.cli.shared.cluster import check_jobs, dask_executor
from bgsub.cli.shared.interrupts import Interrupts
from bgsub.cli.shared.options import Assignment, config_options, make_config
from bgsub.cli.shared.progress import progress_bar
from bgsub.errors import ConfigError, DatasetError

if TYPE_CHECKING:
    from bgsub.config import Config
    from bgsub.evaluation import Failure, Method, Report, Table
    from bgsub.evaluation import Sequence as Video

__all__ = ["INCOMPLETE", "evaluate", "score"]

INCOMPLETE = 3
"""Exit code of an evaluation in which some videos failed."""

_REPORTS: dict[str, tuple[str, ...]] = {
    "json_path": (),
    "csv_path": (),
    "table_path": (".md", ".tex", ".csv", ".json", ".txt"),
    "page_path": (".html", ".htm"),
    "roc_path": (".png", ".svg", ".pdf"),
    "sheet_path": (".png",),
}
"""Options that name a file to write, and the suffixes it may have; any where there are none."""


_TABLES = {".md": "markdown", ".tex": "latex", ".csv": "csv", ".json": "json", ".txt": "text"}


def _report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    options = [
        click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the report as JSON."),
        click.option("--csv", "csv_path", type=click.Path(path_type=Path), help="Write the report as CSV."),
        click.option(
            "--table",
            "table_path",
            type=click.Path(path_type=Path),
            help="Write methods side by side (.md .tex .csv).",
        ),
        click.option("--html", "page_path", type=click.Path(path_type=Path), help="Write one page with all results."),
        click.option(
            "--measures",
            default="f_measure",
            show_default=True,
            help="Columns of the tables side by side, such as f_measure,precision,ms,relative_time.",
        ),
        click.option("--baseline", help="Method to compare with.  [default: the first of mog2 and the methods]"),
        click.option("--keep-going", "-k", is_flag=True, help="Leave out videos that fail; exit with 3."),
        click.option("--force", "-f", is_flag=True, help="Overwrite existing files."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@click.argument("datasets", nargs=-1, required=True)
@click.option(
    "--detector",
    "-d",
    "detectors",
    multiple=True,
    help="Detector, as name, name:parameter=value,... or package.module:Class; may be repeated.  [default: adaptive]",
)
@click.option("--compare", default="", help="More detectors, such as mog2,knn.")
@click.option("--grid", "grids", type=Assignment(), multiple=True, help="Try all values: --grid smoothing=9,15.")
@click.option("--search", type=click.IntRange(2), help="Try so many settings, drawn at random around the defaults.")
@click.option("--over", default="", help="Parameters that --search varies, such as width,memory_s.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Of the random numbers of --search.")
@click.option(
    "--leave-one-out",
    type=click.Choice(["family", "category", "sequence"]),
    help="Choose the best setting without each group in turn, and score it there.",
)
@click.option("--halving", is_flag=True, help="Search with few videos first, and go on with the better settings.")
@config_options
@click.option("--threads", type=click.IntRange(0, 1024), help="Threads of the detectors, 0 for one per CPU.")
@click.option("--jobs", "-j", type=click.IntRange(1, 1024), default=1, help="Videos to run at once, one thread each.")
@click.option("--dask", metavar="ADDRESS", help="Address of a Dask scheduler, whose workers run the videos.")
@click.option("--results", type=click.Path(path_type=Path), help="Folder for all masks, CATEGORY/VIDEO/bin*.png.")
@click.option("--rows", type=click.Path(path_type=Path), help="Write each row to this file as it comes.")
@click.option("--resume", is_flag=True, help="Go on with the rows of --rows, or those in the folder of --results.")
@click.option("--roc", "roc_path", type=click.Path(path_type=Path), help="Draw ROC curves of the scores (.png).")
@click.option(
    "--sheet", "sheet_path", type=click.Path(path_type=Path), help="Draw input, truth and mask of some frames."
)
@_report_options
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
@click.make_pass_decorator(Interrupts, ensure=True)
def evaluate(interrupts: Interrupts, /, datasets: tuple[str, ...], **options: Any) -> int:
    """Score detectors on DATASETS: folders with sequences somewhere below, or generated:FAMILY, such as generated:all.

    The protocol is that of changedetection.net: only frames of temporalROI.txt, labels 85 and 170 are ignored,
    shadow (50) is background, counts pooled per video, means over videos and categories.
    """
    from bgsub.evaluation import RowsFile
    from bgsub.evaluation.runs import check_results_folder

    _check_combination(options)
    _measures(options)
    paths = _check_reports(options)
    methods = _choose_methods(options)
    if options["dask"]:  # whose workers may have another working directory
        datasets = tuple(str(Path(place).absolute()) if Path(place).exists() else place for place in datasets)
    sequences, failures = _open_all(datasets, keep_going=options["keep_going"])
    if options["results"] is not None:
        check_results_folder(options["results"], resume=options["resume"])
    rows_path = options["rows"] or (options["results"] / "rows.jsonl" if options["results"] else None)
    if rows_path is not None:
        rows_path.parent.mkdir(parents=True, exist_ok=True)
    rows = RowsFile(rows_path, resume=options["resume"]) if rows_path else None
    with dask_executor(options["dask"]) as executor:
        if options["halving"]:
            report, failed = _search(methods, sequences, rows, {**options, "executor": executor})
        else:
            report, failed = _run(methods, sequences, rows, {**options, "executor": executor}, paths)
    if not options["halving"]:
        _print(report, _choose_baseline(report, options), options)
        _print_validation(report, options)
    report.provenance["left_out"] = [asdict(failure) for failure in (*failures, *failed)]
    _write(report, paths, interrupts, options)
    return _explain_failures([*failures, *failed])


def _check_combination(options: Mapping[str, Any]) -> None:
    check_jobs(options["jobs"], options["dask"])
    for name, needed in (("over", "search"), ("halving", "search"), ("halving", "leave_one_out")):
        if options[name] and not options[needed]:
            raise click.UsageError(f"--{name} needs --{needed.replace('_', '-')}")
    if options["grids"] and options["search"]:
        raise click.UsageError("--grid excludes --search")
    if options["resume"] and not (options["rows"] or options["results"]):
        raise click.UsageError("--resume needs --rows or --results, where the rows are")
    sweeping = options["grids"] or options["search"]
    if sweeping and len(options["detectors"]) > 1:
        raise click.UsageError("--grid and --search vary one detector; give others to --compare")


def _choose_methods(options: Mapping[str, Any]) -> list["Method"]:
    """Return the settings to run, those of a sweep first."""
    from bgsub._lab.specs import split_spec, split_specs
    from bgsub.evaluation import grid, parse_method, sample_settings

    specs = list(options["detectors"])
    if not specs:
        specs = [make_config({**options, "detector": None, "assignments": ()}).detector]
    if options["assignments"]:
        given = ",".join(f"{name}={value}" for name, value in options["assignments"])
        specs[0] += ("," if split_spec(specs[0])[1] else ":") + given
    if options["grids"]:
        values = {name: text.split(",") for name, text in options["grids"]}
        methods = grid(specs[0], values, _base_of(specs[0], options))
    elif options["search"]:
        over = [name.strip() for name in options["over"].split(",") if name.strip()]
        base = _base_of(specs[0], options)
        methods = sample_settings(specs[0], options["search"], seed=options["seed"], over=over, base=base)
    else:
        methods = [parse_method(spec, _base_of(spec, options)) for spec in specs]
    known = {method.label for method in methods}
    others = [spec for spec in dict.fromkeys(split_specs(options["compare"])) if spec not in known]
    return methods + [parse_method(name, _base_of(name, options)) for name in others]


def _base_of(spec: str, options: Mapping[str, Any]) -> "Config | None":
    """Return the settings that the options give a detector beside its parameters; None for any other method."""
    from bgsub._lab.specs import split_spec
    from bgsub.detectors import DETECTORS

    name = split_spec(spec)[0]
    return make_config({**options, "detector": name, "assignments": ()}) if name in DETECTORS else None


def _open_all(datasets: Sequence[str], *, keep_going: bool) -> tuple[list["Video"], list["Failure"]]:
    from bgsub.evaluation import Failure, open_datasets

    failures: list[Failure] = []

    def note(folder: Path, error: DatasetError) -> None:
        failures.append(Failure("", f"{folder.parent.name}/{folder.name}", str(error)))

    found = [video for path in datasets for video in open_datasets(path, on_error=note if keep_going else None)]
    if not found:
        raise DatasetError("none of the sequences can be read: " + "; ".join(failure.reason for failure in failures))
    return found, failures


def _run(
    methods: list["Method"], sequences: list["Video"], rows: Any, options: Mapping[str, Any], paths: Mapping[str, Path]
) -> tuple["Report", list["Failure"]]:
    from bgsub.evaluation import RunOptions, evaluate_methods

    chosen = RunOptions(
        threads=options["threads"],
        roc="roc_path" in paths,
        samples=6 if "sheet_path" in paths or "page_path" in paths else 0,
        results=options["results"] and options["results"].absolute(),
    )
    frames = sum(len(sequence.numbers) for sequence in sequences) * len(methods)
    with progress_bar(frames, quiet=options["quiet"]) as bar:
        return evaluate_methods(
            sequences,
            methods,
            jobs=options["jobs"],
            executor=options["executor"],
            options=chosen,
            rows=rows,
            keep_going=options["keep_going"],
            progress=bar.update,
        )


def _search(
    methods: list["Method"], sequences: list["Video"], rows: Any, options: Mapping[str, Any]
) -> tuple["Report", list["Failure"]]:
    """Search by successive halving within each fold; rows that folds have in common are run once."""
    from bgsub.evaluation import Report, leave_one_out_search

    found: dict[tuple[str, str], Any] = {}

    def run(some: Sequence["Method"], videos: Sequence["Video"]) -> "Report":
        for method in some:
            missing = [video for video in videos if (method.label, video.identity) not in found]
            if missing:
                report, _ = _run([method], missing, rows, {**options, "keep_going": False}, {})
                found.update({(method.label, f"{row.category}/{row.sequence}"): row for row in report.rows})
        return Report([found[method.label, video.identity] for method in some for video in videos])

    result = leave_one_out_search(methods, sequences, run, by=options["leave_one_out"], seed=options["seed"])
    click.echo(result.to_table())
    click.echo(f"{len(found)} of {len(methods) * len(sequences)} runs")
    return Report(list(found.values())), []


def _print_validation(report: "Report", options: Mapping[str, Any]) -> None:
    from bgsub.evaluation import leave_one_out

    if options["leave_one_out"]:
        click.echo("\n" + leave_one_out(report, options["leave_one_out"]).to_table())


def _choose_baseline(report: "Report", options: Mapping[str, Any]) -> str | None:
    """Return the method that others are compared with; None if there is only one."""
    chosen: str | None = options["baseline"]
    if chosen is not None and chosen not in report.models:
        raise ConfigError(f"cannot compare with {chosen}: it is not among the methods {', '.join(report.models)}")
    if len(report.models) < 2:
        return None
    return chosen or ("mog2" if "mog2" in report.models else report.models[0])


def _print(report: "Report", baseline: str | None, options: Mapping[str, Any]) -> None:
    """Print all measures of one method, or the F of several side by side and compared with the baseline."""
    from bgsub.evaluation import compare, table_text

    if baseline is None:
        click.echo(report.to_table())
        return
    click.echo(table_text(_table(report, baseline, options)) + "\n")
    for model in report.models:
        if model != baseline:
            click.echo(compare(report, model, baseline))


def _table(report: "Report", baseline: str | None, options: Mapping[str, Any]) -> "Table":
    from bgsub.evaluation import side_by_side

    return side_by_side(report, _measures(options), baseline=baseline)


def _measures(options: Mapping[str, Any]) -> list[str]:
    """Return the columns asked for, checked before anything is measured."""
    from bgsub.evaluation.reports.columns import column

    names = [name.strip() for name in options["measures"].split(",") if name.strip()]
    for name in names:
        column(name)
    return names


@click.command()
@click.argument("dataset")
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@_report_options
@click.make_pass_decorator(Interrupts, ensure=True)
def score(interrupts: Interrupts, /, dataset: str, results: tuple[Path, ...], **options: Any) -> int:
    """Score the masks that any program wrote to the folders RESULTS, by the labels of DATASET.

    Masks are matched by CATEGORY/VIDEO/ and the number at the end of their names, as changedetection.net takes them.
    """
    from bgsub.evaluation import Report, score_masks

    paths = _check_reports({**dict.fromkeys(_REPORTS), **options})
    sequences, failures = _open_all([dataset], keep_going=options["keep_going"])
    rows = []
    for folder in results:
        report, failed = score_masks(sequences, folder, keep_going=options["keep_going"])
        rows += report.rows
        failures += failed
    report = Report(rows, provenance={"masks": [str(folder) for folder in results]})
    baseline = _choose_baseline(report, options)
    _print(report, baseline, options)
    _write(report, paths, interrupts, options)
    return _explain_failures(failures)


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


def _write(report: "Report", paths: Mapping[str, Path], interrupts: Interrupts, options: Mapping[str, Any]) -> None:
    from bgsub.evaluation import FORMATS, contact_sheet, plot_roc, write_page

    baseline = _choose_baseline(report, options)
    write_table = FORMATS[_TABLES[paths["table_path"].suffix.lower()]] if "table_path" in paths else FORMATS["text"]
    writers: dict[str, Callable[[Path], object]] = {
        "json_path": lambda path: write_text(path, json.dumps(report.to_json(timelines=False), indent=1) + "\n"),
        "table_path": lambda path: write_text(path, write_table(_table(report, baseline, options)) + "\n"),
        "page_path": lambda path: write_page(report, path, baseline=baseline),
        "csv_path": lambda path: write_text(path, report.to_csv()),
        "roc_path": lambda path: plot_roc(report, path),
        "sheet_path": lambda path: contact_sheet(report, path),
    }
    with interrupts.closing():
        for path in paths.values():
            interrupts.begin(str(path))
        for name, path in paths.items():
            writers[name](path)
            interrupts.complete(str(path))


def _explain_failures(failures: Sequence["Failure"]) -> int:
    for failure in failures:
        method = f" ({failure.method})" if failure.method else ""
        click.echo(f"bgsub: {failure.sequence}{method} is left out: {failure.reason}", err=True)
    return INCOMPLETE if failures else 0
