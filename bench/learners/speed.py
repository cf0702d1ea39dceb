"""Speed of the learners on one thread, beside peers measured in the same run: python -m bench.learners.speed [DATA].

Per-sample is score and learn. Peers that are not installed are left out. DATA is the folder of the learning sets.
"""

import functools
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier, SGDOneClassSVM
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from bgsub import learners as bl
from bgsub.papers.bayes_points import sparse
from bgsub.papers.experiments import svmlight

FEATURES, BUDGET = 22, 100


def per_second(function: Callable[[], object], count: int, rounds: int = 3) -> float:
    """Return the best rate of a few rounds, by CPU time."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return count / best


def in_turn(functions: dict[str, Callable[[], object]], count: int, rounds: int = 5) -> dict[str, float]:
    """Return the median rate of each function, by CPU time, in rounds that call them one after the other."""
    rates: dict[str, list[float]] = {name: [] for name in functions}
    for function in functions.values():
        function()
    for _ in range(rounds):
        for name, function in functions.items():
            rates[name].append(per_second(function, count, 1))
    return {name: statistics.median(several) for name, several in rates.items()}


def report(what: str, ours: float, peer: float | None, needed: float | None) -> None:
    """Print one rate, beside that of a peer."""
    ratio = "" if peer is None else f", {ours / peer:.1f} times the peer's {peer:,.0f}/s"
    sys.stdout.write(f"{what}: {ours:,.0f}/s{ratio}{'' if needed is None else f' (needed {needed:g})'}\n")


def one_by_one(model: Any, samples: np.ndarray, labels: np.ndarray | None = None) -> Callable[[], None]:
    """Return a run of `learn_one`."""

    def run() -> None:
        if labels is None:
            for x in samples:
                model.learn_one(x)
        else:
            for x, y in zip(samples, labels.tolist(), strict=True):
                model.learn_one(x, y)

    return run


def plain_loop(samples: np.ndarray, gamma: float) -> Callable[[], None]:
    """Return a plain numpy loop: one row of exp and one dot product per sample."""

    def run() -> None:
        vectors, coefficients, head, rho = np.zeros((BUDGET, FEATURES)), np.zeros(BUDGET), 0, 0.01
        for x in samples:
            f = coefficients @ np.exp(-gamma * ((vectors - x) ** 2).sum(axis=1))
            coefficients *= 0.975
            if f < rho:
                vectors[head], coefficients[head], head = x, 0.025, (head + 1) % BUDGET
            rho += 0.025 * (0.5 - (f < rho))

    return run


def novelty(samples: np.ndarray) -> None:
    """V1 to V3: NORMA's novelty detection against river and scikit-learn."""
    model = bl.NORMANovelty(sigma=4.0, nu=0.5, eta=0.025, budget=BUDGET).fit(samples[:2000])
    ours = per_second(one_by_one(model, samples[:20000]), 20000)
    peer = None
    try:
        from river import anomaly, feature_extraction
    except ImportError:
        sys.stdout.write("V1: river is not installed\n")
    else:
        pipeline = feature_extraction.RBFSampler(gamma=1 / 32, n_components=100, seed=0) | anomaly.OneClassSVM()
        rows = [dict(enumerate(x)) for x in samples[:500].tolist()]

        def river() -> None:
            for row in rows:
                pipeline.score_one(row)
                pipeline.learn_one(row)

        peer = per_second(river, len(rows))
    report("V1 learn_one, NORMANovelty, peer river RBFSampler | OneClassSVM", ours, peer, 20)
    pipeline = make_pipeline(Nystroem(gamma=1 / 32, n_components=100, random_state=0), SGDOneClassSVM())
    pipeline.fit(samples[:500])
    transform, svm = pipeline[0].transform, pipeline[1]

    def single() -> None:
        for x in samples[:300]:
            row = transform(x[None])
            svm.decision_function(row)
            svm.partial_fit(row)

    report("V2 the same, peer Nystroem + SGDOneClassSVM one by one", ours, per_second(single, 300), 50)

    def bulk() -> None:
        row = transform(samples)
        svm.decision_function(row)
        svm.partial_fit(row)

    ours = per_second(lambda: model.partial_fit(samples), len(samples))
    report("V3 partial_fit, peer Nystroem + SGDOneClassSVM in bulk", ours, per_second(bulk, len(samples)), 1)


def adult(folder: Path) -> None:
    """V4 to V6: a9a."""
    samples, labels = svmlight(folder / "a9a.gz", 123)
    seconds = {}
    for name, model in (
        ("perceptron", bl.KernelPerceptron(gamma=0.04)),
        ("RBP B 100", bl.RBPClassifier(gamma=0.04, random_state=0)),
        ("Forgetron B 100", bl.ForgetronClassifier(gamma=0.04)),
        ("Projectron", bl.ProjectronClassifier(gamma=0.04, eta=0.1, eta_on="squared")),
    ):
        model.fit(samples[:100], labels[:100])
        seconds[name] = len(samples) / per_second(lambda model=model: model.fit(samples, labels), len(samples), 2)
        sys.stdout.write(f"a9a, {name}: {seconds[name]:.2f} s\n")
    ratio = seconds["Projectron"] / seconds["perceptron"]
    sys.stdout.write(f"V6 Projectron in units of the perceptron: {ratio:.2f} (needed at most 1)\n")


def everything(samples: np.ndarray) -> None:
    """V7: every learner against a loop in numpy."""
    loop = per_second(plain_loop(samples[:5000], 1 / 32), 5000)
    labels = np.where(samples[:, 0] * samples[:, 1] > 0, 1, -1)
    given: dict[str, Any] = {"sigma": 4.0, "budget": BUDGET}
    supervised = [
        bl.KernelPerceptron(**given),
        bl.PassiveAggressiveKernel(**given),
        bl.RBPClassifier(**given, random_state=0),
        bl.ForgetronClassifier(**given),
        bl.ALMAClassifier(**given),
        bl.NORMAClassifier(**given),
        bl.OLKClassifier(**given),
        bl.ProjectronClassifier(**given),
        bl.NORMARegressor(**given),
        bl.OLKRegressor(**given),
        bl.KRLSRegressor(**given),
    ]
    for model in (bl.NORMANovelty(**given, nu=0.5, eta=0.025), bl.OLKNovelty(**given), *supervised):
        several = samples[:20000], labels[:20000]
        model.fit(*several)
        batch = per_second(lambda model=model, several=several: model.partial_fit(*several), 20000)
        alone = one_by_one(model, samples[:5000], labels[:5000] if model in supervised else None)
        report(f"V7 {type(model).__name__}, batch", batch, loop, 5)
        report(f"   {type(model).__name__}, learn_one", per_second(alone, 5000), loop, None)


def adapted_steps(samples: np.ndarray) -> None:
    """V8: a step of SVMD against one of NORMA, where nearly every sample is stored and replaces another."""
    wide = np.random.default_rng(1).normal(size=(5000, 256))
    for rows, sigma in ((samples[:20000], 4.0), (wide, 14.0)):
        noise = np.random.default_rng(2).normal(size=len(rows))
        labels = np.where(rows[:, 0] * rows[:, 1] + 0.3 * noise > 0, 1, -1)
        given: dict[str, Any] = {"sigma": sigma, "budget": 512}
        norma = bl.NORMAClassifier(**given, eta=0.1, lam=0.01).fit(rows, labels)
        svmd = bl.SVMDClassifier(**given, eta_0=0.1, c=0.01).fit(rows, labels)
        pairs = []
        for _ in range(7):  # in turn, so that the machine's other load counts for both
            learned = (functools.partial(model.partial_fit, rows, labels) for model in (norma, svmd))
            pairs.append([per_second(learn, len(rows), 1) for learn in learned])
        ratio, best = statistics.median(a / b for a, b in pairs), max(b for _, b in pairs)
        what = f"V8 SVMD, buffer 512, {rows.shape[1]} features"
        sys.stdout.write(f"{what}: {best:,.0f}/s, a step {ratio:.2f} times NORMA's (at most 2.5)\n")


def one_after_the_other(samples: np.ndarray, labels: np.ndarray, size: int, tau: float) -> Callable[[], None]:
    """Return perceptrons in numpy, each over its part of the stream."""

    def run() -> None:
        rng = np.random.default_rng(0)
        for _ in range(size):
            w = np.zeros(samples.shape[1])
            for t in np.flatnonzero(rng.random(len(labels)) < tau):
                if labels[t] * (w @ samples[t]) <= 0:
                    w += labels[t] * samples[t]

    return run


def all_at_once(samples: np.ndarray, labels: np.ndarray, size: int, tau: float) -> Callable[[], None]:
    """Return the same with one product of a matrix and a vector a sample."""

    def run() -> None:
        rng, weights = np.random.default_rng(0), np.zeros((size, samples.shape[1]))
        for x, y in zip(samples, labels.tolist(), strict=True):
            weights[(rng.random(size) < tau) & (y * (weights @ x) <= 0)] += y * x

    return run


def ensembles(folder: Path) -> None:
    """OBPM on w8a against perceptrons in numpy."""
    samples, labels = sparse(folder / "w8a.gz", 300)
    order = np.random.default_rng(0).permutation(len(labels))
    samples, labels = samples[order], labels[order]
    dense = samples.toarray()
    biased = np.hstack([dense, np.ones((len(dense), 1))])
    biased /= np.linalg.norm(biased, axis=1, keepdims=True)
    peer = per_second(one_after_the_other(biased, labels, 100, 0.3), len(labels), 1)
    quick = per_second(all_at_once(biased, labels, 100, 0.3), len(labels), 1)
    for name, rows in (("sparse", samples), ("dense", dense)):
        for jobs in (None, -1):
            model = bl.OBPMClassifier(n_jobs=jobs, random_state=0).fit(rows, labels)
            ours = per_second(lambda model=model, rows=rows: model.fit(rows, labels), len(labels))
            threads = "one thread" if jobs is None else "all threads"
            report(f"OBPM(.3, 100), w8a, {name}, {threads}, peer numpy's perceptrons in turn", ours, peer, 3)
            report("   the same, peer numpy with all members at once", ours, quick, None)


def linear(samples: np.ndarray) -> None:
    """Linear learners beside river's own, through the adapter and without: predict, then learn."""
    try:
        from river import linear_model

        from bgsub.learners.river import RiverClassifier
    except ImportError:
        sys.stdout.write("river is not installed\n")
        return
    labels = samples[:, 0] + 0.3 * samples[:, 1] > 0
    rows = [{f"f{i}": value for i, value in enumerate(x)} for x in samples.tolist()]

    def through_river(model: Any) -> Callable[[], None]:
        def run() -> None:
            for row, label in zip(rows, labels.tolist(), strict=True):
                model.predict_one(row)
                model.learn_one(row, label)

        return run

    def directly(model: Any) -> Callable[[], None]:
        model.fit(samples, labels)

        def run() -> None:
            for x, label in zip(samples, labels.tolist(), strict=True):
                model.predict_one(x)
                model.learn_one(x, label)

        return run

    small = {"sigma": 4.0, "budget": BUDGET}
    rates = in_turn(
        {
            "river ALMA": through_river(linear_model.ALMAClassifier()),
            "LinearALMAClassifier, adapter": through_river(RiverClassifier(bl.LinearALMAClassifier())),
            "LinearALMAClassifier": directly(bl.LinearALMAClassifier()),
            "river PA": through_river(linear_model.PAClassifier()),
            "LinearPAClassifier, adapter": through_river(RiverClassifier(bl.LinearPAClassifier())),
            "LinearPAClassifier": directly(bl.LinearPAClassifier()),
            "PassiveAggressiveKernel, adapter": through_river(RiverClassifier(bl.PassiveAggressiveKernel(**small))),
        },
        len(rows),
    )
    for name, peer, needed in (
        ("LinearALMAClassifier, adapter", "river ALMA", 1),
        ("LinearALMAClassifier", "river ALMA", 2),
        ("LinearPAClassifier, adapter", "river PA", 1),
        ("LinearPAClassifier", "river PA", 2),
        ("PassiveAggressiveKernel, adapter", "river PA", None),
    ):
        report(f"{name}, predict and learn, peer {peer}", rates[name], rates[peer], needed)
    wide = np.random.default_rng(3).normal(size=(200_000, FEATURES))
    sides = np.where(wide[:, 0] > 0, 1, -1)
    peer = SGDClassifier(random_state=0).partial_fit(wide[:10], sides[:10], classes=[-1, 1])
    ours = bl.Perceptron().partial_fit(wide, sides)
    bulk = in_turn(
        {"ours": lambda: ours.partial_fit(wide, sides), "peer": lambda: peer.partial_fit(wide, sides)}, len(wide)
    )
    report("Perceptron.partial_fit, peer SGDClassifier", bulk["ours"], bulk["peer"], 1)


def main() -> None:
    """Measure and print."""
    default = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(os.environ.get("BGSUB_DATA", default)) / "learning"
    samples = np.random.default_rng(0).normal(size=(100_000, FEATURES))
    with threadpool_limits(1):
        linear(samples[:4000])
        novelty(samples)
        adult(folder)
        everything(samples)
        adapted_steps(samples)
        ensembles(folder)


if __name__ == "__main__":
    main()
