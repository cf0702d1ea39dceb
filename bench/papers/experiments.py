"""Published experiments on the learners, each a function that returns rows of the table in docs/papers.md."""

import gzip
import io
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.metrics import roc_auc_score

from bgsub import learners as bl


@dataclass(frozen=True)
class Row:
    """One line of the table; `good` is the verdict, None where nothing is claimed."""

    id: str
    what: str
    published: str
    ours: str
    accepted: str
    good: bool | None


def svmlight(path: Path, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Read a file of LIBSVM's format, whole."""
    samples, labels = load_svmlight_file(io.BytesIO(gzip.decompress(path.read_bytes())), n_features=n_features)
    return samples.toarray(), labels.astype(int)


def german(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read german.numer."""
    samples, labels = load_svmlight_file(str(folder / "german.numer"))
    return samples.toarray(), labels.astype(int)


def rate(model: Any, samples: np.ndarray, labels: np.ndarray) -> float:
    """Online error in percent."""
    return 100 * model.fit(samples, labels).n_mistakes_ / len(samples)


def exact(folder: Path) -> Iterator[Row]:
    """X1 to X10: counts that leave no room."""
    adult, few = svmlight(folder / "a9a.gz", 123), german(folder)
    squared = {"gamma": 0.04, "eta": 0.1, "eta_on": "squared"}
    runs: list[tuple[str, str, Any, Any, str, int, int | None, int]] = [
        ("X1", "kernel perceptron, a9a, gamma .04", bl.KernelPerceptron(gamma=0.04), adult, "6691", 6691, 6691, 0),
        ("X2", "kernel perceptron, a9a, gamma .01", bl.KernelPerceptron(gamma=0.01), adult, "6887", 6887, 6887, 0),
        ("X3", "PA-I, a9a", bl.PassiveAggressiveKernel(gamma=0.04), adult, "12510 +- 37 vectors", 5759, 12515, 0),
        ("X4", "Forgetron self-tuned, a9a, B 100", bl.ForgetronClassifier(gamma=0.04), adult, "-", 8077, 100, 45),
        (
            "X4",
            "Forgetron basic, a9a, B 100",
            bl.ForgetronClassifier(gamma=0.04, variant="basic"),
            adult,
            "-",
            11003,
            100,
            3,
        ),
        ("X5", "Projectron, a9a", bl.ProjectronClassifier(**squared), adult, "793 vectors", 6691, 785, 5),
        (
            "X6",
            "Projectron++ published, a9a",
            bl.ProjectronClassifier(**squared, margin="published"),
            adult,
            "-",
            6516,
            779,
            5,
        ),
        (
            "X6",
            "Projectron++ experiments, a9a",
            bl.ProjectronClassifier(**squared, margin="experiments"),
            adult,
            "768 vectors",
            5958,
            737,
            5,
        ),
        ("X7", "kernel perceptron, german", bl.KernelPerceptron(sigma=8.0), few, "-", 329, 329, 0),
        ("X7", "PA-I, german", bl.PassiveAggressiveKernel(sigma=8.0), few, "-", 293, 660, 0),
        ("X7", "Forgetron self-tuned, german", bl.ForgetronClassifier(sigma=8.0), few, "-", 367, 100, 1),
        ("X7", "Forgetron basic, german", bl.ForgetronClassifier(sigma=8.0, variant="basic"), few, "-", 416, 100, 1),
    ]
    for margin, eta, mistakes, vectors in (
        ("none", 0.1, 331, 116),
        ("none", 0.02, 329, 293),
        ("published", 0.1, 334, 116),
        ("published", 0.02, 326, 292),
    ):
        model = bl.ProjectronClassifier(sigma=8.0, eta=eta, margin=margin)
        runs.append(("X8", f"Projectron, margin {margin}, eta {eta}, german", model, few, "-", mistakes, vectors, 1))
    for number, what, model, data, published, mistakes, vectors, slack in runs:
        model.fit(*data)
        good = abs(model.n_mistakes_ - mistakes) <= slack and abs(model.n_support_ - vectors) <= min(slack, 1)
        accepted = f"{mistakes}, {vectors}" + (f" (+-{slack})" if slack else "")
        yield Row(number, what, published, f"{model.n_mistakes_} mistakes, {model.n_support_} vectors", accepted, good)
    digits = np.load(folder / "usps.npz")
    samples = digits["x_train"].astype(float)
    samples /= np.linalg.norm(samples, axis=1, keepdims=True)
    model = bl.KernelPerceptron(kernel="polynomial", degree=13, gamma=0.5, coef0=0.5).fit(samples, digits["y_train"])
    yield Row("X9", "perceptron of ten classes, usps", "6.7 %", f"{model.n_mistakes_}", "468", model.n_mistakes_ == 468)
    data = np.load(folder / "german_permutations.npz")
    raw, labels = data["x_raw"].astype(float), data["y"].astype(int)
    for model, expected, slack, published in (
        (bl.KernelPerceptron(sigma=8.0), 7078, 0, "35.2 %"),
        (bl.PassiveAggressiveKernel(sigma=8.0), 6072, 0, "-"),
        (bl.ForgetronClassifier(sigma=8.0), 7632, 5, "38.1 %"),
    ):
        total = sum(model.fit(raw[order], labels[order]).n_mistakes_ for order in data["permutations"])
        what = f"{type(model).__name__}, german, 20 published orders"
        yield Row("X10", what, published, str(total), f"{expected} (+-{slack})", abs(total - expected) <= slack)


def within(number: str, what: str, published: float | str, ours: float, low: float, high: float, unit: str = "") -> Row:
    """Make a row of a number in a range."""
    return Row(number, what, f"{published}", f"{ours:.4g}{unit}", f"{low:.4g} to {high:.4g}", bool(low <= ours <= high))


def adult_permuted(folder: Path) -> Iterator[Row]:
    """S1: a9a in random orders (Orabona 2009, figure 6)."""
    samples, labels = svmlight(folder / "a9a.gz", 123)
    squared = {"gamma": 0.04, "eta": 0.1, "eta_on": "squared"}
    models: list[tuple[str, Any, float, float]] = [
        ("perceptron", bl.KernelPerceptron(gamma=0.04), 20.6, 20.5),
        ("PA-I", bl.PassiveAggressiveKernel(gamma=0.04), 17.85, 17.7),
        ("Forgetron, B 793", bl.ForgetronClassifier(gamma=0.04, budget=793), 21.9, 21.8),
        ("RBP, B 793", bl.RBPClassifier(gamma=0.04, budget=793, random_state=0), 22.3, 22.0),
        ("Projectron", bl.ProjectronClassifier(**squared), 20.8, 20.5),
        ("Projectron++ experiments", bl.ProjectronClassifier(**squared, margin="experiments"), 18.5, 18.66),
    ]
    orders = [np.random.default_rng(seed).permutation(len(samples)) for seed in range(5)]
    for name, model, published, reference in models:
        errors = [rate(model, samples[order], labels[order]) for order in orders]
        mean = float(np.mean(errors))
        yield within("S1", f"{name}, a9a, 5 orders, % errors", published, mean, reference - 0.5, reference + 0.5)


def two_normals(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the synthetic data of Orabona 2009, figure 7."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], 10000)
    x = y[:, None] + rng.normal(size=(10000, 2)) * np.sqrt([0.2, 2.0])
    return x, np.where(rng.random(10000) < 0.1, -y, y)


def synthetic(_folder: Path) -> Iterator[Row]:
    """S2: two normal distributions with a tenth of the labels flipped."""
    squared = {"gamma": 1.0, "eta": 0.04, "eta_on": "squared"}
    models: list[tuple[str, Any, float, float]] = [
        ("perceptron", bl.KernelPerceptron(gamma=1.0), 19.12, 18.97),
        ("PA-I", bl.PassiveAggressiveKernel(gamma=1.0), 12.68, 12.51),
        ("Forgetron, B 103", bl.ForgetronClassifier(gamma=1.0, budget=103), 20.35, 20.39),
        ("RBP, B 103", bl.RBPClassifier(gamma=1.0, budget=103, random_state=0), 20.69, 20.70),
        ("Projectron", bl.ProjectronClassifier(**squared), 19.14, 19.03),
        ("Projectron++ experiments", bl.ProjectronClassifier(**squared, margin="experiments"), 13.14, 13.1),
    ]
    for name, model, published, reference in models:
        mean = float(np.mean([rate(model, *two_normals(seed)) for seed in range(5)]))
        yield within("S2", f"{name}, two normals, % errors", published, mean, reference - 0.7, reference + 0.7)


def hyperplane(seed: int, n: int = 10000) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training and test samples with a tenth of the labels flipped."""
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=(2 * n, 2)), rng.normal(size=2)
    y = np.where(x @ w > 0, 1, -1)
    y[rng.random(2 * n) < 0.1] *= -1
    return x[:n], y[:n], x[n:], y[n:]


def averaged(_folder: Path) -> Iterator[Row]:
    """S3 and S4: a noisy hyperplane; averaging makes the difference."""
    squared = {"gamma": 1.0, "eta": 0.01, "eta_on": "squared", "average": True}
    models: list[tuple[str, Any, float, float, float]] = [
        ("perceptron", bl.KernelPerceptron(gamma=1.0, average=True), 10.1, 21.6, 20.5),
        ("PA-I", bl.PassiveAggressiveKernel(gamma=1.0, average=True), 10.0, 15.4, 14.5),
        ("Projectron", bl.ProjectronClassifier(**squared), 9.96, 21.4, 20.7),
        ("Projectron++", bl.ProjectronClassifier(**squared, margin="experiments"), 10.03, 15.9, 15.0),
    ]
    for name, model, published, online_published, online in models:
        tests, onlines = [], []
        for seed in range(3):
            x, y, x_test, y_test = hyperplane(seed)
            onlines.append(rate(model, x, y))
            tests.append(100 * (1 - model.score(x_test, y_test)))
        yield within("S3", f"{name}, averaged, % test errors", published, float(np.mean(tests)), 0, 11.3)
        mean = float(np.mean(onlines))
        yield within("S4", f"{name}, % online errors", online_published, mean, online - 1.5, online + 1.5)


def budgets(folder: Path) -> Iterator[Row]:
    """S5, S6 and S20: budgets of 100 (Lu 2016)."""
    data = np.load(folder / "german_permutations.npz")
    raw, labels = data["x_raw"].astype(float), data["y"].astype(int)
    for name, model, published, reference, slack in (
        ("perceptron", bl.KernelPerceptron(sigma=8.0), 35.2, 35.39, 0.4),
        ("RBP", bl.RBPClassifier(sigma=8.0, random_state=0), 37.5, 37.9, 0.8),
        ("Forgetron", bl.ForgetronClassifier(sigma=8.0), 38.1, 38.16, 0.4),
    ):
        mean = float(np.mean([rate(model, raw[order], labels[order]) for order in data["permutations"]]))
        yield within("S5", f"{name}, german, % errors", published, mean, reference - slack, reference + slack)
    parts = [svmlight(folder / name, 123) for name in ("a9a.gz", "a9a.t.gz")]
    samples, labels = np.vstack([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
    order = np.random.default_rng(0).permutation(len(samples))
    error = rate(bl.RBPClassifier(sigma=8.0, random_state=0), samples[order], labels[order])
    yield within("S6", "RBP, a9a + a9a.t, % errors", 27.1, error, 26.5, 27.5)
    samples, labels = svmlight(folder / "w8a.gz", 300)
    orders = [np.random.default_rng(seed).permutation(len(samples)) for seed in range(2)]
    for name, model, published_text, reference in (
        ("perceptron", bl.KernelPerceptron(sigma=8.0), "3.47", 3.61),
        ("RBP", bl.RBPClassifier(sigma=8.0, random_state=0), "5.10", 5.11),
        ("Forgetron", bl.ForgetronClassifier(sigma=8.0), "5.28", 5.29),
        ("PA-I", bl.PassiveAggressiveKernel(sigma=8.0), "-", 2.42),
    ):
        mean = float(np.mean([rate(model, samples[order], labels[order]) for order in orders]))
        yield within("S20", f"{name}, w8a, % errors", published_text, mean, reference - 0.3, reference + 0.3)


def curve(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return example 2 of Li 2013."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-np.pi, np.pi, size=(n, 1))
    return x, 0.2 * np.sin(5 * x[:, 0]) + 0.5 * np.sin(x[:, 0]) + rng.uniform(-0.5, 0.5, n)


def curve_error(model: Any) -> float:
    """Root mean square error on the curve without noise."""
    grid = np.linspace(-np.pi, np.pi, 400)
    return float(np.sqrt(np.mean((model.predict(grid[:, None]) - 0.2 * np.sin(5 * grid) - 0.5 * np.sin(grid)) ** 2)))


def regression(folder: Path) -> Iterator[Row]:
    """S14 to S16 (Li 2013) and S21 (recursive least squares on the Lorenz series)."""
    olk = {"width": 0.5, "C": 1.0, "r": 0.001, "budget": None}
    for n, high in ((100, 0.18), (300, 0.115), (600, 0.09)):
        mean = float(np.mean([curve_error(bl.OLKRegressor(**olk, eps=0.5).fit(*curve(n, s))) for s in range(10)]))
        yield within("S14", f"OLK_R, example 2, error after {n}", "figure", mean, 0, high)
    for name, model, reference in (
        ("KRLS", bl.KRLSRegressor(width=0.5, nu=0.001), 0.064),
        ("LS-SVM", bl.LSSVMRegressor(width=0.5, C=10.0), 0.054),
        ("kernel LMS", bl.NORMARegressor(width=0.5, eta=0.02, lam=0.0, budget=None), 0.122),
        ("NORMA", bl.NORMARegressor(width=0.5, loss="epsilon", eta=0.1, lam=0.01, eps=0.5, budget=None), 0.068),
    ):
        mean = float(np.mean([curve_error(model.fit(*curve(600, s))) for s in range(10)]))
        yield within("S15", f"{name}, example 2, error after 600", "figure", mean, 0.75 * reference, 1.25 * reference)
    counts = [bl.OLKRegressor(**olk, eps=eps).fit(*curve(700, 3)).n_support_ for eps in (0.0, 0.3, 0.5, 0.7, 1.1)]
    good = counts[0] == 700 and counts == sorted(counts, reverse=True) and counts[-1] <= 15
    ours = ", ".join(map(str, counts))
    yield Row("S16", "OLK_R vectors of 700 at eps 0, .3, .5, .7, 1.1", "700 to 0 (figure)", ours, "falling", good)
    series = np.loadtxt(folder / "lorenz.dat")
    padded = np.concatenate([np.zeros(6), series])
    samples = np.stack([padded[i + 1 : i + 10001] for i in range(6)], axis=1)
    model = bl.KRLSRegressor(sigma=32.0, nu=1e-4)
    errors = [y - model.learn_one(x, float(y)) for x, y in zip(samples, series[1:10001], strict=True)]
    decibel = float(10 * np.log10(np.mean(np.square(errors[1000:]))))
    yield within("S21", f"KRLS, Lorenz, dB ({model.n_support_} vectors)", -40.17, decibel, -np.inf, -39.9)


def novelty(folder: Path) -> Iterator[Row]:
    """S17 to S19: OLK_C, OLK_N and NORMA's novelty detection."""
    errors = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = rng.choice([-1, 1], 11000)
        x = y[:, None] + rng.normal(size=(11000, 2))
        model = bl.OLKClassifier(width=1.2, C=0.8, r=0.001, budget=None).fit(x[:1000], y[:1000])
        errors.append(100 * (1 - model.score(x[1000:], y[1000:])))
    yield within("S17", "OLK_C, example 1, % test errors (Bayes 7.86)", "figure", float(np.mean(errors)), 0, 10.5)
    areas, rates = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        outlier = rng.random(2000) < 0.05
        x = rng.normal(size=(2000, 2)) + np.where(outlier, -2.0, 2.0)[:, None]
        model = bl.OLKNovelty(width=1.0, budget=None).fit(x[:1000])
        areas.append(roc_auc_score(outlier[1000:], -model.expansion_.values(x[1000:])))
        rates.append(model.n_novel_ / 1000)
    yield within("S18", "OLK_N, example 3, area under ROC", "figure", float(np.mean(areas)), 0.95, 1.0)
    yield within("S18", "OLK_N, example 3, share flagged, nu .05", "-", float(np.mean(rates)), 0.03, 0.09)
    digits = 2 * np.load(folder / "usps.npz")["x_train"].astype(float) - 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = bl.NORMANovelty(sigma=8.0, nu=0.01, eta=1.0, schedule="sqrt", budget=None).fit(digits)
    share = model.n_violations_ / len(digits)
    yield within("S19", "NORMA, usps digits found novel, nu .01, sqrt schedule", "images", share, 0.006, 0.012)
    model = bl.NORMANovelty(sigma=8.0, nu=0.01, eta=0.002, budget=None).fit(digits)
    share, identity = model.n_violations_ / len(digits), 0.01 - (model.rho_ - 0.002 * 0.01 / 2) / (0.002 * len(digits))
    exactly = abs(share - identity) < 1e-12
    yield Row("S19", "the same with eta = nu / 5", "-", f"{share:.4f}", f"identity {identity:.4f}", exactly)


def drifting(seed: int, n: int = 10000, switching: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return two classes whose means drift every 10 samples, or change at once every 1000."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], n)
    angle = np.cumsum(np.repeat(rng.normal(0, 0.05, n // 10), 10))
    if switching:
        angle = np.repeat(rng.uniform(0, 2 * np.pi, n // 1000), 1000)
    centre = 0.8 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return y[:, None] * centre + 0.6 * rng.normal(size=(n, 2)), y


def stream_models() -> dict[str, Callable[[], Any]]:
    """Return the learners compared on drifting and switching data."""
    norma = {"sigma": 1.0, "eta": 0.2, "lam": 0.02}
    return {
        "perceptron": lambda: bl.KernelPerceptron(sigma=1.0),
        "ALMA": lambda: bl.ALMAClassifier(sigma=1.0),
        "NORMA, margin 0": lambda: bl.NORMAClassifier(**norma, rho=0.0),
        "NORMA, margin .5": lambda: bl.NORMAClassifier(**norma, rho=0.5),
    }


def ordering(_folder: Path) -> Iterator[Row]:
    """Order of the learners on drifting and switching data (Kivinen 2004; constants are ours)."""
    for name, switching in (("drifting", False), ("switching", True)):
        data = [drifting(seed, 5000, switching) for seed in range(20)]
        errors = {key: float(np.mean([rate(make(), x, y) for x, y in data])) for key, make in stream_models().items()}
        good = errors["NORMA, margin .5"] <= min(errors["NORMA, margin 0"], errors["perceptron"])
        ours = ", ".join(f"{key} {value:.1f} %" for key, value in errors.items())
        yield Row("14.3", f"{name} data, 20 runs", "figure", ours, "margin .5 below margin 0 and perceptron", good)


ALL = (exact, adult_permuted, synthetic, averaged, budgets, regression, novelty, ordering)
