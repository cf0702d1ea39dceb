"""Reproduce published numbers with the learners: python -m bench.papers [DATA] [DIGITS.png].

DATA is the folder of the learning sets, by default ../shared/data/learning or $BGSUB_DATA/learning. Writes
docs/papers.md and its plots. Images of data sets stay out of the repository: the digits that NORMA finds novel are
drawn only to the file that a second argument names.
"""

import os
import sys
import time
from pathlib import Path

from bench.papers import bayes_points, density, experiments, steps
from bench.papers.figures import draw, draw_digits
from bench.papers.step_figures import draw_points, draw_steps

ROOT = Path(__file__).resolve().parents[2]
INTRODUCTION = """# Published numbers, reproduced

Written by `python -m bench.papers`; the rows' numbers name our own checks. Online errors are counted before a
sample is learned; ours ± is the standard deviation of single runs. A published number is met within the spread that the
paper gives; "within chance" is twice the standard deviation of the difference between our mean and the published one,
which has the interval that the paper gives, or is of as many runs as it states, else of one. What is not met is missed:
the cell says by how much and why.
Counts are also compared with a plain loop over the published rule. Claims without numbers hold or fail.
The data sets are not part of this repository.

| | experiment | published | ours | verdict |
|---|---|---|---|---|
"""
FIGURES = """
## Plots

The first four are on generated data, the others on USPS and MNIST.

![Mistakes on drifting and switching data](papers/streams.png)

Two classes whose means drift, or change every 1000 samples: learners that forget can follow.

![Fits of OLK_R](papers/fits.png)

OLK_R on a noisy curve: a wider tube stores fewer vectors.

![Vectors against eps and threshold](papers/vectors.png)

![ROC curves](papers/roc.png)

Novelty detectors on two clusters, one of them rare.

![Bayes points: toy problem and drifting digit](papers/points.png)

OBPM on the toy problem of its paper, by the share of samples that a member sees (mean of 30 runs), and mistakes where
the positive digit drifts from 1 over 2 to 3 (mean of 10 runs).

![Average error and step size](papers/steps.png)

SVMD, SVMD that remembers no step (λ = 0) and a scheduled step, on the three streams of S10 to S12: the step of SVMD
grows where there is more to learn.

![Step size of novelty detection](papers/wraps.png)

The counting sequence runs twice from 000 to 999, three images a number. Grey lines: a new hundred; red: back to 000.
"""
NOTES = """
## Notes

- X4, self-tuned Forgetron on a9a: the count depends on the last bits of the kernel. With gamma changed by multiples of
  1e-15, 25 runs make 8036 to 8103 mistakes, on average 8069; 8077 and 8086, which other programs give, are among them.
  The basic variant and the other counts do not move.
- The constants of the drifting and switching data are ours: those of the paper are not known to us. With a margin
  NORMA is best in both; with margin 0 it stores only mistakes, and forgetting then hurts as much as it helps.
- S12: the constants of the paper give .198 with images in the order of the files and .216 on average of random draws;
  the published value is below .19. The difference is the margin. As printed (equations 59 to 61, with its step
  adapted by mu = 1) it shrinks from 1 to 2e-4 within the run, its step having grown to 4 in the first hundred samples:
  the result is nearly a perceptron. Neither the order in which equations 59 to 61 read each other's results, nor
  our bound on the exponent or on the step, nor the order of the images explains it (.197 to .212 all). Keeping the
  margin's step as it is (`mu_eps=0`) gives .157 (.170 on average of random draws), a margin of at least .01 .167,
  counting mistakes instead of margin violations .164; a longer memory (lam .98) .182 and a larger mu (2) .172. With
  `mu_eps=0` S10 falls to .134 as well. The schedule's margin has a constant step too; adapted, S10 is .327.
- The step of the novelty run: with mu = lam = 1 and nu .05, as in the paper, f, and with it all inner products, is of
  the size of the margin, some hundredths; the step falls smoothly and has no peaks. Its peaks at new hundreds come
  back where the margin is 1 and the trace is shorter (lam .95, mu 3, c .5); the largest are in the runs of ones.
- The distribution of the toy problem's samples and the share of positives in the drift experiment are not stated.
- S1 to S4, S6 to S9, S17, S18 and S20 are means over random orders or samples, so their last digits depend on the
  seeds.
- S19: with the constants of the paper, and with eta = nu / 5, NORMA's novelty detection flags images at nearly regular
  intervals, on noise as on digits. What share it flags says nothing about the images. Steps that find outliers are in
  [learners.md](learners.md#outliers).
"""


def main() -> None:
    """Run everything and write the page."""
    data = Path(os.environ.get("BGSUB_DATA", ROOT.parent / "shared" / "data")) / "learning"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else data
    lines = []
    for experiment in (*experiments.ALL, *density.ALL, *bayes_points.ALL, *steps.ALL):
        start = time.perf_counter()
        for row in experiment(folder):
            cells = (row.id, row.what, row.published, row.ours, row.verdict)
            lines.append("| " + " | ".join(cells) + " |\n")
            sys.stdout.write(lines[-1])
        sys.stderr.write(f"{experiment.__name__}: {time.perf_counter() - start:.1f} s\n")
    plots = ROOT / "docs" / "papers"
    plots.mkdir(exist_ok=True)
    draw(plots)
    draw_points(folder, plots)
    draw_steps(folder, plots)
    if len(sys.argv) > 2:
        draw_digits(folder, Path(sys.argv[2]))
    (ROOT / "docs" / "papers.md").write_text(INTRODUCTION + "".join(lines) + FIGURES + NOTES)


if __name__ == "__main__":
    main()
