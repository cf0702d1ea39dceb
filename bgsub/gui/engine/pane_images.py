"""Images of the panes that are shown, each made once per frame, and slow ones less often."""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass

from bgsub._opencv import cv2
from bgsub.detectors.base import Detector
from bgsub.errors import BgsubError
from bgsub.frames import Frame, Mask, Result
from bgsub.gui.messages import Settings
from bgsub.gui.panes import Needs, Pane, Processed, Side

__all__ = ["LatestFrame", "PaneImages"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LatestFrame:
    """What the images of the latest frame are made from."""

    results: Sequence[Result]
    """Of each detector; empty before the first frame."""
    detectors: Sequence[Detector]
    labels: Mask | None
    """Ground truth, (H, W) uint8, if there is any."""
    is_past: bool = False
    """Whether the detectors have learned more since."""


class PaneImages:
    """Makes and keeps the images of the latest frame."""

    def __init__(self) -> None:
        self.images: dict[Pane, Frame] = {}
        """(H, W, 3) BGR or (H, W) grey uint8, never written to again."""
        self._drawn: tuple[object, ...] = ()
        self._shown: tuple[object, ...] = ()
        """From which they were made; kept, since another object may get the address of one that is gone."""
        self._drawn_s: dict[Pane, float] = {}

    def draw(self, settings: Settings, latest: LatestFrame, *, hurried: bool, now_s: float) -> None:
        """Make the images that are wanted and do not exist yet.

        Parameters
        ----------
        settings : Settings
            Panes to draw, and the overlay style.
        latest : LatestFrame
            The frame.
        hurried : bool
            Whether more frames follow at once: then images of slow panes may be a little old.
        now_s : float
            Time in seconds.
        """
        shown = (*latest.results, latest.labels)
        wanted = (tuple(id(item) for item in shown), settings.panes, settings.overlay_style)
        if wanted == self._drawn:
            return
        self._drawn, self._shown = wanted, shown
        old, self.images = self.images, {}
        for pane in settings.panes:
            image = self._recent(pane, old, now_s) if hurried else None
            if image is None:
                image = self._draw_pane(pane, settings, latest)
                self._drawn_s[pane] = now_s
            if image is not None:
                self.images[pane] = image

    def _recent(self, pane: Pane, old: dict[Pane, Frame], now_s: float) -> Frame | None:
        """Return the earlier image of a slow pane while it is new enough."""
        drawn_s = self._drawn_s.get(pane, -math.inf)
        return old.get(pane) if now_s - drawn_s < pane.interval_s else None

    def _draw_pane(self, pane: Pane, settings: Settings, latest: LatestFrame) -> Frame | None:
        if pane.side >= min(len(latest.results), len(latest.detectors)):
            return None
        if latest.is_past and Needs.MODEL in pane.needs:
            return None
        other = Side.B if pane.side is Side.A else Side.A
        processed = Processed(
            result=latest.results[pane.side],
            detector=latest.detectors[pane.side],
            other=latest.results[other] if other < len(latest.results) else None,
            labels=latest.labels,
            style=settings.overlay_style,
        )
        try:
            return pane.draw(processed)
        except (BgsubError, ValueError, cv2.error):
            logger.debug("no image of pane %s", pane.id, exc_info=True)
            return None
