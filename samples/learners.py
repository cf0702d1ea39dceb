"""Learn a stream of samples one by one, predict, save the learner and go on with the saved one.

python samples/learners.py [SAMPLES]     needs scikit-learn: pip install 'bgsub[learners]'
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bgsub.learners import NORMAClassifier, load, save


def drifting_stream(count: int) -> Iterator[tuple[np.ndarray, int]]:
    """Yield points (2,) and labels -1 or 1 of two blobs that circle each other once in 2000 samples."""
    generator = np.random.default_rng(0)
    for t in range(count):
        angle, label = 2 * np.pi * t / 2000, int(generator.choice([-1, 1]))
        yield label * np.array([np.cos(angle), np.sin(angle)]) + generator.normal(scale=0.7, size=2), label


def main(count: int = 4000) -> None:
    """Learn all samples and print the share of errors, each counted before its sample is learned."""
    model = NORMAClassifier(sigma=1.0, lam=0.05, budget=100)
    errors = 0
    for t, (x, label) in enumerate(drifting_stream(count), 1):
        score = model.learn_one(x, label)  # the score that x had before
        errors += score * label <= 0
        if t % 1000 == 0 or t == count:
            print(f"{t} samples: {errors / t:.1%} errors, {model.n_support_} support vectors")
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder) / "learner.npz")
        again = load(Path(folder) / "learner.npz")
    point = np.array([1.0, 0.0])
    print(f"prediction at {point.tolist()}: {again.predict_one(point)}; the same bits after loading: ", end="")
    print(again.score_one(point) == model.score_one(point))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
