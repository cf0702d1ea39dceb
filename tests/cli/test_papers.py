"""`bgsub papers`, called as a function."""

import pytest

from tests.command import bgsub


@pytest.fixture
def data(tmp_path):
    """Make a folder in which all files have the right names."""
    from bgsub.papers.page import NEEDED

    folder = tmp_path / "data"
    folder.mkdir()
    for name in NEEDED:
        (folder / name).touch()
    return folder


def test_missing_data_sets_are_named_before_anything_runs(data, tmp_path, capsys):
    (data / "w8a.gz").unlink()
    (data / "lorenz.dat").unlink()
    assert bgsub("papers", data, "-o", tmp_path) == 1
    error = capsys.readouterr().err
    assert f"{data} lacks w8a.gz, lorenz.dat; they are" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "papers.md").exists()


def test_a_page_is_not_overwritten_without_force(data, tmp_path, capsys):
    (tmp_path / "papers.md").write_text("mine")
    assert bgsub("papers", data, "-o", tmp_path) == 1
    assert "papers.md" in capsys.readouterr().err
    assert (tmp_path / "papers.md").read_text() == "mine"
    assert bgsub("papers", data, "-o", tmp_path / "nowhere") == 1
    assert bgsub("papers", data, "--digits", tmp_path / "digits.txt") == 1


def test_the_page_has_the_rows_that_were_printed(data, tmp_path, capsys, monkeypatch):
    """With the experiments on generated data alone."""
    from bgsub.papers import bayes_points, experiments, olk, page, steps, streams

    monkeypatch.setattr(experiments, "ALL", ())
    monkeypatch.setattr(olk, "ALL", (olk.vectors, olk.detectors))
    monkeypatch.setattr(bayes_points, "ALL", ())
    monkeypatch.setattr(steps, "ALL", ())
    monkeypatch.setattr(streams, "ALL", ())
    for name in ("draw_streams", "draw_olk", "draw_tracking", "draw_points", "draw_web", "draw_steps", "draw_buffers"):
        monkeypatch.setattr(page, name, lambda *folders: None)
    assert bgsub("papers", data, "-o", tmp_path) == 0
    printed = capsys.readouterr().out
    assert printed.count("\n") == 9
    text = (tmp_path / "papers.md").read_text(encoding="utf-8")
    assert printed in text
    assert "OLK_N better than NORMA (figure)" in text
    assert "**fails**" in text
    assert text.startswith("# Published numbers, reproduced\n")
