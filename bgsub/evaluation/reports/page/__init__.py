"""The report of an evaluation as one page that needs nothing else: HTML with embedded images and charts."""

from pathlib import Path

from bgsub._files import write_text
from bgsub._lab.escape import escape_html
from bgsub.evaluation.reports.page import sections
from bgsub.evaluation.reports.page.template import document
from bgsub.evaluation.reports.page.videos import videos
from bgsub.evaluation.reports.report import Report

__all__ = ["page_html", "write_page"]


def page_html(
    report: Report,
    *,
    baseline: str | None = None,
    title: str = "Evaluation",
    image_width: int = 200,
    image_bytes: int = 20_000_000,
) -> str:
    """Return a page about a report.

    It holds means with intervals, paired comparisons, sortable tables, accuracy against time, curves over the varied
    parameter of generated families, and for each video its measures, F over time, and its samples with errors in
    colours. It loads nothing, and all names are escaped.

    Parameters
    ----------
    report : Report
        With samples, if the page is to show images.
    baseline : str, optional
        The model that others are compared with, in accuracy and time; without it, all pairs are compared.
    title : str
        Heading of the page.
    image_width : int
        Width of each image in pixels.
    image_bytes : int
        Largest size of all images together. Samples beyond it are left out, which the page reports.

    Returns
    -------
    str

    Raises
    ------
    ReportError
        If a model has two rows for one video.
    ValueError
        If the baseline is none of the models, the report has no rows, or a size is below its range.
    """
    if not report.rows:
        raise ValueError("report must have rows, got none")
    if baseline is not None and baseline not in report.models:
        raise ValueError(f"baseline must be one of {', '.join(report.models)}, got {baseline}")
    if not 16 <= image_width <= 4096:
        raise ValueError(f"image_width must be in [16, 4096], got {image_width}")
    if image_bytes < 0:
        raise ValueError(f"image_bytes must not be negative, got {image_bytes}")
    by_video = report.by_video()
    frames = sum(next(iter(rows.values())).scored for rows in by_video.values())
    parts = [
        f"<h1>{escape_html(title)}</h1>",
        f"<p>{len(report.models)} models on {len(by_video)} videos with {frames} scored frames.</p>",
        sections.means(report, baseline),
        sections.comparisons(report, baseline),
        sections.pareto(report),
        sections.tables(report, baseline),
        sections.knobs(report),
        videos(report, image_width=image_width, image_bytes=image_bytes),
        sections.provenance(report),
    ]
    return document(title, "\n".join(filter(None, parts)))


def write_page(
    report: Report,
    path: str | Path,
    *,
    baseline: str | None = None,
    title: str = "Evaluation",
    image_width: int = 200,
    image_bytes: int = 20_000_000,
) -> None:
    """Write a page about a report, whole or not at all; an existing file is overwritten.

    Parameters are those of `page_html`.

    Raises
    ------
    SinkError
        If the file cannot be written.
    """
    page = page_html(report, baseline=baseline, title=title, image_width=image_width, image_bytes=image_bytes)
    write_text(path, page)
