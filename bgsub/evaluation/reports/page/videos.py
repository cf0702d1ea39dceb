"""The section of a page with each video: its measures, F over time, and samples as images."""

import base64
import itertools

from bgsub._lab.escape import escape_html
from bgsub._opencv import cv2
from bgsub.evaluation.reports.columns import COLUMNS
from bgsub.evaluation.reports.page.elements import legend, plain_table
from bgsub.evaluation.reports.page.svg import Series, chart, colour
from bgsub.evaluation.reports.report import Report
from bgsub.evaluation.reports.rows import Row, Sample, measure_over_time
from bgsub.evaluation.reports.sheets import ERROR_COLOURS, draw_errors, fit
from bgsub.frames import Frame

__all__ = ["videos"]

_COLUMNS = ("f_measure", "precision", "recall", "pwc", "ms")


def videos(report: Report, *, image_width: int, image_bytes: int) -> str:
    """Return one part per video.

    Parameters
    ----------
    report : Report
    image_width : int
        Width of each image in pixels.
    image_bytes : int
        Largest size of all images together, as they are embedded. The first sample of each video comes first, then
        the second of each, until the size is reached.
    """
    by_video = report.by_video()
    samples, left_out = _encoded(by_video, report.models, image_width, image_bytes)
    parts = []
    for identity, rows in by_video.items():
        table = plain_table(
            ["model", *(COLUMNS[name].label for name in _COLUMNS), "scored frames"],
            [
                [model, *(COLUMNS[name].text(COLUMNS[name].value(row)) for name in _COLUMNS), str(row.scored)]
                for model, row in rows.items()
            ],
        )
        sheet = _sheet(report.models, samples.get(identity, []))
        parts.append(
            f"<details><summary>{escape_html(identity)}</summary>{table}{_timelines(report, rows)}{sheet}</details>"
        )
    if not parts:
        return ""
    keys = "".join(
        f'<span class="key" style="background:rgb({red},{green},{blue})"></span>{name}'
        for name, (blue, green, red) in ERROR_COLOURS.items()
    )
    note = f'<p class="note">{left_out} samples are left out to bound the size of the page.</p>' if left_out else ""
    return (
        f'<section id="videos"><h2>Videos</h2><p><button type="button" id="all">Show all</button></p>'
        f"{legend(report.models)}{f'<p>{keys}</p>' if samples else ''}{note}{''.join(parts)}</section>"
    )


def _timelines(report: Report, rows: dict[str, Row]) -> str:
    series = []
    for index, model in enumerate(report.models):
        timeline = rows[model].timeline if model in rows else None
        if timeline is not None and len(timeline) > 1:
            numbers, values = measure_over_time(timeline)
            series.append(Series(model, numbers.tolist(), values.tolist(), colour(index)))
    return chart(series, x_label="frame", y_label="F", y_range=(0, 1), size=(200, 900))


def _encoded(
    by_video: dict[str, dict[str, Row]], models: list[str], width: int, limit: int
) -> tuple[dict[str, list[tuple[int, list[str]]]], int]:
    """Return, by video, the number and the embedded images of each sample, and how many samples had no room."""
    queues = {identity: _by_number(rows) for identity, rows in by_video.items()}
    rounds = itertools.chain.from_iterable(
        itertools.zip_longest(
            *([(identity, *sample) for sample in queue.items()] for identity, queue in queues.items())
        )
    )
    found: dict[str, list[tuple[int, list[str]]]] = {}
    size = left_out = 0
    for item in rounds:
        if item is None:
            continue
        identity, number, by_model = item
        images = [] if size > limit else _images(by_model, models, width)
        size += sum(map(len, images))
        if size > limit:
            left_out += 1
        else:
            found.setdefault(identity, []).append((number, images))
    return {identity: sorted(samples) for identity, samples in found.items()}, left_out


def _by_number(rows: dict[str, Row]) -> dict[int, dict[str, Sample]]:
    """Return the samples of a video by frame number, then by model."""
    samples: dict[int, dict[str, Sample]] = {}
    for model, row in rows.items():
        for sample in row.samples:
            samples.setdefault(sample.number, {})[model] = sample
    return samples


def _images(by_model: dict[str, Sample], models: list[str], width: int) -> list[str]:
    """Return input, truth and the errors of each model as data URIs, empty where a model has no such sample."""
    some = next(iter(by_model.values()))
    errors = [
        _uri(fit(draw_errors(by_model[model].labels, by_model[model].mask), width, smooth=False), ".png")
        if model in by_model
        else ""
        for model in models
    ]
    frame = _uri(fit(some.frame, width, smooth=True), ".jpg")
    return [frame, _uri(fit(some.labels, width, smooth=False), ".png"), *errors]


def _uri(image: Frame, suffix: str) -> str:
    options = [cv2.IMWRITE_JPEG_QUALITY, 80] if suffix == ".jpg" else [cv2.IMWRITE_PNG_COMPRESSION, 9]
    _, data = cv2.imencode(suffix, image, options)
    kind = "jpeg" if suffix == ".jpg" else "png"
    return f"data:image/{kind};base64,{base64.b64encode(data.tobytes()).decode()}"


def _sheet(models: list[str], samples: list[tuple[int, list[str]]]) -> str:
    """Return the samples of a video, one line each, with headings."""
    if not samples:
        return ""
    names = ["input", "ground truth", *models]
    heads = "".join(f'<th scope="col">{escape_html(name)}</th>' for name in names)
    lines = []
    for number, images in samples:
        cells = "".join(
            f'<td><img src="{image}" alt="{escape_html(f"{name}, frame {number}")}"></td>' if image else "<td></td>"
            for name, image in zip(names, images, strict=True)
        )
        lines.append(f"<tr><td>{number}</td>{cells}</tr>")
    return (
        f'<div class="scroll"><table class="sheet"><thead><tr><th scope="col">frame</th>{heads}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )
