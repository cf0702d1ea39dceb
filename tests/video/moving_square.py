"""Videos made on the spot: a bright square that moves two pixels a frame over a gradient."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from bgsub._opencv import cv2

SIZE = (48, 64)


def square_mask(index: int, size: tuple[int, int] = SIZE) -> np.ndarray:
    """Return the foreground of frame `index`, from 0."""
    mask = np.zeros(size, np.uint8)
    left = 2 * index % (size[1] - 12)
    mask[16:28, left : left + 12] = 255
    return mask


def empty_frame(size: tuple[int, int] = SIZE) -> np.ndarray:
    """Return the image without the square."""
    frame = np.empty((*size, 3), np.uint8)
    frame[..., 0] = np.linspace(20, 60, size[1])
    frame[..., 1] = np.linspace(30, 90, size[0])[:, None]
    frame[..., 2] = 50
    return frame


def square_frame(index: int, size: tuple[int, int] = SIZE, grey: bool = False) -> np.ndarray:
    """Return the image of frame `index`, from 0."""
    frame = empty_frame(size)
    frame[square_mask(index, size) > 0] = (40, 200, 230)
    return cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY) if grey else frame


def write_video(
    path: Path,
    count: int = 30,
    size: tuple[int, int] = SIZE,
    codec: str = "ffv1",
    pixels: str = "bgr0",
    rate: int = 25,
    options: dict[str, str] | None = None,
    container_options: dict[str, str] | None = None,
    times_ms: list[int] | None = None,
    tags: tuple[int, int] | None = None,
    empty: int = 0,
) -> Path:
    """Write the moving square unless the file is there.

    `tags` are colour space and range as in FFmpeg; so many `empty` first frames are without the square.
    """
    if path.exists():
        return path  # H.264 from several threads is not the same bits each time
    with av.open(str(path), "w", options=container_options or {}) as container:
        stream = container.add_stream(codec, rate=rate)
        stream.height, stream.width = size
        stream.pix_fmt = pixels
        stream.options = options or {}
        if times_ms is not None:
            stream.codec_context.time_base = Fraction(1, 1000)
        if tags is not None:
            stream.codec_context.colorspace, stream.codec_context.color_range = tags
        for index in range(count):
            grey = pixels.startswith("gray")
            image = square_frame(index, size, grey) if index >= empty else empty_frame(size)
            frame = av.VideoFrame.from_ndarray(image, format="gray" if grey else "bgr24")
            if tags is not None:
                frame = frame.reformat(format=pixels, dst_colorspace=tags[0], dst_color_range=tags[1])
            else:
                frame = frame.reformat(format=pixels)
            frame.pts = index if times_ms is None else times_ms[index]
            frame.time_base = Fraction(1, rate) if times_ms is None else Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def write_images(
    folder: Path, count: int = 30, first: int = 1, pattern: str = "in%06d.png", grey: bool = False
) -> Path:
    """Write the moving square as images."""
    folder.mkdir(exist_ok=True)
    for index in range(count):
        assert cv2.imwrite(str(folder / (pattern % (first + index))), square_frame(index, grey=grey))
    return folder


class FakeCapture:
    """A camera with so many frames in it."""

    def __init__(self, frames: int = 30, opened: bool = True) -> None:
        self.frames, self.opened, self.index, self.released = frames, opened, 0, False

    def isOpened(self) -> bool:
        return self.opened

    def read(self) -> tuple[bool, np.ndarray | None]:
        if self.index >= self.frames:
            return False, None
        self.index += 1
        return True, square_frame(self.index - 1)

    def set(self, key: int, value: float) -> bool:
        return True

    def get(self, key: int) -> float:
        return 30.0

    def release(self) -> None:
        self.released = True
