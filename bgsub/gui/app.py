"""Start the viewer: check its requirements before Qt begins, and keep it alive afterwards."""

import logging
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from bgsub.config import Config
from bgsub.errors import DependencyError
from bgsub.gui.qt_process import DisplayProbe, release_cv2_qt, short_turns
from bgsub.roi import open_region
from bgsub.video.sources import Position

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QApplication

__all__ = ["ExceptionHook", "run_viewer"]

Part = tuple[Position | None, Position | None]

logger = logging.getLogger(__name__)

_INSTALL = "pip install 'bgsub[gui]'"
_LIBRARIES = "libegl1 libgl1 libxkbcommon0 libdbus-1-3 libfontconfig1"
_application: object = None  # outlives every widget, in whatever order Python destroys objects
_TICK_MS = 200  # Python's signal handlers run only when Qt lets Python run
_SIGNALLED = 128  # exit code of a process that a signal ended, less the number of the signal


def run_viewer(
    source: str | None = None,
    *,
    more: Sequence[str] = (),
    config: Config | None = None,
    model: Path | None = None,
    workspace: Path | None = None,
    settings_file: Path | None = None,
    part: Part = (None, None),
    scale: float = 1.0,
    auth: str | None = None,
) -> int:
    """Show the viewer until its window is closed.

    Parameters
    ----------
    source : str, optional
        Name of a source to open, as for `open_source`, or of a file of `bgsub watch` or of a session.
    more : sequence of str
        Names of sources to open in tabs of their own.
    config : Config, optional
        Initial detector.
    model : Path, optional
        A saved model to start from.
    workspace : Path, optional
        A session file to continue; it brings source and settings.
    part : (Position, Position)
        First and last frame of the part to play; None for the ends of the source.
    scale : float
        Make frames smaller by this factor, in (0, 1].
    settings_file : Path, optional
        Where layout and choices are remembered; the user's settings by default.
    auth : str, optional
        ``user:password`` for rtsp and http addresses that have none.

    Returns
    -------
    int
        Exit code of the process: 0, or 128 and the number of the signal that ended it.

    Raises
    ------
    DependencyError
        If PyQt6, a system library or a display is missing.
    ConfigError
        If the region of interest of the configuration cannot be read.
    """
    _require_qt()
    config = config or Config()
    region = open_region(config.roi) if config.roi else None
    probe = DisplayProbe()
    release_cv2_qt()

    from dataclasses import replace
    from functools import partial

    from PyQt6.QtCore import QEvent, QSettings
    from PyQt6.QtWidgets import QApplication

    from bgsub.gui.engine.opening import open_for_viewer
    from bgsub.gui.messages import Sampling, Settings
    from bgsub.gui.session import Session
    from bgsub.gui.tabs.tab_window import TabWindow
    from bgsub.gui.widgets.theme import Theme

    probe.check()
    global _application
    present = QApplication.instance()
    application = _application = present if isinstance(present, QApplication) else QApplication(["bgsub"])
    application.setApplicationName("bgsub")
    application.setApplicationDisplayName("bgsub")
    kept = (
        QSettings("bgsub", "viewer")
        if settings_file is None
        else QSettings(str(settings_file), QSettings.Format.IniFormat)
    )
    opener = partial(open_for_viewer, auth=auth)
    settings = Settings(config=replace(config, roi=""), region=region, sampling=Sampling(scale=scale))
    session = Session(opener, settings=settings)
    window = TabWindow(session, lambda: Session(opener, Settings(config=settings.config)), Theme(application), kept)
    try:
        hook = ExceptionHook(lambda: window.session)
        with short_turns(), _handled_errors(hook), _handled_signals(application, window.end) as received:
            window.show()
            if model is not None:
                session.load_model(model)
            if workspace is not None:
                window.main.session_files.open(workspace)
            elif source is not None:
                window.main.open(source, part)
            for text in more:
                window.add_tab(text)
            code = application.exec()
            # Qt ends with the code of whatever asked first, which may be the last window that the signal closed.
            return _SIGNALLED + received[0] if received else code
    finally:
        window.end()
        session.close()
        window.deleteLater()
        application.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@contextmanager
def _handled_errors(hook: "ExceptionHook") -> Iterator[None]:
    """Use an exception hook."""
    before = sys.excepthook
    sys.excepthook = hook
    try:
        yield
    finally:
        sys.excepthook = before


@contextmanager
def _handled_signals(application: "QApplication", close: Callable[[], object]) -> Iterator[list[int]]:
    """Close all windows on SIGINT, SIGTERM and SIGHUP, without a question, which ends recordings properly.

    A signal that the process was started to ignore, as by `nohup`, stays ignored. Yields a list that gets the number of
    the first signal.
    """
    from PyQt6.QtCore import QTimer

    def end(number: int, _frame: object) -> None:
        if not received:
            received.append(number)
            QTimer.singleShot(0, finish)  # Python may be painting a window at this moment

    def finish() -> None:
        close()
        application.closeAllWindows()  # dialogs, too, in which `exec` would wait for the user
        application.quit()

    received: list[int] = []
    names = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    handled = [number for number in numbers if before[number] is not signal.SIG_IGN]
    for number in handled:
        signal.signal(number, end)
    timer = QTimer()
    timer.timeout.connect(lambda: None)
    timer.start(_TICK_MS)
    try:
        yield received
    finally:
        timer.stop()
        for number in handled:
            signal.signal(number, before[number])


class ExceptionHook:
    """Keeps the window alive: without an exception hook PyQt6 aborts the process if a slot raises.

    Parameters
    ----------
    session : callable
        Returns the `Session` that shows the error.
    """

    def __init__(self, session: Callable[[], object]) -> None:
        self._find_session = session

    def __call__(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Log the error, hold the image and show a notice; Ctrl-C passes through."""
        from bgsub.gui.messages import Level
        from bgsub.gui.session import Session

        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        logger.error("unexpected error in the viewer\n%s", "".join(traceback.format_exception(kind, error, trace)))
        session = self._find_session()
        if isinstance(session, Session):
            session.pause()
            message = " ".join(str(error).split())
            session.notify(
                Level.ERROR, f"Unexpected {kind.__name__}: {message}. Please report it; the viewer is paused."
            )


def _require_qt() -> None:
    """Check that Qt and pyqtgraph can be imported.

    Raises
    ------
    DependencyError
        If PyQt6 or pyqtgraph is not installed, or a system library of Qt is missing.
    """
    try:
        import PyQt6.QtWidgets  # noqa: F401 - only whether it can be imported
    except ImportError as error:
        if ".so" in str(error):
            raise DependencyError(
                f"Qt lacks a system library ({error}); on Debian and Ubuntu run: apt-get install {_LIBRARIES}"
            ) from error
        raise DependencyError(f"the viewer needs PyQt6 ({error}); run: {_INSTALL}") from error
    import importlib.util

    if importlib.util.find_spec("pyqtgraph") is None:
        raise DependencyError(f"the viewer needs pyqtgraph; run: {_INSTALL}")
