"""Render docs/pictures/triptych.png, the image of the README: input, mask and overlay of the bundled clip.

Run from anywhere: python docs/make/picture.py
"""

from pathlib import Path

import cv2
import numpy as np

import bgsub
from bgsub.video import draw_overlay

ROOT = Path(__file__).resolve().parents[2]
SHOWN = 132  # frame number


def main() -> None:
    """Run the clip up to the frame shown and write the three views side by side."""
    pipeline = bgsub.Pipeline(bgsub.create())
    with bgsub.open_source(ROOT / "samples" / "walkers.mp4", end=SHOWN) as source:
        for packet in source:
            result = pipeline.step(packet)
    frame, mask = result.packet.frame, result.mask
    views = [frame, cv2.cvtColor(mask, cv2.COLOR_GRAY2BGR), draw_overlay(frame, mask, style="tint")]
    gap = np.full((frame.shape[0], 6, 3), 255, np.uint8)
    image = np.hstack([views[0], gap, views[1], gap, views[2]])
    cv2.imwrite(str(ROOT / "docs" / "pictures" / "triptych.png"), image, [cv2.IMWRITE_PNG_COMPRESSION, 9])


if __name__ == "__main__":
    main()
