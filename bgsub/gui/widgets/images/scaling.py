"""Arrays as images of Qt, and smaller ones without aliasing."""

import numpy as np
from PyQt6.QtGui import QImage

from bgsub._opencv import cv2
from bgsub.frames import Frame

__all__ = ["shrink", "to_qimage"]


def shrink(image: Frame, width: int, height: int) -> Frame:
    """Return a smaller image without aliasing: halved by mean as often as possible, which is fast, then linearly."""
    while image.shape[1] >= 2 * width and image.shape[0] >= 2 * height:
        image = np.asarray(
            cv2.resize(image, (image.shape[1] // 2, image.shape[0] // 2), interpolation=cv2.INTER_AREA), np.uint8
        )
    if image.shape[1] == width and image.shape[0] == height:
        return image
    return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR), np.uint8)


def to_qimage(image: Frame) -> QImage:
    """Wrap (H, W, 3) BGR or (H, W) grey uint8 pixels; the array must outlive the image, which does not copy."""
    height, width = image.shape[:2]
    kind = QImage.Format.Format_Grayscale8 if image.ndim == 2 else QImage.Format.Format_BGR888
    wrapped: QImage = QImage(image.data, width, height, image.strides[0], kind)  # type: ignore[call-overload]
    return wrapped
