"""Write mask, overlay and figures while a person watches, in videos whose time never jumps."""

from dataclasses import dataclass, replace
from pathlib import Path

from bgsub.frames import Result
from bgsub.video.sinks import MaskVideo, OverlayVideo, Sink, StatsCsv
from bgsub.video.sinks.overlay import Style

__all__ = ["Outputs", "Recorder"]


@dataclass(frozen=True, slots=True)
class Outputs:
    """What to record, and where to; None leaves one out."""

    mask: Path | None = None
    """A name ending in .mkv."""
    overlay: Path | None = None
    """A name ending in .mp4 or .mkv."""
    stats: Path | None = None
    """A name ending in .csv."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """Those that are wanted."""
        return tuple(path for path in (self.mask, self.overlay, self.stats) if path is not None)


class Recorder:
    """Open sinks.

    Parameters
    ----------
    outputs : Outputs
        What and where to; existing files are overwritten, since the person was asked.
    rate_hz : float
        Nominal frame rate.
    style : {"contour", "tint"}
        Of the overlay.

    Raises
    ------
    SinkError
        If one of them cannot be written.
    ValueError
        If nothing is to be recorded.
    """

    def __init__(self, outputs: Outputs, rate_hz: float, style: Style = "contour") -> None:
        if not outputs.paths:
            raise ValueError("outputs must name at least one file, got none")
        self.outputs = outputs
        self._sinks: list[Sink] = []
        self._frames = 0
        try:
            if outputs.mask is not None:
                self._sinks.append(MaskVideo(outputs.mask, rate_hz=rate_hz, force=True))
            if outputs.overlay is not None:
                self._sinks.append(OverlayVideo(outputs.overlay, rate_hz=rate_hz, style=style, force=True))
            if outputs.stats is not None:
                self._sinks.append(StatsCsv(outputs.stats, force=True))
        except BaseException:
            self.close()
            raise

    @property
    def frames(self) -> int:
        """Frames written."""
        return self._frames

    def write(self, result: Result, elapsed_s: float) -> None:
        """Append one result at a time that goes on over jumps and loops.

        Raises
        ------
        SinkError
            If one of the files cannot be written.
        """
        packet = result.packet
        continued = replace(result, packet=replace(packet, time_s=elapsed_s))
        for sink in self._sinks:
            sink.write(result if isinstance(sink, StatsCsv) else continued)
        self._frames += 1

    def close(self) -> None:
        """Finish every file, also when one of them fails.

        Raises
        ------
        SinkError
            The first failure.
        """
        sinks, self._sinks = self._sinks, []
        failure: Exception | None = None
        for sink in sinks:
            try:
                sink.close()
            except Exception as error:  # noqa: BLE001 - the others must be closed first
                failure = failure or error
        if failure is not None:
            raise failure
