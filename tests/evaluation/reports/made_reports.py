"""Reports with known counts, made without running a model."""

import numpy as np

from bgsub.evaluation import Counts, Report, Row, Sample

HOSTILE = "</td><script>alert(1)</script>\"'&|_%$#{}~^\\\x1b[31m\u202e\udce4\n"
"""A name that every format must escape."""


def make_row(model, video, tp, fp, fn, *, hz=50.0, tn=None, **more):
    """A row whose video has 100 moving and 900 static pixels, unless `tn` is given."""
    category, sequence = video.split("/")
    counts = Counts(tp, fp, fn, 900 - fp if tn is None else tn)
    values = {"memory_bytes": 1_000_000, "family": category, **more}
    return Row(model, category, sequence, counts, frames=12, scored=10, model_hz=hz, total_hz=20.0, **values)


def make_sample(number, seed=0):
    """A sample of random labels and mask."""
    rng = np.random.default_rng(seed)
    frame = rng.integers(0, 256, (30, 40, 3), np.uint8)
    labels = rng.choice(np.array([0, 50, 85, 170, 255], np.uint8), (30, 40))
    return Sample(number, frame, labels, rng.choice(np.array([0, 255], np.uint8), (30, 40)))


def make_report(models=("adaptive", "mog2"), videos=12, categories=3, seed=0, **more):
    """A report of random counts; the models differ in accuracy and time, the first being better and slower."""
    rng = np.random.default_rng(seed)
    rows = []
    for index, model in enumerate(models):
        for video in range(videos):
            tp = int(np.clip(rng.normal(80 - 10 * index, 8), 1, 100))
            fp = int(rng.integers(5, 40))
            timeline = np.array([[n, tp if n == 1 else 0, fp if n == 1 else 0, 0, 0] for n in range(1, 4)], np.int64)
            name = f"c{video % categories}/v{video}"
            rows.append(make_row(model, name, tp, fp, 100 - tp, hz=20.0 * 2**index, timeline=timeline, **more))
    return Report(rows, {"version": "1.0", "machine": {"cpus": 2}})
