"""Commands where the system lacks what only Unix has, as Windows does."""

import os
import select
import signal
import sys
import tempfile
import types
from pathlib import Path

import pytest

from bgsub import _files
from tests.command import bgsub
from tests.watching.made import events, record, write_settings

# Of the documentation of these modules: "Availability: Unix" or narrower.
OS = """O_ASYNC O_CLOEXEC O_DIRECT O_DIRECTORY O_DSYNC O_NOATIME O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH O_RSYNC O_SYNC
O_TMPFILE chown chroot confstr copy_file_range ctermid eventfd fchdir fchown fdatasync fork forkpty fpathconf fstatvfs
getegid geteuid getgid getgroups getloadavg getpgid getpgrp getpriority getresuid getsid getuid getxattr killpg lchown
listxattr lockf major memfd_create minor mkfifo mknod nice openpty pathconf pidfd_open pipe2 posix_fadvise
posix_fallocate posix_spawn pread preadv pwrite pwritev readv register_at_fork sched_getaffinity sched_setaffinity
sched_yield sendfile setpgid setpriority setsid setxattr statvfs sync sysconf tcgetpgrp tcsetpgrp ttyname uname wait
wait3 wait4 waitid waitpid writev"""
SIGNAL = "SIGALRM SIGCHLD SIGHUP SIGKILL SIGPIPE SIGQUIT SIGUSR1 SIGUSR2 alarm pause pthread_kill setitimer"
SELECT = "poll epoll kqueue"
MODULES = ("fcntl", "grp", "pwd", "resource", "termios", "tty", "pty", "syslog")


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what only Unix has; files are locked by a stand-in for Windows' module, which lets everybody."""
    for module, names in ((os, OS), (signal, SIGNAL), (select, SELECT)):
        for name in names.split():
            monkeypatch.delattr(module, name, raising=False)
    for module_name in MODULES:
        monkeypatch.setitem(sys.modules, module_name, None)
    monkeypatch.setattr(tempfile, "_O_TMPFILE_WORKS", False, raising=False)  # found when Python imported it
    locks = types.SimpleNamespace(LK_NBLCK=2, locking=lambda *_: None)
    monkeypatch.setitem(sys.modules, "msvcrt", locks)
    monkeypatch.setattr(_files, "_WINDOWS", True)


@pytest.mark.usefixtures("bare")
def test_a_run_needs_nothing_of_unix(tmp_path):
    outputs = ["-o", tmp_path / "mask.mkv", "--stats", tmp_path / "stats.csv", "--save-model", tmp_path / "model.npz"]
    source = "synthetic:easy?frames=8&size=64x48"
    assert bgsub("run", source, *outputs, "-q") == 0
    assert (tmp_path / "stats.csv").read_text().count("\n") == 9
    model, again = tmp_path / "model.npz", tmp_path / "again.csv"
    assert bgsub("run", source, "--load-model", model, "--stats", again, "-q") == 0
    assert bgsub("run", tmp_path / "mask.mkv", "-d", "mog2", "-o", tmp_path / "images/", "-q") == 0
    assert len(list((tmp_path / "images").iterdir())) == 8


@pytest.mark.usefixtures("bare")
def test_a_scan_needs_nothing_of_unix(tmp_path):
    clip = record(tmp_path / "clip.mkv", 60, [(20, 45)])
    assert bgsub("scan", clip, "-o", tmp_path / "found", "--jobs", "1", "-q") == 0
    assert (tmp_path / "found").is_dir()
    assert (tmp_path / "found" / "events.jsonl").exists()


@pytest.mark.usefixtures("bare")
def test_a_watch_needs_nothing_of_unix(tmp_path):
    record(tmp_path / "a.mkv", 130, [(80, 110)])
    for _ in range(2):
        assert bgsub("watch", write_settings(tmp_path, '[cameras.yard]\nsource = "a.mkv"\n'), "-q") == 0
    assert len(events(tmp_path)) == 1
