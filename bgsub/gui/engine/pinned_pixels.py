"""Pixels that are looked into: what judged each of them in the newest frame, and figures of the frames before."""

from bgsub.detectors.pixel_state import PixelState
from bgsub.frames import Frame, Result
from bgsub.gui.engine.detector_run import Lane
from bgsub.gui.engine.history import PIN_COLUMNS, History
from bgsub.gui.messages import PinView

__all__ = ["Pins"]

_KEPT = 3_000

Look = tuple[PixelState | None, str]


class Pins:
    """The pinned pixels."""

    def __init__(self) -> None:
        self.views: tuple[PinView, ...] = ()
        """What is known of each, in the order they were pinned."""
        self.histories: dict[tuple[int, int], History] = {}
        """Figures by row and column; may be read from any thread."""
        self._places: tuple[tuple[int, int], ...] = ()

    def place(self, places: tuple[tuple[int, int], ...], lane: Lane, result: Result | None) -> None:
        """Look into these pixels from now on; into new ones at once where there is a frame."""
        self._places = places
        self.histories = {place: self.histories.get(place) or History(PIN_COLUMNS, _KEPT) for place in places}
        if result is None:
            return
        known = {(view.row, view.column): view for view in self.views}
        self.views = tuple(
            known.get(place) or _view(place, lane.inspect(result.packet.frame, *place), result, before_learning=False)
            for place in places
        )

    def look(self, lane: Lane, frame: Frame) -> list[Look]:
        """Look into all pixels before a frame is learned: this is what judges it."""
        return [lane.inspect(frame, *place) for place in self._places]

    def note(self, looked: list[Look], result: Result, elapsed_s: float) -> None:
        """Keep what was seen, with what became of it in the final mask."""
        views = []
        for place, look in zip(self._places, looked, strict=True):
            view = _view(place, look, result, before_learning=True)
            views.append(view)
            if view.state is not None:
                state = view.state
                self.histories[place].append(
                    elapsed_s, state.value, state.threshold, state.width, float(view.foreground)
                )
        self.views = tuple(views)

    def clear(self) -> None:
        """Forget the frames before; the pixels stay pinned."""
        self.views = ()
        for history in self.histories.values():
            history.clear()


def _view(place: tuple[int, int], look: Look, result: Result, *, before_learning: bool) -> PinView:
    row, column = place
    inside = row < result.mask.shape[0] and column < result.mask.shape[1]
    foreground = bool(inside and result.mask[row, column])
    return PinView(row, column, *look, foreground, before_learning)
