"""Session files: save all tabs, continue them, continue the last, and the question before tuning is lost."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bgsub.gui.messages import Level
from bgsub.gui.widgets.dialogs import Answer, ask_open, ask_save, ask_to_save
from bgsub.gui.window.saved_tabs import SavedTabs, read_session, write_session
from bgsub.gui.window.window_state import WindowState
from bgsub.gui.workspace import Workspace

if TYPE_CHECKING:
    from bgsub.gui.window.main_window import MainWindow

__all__ = ["SESSION_FILES", "SessionFiles"]

SESSION_FILES = "Sessions (*.session.toml *.toml)"
"""Filter of session files in dialogs."""
_UNSAVED = (
    "Save them as a session file, with all tabs? Without it, “Continue the last session” in the File menu brings them "
    "back until the viewer is closed again."
)
_UNSAVED_LABELS = "Save them as images? A session file names only labels that a folder holds."


class SessionFiles:
    """Saves and continues sessions in a window.

    Parameters
    ----------
    window : MainWindow
        Shows them.
    state : WindowState
        Remembers the last one.
    """

    def __init__(self, window: "MainWindow", state: WindowState) -> None:
        self._window, self._state = window, state

    @property
    def workspace(self) -> Workspace:
        """What is kept of this window, also while another tab is shown and no image is made."""
        workspace = self._window.session.workspace
        return replace(workspace, settings=replace(workspace.settings, panes=self._window.grid.wanted))

    def open(self, path: Path | None = None) -> None:
        """Continue the session of a file, which is asked for if none is given."""
        path = path or ask_open(self._window, "Open session", SESSION_FILES)
        if path is not None:
            self._window.session.attempt(lambda: self._restore(read_session(path)))

    def continue_last(self) -> None:
        """Continue where the viewer was closed."""
        self._window.session.attempt(self._continue)

    def save(self) -> bool:
        """Ask for a name and save all tabs; return whether that was done."""
        window = self._window
        path = ask_save(window, "Save session", f"{window.files.source_stem}.session.toml", SESSION_FILES)
        if path is None or not window.session.attempt(lambda: write_session(window.describe(), path)):
            return False
        window.session.mark_saved()
        window.session_saved.emit()
        window.session.notify(Level.INFO, f"The session was saved as {path.name}.")
        return True

    def remember(self) -> None:
        """Keep the present state as the last session."""
        self._state.remember_session(self._window.describe())

    def may_close(self) -> bool:
        """Ask what becomes of tuning that no file holds; return whether the window may close."""
        if not self._window.session.has_unsaved_tuning:
            return True
        session, truth = self._window.session, self._window.truth
        labels, tuned = session.has_unsaved_labels, session.has_unsaved_settings
        text = "The settings were changed and not saved." if tuned else "Painted labels are not saved."
        also = " Painted labels are saved as images first." if tuned else _UNSAVED_LABELS
        answer = ask_to_save(self._window, text, (_UNSAVED if tuned else "") + (also if labels else ""))
        if answer is not Answer.SAVE:
            return answer is Answer.DISCARD
        return (not labels or truth.ask_and_save()) and (not tuned or self.save())

    def restore(self, workspace: Workspace) -> None:
        """Continue one source in this window."""
        window = self._window
        window.notices.clear()
        window.opening.name(workspace.source)
        window.session.restore(workspace)
        window.grid.choose(workspace.settings.panes)

    def _continue(self) -> None:
        saved = self._state.last_session
        if saved is None:
            text = "There is no session to continue; one is kept when the viewer is closed."
            self._window.session.notify(Level.INFO, text)
        else:
            self._restore(saved)

    def _restore(self, saved: SavedTabs) -> None:
        first = saved.tabs[0]
        if len(saved.tabs) == 1 and isinstance(first, Workspace):
            self.restore(first)
        else:
            self._window.session_asked.emit(saved)
