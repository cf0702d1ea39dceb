"""The main window: arranges panes, panels and menus around a session."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PyQt6.QtCore import QSettings, Qt, pyqtSignal
from PyQt6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent
from PyQt6.QtWidgets import QDialog, QMainWindow, QStackedWidget, QTabWidget, QVBoxLayout, QWidget

from bgsub.detectors import detector_class
from bgsub.gui.commands import CommandId, theme_command_id
from bgsub.gui.lookout import Lookout
from bgsub.gui.messages import DEFAULT_RATE_HZ, Level
from bgsub.gui.panels.compare import ComparePanel
from bgsub.gui.panels.counting import CountingPanel
from bgsub.gui.panels.detector import DetectorPanel
from bgsub.gui.panels.docks import PANEL_LABELS, PanelId, make_docks
from bgsub.gui.panels.inspector import InspectorPanel
from bgsub.gui.panels.roi import RoiPanel
from bgsub.gui.panels.status_bar import StatusBar
from bgsub.gui.panels.timeline.events import EventsPanel
from bgsub.gui.panels.timeline.plots import PlotsPanel
from bgsub.gui.panels.timeline.transport import TransportBar
from bgsub.gui.panels.truth.panel import TruthPanel
from bgsub.gui.panes import Pane
from bgsub.gui.qt_process import GarbageCollector
from bgsub.gui.session import Session
from bgsub.gui.widgets.dialogs import remember_in
from bgsub.gui.widgets.fields import tame_fields
from bgsub.gui.widgets.images.marks import mark_of
from bgsub.gui.widgets.images.pane_grid import PaneGrid
from bgsub.gui.widgets.notice_bar import NoticeBar
from bgsub.gui.widgets.open_source import RecentSources, dropped_sources
from bgsub.gui.widgets.start_page import StartPage
from bgsub.gui.widgets.theme import Theme, ThemeChoice
from bgsub.gui.window.arrangement import Arrangement
from bgsub.gui.window.drawing import Drawing
from bgsub.gui.window.file_commands import FileCommands
from bgsub.gui.window.handlers import command_handlers
from bgsub.gui.window.menus import Menus
from bgsub.gui.window.opening import Opening
from bgsub.gui.window.saved_tabs import SavedTabs
from bgsub.gui.window.session_files import SessionFiles
from bgsub.gui.window.window_state import WindowState
from bgsub.video.sources import Position

if TYPE_CHECKING:
    from bgsub.gui.learners_page.window import LearnersWindow

__all__ = ["PANEL_LABELS", "MainWindow", "PanelId"]

_EXAMPLE = "synthetic:walkers?frames=1500"
_TABS_BESIDE = QTabWidget.TabPosition.East  # in one line above the panels their names would be cut
_SKIP_S = 10


class MainWindow(QMainWindow):
    """Shows the panes, with a panel for each task at the side and below, and closes the session at its end.

    Parameters
    ----------
    session : Session
        State and commands; closed with the window.
    theme : Theme
        Colours.
    settings : QSettings
        Where layout and choices are remembered.
    in_tab : bool
        Whether it becomes a part of another window.
    """

    tab_asked = pyqtSignal(str)
    """The user wants a tab, for a source unless the name is empty."""
    cameras_asked = pyqtSignal(str)
    """The user wants to see the cameras of a file of `bgsub watch`."""
    close_asked = pyqtSignal()
    """The user wants to close the tab."""
    closed = pyqtSignal()
    """It is closed."""
    session_asked = pyqtSignal(object)
    """The user wants to continue the tabs of a session file, given as `SavedTabs`."""
    session_saved = pyqtSignal()
    """All tabs were saved as a session file."""
    turn_asked = pyqtSignal(int)
    """The user wants the next tab (1) or the previous one (-1)."""

    def __init__(self, session: Session, theme: Theme, settings: QSettings, *, in_tab: bool = False) -> None:
        super().__init__(flags=Qt.WindowType.Widget if in_tab else Qt.WindowType.Window)
        self.session, self._theme = session, theme
        self.close_session: Callable[[], object] = session.close
        """Called when the window closes."""
        self.waits_unseen = True
        """Whether a file is paused while another tab is shown."""
        self.describe: Callable[[], SavedTabs] = lambda: SavedTabs((self.session_files.workspace,))
        """Returns what a session file holds."""
        self._plays_when_shown = False
        self._state = WindowState(settings)
        self._last_config = self._state.config
        self._is_ending = False
        self.garbage = GarbageCollector(self)
        remember_in(settings)
        self.setWindowTitle("bgsub")
        self.setObjectName("bgsub")
        self.setAcceptDrops(True)
        self.recent = RecentSources(settings)
        self.notices = NoticeBar(theme)
        self.grid = PaneGrid(theme)
        self.start = StartPage()
        self.lookout = Lookout(session, enabled=self._state.looks_ahead)
        self.transport = TransportBar(session, self.lookout, theme)
        self.status = StatusBar(session)
        self.detector = DetectorPanel(session)
        self.compare = ComparePanel(session)
        self.inspector = InspectorPanel(session, theme)
        self.roi = RoiPanel(session)
        self.plots = PlotsPanel(session, theme)
        self.events = EventsPanel(session, self.lookout)
        self.truth = TruthPanel(session)
        self.counting = CountingPanel(session)
        self.learners: LearnersWindow | None = None
        panels = {
            PanelId.DETECTOR: self.detector,
            PanelId.COMPARE: self.compare,
            PanelId.INSPECTOR: self.inspector,
            PanelId.REGION: self.roi,
            PanelId.EVENTS: self.events,
            PanelId.TRUTH: self.truth,
            PanelId.COUNTING: self.counting,
            PanelId.PLOTS: self.plots,
        }
        self.docks = make_docks(self, panels)
        self._lay_out()
        self.arrangement, self.drawing, self.opening = Arrangement(self), Drawing(self), Opening(self)
        self.files = FileCommands(self, session, self.grid)
        self.session_files = SessionFiles(self, self._state)
        toggles = [action for dock in self.docks.values() if (action := dock.toggleViewAction()) is not None]
        self.menus = self._make_menus(toggles)
        self._connect()
        self._offer_panes()
        self.arrangement.fit_screen()
        if not in_tab:
            self._state.restore_geometry(self)
        self._state.restore(self, self.grid, session)
        theme.changed.connect(self._show_theme)
        self.choose_theme(self._state.theme)
        self._show_recording(False)
        self.start.resume.setEnabled(self._state.has_session)
        tame_fields(self)
        self._show_view()
        if session.info is not None:  # a camera that was opened before
            session.opened.emit(session.source, session.info)

    def open(self, text: str, part: tuple[Position | None, Position | None] = (None, None)) -> None:
        """Open a source, or a part of it from its first to its last frame."""
        self.opening.open(text, part)

    def dragEnterEvent(self, a0: QDragEnterEvent | None) -> None:
        mime = None if a0 is None else a0.mimeData()
        if a0 is not None and mime is not None and mime.hasUrls() and dropped_sources(mime.urls()):
            a0.acceptProposedAction()

    def dropEvent(self, a0: QDropEvent | None) -> None:
        self.opening.drop(None if a0 is None else a0.mimeData())

    # View

    def show_panel(self, panel: PanelId) -> None:
        """Bring a panel to the front."""
        self.docks[panel].show()
        self.docks[panel].raise_()

    def show_first(self, pane: Pane) -> None:
        """Show this in the first pane."""
        self.grid.choose((pane, *self.grid.panes[1:]))

    def show_learners(self) -> None:
        """Open the window of the learners."""
        if self.learners is None:
            self.session.attempt(self._make_learners)
        if self.learners is not None:  # otherwise a notice names the missing package
            self.learners.show()
            self.learners.raise_()

    def _make_learners(self) -> None:
        from bgsub.gui.learners_page.window import LearnersWindow  # needs scikit-learn, which the rest does not

        self.learners = LearnersWindow(self._theme)

    def use_last_settings(self) -> None:
        """Use the settings that the detector had when the viewer was closed before."""
        if self._last_config is None:
            self.session.notify(Level.INFO, "Nothing was tuned when the viewer was closed before.")
        else:
            self.session.configure(self._last_config)

    def choose_theme(self, choice: ThemeChoice) -> None:
        """Use another theme."""
        self._state.remember_theme(choice)
        self._theme.choose(choice)

    def _show_theme(self) -> None:
        for other in ThemeChoice:
            self.menus.check(theme_command_id(other), other is self._theme.choice)

    def toggle_overlay_style(self) -> None:
        """Change between outlines and tint."""
        style = self.session.settings.overlay_style
        self.session.change(overlay_style="tint" if style == "contour" else "contour")

    def show_dialog(self, kind: Callable[[QWidget], QDialog]) -> None:
        """Show a dialog of help."""
        kind(self).show()

    def skip(self, seconds: float) -> None:
        """Jump forward, or back if negative."""
        info = self.session.info
        rate_hz = (info.rate_hz if info is not None else None) or DEFAULT_RATE_HZ
        self.session.seek(max(0, self.session.view.position + round(seconds * rate_hz)))

    def click(self, row: int, column: int) -> None:
        """Pin a pixel and inspect it; the inspector comes to the front with the first one only."""
        is_first = not self.session.settings.pinned_pixels
        self.session.pin(row, column)
        self.inspector.select(row, column)
        if is_first:
            self.show_panel(PanelId.INSPECTOR)

    def toggle_comparison(self) -> None:
        """Begin to compare, with the panel for it in front, or stop."""
        self.compare.toggle()
        if self.session.is_comparing:
            self.show_panel(PanelId.COMPARE)

    def record(self) -> None:
        """Begin to record, or finish a recording; the button shows what is true, also after a cancelled dialog."""
        self.files.record()
        self._show_recording(self.session.is_recording)

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        if a0 is not None and a0.key() == Qt.Key.Key_Escape:
            if not self.drawing.cancel():
                self.notices.dismiss()
        elif a0 is not None and a0.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.drawing.finish()
        else:
            super().keyPressEvent(a0)

    def leave(self) -> None:
        """Do less while another tab is shown: a file waits, and no image is made."""
        info, playing = self.session.info, self.session.view.playing
        self._plays_when_shown = playing and info is not None and not info.live and self.waits_unseen
        if self._plays_when_shown:
            self.session.pause()
        if not self.grid.popped:
            self.session.change(panes=())

    def enter(self) -> None:
        """Go on where another tab was chosen."""
        self._use_panes()
        if self._plays_when_shown:
            self._plays_when_shown = False
            self.session.play()

    def _show_view(self) -> None:
        self.pages.setCurrentWidget(self.grid if self.session.source else self.start)
        self.grid.show_view(self.session.view, self._hint())
        self.grid.show_counting(self.session.settings.counting, self.session.view.counted)
        found = self.lookout.happenings
        is_marked = found is not None and self.events.marks.isChecked()
        self.grid.show_event(mark_of(found, self.session.view.time_s) if found is not None and is_marked else None)

    def _hint(self) -> str:
        view = self.session.view
        if view.opening:
            return "Opening…"
        if view.preparing:
            return "Preparing the detector…"
        if self.session.source and view.serial:
            return "" if view.runs else "Nothing to show. F5 tries again."
        return ""

    # Construction

    def _lay_out(self) -> None:
        centre = QWidget()
        layout = QVBoxLayout(centre)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self.notices)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.start)
        self.pages.addWidget(self.grid)
        layout.addWidget(self.pages, 1)
        layout.addWidget(self.transport)
        self.setCentralWidget(centre)
        self.setStatusBar(self.status)
        self.setDockNestingEnabled(True)
        self.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.RightDockWidgetArea)
        self.setTabPosition(Qt.DockWidgetArea.RightDockWidgetArea, _TABS_BESIDE)

    def _make_menus(self, panel_toggles: list[QAction]) -> Menus:
        handlers = command_handlers(self) | {CommandId.RECORD: self.record}
        return Menus(self, self._theme, handlers, self.open, self.recent, panel_toggles)

    def _connect(self) -> None:
        session = self.session
        session.viewed.connect(self._show_view)
        session.noticed.connect(self.notices.show_notice)
        session.noticed.connect(self._show_view)
        session.opened.connect(self._remember_source)
        session.changed.connect(self._show_checks)
        session.recording.connect(self._show_recording)
        self.notices.retry.connect(session.retry)
        self.lookout.changed.connect(self._show_view)
        self.grid.panes_changed.connect(self._use_panes)
        for button, command in (
            (self.start.open_file, CommandId.OPEN_FILE),
            (self.start.open_folder, CommandId.OPEN_FOLDER),
            (self.start.open_address, CommandId.OPEN_ADDRESS),
            (self.start.resume, CommandId.LAST_SESSION),
            (self.start.guide, CommandId.GUIDE),
        ):
            button.clicked.connect(self.menus.actions[command].trigger)
        self.start.example.clicked.connect(lambda: self.open(_EXAMPLE))
        self.grid.clicked.connect(self.click)
        self.grid.hovered.connect(self.status.hover)
        self.compare.panes_wanted.connect(self.grid.choose)
        self.inspector.selected.connect(self._show_selected)
        self._use_panes()

    def _use_panes(self) -> None:
        self.session.change(panes=self.grid.wanted)
        for count, command in (
            (1, CommandId.ONE_PANE),
            (2, CommandId.TWO_PANES),
            (4, CommandId.FOUR_PANES),
        ):
            self.menus.check(command, self.grid.count == count)
        self._show_view()

    def _offer_panes(self) -> None:
        configs = (self.session.settings.config, self.session.settings.other)
        self.grid.offer([detector_class(config.detector) for config in configs if config is not None])

    def _show_selected(self, pixel: tuple[int, int] | None) -> None:
        self.grid.select_pinned_pixel(pixel)
        self._show_view()

    def _remember_source(self, text: str) -> None:
        self._show_checks()
        self.recent.add(text)
        self.menus.fill_recent()

    def _show_checks(self) -> None:
        self._offer_panes()
        self.menus.check(CommandId.COMPARE, self.session.is_comparing)
        for scale, command in (
            (1.0, CommandId.FULL_SIZE),
            (0.5, CommandId.HALF_SIZE),
            (0.25, CommandId.QUARTER_SIZE),
        ):
            self.menus.check(command, self.session.scale == scale)
        freeze = self.menus.actions[CommandId.FREEZE]
        freeze.setChecked(self.session.settings.frozen)
        freeze.setEnabled(self.session.can_freeze)

    def _show_recording(self, on: bool) -> None:
        action = self.menus.actions[CommandId.RECORD]
        action.setChecked(on)
        action.setToolTip("Stop recording" if on else "Record mask and overlay")

    def end(self) -> bool:
        """Close without a question, because the process is told to end."""
        self._is_ending = True
        return self.close()

    def closeEvent(self, a0: QCloseEvent | None) -> None:
        if not (self._is_ending or self.session_files.may_close()):
            if a0 is not None:
                a0.ignore()
            return
        self._is_ending = True
        self.grid.close_popped()
        self.arrangement.show_all()
        self._use_panes()  # in a tab that is not shown there are none
        self.session_files.remember()
        self._state.save(self, self.grid, self.session, self._theme.choice, looks_ahead=self.lookout.is_enabled)
        self.hide()  # at once: finishing files and leaving a silent stream may take seconds
        if self.learners is not None:
            self.learners.close()
            self.learners.finish()
            self.learners.deleteLater()
        self.menus.cameras.finish()
        self.lookout.close()
        self.truth.suggestions.finish()
        self.close_session()
        self.garbage.stop()
        super().closeEvent(a0)
        self.closed.emit()
