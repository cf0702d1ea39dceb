"""Data types shared by sources, detectors and sinks: frames, masks, results, and checks of their arrays."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub.stages import StageTrace

__all__ = [
    "FRAME_DTYPES",
    "RATE_INTERVAL",
    "Frame",
    "Mask",
    "Packet",
    "Result",
    "Score",
    "Timings",
    "VideoInfo",
    "as_array",
    "check_frame",
    "check_mask",
    "check_output",
    "plausible_rate",
]

Frame = NDArray[Any]
"""(H, W, 3) BGR or (H, W) grey array of uint8, uint16 or float32."""

Mask = NDArray[np.uint8]
"""(H, W) uint8 array, 255 foreground and 0 background."""

Score = NDArray[np.float32]
"""(H, W) float32 array, positive is foreground, at most 1."""

FRAME_DTYPES = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.float32))
"""Pixel types that frames may have."""


_LEAST_RATE_HZ, _MOST_RATE_HZ = 1e-6, 1e6  # a frame in twelve days to a frame in a microsecond
RATE_INTERVAL = f"[{_LEAST_RATE_HZ:g}, {_MOST_RATE_HZ:g}]"
"""Frame rates in Hz that sources report and detectors accept."""


@dataclass(frozen=True, slots=True)
class VideoInfo:
    """Description of a source before its first frame; None where a value is unknown."""

    name: str
    """Name of the source in messages, without credentials."""
    size: tuple[int, int] | None = None
    """(height, width) in pixels of the frames it delivers."""
    rate_hz: float | None = None
    """Nominal frames per second of the frames it delivers."""
    count: int | None = None
    """Number of frames it will deliver; an estimate from the container for video files."""
    live: bool = False
    """True for cameras and streams, which do not wait for a slow reader."""


@dataclass(frozen=True, slots=True)
class Packet:
    """One decoded frame. The receiver may keep it: nothing writes to `frame` again."""

    index: int
    """0-based, counts the frames delivered by the source."""
    time_s: float
    """Presentation time in seconds, as stored in the container."""
    frame: Frame
    """(H, W, 3) BGR or (H, W) grey, C-contiguous."""
    number: int
    """The frame's own number: the digits in its file name for images, else its 1-based position in the source."""


@dataclass(frozen=True, slots=True)
class Timings:
    """Times spent on one frame, in milliseconds."""

    wait_ms: float = 0.0
    detect_ms: float = 0.0
    postprocess_ms: float = 0.0

    @property
    def total_ms(self) -> float:
        """Time of detection and post-processing, without waiting for the frame."""
        return self.detect_ms + self.postprocess_ms


@dataclass(frozen=True, slots=True)
class Result:
    """Output of a pipeline for one frame, passed to every sink."""

    packet: Packet
    mask: Mask
    score: Score | None = None
    timings: Timings = field(default_factory=Timings)
    stages: StageTrace | None = None
    """The masks on the way to the final one, if they were asked for."""


def plausible_rate(rate_hz: float | None) -> float | None:
    """Return a frame rate in Hz as a file or driver states it; None if it is outside `RATE_INTERVAL`."""
    return rate_hz if rate_hz is not None and _LEAST_RATE_HZ <= rate_hz <= _MOST_RATE_HZ else None


_CPU = 1  # DLDeviceType of DLPack


def as_array(image: object, name: str) -> NDArray[Any]:
    """Return what holds an image as a numpy array, if possible without a copy.

    Parameters
    ----------
    image : numpy array, cv2.UMat, or object with `__dlpack__` or `__array__`
        Such as a tensor of another library, in main memory.
    name : str
        Name of the argument in the message.

    Returns
    -------
    array
        Of its shape and dtype.

    Raises
    ------
    ValueError
        If it is none of these, or cannot be read from main memory.
    """
    if isinstance(image, np.ndarray):
        return image
    kind: Any = type(image)
    try:
        if kind.__module__ == "cv2" and kind.__name__ == "UMat":
            return np.asarray(image.get())  # type: ignore[attr-defined]
        if hasattr(kind, "__dlpack__") and hasattr(kind, "__dlpack_device__"):
            if image.__dlpack_device__()[0] != _CPU:  # type: ignore[attr-defined]
                raise ValueError(f"{name} must be in main memory; copy it there from the device first")
            array = np.from_dlpack(image)  # type: ignore[arg-type]
        elif hasattr(kind, "__array__"):
            array = np.asarray(image)
        else:
            raise ValueError(f"{name} must be a numpy array, or have __dlpack__ or __array__, got {kind.__name__}")
    except (BufferError, RuntimeError, TypeError) as error:
        raise ValueError(f"{name} cannot be read as an array: {error}") from error
    return _as_compiled(array)


def _as_compiled(array: NDArray[Any]) -> NDArray[Any]:
    """Copy a read-only array, as `np.frombuffer` makes: code for such ones would be compiled first, for seconds."""
    return array if array.flags.writeable else array.copy()


def check_frame(frame: object, name: str = "frame") -> Frame:
    """Check dtype and shape of a frame and make it C-contiguous.

    Parameters
    ----------
    frame : (H, W), (H, W, 1), (H, W, 3) or (H, W, 4) array of uint8, uint16 or float32
        The image to check: a numpy array, a cv2.UMat, or an object with `__dlpack__` or `__array__`.
    name : str
        Name of the argument in the message.

    Returns
    -------
    (H, W) or (H, W, 3) array
        The same pixels; (H, W, 1) becomes (H, W), and of (H, W, 4) the last channel, alpha, is left out.

    Raises
    ------
    ValueError
        If the shape or dtype is another, or a float frame is not finite.
    """
    frame = as_array(frame, name)
    if frame.dtype not in FRAME_DTYPES:
        raise ValueError(f"{name} must be uint8, uint16 or float32, got {frame.dtype}")
    if frame.ndim == 3 and frame.shape[2] == 1:
        frame = frame[:, :, 0]
    elif frame.ndim == 3 and frame.shape[2] == 4:
        frame = frame[:, :, :3]
    if frame.size == 0 or not (frame.ndim == 2 or (frame.ndim == 3 and frame.shape[2] == 3)):
        raise ValueError(f"{name} must have shape (H, W) or (H, W, 3 or 4) with at least one pixel, got {frame.shape}")
    if frame.dtype == np.float32 and not np.isfinite(frame).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity in {np.sum(~np.isfinite(frame))} values")
    return _as_compiled(np.ascontiguousarray(frame))


def check_mask(mask: object, shape: tuple[int, int], name: str) -> Mask:
    """Check a boolean or uint8 (H, W) selection and return it as 0 and 255.

    Raises
    ------
    ValueError
        If the dtype or shape is another.
    """
    mask = as_array(mask, name)
    if mask.dtype not in (np.bool_, np.uint8):
        raise ValueError(f"{name} must be a bool or uint8 array, got {mask.dtype}")
    if mask.shape != shape:
        raise ValueError(f"{name} must have the frame's shape {shape}, got {mask.shape}")
    return np.ascontiguousarray(np.where(mask, np.uint8(255), np.uint8(0)))


def check_output(array: object, shape: tuple[int, ...], dtype: type[np.generic], name: str) -> None:
    """Check an array that is to be filled.

    Raises
    ------
    ValueError
        If it has another shape or dtype, or is read-only.
    """
    if not isinstance(array, np.ndarray):
        got = type(array).__name__
    elif array.shape != shape or array.dtype != dtype:
        got = f"{array.dtype} {array.shape}"
    elif not array.flags.writeable:
        got = "a read-only one"
    else:
        return
    raise ValueError(f"{name} must be a writable {np.dtype(dtype)} array of shape {shape}, got {got}")
