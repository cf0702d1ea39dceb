"""Files are written whole or not at all, whoever writes them and whatever fails."""

import os
import signal
import socket
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgsub
from bgsub import _files
from bgsub._files import check_file, lock_file, lock_name, open_whole, write_text, write_whole
from bgsub.errors import BgsubError, ConfigError, ModelFileError, SinkError
from bgsub.evaluation import Report, Roc, Row, Sample, contact_sheet, plot_roc, write_page
from bgsub.evaluation.metrics import Counts
from bgsub.learners import KernelPerceptron, save
from bgsub.roi import Region
from bgsub.video._images import write_image
from bgsub.video.sources.synthetic import SyntheticScene, write_sample

if sys.platform != "win32":
    import fcntl

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

    @pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
    def test_link_to_a_file_that_is_missing_stays_a_link(self, tmp_path: Path) -> None:
        link = tmp_path / "link.bin"
        link.symlink_to(tmp_path / "file.bin")
        write_whole(link, AFTER)
        assert link.is_symlink()
        assert (tmp_path / "file.bin").read_bytes() == AFTER

    @pytest.mark.skipif(sys.platform == "win32", reason="has no such files")
    @pytest.mark.parametrize("kind", ["pipe", "socket", "device"])
    @pytest.mark.parametrize("linked", [False, True])
    def test_special_file_is_refused_and_stays(self, tmp_path: Path, kind: str, linked: bool) -> None:
        path = Path("/dev/null") if kind == "device" else tmp_path / "special"
        if kind == "pipe":
            os.mkfifo(path)
        listener = socket.socket(socket.AF_UNIX)
        if kind == "socket":
            listener.bind(str(path))
        before = path.stat()
        name = path
        if linked:
            name = tmp_path / "link"
            name.symlink_to(path)
        with listener, pytest.raises(ModelFileError, match="is a pipe, a socket or a device; give the name of a file"):
            write_whole(name, AFTER, ModelFileError, what="model")
        assert os.path.samestat(path.stat(), before)

    @pytest.mark.slow
    @pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="the system has no files without a name")
    def test_process_killed_while_writing_leaves_nothing(self, path: Path) -> None:
        code = (
            "import os, signal, sys\n"
            "from bgsub._files import open_whole\n"
            "with open_whole(sys.argv[1]) as file:\n"
            "    file.write(bytes(100_000))\n"
            "    file.flush()\n"
            "    os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
        assert done.returncode == -signal.SIGKILL
        assert is_untouched(path)

    def test_system_without_nameless_files(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr("os.O_TMPFILE", raising=False)
        write_whole(path, AFTER)
        write_whole(path.with_name("new.bin"), AFTER)
        assert path.read_bytes() == path.with_name("new.bin").read_bytes() == AFTER
        assert len(list(path.parent.iterdir())) == 2


class FakeLocks(types.ModuleType):
    """What `bgsub` needs of msvcrt, by flock: as on Windows, each open file has locks of its own, and they are refused
    as a missing permission."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.locked: set[Path] = set()

    def locking(self, descriptor: int, mode: int, count: int) -> None:
        assert (mode, count) == (self.LK_NBLCK, 1)
        self.locked.add(Path(f"/proc/self/fd/{descriptor}").readlink())
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(13, "Permission denied") from None


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> FakeLocks:
    """Lock files as on Windows, where nobody can read or write what is locked, nor remove what is open."""
    fake, unlink = FakeLocks(), Path.unlink

    def unlink_closed(path: Path, missing_ok: bool = False) -> None:
        links = [link for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]  # that of the folder is gone
        if path in {link.readlink() for link in links}:
            raise PermissionError(13, "another process uses it")
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink_closed)
    monkeypatch.setattr(_files, "_WINDOWS", True)
    monkeypatch.setitem(sys.modules, "msvcrt", fake)
    return fake


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and flock")
class TestLocksOfWindows:
    @pytest.mark.parametrize("lock", [lock_file, lock_name])
    def test_on_windows_a_second_run_is_refused_until_the_first_releases(
        self, tmp_path: Path, windows: Any, lock: Any
    ) -> None:
        path = tmp_path / "output.bin"
        first = lock(path, force=False)
        path.write_bytes(BEFORE)
        for again in (lambda: lock(path, force=True), lambda: check_file(path, (), True)):
            with pytest.raises(SinkError, match="another run is writing it"):
                again()
        first.refuse_moved()
        first.release()
        first.release()
        check_file(path, (), True)
        lock(path, force=True).release()
        assert is_untouched(path)
        assert windows.locked == {tmp_path / ".output.bin.lock"}  # the output itself stays readable

    @pytest.mark.parametrize("lock", [lock_file, lock_name])
    def test_on_windows_an_output_that_appeared_is_refused(self, path: Path, windows: Any, lock: Any) -> None:
        with pytest.raises(SinkError, match=r"file\.bin exists"):
            lock(path, force=False)
        assert is_untouched(path)

    def test_on_windows_the_lock_of_a_dead_process_does_not_count(self, path: Path, windows: Any) -> None:
        (path.parent / ".file.bin.lock").touch()
        check_file(path, (), True)
        lock_name(path, force=True).release()
        assert is_untouched(path)

    def test_on_windows_a_file_system_without_locks_refuses_nothing(self, path: Path, windows: Any) -> None:
        def locking(*_: object) -> None:
            raise OSError(22, "Invalid argument")

        windows.locking = locking
        lock_file(path, force=True).release()
        assert is_untouched(path)


@pytest.mark.skipif(sys.platform == "win32", reason="has other locks")
class TestLocks:
    @pytest.mark.parametrize("lock", [lock_file, lock_name])
    def test_second_run_is_refused_until_the_first_releases(self, tmp_path: Path, lock: Any) -> None:
        path = tmp_path / "output.bin"
        first = lock(path, force=False)
        for again in (lambda: lock(path, force=True), lambda: check_file(path, (), True)):
            with pytest.raises(SinkError, match="another run is writing it"):
                again()
        first.release()
        check_file(path, (), True)
        lock(path, force=True).release()
        assert [file.name for file in tmp_path.iterdir()] == (["output.bin"] if lock is lock_file else [])

    @pytest.mark.parametrize("lock", [lock_file, lock_name])
    def test_output_that_appeared_since_it_was_checked_is_refused(self, path: Path, lock: Any) -> None:
        with pytest.raises(SinkError, match=r"file\.bin exists"):
            lock(path, force=False)
        assert is_untouched(path)

    def test_lock_of_a_dead_process_does_not_count(self, path: Path) -> None:
        code = (
            "import os, signal, sys\n"
            "from pathlib import Path\n"
            "from bgsub._files import lock_file, lock_name\n"
            "locks = [lock(Path(sys.argv[1]), force=True) for lock in (lock_file, lock_name)]\n"
            "os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        subprocess.run([sys.executable, "-c", code, str(path)], check=False)
        assert len(list(path.parent.iterdir())) == 2
        check_file(path, (), True)
        lock_name(path, force=True).release()
        assert is_untouched(path)

    @pytest.mark.parametrize("replaced", [False, True])
    def test_locked_file_that_lost_its_name_is_noticed(self, path: Path, replaced: bool) -> None:
        lock = lock_file(path, force=True)
        lock.refuse_moved()
        path.unlink()
        if replaced:
            path.write_bytes(AFTER)
        with pytest.raises(SinkError, match=r"file\.bin was removed or replaced while it was written"):
            lock.refuse_moved()
        lock.release()

    def test_link_and_its_target_are_one_output(self, path: Path, tmp_path: Path) -> None:
        link = tmp_path / "link.bin"
        link.symlink_to(path)
        first = lock_name(path, force=True)
        with pytest.raises(SinkError, match="another run is writing it"):
            lock_name(link, force=True)
        first.release()


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
