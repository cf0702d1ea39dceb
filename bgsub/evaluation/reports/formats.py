"""Tables of models side by side as text, Markdown, LaTeX, CSV and JSON."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any

from bgsub._lab.escape import escape_latex, escape_markdown, flatten, visible
from bgsub.evaluation.reports.stored_rows import plain
from bgsub.evaluation.reports.tables import Cell, Line, Table

__all__ = ["FORMATS", "table_csv", "table_json", "table_latex", "table_markdown", "table_text"]

_LONGEST_HEADING = 14
_PARTIAL = "mean without videos that another model has"


def _single(table: Table) -> bool:
    return len(table.columns) == 1


def _title(table: Table) -> str:
    """Name the measure of a table with one column per model."""
    of = table.columns[0]
    ratio = f", divided by that of {visible(table.baseline)}" if of.relative and table.baseline else ""
    return f"{of.label}{ratio}"


def _notes(table: Table) -> list[str]:
    """Return the remarks below a table."""
    notes = [f"{visible(model)} failed on {visible(video)}: {visible(why)}" for model, video, why in table.failures]
    if table.baseline is not None and any(of.relative for of in table.columns):
        notes.append(f"time: ms per frame divided by that of {visible(table.baseline)}; geometric means")
    return notes


def table_text(table: Table) -> str:
    """Return a table as aligned text for a terminal.

    "*" marks the best value of a line and "~" a mean without videos that another model has. Where names of models are
    long, letters stand for them.
    """
    names = [visible(model) for model in table.models]
    letters = any(len(name) > _LONGEST_HEADING for name in names)
    heads = [_letters(index) for index in range(len(names))] if letters else names
    lines: list[tuple[str, list[list[str]]]] = []
    category = None
    for line in table.lines:
        if line.kind == "video" and line.category != category:
            category = line.category
            lines.append((visible(category), []))
        indent = "  " if line.kind == "video" else ""
        kind = f"{line.kind} " if line.kind in ("category", "family") else ""
        lines.append(
            (f"{indent}{kind}{visible(line.label)}", [[_mark(cell) for cell in cells] for cells in line.cells])
        )
    labels = [] if _single(table) else [of.label + " " for of in table.columns]
    head = "" if labels else _title(table)
    first = max([len(label) for label, _ in lines] + [len(head)])
    widths = [
        [
            max([len(cells[model][index]) for _, cells in lines if cells] + [len(labels[index]) if labels else 0])
            for index in range(len(table.columns))
        ]
        for model in range(len(names))
    ]
    for name, group in zip(heads, widths, strict=True):
        group[0] += max(0, len(name) + 1 - (sum(group) + 2 * (len(group) - 1)))
    spans = [sum(group) + 2 * (len(group) - 1) for group in widths]
    text = [_joined(head, [(name + " ").rjust(span) for name, span in zip(heads, spans, strict=True)], first)]
    if labels:
        text.append(_joined("", [_group(labels, group) for group in widths], first))
    rule = "-" * (first + sum(spans) + 3 * len(spans))
    text.append(rule)
    for index, (label, groups) in enumerate(lines):
        if index == len(lines) - len(table.means):
            text.append(rule)
        text.append(_joined(label, [_group(cells, group) for cells, group in zip(groups, widths, strict=False)], first))
    if letters:
        text += ["", *(f"{head}: {name}" for head, name in zip(heads, names, strict=True))]
    notes = _notes(table) + ([f"~ {_PARTIAL}"] if table.has_partial else [])
    return "\n".join([*text, *([""] if notes else []), *notes])


def _joined(label: str, groups: list[str], width: int) -> str:
    return "   ".join([label.ljust(width), *groups]).rstrip()


def _group(cells: list[str], widths: list[int]) -> str:
    return "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))


def _mark(cell: Cell) -> str:
    return f"{'~' if cell.partial else ''}{cell.text}{'*' if cell.best else ' '}"


def _letters(index: int) -> str:
    return chr(ord("A") + index) if index < 26 else f"{_letters(index // 26 - 1)}{_letters(index % 26)}"


def _name(line: Line, escape: Callable[[str], str]) -> str:
    if line.kind == "video":
        return f"{escape(line.category)}/{escape(line.label)}"
    return f"{line.kind} {escape(line.label)}" if line.kind in ("category", "family") else line.label


def table_markdown(table: Table) -> str:
    """Return a table in Markdown, the best value of each line bold, with remarks and provenance below."""
    heads = [
        escape_markdown(model) if _single(table) else f"{escape_markdown(model)} {of.label}"
        for model in table.models
        for of in table.columns
    ]
    rows = [[escape_markdown(_title(table)) if _single(table) else "video", *heads], ["---", *["---:"] * len(heads)]]
    for line in table.lines:
        cells = [_decorated(cell, "**{}**", " †") for cells in line.cells for cell in cells]
        rows.append([_name(line, escape_markdown), *cells])
    text = ["| " + " | ".join(row) + " |" for row in rows]
    notes = [escape_markdown(note) for note in _notes(table)]
    notes += [f"† {_PARTIAL}"] if table.has_partial else []
    notes += [f"{escape_markdown(name)}: {escape_markdown(value)}" for name, value in flatten(table.provenance)]
    return "\n".join([*text, *([""] if notes else []), *(f"- {note}" for note in notes)])


def _decorated(cell: Cell, bold: str, partial: str) -> str:
    return (bold.format(cell.text) if cell.best else cell.text) + (partial if cell.partial else "")


def table_latex(table: Table) -> str:
    r"""Return a table as a LaTeX `tabular` for the package booktabs, the best value of each line bold."""
    width = len(table.columns)
    heads = [f"\\multicolumn{{{width}}}{{c}}{{{escape_latex(model)}}}" for model in table.models]
    text = ["% \\usepackage{booktabs}", f"\\begin{{tabular}}{{l{'r' * width * len(heads)}}}", "\\toprule"]
    text.append(" & ".join([escape_latex(_title(table)) if _single(table) else "", *heads]) + " \\\\")
    if not _single(table):
        spans = [(2 + width * index, 1 + width * (index + 1)) for index in range(len(heads))]
        text.append(" ".join(f"\\cmidrule(lr){{{first}-{last}}}" for first, last in spans))
        text.append(" & ".join(["video", *[of.label for of in table.columns] * len(heads)]) + " \\\\")
    text.append("\\midrule")
    before = "video"
    for line in table.lines:
        if line.kind != "video" and before == "video":
            text.append("\\midrule")
        before = line.kind
        cells = [_decorated(cell, "\\textbf{{{}}}", "$^\\dagger$") for cells in line.cells for cell in cells]
        cells = ["--" if cell == "-" else cell for cell in cells]
        text.append(" & ".join([_name(line, escape_latex), *cells]) + " \\\\")
    notes = _notes(table) + ([f"dagger: {_PARTIAL}"] if table.has_partial else [])
    return "\n".join([*text, "\\bottomrule", "\\end{tabular}", *(f"% {note}" for note in notes)])


def table_csv(table: Table) -> str:
    """Return a table as CSV with a header, numbers in full; `kind` distinguishes videos from means."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    heads = [f"{model} {of.name}" for model in table.models for of in table.columns]
    writer.writerow(["kind", "category", "label", *heads])
    for line in table.lines:
        values = ["" if plain(cell.value) is None else cell.value for cells in line.cells for cell in cells]
        writer.writerow([line.kind, line.category, line.label, *values])
    return text.getvalue().encode(errors="replace").decode().rstrip("\n")


def table_json(table: Table) -> dict[str, Any]:
    """Return a table as plain dicts and lists: lines with the value of each measure by model, None where unknown."""
    names = [of.name for of in table.columns]
    lines = [
        {
            "kind": line.kind,
            "category": line.category,
            "label": line.label,
            "values": {
                model: {name: plain(cell.value) for name, cell in zip(names, cells, strict=True)}
                for model, cells in zip(table.models, line.cells, strict=True)
            },
            "best": {
                name: [model for model, cells in zip(table.models, line.cells, strict=True) if cells[index].best]
                for index, name in enumerate(names)
            },
        }
        for line in table.lines
    ]
    failures = [{"model": model, "video": video, "error": error} for model, video, error in table.failures]
    return {
        "models": table.models,
        "measures": names,
        "baseline": table.baseline,
        "lines": lines,
        "failures": failures,
        "provenance": plain(table.provenance),
    }


FORMATS: dict[str, Callable[[Table], str]] = {
    "text": table_text,
    "markdown": table_markdown,
    "latex": table_latex,
    "csv": table_csv,
    "json": lambda table: json.dumps(table_json(table), indent=1),
}
"""Functions that return a table as text, by name of the format."""
