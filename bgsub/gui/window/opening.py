"""Ways into a window: sources and settings files by name, by dialog, or dropped on it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QMimeData
from PyQt6.QtWidgets import QWidget

from bgsub.evaluation import GroundTruth
from bgsub.gui.engine.cameras import is_watch_file
from bgsub.gui.messages import Level
from bgsub.gui.widgets.dialogs import ask_open
from bgsub.gui.widgets.open_source import dropped_sources
from bgsub.gui.window.file_commands import source_title
from bgsub.video.sources import Position

if TYPE_CHECKING:
    from bgsub.gui.window.main_window import MainWindow

__all__ = ["Opening"]

_CAMERA_FILES = "Cameras of bgsub watch (*.toml)"


class Opening:
    """Opens what the user names, in a window or, for cameras and further files, beside it.

    Parameters
    ----------
    window : MainWindow
        Shows the source.
    """

    def __init__(self, window: "MainWindow") -> None:
        self._window = window

    def open(self, text: str, part: tuple[Position | None, Position | None] = (None, None)) -> None:
        """Open a source, or a part of it from its first to its last frame; or a file of a session or of cameras.

        A folder of changedetection.net, with input and ground truth in it, is opened with both.
        """
        window = self._window
        if text.lower().endswith(".toml"):
            window.session.attempt(lambda: self._open_settings(Path(text)))
            return
        window.notices.clear()
        folder = Path(text)
        is_sequence = (folder / "input").is_dir() and (folder / "groundtruth").is_dir()
        source = str(folder / "input") if is_sequence else text
        self.name(source)
        truths: list[GroundTruth] = []
        if is_sequence:
            window.session.attempt(lambda: truths.append(GroundTruth(folder)))
        window.session.open(source, part, *truths)
        if truths:
            text = (
                "The folder is a sequence of changedetection.net: its input is shown, and scored by its ground truth."
            )
            window.session.notify(Level.INFO, text)

    def name(self, text: str) -> None:
        """Put the name of a source into the title."""
        title = source_title(text) if text else ""
        self._window.setWindowTitle(f"{title} - bgsub" if title else "bgsub")

    def ask(self, ask: Callable[[QWidget], str | None]) -> None:
        """Ask for a source and open it."""
        text = ask(self._window)
        if text is not None:
            self.open(text)

    def ask_cameras(self) -> None:
        """Ask for a file of `bgsub watch` and open its cameras."""
        path = ask_open(self._window, "Open cameras", _CAMERA_FILES)
        if path is not None:
            self.open(str(path))

    def drop(self, mime: QMimeData | None) -> None:
        """Open what was dropped: the first source here, others in tabs of their own."""
        sources = dropped_sources(mime.urls()) if mime is not None else []
        for text in sources[1:]:
            self._window.tab_asked.emit(text)
        if sources:
            self.open(sources[0])

    def _open_settings(self, path: Path) -> None:
        if is_watch_file(path):
            self._window.cameras_asked.emit(str(path))
        else:
            self._window.session_files.open(path)
