"""The documentation is true: its code runs, its links lead somewhere, and the names in it exist."""

import builtins
import re
import runpy
import shlex
from pathlib import Path

import pytest

from bgsub.detectors import DETECTORS
from tests.command import bgsub

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
)
RUN = tuple(page for page in PAGES if page != "docs/evaluation/papers.md")
"""Pages whose code is meant to run as it stands."""
TEXTS = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}
NOT_HERE = ("camera:", "rtsp://", "bgsub view")
"""Parts of commands that need a device, a network or a screen."""
OTHER_COMMANDS = ("pip", "uv", "podman", "echo", "sh", ".")
PLACEHOLDERS = ("FrameDifference", "Unreleased", "YourClass")


def blocks(language: str) -> list[object]:
    """Return page and text of all code blocks in a language."""
    found = [(page, re.findall(rf"```{language}\n(.*?)```", TEXTS[page], re.DOTALL)) for page in RUN]
    return [pytest.param(page, text, id=f"{page}-{n}") for page, texts in found for n, text in enumerate(texts)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder that holds nothing but the samples."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("page", "block"), blocks("python"))
def test_python_runs(page, block, folder, capsys):
    assert len(block.strip().splitlines()) <= 16
    exec(block, {"__name__": "readme"})  # noqa: S102


@pytest.mark.parametrize(("page", "block"), blocks("sh"))
def test_commands_run(page, block, folder, capsys):
    for line in block.splitlines():
        for command in line.split(" && "):
            words = shlex.split(command, comments=True)
            if not words or words[0] in OTHER_COMMANDS or any(part in command for part in NOT_HERE):
                continue
            name, *arguments = words
            assert name == "bgsub"
            target = None
            if ">" in arguments:
                *arguments, _, target = arguments
            assert bgsub(*arguments) == 0, f"{command}: {capsys.readouterr().err}"
            output = capsys.readouterr().out
            assert output, f"{command} prints nothing"
            if target:
                (folder / target).write_text(output)


def test_the_front_page_is_short_and_has_six_uses():
    text = TEXTS["README.md"]
    assert len(text.splitlines()) <= 120
    uses = text.split("## Six uses")[1].split("\n## ")[0]
    assert len(re.findall(r"^\*\*", uses, re.MULTILINE)) == 6


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", TEXTS[page]):
        if "://" in target:
            continue
        path, _, part = target.partition("#")
        file = ((ROOT / page).parent / path).resolve() if path else ROOT / page
        assert file.exists(), f"{page} links to {target}"
        if part:
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert part in map(anchor, headings), f"{page} links to {target}"


@pytest.mark.parametrize("page", RUN)
def test_paths_exist(page):
    for path in re.findall(r"`((?:bench|bgsub|docs|samples|tests)/[^`\s<]*)`", TEXTS[page]):
        assert (ROOT / path).exists() or "NAME" in path, f"{page} names {path}"


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_names_of_code_exist(page):
    modules = [path.read_text(encoding="utf-8") for top in ("bgsub", "tests") for path in (ROOT / top).rglob("*.py")]
    words = set().union(*(re.findall(r"\w+", text) for text in modules))
    for owner, member in re.findall(r"`([A-Z]\w*[a-z]\w*)(?:\.(\w+))?(?:\([^`]*\))?`", TEXTS[page]):
        if owner in PLACEHOLDERS or hasattr(builtins, owner):
            continue
        homes = [text for text in modules if re.search(rf"^class {owner}\b", text, re.MULTILINE)]
        assert homes, f"{page} names {owner}, which is no class"
        defined = rf"\bdef {member}\b|^    {member}\b"
        assert not member or any(re.search(defined, text, re.MULTILINE) for text in homes), f"{page}: {owner}.{member}"
    for name in re.findall(r"`([a-z_]\w*_\w+)(?:\([^`]*\))?`", TEXTS[page]):
        assert name in words, f"{page} names {name}, which nothing is called"


def test_parameter_tables_are_those_of_the_declarations():
    fill = runpy.run_path(str(ROOT / "docs" / "make" / "detectors.py"), run_name="tables")["fill"]
    text = TEXTS["docs/detectors.md"]
    assert fill(text) == text, "run docs/make/detectors.py"
    for name in DETECTORS.built_in:
        with pytest.raises(ValueError, match=f"it lacks {name}"):
            fill(text.replace(f"<!-- parameters of {name} -->", ""))
