"""Boxes of moving objects with ids, live from a camera or from a file; Ctrl-C ends it.

python samples/camera_boxes.py [camera:0 | VIDEO | rtsp://...]
"""

import contextlib
import itertools
import math
import sys
from pathlib import Path

import cv2

import bgsub

CLIP = Path(__file__).with_name("walkers.mp4")
MIN_AREA_PX, REACH_PX, PATIENCE = 100, 30, 10  # smallest object, longest step, and frames that it may be hidden


class Tracker:
    """Gives each box the id of the nearest earlier one. Objects that meet or part may exchange ids."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)
        self._seen: dict[int, tuple[int, float, float]] = {}  # frame and centre where each id was seen last

    def update(self, frame: int, boxes: list[list[int]]) -> dict[int, list[int]]:
        """Return the boxes [x, y, width, height] of a frame by id."""
        free = {one: centre for one, (last, *centre) in self._seen.items() if frame - last <= PATIENCE}
        found = {}
        for x, y, width, height in boxes:
            centre = (x + width / 2, y + height / 2)
            near = [(gap, one) for one, place in free.items() if (gap := math.dist(place, centre)) <= REACH_PX]
            one = min(near)[1] if near else next(self._ids)
            free.pop(one, None)
            found[one], self._seen[one] = [x, y, width, height], (frame, *centre)
        return found


if __name__ == "__main__":
    pipeline = bgsub.Pipeline(bgsub.create(), postprocess=bgsub.Postprocess(median=1, min_area=MIN_AREA_PX))
    tracker = Tracker()
    source = bgsub.open_source(sys.argv[1] if sys.argv[1:] else CLIP)
    with contextlib.suppress(KeyboardInterrupt), bgsub.Prefetch(source, depth=1) as packets:  # a camera's newest frame
        for packet in packets:
            boxes = cv2.connectedComponentsWithStats(pipeline.step(packet).mask)[2][1:, :4].tolist()  # 0: background
            for one, (x, y, width, height) in sorted(tracker.update(packet.index, boxes).items()):
                print(f"{packet.time_s:.2f} s: #{one} {width}x{height} at {x},{y}")
