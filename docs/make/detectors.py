"""Write the parameter tables of docs/detectors.md from the declarations in bgsub/detectors.

Run from anywhere: python docs/make/detectors.py
"""

import re
from pathlib import Path

from bgsub.detectors import DETECTORS, Parameter, detector_class

PAGE = Path(__file__).resolve().parents[1] / "detectors.md"
MARKED = re.compile(r"(<!-- parameters of (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def row(parameter: Parameter) -> str:
    """Return the line of one parameter."""
    default = "none" if parameter.default is None else str(parameter.default)
    default = default.lower() if parameter.kind is bool else default
    bounds = parameter.range_text.removesuffix(" or none")
    allowed = f"{bounds} {parameter.unit}".strip() + (" or none" if parameter.optional else "")
    meaning = f"{parameter.meaning[0].upper()}{parameter.meaning[1:]}. {parameter.note}".strip()
    marks = " ⟳" if parameter.shapes_state else ""
    return f"| `{parameter.name}`{marks} | {default} | {allowed} | {meaning} |"


def table(name: str) -> str:
    """Return the parameter table of a detector."""
    rows = [row(parameter) for parameter in detector_class(name).PARAMETERS]
    return "\n".join(["| parameter | default | allowed | meaning |", "|---|---|---|---|", *rows]) + "\n"


def fill(text: str) -> str:
    """Return a page with every marked table replaced by the present one.

    Raises
    ------
    ValueError
        If the page lacks the table of a detector.
    """
    missing = set(DETECTORS.built_in) - {match[2] for match in MARKED.finditer(text)}
    if missing:
        raise ValueError(f"the page must have a table of every detector, it lacks {', '.join(sorted(missing))}")
    return MARKED.sub(lambda match: match[1] + table(match[2]) + match[3], text)


def main() -> None:
    """Rewrite the page."""
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
