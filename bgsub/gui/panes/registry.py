"""What a pane is, and the registry of all: menus, keys, help, drawing and saving follow from it."""

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from bgsub.detectors.base import Detector
from bgsub.frames import Frame, Mask, Result
from bgsub.stages import Stage
from bgsub.video.sinks.overlay import Style

__all__ = [
    "Legend",
    "Needs",
    "Pane",
    "Processed",
    "Side",
    "all_panes",
    "find_pane",
    "first_pane_keys",
    "register",
]

_DIGITS = "123456789"


class Side(enum.IntEnum):
    """The detector that a pane shows, as an index: the main one (A) or the one compared with it (B)."""

    A = 0
    B = 1


class Needs(enum.Flag):
    """What an image needs beyond the result of its own detector."""

    NOTHING = 0
    SCORE = enum.auto()
    """The detector must compute scores."""
    BOTH_SIDES = enum.auto()
    """The result of the second detector, too."""
    LABELS = enum.auto()
    """Ground truth for the frame."""
    MODEL = enum.auto()
    """The model as it was with this frame, which is not kept for earlier ones."""
    STAGES = enum.auto()
    """The masks after each stage, which are not kept for earlier frames either."""


class Legend(enum.Enum):
    """Explanation painted in a corner of the image."""

    HEAT = "heat"
    DIFFERENCE = "difference"
    ERRORS = "errors"
    STEPS = "steps"
    SHADOWS = "shadows"
    """The grey of shadows, where there are any."""


@dataclass(frozen=True, slots=True)
class Processed:
    """One processed frame, as the function of a pane receives it."""

    result: Result
    """Of the detector on the pane's side."""
    detector: Detector
    """On the pane's side."""
    other: Result | None
    """Of the detector on the other side; None while nothing is compared."""
    labels: Mask | None
    """Ground truth of the frame, (H, W) uint8, if there is any."""
    style: Style
    """Overlay style."""


@dataclass(frozen=True, slots=True)
class Pane:
    """A kind of image that a pane of the window can show. Two with the same `id` are equal."""

    id: str
    """Stable name, used in saved layouts, file names and command ids."""
    label: str = field(compare=False)
    """Shown to the user."""
    draw: Callable[[Processed], Frame | None] = field(compare=False)
    """Makes the (H, W, 3) BGR or (H, W) grey uint8 image; None if there is none. Runs on the worker's thread."""
    side: Side = field(default=Side.A, compare=False)
    needs: Needs = field(default=Needs.NOTHING, compare=False)
    legend: Legend | None = field(default=None, compare=False)
    interval_s: float = field(default=0.0, compare=False)
    """Least time between two images while frames follow each other."""
    stage: Stage | None = field(default=None, compare=False)
    """The stage after which it shows the mask, for a pane of some detectors only."""

    @property
    def needs_comparison(self) -> bool:
        """Whether it shows nothing without a second detector."""
        return self.side is Side.B or Needs.BOTH_SIDES in self.needs


_panes: dict[str, Pane] = {}


def register(pane: Pane) -> Pane:
    """Offer a pane from now on: in the boxes of the panes, by a number key, in the help, and to be saved.

    Raises
    ------
    ValueError
        If there is a pane with this id, or the id does not suit file names and saved layouts.
    """
    if not pane.id.replace("-", "").isalnum():
        raise ValueError(f"id must consist of letters, digits and hyphens, got {pane.id!r}")
    if pane.id in _panes:
        raise ValueError(f"id must be new, got {pane.id!r}")
    _panes[pane.id] = pane
    return pane


def all_panes() -> tuple[Pane, ...]:
    """Return every pane that belongs to all detectors, in the order of registration."""
    return tuple(pane for pane in _panes.values() if pane.stage is None)


def find_pane(pane_id: str) -> Pane | None:
    """Return the pane with this id, if there is one."""
    return _panes.get(pane_id)


def first_pane_keys() -> Iterator[tuple[str, Pane]]:
    """Yield a number key and its pane, for each pane that can always be shown, as far as the digits go."""
    always = (pane for pane in all_panes() if not pane.needs_comparison and Needs.LABELS not in pane.needs)
    return zip(_DIGITS, always, strict=False)
