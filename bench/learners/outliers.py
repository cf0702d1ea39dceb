"""How many planted outliers the novelty learners find: python -m bench.learners.outliers.

Streams of 6000 samples, a Gaussian with 5 % outliers: all around it, or a second, distant Gaussian. Every sample is
scored before it is learned; the second half counts. scikit-learn's OneClassSVM learns the first half in batch.
"""

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.svm import OneClassSVM

from bgsub import learners as bl

SAMPLES, SHARE, SEEDS = 6000, 0.05, 5
STREAMS = {
    "all around, 2 features": (2, True),
    "a cluster, 2 features": (2, False),
    "a cluster, 8 features": (8, False),
}


def stream(seed: int, features: int, around: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return samples, and which of them are planted outliers."""
    rng = np.random.default_rng(seed)
    samples, planted = rng.normal(size=(SAMPLES, features)), rng.random(SAMPLES) < SHARE
    shape = (int(planted.sum()), features)
    samples[planted] = rng.uniform(-6, 6, shape) if around else rng.normal(4, 1, shape)
    return samples, planted


def online(make: Callable[[], Any]) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return a function that makes scores (high is novel) and flags of the second half."""

    def run(samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        model = make()
        both = np.array([(-model.score_one(x), model.learn_one(x)) for x in samples])[SAMPLES // 2 :]
        return both[:, 0], both[:, 1] > 0

    return run


def batch(samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Learn the first half with scikit-learn."""
    model = OneClassSVM(nu=0.1, gamma="scale").fit(samples[: SAMPLES // 2])
    scores = -model.decision_function(samples[SAMPLES // 2 :])
    return scores, scores > 0


def half_space_trees(samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Score with river's HalfSpaceTrees, flags being the upper 10 % of the scores."""
    from river import anomaly

    limits = dict.fromkeys(range(samples.shape[1]), (-8.0, 8.0))
    model, scores = anomaly.HalfSpaceTrees(seed=0, limits=limits), []
    for row in map(dict, map(enumerate, samples.tolist())):
        scores.append(model.score_one(row))
        model.learn_one(row)
    late = np.array(scores[SAMPLES // 2 :])
    return late, late > np.quantile(late, 0.9)


def figures(run: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], features: int, around: bool) -> np.ndarray:
    """Return the mean of share flagged, precision, recall, area under the ROC curve, and regularity of the flags."""
    rows = []
    for seed in range(SEEDS):
        samples, planted = stream(seed, features, around)
        (scores, flags), truth = run(samples), planted[SAMPLES // 2 :]
        right, gaps = (flags & truth).sum(), np.diff(np.flatnonzero(flags))
        shares = flags.mean(), right / max(flags.sum(), 1), right / truth.sum()
        rows.append((*shares, roc_auc_score(truth, scores), gaps.std() / gaps.mean()))
    result: np.ndarray = np.mean(rows, axis=0)
    return result


def main() -> None:
    """Measure and print one table."""
    methods = {
        "OLKNovelty": online(lambda: bl.OLKNovelty()),
        "NORMANovelty": online(lambda: bl.NORMANovelty()),
        'NORMANovelty(gamma="auto", eta=nu / 20)': online(lambda: bl.NORMANovelty(gamma="auto", eta=0.005)),
        "NORMANovelty, the paper's constants": online(
            lambda: bl.NORMANovelty(gamma="auto", nu=0.01, eta=1.0, schedule="sqrt", rho_0=0.0)
        ),
        "SVMDNovelty": online(lambda: bl.SVMDNovelty()),
        "scikit-learn's OneClassSVM(nu=.1), batch": batch,
        "river's HalfSpaceTrees, upper 10 %": half_space_trees,
    }
    for name, (features, around) in STREAMS.items():
        sys.stdout.write(
            f"\noutliers {name}\n\n| | share flagged | precision | recall | AUC | gaps |\n|---|---|---|---|---|---|\n"
        )
        for label, run in methods.items():
            try:
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", message="eta should be at most")
                    row = figures(run, features, around)
            except ImportError as error:
                sys.stdout.write(f"| {label} | {error} |\n")
                continue
            sys.stdout.write(f"| {label} | {' | '.join(f'{value:.2f}' for value in row)} |\n")


if __name__ == "__main__":
    main()
