"""OpenCV's background-subtraction loop with one line changed.

python samples/drop_in.py [VIDEO]
"""

import sys
from pathlib import Path

import cv2

import bgsub

CLIP = Path(__file__).with_name("walkers.mp4")


def main(video: str = str(CLIP)) -> None:
    """Subtract the background of a video and print the foreground of every 25th frame."""
    subtractor = bgsub.create()  # was: cv2.createBackgroundSubtractorMOG2()
    capture = cv2.VideoCapture(video)
    if not capture.isOpened():
        sys.exit(f"cannot open {video}")
    index = 0
    while True:
        ok, frame = capture.read()
        if not ok:
            break
        mask = subtractor.apply(frame)  # (H, W) uint8, 255 foreground and 0 background
        if index % 25 == 0:
            print(f"frame {index}: {cv2.countNonZero(mask) / mask.size:.1%} foreground")
        index += 1
    capture.release()
    if index:
        background = subtractor.getBackgroundImage()
        print(f"{index} frames; the mean colour of the background (BGR) is {background.mean((0, 1)).round().tolist()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
