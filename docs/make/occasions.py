"""Draw docs/pictures/occasions.jpg: frames and masks of the clips of `bench.detectors.occasions`, one row each.

Run from the root of the repository: PYTHONPATH=. python docs/make/occasions.py
"""

from pathlib import Path

import numpy as np

from bench.detectors.occasions import OCCASIONS, WHEN, Occasion
from bgsub._opencv import cv2
from bgsub.detectors import create
from bgsub.frames import Frame, Mask

PICTURE = Path(__file__).parents[1] / "pictures" / "occasions.jpg"
SCALE = 1.5
_HEAD_PX, _GAP_PX = 22, 4
_INK, _PAPER, _RED = (40, 40, 40), 255, (40, 40, 230)


def cell(image: Frame, mask: Mask) -> Frame:
    """Return a frame with the outlines of its mask, enlarged."""
    size = round(image.shape[1] * SCALE), round(image.shape[0] * SCALE)
    large = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_CUBIC))
    outlines, _ = cv2.findContours(
        cv2.resize(mask, size, interpolation=cv2.INTER_NEAREST), cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE
    )
    cv2.drawContours(large, outlines, -1, _RED, 1, cv2.LINE_AA)
    return large


def row(name: str, occasion: Occasion) -> Frame:
    """Return the pictured frames of an occasion beside each other, under its title."""
    model = create("adaptive", **({"absorb_s": 8.0} if name == "park" else {}))
    cells, labels = [], []
    for index, (image, _) in enumerate(occasion.frames()):
        mask = model.apply(image)
        if index in occasion.pictured:
            cells.append(cell(image, mask))
            seconds = (index - WHEN) / 25
            labels.append(f"{seconds:+.2f} s")
    gap = np.full((cells[0].shape[0], _GAP_PX, 3), _PAPER, np.uint8)
    line = np.hstack([part for one in cells for part in (one, gap)])[:, :-_GAP_PX]
    head = np.full((_HEAD_PX, line.shape[1], 3), _PAPER, np.uint8)
    cv2.putText(head, occasion.title, (2, 15), cv2.FONT_HERSHEY_SIMPLEX, 0.45, _INK, 1, cv2.LINE_AA)
    for number, label in enumerate(labels):
        right = (number + 1) * (cells[0].shape[1] + _GAP_PX) - 70
        if number > 0:
            cv2.putText(head, label, (right, 15), cv2.FONT_HERSHEY_SIMPLEX, 0.4, _INK, 1, cv2.LINE_AA)
    return np.vstack([head, line])


def main() -> None:
    """Write the picture."""
    rows = [row(name, make()) for name, make in OCCASIONS.items()]
    cv2.imwrite(str(PICTURE), np.vstack(rows), [cv2.IMWRITE_JPEG_QUALITY, 88])


if __name__ == "__main__":
    main()
