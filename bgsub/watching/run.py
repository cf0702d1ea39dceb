"""All cameras of a watch, and what becomes of their events."""

import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

from bgsub._files import failure
from bgsub._numba import JIT_ENABLED
from bgsub.errors import BgsubError
from bgsub.warmup import warm_up
from bgsub.watching.cameras.camera import Camera
from bgsub.watching.delivery.event_log import EventLog
from bgsub.watching.delivery.mqtt import Mqtt
from bgsub.watching.delivery.webhook import Webhook
from bgsub.watching.delivery.worker import Delivery
from bgsub.watching.metrics import health, metrics_text, status_line
from bgsub.watching.server import StatusServer
from bgsub.watching.settings import WatchSettings

__all__ = ["watch"]

logger = logging.getLogger(__name__)

_LOOK_S = 0.2
_RETRY_S = 2.0


def _ignore(_: object) -> None:
    """Show nothing."""


def watch(
    settings: WatchSettings,
    *,
    stop: Callable[[], bool] = lambda: False,
    port: int | None = None,
    show: Callable[[str], None] = _ignore,
    on_port: Callable[[int], None] = _ignore,
) -> list[str]:
    """Watch cameras until all of them have ended, or `stop` returns True.

    Parameters
    ----------
    settings : WatchSettings
        As `read_settings` returns them.
    stop : callable
        Asked several times a second whether to end.
    port : int, optional
        Port on the loopback interface for health and metrics; 0 for a free one.
    show : callable
        Called about once a second with a line on how things are.
    on_port : callable
        Called with the port that is in use.

    Returns
    -------
    list of str
        Why cameras were given up, such as files that do not exist.

    Raises
    ------
    SinkError
        If the folder of outputs cannot be written, or another watch writes it, or events are lost because it is full.
    DependencyError
        If MQTT is wanted and paho-mqtt is missing.
    """
    with contextlib.ExitStack() as stack:
        log = _open_log(settings)
        stack.callback(log.close)
        mqtt = None if settings.mqtt is None else Mqtt(settings.mqtt, settings.cameras)
        deliveries: list[Delivery] = []
        if settings.webhook is not None:
            deliveries.append(Delivery(log, log.cursor("webhook"), Webhook(settings.webhook)))
        if mqtt is not None:
            deliveries.append(Delivery(log, log.cursor("mqtt"), mqtt))
            mqtt.start()
        for delivery in deliveries:
            stack.callback(delivery.close)
            delivery.start()
        listener = _Listener(log, mqtt)
        cameras = [Camera(one, settings, listener) for one in settings.cameras]
        states = [camera.status for camera in cameras]
        if port is not None:
            server = StatusServer(
                port, lambda: health(states, deliveries, log), lambda: metrics_text(states, deliveries, log)
            )
            stack.callback(server.close)
            on_port(server.port)
        stack.callback(_close, cameras)
        _compile(settings)
        for camera in cameras:
            camera.start()
        next_s, retry_s = 0.0, 0.0
        while not stop() and not all(camera.done for camera in cameras):
            now = time.monotonic()
            if now >= next_s:
                next_s = now + 1
                show(status_line(states, deliveries, log))
            if log.waiting and now >= retry_s:
                retry_s = now + _RETRY_S
                log.retry()
            time.sleep(_LOOK_S)
    return [f"{camera.name}: {camera.trouble}" for camera in states if camera.failed]


def _compile(settings: WatchSettings) -> None:
    """Compile what the detectors need before any camera is opened: nobody watches it meanwhile, for up to a minute."""
    configs = [camera.scan.config for camera in settings.cameras if JIT_ENABLED]
    different = {repr((one.detector, one.parameters)): one for one in configs}
    for config in different.values():
        name = config.detector
        try:
            compiled = warm_up(name, **config.parameters)
        except (BgsubError, ValueError) as error:
            logger.debug("%s is not compiled ahead (%s); its cameras report it", name, error)
            continue
        if compiled:
            logger.info("compiled %d functions of %s", len(compiled), name)


def _open_log(settings: WatchSettings) -> EventLog:
    for folder in (settings.output, settings.output / ".watch", settings.output / "models"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise failure(folder, error.strerror) from error
    log = EventLog(settings.output / "events.jsonl", settings.output / ".watch", settings.log_bytes)
    for part in (settings.output / "clips").glob(".*"):
        part.unlink(missing_ok=True)  # clips that a killed watch has left incomplete
    return log


def _close(cameras: Sequence[Camera]) -> None:
    for camera in cameras:
        camera.ask_to_end()
    for camera in cameras:
        camera.close()


class _Listener:
    """Passes on what happens at all cameras."""

    def __init__(self, log: EventLog, mqtt: Mqtt | None) -> None:
        self._log, self._mqtt = log, mqtt

    def on_event(self, event: dict[str, Any]) -> None:
        self._log.add(event)

    def on_motion(self, camera: str, region: str, *, moves: bool) -> None:
        if self._mqtt is not None:
            topic = "/".join(filter(None, [camera, region, "motion"]))
            self._mqtt.set_state(topic, "ON" if moves else "OFF")

    def on_available(self, camera: str, *, available: bool) -> None:
        if self._mqtt is not None:
            self._mqtt.set_state(f"{camera}/available", "online" if available else "offline")
