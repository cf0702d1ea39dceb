"""One camera: from its frames to events, on a thread of its own."""

import datetime
import logging
import threading
import time
from collections.abc import Sequence
from typing import Any, Protocol

from bgsub.errors import BgsubError, conceal
from bgsub.events import Event, EventMachine, Measure, SceneChange
from bgsub.frames import Result
from bgsub.pipeline import Pipeline
from bgsub.roi import open_region
from bgsub.video.prefetch import Prefetch
from bgsub.video.sources import FrameSource
from bgsub.video.sources.slice import Slice
from bgsub.watching.cameras.clocks import Clocks
from bgsub.watching.cameras.cutting import Cutter
from bgsub.watching.cameras.feeds import Piece, may_return, open_pieces
from bgsub.watching.cameras.model import ModelKeeper
from bgsub.watching.cameras.pictures import Pictures
from bgsub.watching.cameras.recorder import Recorder
from bgsub.watching.cameras.status import CameraStatus
from bgsub.watching.cameras.watched import WatchedEvent
from bgsub.watching.settings import CameraSettings, WatchSettings

__all__ = ["Camera", "Listener"]

logger = logging.getLogger(__name__)

_LOOK_S = 0.25
_LOST_S = 5.0
"""Time without a frame after which what was going on counts as over."""

_AGAIN_S = 30.0
"""Pause after a failure that no other attempt is likely to mend."""


class Listener(Protocol):
    """What is to know of a camera; its methods are called on the thread of the camera."""

    def on_event(self, event: dict[str, Any]) -> None:
        """Take an event."""

    def on_motion(self, camera: str, region: str, *, moves: bool) -> None:
        """Note whether something moves in a region; the empty name is the whole frame."""

    def on_available(self, camera: str, *, available: bool) -> None:
        """Note whether the camera delivers."""


class Camera:
    """Watches one camera until it ends or is closed. Nothing that happens here disturbs another camera.

    Parameters
    ----------
    settings : CameraSettings
    watch : WatchSettings
        Folder of outputs, and what else is common to all cameras.
    listener : Listener
        Gets events and states.
    """

    def __init__(self, settings: CameraSettings, watch: WatchSettings, listener: Listener) -> None:
        self.settings, self._watch, self._listener = settings, watch, listener
        self.status = CameraStatus(settings.name, settings.address, regions=list(settings.scan.regions) or [""])
        self._stop = threading.Event()
        state = watch.output / ".watch"
        self._state = state
        self._keeper = ModelKeeper(
            watch.output / "models" / f"{settings.name}.npz", state, settings, watch.save_every_s
        )
        self._machine = EventMachine(settings.scan.rules, list(settings.scan.regions))
        self._clocks, self._pictures = Clocks(), Pictures()
        self._cutter = Cutter(watch.output, settings, watch.clips)
        self._recorder: Recorder | None = None
        self._pipeline: Pipeline | None = None
        self._measure = Measure()
        self._size: tuple[int, int] | None = None
        self._segment_begin = 0
        """Number of the first stretch of the present segment."""
        self._held: list[tuple[float, WatchedEvent]] = []
        """Events, and the time until which their clips go on."""
        self._thread = threading.Thread(target=self._run, name=f"bgsub-camera-{settings.name}", daemon=True)

    @property
    def done(self) -> bool:
        """Whether it has ended by itself, as a file does."""
        return self._thread.ident is not None and not self._thread.is_alive()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def ask_to_end(self) -> None:
        """Ask for the end."""
        self._stop.set()

    def close(self, patience_s: float = 30.0) -> None:
        """Wait for the end, with the model saved and all clips complete."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(patience_s)
            if self._thread.is_alive():
                logger.error("%s does not end; its model and its last clip may be missing", self.settings.name)

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                try:
                    for piece in open_pieces(self.settings, self._state, self._stop.wait, self._note_trouble):
                        self._watch_piece(piece)
                    break
                except BgsubError as error:
                    self._note_trouble(str(error))
                except Exception as error:
                    self._note_trouble(conceal(f"unexpected {type(error).__name__}: {error}"))
                    logger.debug("%s", self.settings.name, exc_info=True)
                if not (self.settings.folder or may_return(self.settings.source)):
                    self.status.failed = True
                    break
                self._stop.wait(_AGAIN_S)
        finally:
            self._finish_events()
            self._keeper.close(None if self._pipeline is None else self._pipeline.detector)
            self._set_available(available=False)

    def _watch_piece(self, piece: Piece) -> None:
        info = piece.source.info
        scale, skip = self.settings.scan.sampling(info)
        try:
            sliced: FrameSource = (
                piece.source if (scale, skip) == (1, 1) else Slice(piece.source, None, None, skip, scale)
            )
            pipeline = self._prepare(piece.source, scale, skip)
            self._connect_recorder(piece)
            size = info.size or (0, 0)
            rate_hz = info.rate_hz or 25.0
            self._segment_begin = self._clocks.stretch + 1
            self._clocks.begin(piece.name, live=info.live, size=size, rate_hz=rate_hz, path=piece.path)
            packets = Prefetch(sliced, stop=self._stop.is_set)
        except BaseException:
            piece.source.close()
            raise
        failure: BgsubError | None = None
        with packets:
            try:
                self._read(packets, pipeline, live=info.live)
            except BgsubError as error:
                failure = error
        if failure is not None:
            self._note_trouble(str(failure))
            logger.warning("%s: %s", self.settings.name, failure)
            self.status.failures += 1
        if not self.settings.folder:
            self._finish_events()
        elif self._stop.is_set():
            self._forget_segment()
        self._release_held(float("inf"))

    def _forget_segment(self) -> None:
        """Leave out what began in a segment that was not read to its end: another run reads it again."""
        first = self._segment_begin
        self._take([one for one in self._machine.finish() if one.start.file < first])
        self._held = [one for one in self._held if one[1].began < first]

    def _read(self, packets: Prefetch, pipeline: Pipeline, *, live: bool) -> None:
        heard_s, dropped = time.monotonic(), 0
        while not self._stop.is_set():
            if not packets.ready(_LOOK_S):
                self.status.trouble = packets.trouble
                if time.monotonic() - heard_s > _LOST_S and live:
                    self._set_available(available=False)
                    self._finish_events()
                continue
            packet = packets.read()
            if packet is None:
                return
            heard_s = time.monotonic()
            self._see(pipeline.step(packet))
            self._keeper.see(pipeline.detector)
            self.status.dropped += packets.dropped - dropped
            dropped = packets.dropped
            self.status.note_frame()
            self._set_available(available=True)

    def _see(self, result: Result) -> None:
        now = datetime.datetime.now().astimezone()
        time_s = self._clocks.see(result.packet.time_s, now)
        if time_s is None:
            return
        observation = self._measure(result, file=self._clocks.stretch, time_s=time_s)
        found = self._machine.see(observation)
        self._pictures.see(observation, result.packet.frame)
        self._take(found)
        since_s = self._machine.since_s
        if self._recorder is not None:
            self._recorder.see(time_s, since_s, now)
        self._release_held(time_s)
        self._pictures.forget_before(min(time_s - 30, time_s if since_s is None else since_s))
        self._set_motion(self._machine.active)

    def _take(self, found: Sequence[Event | SceneChange]) -> None:
        for one in found:
            if isinstance(one, SceneChange):
                self.status.scene_changes += 1
                logger.info("%s: the scene has changed (%s)", self.settings.name, one.cause)
                continue
            event = WatchedEvent.of(self.settings, one, self._clocks)
            event.thumbnail = self._cutter.write_picture(event, self._pictures)
            until_s = 0.0
            if self._recorder is not None:
                event.clips = [f"clips/{name}" for name in self._recorder.name_clips(one)]
                until_s = one.end.time_s + self.settings.scan.rules.after_s
            elif self.settings.folder:
                until_s = float("inf")  # with its segment, so that one that is read again reports nothing twice
            self._held.append((until_s, event))

    def _release_held(self, time_s: float) -> None:
        """Report the events whose clips are complete."""
        held, self._held = self._held, []
        for until_s, event in held:
            if until_s > time_s:
                self._held.append((until_s, event))
                continue
            if self._recorder is None:
                event.clips = self._cutter.cut(event)
            self.status.events += 1
            self._listener.on_event(event.to_json())

    def _finish_events(self) -> None:
        """Report what is going on as over."""
        self._take(self._machine.finish())
        if self._recorder is not None:
            self._recorder.finish()
        self._release_held(float("inf"))
        self._set_motion([])

    def _prepare(self, source: FrameSource, scale: float, skip: int) -> Pipeline:
        """Return the pipeline, a new one where the size of the frames has changed."""
        info, scan = source.info, self.settings.scan
        if self._pipeline is not None and info.size == self._size:
            return self._pipeline
        self._size = info.size
        shape = None if info.size is None else tuple(max(1, round(side * scale)) for side in info.size)
        detector = self._keeper.load(shape) or scan.config.make_detector(  # type: ignore[arg-type]
            rate_hz=None if info.rate_hz is None else info.rate_hz / skip, threads=self.settings.threads
        )
        config = scan.config
        self._pipeline = Pipeline(
            detector,
            postprocess=config.postprocess,
            learning_rate=config.learning_rate,
            region=open_region(config.roi).scaled(scale) if config.roi else None,
            warmup=0 if detector.frames_seen else config.warmup or 0,
            want_score=detector.can_score,
        )
        regions = {name: open_region(text).scaled(scale) for name, text in scan.regions.items()}
        self._measure = Measure(regions, min_area=scan.rules.min_area)
        return self._pipeline

    def _connect_recorder(self, piece: Piece) -> None:
        """Let packets be kept, where clips are wanted and the source has any."""
        if self._watch.clips is None or not self.settings.clips or piece.path is not None:
            return
        if self._recorder is None:
            folder = self._cutter.folder("clips")
            self._recorder = Recorder(folder, self.settings.name, self.settings.scan.rules, self._watch.clips)
            self.status.recorder = self._recorder
        if not piece.source.pass_packets(self._recorder.ring) and not self.status.clipless:
            self.status.clipless = True
            logger.warning("%s has no packets that could be stored; there are no clips of it", self.settings.name)

    def _note_trouble(self, reason: str) -> None:
        if self.status.trouble != reason:
            logger.warning("%s: %s", self.settings.name, reason)
        self.status.trouble = reason
        self._set_available(available=False)

    def _set_available(self, *, available: bool) -> None:
        if available:
            self.status.trouble = None
        if self.status.available != available:
            self.status.available = available
            self._listener.on_available(self.settings.name, available=available)

    def _set_motion(self, active: Sequence[str]) -> None:
        for region in self.status.motion:
            moves = region in active
            if self.status.motion[region] != moves:
                self.status.motion[region] = moves
                self._listener.on_motion(self.settings.name, region, moves=moves)
