"""All tabs of a window as a session file keeps them, and back."""

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from bgsub.errors import ConfigError
from bgsub.gui.messages import Level
from bgsub.gui.session import Session
from bgsub.gui.tabs.camera_grid import CameraGrid
from bgsub.gui.window.main_window import MainWindow
from bgsub.gui.window.saved_tabs import SavedCameras, SavedTabs
from bgsub.gui.workspace import Workspace

if TYPE_CHECKING:
    from bgsub.gui.tabs.tab_window import Page, TabWindow

__all__ = ["Restoring"]


class Restoring:
    """Describes the tabs of a window, and opens tabs that were described.

    Parameters
    ----------
    window : TabWindow
        Shows the tabs.
    """

    def __init__(self, window: "TabWindow") -> None:
        self._window = window

    def describe(self) -> SavedTabs:
        """Return what a session file holds of the present tabs; empty ones are left out if there are others."""
        pages = [page for page in self._window.pages if isinstance(page, CameraGrid) or self._has_source(page)]
        if not pages:
            return SavedTabs((self._window.session.workspace,))
        front, camera = self._front()
        shown = next((index for index, page in enumerate(pages) if page is front), 0)
        return SavedTabs(tuple(self._describe(page) for page in pages), shown, camera)

    def restore(self, saved: SavedTabs) -> None:
        """Open all tabs of a session file, the first in the tab that is shown if that has no source."""
        window = self._window
        shown: Page | None = None
        for index, tab in enumerate(saved.tabs):
            page = self._open_cameras(tab) if isinstance(tab, SavedCameras) else self._open(tab)
            if index == saved.shown:
                shown = page
        if shown is None:
            return
        window.tabs.setCurrentWidget(shown)
        if isinstance(shown, CameraGrid):
            for camera in shown.cameras:
                if camera.name == saved.camera:
                    window.show_camera(camera)

    def mark_saved(self) -> None:
        """Note that a file holds the settings of all tabs."""
        for session in self._sessions():
            session.mark_saved()

    def _front(self) -> "tuple[Page | None, str]":
        """Return the tab that is shown; for a camera with all panels, that of its grid, and its name."""
        page = self._window.current
        if isinstance(page, MainWindow):
            for grid in self._window.grids:
                for camera in grid.cameras:
                    if camera.session is page.session:
                        return grid, camera.name
        return page, ""

    def _has_source(self, page: MainWindow) -> bool:
        return bool(page.session.source) and not self._window.is_camera(page)

    def _describe(self, page: "Page") -> Workspace | SavedCameras:
        if isinstance(page, MainWindow):
            return page.session_files.workspace
        shown = {id(other.session) for other in self._window.pages if isinstance(other, MainWindow)}
        return SavedCameras(
            str(page.path.resolve()),
            tuple(camera.name for camera in page.cameras if id(camera.session) in shown),
            MappingProxyType({camera.name: camera.workspace for camera in page.cameras if camera.is_changed}),
        )

    def _open(self, workspace: Workspace) -> "Page | None":
        window = self._window
        page = window.current
        if not isinstance(page, MainWindow) or page.session.source:
            before = len(window.pages)
            window.add_tab()
            page = window.current
            if len(window.pages) == before or not isinstance(page, MainWindow):
                return None
        page.session_files.restore(workspace)
        return page

    def _open_cameras(self, saved: SavedCameras) -> "Page | None":
        window = self._window
        try:
            grid = window.add_cameras(Path(saved.watch), saved.changed)
        except ConfigError as error:  # the other tabs can be continued all the same
            window.session.notify(Level.ERROR, str(error))
            return None
        for camera in grid.cameras:
            if camera.name in saved.opened:
                window.show_camera(camera)
        return grid

    def _sessions(self) -> list[Session]:
        window = self._window
        mains = [page.session for page in window.pages if isinstance(page, MainWindow)]
        return mains + [camera.session for grid in window.grids for camera in grid.cameras]
