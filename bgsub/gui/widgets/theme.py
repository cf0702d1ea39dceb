"""Light and dark: palettes that follow the system, and the colours of curves and marks in each."""

import enum
from dataclasses import dataclass

from PyQt6.QtCore import QObject, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QGuiApplication, QPalette
from PyQt6.QtWidgets import QApplication

__all__ = ["THEME_LABELS", "Colours", "Theme", "ThemeChoice"]


class ThemeChoice(enum.Enum):
    """Theme the user asks for; the values are saved."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


THEME_LABELS = {
    ThemeChoice.SYSTEM: "Like the system",
    ThemeChoice.LIGHT: "Light",
    ThemeChoice.DARK: "Dark",
}


@dataclass(frozen=True, slots=True)
class Colours:
    """Colours of a theme as `#rrggbb`."""

    window: str
    base: str
    """Background of curves and surfaces."""
    field: str
    """Background of input fields."""
    raised: str
    text: str
    faint: str
    line: str
    accent: str
    on_accent: str
    canvas: str
    """Around images."""
    curve_a: str
    curve_b: str
    threshold: str
    info: str
    warning: str
    error: str
    on_notice: str
    activity: str
    """Behind the seek slider."""
    recording: str = "#e5484d"


LIGHT = Colours(
    window="#f4f5f7",
    base="#ffffff",
    field="#ffffff",
    raised="#ffffff",
    text="#1b1f24",
    faint="#5b636c",
    line="#d0d7de",
    accent="#0b69c7",
    on_accent="#ffffff",
    canvas="#e4e7eb",
    curve_a="#0b69c7",
    curve_b="#c2570c",
    threshold="#cf222e",
    info="#ddf0e0",
    warning="#fff0c2",
    error="#ffdcd9",
    on_notice="#1b1f24",
    activity="#9cc3ea",
)
DARK = Colours(
    window="#1e2227",
    base="#16191d",
    field="#2d333b",
    raised="#363d47",
    text="#e6e9ed",
    faint="#98a2ad",
    line="#3a414a",
    accent="#4aa3ff",
    on_accent="#0b1117",
    canvas="#101215",
    curve_a="#4aa3ff",
    curve_b="#ff9d4d",
    threshold="#ff6b6b",
    info="#1f3d2b",
    warning="#4a3c12",
    error="#54201f",
    on_notice="#f0f3f6",
    activity="#2c5c8c",
)


class Theme(QObject):
    """The theme of the whole application.

    Parameters
    ----------
    application : QApplication
        Receives the palette.
    choice : ThemeChoice
        Initial choice.
    """

    changed = pyqtSignal()
    """The colours changed."""

    def __init__(self, application: QApplication, choice: ThemeChoice = ThemeChoice.SYSTEM) -> None:
        super().__init__(application)
        self._application = application
        self._choice = choice
        self._colours = LIGHT
        if not application.styleSheet():  # else a theme before this one set both
            application.setStyle("Fusion")
        hints = QGuiApplication.styleHints()
        if hints is not None:
            hints.colorSchemeChanged.connect(self._follow)
        self._follow()

    @property
    def choice(self) -> ThemeChoice:
        """Theme the user asks for."""
        return self._choice

    @property
    def colours(self) -> Colours:
        """Colours in use."""
        return self._colours

    @property
    def is_dark(self) -> bool:
        """Whether the dark theme is in use."""
        return self._colours is DARK

    def choose(self, choice: ThemeChoice) -> None:
        """Use another theme."""
        self._choice = choice
        self._follow()

    def _follow(self) -> None:
        dark = self._choice is ThemeChoice.DARK
        if self._choice is ThemeChoice.SYSTEM:
            hints = QGuiApplication.styleHints()
            dark = hints is not None and hints.colorScheme() == Qt.ColorScheme.Dark
        self._colours = DARK if dark else LIGHT
        self._application.setPalette(_palette(self._colours))
        sheet = _sheet(self._colours)
        if sheet != self._application.styleSheet():  # which styles all widgets anew, and takes longer than making them
            self._application.setStyleSheet(sheet)
        self.changed.emit()


def _palette(colours: Colours) -> QPalette:
    palette = QPalette()
    role, group = QPalette.ColorRole, QPalette.ColorGroup
    for target, value in {
        role.Window: colours.window,
        role.WindowText: colours.text,
        role.Base: colours.field,
        role.AlternateBase: colours.window,
        role.Text: colours.text,
        role.Button: colours.raised,
        role.ButtonText: colours.text,
        role.BrightText: colours.error,
        role.ToolTipBase: colours.raised,
        role.ToolTipText: colours.text,
        role.PlaceholderText: colours.faint,
        role.Highlight: colours.accent,
        role.HighlightedText: colours.on_accent,
        role.Link: colours.accent,
        role.Mid: colours.line,
        role.Midlight: colours.line,
        role.Dark: colours.line,
        role.Light: colours.raised,
        role.Shadow: colours.line,
    }.items():
        palette.setColor(target, QColor(value))
    for target in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(group.Disabled, target, QColor(colours.faint))
    return palette


def _sheet(colours: Colours) -> str:
    """Return the styles that a palette cannot express."""
    return f"""
    QToolTip {{ color: {colours.text}; background: {colours.raised}; border: 1px solid {colours.line}; padding: 4px; }}
    QDockWidget::title {{ padding: 6px 8px; background: {colours.window}; font-weight: 600; }}
    QTabBar::tab:selected {{ color: {colours.accent}; font-weight: 600; }}
    QToolBar {{ border: 0; spacing: 2px; padding: 3px; }}
    QStatusBar::item {{ border: 0; }}
    QStatusBar QLabel {{ padding: 0 8px; }}
    QLabel[faint="true"] {{ color: {colours.faint}; }}
    QLabel[wrong="true"] {{ color: {colours.threshold}; }}
    QLabel[title="true"] {{ font-weight: 600; }}
    QPushButton:checked {{ background: {colours.accent}; color: {colours.on_accent};
        border: 1px solid {colours.accent}; border-radius: 3px; padding: 4px 10px; }}
    """
