"""The commands of the main window as data: ids, menus, texts and keys. Menus, tool bar and help are built from it."""

import enum
from dataclasses import dataclass

from bgsub.gui.panes import Pane, first_pane_keys
from bgsub.gui.widgets.theme import THEME_LABELS, ThemeChoice

__all__ = [
    "Command",
    "CommandId",
    "Insert",
    "Menu",
    "all_commands",
    "main_menus",
    "pane_command_id",
    "theme_command_id",
]


class CommandId(enum.StrEnum):
    """Stable names of the fixed commands; panes and themes add others, see `pane_command_id`."""

    OPEN_FILE = "open-file"
    OPEN_FOLDER = "open-folder"
    OPEN_ADDRESS = "open-address"
    CLOSE_SOURCE = "close-source"
    RECORD = "record"
    SAVE_IMAGE = "save-image"
    SAVE_ALL_IMAGES = "save-all-images"
    EXPORT_STATISTICS = "export-statistics"
    OPEN_SESSION = "open-session"
    SAVE_SESSION = "save-session"
    LAST_SESSION = "last-session"
    OPEN_CAMERAS = "open-cameras"
    NEW_TAB = "new-tab"
    CLOSE_TAB = "close-tab"
    NEXT_TAB = "next-tab"
    PREVIOUS_TAB = "previous-tab"
    QUIT = "quit"
    PLAY_OR_PAUSE = "play-or-pause"
    FRAME_FORWARD = "frame-forward"
    FRAME_BACK = "frame-back"
    SKIP_FORWARD = "skip-forward"
    SKIP_BACK = "skip-back"
    TO_BEGINNING = "to-beginning"
    FASTER = "faster"
    SLOWER = "slower"
    LOOP = "loop"
    SECOND_FORWARD = "second-forward"
    SECOND_BACK = "second-back"
    JUMP_FORWARD = "jump-forward"
    JUMP_BACK = "jump-back"
    NEXT_EVENT = "next-event"
    PREVIOUS_EVENT = "previous-event"
    GO_TO = "go-to"
    PART_BEGIN = "part-begin"
    PART_END = "part-end"
    WHOLE = "whole"
    RETRY = "retry"
    REWIND = "rewind"
    RERUN = "rerun"
    FULL_SIZE = "full-size"
    HALF_SIZE = "half-size"
    QUARTER_SIZE = "quarter-size"
    LEARN_FIRST = "learn-first"
    FREEZE = "freeze"
    RESET = "reset"
    LOAD_MODEL = "load-model"
    SAVE_MODEL = "save-model"
    LOAD_PRESET = "load-preset"
    SAVE_PRESET = "save-preset"
    COPY_COMMAND_LINE = "copy-command-line"
    UNDO_SETTINGS = "undo-settings"
    REDO_SETTINGS = "redo-settings"
    LAST_SETTINGS = "last-settings"
    ONE_PANE = "one-pane"
    TWO_PANES = "two-panes"
    FOUR_PANES = "four-panes"
    OVERLAY_STYLE = "overlay-style"
    ZOOM_IN = "zoom-in"
    ZOOM_OUT = "zoom-out"
    FIT_IMAGE = "fit-image"
    FULL_SCREEN = "full-screen"
    ONLY_IMAGES = "only-images"
    POP_OUT = "pop-out"
    COMPARE = "compare"
    DIFFERENCE = "difference"
    DRAW_REGION = "draw-region"
    UNDO_REGION = "undo-region"
    REDO_REGION = "redo-region"
    PAINT = "paint"
    UNPIN_ALL = "unpin-all"
    LEARNERS = "learners"
    KEYS = "keys"
    GUIDE = "guide"
    WHATS_THIS = "whats-this"
    ABOUT = "about"


class Insert(enum.Enum):
    """Entry of a menu that is no command."""

    SEPARATOR = "separator"
    CAMERAS = "cameras"
    """Submenu of the cameras that are connected."""
    RECENT = "recent"
    """Submenu of the sources opened last."""
    PANELS = "panels"
    """An entry per panel, to show or hide it."""


@dataclass(frozen=True, slots=True)
class Command:
    """An entry of a menu, and its key."""

    id: str
    """A `CommandId`, or the id of a command for a pane or theme."""
    text: str
    """Shown in the menu; `&` marks the letter that chooses it."""
    keys: str = ""
    """As `QKeySequence` reads them; empty for none."""
    checkable: bool = False


@dataclass(frozen=True, slots=True)
class Menu:
    """One menu of the menu bar."""

    id: str
    text: str
    entries: tuple[Command | Insert, ...]


def pane_command_id(pane: Pane) -> str:
    """Return the id of the command that lets the first pane show this."""
    return f"first-pane-{pane.id}"


def theme_command_id(choice: ThemeChoice) -> str:
    """Return the id of the command that chooses a theme."""
    return f"theme-{choice.value}"


_FILE = Menu(
    "file",
    "&File",
    (
        Command(CommandId.OPEN_FILE, "Open &file…", "Ctrl+O"),
        Command(CommandId.OPEN_FOLDER, "Open &folder…", "Ctrl+Shift+O"),
        Insert.CAMERAS,
        Command(CommandId.OPEN_ADDRESS, "Open &address…", "Ctrl+L"),
        Command(CommandId.OPEN_CAMERAS, "Open cameras of a &watch…", "Ctrl+Shift+L"),
        Insert.RECENT,
        Command(CommandId.CLOSE_SOURCE, "&Close source", "Ctrl+W"),
        Insert.SEPARATOR,
        Command(CommandId.NEW_TAB, "New ta&b", "Ctrl+N"),
        Command(CommandId.NEXT_TAB, "Next tab", "Ctrl+PgDown"),
        Command(CommandId.PREVIOUS_TAB, "Previous tab", "Ctrl+PgUp"),
        Command(CommandId.CLOSE_TAB, "Close tab", "Ctrl+F4"),
        Insert.SEPARATOR,
        Command(CommandId.LAST_SESSION, "Co&ntinue the last session", "Ctrl+Shift+R"),
        Command(CommandId.OPEN_SESSION, "Open s&ession…", "Ctrl+Shift+E"),
        Command(CommandId.SAVE_SESSION, "Save sess&ion…", "Ctrl+Shift+S"),
        Insert.SEPARATOR,
        Command(CommandId.RECORD, "&Record…", "Ctrl+R", checkable=True),
        Command(CommandId.SAVE_IMAGE, "Save &image…", "Ctrl+P"),
        Command(CommandId.SAVE_ALL_IMAGES, "Save images of all panes…", "Ctrl+Shift+P"),
        Command(CommandId.EXPORT_STATISTICS, "Export s&tatistics…", "Ctrl+E"),
        Insert.SEPARATOR,
        Command(CommandId.QUIT, "&Quit", "Ctrl+Q"),
    ),
)
_PLAY = Menu(
    "play",
    "&Play",
    (
        Command(CommandId.PLAY_OR_PAUSE, "&Play or pause", "Space"),
        Command(CommandId.FRAME_FORWARD, "One frame f&orward", "."),
        Command(CommandId.FRAME_BACK, "One frame &back", ","),
        Command(CommandId.SECOND_FORWARD, "One second forward", "Alt+Right"),
        Command(CommandId.SECOND_BACK, "One second back", "Alt+Left"),
        Command(CommandId.JUMP_FORWARD, "Five seconds forward", "Ctrl+Right"),
        Command(CommandId.JUMP_BACK, "Five seconds back", "Ctrl+Left"),
        Command(CommandId.SKIP_FORWARD, "Ten seconds forward", "Shift+Right"),
        Command(CommandId.SKIP_BACK, "Ten seconds back", "Shift+Left"),
        Command(CommandId.NEXT_EVENT, "&Next event", "N"),
        Command(CommandId.PREVIOUS_EVENT, "Pre&vious event", "Shift+N"),
        Command(CommandId.GO_TO, "&Go to a time or frame…", "Ctrl+G"),
        Command(CommandId.TO_BEGINNING, "Go to the beginning", "Home"),
        Command(CommandId.FASTER, "&Faster", "+"),
        Command(CommandId.SLOWER, "&Slower", "-"),
        Command(CommandId.LOOP, "&Loop", "L"),
        Command(CommandId.PART_BEGIN, "Repeat from h&ere", "["),
        Command(CommandId.PART_END, "Repeat &until here", "]"),
        Command(CommandId.WHOLE, "Repeat no part", "\\"),
        Insert.SEPARATOR,
        Command(CommandId.FULL_SIZE, "Process &whole frames", checkable=True),
        Command(CommandId.HALF_SIZE, "Process frames at &half size", checkable=True),
        Command(CommandId.QUARTER_SIZE, "Process frames at a &quarter of their size", checkable=True),
        Insert.SEPARATOR,
        Command(CommandId.RETRY, "&Try the source again", "F5"),
    ),
)
_MODEL = Menu(
    "model",
    "&Model",
    (
        Command(CommandId.FREEZE, "&Freeze the model", "F", checkable=True),
        Command(CommandId.RESET, "&Reset the model", "R"),
        Command(CommandId.REWIND, "Re&wind the model to this frame", "Backspace"),
        Command(CommandId.RERUN, "&Apply settings to the last seconds", "Shift+Backspace"),
        Command(CommandId.LEARN_FIRST, "Learn a&ll of the source first", "Ctrl+Backspace"),
        Insert.SEPARATOR,
        Command(CommandId.LOAD_MODEL, "Load &model…", "Ctrl+M"),
        Command(CommandId.SAVE_MODEL, "&Save model…", "Ctrl+Shift+M"),
        Insert.SEPARATOR,
        Command(CommandId.UNDO_SETTINGS, "&Undo a change of settings", "Ctrl+Alt+Z"),
        Command(CommandId.REDO_SETTINGS, "R&edo a change of settings", "Ctrl+Alt+Shift+Z"),
        Command(CommandId.LAST_SETTINGS, "Settings of last &time"),
        Command(CommandId.LOAD_PRESET, "Load &preset…", "Ctrl+T"),
        Command(CommandId.SAVE_PRESET, "Save pr&eset…", "Ctrl+S"),
        Command(CommandId.COPY_COMMAND_LINE, "&Copy as command line", "Ctrl+Shift+C"),
    ),
)
_TOOLS = Menu(
    "tools",
    "&Tools",
    (
        Command(CommandId.COMPARE, "&Compare two detectors", "C", checkable=True),
        Command(CommandId.DIFFERENCE, "&Difference of both", "D"),
        Command(CommandId.DRAW_REGION, "Draw a re&gion", "E"),
        Command(CommandId.UNDO_REGION, "Undo in the region or of the brush", "Ctrl+Z"),
        Command(CommandId.REDO_REGION, "Redo in the region", "Ctrl+Shift+Z"),
        Command(CommandId.PAINT, "Paint &labels and suggest settings", "B"),
        Command(CommandId.UNPIN_ALL, "Unpin all &pixels", "Shift+P"),
        Command(CommandId.LEARNERS, "&Learners…", "Ctrl+K"),
    ),
)
_HELP = Menu(
    "help",
    "&Help",
    (
        Command(CommandId.GUIDE, "How to &tune", "Ctrl+F1"),
        Command(CommandId.KEYS, "&Keyboard and mouse", "F1"),
        Command(CommandId.WHATS_THIS, "&What is this?", "Shift+F1"),
        Command(CommandId.ABOUT, "&About bgsub"),
    ),
)


def _view_menu() -> Menu:
    """Return the menu that grows with the registered panes."""
    return Menu(
        "view",
        "&View",
        (
            Command(CommandId.ONE_PANE, "&One pane", "Ctrl+1", checkable=True),
            Command(CommandId.TWO_PANES, "&Two panes", "Ctrl+2", checkable=True),
            Command(CommandId.FOUR_PANES, "Fou&r panes", "Ctrl+4", checkable=True),
            Insert.SEPARATOR,
            *(
                Command(pane_command_id(pane), f"First pane: {pane.label.lower()}", key)
                for key, pane in first_pane_keys()
            ),
            Command(CommandId.OVERLAY_STYLE, "Outlines or t&int", "T"),
            Command(CommandId.ZOOM_IN, "&Larger", "Ctrl++"),
            Command(CommandId.ZOOM_OUT, "S&maller", "Ctrl+-"),
            Command(CommandId.FIT_IMAGE, "&Whole image", "0"),
            Command(CommandId.ONLY_IMAGES, "&Only the images", "F9"),
            Command(CommandId.FULL_SCREEN, "Full &screen", "F11"),
            Command(CommandId.POP_OUT, "This pane in a &window of its own", "Ctrl+Shift+W"),
            Insert.PANELS,
            Insert.SEPARATOR,
            *(
                Command(theme_command_id(choice), f"Theme: {THEME_LABELS[choice].lower()}", checkable=True)
                for choice in ThemeChoice
            ),
        ),
    )


def main_menus() -> tuple[Menu, ...]:
    """Return the menus of the main window, in their order."""
    return _FILE, _PLAY, _MODEL, _view_menu(), _TOOLS, _HELP


def all_commands(menus: tuple[Menu, ...]) -> list[Command]:
    """Return the commands of some menus, in their order."""
    return [entry for menu in menus for entry in menu.entries if isinstance(entry, Command)]
