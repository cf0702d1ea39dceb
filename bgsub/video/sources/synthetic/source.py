"""Generated scenes as a source, by name."""

from collections.abc import Callable
from typing import Any

from bgsub.errors import SourceError
from bgsub.frames import Packet, VideoInfo
from bgsub.video.sources.base import FrameSource, SourceOptions
from bgsub.video.sources.position import Position
from bgsub.video.sources.synthetic.families import PREFIX, ComposedScene, parse_names
from bgsub.video.sources.synthetic.scene import SyntheticScene

__all__ = ["SCENES", "SyntheticSource", "open_generated", "open_synthetic"]

_PREFIX = "synthetic:"

SCENES: dict[str, dict[str, Any]] = {
    "walkers": {},
    "water": {"tree": False, "slow_light": False, "sudden_light": False, "stopper": False},
    "tree": {"water": False, "slow_light": False, "sudden_light": False, "stopper": False},
    "light": {"water": False, "tree": False, "stopper": False},
    "stop": {"water": False, "tree": False, "slow_light": False, "sudden_light": False, "walkers": False},
    "easy": {"water": False, "tree": False, "slow_light": False, "sudden_light": False, "stopper": False},
}
"""Effects switched off in each named scene; "walkers" has them all."""


class SyntheticSource(FrameSource):
    """Delivers the frames of a scene from first to last, as fast as they are read.

    Parameters
    ----------
    scene : SyntheticScene or ComposedScene
        The scene to deliver.
    name : str
        Name of the source in messages.

    Examples
    --------
    >>> with SyntheticSource(SyntheticScene(size=(60, 80), frames=3)) as source:
    ...     [packet.number for packet in source]
    [1, 2, 3]
    """

    text_form = "synthetic:walkers?seed=3&frames=200"

    def __init__(self, scene: SyntheticScene | ComposedScene, name: str = "synthetic") -> None:
        self.scene = scene
        self._info = VideoInfo(name=name, size=scene.size, rate_hz=scene.rate_hz, count=scene.frames)
        self._next = 0
        self._delivered = 0

    @classmethod
    def accepts(cls, text: str) -> bool:
        """Return whether the text begins with ``synthetic:`` or ``generated:``."""
        return text.startswith((_PREFIX, PREFIX))

    @classmethod
    def from_text(cls, text: str, options: SourceOptions) -> "SyntheticSource":
        """Open the scene, see `open_synthetic` and `open_generated`."""
        if text.startswith(PREFIX):
            return open_generated(text)
        return open_synthetic(text.removeprefix(_PREFIX))

    @property
    def end_verified(self) -> bool:
        """True: the scene knows its length."""
        return True

    @property
    def info(self) -> VideoInfo:
        """Name, frame size, rate and number of frames."""
        return self._info

    def read(self) -> Packet | None:
        """Return the next frame, or None at the end."""
        if self._next >= self.scene.frames:
            return None
        frame, _ = self.scene.frame(self._next)
        packet = Packet(
            index=self._delivered, time_s=self._next / self.scene.rate_hz, frame=frame, number=self._next + 1
        )
        self._next += 1
        self._delivered += 1
        return packet

    def seek(self, start: Position) -> None:
        """Go to the frame at `start`."""
        number = start.estimate_number(self.scene.rate_hz)
        self._next = 0 if number is None else max(0, number - 1)


def _parse_size(text: str) -> tuple[int, int]:
    width, height = text.lower().split("x")
    return int(height), int(width)


_KEYS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "frames": ("frames", int),
    "noise": ("noise", float),
    "rate": ("rate_hz", float),
    "seed": ("seed", int),
    "size": ("size", _parse_size),
}


def open_synthetic(text: str) -> SyntheticSource:
    """Open a generated scene by the text after ``synthetic:``.

    Parameters
    ----------
    text : str
        ``NAME?KEY=VALUE&...``: a name of `SCENES` ("walkers" if empty) and any of frames, noise, rate
        (frames per second), seed and size (WIDTHxHEIGHT).

    Returns
    -------
    SyntheticSource

    Raises
    ------
    SourceError
        If a name, key or value is wrong; it lists the right ones.

    Examples
    --------
    >>> open_synthetic("water?seed=3&frames=200&size=160x120&rate=25").info
    VideoInfo(name='synthetic:water?seed=3&frames=200&size=160x120&rate=25', size=(120, 160), rate_hz=25.0,
              count=200, live=False)
    """
    name, _, query = text.partition("?")
    where = f"synthetic:{text}"
    scene = SCENES.get(name or "walkers")
    if scene is None:
        raise SourceError(f"cannot open {where}: no scene {name!r}, there are {', '.join(SCENES)}")
    given: dict[str, Any] = {}
    for part in filter(None, query.split("&")):
        key, _, value = part.partition("=")
        if key not in _KEYS:
            raise SourceError(f"cannot open {where}: no setting {key!r}, there are {', '.join(_KEYS)}")
        parameter, convert = _KEYS[key]
        try:
            given[parameter] = convert(value)
        except ValueError:
            raise SourceError(f"cannot open {where}: {key}={value} is not understood") from None
    try:
        return SyntheticSource(SyntheticScene(**given, **scene), where)
    except ValueError as error:
        raise SourceError(f"cannot open {where}: {error}") from error


def open_generated(text: str) -> SyntheticSource:
    """Open a scene of a generated family by its text, ``generated:FAMILY?KNOB=VALUE&...``.

    Parameters
    ----------
    text : str
        As for `parse_names`; it must name one scene.

    Returns
    -------
    SyntheticSource

    Raises
    ------
    SourceError
        If a name, key or value is wrong, or there are several scenes.

    Examples
    --------
    >>> open_generated("generated:water?height=20&frames=50").info.count
    50
    """
    try:
        names = parse_names(text)
    except ValueError as error:
        raise SourceError(f"cannot open {text}: {error}") from error
    if len(names) > 1:
        raise SourceError(f"cannot open {text}: these are {len(names)} scenes; choose one, such as {names[0]}")
    return SyntheticSource(names[0].make(), text)
