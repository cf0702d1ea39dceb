"""CPU time of the first calls of each learner with an empty cache: python -m bench.learners.cold [NAME ...].

The compiler's own start, which a function that does nothing shows, stands beside.
"""

import os
import subprocess
import sys
import tempfile

from bgsub import learners as bl
from bgsub.learners._base.learner import OnlineLearner

CALLS = """
import time
times = [time.process_time()]
import numba
import numpy as np
from bgsub import learners
X = np.random.default_rng(0).normal(size=(300, 5))
labels = np.where(np.hypot(X[:, 0], X[:, 1]) < 1.2, 1, -1)
times.append(time.process_time())
numba.njit(lambda: None)()
times.append(time.process_time())
model = learners.{name}()
targets = () if {novelty} else (X[:, 0],) if {regressor} else (labels,)
model.fit(X, *targets)
times.append(time.process_time())
model.predict(X)
times.append(time.process_time())
if hasattr(model, "learn_one"):
    model.learn_one(X[0], *(part[0].item() for part in targets))
times.append(time.process_time())
model.score_one(X[0])
times.append(time.process_time())
print(*(round(b - a, 2) for a, b in zip(times, times[1:])))
"""


def main() -> None:
    """Measure and print a table."""
    names = sys.argv[1:] or sorted(name for name in bl.__all__ if issubclass(_class(name), OnlineLearner))
    sys.stdout.write(
        "| | import s | compiler s | first fit s | predict s | learn_one s | score_one s |\n" + 7 * "|---" + "|\n"
    )
    for name in names:
        code = CALLS.format(name=name, novelty=name.endswith("Novelty"), regressor=name.endswith("Regressor"))
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
            done = subprocess.run(
                [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
            )
        sys.stdout.write(f"| {name} | {' | '.join(done.stdout.split())} |\n")
        sys.stdout.flush()


def _class(name: str) -> type:
    found = getattr(bl, name)
    return found if isinstance(found, type) else object


if __name__ == "__main__":
    main()
