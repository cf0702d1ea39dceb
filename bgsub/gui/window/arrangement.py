"""What of the window is seen: its first size, the images alone, the full screen, panes in windows of their own."""

from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize
from PyQt6.QtWidgets import QWidget

from bgsub.gui.panels.docks import PanelId

if TYPE_CHECKING:
    from bgsub.gui.window.main_window import MainWindow

__all__ = ["Arrangement"]

_SIZE, _FRAME = QSize(1360, 860), QSize(8, 36)  # of the first window, and of what a window manager adds
_ROOMY_PX = 800  # height of a screen with room for images and plots


class Arrangement:
    """Arranges the parts of a window.

    Parameters
    ----------
    window : MainWindow
        The window.
    """

    def __init__(self, window: "MainWindow") -> None:
        self._window = window
        self._put_away: list[QWidget] | None = None

    def fit_screen(self) -> None:
        """Begin with a useful size that leaves nothing of the window outside the screen."""
        screen = self._window.screen()
        room = _SIZE if screen is None else screen.availableGeometry().size() - _FRAME
        self._window.resize(_SIZE.boundedTo(room))
        if room.height() < _ROOMY_PX:
            self._window.docks[PanelId.PLOTS].hide()

    def toggle_panels(self) -> None:
        """Show the images alone, or all that was beside them again."""
        if self._put_away is None:
            shown = [dock for dock in self._window.docks.values() if not dock.isHidden() and not dock.isFloating()]
            self._put_away = [*shown, self._window.menus.toolbar]
            for widget in self._put_away:
                widget.hide()
            return
        for widget in self._put_away:
            widget.show()
        self._put_away = None

    def pop_out(self) -> None:
        """Show the pane under the mouse, or the first one, in a window of its own."""
        view = next((view for view in self._window.grid.views if view.underMouse()), self._window.grid.views[0])
        self._window.grid.pop_out(view.pane, list(self._window.menus.actions.values()))

    def toggle_full_screen(self) -> None:
        """Use the full screen, or leave it."""
        window = self._window.window() or self._window
        if window.isFullScreen():
            window.showNormal()
        else:
            window.showFullScreen()

    def show_all(self) -> None:
        """Show what was put away, so that a layout that is saved has all of it."""
        if self._put_away is not None:
            self.toggle_panels()
