"""Compile ahead of time what a detector would compile at its first frames."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from bgsub._jit.majority import median
from bgsub._numba import JIT_ENABLED, report_compiling
from bgsub.detectors import create
from bgsub.detectors.adaptive import Adaptive, lighting, reduced, shadows
from bgsub.detectors.adaptive.camera import offsets, shifts
from bgsub.errors import UnsupportedError
from bgsub.frames import Frame, Packet
from bgsub.objects import find_objects
from bgsub.pipeline import Pipeline
from bgsub.postprocess import Postprocess

__all__ = ["cache_folder", "warm_up"]


_SIZE = (96, 160)
_DIM = 4  # last frames, under less light
_STAYS = 52  # frames: two seconds and some, after which adaptive keeps what a ghost takes the place of
_FRAMES = _STAYS + 36  # beyond the warm-up of every detector


def warm_up(name: str = "adaptive", dtype: DTypeLike = np.uint8, **parameters: Any) -> list[str]:
    """Compile what a detector, post-processing and `find_objects` need for frames of a type; a cache on disk keeps it.

    Parameters
    ----------
    name : str
        Name of the detector.
    dtype : uint8, uint16 or float32
        Type of the frames.
    **parameters
        Of the detector; few of them decide what is compiled.

    Returns
    -------
    list of str
        Names of the functions that were compiled; empty if all were in the cache.

    Raises
    ------
    ValueError
        If there is no such detector, or it has no such parameter.
    """
    compiled: list[str] = []
    detector = create(name, **parameters)
    pipeline = Pipeline(detector, postprocess=Postprocess())  # with a median, which any run may ask for
    with report_compiling(compiled.append):
        for index, frame in enumerate(_frames(np.dtype(dtype))):
            pipeline.want_score = detector.can_score and index % 4 == 3
            pipeline.step(Packet(index, index / 25, frame, index + 1))
        if detector.can_score:
            detector.score(frame)
        if isinstance(detector, Adaptive):
            for module in (lighting, reduced, shadows, shifts):
                module.compile_seldom_needed(np.dtype(dtype))
            offsets.compile_seldom_needed()
        find_objects(np.full(_SIZE, 255, np.uint8), score=np.zeros(_SIZE, np.float32))
        detector.background_image()
    return compiled


def cache_folder() -> str:
    """Return one of the folders that keep compiled code; without NUMBA_CACHE_DIR there is one beside each `_jit`.

    Raises
    ------
    UnsupportedError
        If nothing is compiled, or no folder for it can be written.
    """
    if not JIT_ENABLED:
        raise UnsupportedError("nothing is compiled under NUMBA_DISABLE_JIT=1; unset it")
    folder: str | None = median.stats.cache_path  # type: ignore[attr-defined]
    if folder is None:
        raise UnsupportedError("no folder for compiled code can be written; set NUMBA_CACHE_DIR to one that can")
    return folder


def _frames(dtype: np.dtype[Any]) -> Iterator[Frame]:
    """Yield frames with an object that leaves a ghost, then with one that passes, and at last under less light."""
    white = 1.0 if dtype.kind == "f" else float(np.iinfo(dtype).max)
    noise = np.random.default_rng(0)
    for index in range(_FRAMES):
        image = noise.uniform(0.3, 0.35, (*_SIZE, 3))
        if index < _STAYS:
            image[30:70, 20:60] = 0.9
        else:
            left = 72 + index - _STAYS
            image[20:60, left : left + 30] = 0.02  # darker than any shadow
            image[40:60, left - 20 : left] *= 0.6  # its shadow
            image[60:75, left : left + 30] *= 0.6  # and what looks like one, but has the object above and below
            image[75:85, left : left + 30] = 0.02
            image[2:16, left - 20 : left] *= 0.6  # a shade that nothing casts
        if index >= _FRAMES - _DIM:
            image *= 0.5
        yield (image * white).astype(dtype)
