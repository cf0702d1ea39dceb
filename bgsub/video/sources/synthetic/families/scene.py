"""A generated scene put together from a background, objects, light and camera."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from bgsub.frames import Frame, Mask
from bgsub.video.sources.synthetic.compose import MOVING, UNKNOWN, darken, overlay, tint
from bgsub.video.sources.synthetic.families.actors import Actor
from bgsub.video.sources.synthetic.families.camera import Effect, Jitter
from bgsub.video.sources.synthetic.walkers import cast_shadow

__all__ = ["ComposedScene", "Layer", "Shadow"]

_FALL = 0.4  # of a low sun, so that shadows are as large as their objects


class Layer(Protocol):
    """A part of the background that moves by itself."""

    def draw(self, image: Frame, time_s: float) -> None:
        """Draw it as it is at a time."""


@dataclass(frozen=True, slots=True)
class Shadow:
    """Shadows on the ground."""

    strength: float
    """Share of the light that is missing where the shadow is darkest."""
    softness: float
    """Standard deviation of the blur in heights of the object."""


@dataclass(kw_only=True)
class ComposedScene:
    """A scene whose frames are drawn when they are asked for, in any order; the same parts give the same bits."""

    size: tuple[int, int]
    """(height, width) in pixels."""
    frames: int
    """Length of the clip."""
    rate_hz: float
    """Frames per second."""
    backdrop: Frame
    """(H, W, 3) uint8 BGR: everything that does not move."""
    actors: Sequence[Actor]
    """Moving objects."""
    empty_frames: int
    """Number of frames at the start that train the model and are not scored."""
    layers: Sequence[Layer] = ()
    """Parts of the background that move by themselves, from back to front."""
    shadow: Shadow | None = None
    """Shadows of the objects."""
    contrasts: Sequence[float] = ()
    """Grey levels between each object and the background behind it; objects have colours of their own without."""
    left_at: Sequence[int] = ()
    """First frame in which each object is known to move; before it, its label is unknown."""
    jitter: Jitter | None = None
    """Shaking of the camera."""
    effects: Sequence[Effect] = ()
    """Light and sensor, in the order of their effect."""
    _last: tuple[int, Frame, Mask] | None = field(default=None, repr=False)

    def frame(self, i: int) -> tuple[Frame, Mask]:
        """Draw frame i and its labels.

        Parameters
        ----------
        i : int
            0-based, below `frames`.

        Returns
        -------
        frame : (H, W, 3) or (H, W) uint8 array
            BGR or grey.
        labels : (H, W) uint8 array
            0 static, 50 shadow, 170 unknown, 255 moving object.

        Raises
        ------
        ValueError
            If there is no such frame.
        """
        if not 0 <= i < self.frames:
            raise ValueError(f"i must be in [0, {self.frames}), got {i}")
        last = self._last  # frame and labels are asked for one after the other
        if last is None or last[0] != i:
            last = self._last = (i, *self._render(i))
        return last[1].copy(), last[2].copy()

    def _render(self, i: int) -> tuple[Frame, Mask]:
        image, labels = self.backdrop.copy(), np.zeros(self.size, np.uint8)
        for layer in self.layers:
            layer.draw(image, i / self.rate_hz)
        order = sorted(range(len(self.actors)), key=lambda number: self.actors[number].foot)
        sprites = [(number, self.actors[number].draw(i)) for number in order if self.actors[number].is_on_the_way(i)]
        if self.shadow is not None:
            for number, sprite in sprites:
                foot = self.actors[number].foot
                margin = 3 + round(2.5 * self.shadow.softness * (foot - sprite.top))
                strength, softness = self.shadow.strength, self.shadow.softness
                shape = cast_shadow(sprite, foot, strength=strength, softness=softness, margin=margin, fall=_FALL)
                darken(image, labels, shape)
        for number, sprite in sprites:
            label = UNKNOWN if self.left_at and i < self.left_at[number] else MOVING
            if self.contrasts:
                tint(image, labels, sprite, self.contrasts[number], label=label)
            else:
                overlay(image, labels, sprite, label=label)
        if self.jitter is not None:
            image, labels = self.jitter.move(image, labels, i)
        for effect in self.effects:
            image = effect(image, i)
        return image, labels
