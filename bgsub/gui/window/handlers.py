"""What each command of the main window calls, by the id of the command."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PyQt6.QtWidgets import QWhatsThis

from bgsub.gui.commands import CommandId, pane_command_id, theme_command_id
from bgsub.gui.help.dialogs import AboutDialog, GuideDialog
from bgsub.gui.panels.docks import PanelId
from bgsub.gui.panes import all_panes
from bgsub.gui.widgets.open_source import ask_source_address, ask_source_file, ask_source_folder
from bgsub.gui.widgets.theme import ThemeChoice
from bgsub.gui.window.menus import HelpDialog

if TYPE_CHECKING:
    from bgsub.gui.window.main_window import MainWindow

__all__ = ["command_handlers"]


def command_handlers(window: "MainWindow") -> dict[str, Callable[[], object]]:
    """Return the function of each command but recording, whose state the window shows."""
    handlers = _source_handlers(window) | _play_handlers(window) | _view_handlers(window) | _tool_handlers(window)
    return handlers | window.files.handlers()


def _source_handlers(window: "MainWindow") -> dict[str, Callable[[], object]]:
    return {
        CommandId.OPEN_FILE: lambda: window.opening.ask(ask_source_file),
        CommandId.OPEN_FOLDER: lambda: window.opening.ask(ask_source_folder),
        CommandId.OPEN_ADDRESS: lambda: window.opening.ask(ask_source_address),
        CommandId.CLOSE_SOURCE: window.session.close_source,
        CommandId.OPEN_SESSION: window.session_files.open,
        CommandId.LAST_SESSION: window.session_files.continue_last,
        CommandId.SAVE_SESSION: window.session_files.save,
        CommandId.OPEN_CAMERAS: window.opening.ask_cameras,
        CommandId.NEW_TAB: lambda: window.tab_asked.emit(""),
        CommandId.CLOSE_TAB: window.close_asked.emit,
        CommandId.NEXT_TAB: lambda: window.turn_asked.emit(1),
        CommandId.PREVIOUS_TAB: lambda: window.turn_asked.emit(-1),
        CommandId.QUIT: lambda: (window.window() or window).close(),
    }


def _play_handlers(window: "MainWindow") -> dict[str, Callable[[], object]]:
    session = window.session
    return {
        CommandId.PLAY_OR_PAUSE: session.toggle,
        CommandId.FRAME_FORWARD: lambda: session.step(1),
        CommandId.FRAME_BACK: lambda: session.step(-1),
        **{
            command: partial(window.skip, seconds)
            for command, seconds in (
                (CommandId.SECOND_FORWARD, 1),
                (CommandId.SECOND_BACK, -1),
                (CommandId.JUMP_FORWARD, 5),
                (CommandId.JUMP_BACK, -5),
                (CommandId.SKIP_FORWARD, 10),
                (CommandId.SKIP_BACK, -10),
            )
        },
        CommandId.NEXT_EVENT: lambda: window.lookout.go_on(1),
        CommandId.PREVIOUS_EVENT: lambda: window.lookout.go_on(-1),
        CommandId.GO_TO: window.transport.ask_position,
        CommandId.PART_BEGIN: window.transport.begin_part,
        CommandId.PART_END: window.transport.end_part,
        CommandId.WHOLE: lambda: session.set_part(None, None),
        CommandId.TO_BEGINNING: lambda: session.seek(0),
        CommandId.FASTER: lambda: window.transport.change_speed(1),
        CommandId.SLOWER: lambda: window.transport.change_speed(-1),
        CommandId.LOOP: lambda: session.change(loop=not session.settings.loop),
        CommandId.RETRY: session.retry,
        CommandId.FULL_SIZE: lambda: window.session.choose_scale(1.0),
        CommandId.HALF_SIZE: lambda: window.session.choose_scale(0.5),
        CommandId.QUARTER_SIZE: lambda: window.session.choose_scale(0.25),
        CommandId.LEARN_FIRST: session.learn_first,
        CommandId.FREEZE: session.toggle_frozen,
        CommandId.RESET: session.reset,
        CommandId.REWIND: lambda: session.rerun(0.0),
        CommandId.RERUN: window.detector.apply_back,
    }


def _view_handlers(window: "MainWindow") -> dict[str, Callable[[], object]]:
    return {
        CommandId.ONE_PANE: lambda: window.grid.arrange(1),
        CommandId.TWO_PANES: lambda: window.grid.arrange(2),
        CommandId.FOUR_PANES: lambda: window.grid.arrange(4),
        CommandId.OVERLAY_STYLE: window.toggle_overlay_style,
        CommandId.ZOOM_IN: lambda: window.grid.focused.zoom(1.5),
        CommandId.ZOOM_OUT: lambda: window.grid.focused.zoom(1 / 1.5),
        CommandId.FIT_IMAGE: window.grid.viewport.fit,
        CommandId.FULL_SCREEN: window.arrangement.toggle_full_screen,
        CommandId.ONLY_IMAGES: window.arrangement.toggle_panels,
        CommandId.POP_OUT: window.arrangement.pop_out,
        **{pane_command_id(pane): partial(window.show_first, pane) for pane in all_panes()},
        **{theme_command_id(choice): partial(window.choose_theme, choice) for choice in ThemeChoice},
    }


def _tool_handlers(window: "MainWindow") -> dict[str, Callable[[], object]]:
    return {
        CommandId.COMPARE: window.toggle_comparison,
        CommandId.DIFFERENCE: window.compare.show_difference,
        CommandId.DRAW_REGION: window.drawing.toggle_region,
        CommandId.UNDO_REGION: window.drawing.undo,
        CommandId.PAINT: lambda: window.show_panel(PanelId.TRUTH),
        CommandId.REDO_REGION: window.roi.redo,
        CommandId.UNPIN_ALL: lambda: window.session.change(pinned_pixels=()),
        CommandId.LEARNERS: window.show_learners,
        CommandId.COPY_COMMAND_LINE: window.detector.copy_command,
        CommandId.UNDO_SETTINGS: window.session.undo_settings,
        CommandId.REDO_SETTINGS: window.session.redo_settings,
        CommandId.LAST_SETTINGS: window.use_last_settings,
        CommandId.KEYS: lambda: window.show_dialog(partial(HelpDialog, window.menus.menus)),
        CommandId.GUIDE: lambda: window.show_dialog(GuideDialog),
        CommandId.ABOUT: lambda: window.show_dialog(AboutDialog),
        CommandId.WHATS_THIS: QWhatsThis.enterWhatsThisMode,
    }
