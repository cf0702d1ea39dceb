"""Pinned pixels: model state in the latest frame, and history."""

from dataclasses import replace

from bgsub.detectors.pixel_state import PixelState
from bgsub.frames import Frame, Result
from bgsub.gui.engine.history import PIXEL_COLUMNS, History
from bgsub.gui.engine.processing.detector_run import DetectorRun
from bgsub.gui.messages import PinnedPixelView

__all__ = ["PinnedPixels"]

_CAPACITY = 3_000
_WIDE = 1.4  # times the detector's own width

PAST_REASON = (
    "This is an earlier frame, as it was detected; the model has learned more since. Rewind the model to this frame "
    "(Backspace) to see why."
)

Inspection = tuple[PixelState | None, str]
"""State of a pixel, or None and the reason why there is none."""


class PinnedPixels:
    """Inspects the pinned pixels in each frame and keeps their statistics."""

    def __init__(self) -> None:
        self.views: tuple[PinnedPixelView, ...] = ()
        """Latest state of each, in the order they were pinned."""
        self.histories: dict[tuple[int, int], History] = {}
        """Statistics by (row, column); may be read from any thread."""
        self._pixels: tuple[tuple[int, int], ...] = ()
        self._head_views: tuple[PinnedPixelView, ...] = ()

    def pin(self, pixels: tuple[tuple[int, int], ...], run: DetectorRun, result: Result | None) -> None:
        """Pin exactly these (row, column) pixels; new ones are inspected at once if there is a frame."""
        self._pixels = pixels
        self.histories = {pixel: self.histories.get(pixel) or History(PIXEL_COLUMNS, _CAPACITY) for pixel in pixels}
        if result is None:
            return
        known = {(view.row, view.column): view for view in self.views}
        self.views = tuple(
            known.get(pixel) or _view(pixel, run.inspect(result.packet.frame, *pixel), result, before_learning=False)
            for pixel in pixels
        )

    def inspect(self, run: DetectorRun, frame: Frame) -> list[Inspection]:
        """Inspect all pinned pixels before the detector learns the frame: this state judges it."""
        return [run.inspect(frame, *pixel) for pixel in self._pixels]

    def record(self, inspections: list[Inspection], run: DetectorRun, result: Result, elapsed_s: float) -> None:
        """Keep the states from `inspect`, with the final mask at these pixels."""
        views = []
        for pixel, inspection in zip(self._pixels, inspections, strict=True):
            view = _view(pixel, inspection, result, before_learning=True)
            if view.state is not None and not view.foreground:
                view = replace(view, removed_by=run.reason_to_remove(*pixel))
            view = replace(view, flickers=_is_wide(view, run))
            if result.stages is not None and _is_inside(pixel, result):
                view = replace(view, steps=tuple(result.stages.changes(*pixel)))
            views.append(view)
            if view.state is not None:
                state = view.state
                self.histories[pixel].append(
                    elapsed_s, state.value, state.threshold, state.width, float(view.foreground)
                )
        self.views = self._head_views = tuple(views)

    def show_past(self, result: Result) -> None:
        """Show the mask of an earlier frame at the pixels; the states of the models are not kept."""
        self.views = tuple(_view(pixel, (None, PAST_REASON), result, before_learning=True) for pixel in self._pixels)

    def show_head(self) -> None:
        """Show the newest states again."""
        known = {(view.row, view.column): view for view in self._head_views}
        self.views = tuple(known[pixel] for pixel in self._pixels if pixel in known)

    def clear(self) -> None:
        """Forget earlier frames; the pixels stay pinned."""
        self.views = self._head_views = ()
        for history in self.histories.values():
            history.clear()


def _view(pixel: tuple[int, int], inspection: Inspection, result: Result, *, before_learning: bool) -> PinnedPixelView:
    row, column = pixel
    foreground = _is_inside(pixel, result) and bool(result.mask[row, column])
    return PinnedPixelView(row, column, *inspection, foreground, before_learning)


def _is_wide(view: PinnedPixelView, run: DetectorRun) -> bool:
    """Return whether the kernel at a pixel is much wider than the detector's own width."""
    usual = run.detector.parameters.get("width")
    if view.state is None or not isinstance(usual, int | float):
        return False
    return bool(view.state.width > _WIDE * usual)


def _is_inside(pixel: tuple[int, int], result: Result) -> bool:
    return bool(pixel[0] < result.mask.shape[0] and pixel[1] < result.mask.shape[1])
