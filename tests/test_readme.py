"""The README's Python runs as it stands."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_example_of_the_readme_runs(number, tmp_path, monkeypatch, capsys):
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    exec(BLOCKS[number], {"__name__": "readme"})  # noqa: S102


def test_there_are_four_examples_of_about_ten_lines():
    assert len(BLOCKS) == 4
    assert all(len(block.strip().splitlines()) <= 15 for block in BLOCKS)
