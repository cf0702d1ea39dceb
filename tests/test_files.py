"""Files are written whole or not at all, whoever writes them and whatever fails."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import bgsub
from bgsub._files import open_whole, write_text, write_whole
from bgsub.errors import BgsubError, ConfigError, ModelFileError, SinkError
from bgsub.evaluation import Report, Roc, Row, Sample, contact_sheet, plot_roc, write_page
from bgsub.evaluation.metrics import Counts
from bgsub.learners import KernelPerceptron, save
from bgsub.roi import Region
from bgsub.video._images import write_image
from bgsub.video.sources.synthetic import SyntheticScene, write_sample

BEFORE, AFTER = b"as it was", b"complete"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file that exists, alone in its folder."""
    path = tmp_path / "file.bin"
    path.write_bytes(BEFORE)
    return path


def is_untouched(path: Path) -> bool:
    return path.read_bytes() == BEFORE and list(path.parent.iterdir()) == [path]


class TestOpenWhole:
    def test_replaces_the_file_when_all_is_written(self, path: Path) -> None:
        with open_whole(path) as file:
            file.write(AFTER[:4])
            assert path.read_bytes() == BEFORE
            file.write(AFTER[4:])
        assert path.read_bytes() == AFTER
        assert list(path.parent.iterdir()) == [path]

    @pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
    def test_error_in_the_block_leaves_the_file_and_is_raised(self, path: Path, error: type[BaseException]) -> None:
        def write() -> None:
            with open_whole(path) as file:
                file.write(AFTER)
                raise error

        with pytest.raises(error):
            write()
        assert is_untouched(path)

    @pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
    def test_system_that_refuses_leaves_the_file(self, path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(step, full)
        with pytest.raises(ModelFileError) as caught:
            write_whole(path, AFTER, ModelFileError, what="model")
        assert str(caught.value) == (
            f"cannot write the model {path}: No space left on device; choose a writable folder with free space"
        )
        assert is_untouched(path)

    @pytest.mark.slow
    @pytest.mark.skipif(sys.platform == "win32", reason="has no limit on file sizes")
    def test_full_disk_leaves_the_file(self, path: Path) -> None:
        code = (
            "import resource, signal, sys\n"
            "from bgsub._files import write_whole\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
            "write_whole(sys.argv[1], bytes(2000))\n"
        )
        done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert f"SinkError: cannot write {path}: File too large; choose a writable folder" in done.stderr
        assert is_untouched(path)

    def test_missing_folder_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(SinkError, match=r"there is no folder .*none; choose a writable folder"):
            write_text(tmp_path / "none" / "file.txt", "text")

    @pytest.mark.skipif(sys.platform == "win32", reason="has other permissions")
    @pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
    def test_permissions_follow_the_umask(self, tmp_path: Path, umask: int, mode: int) -> None:
        before = os.umask(umask)
        try:
            write_whole(tmp_path / "file.bin", AFTER)
        finally:
            os.umask(before)
        assert (tmp_path / "file.bin").stat().st_mode & 0o777 == mode

    @pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
    def test_link_stays_a_link(self, path: Path, tmp_path: Path) -> None:
        (tmp_path / "folder").mkdir()
        link = tmp_path / "folder" / "link.bin"
        link.symlink_to(path)
        write_whole(link, AFTER)
        assert link.is_symlink()
        assert path.read_bytes() == AFTER

    @pytest.mark.skipif(sys.platform == "win32", reason="has no such device")
    def test_device_is_written_directly(self) -> None:
        write_whole("/dev/null", AFTER)
        assert not Path("/dev/null").is_file()


def learned() -> bgsub.Detector:
    detector = bgsub.create("norma", threads=1)
    detector.apply(np.zeros((8, 8), np.uint8))
    return detector


def report() -> Report:
    image = np.zeros((8, 8), np.uint8)
    roc = Roc(np.array([0.0, 1]), np.array([0.0, 1]), np.array([np.inf, 0]), 0.5, 0.5, 0.0)
    return Report([Row("a", "b", "c", Counts(), 1, 1, 1.0, 1.0, None, roc, (Sample(1, image, image, image),))])


WRITERS: dict[str, tuple[Callable[[Path], object], type[BgsubError]]] = {
    "model.npz": (lambda path: learned().save(path), ModelFileError),
    "learner.npz": (
        lambda path: save(KernelPerceptron(sigma=1.0).partial_fit([[0.0], [1]], [0, 1]), path),
        ModelFileError,
    ),
    "region.json": (lambda path: Region(include=(((0, 0), (1, 0), (1, 1)),)).save(path), ConfigError),
    "sheet.png": (lambda path: contact_sheet(report(), path), SinkError),
    "page.html": (lambda path: write_page(report(), path), SinkError),
    "roc.png": (lambda path: plot_roc(report(), path), SinkError),
    "image.png": (lambda path: write_image(path, np.zeros((4, 4), np.uint8)), SinkError),
    "temporalROI.txt": (
        lambda path: write_sample(path.parent, SyntheticScene((32, 32), frames=1), force=True),
        SinkError,
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_writer_leaves_the_file_as_it_was(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, error = WRITERS[name]
    path = tmp_path / name
    path.write_bytes(BEFORE)
    replace = Path.replace

    def full(source: Path, target: Path) -> None:
        if target == path:
            raise OSError(28, "No space left on device")
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        with pytest.raises(error, match=rf"cannot write .*{name}: No space left on device; choose a writable folder"):
            write(path)
    assert path.read_bytes() == BEFORE
    assert not [file for file in tmp_path.iterdir() if file.name.startswith(".")]
    write(path)
    assert path.read_bytes() != BEFORE
