"""Plots of docs/evaluation/papers.md on OLK, generated data."""

from pathlib import Path

import numpy as np
from matplotlib import pyplot
from sklearn.metrics import roc_curve

from bgsub import learners as bl
from bgsub.papers import olk
from bgsub.papers.figures import save


def draw_olk(plots: Path) -> None:
    """Write the plots of figures 1 to 8 of Li and others 2013."""
    _draw_vectors(plots)
    _draw_classes(plots)
    _draw_fits(plots)
    _draw_novelty(plots)


def _draw_vectors(plots: Path) -> None:
    figure, axes = pyplot.subplots(1, 3, figsize=(13, 3.8))
    widths = np.linspace(0, 1.2, 13)
    samples, targets = olk.curve(700, 0)
    counts = [bl.OLKRegressor(**{**olk.OLK_R, "eps": eps}).fit(samples, targets).n_support_ for eps in widths]
    axes[0].plot(widths, counts, ".-")
    axes[0].set(xlabel="eps", ylabel="vectors of 700", title="OLK_R")
    for axis, r in zip(axes[1:], (olk.OLK_C["r"], 0.01), strict=True):
        for threshold in olk.THRESHOLDS:
            counts = olk.class_vectors(r, threshold).mean(axis=0)
            axis.plot(100 * np.arange(1, 16), counts, ".-", label=f"thr {threshold:g}")
        axis.set(xlabel="samples", ylabel="vectors", title=f"OLK_C, r {r:g}")
        axis.legend()
    save(figure, plots / "vectors.png")


def _draw_classes(plots: Path) -> None:
    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4))
    for name, errors in olk.classifier_errors().items():
        axes[0].plot(olk.SIZES, errors.mean(axis=0), ".-", label=name)
        axes[1].semilogy(olk.SIZES, 1000 * olk.classifier_times()[name], ".-", label=name)
    axes[0].axhline(7.86, color="0.7", zorder=0, label="best possible")
    axes[0].set(xlabel="samples", ylabel="% test errors", ylim=(7, 20))
    axes[1].set(xlabel="samples", ylabel="ms of CPU time to learn")
    axes[0].legend()
    save(figure, plots / "classes.png")


def _draw_fits(plots: Path) -> None:
    figure = pyplot.figure(figsize=(13, 6))
    grid = np.linspace(-np.pi, np.pi, 400)
    for place, n in zip((1, 2, 4, 5), (50, 150, 300, 600), strict=True):
        axis = figure.add_subplot(2, 3, place, ylim=(-1.5, 1.5))
        samples, targets = olk.curve(n, 0)
        model = bl.OLKRegressor(**olk.OLK_R).fit(samples, targets)
        axis.plot(samples, targets, ".", color="0.8", markersize=3)
        axis.plot(grid, 0.2 * np.sin(5 * grid) + 0.5 * np.sin(grid), "k--", label="truth")
        axis.plot(grid, model.predict(grid[:, None]), label="OLK_R")
        axis.set(title=f"{n} samples: {model.n_support_} vectors")
    axis.legend()
    axis = figure.add_subplot(1, 3, 3, xlabel="samples", title="error on the curve, 10 runs", ylim=(0, 0.35))
    for name, errors in olk.regression_errors().items():
        axis.plot(olk.CURVE_SIZES, errors.mean(axis=0), ".-", label=name)
    axis.legend()
    save(figure, plots / "fits.png")


def _draw_novelty(plots: Path) -> None:
    figure, axes = pyplot.subplots(1, 3, figsize=(13, 4))
    samples, novel = olk.rare(0, 100)
    for axis, rule in zip(axes, ("published", "quantile"), strict=False):
        flagged = bl.OLKNovelty(width=1.0, budget=None, rho_rule=rule).fit(samples).predict(samples) < 0
        axis.plot(*samples[~novel].T, ".", label="usual")
        axis.plot(*samples[novel].T, "^", label="novel")
        axis.plot(*samples[flagged].T, "o", markersize=12, markerfacecolor="none", color="red", label="flagged")
        axis.set(title=f"OLK_N, rule {rule}")
        axis.legend()
    for name, (scores, flags) in olk.novelty_scores().items():
        alarms, found, _ = roc_curve(flags.ravel(), -scores.ravel())
        axes[2].plot(alarms, found, label=name)
    axes[2].set(xlabel="usual samples flagged", ylabel="novel samples found", title="1000 samples after 100, 10 runs")
    axes[2].legend()
    save(figure, plots / "roc.png")
