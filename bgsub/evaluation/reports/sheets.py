"""Contact sheets: the samples of a report as one image, to look at."""

from pathlib import Path

import numpy as np

from bgsub._opencv import cv2
from bgsub.evaluation.reports.report import Report, Sample
from bgsub.frames import Frame
from bgsub.video._images import write_image

__all__ = ["contact_sheet"]


def contact_sheet(report: Report, path: str | Path | None = None, *, width: int = 240) -> Frame:
    """Draw input, ground truth and masks of the kept samples side by side.

    Each sample has a row: its frame, its labels, then the mask of each model.

    Parameters
    ----------
    report : Report
        From `evaluate(..., samples=N)`.
    path : path, optional
        Where to write it, as PNG.
    width : int
        Width of each image in pixels.

    Returns
    -------
    (H, W, 3) uint8 array
        The sheet.

    Raises
    ------
    SinkError
        If the file cannot be written.
    ValueError
        If no sample was kept.
    """
    lines: dict[tuple[str, str, int], dict[str, Sample]] = {}
    for row in report.rows:
        for sample in row.samples:
            lines.setdefault((row.category, row.sequence, sample.number), {})[row.model] = sample
    if not lines:
        raise ValueError("report must have samples, got none: evaluate with samples=4 or so")
    models = report.models
    rows = [_caption(["input", "ground truth", *models], width)]
    for (_, sequence, number), by_model in lines.items():
        some = next(iter(by_model.values()))
        cells = [some.frame, some.labels]
        cells += [by_model[model].mask if model in by_model else np.zeros_like(some.labels) for model in models]
        images = [_fit(cell, width) for cell in cells]
        images[0][:18] //= 3  # a dark background for the caption
        _put_text(images[0], f"{sequence} {number}", 5, 13)
        rows.append(np.hstack(images))
    sheet = np.vstack(rows)
    if path is not None:
        write_image(path, sheet)
    return sheet


def _caption(names: list[str], width: int) -> Frame:
    strip = np.full((22, width * len(names), 3), 32, np.uint8)
    for column, name in enumerate(names):
        _put_text(strip, name, column * width + 5, 15)
    return strip


def _put_text(image: Frame, text: str, x: int, y: int) -> None:
    cv2.putText(image, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (230, 230, 230), 1, cv2.LINE_AA)


def _fit(image: Frame, width: int) -> Frame:
    """Scale to a width, with a thin border, as BGR; labels and masks keep their values."""
    height = max(1, round(image.shape[0] * width / image.shape[1]))
    smooth = cv2.INTER_AREA if image.ndim == 3 else cv2.INTER_NEAREST
    small = np.asarray(cv2.resize(image, (width, height), interpolation=smooth), np.uint8)
    if small.ndim == 2:
        small = np.asarray(cv2.cvtColor(small, cv2.COLOR_GRAY2BGR), np.uint8)
    small[-1:], small[:, -1:] = 32, 32
    return small
