"""Names and messages as text for terminals, Markdown, LaTeX and HTML; they may hold any character."""

import html
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["escape_html", "escape_latex", "escape_markdown", "flatten", "visible"]

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "[": "{[}",  # after \\ it would begin an optional argument
    "]": "{]}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def visible(text: str) -> str:
    r"""Return a text on one line with a mark for each character that a terminal or a browser obeys instead of showing.

    These are control characters, marks of the direction of writing, and surrogates, which stand for bytes of file names
    that are not UTF-8.

    Examples
    --------
    >>> visible("red \x1b[31m text") == "red \ufffd[31m text"
    True
    """
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in text)


def escape_html(text: str) -> str:
    """Return a text for the content or a quoted attribute of an HTML element."""
    return html.escape(visible(text))


def escape_markdown(text: str) -> str:
    r"""Return a text for a cell of a Markdown table.

    Examples
    --------
    >>> print(escape_markdown("a|b_c <i>"))
    a\|b\_c \<i\>
    """
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~&$@:])", r"\\\1", visible(text))


def escape_latex(text: str) -> str:
    r"""Return a text for a cell of a LaTeX table.

    Examples
    --------
    >>> print(escape_latex("50% of x_1"))
    50\% of x\_1
    """
    return "".join(_LATEX.get(character, character) for character in visible(text))


def flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield names and texts of nested values.

    Examples
    --------
    >>> list(flatten({"machine": {"cpus": 2}, "data": ["a", "b"]}))
    [('machine.cpus', '2'), ('data', 'a, b')]
    """
    for name, value in values.items():
        path = f"{prefix}{name}"
        if isinstance(value, Mapping):
            yield from flatten(value, f"{path}.")
        elif isinstance(value, list | tuple):
            if any(isinstance(item, Mapping | list | tuple) for item in value):
                yield from flatten({str(index): item for index, item in enumerate(value)}, f"{path}.")
            else:
                yield path, ", ".join(map(str, value))
        else:
            yield path, str(value)
