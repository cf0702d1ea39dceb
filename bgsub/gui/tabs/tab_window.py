"""The window around all tabs: one source each, or the cameras of a watch."""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from PyQt6.QtCore import QSettings, Qt, QTimer
from PyQt6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PyQt6.QtWidgets import QMainWindow, QTabWidget, QWidget

from bgsub.gui.engine.cameras import read_cameras
from bgsub.gui.engine.processing.budget import Budget
from bgsub.gui.messages import Level
from bgsub.gui.qt_process import GarbageCollector, MemoryReturner
from bgsub.gui.session import Session
from bgsub.gui.tabs.camera_grid import CameraGrid
from bgsub.gui.tabs.camera_sessions import CameraSession, CameraSessions
from bgsub.gui.tabs.restoring import Restoring
from bgsub.gui.widgets.dialogs import Answer, ask_to_save
from bgsub.gui.widgets.theme import Theme
from bgsub.gui.window.main_window import MainWindow
from bgsub.gui.window.window_state import WindowState
from bgsub.gui.workspace import Workspace

__all__ = ["MOST_TABS", "TabWindow"]

MOST_TABS = 16
"""Sources in tabs of their own; the cameras of a watch do not count."""
_COLLECT_MS = 500  # after a tab was closed, when Qt has deleted it

Page = MainWindow | CameraGrid


class TabWindow(QMainWindow):
    """Shows one or several tabs; there is no bar for a single one.

    All tabs share the memory for past frames; the cameras of a watch have one share together. A tab that is closed ends
    its threads in the background; the window waits for them at its end.

    Parameters
    ----------
    session : Session
        Of the first tab.
    make_session : callable
        Makes the session of each further tab.
    theme : Theme
        Colours.
    settings : QSettings
        Where layout and choices are remembered.
    """

    def __init__(
        self, session: Session, make_session: Callable[[], Session], theme: Theme, settings: QSettings
    ) -> None:
        super().__init__()
        self._make_session, self._theme, self._settings = make_session, theme, settings
        self._shown: Page | None = None
        self._is_ending = False
        self._collect = QTimer(self)
        self._collect.setSingleShot(True)
        self._collect.setInterval(_COLLECT_MS)
        self._collect.timeout.connect(GarbageCollector.collect_all)
        self._memory = MemoryReturner(self)
        self._ending: list[tuple[threading.Thread, object]] = []
        """Threads that close sessions, which live until then."""
        self.setObjectName("bgsub-tabs")
        self.setWindowTitle("bgsub")
        self.saved = Restoring(self)
        """Describes and opens all tabs."""
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.setTabsClosable(True)
        self.tabs.setMovable(True)
        self.tabs.setTabBarAutoHide(True)
        self.tabs.setElideMode(Qt.TextElideMode.ElideMiddle)
        self.tabs.setAccessibleName("Sources")
        self.tabs.currentChanged.connect(self._turn)
        self.tabs.tabCloseRequested.connect(self.close_tab)
        self.setCentralWidget(self.tabs)
        self.main = self._add_main(session)
        """A tab with a source, or for one; the first one that is there, unless only cameras are shown."""
        self.resize(self.main.size())
        WindowState(settings).restore_geometry(self)

    @property
    def pages(self) -> list[Page]:
        """What the tabs show, in their order."""
        found = (self.tabs.widget(index) for index in range(self.tabs.count()))
        return [page for page in found if isinstance(page, MainWindow | CameraGrid)]

    @property
    def grids(self) -> list[CameraGrid]:
        """The tabs with the cameras of a watch."""
        return [page for page in self.pages if isinstance(page, CameraGrid)]

    @property
    def current(self) -> Page | None:
        """What is shown."""
        page = self.tabs.currentWidget()
        return page if isinstance(page, MainWindow | CameraGrid) else None

    @property
    def session(self) -> Session:
        """Session that is shown, or that of some tab while the cameras of a watch are."""
        page = self.current
        return page.session if isinstance(page, MainWindow) else self.main.session

    # Tabs

    def add_tab(self, source: str = "") -> None:
        """Add a tab and show it, with a source unless the name is empty."""
        if sum(isinstance(page, MainWindow) for page in self.pages) >= MOST_TABS:
            self.session.notify(Level.WARNING, f"There are {MOST_TABS} tabs; close one of them first.")
            return
        page = self._add_main(self._make_session())
        if self.main not in self.pages:
            self.main = page
        self.tabs.setCurrentWidget(page)
        self._share_memory()
        if source:
            page.open(source)

    def open_cameras(self, path: str | Path) -> None:
        """Show the cameras of a file of `bgsub watch` in a tab."""
        self.session.attempt(lambda: self.add_cameras(Path(path)))

    def show_camera(self, camera: CameraSession) -> None:
        """Show one camera with all panels, in a tab of its own."""
        for page in self.pages:
            if isinstance(page, MainWindow) and page.session is camera.session:
                self.tabs.setCurrentWidget(page)
                return
        page = self._add_main(camera.session)
        page.setWindowTitle(f"{camera.name} - bgsub")
        page.close_session, page.waits_unseen = lambda: None, False  # it goes on in the grid
        self.tabs.setCurrentWidget(page)

    def close_tab(self, index: int) -> None:
        """Close a tab, after a question if it has changes that no file holds; with the last one the window closes."""
        if self.tabs.count() == 1:
            self.close()
            return
        page = self.tabs.widget(index)
        if isinstance(page, MainWindow) and self._may_close(page):
            page.end()
        elif isinstance(page, CameraGrid) and self._may_close(page):
            self._close_grid(page)

    def turn(self, by: int) -> None:
        """Show the next tab (1) or the previous one (-1)."""
        self.tabs.setCurrentIndex((self.tabs.currentIndex() + by) % self.tabs.count())

    def add_cameras(self, path: Path, saved: Mapping[str, Workspace] = MappingProxyType({})) -> CameraGrid:
        """Show the cameras of a file of `bgsub watch` in a tab, some with settings of a session file.

        Raises
        ------
        ConfigError
            If the file is missing or wrong.
        """
        grid = CameraGrid(path, CameraSessions(read_cameras(path), saved=saved), self._theme)
        grid.chosen.connect(lambda index: self.show_camera(list(grid.cameras)[index]))
        self._add_keys(grid)
        grid.setWindowTitle(f"{path.name} - bgsub")
        self.tabs.setCurrentIndex(self.tabs.addTab(grid, path.name))
        self._share_memory()
        grid.cameras.open()
        return grid

    def _add_keys(self, grid: CameraGrid) -> None:
        """Let the keys for tabs, which other pages have in their menus, work in a grid."""
        for keys, command in {
            "Ctrl+N": self.add_tab,
            "Ctrl+PgDown": lambda: self.turn(1),
            "Ctrl+PgUp": lambda: self.turn(-1),
            "Ctrl+F4": lambda: self.close_tab(self.tabs.indexOf(grid)),
            "Ctrl+Q": self.close,
            "F11": lambda: self.showNormal() if self.isFullScreen() else self.showFullScreen(),
        }.items():
            shortcut = QShortcut(QKeySequence(keys), grid, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(command)

    def _add_main(self, session: Session) -> MainWindow:
        page = MainWindow(session, self._theme, self._settings, in_tab=True)
        page.close_session = lambda: self._close_session(session)
        page.windowTitleChanged.connect(lambda: self._name(page))
        page.tab_asked.connect(self.add_tab)
        page.cameras_asked.connect(self.open_cameras)
        page.describe = self.saved.describe
        page.session_asked.connect(self.saved.restore)
        page.session_saved.connect(self.saved.mark_saved)
        page.turn_asked.connect(self.turn)
        page.close_asked.connect(lambda: self.close_tab(self.tabs.indexOf(page)))
        page.closed.connect(lambda: self._remove(page))
        self.tabs.addTab(page, "New")
        return page

    def _name(self, page: QWidget) -> None:
        title = page.windowTitle().removesuffix(" - bgsub")
        self.tabs.setTabText(self.tabs.indexOf(page), "New" if title == "bgsub" else title.replace("&", "&&"))
        if page is self.current:
            self.setWindowTitle(page.windowTitle())

    def _turn(self) -> None:
        page, before = self.current, self._shown
        if page is before:
            return
        if before is not None and before in self.pages:
            before.leave()
        self._shown = page
        if page is not None:
            self.setWindowTitle(page.windowTitle() or "bgsub")
            page.enter()

    def _share_memory(self) -> None:
        """Let all tabs have as much for past frames as one source; the cameras of a watch count as one."""
        mains = [page for page in self.pages if isinstance(page, MainWindow) and not self.is_camera(page)]
        for page in mains:
            page.session.use_budget(Budget().shared(len(mains) + len(self.grids)))
        for grid in self.grids:
            grid.cameras.use_budget(Budget().shared(len(mains) + len(self.grids)))

    def is_camera(self, page: MainWindow) -> bool:
        """Return whether a tab shows a camera that goes on in a grid."""
        return any(camera.session is page.session for grid in self.grids for camera in grid.cameras)

    # The end

    def end(self) -> None:
        """Close without a question, because the process is told to end."""
        self._is_ending = True
        self.close()

    def closeEvent(self, a0: QCloseEvent | None) -> None:
        if not self._close_all():
            if a0 is not None:
                a0.ignore()
            return
        for thread, _ in self._ending:
            thread.join()
        self._ending.clear()
        self._memory.finish()
        super().closeEvent(a0)

    def _close_all(self) -> bool:
        """Close all tabs, which are continued together the next time, unless the user keeps one of them."""
        if not (self._is_ending or all(self._may_close(page) for page in self.pages)):
            return False
        saved, shown = self.saved.describe(), self.current
        for page in sorted(self.pages, key=lambda page: page is shown):  # the layout of the last one is remembered
            if isinstance(page, MainWindow):
                page.describe = lambda: saved
                page.end()
        for grid in self.grids:
            self._close_grid(grid)
        WindowState(self._settings).remember_session(saved)  # there may have been nothing but cameras
        return True

    def _may_close(self, page: Page) -> bool:
        """Ask what becomes of settings that no file holds; those of a camera are asked for with its grid."""
        if isinstance(page, MainWindow):
            return self.is_camera(page) or page.session_files.may_close()
        changed = page.cameras.unsaved
        if not changed:
            return True
        names = ", ".join(camera.name for camera in changed)
        text = f"The settings of {names} were changed and not saved."
        answer = ask_to_save(self, text, "Save a session file, with all tabs?")
        if answer is Answer.SAVE:
            self.show_camera(changed[0])
            return isinstance(self.current, MainWindow) and self.current.session_files.save()
        return answer is not Answer.CANCEL

    def _close_grid(self, grid: CameraGrid) -> None:
        for page in self.pages:
            if isinstance(page, MainWindow) and any(camera.session is page.session for camera in grid.cameras):
                page.end()
        self._remove(grid)
        for camera in grid.cameras:
            camera.blockSignals(True)
            camera.session.blockSignals(True)
            camera.stop_retrying()
        self._close_later(grid.cameras.close, grid.cameras)

    def _close_session(self, session: Session) -> None:
        session.blockSignals(True)  # of widgets that will be gone
        self._close_later(session.close, session)

    def _close_later(self, close: Callable[[], None], kept: object) -> None:
        """Close something on a thread, since a stream that is silent may take seconds to end."""
        self._ending = [(thread, one) for thread, one in self._ending if thread.is_alive()]
        thread = threading.Thread(target=close, name="bgsub-close", daemon=True)
        self._ending.append((thread, kept))
        thread.start()

    def _remove(self, page: Page) -> None:
        self.tabs.removeTab(self.tabs.indexOf(page))
        page.deleteLater()
        self._collect.start()
        mains = [other for other in self.pages if isinstance(other, MainWindow)]
        if page is self.main and mains:
            self.main = mains[0]
        self._share_memory()
