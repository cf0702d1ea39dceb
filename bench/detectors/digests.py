"""Digests of masks and scores of every detector on every sequence, to hold two versions against each other bit by bit.

    python bench/detectors/digests.py DATA > before.txt

Reads the folders `input` below DATA. Frozen frames, odd learning rates, `where`, a region that comes late, scores,
grey, 16-bit and float frames all take part.
"""

import hashlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np

import bgsub

SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("adaptive", {}),
    ("adaptive", {"detect_shadows": True, "slots": 4}),
    ("adaptive", {"raw": True, "absorb_s": 2.0, "memory_s": 3.0}),
    ("norma", {}),
    ("norma", {"learn_every": 1}),
    ("olk", {}),
    ("olk", {"rho_rule": "quantile", "learn_every": 3}),
    ("olk", {"rho_rule": "pooled"}),
    ("mog2", {}),
    ("knn", {}),
]
OPENCV = ("mog2", "knn")
FORMS: dict[str, Callable[[Any], Any]] = {
    "uint8": lambda image: image,
    "grey16": lambda image: (image if image.ndim == 2 else image.mean(2)).astype(np.uint16) * 257,
    "float32": lambda image: np.float32(image) / np.float32(255),
}


def images(folder: Path) -> Iterator[Any]:
    for path in sorted(folder.iterdir()):
        image = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
        if image is not None:
            yield image


def digest(name: str, parameters: dict[str, Any], frames: Iterator[Any]) -> str:
    model, seen = bgsub.create(name, **parameters), hashlib.sha256()
    ours = name not in OPENCV
    for index, frame in enumerate(frames):
        size = frame.shape[:2]
        if index == 120:
            region = np.zeros(size, np.uint8)
            region[10:, 20:] = 255
            model.roi = region
        if ours and index % 40 == 7:
            model.learn(frame, where=np.broadcast_to(np.arange(size[1]) % 3 > 0, size).copy())
            continue
        rate = -1 if not ours or index % 50 else (0.0 if index % 100 else 0.02)
        if ours and index % 10 == 3:
            score = np.empty(size, np.float32)
            seen.update(model.apply(frame, None, rate, score=score).tobytes())
            seen.update(score.tobytes())
        else:
            seen.update(model.apply(frame, None, rate).tobytes())
    seen.update(model.background_image().tobytes())
    return seen.hexdigest()[:16]


def main() -> None:
    data = Path(sys.argv[1])
    for folder in sorted(path for path in data.rglob("input") if path.is_dir()):
        small = len(list(folder.iterdir())) < 250
        for form, convert in FORMS.items():
            if form != "uint8" and not small:
                continue
            for name, parameters in SETTINGS:
                if form != "uint8" and name in OPENCV:
                    continue
                frames = (convert(image) for image in images(folder))
                print(
                    folder.parent.relative_to(data),
                    form,
                    name,
                    parameters,
                    digest(name, parameters, frames),
                    flush=True,
                )


if __name__ == "__main__":
    main()
