"""Tables and captions in HTML."""

import math
from collections.abc import Iterable, Sequence

from bgsub._lab.escape import escape_html
from bgsub.evaluation.reports.page.svg import colour
from bgsub.evaluation.reports.tables import Cell, Line, Table

__all__ = ["definitions", "html_table", "legend", "plain_table"]


def html_table(table: Table) -> str:
    """Return a table with one column per model, sortable by each: videos as its body, means as its foot."""
    heads = "".join(_head(model) for model in table.models)
    body = "".join(_line(line) for line in table.videos)
    foot = "".join(_line(line) for line in table.means)
    note = '<p class="note">† mean without videos that another model has</p>' if table.has_partial else ""
    return (
        f'<div class="scroll"><table class="sortable"><thead><tr>{_head("video")}{heads}</tr></thead>'
        f"<tbody>{body}</tbody><tfoot>{foot}</tfoot></table></div>{note}"
    )


def _head(name: str, style: str = "") -> str:
    return f'<th scope="col"{style}><button type="button">{escape_html(name)}</button></th>'


def _line(line: Line) -> str:
    kind = f"{line.kind} " if line.kind in ("category", "family") else ""
    name = f"{line.category}/{line.label}" if line.kind == "video" else f"{kind}{line.label}"
    return f"<tr><td>{escape_html(name)}</td>{''.join(_cell(cell) for cells in line.cells for cell in cells)}</tr>"


def _cell(cell: Cell) -> str:
    style = ' class="best"' if cell.best else ' class="failed"' if cell.text == "failed" else ""
    value = repr(cell.value) if math.isfinite(cell.value) else ""
    return f'<td{style} data-value="{value}">{cell.text}{" †" if cell.partial else ""}</td>'


def plain_table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, text_columns: int = 1) -> str:
    """Return a sortable table of texts, which are escaped here; the first columns are aligned to the left."""
    styles = [' class="text"' if index < text_columns else "" for index in range(len(heads))]
    lines = (
        "".join(f"<td{style}>{escape_html(cell)}</td>" for style, cell in zip(styles, row, strict=True)) for row in rows
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    head = "".join(map(_head, heads, styles))
    return (
        f'<div class="scroll"><table class="sortable"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def definitions(pairs: Iterable[tuple[str, str]]) -> str:
    """Return names and values as a list."""
    return f"<dl>{''.join(f'<dt>{escape_html(name)}</dt><dd>{escape_html(value)}</dd>' for name, value in pairs)}</dl>"


def legend(models: Iterable[str]) -> str:
    """Return the colours of the models in charts."""
    return "<p>" + "".join(_key(model, colour(index)) for index, model in enumerate(models)) + "</p>"


def _key(name: str, shade: str) -> str:
    return f'<span class="key" style="background:{shade}"></span>{escape_html(name)}'
