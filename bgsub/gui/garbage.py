"""Collect garbage on the thread of the window only."""

import gc

from PyQt6.QtCore import QObject, QTimer

__all__ = ["GuiGarbage"]

_INTERVAL_MS = 1000


class GuiGarbage(QObject):
    """Keeps Python from destroying Qt's objects on another thread.

    Python looks for unreachable cycles on whichever thread happens to allocate. On the worker's that would destroy
    items of a plot while the window paints them, which crashes. So collecting by itself is switched off, and a timer
    does the same, by Python's own thresholds, on the thread of the window. What libraries hold for good, which takes
    a tenth of a second to look through, is left out.

    Parameters
    ----------
    parent : QObject
        Lives as long.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_enabled = gc.isenabled()
        self._settled = False
        gc.disable()
        gc.freeze()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.collect)
        self._timer.start(_INTERVAL_MS)

    def collect(self) -> None:
        """Collect the generations whose thresholds are reached."""
        counts, thresholds = gc.get_count(), gc.get_threshold()
        for generation in (2, 1, 0):
            if counts[generation] > thresholds[generation]:
                gc.collect(generation)
                if generation == 2 and not self._settled:
                    self._settled = True
                    gc.freeze()  # by now all is imported and compiled
                return

    def stop(self) -> None:
        """Let Python collect by itself again."""
        self._timer.stop()
        gc.unfreeze()
        if self._was_enabled:
            gc.enable()
