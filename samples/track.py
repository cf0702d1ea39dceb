"""A loop around OpenCV's MOG2 that becomes a tracker: objects with ids, and how many crossed the middle of the image.

python samples/track.py [VIDEO]
"""

import sys
from pathlib import Path

import cv2

import bgsub

CLIP = Path(__file__).with_name("walkers.mp4")

if __name__ == "__main__":
    capture = cv2.VideoCapture(sys.argv[1] if sys.argv[1:] else str(CLIP))
    width, height = (capture.get(size) for size in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT))
    subtractor, tracker = bgsub.create(), bgsub.Tracker()  # was: cv2.createBackgroundSubtractorMOG2()
    limits, middle = bgsub.ObjectLimits(min_area=100), bgsub.Line((width / 2, height), (width / 2, 0))
    while (read := capture.read())[0]:
        objects = tracker.update(bgsub.find_objects(subtractor.apply(read[1]), limits=limits))
        middle.update(tracker.tracks)
        for found in objects:
            print(f"#{found.id} at {found.box}, {found.area} pixels")
    print(f"{tracker.count} objects; {middle.counts}")
