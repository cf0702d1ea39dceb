"""The contract of a sink, as a function."""

import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bgsub.errors import SinkError
from bgsub.frames import Packet, Result, Timings
from bgsub.testing._require import require, require_error
from bgsub.video.sinks.base import Sink

__all__ = ["check_sink"]

_COUNT = 12
_SIZE = (48, 64)


def check_sink(
    make: Callable[..., Sink],
    readable: Callable[[Path], int],
    *,
    name: str | None = None,
    once: bool = False,
) -> None:
    """Check that a sink keeps the contract of `Sink`.

    Checked are that everything written can be read, also after an error in the run and after a write on another
    thread where that is allowed; that nothing is created before the first result, and nothing overwritten unasked;
    that results are not changed; and that closing twice does no harm. All files are in a temporary folder.

    Parameters
    ----------
    make : callable
        ``make(path, force=False)`` makes the sink, such as its class.
    readable : callable
        ``readable(path)`` opens the output and returns the number of results in it.
    name : str, optional
        Name of the file or folder to write; by default "output" with the first of the class's `suffixes`.
    once : bool
        Whether the sink writes one thing however many results it gets, such as an image at the end.

    Raises
    ------
    AssertionError
        If the sink breaks the contract; the message says where.

    Examples
    --------
    >>> from bgsub.video.sinks import StatsCsv
    >>> check_sink(StatsCsv, lambda path: len(path.read_text().splitlines()) - 1)
    """
    suffixes = getattr(make, "suffixes", ())
    name = name or f"output{suffixes[0] if suffixes else ''}"
    expected = 1 if once else _COUNT
    for check in (_check_results, _check_nothing_early, _check_existing, _check_interrupted, _check_thread):
        with tempfile.TemporaryDirectory() as folder:
            check(make, readable, Path(folder) / name, expected)
    with (
        tempfile.TemporaryDirectory() as folder,
        require_error(SinkError, "a missing folder must be refused by a SinkError when the sink is made"),
    ):
        make(Path(folder) / "missing" / name)
    if isinstance(make, type) and issubclass(make, Sink) and make.option is not None:
        require(make.accepts(Path(name)), f"accepts must be true for the name {name}")


def _result(index: int, grey: bool = False) -> Result:
    """Return a result of a square that moves by two pixels per frame."""
    mask = np.zeros(_SIZE, np.uint8)
    mask[16:28, 2 * index : 2 * index + 12] = 255
    frame = np.where(mask > 0, np.uint8(220), np.uint8(60))
    if not grey:
        frame = np.ascontiguousarray(np.stack([frame, frame // 2, frame // 3], axis=2))
    return Result(Packet(index, index / 25, frame, index + 1), mask, timings=Timings(detect_ms=1.5))


def _write(sink: Sink, grey: bool = False) -> None:
    for index in range(_COUNT):
        sink.write(_result(index, grey))


def _check_read(readable: Callable[[Path], int], path: Path, expected: int, where: str) -> None:
    try:
        count = readable(path)
    except Exception as error:
        raise AssertionError(f"{where}: the output cannot be read: {error!r}") from error
    require(count == expected, f"{where}: {expected} results were written, {count} can be read")


def _check_results(make: Callable[..., Sink], readable: Callable[[Path], int], path: Path, expected: int) -> None:
    sink = make(path)
    require(isinstance(sink, Sink), f"make must return a Sink, got {type(sink).__name__}")
    with sink:
        for index in range(_COUNT):
            result, before = _result(index), _result(index)
            sink.write(result)
            same = np.array_equal(result.mask, before.mask) and np.array_equal(result.packet.frame, before.packet.frame)
            require(same, "write must change neither frame nor mask")
    sink.close()
    _check_read(readable, path, expected, "after close")
    require(list(path.parent.iterdir()) == [path], f"only {path.name} may be left behind")


def _check_nothing_early(make: Callable[..., Sink], _: object, path: Path, __: int) -> None:
    with make(path):
        pass
    require(not list(path.parent.iterdir()), "a sink that got no result must create nothing")


def _check_existing(make: Callable[..., Sink], readable: Callable[[Path], int], path: Path, expected: int) -> None:
    with make(path) as sink:
        sink.write(_result(0))
    with require_error(SinkError, "an existing output must be refused by a SinkError when the sink is made"):
        make(path)
    with make(path, force=True) as sink:
        _write(sink, grey=True)
    _check_read(readable, path, expected, "with force and grey frames")


def _check_interrupted(make: Callable[..., Sink], readable: Callable[[Path], int], path: Path, expected: int) -> None:
    try:
        with make(path) as sink:
            _write(sink)
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        _check_read(readable, path, expected, "after an interrupted run")


def _check_thread(make: Callable[..., Sink], readable: Callable[[Path], int], path: Path, expected: int) -> None:
    sink = make(path)
    if not sink.any_thread:
        return
    errors: list[Exception] = []

    def work() -> None:
        try:
            _write(sink)
        except Exception as error:  # noqa: BLE001 - reported below
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    sink.close()
    require(not errors, f"any_thread is true, but write fails on another thread: {errors}")
    _check_read(readable, path, expected, "written on another thread")
