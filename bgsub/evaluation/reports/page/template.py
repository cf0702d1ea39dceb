"""The frame of a page: style, script and the document around its sections."""

import base64
import hashlib

from bgsub._lab.escape import escape_html

__all__ = ["document"]

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #222; max-width: 1300px; margin: 0 auto; padding: 1em 1.5em 4em; }
h1 { font-size: 1.6em; } h2 { font-size: 1.25em; margin-top: 2em; border-bottom: 1px solid #ccc; }
h3 { font-size: 1.05em; } p.note, li.note { color: #555; }
table { border-collapse: collapse; margin: .6em 0; font-variant-numeric: tabular-nums; }
th, td { padding: .2em .7em; text-align: right; border-bottom: 1px solid #e4e4e4; vertical-align: top; }
th:first-child, td:first-child, th.text, td.text { text-align: left; }
thead th { border-bottom: 2px solid #888; } tfoot tr:first-child td { border-top: 2px solid #888; }
td { white-space: nowrap; } tbody tr:hover { background: #f3f6fa; }
.best { font-weight: 700; } .failed { color: #b00020; }
th button { all: unset; cursor: pointer; } th button::after { content: " \\2195"; color: #999; }
th[aria-sort=ascending] button::after { content: " \\2191"; }
th[aria-sort=descending] button::after { content: " \\2193"; }
th button:focus-visible { outline: 2px solid #0072b2; }
.scroll { overflow-x: auto; } details { margin: .4em 0; } summary { cursor: pointer; padding: .2em 0; }
.key { display: inline-block; width: 1em; height: 1em; margin: 0 .3em 0 .9em; vertical-align: -.15em;
  border: 1px solid #888; }
.sheet th, .sheet td { padding: 2px; border: 0; text-align: left; font-weight: 400; } .sheet img { display: block; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1em 1em; } dt { color: #555; }
dd { margin: 0; overflow-wrap: anywhere; } svg { max-width: 100%; height: auto; }
@media print { th button::after { content: ""; } }
"""

_SCRIPT = """
"use strict";
for (const button of document.querySelectorAll("table.sortable th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement, table = head.closest("table"), column = head.cellIndex;
    const rising = head.getAttribute("aria-sort") === "descending";
    for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const key = row => row.cells[column].dataset.value ?? row.cells[column].textContent.replace(/^-$/, "");
    const body = table.tBodies[0];
    body.append(...[...body.rows].sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === "" || y === "") return (x === "") - (y === "");
      const order = parseFloat(x) - parseFloat(y) || x.localeCompare(y);
      return rising ? order : -order;
    }));
  });
}
const all = document.getElementById("all");
if (all) all.addEventListener("click", () => {
  for (const each of document.querySelectorAll("#videos details")) each.open = true;
});
"""


def document(title: str, body: str) -> str:
    """Return a complete page.

    Its security policy permits this style, this script and embedded images only: a browser loads nothing else, and
    runs no other script.

    Parameters
    ----------
    title : str
        Not escaped yet.
    body : str
        HTML.
    """
    policy = (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{_digest(_SCRIPT)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en-GB">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape_html(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"{body}\n<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
