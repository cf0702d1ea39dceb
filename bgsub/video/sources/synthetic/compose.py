"""Drawing sprites and shadows on an image and its labels."""

from typing import Any

from bgsub.frames import Frame, Mask
from bgsub.video.sources.synthetic.walkers import Sprite

__all__ = ["MOVING", "SHADOW", "STATIC", "UNKNOWN", "crop", "darken", "overlay", "tint"]

STATIC, SHADOW, UNKNOWN, MOVING = 0, 50, 170, 255
"""Labels of the change-detection benchmark."""


def crop(sprite: Sprite, size: tuple[int, int]) -> tuple[tuple[slice, slice], Any]:
    """Crop a sprite to the image; return its window in the image and its remaining pixels."""
    rows, columns = sprite.pixels.shape[:2]
    top, left = max(0, sprite.top), max(0, sprite.left)
    bottom, right = max(top, min(size[0], sprite.top + rows)), max(left, min(size[1], sprite.left + columns))
    pixels = sprite.pixels[top - sprite.top : bottom - sprite.top, left - sprite.left : right - sprite.left]
    return (slice(top, bottom), slice(left, right)), pixels


def darken(image: Frame, labels: Mask, shadow: Sprite) -> None:
    """Take light from an image where a shadow falls, and label it; both arrays are written."""
    where, share = crop(shadow, labels.shape)
    region = image[where]
    region[:] = region * (1 - share[..., None]) + 0.5
    labels[where][share > 0.04] = SHADOW  # less is within the noise


def overlay(image: Frame, labels: Mask, sprite: Sprite, *, moving: bool = True, label: int = MOVING) -> None:
    """Draw a sprite on an image and label it; both arrays are written.

    Parameters
    ----------
    image : (H, W, 3) uint8 array
        BGR.
    labels : (H, W) uint8 array
        Labels drawn so far.
    sprite : Sprite
        Pixels to draw.
    moving : bool
        Whether it is a moving object, or scenery that hides those behind it.
    label : int
        Label of a moving object.
    """
    where, pixels = crop(sprite, labels.shape)
    region, marks = image[where], labels[where]
    opacity = pixels[..., 3]
    region[:] = region * (1 - opacity[..., None]) + pixels[..., :3] + 0.5
    if moving:
        _mark(marks, opacity, label)
    else:
        marks[(opacity > 0.25) & (marks != STATIC)] = UNKNOWN
        marks[opacity > 0.75] = STATIC


def tint(image: Frame, labels: Mask, sprite: Sprite, contrast: float, *, label: int = MOVING) -> None:
    """Draw the outline of a sprite, filled with the image behind it, brighter by a contrast in grey levels.

    Parameters
    ----------
    image : (H, W, 3) uint8 array
        BGR.
    labels : (H, W) uint8 array
        Labels drawn so far.
    sprite : Sprite
        Only its opacity is used.
    contrast : float
        Grey levels between the object and the background, negative for a darker object.
    label : int
        Label of the object.
    """
    where, pixels = crop(sprite, labels.shape)
    region, opacity = image[where], pixels[..., 3]
    region[:] = (region + contrast * opacity[..., None] + 0.5).clip(0, 255)
    _mark(labels[where], opacity, label)


def _mark(marks: Mask, opacity: Any, label: int) -> None:
    marks[opacity > 0.04] = UNKNOWN
    marks[opacity > 0.75] = label
