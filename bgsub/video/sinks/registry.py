"""The registered sinks, and the one that an option and a path ask for."""

from pathlib import Path

from bgsub._plugins import Registry
from bgsub.video.sinks.base import Sink, SinkOption

__all__ = ["SINKS", "find_sink", "recordable_sinks", "sink_options"]

SINKS: Registry[Sink] = Registry(
    "bgsub.sinks",
    Sink,  # type: ignore[type-abstract]
    {
        "mask": "bgsub.video.sinks.videos:MaskVideo",
        "images": "bgsub.video.sinks.images:PngSequence",
        "overlay": "bgsub.video.sinks.videos:OverlayVideo",
        "background": "bgsub.video.sinks.images:BackgroundImage",
        "stats": "bgsub.video.sinks.stats:StatsCsv",
        "objects": "bgsub.video.sinks.objects:ObjectFile",
        "model": "bgsub.video.sinks.model:SavedModel",
    },
)
"""Every kind of sink, in the order in which the command line lists them."""


def _kinds_of(option: str) -> list[type[Sink]]:
    return [kind for kind in SINKS.values() if kind.option is not None and kind.option.name == option]


def sink_options() -> list[SinkOption]:
    """Return the options of `bgsub run` that name an output, those that several sinks share merged into one.

    Examples
    --------
    >>> [option.name for option in sink_options()]
    ['mask', 'overlay', 'background', 'stats', 'objects', 'save-model'...]
    """
    shared: dict[str, list[SinkOption]] = {}
    for kind in SINKS.values():
        if kind.option is not None:
            shared.setdefault(kind.option.name, []).append(kind.option)
    return [
        SinkOption(
            name,
            ", or ".join(option.help for option in options),
            next((option.short for option in options if option.short), ""),
            next((option.example for option in options if option.example), ""),
            tuple(setting for option in options for setting in option.settings),
        )
        for name, options in shared.items()
    ]


def find_sink(option: str, path: Path) -> type[Sink]:
    """Return the class that writes to a path given for an option.

    Of several that share the option this is the first that accepts the path. Where none does it is the first of them,
    whose constructor says which names are right.

    Raises
    ------
    ValueError
        If no sink has the option.

    Examples
    --------
    >>> find_sink("mask", Path("bins")).__name__, find_sink("mask", Path("mask.mkv")).__name__
    ('PngSequence', 'MaskVideo')
    """
    kinds = _kinds_of(option)
    if not kinds:
        raise ValueError(f"option must be one of {', '.join(one.name for one in sink_options())}, got {option!r}")
    return next((kind for kind in kinds if kind.accepts(path)), kinds[0])


def recordable_sinks() -> dict[str, type[Sink]]:
    """Return the sinks that need nothing but results, by name: those that can record while the user watches."""
    return {name: kind for name, kind in SINKS.items() if not kind.needs_model}
