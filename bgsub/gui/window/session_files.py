"""Session files: continue one, continue the last, and the question before tuning is lost."""

from pathlib import Path
from typing import TYPE_CHECKING

from bgsub.gui.messages import Level
from bgsub.gui.widgets.dialogs import Answer, ask_open, ask_to_save
from bgsub.gui.window.file_commands import SESSION_FILES
from bgsub.gui.window.window_state import WindowState
from bgsub.gui.workspace import Workspace, read_workspace

if TYPE_CHECKING:
    from bgsub.gui.window.main_window import MainWindow

__all__ = ["SessionFiles"]

_UNSAVED = (
    "Save them as a session file? Without it, “Continue the last session” in the File menu brings them back until the "
    "viewer is closed again."
)


class SessionFiles:
    """Continues sessions in a window.

    Parameters
    ----------
    window : MainWindow
        Shows them.
    state : WindowState
        Remembers the last one.
    """

    def __init__(self, window: "MainWindow", state: WindowState) -> None:
        self._window, self._state = window, state

    def open(self, path: Path | None = None) -> None:
        """Continue the session of a file, which is asked for if none is given."""
        path = path or ask_open(self._window, "Open session", SESSION_FILES)
        if path is not None:
            self._window.session.attempt(lambda: self._restore(read_workspace(path)))

    def continue_last(self) -> None:
        """Continue where the viewer was closed."""
        self._window.session.attempt(self._continue)

    def may_close(self) -> bool:
        """Ask what becomes of tuning that no file holds; return whether the window may close."""
        if not self._window.session.has_unsaved_tuning:
            return True
        answer = ask_to_save(self._window, "The settings were changed and not saved.", _UNSAVED)
        return self._window.files.save_session() if answer is Answer.SAVE else answer is Answer.DISCARD

    def _continue(self) -> None:
        workspace = self._state.workspace
        if workspace is None:
            text = "There is no session to continue; one is kept when the viewer is closed."
            self._window.session.notify(Level.INFO, text)
        else:
            self._restore(workspace)

    def _restore(self, workspace: Workspace) -> None:
        window = self._window
        window.notices.clear()
        window.opening.name(workspace.source)
        window.session.restore(workspace)
        window.grid.choose(workspace.settings.panes)
