"""Small data sets made for a test."""

import cv2  # noqa: TID251 - files as a user would have them
import numpy as np


def write_sequence(folder, labels, *, first=1, interval=None, roi=None, suffix=".png", grey=False):
    """A sequence whose frames hold their number as brightness."""
    (folder / "input").mkdir(parents=True)
    (folder / "groundtruth").mkdir()
    for i, truth in enumerate(labels):
        frame = np.full(truth.shape if grey else (*truth.shape, 3), 10 + i, np.uint8)
        assert cv2.imwrite(str(folder / "input" / f"in{first + i:06d}{suffix}"), frame)
        assert cv2.imwrite(str(folder / "groundtruth" / f"gt{first + i:06d}.png"), truth)
    if interval is not None:
        (folder / "temporalROI.txt").write_text(f"{interval[0]} {interval[1]}")  # no line end, as published
    if roi is not None:
        assert cv2.imwrite(str(folder / "ROI.bmp"), roi)
    return folder


def plain(count, size=(4, 6)):
    labels = np.zeros((count, *size), np.uint8)
    labels[:, 0] = 255
    return labels


def moving(count, size=(48, 64), seed=0):
    """Labels of a square that moves, with shadow, unknown and unlabelled pixels at random."""
    generator = np.random.default_rng(seed)
    labels = np.zeros((count, *size), np.uint8)
    for i in range(count):
        labels[i][generator.random(size) < 0.02] = generator.choice([50, 85, 170])
        x = 2 * i % (size[1] - 12)
        labels[i, 10:22, x : x + 12] = 255
    return labels


def write_moving(folder, count=30, size=(48, 64), seed=0, interval=None):
    """A sequence whose frames show what the labels say: a bright square on noise."""
    write_sequence(folder, moving(count, size, seed), interval=interval)
    generator = np.random.default_rng(seed)
    for i, path in enumerate(sorted((folder / "input").iterdir())):
        truth = moving(count, size, seed)[i]
        frame = generator.normal(90, 3, (*size, 3))
        frame[truth == 255] += 110
        assert cv2.imwrite(str(path), np.clip(frame, 0, 255).astype(np.uint8))
    return folder
