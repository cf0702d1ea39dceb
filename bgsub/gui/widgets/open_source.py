"""Ways to choose a source: files, folders, cameras, addresses, drag and drop, and recent sources."""

import threading
from collections.abc import Callable
from pathlib import Path

from PyQt6.QtCore import QSettings, QUrl, pyqtSignal
from PyQt6.QtWidgets import QInputDialog, QLineEdit, QMenu, QWidget

from bgsub.gui.widgets.dialogs import ask_folder, ask_open
from bgsub.video.list_cameras import FoundCamera, list_cameras
from bgsub.video.sources import public_name

__all__ = [
    "CameraMenu",
    "RecentSources",
    "ask_source_address",
    "ask_source_file",
    "ask_source_folder",
    "dropped_sources",
]

_VIDEOS = "Videos (*.mp4 *.mkv *.avi *.mov *.webm *.m4v *.mpg *.mpeg *.ts *.wmv *.flv *.3gp)"
_IMAGES = "Images (*.png *.jpg *.jpeg *.bmp *.tif *.tiff *.pgm *.ppm *.webp)"


def ask_source_file(parent: QWidget) -> str | None:
    """Ask for a video, or for one image of a folder of them."""
    path = ask_open(parent, "Open video", f"{_VIDEOS};;{_IMAGES}")
    return None if path is None else _source_of_file(path)


def ask_source_folder(parent: QWidget) -> str | None:
    """Ask for a folder of images."""
    folder = ask_folder(parent, "Open folder of images")
    return None if folder is None else str(folder)


def ask_source_address(parent: QWidget) -> str | None:
    """Ask for the address of a stream."""
    text, done = QInputDialog.getText(
        parent, "Open address", "Address, such as rtsp://user:password@camera/stream:", QLineEdit.EchoMode.Normal
    )
    return text.strip() if done and text.strip() else None


def dropped_sources(urls: list[QUrl]) -> list[str]:
    """Return the sources among dropped URLs; images of one folder are one source."""
    found = [
        _source_of_file(Path(url.toLocalFile())) if url.isLocalFile() else url.toString()
        for url in urls
        if url.isLocalFile() or url.scheme()
    ]
    return list(dict.fromkeys(found))


def _source_of_file(path: Path) -> str:
    """Return the folder of an image, since one image is no video; otherwise the file itself."""
    suffixes = [part.strip("*()") for part in _IMAGES.split()[1:]]
    return str(path.parent) if path.suffix.lower() in suffixes else str(path)


class RecentSources:
    """The sources opened last, without passwords.

    Parameters
    ----------
    settings : QSettings
        Where they are kept.
    """

    _KEY, _CAPACITY = "sources/recent", 10

    def __init__(self, settings: QSettings) -> None:
        self._settings = settings

    @property
    def names(self) -> list[str]:
        """Newest first."""
        kept = self._settings.value(self._KEY, [])
        return [str(name) for name in kept] if isinstance(kept, list) else [str(kept)] if kept else []

    def add(self, text: str) -> None:
        """Add a source; an address that contains a secret is not kept."""
        if public_name(text) != text and not Path(text).exists():
            return
        kept = str(Path(text).resolve()) if Path(text).exists() else text
        self._settings.setValue(self._KEY, [kept, *(name for name in self.names if name != kept)][: self._CAPACITY])

    def clear(self) -> None:
        """Forget all."""
        self._settings.remove(self._KEY)


class CameraMenu(QMenu):
    """Lists the connected cameras each time it opens, without making the window wait.

    Parameters
    ----------
    choose : callable
        Receives the source name of the camera chosen.
    find : callable, optional
        Lists cameras; `list_cameras` by default.
    """

    _found = pyqtSignal(list)

    def __init__(
        self,
        choose: Callable[[str], None],
        parent: QWidget | None = None,
        find: Callable[[], list[FoundCamera]] = list_cameras,
    ) -> None:
        super().__init__("Open &camera", parent)
        self._choose, self._find = choose, find
        self._thread: threading.Thread | None = None
        self._found.connect(self._show)
        self.aboutToShow.connect(self.search)
        self._show([])

    def search(self) -> None:
        """Look for cameras on a separate thread."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._list, name="bgsub-cameras", daemon=True)
            self._thread.start()

    def finish(self) -> None:
        """Wait for a search that is under way; called before the window is destroyed."""
        if self._thread is not None:
            self._thread.join()

    def _list(self) -> None:
        self._found.emit(self._find())

    def _show(self, cameras: list[FoundCamera]) -> None:
        self.clear()
        for camera in cameras:
            action = self.addAction(f"{camera.name}  (camera:{camera.device})")
            if action is not None:
                action.triggered.connect(lambda _, device=camera.device: self._choose(f"camera:{device}"))
        if not cameras:
            none = self.addAction("No camera found")
            if none is not None:
                none.setEnabled(False)
