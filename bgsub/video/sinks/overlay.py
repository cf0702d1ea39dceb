"""Draw the foreground into a frame, for videos and viewers."""

from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.frames import Frame, Mask

__all__ = ["Style", "draw_overlay", "to_display"]

Style = Literal["contour", "tint"]


def to_display(frame: Frame) -> NDArray[np.uint8]:
    """Return a frame of any accepted kind as a new (H, W, 3) BGR uint8 image.

    Values of uint16 are shown over the full 16 bits when they use more than 12 of them, else over 12, as cameras
    deliver; float32 is read as [0, 1] when all values lie there, else as [0, 255].

    Parameters
    ----------
    frame : (H, W) or (H, W, 3) array of uint8, uint16 or float32
        The frame.

    Returns
    -------
    (H, W, 3) uint8 array
        Image for display.

    Examples
    --------
    >>> to_display(np.full((1, 1), 0.5, np.float32)).tolist()
    [[[128, 128, 128]]]
    """
    image: Any = frame
    if frame.dtype == np.uint16:
        image = cv2.convertScaleAbs(frame, alpha=255 / (65535 if frame.max() > 4095 else 4095))
    elif frame.dtype == np.float32:
        top = 255 if frame.max() <= 1 else 1
        image = np.clip(np.rint(frame * np.float32(top)), 0, 255).astype(np.uint8)
    if image.ndim == 2:
        image = cv2.cvtColor(image, cv2.COLOR_GRAY2BGR)
    elif image is frame:
        image = frame.copy()
    return cast(NDArray[np.uint8], image)


def draw_overlay(
    frame: Frame,
    mask: Mask,
    *,
    style: Style = "contour",
    color: tuple[int, int, int] = (0, 0, 255),
    opacity: float = 0.5,
) -> NDArray[np.uint8]:
    """Return the frame with its foreground marked.

    Parameters
    ----------
    frame : (H, W) or (H, W, 3) array of uint8, uint16 or float32
        The input; it is not changed.
    mask : (H, W) uint8 array
        255 where the frame is foreground.
    style : {"contour", "tint"}
        Outline the foreground, or tint it.
    color : tuple of int
        Blue, green and red of the marks, 0 to 255.
    opacity : float
        Weight of the colour in a tint, in [0, 1]; outlines are opaque.

    Returns
    -------
    (H, W, 3) uint8 array
        BGR image.

    Raises
    ------
    ValueError
        If a parameter is out of range, or mask and frame differ in size.

    Examples
    --------
    >>> mask = np.array([[0, 255]], np.uint8)
    >>> draw_overlay(np.full((1, 2), 100, np.uint8), mask, style="tint").tolist()
    [[[100, 100, 100], [50, 50, 178]]]
    """
    check_marks(style, color, opacity)
    if mask.shape != frame.shape[:2]:
        raise ValueError(f"mask must have the frame's shape {frame.shape[:2]}, got {mask.shape}")
    image = to_display(frame)
    if style == "contour":
        contours, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
        thickness = max(1, round(min(mask.shape) / 240))
        cv2.drawContours(image, contours, -1, color, thickness)
    else:
        tinted = cv2.addWeighted(image, 1 - opacity, np.full_like(image, color), opacity, 0)
        cv2.copyTo(tinted, mask, image)
    return image


def check_marks(style: str, color: tuple[int, int, int], opacity: float) -> None:
    """Refuse settings that `draw_overlay` does not accept.

    Raises
    ------
    ValueError
        If one is out of range; the message names it.
    """
    if style not in get_args(Style):
        raise ValueError(f"style must be one of {', '.join(get_args(Style))}, got {style!r}")
    if np.shape(color) != (3,) or min(color) < 0 or max(color) > 255:
        raise ValueError(f"color must be three numbers from 0 to 255, got {color}")
    if not 0 <= opacity <= 1:
        raise ValueError(f"opacity must be in [0, 1], got {opacity}")
