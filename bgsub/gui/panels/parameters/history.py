"""The settings that a detector has had, as a menu that returns to each of them."""

from PyQt6.QtWidgets import QMenu, QWidget

from bgsub.config import Config
from bgsub.detectors import detector_class
from bgsub.gui.engine.tuning.candidates import differences
from bgsub.gui.panels.parameters.words import words_of
from bgsub.gui.session import Session

__all__ = ["SettingsHistory", "describe_change"]


class SettingsHistory(QMenu):
    """Lists the changes of the detector's settings, the newest first, and returns to what one of them made.

    Parameters
    ----------
    session : Session
        Knows the settings.
    parent : QWidget
        The panel.
    """

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self.aboutToShow.connect(self.fill)

    def fill(self) -> None:
        """List the changes, with a mark at the present settings."""
        self.clear()
        configs, present = self._session.settings_history
        texts = ["Settings at the beginning", *map(describe_change, configs, configs[1:])]
        for index in reversed(range(len(configs))):
            action = self.addAction(texts[index])
            if action is not None:
                action.setCheckable(True)
                action.setChecked(index == present)
                action.triggered.connect(lambda _, steps=index - present: self._go(steps))

    def _go(self, steps: int) -> None:
        for _ in range(abs(steps)):
            if steps < 0:
                self._session.undo_settings()
            else:
                self._session.redo_settings()


def describe_change(before: Config, after: Config) -> str:
    """Return what differs between two settings, in the words of the form.

    Examples
    --------
    >>> describe_change(Config("adaptive"), Config("adaptive", {"threshold": 0.3}))
    'Sensitivity 0.18 → 0.3'
    >>> describe_change(Config("adaptive"), Config("mog2"))
    'mog2'
    """
    if before.detector != after.detector:
        return after.detector
    kind = detector_class(after.detector)
    labels = {parameter.name: words_of(kind.name, parameter).label for parameter in kind.PARAMETERS}
    parts = [
        f"{labels.get(name, name.lstrip('.').replace('_', ' '))} {old} → {new}"
        for name, old, new in differences(before, after)
    ]
    if before.learning_rate != after.learning_rate:
        rates = ("automatic" if rate < 0 else f"{rate:g}" for rate in (before.learning_rate, after.learning_rate))
        parts.append("learning rate " + " → ".join(rates))
    return ", ".join(parts) or "other settings"
