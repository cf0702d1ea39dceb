"""The line at the bottom: state, pixel under the mouse, frame, size, speed, times and dropped frames."""

import math

from PyQt6.QtWidgets import QLabel, QSizePolicy, QStatusBar

from bgsub.detectors.base import LOWEST_SCORE
from bgsub.gui.messages import View
from bgsub.gui.panels.timeline.seek_slider import clock
from bgsub.gui.session import Session
from bgsub.stages import RAW

__all__ = ["StatusBar", "score_text"]

_LEAST_SCORE = -100.0  # below it the digits tell nothing: no colour could be further from the threshold


class StatusBar(QStatusBar):
    """Shows what the viewer is doing, the pixel under the mouse, and numbers of the frame.

    Parameters
    ----------
    session : Session
        Provides the views.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.state, self.pixel = QLabel(), QLabel()
        self.frame, self.size_label, self.speed, self.ms, self.dropped = (QLabel() for _ in range(5))
        self.addWidget(self.state)
        self.addWidget(self.pixel, 1)
        for label in (self.frame, self.size_label, self.speed, self.ms, self.dropped):
            self.addPermanentWidget(label)
        self.pixel.setMinimumWidth(1)  # the numbers need the room
        self.pixel.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.frame.setToolTip("Number of the frame, and its time since the first one")
        self.size_label.setToolTip("Size of the frames in pixels")
        self.speed.setToolTip("Frames processed per second")
        self.ms.setToolTip("Milliseconds per frame of each detector, with post-processing")
        self.dropped.setToolTip("Frames that a camera or stream delivered too fast")
        session.viewed.connect(self._show_view)
        self._hovered = (-1, -1)
        self._show_view()

    def hover(self, row: int, column: int) -> None:
        """Show the pixel under the mouse; -1, -1 for none."""
        self._hovered = (row, column)
        self._show_pixel()

    def _show_view(self) -> None:
        view = self._session.view
        self.state.setText(_state(view, bool(self._session.source)))
        result = view.result
        if result is None:
            for label in (self.frame, self.size_label, self.speed, self.ms, self.dropped):
                label.setText("")
            return
        packet = result.packet
        height, width = result.mask.shape
        self.frame.setText(f"frame {packet.number}   {clock(view.time_s)}")
        self.size_label.setText(f"{width}x{height}")
        self.speed.setText(f"{view.rate_hz:.0f} frames/s")
        self.ms.setText("   ".join(f"{run.name} {run.ms:.1f} ms" for run in view.runs if not math.isnan(run.ms)))
        self.dropped.setText(f"{view.dropped} dropped")
        self._show_pixel()

    def _show_pixel(self) -> None:
        row, column = self._hovered
        result = self._session.view.result
        if row < 0 or result is None or row >= result.mask.shape[0] or column >= result.mask.shape[1]:
            self.pixel.setText("")
            return
        values = result.packet.frame[row, column]
        colour = " ".join(f"{float(value):.4g}" for value in reversed(values)) if values.ndim else f"{values:.4g}"
        region = self._session.view.runs[0].region
        if region is not None and region.shape == result.mask.shape and not region[row, column]:
            self.pixel.setText(f"x {column}, y {row}:  {colour}   outside the region")
            return
        score = "" if result.score is None else f"   {score_text(float(result.score[row, column]))}"
        kind = "foreground" if result.mask[row, column] else "background"
        changes = [] if result.stages is None else result.stages.changes(row, column)
        if changes and changes[-1][0] != RAW:
            stage, added = changes[-1]
            kind += f" ({'added' if added else 'removed'}: {stage.label.lower()})"
        self.pixel.setText(f"x {column}, y {row}:  {colour}   {kind}{score}")


def score_text(score: float) -> str:
    """Return a score in words, without digits that say nothing.

    Examples
    --------
    >>> score_text(-0.254), score_text(-1e5), score_text(-1e6)
    ('score -0.25', 'score below -100', 'no score: no colour is foreground here')
    """
    if math.isnan(score):
        return "no score"
    if score <= LOWEST_SCORE:
        return "no score: no colour is foreground here"
    return f"score below {_LEAST_SCORE:g}" if score < _LEAST_SCORE else f"score {score:.2f}"


def _state(view: View, is_open: bool) -> str:
    """Return the state of the viewer in a word or two."""
    if view.trouble is not None:
        return f"⚠ {view.trouble}"
    if view.opening:
        return "Opening…"
    if view.preparing and view.playing:
        return "Preparing the detector…"
    if not is_open:
        return "Nothing open"
    if not view.runs:
        return "No image"
    state = "Playing" if view.playing else "Paused"
    return state if view.recorded is None else f"{state}, ● recorded {view.recorded} frames"
