"""The stages of the final mask of the adaptive detector."""

from bgsub.stages import FILL_HOLES, RAW, SHADOWS, Stage

__all__ = [
    "DETAILS",
    "FAINT",
    "GAPS",
    "GHOSTS",
    "HIGHLIGHTS",
    "LIGHT",
    "MAJORITY",
    "MOVING",
    "SQUARES",
    "STAGES",
    "SWAY",
]

SQUARES = Stage(
    "squares", "Squares", adds="the square of pixels around it never looked so, though each pixel of it may"
)
MAJORITY = Stage(
    "majority", "Majority", "too few pixels around it are foreground", "most pixels around it are foreground"
)
GHOSTS = Stage("ghosts", "Ghosts", "it lies in a ghost, whose outline the background has and the frame has not")
LIGHT = Stage("light", "Light", "its region is the background under another light, or the whole scene has changed")
DETAILS = Stage("details", "Details", adds="it belongs to a detail of what is beside it, too thin for larger squares")
SWAY = Stage("sway", "Sway", "it is small, and its colours are beside it in the background, as when a leaf moves")
GAPS = Stage("gaps", "Gaps", "all of a square around it is like the background, and has its texture")
FAINT = Stage("faint", "Faint", adds="it belongs to something faint or tiny, alone where no such thing was of late")
HIGHLIGHTS = Stage("highlights", "Highlights", "it is the background under more light, which fades as that of a beam")
MOVING = Stage("moving", "Where it moves", adds="the background moves here, and the reduced frame shows it")

STAGES = (RAW, SQUARES, MAJORITY, FILL_HOLES, GHOSTS, LIGHT, DETAILS, SWAY, GAPS, FAINT, SHADOWS, HIGHLIGHTS, MOVING)
"""In their order."""
