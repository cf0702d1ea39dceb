"""Reproduce published numbers with the learners: python -m tests.bench.papers [DATA] [DIGITS.png].

DATA is the folder of the learning sets, by default ../shared/data/learning or $BGSUB_DATA/learning. Writes
docs/papers.md and its plots. Pictures of data sets stay out of the repository: the digits that NORMA finds novel are
drawn only where a second argument says so.
"""

import os
import sys
import time
from pathlib import Path

from tests.bench.experiments import ALL, Row
from tests.bench.figures import draw, draw_digits

ROOT = Path(__file__).resolve().parents[2]
INTRODUCTION = """# Published numbers, reproduced

Written by `python -m tests.bench.papers`; numbers of the rows are ours, online errors are counted before a sample is
learned. "Accepted" is where a faithful implementation has to be; where the papers leave constants open, it is around
what a plain loop over the published rule gives. The data sets are not part of this repository.

| | experiment | published | ours | accepted | verdict |
|---|---|---|---|---|---|
"""
FIGURES = """
## Plots

All on generated data.

![Mistakes on drifting and switching data](papers/streams.png)

Two classes whose means drift, or change every 1000 samples: what forgets, follows.

![Fits of OLK_R](papers/fits.png)

OLK_R on a noisy curve: a wider tube stores fewer vectors.

![Vectors against eps and threshold](papers/vectors.png)

![ROC curves](papers/roc.png)

Novelty detectors on two clusters, one of them rare.
"""
NOTES = """
## Notes

- X4, self-tuned Forgetron on a9a: a plain loop in numpy, which shares no code with the library, gives 8086 mistakes as
  well, also with single-precision kernels; the accepted 8077 could not be reproduced. The known answers and the runs on
  german agree to the last digit.
- The constants of the drifting and switching data are ours: those of the paper are not known to us. With a margin
  NORMA is best in both; with margin 0 it stores only mistakes, and forgetting then costs as much as it gains.
- S1 to S4, S6, S8, S9, S17, S18 and S20 are means over random orders or samples, so their last digits depend on the
  seeds. S9's last hypothesis swings: that of one order can be outside the range.
"""


def verdict(row: Row) -> str:
    """Return the last cell."""
    return "-" if row.good is None else "yes" if row.good else "**no**"


def main() -> None:
    """Run everything and write the page."""
    data = Path(os.environ.get("BGSUB_DATA", ROOT.parent / "shared" / "data")) / "learning"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else data
    lines = []
    for experiment in ALL:
        start = time.perf_counter()
        for row in experiment(folder):
            cells = (row.id, row.what, row.published, row.ours, row.accepted, verdict(row))
            lines.append("| " + " | ".join(cells) + " |\n")
            sys.stdout.write(lines[-1])
        sys.stderr.write(f"{experiment.__name__}: {time.perf_counter() - start:.1f} s\n")
    plots = ROOT / "docs" / "papers"
    plots.mkdir(exist_ok=True)
    draw(plots)
    if len(sys.argv) > 2:
        draw_digits(folder, Path(sys.argv[2]))
    (ROOT / "docs" / "papers.md").write_text(INTRODUCTION + "".join(lines) + FIGURES + NOTES)


if __name__ == "__main__":
    main()
