"""Boxes of moving objects with ids, live from a camera or from a file; Ctrl-C ends it.

python samples/camera_boxes.py [camera:0 | VIDEO | rtsp://...]
"""

import contextlib
import math
import sys
from pathlib import Path

import cv2

import bgsub

CLIP = Path(__file__).with_name("walkers.mp4")
MIN_AREA_PX, REACH_PX = 100, 30  # smallest object, and its largest step from one frame to the next
PATIENCE, PROBATION = 10, 5  # frames that an object may be hidden, and that it must be seen before it is reported


class Tracker:
    """Gives each box the id of the nearest earlier one. Objects that meet or part may exchange ids."""

    def __init__(self) -> None:
        self._tracks: dict[int, dict] = {}
        self._count = 0

    def update(self, boxes: list[list[int]]) -> dict[int, list[int]]:
        """Return the boxes [x, y, width, height] of the next frame by id, without those seen only briefly."""
        free = dict(self._tracks)
        for box in boxes:
            centre = (box[0] + box[2] / 2, box[1] + box[3] / 2)
            gaps = {one: math.dist(track["centre"], centre) for one, track in free.items()}
            nearest = min(gaps, key=gaps.__getitem__, default=None)
            if nearest is None or gaps[nearest] > REACH_PX:
                nearest = self._count = self._count + 1
            seen = free.pop(nearest, {"seen": 0})["seen"] + 1
            self._tracks[nearest] = {"centre": centre, "box": box, "seen": seen, "missed": 0}
        for one, track in free.items():
            track["missed"] += 1
            if track["missed"] > PATIENCE:
                del self._tracks[one]
        shown = self._tracks.items()
        return {one: track["box"] for one, track in shown if track["missed"] == 0 and track["seen"] >= PROBATION}


def main(source: str) -> None:
    """Print the boxes of each frame that has some."""
    pipeline = bgsub.Pipeline(bgsub.create(), postprocess=bgsub.Postprocess(median=1, min_area=MIN_AREA_PX))
    tracker = Tracker()
    with bgsub.Prefetch(bgsub.open_source(source), depth=1) as packets:  # of a camera, only the newest frame waits
        for packet in packets:
            mask = pipeline.step(packet).mask
            boxes = cv2.connectedComponentsWithStats(mask)[2][1:, :4].tolist()  # row 0 is the background
            tracked = sorted(tracker.update(boxes).items())
            if tracked:
                print(f"{packet.time_s:7.2f} s", *(f"#{one} {w}x{h}+{x}+{y}" for one, (x, y, w, h) in tracked))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main(sys.argv[1] if sys.argv[1:] else str(CLIP))
