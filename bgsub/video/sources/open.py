"""Open a source by the text that names it: find its kind among the registered ones."""

from os import PathLike, fspath

from bgsub._plugins import Registry, warn_once
from bgsub.errors import SourceError
from bgsub.video._text import public_name
from bgsub.video.sources.base import FrameSource, SourceOptions
from bgsub.video.sources.position import parse_position
from bgsub.video.sources.slice import Slice

__all__ = ["SOURCES", "open_source"]

SOURCES: Registry[FrameSource] = Registry(
    "bgsub.sources",
    FrameSource,  # type: ignore[type-abstract]
    {
        "camera": "bgsub.video.sources.camera:Camera",
        "synthetic": "bgsub.video.sources.synthetic.source:SyntheticSource",
        "stream": "bgsub.video.sources.stream:NetworkStream",
        "images": "bgsub.video.sources.images:ImageSequence",
        "file": "bgsub.video.sources.file:VideoFile",
    },
)
"""Every kind of source; the first that accepts a text opens it, those that accept almost anything are asked last."""


def open_source(
    text: str | PathLike[str],
    *,
    start: int | float | str | None = None,
    end: int | float | str | None = None,
    skip: int = 1,
    scale: float = 1.0,
    rate_hz: float | None = None,
    size: tuple[int, int] | None = None,
    reconnects: int = 8,
    stall_timeout_s: float = 5.0,
    auth: str | None = None,
) -> FrameSource:
    """Open a source of frames of any registered kind.

    Parameters
    ----------
    text : str or path
        A video file, a pipe, or ``-`` for standard input; a folder of images, a pattern like ``in%06d.jpg`` or a glob
        like ``"*.png"``; ``camera:0`` or ``0``; an rtsp, http, https, rtmp or udp address;
        ``synthetic:NAME?seed=3&frames=200``; or a text that a source of another package accepts.
    start, end : int, float or str, optional
        First and last frame, both included. An integer or ``"120"`` is a frame number as in `Packet.number`
        (digits of the file name for images, else counted from 1); a float, ``"3.5s"``, ``"MM:SS"`` or
        ``"HH:MM:SS.mmm"`` is a time as in `Packet.time_s`.
    skip : int
        Deliver every n-th frame.
    scale : float
        Make frames smaller by this factor, in (0, 1].
    rate_hz : float, optional
        Rate of an image sequence (25 by default), or to request from a camera.
    size : tuple of int, optional
        (height, width) to request from a camera.
    reconnects : int
        Attempts in a row to open a lost camera or stream again.
    stall_timeout_s : float
        Time without data after which a stream counts as lost.
    auth : str, optional
        ``user:password`` for an rtsp or http address that has none; by default the environment variable BGSUB_AUTH.

    Returns
    -------
    FrameSource
        To be closed, best by ``with``.

    Raises
    ------
    SourceError
        If it cannot be opened, or a frame of a file, stream or image has more than 2**27 pixels; the environment
        variable BGSUB_MAX_FRAME_PIXELS sets another limit.
    ValueError
        If a parameter is out of range, or does not apply to this kind of source.

    Examples
    --------
    >>> import tempfile
    >>> from bgsub._opencv import cv2
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for number in range(1, 9):
    ...         done = cv2.imwrite(f"{folder}/in{number:06d}.png", np.full((6, 8), number, np.uint8))
    ...     with open_source(f"{folder}/in%06d.png", start=3, skip=2) as source:
    ...         print(source.info.count, [packet.number for packet in source])
    3 [3, 5, 7]
    """
    first, last = parse_position(start, "start"), parse_position(end, "end")
    name = fspath(text)
    if not name.strip():
        raise SourceError("the name of the source is empty; give a file, a folder, camera:0 or an address")
    options = SourceOptions(rate_hz, size, reconnects, stall_timeout_s, auth)
    kind, found = _find_kind(name)
    for option in ("rate_hz", "size"):
        if option not in found.uses and getattr(options, option) is not None:
            users = [other for other, one in SOURCES.items() if option in one.uses]
            raise ValueError(
                f"{option} applies to sources of the kinds {' and '.join(users)}, "
                f"got {getattr(options, option)} for the kind {kind}"
            )
    if auth is not None and "auth" not in found.uses:
        raise ValueError(f"auth applies to rtsp and http addresses, got a source of the kind {kind}")
    source = found.from_text(name, options)
    if first is None and last is None and skip == 1 and scale == 1:
        return source
    try:
        return Slice(source, first, last, skip, scale)
    except BaseException:
        source.close()
        raise


def _find_kind(text: str) -> tuple[str, type[FrameSource]]:
    """Return name and class of the first kind that accepts the text.

    Raises
    ------
    SourceError
        If none does; it lists the forms that are accepted.
    """
    last: list[tuple[str, type[FrameSource]]] = []
    for name, kind in SOURCES.items():
        if kind.asked_last:
            last.append((name, kind))
        elif _accepts(name, kind, text):
            return name, kind
    for name, kind in last:
        if _accepts(name, kind, text):
            return name, kind
    forms = "; ".join(kind.text_form for kind in SOURCES.values() if kind.text_form)
    raise SourceError(f"cannot open {public_name(text)}: no kind of source accepts it; give {forms}")


def _accepts(name: str, kind: type[FrameSource], text: str) -> bool:
    try:
        return kind.accepts(text)
    except Exception as error:  # noqa: BLE001 - a defect of one kind must not keep the others from being asked
        warn_once(f"the source kind {name} fails on {public_name(text)} ({error}); it is not used")
        return False
