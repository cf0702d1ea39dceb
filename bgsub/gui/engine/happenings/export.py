"""Writes what was found as `bgsub scan` writes it."""

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bgsub.gui.engine.happenings.ahead import Happenings
from bgsub.gui.engine.notices import describe
from bgsub.scanning import FoundChange, FoundEvent, ScanResult, ScanSettings, write_scan

__all__ = ["Export", "to_result"]

logger = logging.getLogger(__name__)


def to_result(found: Happenings, settings: ScanSettings | None = None) -> ScanResult:
    """Return what was found as the result of a scan."""
    settings = settings or found.settings
    name, digest, files = settings.config.detector, settings.digest(), (found.file,)
    events = [FoundEvent(event, files, name, digest) for event in found.events]
    return ScanResult(events, [FoundChange(change, files) for change in found.changes], [found.file])


class Export:
    """Writes the files of a scan on a thread of its own, since its pictures have to be read from the source.

    Parameters
    ----------
    found : Happenings
        What was found.
    folder : Path
        Folder for the outputs.
    done : callable
        Receives an error as one line, or an empty text, on that thread.
    """

    def __init__(self, found: Happenings, folder: Path, done: Callable[[str], None]) -> None:
        self._found, self._folder, self._done = found, folder, done
        self._thread = threading.Thread(target=self._run, name="bgsub-export", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Wait until everything is written."""
        self._thread.join()

    def _run(self) -> None:
        try:
            self._write()
        except Exception as error:
            logger.debug("the export failed", exc_info=error)
            self._done(describe(error))
        else:
            self._done("")

    def _write(self) -> None:
        found, settings = self._found, self._found.settings
        region = found.task.region
        if region is not None and region.image is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            path = self._folder / "region.json"
            region.save(path)
            settings = replace(settings, config=replace(settings.config, roi=str(path)))
        write_scan(to_result(found, settings), self._folder, settings)
