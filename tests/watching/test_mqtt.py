"""Events and states by MQTT, to a real mosquitto on loopback, restarted and with a password."""

import contextlib
import json
import queue
import subprocess
import sys
import threading
import time

import pytest

from bgsub.errors import ConfigError
from bgsub.watching import MqttSettings, read_settings, watch
from bgsub.watching.delivery import worker
from bgsub.watching.delivery.event_log import EventLog
from bgsub.watching.delivery.mqtt import Mqtt, discovery_messages
from bgsub.watching.delivery.worker import Delivery
from tests.watching.made import events, record, until, watching, write_settings
from tests.watching.servers.broker import MOSQUITTO, PASSWD, Broker
from tests.watching.servers.cameras import free_port

mqtt = pytest.importorskip("paho.mqtt.client", reason="needs the package paho-mqtt")
enums = pytest.importorskip("paho.mqtt.enums")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("no_leaked_threads"),
    pytest.mark.skipif(MOSQUITTO is None, reason="needs the package mosquitto"),
]
SECRET = "hunter2"  # noqa: S105 - of a broker that lives for seconds


@pytest.fixture
def broker(tmp_path):
    folder = tmp_path / "broker"
    folder.mkdir()
    made = Broker(folder)
    yield made
    made.stop()


@contextlib.contextmanager
def subscribed(port, topic="#", auth=None):
    """Yield a queue of (topic, payload, retained), which goes on after restarts of the broker."""
    found, ready = queue.SimpleQueue(), queue.SimpleQueue()
    client = mqtt.Client(
        enums.CallbackAPIVersion.VERSION2, client_id=f"test-{time.monotonic_ns()}", clean_session=False
    )
    client.reconnect_delay_set(1, 1)
    if auth:
        client.username_pw_set(*auth)
    client.on_message = lambda _c, _d, message: found.put((message.topic, message.payload.decode(), message.retain))
    client.on_connect = lambda c, *_: c.subscribe(topic, qos=1)
    client.on_subscribe = lambda *_: ready.put(True)
    client.connect("127.0.0.1", port)
    client.loop_start()
    ready.get(timeout=30)
    try:
        yield found
    finally:
        client.disconnect()
        client.loop_stop()


def drain(found, wait_s=0.7):
    messages = []
    with contextlib.suppress(queue.Empty):
        while True:
            messages.append(found.get(timeout=wait_s))
    return messages


def retained(port):
    """Return the states that a client finds which comes now."""
    with subscribed(port, "bgsub/#") as found:
        return {topic: payload for topic, payload, kept in drain(found) if kept}


class Sending:
    """A log whose events are published."""

    def __init__(self, folder, port, auth=None):
        self.log = EventLog(folder / "events.jsonl", folder / ".watch")
        self.mqtt = Mqtt(MqttSettings("127.0.0.1", port, auth=auth, discovery=""), ())
        self.delivery = Delivery(self.log, self.log.cursor("mqtt"), self.mqtt)
        self.mqtt.start()
        self.delivery.start()

    def add(self, *numbers):
        for number in numbers:
            self.log.add({"id": f"e{number}"})

    def close(self):
        self.delivery.close(0.5)
        self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(worker, "FIRST_PAUSE_S", 0.05)
    monkeypatch.setattr(worker, "LONGEST_PAUSE_S", 0.5)


def ids(messages):
    return [json.loads(payload)["id"] for topic, payload, _ in messages if topic == "bgsub/events"]


def test_events_arrive_once_through_restarts_of_broker_and_watch(broker, tmp_path):
    with subscribed(broker.port, "bgsub/events") as found:
        with Sending(tmp_path, broker.port) as sending:
            sending.add(*range(10))
            until(lambda: found.qsize() == 10)
            time.sleep(0.5)  # else the broker has no acknowledgement of its subscriber, and repeats what it has
            broker.stop()
            sending.add(*range(10, 20))
            until(lambda: sending.delivery.trouble)
            broker.start()
            until(lambda: found.qsize() == 20)
            time.sleep(0.5)
            broker.stop()
            sending.add(*range(20, 25))
        with Sending(tmp_path, broker.port) as sending:
            sending.add(*range(25, 30))
            broker.start()
            until(lambda: sending.delivery.pending == 0)
        until(lambda: found.qsize() >= 30)
        assert ids(drain(found)) == [f"e{i}" for i in range(30)]


def test_a_broker_that_is_killed_gets_every_event_and_repeats_have_the_same_id(broker, tmp_path):
    with Sending(tmp_path, broker.port) as sending:
        for i in range(3):
            sending.add(*range(i * 40, i * 40 + 40))
            time.sleep(0.05)
            broker.stop(kill=True)
            broker.start()
        until(lambda: sending.delivery.pending == 0)
        assert sending.delivery.delivered == 120


def test_an_acknowledgement_is_noted_while_an_event_is_published(broker, tmp_path, monkeypatch):
    with Sending(tmp_path, broker.port) as sending:
        until(lambda: sending.mqtt.trouble is None)
        publish, noted = sending.mqtt._client.publish, []

        def publish_slowly(*arguments, **options):
            # The client notes acknowledgements under a lock that publishing takes, too.
            thread = threading.Thread(target=sending.mqtt._note_acknowledged, args=(None, None, 60_000, None, None))
            thread.start()
            thread.join(3)
            noted.append(not thread.is_alive())
            return publish(*arguments, **options)

        monkeypatch.setattr(sending.mqtt._client, "publish", publish_slowly)
        sending.add(0)
        until(lambda: sending.delivery.pending == 0)
    assert noted[0]


def test_states_are_retained_and_come_back_with_the_broker(broker, tmp_path):
    with Sending(tmp_path, broker.port) as sending:
        sending.mqtt.set_state("yard/motion", "ON")
        sending.mqtt.set_state("yard/available", "online")
        expected = {"bgsub/available": "online", "bgsub/yard/motion": "ON", "bgsub/yard/available": "online"}
        until(lambda: retained(broker.port) == expected)
        broker.stop(kill=True)
        (tmp_path / "broker" / "mosquitto.db").unlink(missing_ok=True)  # it remembers nothing
        broker.start()
        until(lambda: retained(broker.port) == expected)
    until(lambda: retained(broker.port).get("bgsub/available") == "offline")


def test_a_watch_that_is_killed_is_offline_by_its_last_will(broker, tmp_path):
    text = f'[mqtt]\nhost = "127.0.0.1"\nport = {broker.port}\n'
    text += '[cameras.yard]\nsource = "synthetic:easy?frames=1000000&size=64x48"\n'
    path = write_settings(tmp_path, text)
    with subscribed(broker.port, "bgsub/#") as found:
        process = subprocess.Popen([sys.executable, "-m", "bgsub", "watch", path])
        try:
            while (message := found.get(timeout=60))[:2] != ("bgsub/yard/available", "online"):
                pass
        finally:
            process.kill()
            process.wait()
        while (message := found.get(timeout=60))[:2] != ("bgsub/available", "offline"):
            pass
        assert message


def test_a_broker_with_a_password(tmp_path, caplog):
    if not PASSWD:
        pytest.skip("needs the package mosquitto")
    caplog.set_level("DEBUG")
    folder = tmp_path / "broker"
    folder.mkdir()
    broker = Broker(folder, SECRET)
    try:
        with Sending(tmp_path, broker.port, f"viewer:wrong-{SECRET}") as sending:
            sending.add(0)
            until(lambda: "refuses the connection" in (sending.delivery.trouble or ""))
            assert SECRET not in sending.delivery.trouble
        with (
            subscribed(broker.port, "bgsub/events", ("viewer", SECRET)) as found,
            Sending(tmp_path, broker.port, f"viewer:{SECRET}") as sending,
        ):
            until(lambda: sending.delivery.pending == 0 and found.qsize())
            assert ids(drain(found)) == ["e0"]
    finally:
        broker.stop()
    assert "check its credentials" in caplog.text
    assert SECRET not in caplog.text


def test_a_broker_that_is_down_disturbs_nothing(tmp_path):
    record(tmp_path / "a.mkv")
    text = f'[mqtt]\nhost = "127.0.0.1"\nport = {free_port()}\n[cameras.yard]\nsource = "a.mkv"\n'
    begin = time.monotonic()
    watch(read_settings(write_settings(tmp_path, text)))
    assert len(events(tmp_path)) == 2
    assert time.monotonic() - begin < 30


def test_a_watch_reports_motion_events_and_availability(broker, tmp_path):
    record(tmp_path / "rec" / "old.mkv", 10, [])
    text = f'[mqtt]\nhost = "127.0.0.1"\nport = {broker.port}\ntopic = "house/cams"\n'
    text += '[cameras.yard]\nfolder = "rec"\nsettle_s = 0.3\n'
    text += '[cameras.yard.regions]\nleft = "0,0 47,0 47,71 0,71"\nright = "48,0 95,0 95,71 48,71"\n'
    path = write_settings(tmp_path, text)
    with subscribed(broker.port) as found, watching(path):
        until((tmp_path / "out" / ".watch" / "yard.segment").exists)
        record(tmp_path / "rec" / "seg.mkv")
        until(lambda: len(events(tmp_path)) == 4)
        messages = drain(found, 2)
    by_topic = {}
    for topic, payload, _ in messages:
        by_topic.setdefault(topic, []).append(payload)
    assert by_topic["house/cams/yard/left/motion"] == ["ON", "OFF"] * 2
    assert by_topic["house/cams/yard/right/motion"] == ["ON", "OFF"] * 2
    assert by_topic["house/cams/yard/available"] == ["online"]
    assert [json.loads(one) for one in by_topic["house/cams/events"]] == events(tmp_path)
    configs = {topic: json.loads(one[0]) for topic, one in by_topic.items() if topic.startswith("homeassistant/")}
    assert len(configs) == 3
    topics = {config["state_topic"] for config in configs.values()}
    assert {topic for topic in by_topic if topic.endswith("/motion")} <= topics


def test_discovery_follows_the_rules_of_home_assistant(tmp_path):
    text = '[mqtt]\nhost = "a"\n[cameras.yard]\nsource = "a.mkv"\n[cameras.yard.regions]\ndoor = "0,0 9,0 9,9"\n'
    settings = read_settings(write_settings(tmp_path, text))
    messages = {topic: json.loads(text) for topic, text in discovery_messages(settings.mqtt, settings.cameras).items()}
    assert set(messages) == {
        "homeassistant/binary_sensor/bgsub_yard_motion/config",
        "homeassistant/binary_sensor/bgsub_yard_door_motion/config",
    }
    door = messages["homeassistant/binary_sensor/bgsub_yard_door_motion/config"]
    assert door["device_class"] == "motion"
    assert door["state_topic"] == "bgsub/yard/door/motion"
    assert [one["topic"] for one in door["availability"]] == ["bgsub/available", "bgsub/yard/available"]
    assert len({one["unique_id"] for one in messages.values()}) == 2
    assert len({one["device"]["identifiers"][0] for one in messages.values()}) == 1


def test_certificates_that_cannot_be_used_are_one_line(tmp_path):
    with pytest.raises(ConfigError, match=r"cannot use the certificates .*gone\.pem: No such file"):
        Mqtt(MqttSettings("a", tls=True, ca=str(tmp_path / "gone.pem")), ())
