"""Pictures of events, and clips of those in files."""

import logging
from pathlib import Path

from bgsub._files import failure
from bgsub.errors import BgsubError, SinkError
from bgsub.scanning.outputs import clip_spans
from bgsub.video.clips import clip_suffix, copy_clip
from bgsub.watching.cameras.pictures import Pictures
from bgsub.watching.cameras.recorder import remove_oldest
from bgsub.watching.cameras.watched import WatchedEvent
from bgsub.watching.settings import CameraSettings, ClipSettings

__all__ = ["Cutter"]

logger = logging.getLogger(__name__)


class Cutter:
    """Writes pictures and clips of the events of one camera. One that cannot be written is reported and left out.

    Parameters
    ----------
    output : Path
        Folder of all outputs.
    camera : CameraSettings
    clips : ClipSettings, optional
        How clips are kept, if there are to be any.
    """

    def __init__(self, output: Path, camera: CameraSettings, clips: ClipSettings | None) -> None:
        self._output, self._camera = output, camera
        self._clips = clips if camera.clips else None
        self.failures = 0

    def folder(self, name: str) -> Path:
        """Return a folder of outputs, made if necessary.

        Raises
        ------
        SinkError
            If it cannot be made.
        """
        path = self._output / name
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise failure(path, error.strerror) from error
        return path

    def write_picture(self, event: WatchedEvent, pictures: Pictures) -> str:
        """Write the picture of an event, and return its name; empty if there is none."""
        name = f"thumbnails/{event.id}.jpg"
        try:
            path = self.folder("thumbnails") / f"{event.id}.jpg"
            return name if pictures.write(path, event.found.event) else ""
        except SinkError as error:
            self._fail(error)
            return ""

    def cut(self, event: WatchedEvent) -> list[str]:
        """Cut the clips of an event out of its files, and return their names."""
        if self._clips is None:
            return []
        names = []
        for position, (file, start_s, end_s) in enumerate(clip_spans(event.found, self._camera.scan.rules)):
            source = self._path_of(file.file)
            if source is None:
                continue
            name = event.id + (f"-{position + 1}" if position else "") + clip_suffix(source)
            try:
                path = self.folder("clips") / name
                temporary = path.with_name(f".{path.name}")
                try:
                    copy_clip(temporary, source, start_s, end_s)
                    temporary.replace(path)
                finally:
                    temporary.unlink(missing_ok=True)
            except (BgsubError, OSError) as error:
                self._fail(error)
            else:
                names.append(f"clips/{name}")
        remove_oldest(self._output / "clips", self._clips.max_bytes)
        return names

    def _path_of(self, name: str) -> str | None:
        """Return the file of a stretch; None for one of a stream, or one that was removed."""
        path = Path(self._camera.source) / name if self._camera.folder else Path(self._camera.source)
        return str(path) if path.is_file() else None

    def _fail(self, error: Exception) -> None:
        self.failures += 1
        logger.error("%s: %s", self._camera.name, error)
