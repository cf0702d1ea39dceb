"""Play, pause, step, seek, speed and loop: the bar below the panes."""

from PyQt6.QtCore import QSignalBlocker
from PyQt6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QInputDialog,
    QLabel,
    QToolButton,
    QWidget,
)

from bgsub.gui.lookout import Lookout
from bgsub.gui.messages import AS_FAST_AS_POSSIBLE, DEFAULT_RATE_HZ
from bgsub.gui.panels.timeline.seek_slider import SeekSlider, clock
from bgsub.gui.session import Session
from bgsub.gui.widgets.icons import icon
from bgsub.gui.widgets.theme import Theme
from bgsub.video.sources import parse_position

__all__ = ["SPEEDS", "TransportBar"]

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, AS_FAST_AS_POSSIBLE)
"""Speeds to choose from, in times real time."""


def speed_text(speed: float) -> str:
    """Return the label of a speed."""
    return "max" if speed == AS_FAST_AS_POSSIBLE else f"{speed:g}x"


class TransportBar(QWidget):
    """Controls how the source is played, and shows the position in it.

    Parameters
    ----------
    session : Session
        Plays the source.
    lookout : Lookout
        Knows what happens in it.
    theme : Theme
        Colours of the icons.
    """

    def __init__(self, session: Session, lookout: Lookout, theme: Theme) -> None:
        super().__init__()
        self._session, self._theme = session, theme
        lookout.changed.connect(lambda: self.slider.show_happenings(lookout.happenings))
        self.play = self._button("Play or pause (Space)", session.toggle)
        self.back = self._button("One frame back (,)", lambda: session.step(-1))
        self.forward = self._button("One frame forward (.)", lambda: session.step(1))
        self.slider = SeekSlider(theme)
        self.slider.setEnabled(False)
        self.slider.sliderMoved.connect(session.seek)
        self.slider.actionTriggered.connect(self._seek_by_key)
        self.time = QLabel("0:00.0")
        self.time.setToolTip("Time of the frame, and length of the file")
        self.loop = self._button("Begin again at the end (L)", self._loop)
        self.loop.setCheckable(True)
        self.speed = QComboBox()
        self.speed.setToolTip("Speed of a file, in times real time; every frame is processed at any speed")
        for speed in SPEEDS:
            self.speed.addItem(speed_text(speed), speed)
        self.speed.setCurrentIndex(SPEEDS.index(session.settings.speed))
        self.speed.currentIndexChanged.connect(lambda: session.change(speed=self.speed.currentData()))
        self.jump = QComboBox()
        self.jump.setToolTip("Whether to keep or reset the model after a jump in a file")
        self.jump.addItem("keep model", True)
        self.jump.addItem("reset model", False)
        self.jump.currentIndexChanged.connect(lambda: session.change(keep_model=self.jump.currentData()))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(6, 0, 6, 2)
        for widget in (self.back, self.play, self.forward, self.slider, self.time, self.loop, self.speed):
            layout.addWidget(widget, 1 if widget is self.slider else 0)
        layout.addWidget(QLabel("jump:"))
        layout.addWidget(self.jump)
        session.viewed.connect(self._show_view)
        session.opened.connect(self._show_source)
        session.changed.connect(self._show_settings)
        theme.changed.connect(self._paint)
        self._paint()
        self._show_settings()

    def begin_part(self) -> None:
        """Repeat a part that begins with the frame shown."""
        part = self._session.settings.part
        begin_s = self._session.view.time_s
        self._session.set_part(begin_s, part[1] if part is not None and part[1] > begin_s else None)

    def end_part(self) -> None:
        """Repeat a part that ends with the frame shown."""
        part = self._session.settings.part
        self._session.set_part(None if part is None else part[0], self._session.view.time_s)

    def ask_position(self) -> None:
        """Ask for a time or frame number, and go there."""
        text, done = QInputDialog.getText(self, "Go to", "Frame number such as 471, or time such as 15.2s or 1:05:")
        if done and text.strip():
            self._session.attempt(lambda: self.go_to(text.strip()))

    def go_to(self, text: str) -> None:
        """Go to a frame number or a time since the first frame.

        Raises
        ------
        ValueError
            If the text is neither.
        """
        at = parse_position(text, "position")
        if at is not None:
            rate_hz = self.slider.rate_hz
            self._session.seek(round(at.time_s * rate_hz) if at.time_s is not None else max(0, (at.number or 1) - 1))

    def change_speed(self, by: int) -> None:
        """Choose the next faster (1) or slower (-1) speed."""
        self.speed.setCurrentIndex(min(max(self.speed.currentIndex() + by, 0), len(SPEEDS) - 1))

    def _button(self, tip: str, action: object) -> QToolButton:
        button = QToolButton()
        button.setToolTip(tip)
        button.setAutoRaise(True)
        button.clicked.connect(lambda: action())  # type: ignore[operator]
        return button

    def _loop(self) -> None:
        self._session.change(loop=self.loop.isChecked())

    def _seek_by_key(self, _action: int) -> None:
        if not self.slider.isSliderDown():
            self._session.seek(self.slider.sliderPosition())

    def _show_source(self) -> None:
        info = self._session.info
        can_seek = info is not None and not info.live and bool(info.count)
        self.slider.setEnabled(can_seek)
        self.back.setEnabled(can_seek)
        live = info is not None and info.live
        for widget in (self.speed, self.loop, self.jump):
            widget.setEnabled(not live)
        self.slider.rate_hz = (info.rate_hz if info is not None else None) or DEFAULT_RATE_HZ
        self.slider.setRange(0, max((info.count or 1) - 1, 0) if info is not None else 0)
        self._show_view()

    def _show_view(self) -> None:
        view, info = self._session.view, self._session.info
        self.play.setIcon(self._pause_icon if view.playing else self._play_icon)
        self.play.setAccessibleName("Pause" if view.playing else "Play")
        if info is None:
            self.time.setText("0:00.0")
            return
        rate_hz = info.rate_hz or DEFAULT_RATE_HZ
        if not self.slider.isSliderDown():
            with QSignalBlocker(self.slider):
                self.slider.setValue(view.position)
        if info.live:
            self.time.setText("live")
        else:
            length = f" / {clock(info.count / rate_hz)}" if info.count else ""
            self.time.setText(f"{clock(view.time_s)}{length}")
        if not view.playing:  # a screen reader would speak all the time
            self.slider.setAccessibleDescription(f"{self.time.text()}, frame {view.position + 1}")

    def _show_settings(self) -> None:
        settings = self._session.settings
        self.loop.setChecked(settings.loop)
        self.speed.setCurrentIndex(self.speed.findData(settings.speed))
        self.jump.setCurrentIndex(0 if settings.keep_model else 1)
        self.slider.show_part(settings.part)

    def _paint(self) -> None:
        colour = self._theme.colours.text
        self._play_icon, self._pause_icon = icon("play", colour), icon("pause", colour)
        self.play.setIcon(self._pause_icon if self._session.view.playing else self._play_icon)
        self.back.setIcon(icon("back", colour))
        self.forward.setIcon(icon("forward", colour))
        self.loop.setIcon(icon("loop", colour))
