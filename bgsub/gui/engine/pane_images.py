"""The pictures of the panes that are shown, each made once, and slow ones not more often than they change."""

import logging
import math
from collections.abc import Sequence

from bgsub._opencv import cv2
from bgsub.detectors.base import Detector
from bgsub.errors import BgsubError
from bgsub.frames import Frame, Mask, Result
from bgsub.gui.engine.render import render_difference, render_result
from bgsub.gui.messages import Pane, Settings

__all__ = ["Pictures"]

logger = logging.getLogger(__name__)

_BACKGROUND_INTERVAL_S = 0.2  # it changes slowly and takes longer to draw than a mask


class Pictures:
    """What is drawn of the newest frame."""

    def __init__(self) -> None:
        self.images: dict[Pane, Frame] = {}
        """(H, W, 3) BGR or (H, W) grey uint8, never written to again."""
        self._drawn: tuple[object, ...] = ()
        self._background_s = {Pane.BACKGROUND: -math.inf, Pane.BACKGROUND_B: -math.inf}

    def draw(
        self,
        settings: Settings,
        results: Sequence[Result],
        detectors: Sequence[Detector],
        labels: Mask | None,
        *,
        hurried: bool,
        now_s: float,
    ) -> None:
        """Make the pictures that are wanted and not there yet.

        Parameters
        ----------
        settings : Settings
            Says which, and how.
        results : sequence of Result
            Of each detector, on the newest frame.
        detectors : sequence of Detector
            Tell their background.
        labels : (H, W) uint8 array, optional
            Ground truth of the frame.
        hurried : bool
            Whether more frames follow at once: then a background may be a little old.
        now_s : float
            Time in seconds.
        """
        wanted = (tuple(id(result) for result in results), settings.panes, settings.overlay_style)
        if wanted == self._drawn:
            return
        self._drawn = wanted
        old, self.images = self.images, {}
        for pane in settings.panes:
            place = 1 if pane.of_b else 0
            if place >= min(len(results), len(detectors)):
                continue
            try:
                image: Frame | None
                if pane is Pane.TRUTH:
                    image = labels
                elif pane is Pane.DIFFERENCE:
                    image = render_difference(results[0].mask, results[1].mask)
                elif pane in self._background_s:
                    image = self._background(pane, detectors[place], old.get(pane) if hurried else None, now_s)
                else:
                    image = render_result(pane, results[place], settings.overlay_style)
            except (BgsubError, ValueError, cv2.error):
                logger.debug("no picture of %s", pane.value, exc_info=True)
                continue
            if image is not None:
                self.images[pane] = image

    def _background(self, pane: Pane, detector: Detector, old: Frame | None, now_s: float) -> Frame:
        if old is not None and now_s - self._background_s[pane] < _BACKGROUND_INTERVAL_S:
            return old
        self._background_s[pane] = now_s
        return detector.background_image()
