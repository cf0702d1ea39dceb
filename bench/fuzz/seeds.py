"""Healthy inputs to damage: small videos in many containers, models, learners, settings, regions and images."""

import json
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

import bgsub
from bgsub._opencv import cv2
from bgsub.config import Config
from bgsub.learners import KernelPerceptron, save

__all__ = ["make_seeds"]

SIZE = (48, 64)
_FRAMES = 16
_RATE_HZ = 25
_YUV = "yuv420p"
_VIDEOS: dict[str, tuple[str, str, dict[str, str], dict[str, str]]] = {
    "ffv1.mkv": ("ffv1", "bgr0", {}, {}),
    "h264.mkv": ("libx264", _YUV, {"g": "8"}, {}),
    "h264.mp4": ("libx264", _YUV, {"g": "8"}, {}),
    "fast.mp4": ("libx264", _YUV, {"g": "8"}, {"movflags": "faststart"}),
    "fragments.mp4": ("libx264", _YUV, {"g": "8"}, {"movflags": "frag_keyframe+empty_moov"}),
    "h264.ts": ("libx264", _YUV, {"g": "8"}, {}),
    "h264.flv": ("libx264", _YUV, {"g": "8"}, {}),
    "h264.avi": ("libx264", _YUV, {"g": "8"}, {}),
    "mpeg4.avi": ("mpeg4", _YUV, {"g": "8", "bf": "2"}, {}),
    "mjpeg.avi": ("mjpeg", "yuvj420p", {}, {}),
    "mpeg2.mpg": ("mpeg2video", _YUV, {"g": "8"}, {}),
    "vp8.webm": ("libvpx", _YUV, {}, {}),
    "vp9.webm": ("libvpx-vp9", _YUV, {"cpu-used": "8"}, {}),
    "vp8.ogv": ("libvpx", _YUV, {}, {}),
    "wmv2.wmv": ("wmv2", _YUV, {}, {}),
    "flv1.flv": ("flv1", _YUV, {}, {}),
    "gif.gif": ("gif", "rgb8", {}, {}),
    "png.mov": ("png", "rgb24", {}, {}),
    "alpha.mov": ("qtrle", "argb", {}, {}),
    "prores.mov": ("prores_ks", "yuv422p10le", {}, {}),
    "full.mkv": ("libx264", "yuv444p", {"g": "8"}, {}),
    "ten.mp4": ("libx265", "yuv420p10le", {"x265-params": "log-level=none:keyint=8"}, {}),
    "grey.mkv": ("ffv1", "gray16le", {}, {}),
    "interlaced.mpg": ("mpeg2video", _YUV, {"flags": "+ildct+ilme"}, {}),
}
_IMAGES = (".png", ".jpg", ".bmp", ".tif", ".webp", ".ppm")


def make_seeds(folder: Path) -> dict[str, list[Path]]:
    """Write the inputs into a folder and return their paths by kind: video, model, learner, settings, region, image."""
    folder.mkdir(parents=True, exist_ok=True)
    images = [folder / f"image{suffix}" for suffix in _IMAGES]
    for path in images:
        path.write_bytes(cv2.imencode(path.suffix, _frame(0))[1].tobytes())
    return {
        "video": [_write_video(folder / name, *settings) for name, settings in _VIDEOS.items()],
        "model": [_write_model(folder / f"{name}.npz", name) for name in ("adaptive", "norma", "olk")],
        "learner": [_write_learner(folder / "learner.npz")],
        "settings": [_write_settings(folder / f"{name}.toml", name) for name in ("adaptive", "norma", "olk", "mog2")],
        "region": [_write_region(folder / "region.json"), images[0]],
        "image": images,
    }


def _frame(index: int) -> np.ndarray:
    frame = np.full((*SIZE, 3), (60, 90, 50), np.uint8)
    frame[16:28, 2 * index : 2 * index + 12] = (40, 200, 230)
    return frame


def _write_video(path: Path, codec: str, pixels: str, options: dict[str, str], container: dict[str, str]) -> Path:
    with av.open(str(path), "w", options=container) as output:
        stream = output.add_stream(codec, rate=_RATE_HZ)
        stream.height, stream.width = SIZE
        stream.pix_fmt, stream.options = pixels, options
        for index in range(_FRAMES):
            frame = av.VideoFrame.from_ndarray(_frame(index), format="bgr24").reformat(format=pixels)
            frame.pts, frame.time_base = index, Fraction(1, _RATE_HZ)
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    return path


def _write_model(path: Path, name: str) -> Path:
    model = bgsub.create(name, threads=1)
    for index in range(3):
        model.apply(_frame(index))
    model.save(path)
    return path


def _write_learner(path: Path) -> Path:
    random = np.random.default_rng(0)
    save(KernelPerceptron(sigma=1.0).fit(random.normal(size=(30, 2)), np.arange(30) % 2), path)
    return path


def _write_settings(path: Path, name: str) -> Path:
    path.write_text(Config(name).to_toml(), encoding="utf-8")
    return path


def _write_region(path: Path) -> Path:
    path.write_text(json.dumps({"include": [[[1, 1], [60, 1], [60, 40]]], "exclude": [[[5, 5], [9, 5], [9, 9]]]}))
    return path
