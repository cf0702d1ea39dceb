"""Commands that ask for a file first: images, recordings, models, presets and statistics."""

from collections.abc import Callable
from pathlib import Path

from PyQt6.QtWidgets import QWidget

from bgsub.gui.commands import CommandId
from bgsub.gui.messages import Level
from bgsub.gui.panels.parameters.presets import load_preset, save_preset
from bgsub.gui.panels.timeline.plots import export_statistics
from bgsub.gui.session import Session
from bgsub.gui.widgets.dialogs import ask_folder, ask_open, ask_save, last_folder
from bgsub.gui.widgets.images.pane_grid import PaneGrid
from bgsub.gui.widgets.record_dialog import RecordDialog
from bgsub.video.sources import public_name

__all__ = ["FileCommands", "source_title"]

_PNG_FILES = "PNG (*.png)"
_COMMON_NAMES = ("input", "images", "frames")
"""Folders that are called the same in every sequence, and say more with their parent's name."""
_MODEL_FILES = "Models (*.npz)"


class FileCommands:
    """Asks for files and hands them to the session.

    Parameters
    ----------
    window : QWidget
        Parent of the dialogs.
    session : Session
        Reads and writes the files.
    grid : PaneGrid
        Shows the images that can be saved.
    """

    def __init__(self, window: QWidget, session: Session, grid: PaneGrid) -> None:
        self._window, self._session, self._grid = window, session, grid

    def handlers(self) -> dict[str, Callable[[], object]]:
        """Return the function that each of these commands calls, by the id of the command."""
        return {
            CommandId.SAVE_IMAGE: self.save_image,
            CommandId.SAVE_ALL_IMAGES: self.save_all_images,
            CommandId.EXPORT_STATISTICS: lambda: export_statistics(self._session, self._window),
            CommandId.LOAD_MODEL: self.load_model,
            CommandId.SAVE_MODEL: self.save_model,
            CommandId.LOAD_PRESET: lambda: load_preset(self._session, self._window),
            CommandId.SAVE_PRESET: lambda: save_preset(self._session, self._window),
        }

    @property
    def source_stem(self) -> str:
        """Name of the source as the beginning of file names."""
        title = source_title(self._session.source)
        name = title.removesuffix(Path(title).suffix) or "bgsub"
        return name.replace(":", "-").replace("?", "-").replace("/", "-")

    @property
    def file_stem(self) -> str:
        """Proposed beginning of the names of images: source and frame number."""
        result = self._session.view.result
        return self.source_stem + ("" if result is None else f"-{result.packet.number:06d}")

    def save_image(self) -> None:
        """Save the image of the pane under the mouse, or else of the first pane."""
        view = next((view for view in self._grid.views if view.underMouse()), self._grid.views[0])
        image = view.image
        if image is None:
            self._session.notify(Level.WARNING, "There is no image to save yet; open a source first.")
            return
        path = ask_save(self._window, f"Save {view.pane.label.lower()}", f"{self.file_stem}.png", _PNG_FILES)
        if path is not None:
            self._session.save_image(path, image)

    def save_all_images(self) -> None:
        """Save the images of all panes."""
        folder = ask_folder(self._window, "Folder for the images of all panes")
        if folder is not None:
            self._session.save_panes(folder, self.file_stem)

    def record(self) -> None:
        """Begin to record, or finish a recording."""
        if self._session.is_recording:
            self._session.stop_recording()
            return
        dialog = RecordDialog(self._window, last_folder() or Path.cwd(), self.source_stem)
        if dialog.exec():
            self._session.record(dialog.outputs)
        dialog.deleteLater()

    def load_model(self) -> None:
        """Ask for a model and continue with it."""
        path = ask_open(self._window, "Load model", _MODEL_FILES)
        if path is not None:
            self._session.load_model(path)

    def save_model(self) -> None:
        """Ask for a name and save the model."""
        path = ask_save(self._window, "Save model", "model.npz", _MODEL_FILES)
        if path is not None:
            self._session.save_model(path)


def source_title(text: str) -> str:
    """Return a source's name without folder and without secrets."""
    shown = public_name(text)
    if "://" in text or shown != text:
        return shown
    path = Path(text)
    if path.name.lower() in _COMMON_NAMES and path.resolve().parent.name:
        return f"{path.resolve().parent.name}/{path.name}"
    return path.name or text
