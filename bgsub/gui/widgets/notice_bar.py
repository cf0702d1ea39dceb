"""Messages at the top of the window, which never stand in the way."""

from collections import deque

from PyQt6.QtCore import Qt, QTimer, pyqtSignal
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QWidget

from bgsub.gui.messages import Level, Notice
from bgsub.gui.widgets.theme import Theme

__all__ = ["NoticeBar"]

_INFO_MS = 6000
_WAITING = 20


class NoticeBar(QFrame):
    """Shows one message at a time; errors stay until they are closed, in the order they came.

    Parameters
    ----------
    theme : Theme
        Colours.
    """

    retry = pyqtSignal()
    """The person wants the source opened again."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._waiting: deque[Notice] = deque(maxlen=_WAITING)
        self._notice: Notice | None = None
        self.label = QLabel()
        self.label.setWordWrap(True)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.again = QPushButton("Try again")
        self.again.clicked.connect(self._again)
        self.done = QToolButton()
        self.done.setText("✕")
        self.done.setAutoRaise(True)
        self.done.setToolTip("Close this message (Esc)")
        self.done.clicked.connect(self.dismiss)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(10, 6, 6, 6)
        layout.addWidget(self.label, 1)
        layout.addWidget(self.again)
        layout.addWidget(self.done)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.dismiss)
        theme.changed.connect(self._paint)
        self.hide()

    @property
    def notice(self) -> Notice | None:
        """What is shown."""
        return self._notice

    @property
    def waiting(self) -> int:
        """How many messages follow."""
        return len(self._waiting)

    def show_notice(self, notice: Notice) -> None:
        """Show a message; an error waits until the one shown is closed, news takes the place of older news."""
        if self._notice is None or self._notice.level is Level.INFO:
            self._put(notice)
        elif notice not in (self._notice, *self._waiting):
            self._waiting.append(notice)
            self._write()

    def dismiss(self) -> None:
        """Close the message shown; the next one follows."""
        self._timer.stop()
        self._notice = None
        if self._waiting:
            self._put(self._waiting.popleft())
        else:
            self.hide()

    def clear(self) -> None:
        """Close all messages."""
        self._waiting.clear()
        self.dismiss()

    def _put(self, notice: Notice) -> None:
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

    def _again(self) -> None:
        self.dismiss()
        self.retry.emit()

    def _paint(self) -> None:
        if self._notice is None:
            return
        colours = self._theme.colours
        ground = {Level.INFO: colours.info, Level.WARNING: colours.warning, Level.ERROR: colours.error}
        self.setStyleSheet(
            f"NoticeBar {{ background: {ground[self._notice.level]}; border-radius: 4px; }}"
            f"NoticeBar QLabel {{ color: {colours.on_notice}; }}"
        )
