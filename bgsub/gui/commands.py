"""The commands of the main window: their menus, names and keys."""

from typing import TYPE_CHECKING

from bgsub.gui.actions import Command
from bgsub.gui.messages import Pane
from bgsub.gui.panels.plots import export_statistics
from bgsub.gui.panels.presets import load_preset, save_preset
from bgsub.gui.widgets.open_source import ask_source_address, ask_source_file, ask_source_folder
from bgsub.gui.widgets.theme import ThemeChoice

if TYPE_CHECKING:
    from bgsub.gui.main_window import MainWindow

__all__ = ["main_commands"]


def main_commands(window: "MainWindow") -> list[Command]:
    """Return what the menus of the main window offer, in their order; `-` is a line between."""
    session, grid, transport = window.session, window.grid, window.transport

    def opening(text: str | None) -> None:
        if text is not None:
            window.open(text)

    def toggle_style() -> None:
        style = session.settings.overlay_style
        session.change(overlay_style="tint" if style == "contour" else "contour")

    def whole_screen() -> None:
        if window.isFullScreen():
            window.showNormal()
        else:
            window.showFullScreen()

    def toggle_loop() -> None:
        session.change(loop=not session.settings.loop)

    def show(number: int) -> None:
        panes = (Pane.INPUT, Pane.MASK, Pane.OVERLAY, Pane.BACKGROUND, Pane.SCORE)
        grid.choose((panes[number], *grid.panes[1:]))

    def toggle_freeze() -> None:
        if window.detector.freeze.isEnabled():
            session.change(frozen=not session.settings.frozen)

    def line(menu: str) -> Command:
        return Command(menu, "-", "", lambda: None)

    return [
        Command("File", "Open &file…", "Ctrl+O", lambda: opening(ask_source_file(window))),
        Command("File", "Open &folder…", "Ctrl+Shift+O", lambda: opening(ask_source_folder(window))),
        Command("File", "Open &address…", "Ctrl+L", lambda: opening(ask_source_address(window))),
        Command("File", "&Close source", "Ctrl+W", session.close_source),
        line("File"),
        Command("File", "&Record…", "Ctrl+R", window.record, checkable=True),
        Command("File", "Save &picture…", "Ctrl+P", window.snapshot),
        Command("File", "Save pictures of all panes…", "Ctrl+Shift+P", window.snapshot_all),
        Command("File", "Export s&tatistics…", "Ctrl+E", lambda: export_statistics(session, window)),
        line("File"),
        Command("File", "&Quit", "Ctrl+Q", window.close),
        Command("Play", "&Play or pause", "Space", session.toggle),
        Command("Play", "One frame &on", ".", lambda: session.step(1)),
        Command("Play", "One frame &back", ",", lambda: session.step(-1)),
        Command("Play", "Ten seconds on", "Shift+Right", lambda: _jump(window, 10)),
        Command("Play", "Ten seconds back", "Shift+Left", lambda: _jump(window, -10)),
        Command("Play", "To the beginning", "Home", lambda: session.seek(0)),
        Command("Play", "&Faster", "+", lambda: transport.change_speed(1)),
        Command("Play", "&Slower", "-", lambda: transport.change_speed(-1)),
        Command("Play", "&Loop", "L", toggle_loop),
        Command("Play", "&Try the source again", "F5", session.retry),
        Command("Model", "&Freeze the model", "F", toggle_freeze, checkable=True),
        Command("Model", "&Reset the model", "R", session.reset),
        line("Model"),
        Command("Model", "Load &model…", "Ctrl+M", window.load_model),
        Command("Model", "&Save model…", "Ctrl+Shift+M", window.save_model),
        line("Model"),
        Command("Model", "Load &preset…", "Ctrl+T", lambda: load_preset(session, window)),
        Command("Model", "Save pr&eset…", "Ctrl+S", lambda: save_preset(session, window)),
        Command("Model", "&Copy as command line", "Ctrl+Shift+C", window.detector.copy_command),
        Command("View", "&One pane", "Ctrl+1", lambda: grid.arrange(1), checkable=True),
        Command("View", "&Two panes", "Ctrl+2", lambda: grid.arrange(2), checkable=True),
        Command("View", "Fou&r panes", "Ctrl+4", lambda: grid.arrange(4), checkable=True),
        line("View"),
        Command("View", "First pane: input", "1", lambda: show(0)),
        Command("View", "First pane: mask", "2", lambda: show(1)),
        Command("View", "First pane: overlay", "3", lambda: show(2)),
        Command("View", "First pane: background", "4", lambda: show(3)),
        Command("View", "First pane: score", "5", lambda: show(4)),
        Command("View", "Outlines or &tint", "T", toggle_style),
        Command("View", "Whole &picture", "0", grid.viewport.fit),
        Command("View", "Whole &screen", "F11", whole_screen),
        line("View"),
        *(
            Command(
                "View",
                f"Theme: {choice.value.lower()}",
                "",
                lambda choice=choice: window.choose_theme(choice),  # type: ignore[misc]
                checkable=True,
            )
            for choice in ThemeChoice
        ),
        Command("Tools", "&Compare two detectors", "C", window.compare.enabled.toggle),
        Command("Tools", "&Difference of both", "D", window.compare.difference.click),
        Command("Tools", "&Draw a region", "E", window.toggle_edit),
        Command("Tools", "Undo in the region", "Ctrl+Z", window.roi.undo.click),
        Command("Tools", "Redo in the region", "Ctrl+Shift+Z", window.roi.redo.click),
        Command("Tools", "Remove all &pins", "Shift+P", lambda: session.change(pins=())),
        Command("Tools", "&Learners…", "Ctrl+K", window.show_learners),
        Command("Help", "&Keyboard and mouse", "F1", window.show_keys),
    ]


def _jump(window: "MainWindow", seconds: int) -> None:
    info = window.session.info
    rate_hz = (info.rate_hz if info is not None else None) or 25.0
    window.session.seek(max(0, window.session.view.position + round(seconds * rate_hz)))
