"""The window: puts panes, panels and menus together around a session."""

from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QByteArray, QSettings, Qt
from PyQt6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent
from PyQt6.QtWidgets import QDockWidget, QMainWindow, QTabWidget, QVBoxLayout, QWidget

from bgsub.gui.actions import HelpDialog
from bgsub.gui.garbage import GuiGarbage
from bgsub.gui.menus import Menus
from bgsub.gui.messages import Level, Pane
from bgsub.gui.panels.compare import ComparePanel
from bgsub.gui.panels.detector import DetectorPanel
from bgsub.gui.panels.inspector import InspectorPanel
from bgsub.gui.panels.plots import PlotsPanel
from bgsub.gui.panels.roi import RoiPanel
from bgsub.gui.panels.status_bar import StatusLine
from bgsub.gui.panels.transport import Transport
from bgsub.gui.session import Session
from bgsub.gui.widgets.dialogs import ask_folder, ask_open, ask_save, remember_in
from bgsub.gui.widgets.notice_bar import NoticeBar
from bgsub.gui.widgets.open_source import RecentSources, dropped_source
from bgsub.gui.widgets.pane_grid import PaneGrid
from bgsub.gui.widgets.record_dialog import RecordDialog
from bgsub.gui.widgets.theme import Theme, ThemeChoice
from bgsub.video.sources import public_name

if TYPE_CHECKING:
    from bgsub.gui.learners_page.window import LearnersWindow

__all__ = ["MainWindow"]

_LAYOUT_VERSION = 1
_TABS_ON_TOP = QTabWidget.TabPosition.North
_SNAPSHOTS = "PNG (*.png)"


class MainWindow(QMainWindow):
    """The viewer's window.

    Parameters
    ----------
    session : Session
        What it shows; closed with the window.
    theme : Theme
        Colours.
    settings : QSettings
        Where layout and choices are remembered.
    """

    def __init__(self, session: Session, theme: Theme, settings: QSettings) -> None:
        super().__init__()
        self.session, self._theme, self._remembered = session, theme, settings
        self._garbage = GuiGarbage(self)
        remember_in(settings)
        self.setWindowTitle("bgsub")
        self.setObjectName("bgsub")
        self.setAcceptDrops(True)
        self.recent = RecentSources(settings)
        self.notices = NoticeBar(theme)
        self.grid = PaneGrid(theme)
        self.transport = Transport(session, theme)
        self.status = StatusLine(session)
        self.detector = DetectorPanel(session)
        self.compare = ComparePanel(session)
        self.inspector = InspectorPanel(session, theme)
        self.roi = RoiPanel(session)
        self.plots = PlotsPanel(session, theme)
        self.learners: LearnersWindow | None = None
        self.docks = self._make_docks()
        self._lay_out()
        self.menus = Menus(self, theme)
        self._connect()
        self.resize(1360, 860)
        self._restore()
        self._show_view()

    # Opening

    def open(self, text: str) -> None:
        """Open a source."""
        self.notices.clear()
        self.recent.add(text)
        self.setWindowTitle(f"{_shown_name(text)} - bgsub")
        self.session.open(text)

    def dragEnterEvent(self, a0: QDragEnterEvent | None) -> None:
        mime = None if a0 is None else a0.mimeData()
        if a0 is not None and mime is not None and mime.hasUrls() and dropped_source(mime.urls()):
            a0.acceptProposedAction()

    def dropEvent(self, a0: QDropEvent | None) -> None:
        mime = None if a0 is None else a0.mimeData()
        text = dropped_source(mime.urls()) if mime is not None else None
        if text is not None:
            self.open(text)

    # Files

    def snapshot(self) -> None:
        """Save the picture of the first pane, or the one under the mouse."""
        view = next((view for view in self.grid.views if view.underMouse()), self.grid.views[0])
        image = view.image
        if image is None:
            self.session.notify(Level.WARNING, "There is no picture to save yet; open a source first.")
            return
        path = ask_save(self, f"Save {view.pane.value.lower()}", f"{self._stem()}.png", _SNAPSHOTS)
        if path is not None:
            self.session.save_image(path, image)

    def snapshot_all(self) -> None:
        """Save the pictures of all panes."""
        folder = ask_folder(self, "Folder for the pictures of all panes")
        if folder is not None:
            self.session.save_panes(folder, self._stem())

    def record(self) -> None:
        """Begin to record, or end it."""
        if self.session.is_recording:
            self.session.stop_recording()
            return
        folder = self._remembered.value("folders/last", "") or str(Path.cwd())
        dialog = RecordDialog(self, Path(str(folder)), self._stem())
        if dialog.exec():
            self.session.record(dialog.outputs)
        dialog.deleteLater()

    def load_model(self) -> None:
        """Ask for a model and go on with it."""
        path = ask_open(self, "Load model", "Models (*.npz)")
        if path is not None:
            self.session.load_model(path)

    def save_model(self) -> None:
        """Ask for a name and save the model."""
        path = ask_save(self, "Save model", "model.npz", "Models (*.npz)")
        if path is not None:
            self.session.save_model(path)

    def _stem(self) -> str:
        name = Path(_shown_name(self.session.source)).stem or "bgsub"
        number = "" if self.session.view.result is None else f"-{self.session.view.result.packet.number:06d}"
        return f"{name}{number}".replace(":", "-").replace("?", "-").replace("/", "-")

    # View

    def show_dock(self, name: str) -> None:
        """Bring a panel to the front."""
        dock = self.docks[name]
        dock.show()
        dock.raise_()

    def show_learners(self) -> None:
        """Show the page of the learners."""
        if self.learners is None:
            self.session.attempt(self._make_learners)
        if self.learners is not None:  # else the bar says what is missing
            self.learners.show()
            self.learners.raise_()

    def _make_learners(self) -> None:
        from bgsub.gui.learners_page.window import LearnersWindow  # needs scikit-learn, which the rest does not

        self.learners = LearnersWindow(self._theme)

    def show_keys(self) -> None:
        """Show what the keys do."""
        dialog = HelpDialog(self.menus.commands, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.show()

    def choose_theme(self, choice: ThemeChoice) -> None:
        """Take another theme."""
        self._theme.choose(choice)
        for other in ThemeChoice:
            self.menus.check(f"Theme: {other.value.lower()}", other is choice)

    def click(self, row: int, column: int) -> None:
        """Look into a pixel."""
        self.session.pin(row, column)
        self.inspector.select(row, column)
        self.show_dock("Inspector")

    def toggle_edit(self) -> None:
        """Begin or stop to draw a region."""
        self.show_dock("Region")
        self.roi.edit.toggle()

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        if a0 is not None and a0.key() == Qt.Key.Key_Escape:
            if self.roi.draft.drawing is not None:
                self.roi.draft.cancel()
                self.grid.refresh()
            else:
                self.notices.dismiss()
        elif a0 is not None and a0.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.roi.finish()
        else:
            super().keyPressEvent(a0)

    def _edit(self, on: bool) -> None:
        self.roi.editor.is_active = on
        shown = on or self.session.settings.region is not None
        self.grid.set_overlay(self.roi.editor if shown else None, crosshair=on)

    def _take_region(self) -> None:
        self._edit(self.roi.edit.isChecked())
        self.grid.refresh()

    def _show_view(self) -> None:
        self.grid.show_view(self.session.view, self._hint())

    def _hint(self) -> str:
        view = self.session.view
        if view.opening:
            return "Opening…"
        if view.preparing:
            return "Preparing the detector…"
        if self.session.source and view.serial:
            return "" if view.lanes else "Nothing to show. F5 tries again."
        return "Drop a video here, or open one: Ctrl+O a file, Ctrl+Shift+O a folder, Ctrl+L an address."

    # Making

    def _make_docks(self) -> dict[str, QDockWidget]:
        right, bottom = Qt.DockWidgetArea.RightDockWidgetArea, Qt.DockWidgetArea.BottomDockWidgetArea
        made: dict[str, QDockWidget] = {}
        for name, panel, area in (
            ("Detector", self.detector, right),
            ("Compare", self.compare, right),
            ("Inspector", self.inspector, right),
            ("Region", self.roi, right),
            ("Plots", self.plots, bottom),
        ):
            dock = QDockWidget(name, self)
            dock.setObjectName(name)
            dock.setWidget(panel)
            self.addDockWidget(area, dock)
            made[name] = dock
        for name in ("Compare", "Inspector", "Region"):
            self.tabifyDockWidget(made["Detector"], made[name])
        made["Detector"].raise_()
        self.resizeDocks([made["Plots"]], [190], Qt.Orientation.Vertical)
        self.resizeDocks([made["Detector"]], [360], Qt.Orientation.Horizontal)
        return made

    def _lay_out(self) -> None:
        centre = QWidget()
        layout = QVBoxLayout(centre)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self.notices)
        layout.addWidget(self.grid, 1)
        layout.addWidget(self.transport)
        self.setCentralWidget(centre)
        self.setStatusBar(self.status)
        self.setDockNestingEnabled(True)
        self.setTabPosition(Qt.DockWidgetArea.RightDockWidgetArea, _TABS_ON_TOP)

    def _connect(self) -> None:
        session = self.session
        session.viewed.connect(self._show_view)
        session.noticed.connect(self.notices.show_notice)
        session.noticed.connect(self._show_view)
        session.opened.connect(self.menus.fill_recent)
        session.changed.connect(self._changed)
        session.recording.connect(self._recording)
        self.notices.retry.connect(session.retry)
        self.grid.panes_changed.connect(self._panes)
        self.grid.clicked.connect(self.click)
        self.grid.hovered.connect(self.status.hover)
        self.compare.panes_wanted.connect(self.grid.choose)
        self.inspector.selected.connect(self._selected)
        self.roi.editing.connect(self._edit)
        self.roi.redrawn.connect(self._take_region)
        self._panes()

    def _panes(self) -> None:
        self.session.change(panes=tuple(dict.fromkeys(self.grid.panes)))
        for count, name in ((1, "One pane"), (2, "Two panes"), (4, "Four panes")):
            self.menus.check(name, self.grid.count == count)
        self._show_view()

    def _selected(self, pin: tuple[int, int] | None) -> None:
        self.grid.select_pin(pin)
        self._show_view()

    def _changed(self) -> None:
        freeze = self.menus.actions["Freeze the model"]
        freeze.setChecked(self.session.settings.frozen)
        freeze.setEnabled(self.detector.freeze.isEnabled())

    def _recording(self, on: bool) -> None:
        action = self.menus.actions["Record"]
        action.setChecked(on)
        action.setToolTip("Stop recording" if on else "Record mask and overlay")

    # What is remembered

    def _restore(self) -> None:
        kept = self._remembered
        geometry, state = kept.value("window/geometry"), kept.value("window/state")
        if isinstance(geometry, QByteArray):
            self.restoreGeometry(geometry)
        if isinstance(state, QByteArray):
            self.restoreState(state, _LAYOUT_VERSION)
        names = str(kept.value("window/panes", "")).split("|")
        panes = tuple(pane for name in names for pane in Pane if pane.value == name and not pane.of_b)
        if panes:
            self.grid.choose(panes)
        if str(kept.value("overlay/style", "contour")) == "tint":
            self.session.change(overlay_style="tint")
        self.session.change(
            loop=str(kept.value("play/loop", "")) == "true", keep_model=str(kept.value("play/reset", "")) != "true"
        )
        choice = str(kept.value("window/theme", ThemeChoice.SYSTEM.name))
        self.choose_theme(ThemeChoice[choice] if choice in ThemeChoice.__members__ else ThemeChoice.SYSTEM)
        self._recording(False)

    def _remember(self) -> None:
        kept = self._remembered
        kept.setValue("window/geometry", self.saveGeometry())
        kept.setValue("window/state", self.saveState(_LAYOUT_VERSION))
        kept.setValue("window/panes", "|".join(pane.value for pane in self.grid.panes))
        kept.setValue("window/theme", self._theme.choice.name)
        settings = self.session.settings
        kept.setValue("overlay/style", settings.overlay_style)
        kept.setValue("play/loop", str(settings.loop).lower())
        kept.setValue("play/reset", str(not settings.keep_model).lower())
        kept.sync()

    def closeEvent(self, a0: QCloseEvent | None) -> None:
        self._remember()
        self.hide()  # at once: finishing files and leaving a silent stream may take seconds
        if self.learners is not None:
            self.learners.close()
            self.learners.finish()
            self.learners.deleteLater()
        self.menus.cameras.finish()
        self.session.close()
        self._garbage.stop()
        super().closeEvent(a0)


def _shown_name(text: str) -> str:
    """Return a source's name without folder and without secrets."""
    return public_name(text) if "://" in text else Path(text).name or text
