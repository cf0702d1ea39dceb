"""A custom output: one JSON line per frame with the boxes of its foreground regions.

python samples/own_sink.py [VIDEO [OUT.jsonl]]     writes boxes.jsonl by default, over an earlier one
"""

import json
import sys
from pathlib import Path
from typing import TextIO

import cv2

import bgsub
from bgsub.errors import SinkError
from bgsub.video.sinks import SinkOption

CLIP = Path(__file__).with_name("walkers.mp4")


class BoxLines(bgsub.Sink):
    """Writes ``{"frame": ..., "time_s": ..., "boxes": [[x, y, width, height], ...]}``."""

    any_thread = True  # write needs only the result, so it may run while the next frame is processed
    option = SinkOption("boxes", "JSON lines with the boxes of each frame (.jsonl)")  # of `bgsub run`, if registered
    suffixes = (".jsonl",)

    def __init__(self, path: str | Path, *, force: bool = False) -> None:
        self._path = Path(path)
        self._file: TextIO | None = None  # opened by the first result, so that a run that fails early leaves nothing
        if self._path.exists() and not force:
            raise SinkError(f"{path} exists; choose another name or force overwriting")
        if not self._path.parent.is_dir():
            raise SinkError(f"there is no folder {self._path.parent}; create it first")

    def write(self, result: bgsub.Result) -> None:
        """Append the line of one frame."""
        boxes = cv2.connectedComponentsWithStats(result.mask)[2][1:, :4].tolist()  # row 0 is the background
        line = {"frame": result.packet.number, "time_s": round(result.packet.time_s, 3), "boxes": boxes}
        try:
            self._file = self._file or self._path.open("w", encoding="utf-8")
            self._file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise SinkError(f"cannot write {self._path}: {error.strerror}; choose another folder") from error

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


if __name__ == "__main__":
    video = sys.argv[1] if len(sys.argv) > 1 else CLIP
    out = sys.argv[2] if len(sys.argv) > 2 else "boxes.jsonl"
    pipeline = bgsub.Pipeline(bgsub.create(), postprocess=bgsub.Postprocess(median=1, min_area=40))
    summary = bgsub.run(bgsub.open_source(video), pipeline, [BoxLines(out, force=True)])
    print(f"{summary.frames} frames: {out}")
