"""Notices at the top of the window, which never interrupt the user."""

from collections import deque

from PyQt6.QtCore import Qt, QTimer, pyqtSignal
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QWidget

from bgsub.gui.messages import Level, Notice
from bgsub.gui.widgets.theme import Theme

__all__ = ["NoticeBar"]

_INFO_MS = 6000
_MAX_WAITING = 20


class NoticeBar(QFrame):
    """Shows one notice at a time; warnings and errors stay until they are closed, in order of arrival.

    Parameters
    ----------
    theme : Theme
        Colours.
    """

    retry = pyqtSignal()
    """The user asks to open the source again."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._waiting: deque[Notice] = deque(maxlen=_MAX_WAITING)
        self._notice: Notice | None = None
        self.label = QLabel()
        self.label.setWordWrap(True)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.again = QPushButton("Try again")
        self.again.setToolTip("Open the source again (F5)")
        self.again.clicked.connect(self._retry)
        self.close_button = QToolButton()
        self.close_button.setText("✕")
        self.close_button.setAutoRaise(True)
        self.close_button.setToolTip("Close this notice (Esc)")
        self.close_button.clicked.connect(self.dismiss)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(10, 6, 6, 6)
        layout.addWidget(self.label, 1)
        layout.addWidget(self.again)
        layout.addWidget(self.close_button)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.dismiss)
        theme.changed.connect(self._paint)
        self.hide()

    @property
    def notice(self) -> Notice | None:
        """The notice shown."""
        return self._notice

    @property
    def waiting(self) -> int:
        """Number of notices that follow."""
        return len(self._waiting)

    def show_notice(self, notice: Notice) -> None:
        """Show a notice: at once if none or only information is shown, else after the one shown is closed."""
        if self._notice is None or self._notice.level is Level.INFO:
            self._set(notice)
        elif notice not in (self._notice, *self._waiting):
            self._waiting.append(notice)
            self._write()

    def dismiss(self) -> None:
        """Close the notice shown; the next one follows."""
        self._timer.stop()
        self._notice = None
        if self._waiting:
            self._set(self._waiting.popleft())
        else:
            self.hide()

    def clear(self) -> None:
        """Close all notices."""
        self._waiting.clear()
        self.dismiss()

    def _set(self, notice: Notice) -> None:
        self._notice = notice
        self._write()
        self.again.setVisible(notice.can_retry)
        self._paint()
        self.show()
        if notice.level is Level.INFO:
            self._timer.start(_INFO_MS)
        else:
            self._timer.stop()

    def _write(self) -> None:
        if self._notice is not None:
            more = f"   ({len(self._waiting)} more)" if self._waiting else ""
            self.label.setText(self._notice.text + more)
            self.setAccessibleName(f"{self._notice.level.value}: {self._notice.text}")  # Qt reports it when it changes

    def _retry(self) -> None:
        self.dismiss()
        self.retry.emit()

    def _paint(self) -> None:
        if self._notice is None:
            return
        colours = self._theme.colours
        background = {Level.INFO: colours.info, Level.WARNING: colours.warning, Level.ERROR: colours.error}
        self.setStyleSheet(
            f"NoticeBar {{ background: {background[self._notice.level]}; border-radius: 4px; }}"
            f"NoticeBar QLabel {{ color: {colours.on_notice}; }}"
        )
