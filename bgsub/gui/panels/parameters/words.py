"""Plain names of parameters, and what turning them up or down does; all others are named after their declaration."""

import math
import re
from dataclasses import dataclass

from bgsub.detectors.parameters import Parameter

__all__ = ["KNOWN", "SHARED", "Words", "range_in_words", "words_of"]


@dataclass(frozen=True, slots=True)
class Words:
    """How the form calls a parameter."""

    label: str
    """A plain name of one to four words."""
    effect: str
    """One sentence that states the direction, with a full stop."""
    usual: tuple[float, float] | None = None
    """Least and largest of the values that are worth trying first, in the unit of the parameter."""


SHARED = {
    "rate_hz": Words("Frame rate", "Turns seconds into frames; set it only where the source states a wrong rate."),
    "white": Words("Value of white", "Set it where frames do not use the whole range of their type."),
    "threads": Words("Threads", "More is faster up to the number of CPUs; masks stay the same."),
    "warmup": Words("Learning at the start", "Higher waits longer before anything is reported.", (16, 100)),
    "history": Words(
        "Memory", "Higher absorbs what stands still later, and follows changes of light more slowly.", (200, 1000)
    ),
    "learn_every": Words(
        "Learn one frame in", "Higher is faster and remembers longer; changes are learned later.", (8, 64)
    ),
    "steady_light": Words(
        "Steady the light",
        "On ignores changes of light of the whole picture, and takes what covers more than half of it for light.",
    ),
    "detect_shadows": Words("Recognise shadows", "On removes shadows from the mask, and now and then dark objects."),
    "shadow_threshold": Words("Darkest shadow", "Lower lets darker pixels count as shadow.", (0.4, 0.7)),
}
"""By name, for every detector that has such a parameter."""

KNOWN = {
    ("adaptive", "slots"): Words(
        "Colours per pixel", "Higher remembers more backgrounds per pixel and is slower.", (2, 5)
    ),
    ("adaptive", "width"): Words(
        "Tolerance of colour", "Higher finds less: colours further apart count as the same.", (15, 45)
    ),
    ("adaptive", "threshold"): Words("Sensitivity", "Higher finds more, and more noise with it.", (0.1, 0.3)),
    ("adaptive", "memory_s"): Words(
        "Memory",
        "Higher remembers backgrounds that return later, such as open doors; lower follows changes sooner.",
        (20, 120),
    ),
    ("adaptive", "absorb_s"): Words(
        "Absorb after", "Higher keeps what stands still in the mask for longer; 0 keeps it for ever.", (30, 300)
    ),
    ("adaptive", "smoothing"): Words(
        "Smoothing", "Higher removes more specks, and small or thin things with them.", (9, 21)
    ),
    ("adaptive", "fill"): Words("Fill holes", "On makes things solid, also where they frame the background."),
    ("adaptive", "ghosts"): Words("Remove ghosts", "On removes at once what an object leaves behind when it goes."),
    ("adaptive", "shadows"): Words(
        "Keep shadows",
        "On keeps shadows in the mask, and dark things that look like them; and what beams of lamps light up.",
    ),
    ("adaptive", "quality"): Words(
        "Quality",
        "Best judges each pixel; balanced and fast look at fewer pixels of large frames, and lose small things.",
    ),
    ("adaptive", "raw"): Words("Raw mask", "On shows the mask before any cleaning."),
    ("norma", "slots"): Words(
        "Colours per pixel", "Higher remembers more backgrounds per pixel and is slower.", (4, 16)
    ),
    ("norma", "width"): Words(
        "Tolerance of colour", "Higher finds less: colours further apart count as the same.", (15, 45)
    ),
    ("norma", "eta"): Words(
        "Learning speed", "Higher absorbs new colours sooner and forgets old ones sooner.", (0.02, 0.1)
    ),
    ("norma", "lam"): Words("Forgetting", "Higher forgets faster.", (0.5, 2)),
    ("norma", "nu"): Words("Share of novel colours", "Higher lets more colours become background.", (0.3, 0.7)),
    ("norma", "kappa"): Words("Sensitivity", "Higher finds more, and more noise with it.", (0.1, 0.5)),
    ("norma", "memory_s"): Words("Memory", "Higher absorbs what stands still later.", (10, 120)),
    ("olk", "slots"): Words(
        "Colours per pixel", "Higher remembers more backgrounds per pixel and is slower.", (16, 64)
    ),
    ("olk", "width"): Words(
        "Tolerance of colour", "Higher finds less: colours further apart count as the same.", (15, 45)
    ),
    ("olk", "level"): Words("Sensitivity", "Higher finds more, and more noise with it.", (0.05, 0.3)),
    ("olk", "memory_s"): Words("Memory", "Higher absorbs what stands still later.", (10, 120)),
    ("olk", "r"): Words("Forgetting", "Higher forgets faster.", (0.0001, 0.01)),
    ("olk", "v"): Words("Least weight", "Higher repeats colours that are known well more often.", (0.05, 0.15)),
    ("olk", "C"): Words("Largest weight", "Higher absorbs new colours sooner.", (0.1, 0.5)),
    ("olk", "rho_rule"): Words(
        "Rule for sensitivity", "Fixed uses the sensitivity below; the others adapt it, or are the published one."
    ),
    ("olk", "nu"): Words("Share to find", "Higher lets the rules quantile and pooled find more.", (0.02, 0.1)),
    ("olk", "eta_rho"): Words(
        "Speed of the rule", "Higher adapts the rules quantile and pooled sooner, and less evenly.", (0.02, 0.1)
    ),
    ("mog2", "var_threshold"): Words(
        "Tolerance of colour", "Higher finds less: larger differences are background.", (10, 50)
    ),
    ("mog2", "nmixtures"): Words(
        "Colours per pixel", "Higher remembers more backgrounds per pixel and is slower.", (3, 5)
    ),
    ("mog2", "background_ratio"): Words(
        "Share of background", "Higher lets rarer colours count as background.", (0.7, 0.95)
    ),
    ("mog2", "var_threshold_gen"): Words(
        "Distance of new colours", "Lower keeps more colours apart, and more of them per pixel.", (6, 15)
    ),
    ("mog2", "var_init"): Words("Spread at first", "Higher tolerates more change of a colour that is new.", (10, 30)),
    ("mog2", "var_min"): Words("Least spread", "Higher tolerates more change where the background is still.", (2, 10)),
    ("mog2", "var_max"): Words(
        "Largest spread", "Higher tolerates more change where the background flickers.", (50, 150)
    ),
    ("mog2", "reduction_threshold"): Words(
        "Forgetting of rare colours", "Higher drops colours that come rarely sooner.", (0.01, 0.1)
    ),
    ("knn", "dist2_threshold"): Words(
        "Tolerance of colour", "Higher finds less: larger differences are background.", (200, 1000)
    ),
    ("knn", "n_samples"): Words("Samples per pixel", "Higher remembers more and is slower.", (5, 15)),
    ("knn", "knn_samples"): Words(
        "Samples that must agree", "Higher finds more: more samples must look alike.", (1, 3)
    ),
}
"""By detector and name."""

_TINY, _HUGE = 1e-3, 1e6  # bounds beyond them keep arithmetic safe, and say nothing to people
_UNIT_SUFFIX = re.compile(r"_(s|px|hz|ms)$")


def words_of(detector: str, parameter: Parameter) -> Words:
    """Return the plain name of a parameter and its effect.

    Examples
    --------
    >>> words_of("own", Parameter("hold_back_s", float, "time to wait", note="Higher waits longer.")).label
    'Hold back'
    """
    found = KNOWN.get((detector, parameter.name)) or SHARED.get(parameter.name)
    if found is not None:
        return found
    label = _UNIT_SUFFIX.sub("", parameter.name).replace("_", " ")
    meaning = f"{parameter.meaning[:1].upper()}{parameter.meaning[1:]}."
    shown = label if len(label) == 1 else label[:1].upper() + label[1:]
    return Words(shown, f"{meaning} {parameter.note}".strip())


def range_in_words(parameter: Parameter) -> str:
    """Return the allowed values as a phrase; empty if any value is allowed.

    Examples
    --------
    >>> range_in_words(Parameter("share", float, "a share", low=0, high=1, low_open=True))
    'above 0, at most 1'
    """
    if parameter.choices or parameter.kind in (bool, str):
        return ""
    unit = f" {parameter.unit}" if parameter.unit else ""
    parts = []
    if parameter.low == 0 or (abs(parameter.low) > _TINY and not math.isinf(parameter.low)):
        parts.append(f"{'above' if parameter.low_open else 'at least'} {parameter.low:g}{unit}")
    if parameter.high < _HUGE:
        parts.append(f"{'below' if parameter.high_open else 'at most'} {parameter.high:g}{unit}")
    return ", ".join(parts)
