"""Generated sequences with exact ground truth, of which one number sets the difficulty."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache

from bgsub.evaluation.datasets.sequence import Sequence
from bgsub.frames import Frame, Mask
from bgsub.video.sources.synthetic.families import FAMILIES, PREFIX, ComposedScene, Family, SceneName, parse_names

__all__ = ["FAMILIES", "Family", "GeneratedSequence", "generate", "parse_generated"]

_STRIDE = 25  # every so many frames are part of the digest


@lru_cache(maxsize=2)
def _scene(name: SceneName) -> ComposedScene:
    return name.make()


@dataclass(frozen=True, slots=True)
class GeneratedSequence(Sequence):
    """A generated scene as a sequence; only its parameters are pickled, and frames are drawn when they are read."""

    scene: SceneName
    """The parameters."""

    @property
    def name(self) -> str:  # type: ignore[override]
        """The settings, such as "sigma=4&seed=0"."""
        return self.scene.settings

    @property
    def category(self) -> str:  # type: ignore[override]
        """The family, such as "generated:noise"; with the name, it is the text that opens the sequence."""
        return PREFIX + self.scene.family

    @property
    def family(self) -> str:  # type: ignore[override]
        """The same as the category: values of one knob are alike."""
        return self.category

    @property
    def knob(self) -> float:
        """Value of the family's knob."""
        return self.scene.knob

    @property
    def numbers(self) -> list[int]:
        """Numbers of all frames, from 1."""
        return list(range(1, self.scene.frames + 1))

    @property
    def scored(self) -> list[int]:
        """Numbers of the frames after those without objects."""
        first = FAMILIES[self.scene.family].empty_frames(self.scene.frames) + 1
        return list(range(first, self.scene.frames + 1))

    def read_input(self, number: int) -> Frame:
        """Draw a frame: (H, W, 3) BGR or (H, W) grey."""
        return _scene(self.scene).frame(number - 1)[0]

    def read_labels(self, number: int, size: tuple[int, int]) -> Mask:
        """Draw the labels of a frame; `size` must be that of the scene.

        Raises
        ------
        ValueError
            If it is another one.
        """
        if size != self.scene.size:
            raise ValueError(f"size must be that of the scene, {self.scene.size}, got {size}")
        return _scene(self.scene).frame(number - 1)[1]

    def read_roi(self, size: tuple[int, int]) -> Mask | None:
        """Return None: every pixel is scored."""
        return None

    def digest(self) -> str:
        """Return the SHA-256 of the parameters and of every 25th frame with its labels."""
        digest = hashlib.sha256(str(self.scene).encode())
        for i in range(0, self.scene.frames, _STRIDE):
            for image in _scene(self.scene).frame(i):
                digest.update(image.tobytes())
        return digest.hexdigest()


def generate(
    family: str,
    knob: float,
    seed: int = 0,
    size: tuple[int, int] = (240, 320),
    frames: int = 400,
    rate_hz: float = 25.0,
) -> GeneratedSequence:
    """Return a sequence of a generated family.

    Parameters
    ----------
    family : str
        A name of `FAMILIES`.
    knob : float
        The number that makes the scene easier or harder, between the limits of the family.
    seed : int
        Seed of layout, textures, objects and paths.
    size : (height, width)
        Size of the frames in pixels, each at least 32.
    frames : int
        Length of the clip.
    rate_hz : float
        Frames per second: how far things move from frame to frame.

    Returns
    -------
    GeneratedSequence

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> sequence = generate("noise", 4, size=(60, 80), frames=40)
    >>> sequence.identity, len(sequence.scored)
    ('generated:noise/sigma=4&seed=0&size=80x60&frames=40', 32)
    """
    if family not in FAMILIES:
        raise ValueError(f"family must be one of {', '.join(FAMILIES)}, got {family!r}")
    name = SceneName(family, float(knob), seed, size, frames, rate_hz)
    name.check()
    return GeneratedSequence(name)


def parse_generated(text: str) -> list[GeneratedSequence]:
    """Return the sequences that a text such as ``generated:noise?sigma=2,8&seed=1`` names, see `parse_names`.

    Raises
    ------
    ValueError
        If a name, key or value is wrong.
    """
    return [GeneratedSequence(name) for name in parse_names(text)]
