"""What the user must know to understand the images, in words."""

from bgsub.gui.engine.processing.detector_runs import DetectorRuns
from bgsub.gui.messages import Settings

__all__ = ["describe_models", "describe_pace"]

_YOUNG_FRAMES = 25
"""Frames in which a model without a warm-up knows little more than the first one."""
_BEHIND = 0.9  # of the rate that real time asks for


def describe_models(runs: DetectorRuns, settings: Settings) -> list[str]:
    """Return a phrase for each model that does not do what one expects of it."""
    captions = []
    for run in runs:
        learned, warmup = run.warmup
        if learned < warmup:
            captions.append(f"{run.detector.name} is learning: {learned} of {warmup} frames")
        elif 0 < learned < _YOUNG_FRAMES and not settings.frozen:
            captions.append(f"{run.detector.name} has just begun: what stands still counts as background")
    if settings.frozen:
        frozen = [run.detector.name for run in runs if run.detector.can_freeze]
        captions += [f"{name} is frozen: it does not learn" for name in frozen]
    return captions


def describe_pace(rate_hz: float, wanted_hz: float) -> list[str]:
    """Return a phrase if fewer frames are processed per second than wanted."""
    if 0 < rate_hz < _BEHIND * wanted_hz:
        return [f"behind real time: {rate_hz:.0f} of {wanted_hz:.0f} frames/s"]
    return []
