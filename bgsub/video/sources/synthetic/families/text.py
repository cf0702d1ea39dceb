"""Scenes of generated families by text, such as ``generated:noise?sigma=4&seed=1``."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bgsub.video.sources.synthetic.families.catalogue import FAMILIES, make_scene
from bgsub.video.sources.synthetic.families.scene import ComposedScene
from bgsub.video.sources.synthetic.families.stage import RATE_HZ

__all__ = ["PREFIX", "SceneName", "parse_names"]

PREFIX = "generated:"


@dataclass(frozen=True, slots=True)
class SceneName:
    """The parameters of a generated scene, from which it can be made in any process."""

    family: str
    knob: float
    seed: int = 0
    size: tuple[int, int] = (240, 320)
    frames: int = 400
    rate_hz: float = RATE_HZ

    def __str__(self) -> str:
        """Return the text that names the scene."""
        return f"{PREFIX}{self.family}?{self.settings}"

    @property
    def settings(self) -> str:
        """Knob and seed, and size, number of frames and frame rate where they are not the usual ones."""
        parts = [f"{FAMILIES[self.family].knob}={self.knob:g}", f"seed={self.seed}"]
        if self.size != (240, 320):
            parts.append(f"size={self.size[1]}x{self.size[0]}")
        if self.frames != 400:
            parts.append(f"frames={self.frames}")
        if self.rate_hz != RATE_HZ:
            parts.append(f"rate={self.rate_hz:g}")
        return "&".join(parts)

    def check(self) -> None:
        """Raise `ValueError` if a parameter is out of range."""
        FAMILIES[self.family].check(self.knob, self.seed, self.size, self.frames, self.rate_hz)

    def make(self) -> ComposedScene:
        """Make the scene, see `make_scene`."""
        return make_scene(self.family, self.knob, self.seed, self.size, self.frames, self.rate_hz)


def _parse_size(text: str) -> tuple[int, int]:
    width, height = text.lower().split("x")
    return int(height), int(width)


def _parse_list(convert: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    return lambda text: [convert(part) for part in text.split(",")]


_KEYS: dict[str, Callable[[str], Any]] = {
    "knob": _parse_list(float),
    "seed": _parse_list(int),
    "size": _parse_size,
    "frames": int,
    "rate": float,
}


def parse_names(text: str) -> list[SceneName]:
    """Return the scenes that a text names.

    Parameters
    ----------
    text : str
        ``generated:FAMILY?KEY=VALUE&...``: a name of `FAMILIES`, or "all" for each of them, and any of `knob`, or the
        name of the family's knob, `seed`, `size` (WIDTHxHEIGHT), `frames` and `rate` (frames/s). Knob and seed may
        be lists, such as ``sigma=2,8``; without a knob there is a scene for each usual value.

    Returns
    -------
    list of SceneName
        By family, then knob, then seed.

    Raises
    ------
    ValueError
        If a name or key is wrong, which are listed then, or a value.

    Examples
    --------
    >>> [str(name) for name in parse_names("generated:noise?sigma=2,8&frames=100")]
    ['generated:noise?sigma=2&seed=0&frames=100', 'generated:noise?sigma=8&seed=0&frames=100']
    >>> len(parse_names("generated:all?seed=0,1")) == 2 * sum(len(family.values) for family in FAMILIES.values())
    True
    """
    name, _, query = text.removeprefix(PREFIX).partition("?")
    if name != "all" and name not in FAMILIES:
        raise ValueError(f"no family {name!r}, there are all, {', '.join(FAMILIES)}")
    own = () if name == "all" else (FAMILIES[name].knob,)
    given: dict[str, Any] = {}
    for part in filter(None, query.split("&")):
        key, _, value = part.partition("=")
        key = "knob" if key in own else key
        if key not in _KEYS:
            raise ValueError(f"no setting {key!r}, there are {', '.join((*own, *_KEYS))}")
        try:
            given[key] = _KEYS[key](value)
        except ValueError:
            raise ValueError(f"{part} is not understood") from None
    seeds, knobs, rate_hz = given.pop("seed", [0]), given.pop("knob", None), given.pop("rate", RATE_HZ)
    if knobs is not None and name == "all":
        raise ValueError("a knob needs one family, not all")
    names = [
        SceneName(family, knob, seed, **given, rate_hz=rate_hz)
        for family in (FAMILIES if name == "all" else (name,))
        for knob, seed in itertools.product(knobs or FAMILIES[family].values, seeds)
    ]
    for scene in names:
        scene.check()
    return names
