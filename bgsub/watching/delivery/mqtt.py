"""Events and states published by MQTT, with the messages by which Home Assistant finds them."""

import json
import logging
import ssl
import threading
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bgsub import __version__
from bgsub.errors import ConfigError, DependencyError
from bgsub.watching.delivery.event_log import Record
from bgsub.watching.delivery.worker import DeliveryError
from bgsub.watching.settings import CameraSettings, MqttSettings

if TYPE_CHECKING:
    from paho.mqtt.client import Client

__all__ = ["Mqtt", "discovery_messages"]

logger = logging.getLogger(__name__)

_WAIT_S = 0.1
_MOST_NUMBERS = 1024  # many times as many states as change while an event is published
_KEEP_ALIVE_S = 30


class Mqtt:
    """One connection to a broker, which is made again whenever it is lost.

    Events are published to ``TOPIC/events`` with quality of service 1, one after the other. States are retained: the
    broker keeps the newest, and gets it again whenever it was gone. The last will is ``offline`` on
    ``TOPIC/available``.

    Parameters
    ----------
    settings : MqttSettings
    cameras : sequence of CameraSettings
        For the discovery messages.

    Raises
    ------
    DependencyError
        If paho-mqtt is missing.
    ConfigError
        If the file of certificates cannot be used.
    """

    name = "mqtt"

    def __init__(self, settings: MqttSettings, cameras: Sequence[CameraSettings]) -> None:
        self._settings = settings
        self._shown = f"the MQTT broker {settings.host}:{settings.port}"
        self._lock = threading.Lock()
        self._states = dict(discovery_messages(settings, cameras)) if settings.discovery else {}
        self._refusal: str | None = None
        self._interrupted = False
        self._changed = threading.Condition()
        self._acknowledged: deque[int] = deque(maxlen=_MOST_NUMBERS)
        """Numbers of the messages that the broker has acknowledged."""
        self._client = self._make_client()

    @property
    def trouble(self) -> str | None:
        """Why there is no connection; None while there is one."""
        if self._client.is_connected():
            return None
        return f"{self._shown} {self._refusal or 'does not answer'}"

    def start(self) -> None:
        """Connect, on a thread of its own, which goes on trying."""
        self._client.connect_async(self._settings.host, self._settings.port, _KEEP_ALIVE_S)
        self._client.loop_start()

    def set_state(self, topic: str, value: str) -> None:
        """Publish a state below the first level of topics; without a connection it is published with the next one."""
        topic = f"{self._settings.topic}/{topic}"
        with self._lock:
            if self._states.get(topic) == value:
                return
            self._states[topic] = value
            if self._client.is_connected():
                self._client.publish(topic, value, qos=1, retain=True)

    def send(self, record: Record) -> None:
        """Publish an event, and wait until the broker has acknowledged it.

        Raises
        ------
        DeliveryError
            If there is no connection, or it was closed meanwhile.
        """
        if (trouble := self.trouble) is not None:
            raise DeliveryError(trouble)
        # Without the condition: the client calls `_note_acknowledged` under a lock that publishing takes, too.
        self._acknowledged.clear()
        number = self._client.publish(f"{self._settings.topic}/events", record.data, qos=1).mid
        with self._changed:
            # Should the connection break, the client publishes it again by itself: doing so here would repeat it.
            while number not in self._acknowledged:
                self._changed.wait(_WAIT_S)
                if self._interrupted:
                    raise DeliveryError(f"{self._shown} does not acknowledge")

    def interrupt(self) -> None:
        """Let `send` fail."""
        self._interrupted = True

    def close(self) -> None:
        """Say that nobody is here any more, and disconnect."""
        if self._client.is_connected():
            farewell = self._client.publish(f"{self._settings.topic}/available", "offline", qos=1, retain=True)
            farewell.wait_for_publish(2.0)
        self._client.disconnect()
        self._client.loop_stop()

    def _make_client(self) -> "Client":
        try:
            from paho.mqtt.client import Client
            from paho.mqtt.enums import CallbackAPIVersion
        except ImportError as error:
            raise DependencyError("MQTT needs the package paho-mqtt; pip install 'bgsub[mqtt]'") from error
        client = Client(CallbackAPIVersion.VERSION2)  # a name by chance: nothing is kept for it by the broker
        client.will_set(f"{self._settings.topic}/available", "offline", qos=1, retain=True)
        client.reconnect_delay_set(1, 30)
        client.suppress_exceptions = False
        if self._settings.auth is not None:
            user, _, password = self._settings.auth.partition(":")
            client.username_pw_set(user, password)
        if self._settings.tls:
            try:
                client.tls_set(self._settings.ca)
            except (OSError, ssl.SSLError) as error:
                reason = error.strerror or "it holds no certificates"
                raise ConfigError(
                    f"cannot use the certificates {self._settings.ca}: {reason}; give a PEM file"
                ) from error
        client.on_connect = self._greet
        client.on_disconnect = self._note_loss
        client.on_publish = self._note_acknowledged
        return client

    def _greet(self, client: "Client", _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        if reason.is_failure:
            refusal = f"refuses the connection ({reason})"
            if self._refusal != refusal:
                logger.warning("%s %s; check its credentials", self._shown, refusal)
            self._refusal = refusal
            return
        if self._refusal is not None:
            logger.warning("%s is connected again", self._shown)
        self._refusal = None
        with self._lock:
            for topic, value in {**self._states, f"{self._settings.topic}/available": "online"}.items():
                client.publish(topic, value, qos=1, retain=True)

    def _note_acknowledged(self, _client: "Client", _data: Any, number: int, _reason: Any, _properties: Any) -> None:
        with self._changed:
            self._acknowledged.append(number)
            self._changed.notify_all()

    def _note_loss(self, _client: "Client", _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        if reason.is_failure and self._refusal is None:
            self._refusal = f"is lost ({reason})"
            logger.warning("%s %s; connecting again", self._shown, self._refusal)


def discovery_messages(settings: MqttSettings, cameras: Sequence[CameraSettings]) -> dict[str, str]:
    """Return the messages, by topic, by which Home Assistant finds a device for each camera.

    Each has a sensor of motion for the frame, or for each region, which is unavailable while the camera is.
    """
    messages = {}
    for camera in cameras:
        device = {
            "identifiers": [f"{settings.topic}_{camera.name}".replace("/", "_")],
            "name": camera.name,
            "manufacturer": "bgsub",
            "sw_version": __version__,
        }
        topics = [f"{settings.topic}/available", f"{settings.topic}/{camera.name}/available"]
        for region in ("", *camera.scan.regions):
            unique = "_".join(filter(None, [device["identifiers"][0], region, "motion"]))
            messages[f"{settings.discovery}/binary_sensor/{unique}/config"] = json.dumps(
                {
                    "name": f"{region} motion".strip().capitalize(),
                    "unique_id": unique,
                    "object_id": unique,
                    "device_class": "motion",
                    "state_topic": "/".join(filter(None, [settings.topic, camera.name, region, "motion"])),
                    "payload_on": "ON",
                    "payload_off": "OFF",
                    "availability": [{"topic": topic} for topic in topics],
                    "availability_mode": "all",
                    "device": device,
                }
            )
    return messages
