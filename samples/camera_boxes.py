"""Boxes of moving objects with ids, live from a camera or from a file; Ctrl-C ends it.

python samples/camera_boxes.py [camera:0 | VIDEO | rtsp://...]
"""

import contextlib
import sys
from pathlib import Path

import bgsub

CLIP = Path(__file__).with_name("walkers.mp4")

if __name__ == "__main__":
    pipeline = bgsub.Pipeline(bgsub.create())
    finder = bgsub.ObjectFinder(limits=bgsub.ObjectLimits(min_area=100, min_age=3))
    source = bgsub.open_source(sys.argv[1] if sys.argv[1:] else CLIP)
    with contextlib.suppress(KeyboardInterrupt), bgsub.Prefetch(source, depth=1) as packets:  # a camera's newest frame
        for packet in packets:
            for found in finder.find(pipeline.step(packet)):
                x, y, width, height = found.box
                print(f"{packet.time_s:.2f} s: #{found.id} {width}x{height} at {x},{y}")
