"""Draw F over the knob of each generated family, from a report of `bgsub evaluate generated:all ... --json FILE`."""

import sys
from pathlib import Path

from matplotlib import rcParams
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from bgsub.evaluation import Report
from bgsub.video.sources.synthetic.families import FAMILIES, PREFIX

PICTURE = Path(__file__).parents[1] / "pictures" / "knobs.svg"
COLUMNS = 4


def draw(report: Report) -> Figure:
    """Return a figure with one small plot per family and one line per model."""
    curves: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for row in report.rows:
        if row.knob is not None:
            point = row.knob, row.measures()["f_measure"]
            curves.setdefault(row.category.removeprefix(PREFIX), {}).setdefault(row.model, []).append(point)
    lines = -(-len(curves) // COLUMNS)
    figure = Figure(figsize=(3 * COLUMNS, 2.3 * lines), layout="constrained")
    FigureCanvasSVG(figure)
    grid = figure.subplots(lines, COLUMNS, squeeze=False).ravel()
    for axes, (family, models) in zip(grid, curves.items(), strict=False):
        for model, points in models.items():
            knobs, values = zip(*sorted(points), strict=True)
            axes.plot(knobs, values, label=model, marker="o", markersize=3, linewidth=1.2)
        axes.set(title=family.replace("_", " "), xlabel=FAMILIES[family].knob, ylim=(0, 1.02))
        axes.grid(visible=True, alpha=0.3)
    for axes in grid[len(curves) :]:
        axes.set_axis_off()
    figure.legend(*grid[0].get_legend_handles_labels(), loc="outside lower right", ncols=len(report.models))
    return figure


if __name__ == "__main__":
    rcParams["svg.fonttype"] = "none"  # text, not outlines of letters
    rcParams["svg.hashsalt"] = "bgsub"  # the same file for the same numbers
    draw(Report.read(sys.argv[1])).savefig(PICTURE, format="svg", metadata={"Date": None})
