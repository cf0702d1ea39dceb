"""Samples of a report as images: contact sheets, and masks with their errors in colours."""

from pathlib import Path

import numpy as np

from bgsub._opencv import cv2
from bgsub.evaluation.metrics import scored_pixels
from bgsub.evaluation.reports.report import Report
from bgsub.evaluation.reports.rows import Sample
from bgsub.frames import Frame, Mask
from bgsub.video._images import write_image

__all__ = ["ERROR_COLOURS", "contact_sheet", "draw_errors", "fit"]

ERROR_COLOURS = {
    "true positive": (255, 255, 255),
    "false positive": (40, 40, 230),
    "false negative": (255, 170, 60),
    "true negative": (0, 0, 0),
    "not scored": (110, 110, 110),
}
"""(blue, green, red) of pixels by kind: red and light blue, which colour-blind readers distinguish."""


def draw_errors(labels: Mask, mask: Mask) -> Frame:
    """Return a mask with its errors in colours.

    Parameters
    ----------
    labels : (H, W) uint8 array
        0 static, 50 shadow, 255 moving; other pixels are not scored.
    mask : (H, W) uint8 array
        255 is foreground.

    Returns
    -------
    (H, W, 3) uint8 array
        BGR: hits white, false positives red, false negatives light blue, correct background black, pixels that are not
        scored grey.

    Examples
    --------
    >>> draw_errors(np.array([[255, 0, 255]], np.uint8), np.array([[255, 255, 0]], np.uint8))[0].tolist()
    [[255, 255, 255], [40, 40, 230], [255, 170, 60]]
    """
    positive, negative = scored_pixels(labels, None)
    detected = mask == 255
    image = np.empty((*labels.shape, 3), np.uint8)
    image[:] = ERROR_COLOURS["not scored"]
    image[negative] = ERROR_COLOURS["true negative"]
    image[negative & detected] = ERROR_COLOURS["false positive"]
    image[positive] = ERROR_COLOURS["false negative"]
    image[positive & detected] = ERROR_COLOURS["true positive"]
    return image


def contact_sheet(report: Report, path: str | Path | None = None, *, width: int = 240, errors: bool = False) -> Frame:
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
    errors : bool
        Whether to show the errors of the masks in colours, as `draw_errors` does.

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
        blank = np.zeros_like(some.labels)
        masks = [_mask(by_model[model], errors) if model in by_model else blank for model in models]
        cells = [some.frame, some.labels, *masks]
        images = [_bordered(fit(cell, width, smooth=index == 0)) for index, cell in enumerate(cells)]
        images[0][:18] //= 3  # a dark background for the caption
        _put_text(images[0], f"{sequence} {number}", 5, 13)
        rows.append(np.hstack(images))
    sheet = np.vstack(rows)
    if path is not None:
        write_image(path, sheet)
    return sheet


def fit(image: Frame, width: int, *, smooth: bool) -> Frame:
    """Scale an image to a width, as BGR; labels and masks keep their values if not `smooth`."""
    height = max(1, round(image.shape[0] * width / image.shape[1]))
    how = cv2.INTER_AREA if smooth else cv2.INTER_NEAREST
    scaled = np.asarray(cv2.resize(image, (width, height), interpolation=how), np.uint8)
    return scaled if scaled.ndim == 3 else np.asarray(cv2.cvtColor(scaled, cv2.COLOR_GRAY2BGR), np.uint8)


def _mask(sample: Sample, errors: bool) -> Frame:
    return draw_errors(sample.labels, sample.mask) if errors else sample.mask


def _caption(names: list[str], width: int) -> Frame:
    strip = np.full((22, width * len(names), 3), 32, np.uint8)
    for column, name in enumerate(names):
        _put_text(strip, name, column * width + 5, 15)
    return strip


def _put_text(image: Frame, text: str, x: int, y: int) -> None:
    cv2.putText(image, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (230, 230, 230), 1, cv2.LINE_AA)


def _bordered(image: Frame) -> Frame:
    image[-1:], image[:, -1:] = 32, 32
    return image
