"""Layout and choices that the viewer remembers from one run to the next, all under stable ids."""

import logging

from PyQt6.QtCore import QByteArray, QSettings
from PyQt6.QtWidgets import QMainWindow, QWidget

from bgsub.config import Config
from bgsub.errors import BgsubError
from bgsub.gui.panes import find_pane
from bgsub.gui.session import Session
from bgsub.gui.widgets.images.pane_grid import PaneGrid
from bgsub.gui.widgets.theme import ThemeChoice
from bgsub.gui.window.saved_tabs import SavedTabs, parse_session, session_text

__all__ = ["WindowState"]

logger = logging.getLogger(__name__)

_LAYOUT_VERSION = 3
"""Of the saved docks; a layout saved with another version is ignored."""


class WindowState:
    """Reads and writes the remembered layout and choices; anything unknown in them falls back to the default.

    Parameters
    ----------
    settings : QSettings
        Where they are kept.
    """

    def __init__(self, settings: QSettings) -> None:
        self._settings = settings

    @property
    def theme(self) -> ThemeChoice:
        """Remembered theme."""
        choice = self._text("window/theme")
        return next((known for known in ThemeChoice if known.value == choice), ThemeChoice.SYSTEM)

    @property
    def config(self) -> Config | None:
        """Settings of the detector when the window was closed, if they were not the defaults."""
        try:
            return Config.from_toml_text(self._text("detector/settings")) if self._text("detector/settings") else None
        except (BgsubError, ValueError, TypeError) as error:
            logger.info("the remembered settings of the detector cannot be used: %s", error)
            return None

    @property
    def looks_ahead(self) -> bool:
        """Whether to look through sources in the background."""
        return self._text("events/ahead") != "false"

    @property
    def has_session(self) -> bool:
        """Whether a session is remembered."""
        return bool(self._text("session/last"))

    @property
    def last_session(self) -> SavedTabs | None:
        """All tabs at the end of the last run, if one had a source.

        Raises
        ------
        ConfigError
            If it cannot be used any more, such as for ground truth that has gone.
        """
        text = self._text("session/last")
        return parse_session(text, "the last session") if text else None

    def remember_session(self, saved: SavedTabs) -> None:
        """Remember all tabs, unless all are empty."""
        if not saved.is_empty:
            self._settings.setValue("session/last", session_text(saved))

    def remember_theme(self, theme: ThemeChoice) -> None:
        """Remember another theme at once: windows that are made later begin with it."""
        self._settings.setValue("window/theme", theme.value)

    def restore_geometry(self, window: QWidget) -> None:
        """Give a window the place on the screen that is remembered."""
        geometry = self._settings.value("window/geometry")
        if isinstance(geometry, QByteArray):
            window.restoreGeometry(geometry)

    def restore(self, window: QMainWindow, grid: PaneGrid, session: Session) -> None:
        """Apply what is remembered of its inside."""
        state = self._settings.value("window/state")
        if isinstance(state, QByteArray):
            window.restoreState(state, _LAYOUT_VERSION)
        known = [find_pane(pane_id) for pane_id in self._text("window/panes").split("|")]
        panes = tuple(pane for pane in known if pane is not None and not pane.needs_comparison)
        if panes:
            grid.choose(panes)
        if self._text("overlay/style") == "tint":
            session.change(overlay_style="tint")
        session.change(loop=self._text("play/loop") == "true", keep_model=self._text("play/reset") != "true")

    def save(
        self, window: QMainWindow, grid: PaneGrid, session: Session, theme: ThemeChoice, *, looks_ahead: bool
    ) -> None:
        """Remember the present layout and choices."""
        settings = session.settings
        for key, value in (
            ("window/geometry", (window.window() or window).saveGeometry()),
            ("window/state", window.saveState(_LAYOUT_VERSION)),
            ("window/panes", "|".join(pane.id for pane in grid.panes)),
            ("window/theme", theme.value),
            ("overlay/style", settings.overlay_style),
            ("detector/settings", settings.config.to_toml() if settings.config != Config() else ""),
            ("events/ahead", str(looks_ahead).lower()),
            ("play/loop", str(settings.loop).lower()),
            ("play/reset", str(not settings.keep_model).lower()),
        ):
            self._settings.setValue(key, value)
        self._settings.sync()

    def _text(self, key: str) -> str:
        return str(self._settings.value(key, ""))
