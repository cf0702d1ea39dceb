"""Plots of docs/evaluation/papers.md on SVMD and the online Bayes point machine."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot

from bgsub import learners as bl
from bgsub.papers.bayes_points import drift_models, drifting_digits, mnist, toy, web_models, web_part
from bgsub.papers.figures import save
from bgsub.papers.steps import BUFFERS, buffer_mistakes, novelty_steps, streams


def mistakes(model: Any, samples: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Learn one by one; return which samples were wrong, for classifiers that are given their classes."""
    wrong = np.zeros(len(labels), bool)
    before = 0
    model.start(samples.shape[1], np.unique(labels))
    for t, (x, y) in enumerate(zip(samples, labels.tolist(), strict=True)):
        model.learn_one(x, y)
        wrong[t], before = model.n_mistakes_ > before, model.n_mistakes_
    return wrong


def draw_steps(folder: Path, plots: Path) -> None:
    """Write error and step of the three streams, and the step of novelty detection."""
    figure, axes = pyplot.subplots(2, 3, figsize=(13, 6.5), sharex="col")
    for column, (title, (samples, labels, models)) in enumerate(streams(folder).items()):
        count = np.arange(1, len(labels) + 1)
        for name, model in models.items():
            model.set_params(record=True)
            axes[0, column].plot(count, np.cumsum(mistakes(model, samples, labels)) / count, label=name)
            axes[1, column].semilogy(count, model.step_sizes_, label=name, linewidth=0.8)
        axes[0, column].set(title=title, ylim=(0, 1), ylabel="average error" if column == 0 else "")
        axes[1, column].set(xlabel="samples", ylabel="step size" if column == 0 else "")
        axes[0, column].legend()
    save(figure, plots / "steps.png")
    figure, axis = pyplot.subplots(figsize=(11, 3.5))
    axis.semilogy(novelty_steps(folder), linewidth=0.8)
    for hundred in range(300, 6000, 300):
        axis.axvline(hundred, color="red" if hundred == 3000 else "0.7", linewidth=0.8, zorder=0)
    axis.set(xlabel="images of the counting sequence", ylabel="step size")
    save(figure, plots / "wraps.png")


def draw_points(folder: Path, plots: Path) -> None:
    """Write test error and margin by tau, and mistakes on the drifting digit."""
    figure, axes = pyplot.subplots(1, 3, figsize=(13, 4))
    shares = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
    for size in (25, 100):
        errors, margins = np.zeros(len(shares)), np.zeros(len(shares))
        for seed in range(30):
            samples, labels, right = toy(seed, 0.0)
            for i, tau in enumerate(shares):
                model = bl.OBPMClassifier(n_members=size, tau=tau, bias=False, random_state=seed)
                w = model.fit(samples[:1000], labels[:1000]).coef_[0]
                errors[i] += 100 * (1 - model.score(samples[1000:], right[1000:])) / 30
                margins[i] += (labels[:1000] * (samples[:1000] @ w)).min() / np.linalg.norm(w) / 30
        axes[0].plot(shares, errors, ".-", label=f"{size} members")
        axes[1].plot(shares, margins, ".-", label=f"{size} members")
    axes[0].set(xlabel="tau", ylabel="% test errors", ylim=(0, 2))
    axes[1].set(xlabel="tau", ylabel="margin")
    images, digits = mnist(folder)
    totals: dict[str, np.ndarray] = {}
    for seed in range(10):
        samples, labels = drifting_digits(images, digits, seed, 0.5, printed=False)
        for name, model in drift_models(seed).items():
            totals[name] = totals.get(name, 0) + np.cumsum(mistakes(model, samples, labels)) / 10
    for name, total in totals.items():
        axes[2].plot(total, label=name)
    axes[2].set(xlabel="samples of the drifting digit", ylabel="mistakes")
    for axis in axes:
        axis.legend()
    save(figure, plots / "points.png")


def draw_web(folder: Path, plots: Path) -> None:
    """Write mistakes and corrections on w8a, as in figure 3 of Harrington and others."""
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4))
    samples, labels = web_part(folder, seed=0)
    ends = np.arange(500, len(labels), 500)
    for name, model in web_models(0).items():
        model.start(samples.shape[1], [-1, 1])
        counts = []
        for start in range(0, ends[-1], 500):
            model.partial_fit(samples[start : start + 500], labels[start : start + 500])
            counts.append((model.n_mistakes_, model.n_violations_))
        for axis, several in zip(axes, zip(*counts, strict=True), strict=True):
            axis.plot(ends, several, label=name)
    axes[0].set(xlabel="samples of w8a", ylabel="mistakes")
    axes[1].set(xlabel="samples of w8a", ylabel="corrections", yscale="log")
    axes[0].legend()
    save(figure, plots / "web.png")


def draw_buffers(folder: Path, plots: Path) -> None:
    """Write the average error of SVMD on MNIST by the size of the buffer, as in its figure 7, right."""
    figure, axis = pyplot.subplots(figsize=(5.5, 4))
    for budget in BUFFERS:
        mistakes = buffer_mistakes(folder, budget)
        count = np.linspace(500, 60000, len(mistakes))
        axis.loglog(count, mistakes / count, label=f"{budget} vectors")
    axis.set(xlabel="images of MNIST", ylabel="average error")
    axis.legend()
    save(figure, plots / "buffers.png")
