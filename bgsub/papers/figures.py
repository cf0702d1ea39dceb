"""Plots of docs/papers.md, on generated data, and digits that NORMA finds novel."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_curve

from bgsub import learners as bl
from bgsub.errors import DependencyError
from bgsub.papers import streams
from bgsub.papers.experiments import curve, drifting, stream_models

try:
    from matplotlib import pyplot
except ImportError as error:
    raise DependencyError(f"plots need matplotlib ({error}); run: pip install 'bgsub[plot]'") from error

__all__ = ["draw", "draw_digits", "draw_tracking", "save"]

pyplot.switch_backend("Agg")  # files only: no window


def save(figure: Any, path: Path) -> None:
    """Write and forget a figure."""
    figure.tight_layout()
    figure.savefig(path, dpi=90)
    pyplot.close(figure)


def draw(folder: Path) -> None:
    """Write all plots."""
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

    figure, axes = pyplot.subplots(1, 3, figsize=(12, 3.5), sharey=True)
    grid = np.linspace(-np.pi, np.pi, 400)
    samples, targets = curve(600, 0)
    for axis, eps in zip(axes, (0.1, 0.5, 0.9), strict=True):
        model = bl.OLKRegressor(width=0.5, C=1.0, r=0.001, eps=eps, budget=None).fit(samples, targets)
        axis.plot(samples, targets, ".", color="0.8", markersize=3)
        axis.plot(grid, 0.2 * np.sin(5 * grid) + 0.5 * np.sin(grid), "k--", label="truth")
        axis.plot(grid, model.predict(grid[:, None]), label="OLK_R")
        axis.set(title=f"eps {eps}: {model.n_support_} vectors")
        axis.legend()
    save(figure, folder / "fits.png")

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.5))
    widths = np.linspace(0, 1.2, 13)
    given: dict[str, Any] = {"width": 0.5, "C": 1.0, "budget": None}
    counts = [bl.OLKRegressor(**given, r=0.001, eps=eps).fit(samples, targets).n_support_ for eps in widths]
    axes[0].plot(widths, counts, ".-")
    axes[0].set(xlabel="eps", ylabel="vectors of 600")
    thresholds = np.linspace(0, 0.3, 13)
    for r in (0.001, 0.01, 0.05):
        counts = [bl.OLKRegressor(**given, r=r, thr_sv=t).fit(samples, targets).n_support_ for t in thresholds]
        axes[1].plot(thresholds, counts, ".-", label=f"r {r}")
    axes[1].set(xlabel="threshold on coefficients, eps 0.1")
    axes[1].legend()
    save(figure, folder / "vectors.png")

    figure, axis = pyplot.subplots(figsize=(4.5, 4.5))
    rng = np.random.default_rng(0)
    outlier = rng.random(4000) < 0.05
    samples = rng.normal(size=(4000, 2)) + np.where(outlier, -2.0, 2.0)[:, None]
    for name, model in (
        ("OLK_N, density", bl.OLKNovelty(width=1.0)),
        ("NORMA, nu .5", bl.NORMANovelty(sigma=1.0, nu=0.5)),
        ("NORMA, nu .05", bl.NORMANovelty(sigma=1.0, nu=0.05)),
    ):
        scores = model.fit(samples[:2000]).score_samples(samples[2000:])
        alarms, found, _ = roc_curve(outlier[2000:], -scores)
        axis.plot(alarms, found, label=name)
    axis.set(xlabel="normal samples flagged", ylabel="novel samples found")
    axis.legend()
    save(figure, folder / "roc.png")


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
