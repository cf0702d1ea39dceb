"""Objects as COCO annotations."""

import contextlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from bgsub._files import OutputLock, check_file, failure, lock_name, open_whole
from bgsub.frames import Result

if TYPE_CHECKING:
    from bgsub.objects import Objects

__all__ = ["CocoFile"]


class CocoFile:
    """A COCO data set: an image for each frame, an annotation for each object, one category.

    Both lists grow in files without names beside the output, not in memory, and become one file at the end.

    Parameters
    ----------
    path : Path
        A name ending in .json.
    force : bool
        Overwrite an existing file.

    Raises
    ------
    SinkError
        If the file exists or cannot be written.
    """

    def __init__(self, path: Path, *, force: bool) -> None:
        self._path, self._force = path, force
        check_file(path, (".json",), force)
        self._images: IO[bytes] | None = None
        self._annotations: IO[bytes] | None = None
        self._lock = OutputLock()
        self._count = 0

    def write(self, result: Result, objects: "Objects") -> None:
        """Add one frame."""
        packet = result.packet
        height, width = result.mask.shape
        try:
            if self._images is None or self._annotations is None:
                self._lock = lock_name(self._path, force=self._force)
                self._images = tempfile.TemporaryFile(dir=self._path.parent)  # noqa: SIM115 - close ends it
                self._annotations = tempfile.TemporaryFile(dir=self._path.parent)  # noqa: SIM115
            image = {
                "id": packet.index + 1,
                "file_name": f"{packet.number:06d}.jpg",
                "width": width,
                "height": height,
                "time_s": round(packet.time_s, 6),
            }
            _add(self._images, image)
            for i, one in enumerate(objects):
                self._count += 1
                annotation = {
                    "id": self._count,
                    "image_id": packet.index + 1,
                    "category_id": 1,
                    "bbox": list(one.box),
                    "area": one.area,
                    "iscrowd": 0,
                    "segmentation": [_polygon(objects, i)],
                    "track_id": one.id,
                    "score": None if one.mean_score is None else round(one.mean_score, 4),
                }
                _add(self._annotations, annotation)
        except OSError as error:
            self._drop()
            raise failure(self._path, error.strerror) from error

    def close(self) -> None:
        """Write the file, if any frame was added."""
        if self._images is None or self._annotations is None:
            return
        try:
            with open_whole(self._path) as file:
                file.write(b'{"images": [')
                _copy(self._images, file)
                file.write(b'],\n"annotations": [')
                _copy(self._annotations, file)
                file.write(b'],\n"categories": [{"id": 1, "name": "object", "supercategory": ""}]}\n')
        finally:
            self._drop()

    def _drop(self) -> None:
        """Remove the lists and the lock."""
        for file in (self._images, self._annotations):
            if file is not None:
                with contextlib.suppress(OSError):  # of a full disk, to which closing tries to write the rest
                    file.close()
        self._images = self._annotations = None
        self._lock.release()


def _polygon(objects: "Objects", i: int) -> list[int]:
    """Return the outline as x, y, x, y, ...; of what is too thin to have one, the box."""
    outline = objects.contour(i)
    if len(outline) >= 3:
        return [int(value) for value in outline.ravel()]
    x, y, width, height = objects.boxes[i].tolist()
    return [x, y, x + width, y, x + width, y + height, x, y + height]


def _add(file: IO[bytes], value: dict[str, Any]) -> None:
    file.write((b",\n" if file.tell() else b"\n") + json.dumps(value).encode())


def _copy(source: IO[bytes], target: Any) -> None:
    source.seek(0)
    shutil.copyfileobj(source, target)
