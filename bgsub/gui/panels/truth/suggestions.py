"""Settings suggested from labels: the search, what it found, before and after."""

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QGroupBox, QHBoxLayout, QLabel, QPushButton, QVBoxLayout

from bgsub.detectors import detector_class
from bgsub.evaluation import Counts
from bgsub.gui.engine.tuning.suggest import Problem, Suggester, Suggestion
from bgsub.gui.mailbox import Mailbox
from bgsub.gui.messages import Level
from bgsub.gui.panels.parameters.words import words_of
from bgsub.gui.session import Session

__all__ = ["SuggestionBox", "describe_counts"]

_STEPS = {".median": "median of the mask", ".fill_holes": "fill holes of the mask", ".min_area": "smallest area"}


class SuggestionBox(QGroupBox):
    """Looks for settings that agree better with the labels, in the background, and offers them.

    Parameters
    ----------
    session : Session
        Has the labels, and receives the settings.
    """

    _ready = pyqtSignal()

    def __init__(self, session: Session) -> None:
        super().__init__("Settings from labels")
        self._session = session
        self._threads: list[Suggester] = []
        self._problem: Problem | None = None
        self.suggestion: Suggestion | None = None
        """The best so far."""
        self._mailbox: Mailbox[Suggestion] = Mailbox(self._ready.emit)
        self._ready.connect(self._take)
        self.start = QPushButton("Suggest settings")
        self.start.setToolTip("Try other settings on the frames with labels, in the background")
        self.start.clicked.connect(self.toggle)
        self.use = QPushButton("Use them")
        self.use.setToolTip("Use the suggested settings; Ctrl+Alt+Z returns to the present ones")
        self.use.clicked.connect(self._use)
        self.compare = QPushButton("Compare")
        self.compare.setToolTip("Use the suggested settings, and keep the present ones as the second detector")
        self.compare.clicked.connect(self._compare)
        self.text = QLabel()
        self.text.setWordWrap(True)
        layout = QVBoxLayout(self)
        buttons = QHBoxLayout()
        for button in (self.start, self.use, self.compare):
            buttons.addWidget(button)
        layout.addLayout(buttons)
        layout.addWidget(self.text)
        session.changed.connect(self._show)
        session.opened.connect(self._forget)
        self._show()

    def toggle(self) -> None:
        """Begin to look for settings, or stop."""
        if self._problem is not None:
            self._stop()
            self._show()
            return
        session, settings = self._session, self._session.settings
        info, result = session.info, session.view.result
        if settings.truth is None or not settings.truth.numbers or info is None or info.live or result is None:
            session.notify(Level.INFO, "Suggestions need a file with labels: paint some, or choose their folder.")
            return
        self._problem = Problem(session.source, settings.config, settings.truth, settings.region, result.packet.number)
        self.suggestion = None
        self._threads.append(Suggester(self._problem, session.opener, self._mailbox.put))
        self._show()

    def finish(self) -> None:
        """End all threads."""
        self._stop()
        for thread in self._threads:
            thread.close()

    def _stop(self) -> None:
        self._problem = None
        for thread in self._threads:
            thread.ask_to_end()

    def _forget(self) -> None:
        self._stop()
        self.suggestion = None
        self._show()

    def _take(self) -> None:
        found = self._mailbox.take()
        if found is None or found.problem is not self._problem:
            return
        self.suggestion = found
        if found.is_complete or found.failure:
            self._problem = None
        self._show()

    def _use(self) -> None:
        if self.suggestion is not None:
            self._session.configure(self.suggestion.config, saved=False)

    def _compare(self) -> None:
        if self.suggestion is not None:
            before = self._session.settings.config
            self._session.change(config=self.suggestion.config, other=before)

    def _show(self) -> None:
        found = self.suggestion
        self.start.setText("Stop" if self._problem is not None else "Suggest settings")
        better = found is not None and bool(found.changes) and found.config != self._session.settings.config
        self.use.setEnabled(better)
        self.compare.setEnabled(better)
        if found is None:
            waiting = "Looking for the frames with labels…"
            idle = "Paint on some frames what should be foreground and what should not, then let settings be suggested."
            self.text.setText(idle if self._problem is None else waiting)
        elif found.failure:
            self.text.setText(f"The search failed: {found.failure}")
        else:
            self.text.setText(self._describe(found))

    def _describe(self, found: Suggestion) -> str:
        kind = detector_class(found.config.detector)
        known = {parameter.name: parameter for parameter in kind.PARAMETERS}
        changes = []
        for name, old, new in found.changes:
            label = _STEPS.get(name) or words_of(kind.name, known[name]).label.lower()
            changes.append(f"{label} {_value(old)} → {_value(new)}")
        state = "" if found.is_complete else f"So far, after {found.tried} settings. "
        if not changes:
            tried = f"Nothing better was found among {found.tried} settings on {found.frames} frames."
            return tried if found.is_complete else state
        lines = [
            f"{state}{', '.join(changes)}.",
            f"Before: {describe_counts(found.before)}.",
            f"After: {describe_counts(found.after)}.",
        ]
        return "\n".join(lines)


def describe_counts(counts: Counts) -> str:
    """Return what a mask finds of the labels.

    Examples
    --------
    >>> describe_counts(Counts(tp=9, fn=1, tn=99, fp=1))
    'finds 90.0 % of what should be foreground, and 1.00 % of what should not'
    """
    parts = []
    if counts.tp + counts.fn:
        parts.append(f"{100 * counts.recall:.1f} % of what should be foreground")
    if counts.tn + counts.fp:
        parts.append(f"{100 * counts.fpr:.2f} % of what should not")
    return f"finds {', and '.join(parts)}" if parts else "no labels"


def _value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).lower()
