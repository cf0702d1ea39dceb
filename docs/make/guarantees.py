"""Write docs/evaluation/guarantees.md from the tests: run them and list each promise with its test and its result."""

import ast
import platform
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import bgsub

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evaluation" / "guarantees.md"
SECTIONS = {
    "Damaged, truncated and strange videos": [
        "tests/video/sources/test_ending.py",
        "tests/video/sources/test_bad_stamps.py",
        "tests/video/sources/test_http.py",
        "tests/video/sources/test_pipes.py",
        "tests/video/sources/test_frame_limit.py",
        "tests/cli/run/test_standard_input.py",
    ],
    "Bad input and wrong options": ["tests/cli/run/test_errors_end_to_end.py", "tests/input/test_images.py"],
    "Models from elsewhere": ["tests/input/test_archives.py", "tests/detectors/test_model_file.py"],
    "Outputs": ["tests/cli/run/test_outputs.py", "tests/core/test_files.py", "tests/project/test_processes.py"],
    "Signals, crashes and second runs": ["tests/cli/run/test_interrupts.py", "tests/gui/test_signals.py"],
    "Threads and processes": ["tests/detectors/test_exclusive.py", "tests/core/test_jobs.py"],
    "Credentials": ["tests/video/sources/test_credentials.py"],
    "Cache of compiled code": ["tests/compiler/test_compiled_cache.py"],
    "Evaluations": ["tests/evaluation/test_runs.py"],
    "Mutations": ["tests/project/test_fuzz.py"],
}
"""Test files by what they promise about."""


def promises(path: str) -> list[str]:
    """Return the names of the test functions of a file, in its order."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]


def sentence(name: str) -> str:
    """Return the name of a test as the sentence that it is."""
    words = name.removeprefix("test_").replace("_", " ")
    return words[0].upper() + words[1:]


def run_tests() -> dict[tuple[str, str], Counter[str]]:
    """Run all tests; return the number of each outcome by file and function."""
    files = [path for paths in SECTIONS.values() for path in paths]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", "-o", "junit_family=xunit1", *files]
        subprocess.run(command, cwd=ROOT, check=False, stdout=sys.stderr)
        cases = ElementTree.parse(report).getroot().iter("testcase")  # noqa: S314 - written by pytest just now
        found: dict[tuple[str, str], Counter[str]] = {}
        for case in cases:
            outcome = "passed"
            for child in case:
                outcome = {"failure": "failed", "error": "failed", "skipped": "skipped"}.get(child.tag, outcome)
            key = str(case.get("file")), str(case.get("name")).partition("[")[0]
            found.setdefault(key, Counter())[outcome] += 1
    return found


def make_page(results: dict[tuple[str, str], Counter[str]]) -> str:
    """Return the page as Markdown."""
    lines = [
        "# Guarantees",
        "",
        "Every line is a test, which fails where the promise is broken. `python docs/make/guarantees.py` runs them all",
        f"and makes this page; last on {datetime.now(UTC):%Y-%m-%d} with bgsub {bgsub.__version__}, Python "
        f"{platform.python_version()}, {platform.system()}.",
        "What bgsub trusts and what not is in [SECURITY.md](../../SECURITY.md).",
    ]
    for section, files in SECTIONS.items():
        lines += ["", f"## {section}", "", "| promise | test | cases | result |", "|---|---|---|---|"]
        for path in files:
            for name in promises(path):
                outcomes = results.get((path, name), Counter())
                told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())) or "not run"
                told = next(iter(outcomes)) if len(outcomes) == 1 else told
                link = f"[{Path(path).name}](../../{path})"
                lines.append(f"| {sentence(name)} | {link} | {outcomes.total()} | {told} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    found = run_tests()
    PAGE.write_text(make_page(found), encoding="utf-8")
    sys.exit(any(outcomes["failed"] for outcomes in found.values()))
