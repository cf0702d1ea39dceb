"""What the mouse draws on the images: a region, labels, or lines and zones; one at a time."""

from typing import TYPE_CHECKING

from bgsub.gui.panels.docks import PanelId

if TYPE_CHECKING:
    from bgsub.gui.window.main_window import MainWindow

__all__ = ["Drawing"]


class Drawing:
    """Gives the images to the tool that the user has taken.

    Parameters
    ----------
    window : MainWindow
        Has the panels of the tools.
    """

    def __init__(self, window: "MainWindow") -> None:
        self._window = window
        window.roi.editing.connect(self._edit)
        window.roi.redrawn.connect(self.show)
        window.truth.painting.connect(self._paint)
        window.truth.redrawn.connect(window.grid.refresh)
        window.counting.drawing.connect(self._count)

    def toggle_region(self) -> None:
        """Begin or stop drawing a region."""
        self._window.show_panel(PanelId.REGION)
        self._window.roi.toggle_editing()

    def show(self) -> None:
        """Show the tool that is in use, else the region."""
        window = self._window
        if window.truth.is_painting:
            window.grid.set_overlay(window.truth.brush, crosshair=True)
        elif window.counting.is_drawing:
            window.grid.set_overlay(window.counting.collector, crosshair=True)
        else:
            window.roi.editor.is_active = window.roi.is_editing
            shown = window.roi.is_editing or window.session.settings.region is not None
            window.grid.set_overlay(window.roi.editor if shown else None, crosshair=window.roi.is_editing)
        window.grid.refresh()

    def undo(self) -> None:
        """Undo the last stroke of the brush, if it is out; else the last change of the region."""
        if self._window.truth.is_painting:
            self._window.truth.undo()
        else:
            self._window.roi.undo()

    def finish(self) -> None:
        """Close the polygon that is being drawn."""
        if self._window.counting.is_drawing:
            self._window.counting.collector.finish()
        else:
            self._window.roi.finish()

    def cancel(self) -> bool:
        """Put the tool away, or give up the polygon that is being drawn; return whether there was one."""
        window = self._window
        if window.roi.draft.drawing is not None:
            window.roi.draft.cancel()
        elif window.truth.is_painting:
            window.truth.put_away()
        elif window.counting.is_drawing:
            window.counting.put_away()
        else:
            return False
        window.grid.refresh()
        return True

    def _edit(self, on: bool) -> None:
        if on:
            self._window.truth.put_away()
            self._window.counting.put_away()
        self.show()

    def _paint(self, on: bool) -> None:
        if on:
            self._stop_region()
            self._window.counting.put_away()
        self.show()

    def _count(self, on: bool) -> None:
        if on:
            self._stop_region()
            self._window.truth.put_away()
        self.show()

    def _stop_region(self) -> None:
        if self._window.roi.is_editing:
            self._window.roi.toggle_editing()
