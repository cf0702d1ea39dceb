"""What importing costs and what it says when something is missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("PyQt6", "click", "sklearn", "numba", "av", "cv2", "matplotlib", "numpy")


def python(*arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | ({} if path is None else {"PYTHONPATH": str(path)})
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=60, env=environment
    )


def broken_module(folder: Path, name: str, message: str) -> Path:
    """Make a module that fails like one whose system library is missing."""
    (folder / f"{name}.py").write_text(f"raise ImportError({message!r})\n")
    return folder


def test_import_of_the_package_loads_nothing_heavy() -> None:
    done = python("-c", "import sys, bgsub; print([name for name in sys.argv[1:] if name in sys.modules])", *HEAVY)
    assert done.stdout == "[]\n", done.stderr


def test_help_and_version_load_nothing_heavy() -> None:
    code = (
        "import sys; from bgsub.cli import main; main(['--help']); print([n for n in sys.argv[1:] if n in sys.modules])"
    )
    done = python("-c", code, *(name for name in HEAVY if name != "click"))
    assert done.stdout.endswith("[]\n"), done.stdout


def test_detectors_need_no_reader_of_videos() -> None:
    code = "import sys, bgsub; bgsub.create('norma'); print([n for n in sys.argv[1:] if n in sys.modules])"
    done = python("-c", code, "PyQt6", "click", "sklearn", "av", "matplotlib")
    assert done.stdout == "[]\n", done.stderr


def test_every_public_name_can_be_had() -> None:
    code = "import bgsub; print([name for name in bgsub.__all__ if getattr(bgsub, name, None) is None])"
    done = python("-W", "error", "-c", code)
    assert done.stdout == "[]\n", done.stderr


def test_unknown_name_is_an_attribute_error() -> None:
    import bgsub

    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        bgsub.nothing  # noqa: B018


@pytest.mark.slow
def test_import_is_quick_beyond_numpy_and_opencv() -> None:
    code = "import time, numpy; from bgsub._opencv import cv2; t = time.perf_counter(); import bgsub; "
    best = min(float(python("-c", code + "print(time.perf_counter() - t)").stdout) for _ in range(5))
    assert best < 0.3


def test_missing_system_library_is_one_line_with_the_packages(tmp_path: Path) -> None:
    path = broken_module(tmp_path, "cv2", "libGL.so.1: cannot open shared object file: No such file or directory")
    done = python("-m", "bgsub", "run", "synthetic:easy", "-o", str(tmp_path / "mask.mkv"), path=path)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("bgsub: error: OpenCV cannot be imported (libGL.so.1")
    assert "libgl1" in done.stderr
    assert "libglib2.0-0" in done.stderr
    imported = python("-c", "import bgsub; bgsub.open_source", path=path)
    assert imported.stderr.splitlines()[-1].startswith("bgsub.errors.DependencyError: OpenCV cannot be imported")


def test_missing_opencv_is_one_line_with_the_command(tmp_path: Path) -> None:
    path = broken_module(tmp_path, "cv2", "No module named 'cv2'")
    done = python("-m", "bgsub", "run", "synthetic:easy", "-o", str(tmp_path / "mask.mkv"), path=path)
    assert done.returncode == 1
    assert "pip install opencv-python" in done.stderr
    assert "libgl1" not in done.stderr


def pretend_installed(folder: Path, *names: str) -> Path:
    """Make the metadata of distributions, as pip leaves it."""
    for name in names:
        metadata = folder / f"{name.replace('-', '_')}-4.12.0.88.dist-info" / "METADATA"
        metadata.parent.mkdir()
        metadata.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 4.12.0.88\n")
    return folder


def test_two_opencvs_are_one_line_with_the_remedy(tmp_path: Path) -> None:
    path = pretend_installed(tmp_path, "opencv-contrib-python", "opencv-python-headless")
    done = python("-c", "import bgsub; bgsub.create('mog2'); bgsub.create('knn')", path=path)
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "opencv-contrib-python 4.12.0.88 and opencv-python-headless 4.12.0.88" in done.stderr
    assert "uninstall all of them, then install one" in done.stderr


@pytest.mark.slow
def test_learners_without_scikit_learn_name_the_command(tmp_path: Path) -> None:
    path = broken_module(tmp_path, "sklearn", "No module named 'sklearn'")
    done = python("-c", "import bgsub.learners", path=path)
    assert "DependencyError: the learners need scikit-learn" in done.stderr.splitlines()[-1]
    assert "pip install 'bgsub[learners]'" in done.stderr
    assert python("-c", "import bgsub; bgsub.create('norma'); bgsub.open_source", path=path).returncode == 0


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")  # a first run says that it compiles
def test_curves_without_matplotlib_name_the_command(tmp_path: Path) -> None:
    path = broken_module(tmp_path, "matplotlib", "No module named 'matplotlib'")
    folder = str(tmp_path / "street")
    code = "import sys; from bgsub.cli import main; sys.exit(main(sys.argv[1:]))"
    assert python("-c", code, "sample", folder, "--frames", "12", "--size", "32x32", path=path).returncode == 0
    done = python("-c", code, "evaluate", folder, "--roc", str(tmp_path / "roc.png"), path=path)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    assert "pip install 'bgsub[plot]'" in done.stderr
