"""Plots of docs/evaluation/papers.md, on generated data, and digits that NORMA finds novel."""

from pathlib import Path
from typing import Any

import numpy as np

from bgsub.errors import DependencyError
from bgsub.papers import streams
from bgsub.papers.experiments import drifting, stream_models

try:
    from matplotlib import pyplot
except ImportError as error:
    raise DependencyError(f"plots need matplotlib ({error}); run: pip install 'bgsub[plot]'") from error

__all__ = ["draw_digits", "draw_streams", "draw_tracking", "save"]

pyplot.switch_backend("Agg")  # files only: no window


def save(figure: Any, path: Path) -> None:
    """Write and forget a figure."""
    figure.tight_layout()
    figure.savefig(path, dpi=90)
    pyplot.close(figure)


def draw_streams(folder: Path) -> None:
    """Write mistakes on generated streams that move."""
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4))
    for axis, switching in zip(axes, (False, True), strict=True):
        samples, labels = drifting(0, 5000, switching)
        for name, make in stream_models().items():
            model = make()
            wrong = [y * model.learn_one(x, int(y)) <= 0 for x, y in zip(samples, labels, strict=True)]
            axis.plot(np.cumsum(wrong), label=name)
        axis.set(xlabel="samples", ylabel="mistakes", title="switching" if switching else "drifting")
        axis.legend()
    save(figure, folder / "streams.png")


def draw_tracking(data: Path, folder: Path) -> None:
    """Write mistakes on separable streams that move, and errors on a9a over the number of vectors."""
    figure, axes = pyplot.subplots(1, 3, figsize=(13, 4))
    for axis, switching in zip(axes, (False, True), strict=False):
        samples, labels = streams.moving(0, switching)
        for name, model in streams.tuned(switching).items():
            wrong = [y * model.learn_one(x, y) <= 0 for x, y in zip(samples, labels.tolist(), strict=True)]
            axis.plot(np.cumsum(wrong), label=name)
        axis.set(xlabel="trials", ylabel="mistakes", title="switching" if switching else "drifting")
        axis.legend()
    for name, (vectors, errors) in streams.by_budget(data).items():
        axes[2].plot(vectors, errors, ".-", label=name)
    axes[2].set(xlabel="vectors", ylabel="% errors", xscale="log", title="a9a")
    axes[2].legend()
    save(figure, folder / "tracking.png")


def draw_digits(folder: Path, path: Path) -> None:
    """Draw three panels of digits that NORMA finds novel, with the constants of the paper."""
    data = np.load(folder / "usps.npz")
    novel, _, worst, worst_test = streams.panels(folder)
    figure, axes = pyplot.subplots(1, 3, figsize=(12, 2.6))
    for axis, name, part, chosen in zip(
        axes,
        ("first novel", "worst of the training images", "worst of the test images"),
        ("x_train", "x_train", "x_test"),
        (novel, worst, worst_test),
        strict=True,
    ):
        images = np.zeros((-(-len(chosen) // 10), 10, 16, 16))
        images.reshape(-1, 256)[: len(chosen)] = data[part][chosen]
        axis.imshow(images.transpose(0, 2, 1, 3).reshape(-1, 160), cmap="gray_r")
        axis.set_title(name)
        axis.axis("off")
    save(figure, path)
