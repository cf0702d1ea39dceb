"""What the package declares: bounds that are tried, and what is built from the sources."""

import itertools
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NOT_NEEDED_BY_TESTS = {"supervision", "import-linter", "mypy", "ruff"}


def release(version: str) -> list[int]:
    """Return the numbers of a version."""
    return [int(number) for number in version.split(".")]


def test_lowest_versions_are_the_bounds_of_the_project() -> None:
    required = [*PROJECT["dependencies"], *itertools.chain(*PROJECT["optional-dependencies"].values())]
    bounds = dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", line).groups() for line in required if ">=" in line)  # type: ignore[union-attr]
    lines = (ROOT / "tests" / "lowest.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    assert pinned.keys() == bounds.keys() - NOT_NEEDED_BY_TESTS
    for name, bound in bounds.items():
        if name in pinned:
            length = len(release(bound))
            assert release(pinned[name])[:length] == release(bound), name
