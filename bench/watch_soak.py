"""Half an hour of `bgsub watch` in which everything around it fails: cameras, webhook, broker.

    python -m bench.watch_soak [--minutes M] [--cameras N] [--seed S] [--keep FOLDER]

RTSP cameras on loopback show a square that crosses the frame every 20 s. They lose power, or stand still without
closing their connections, at random, and come back; the receiver of the webhook and the MQTT broker are restarted, and
the receiver also hangs, fails, and breaks off before it acknowledges. The cameras note each frame that they send, so
that it is known which crossings should be events. Memory, open files and threads of the watch are sampled from /proc.

Needs mosquitto, paho-mqtt and GStreamer's RTSP server (CONTRIBUTING.md), and Linux.
"""

import argparse
import contextlib
import datetime
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from bgsub._opencv import cv2
from tests.scanning.made import frame
from tests.watching.servers.broker import Broker
from tests.watching.servers.cameras import RtspServer, free_port
from tests.watching.servers.receivers import receiving

RATE_HZ, LOOP, FIRST, LAST = 10, 200, 120, 155
"""The square crosses from the first to the last of these frames of each round."""

UP_S, DOWN_S = (30.0, 150.0), (2.0, 20.0)
"""Times that a camera is there, and that it is gone."""

_GAP_S = 1.5
"""Pause between two frames of a crossing after which nobody can be expected to find all of it."""

_TOLERANCE_S = 1.5


@dataclass(frozen=True)
class Crossing:
    """The square crossed a camera's image."""

    camera: str
    start_s: float
    end_s: float
    whole: bool
    """Whether the camera sent all of it, and a second after it."""


@dataclass
class Received:
    """What subscribers and receivers have got, by id of the event."""

    webhook: Counter[str] = field(default_factory=Counter)
    mqtt: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    """How often each part was ended or disturbed."""


def crossings(camera: str, log: Path) -> tuple[list[Crossing], int]:
    """Return the crossings that a camera sent, and how many frames."""
    rows = [line.split() for line in log.read_text().splitlines()]
    frames = [(float(time_s), int(number)) for time_s, number in rows]
    found: list[Crossing] = []
    part: list[tuple[float, int]] = []

    def close() -> None:
        moving = [time_s for time_s, number in part if number % LOOP <= LAST]
        if moving:
            numbers = [number % LOOP for _, number in part]
            steady = all(b[0] - a[0] < _GAP_S for a, b in pairwise(part))
            whole = numbers == list(range(FIRST, LAST + 1 + RATE_HZ)) and steady
            found.append(Crossing(camera, moving[0], moving[-1], whole))
        part.clear()

    for time_s, number in frames:
        position = number % LOOP
        if part and number != part[-1][1] + 1:
            close()
        if FIRST <= position <= LAST + RATE_HZ:
            part.append((time_s, number))
        elif part:
            close()
    close()
    return found, len(frames)


def disturb_camera(server: RtspServer, chance: random.Random, stop: threading.Event, counts: Counter[str]) -> None:
    """Switch a camera off and on, or let it stand still, until the end."""
    while not stop.wait(chance.uniform(*UP_S)):
        down_s = chance.uniform(*DOWN_S)
        if chance.random() < 0.3:
            counts["camera stalled"] += 1
            server.process.send_signal(signal.SIGSTOP)
            stop.wait(down_s)
            server.process.send_signal(signal.SIGCONT)
        else:
            counts["camera off"] += 1
            server.stop()
            stop.wait(down_s)
            server.start()


def disturb_webhook(port: int, chance: random.Random, stop: threading.Event, received: Received) -> None:
    """Receive events, badly at times, and end and start again."""
    while not stop.is_set():
        with receiving(port) as receiver:
            stop.wait(chance.uniform(15, 60))
            if not stop.is_set():
                receiver.mode = chance.choice(["hang", "drip", "die", "cut", "500", "503"])
                received.failures[f"webhook {receiver.mode}"] += 1
                stop.wait(chance.uniform(3, 15))
        received.webhook.update(receiver.ids)
        received.failures["webhook restarted"] += 1
        stop.wait(chance.uniform(2, 20))


def disturb_broker(broker: Broker, chance: random.Random, stop: threading.Event, counts: Counter[str]) -> None:
    """End the broker and start it again, until the end."""
    while not stop.wait(chance.uniform(40, 120)):
        counts["broker restarted"] += 1
        broker.stop()
        stop.wait(chance.uniform(3, 20))
        broker.start()


@contextlib.contextmanager
def subscribed(port: int, received: Received) -> Iterator[None]:
    """Count the events that arrive by MQTT."""
    from paho.mqtt.client import Client
    from paho.mqtt.enums import CallbackAPIVersion

    client = Client(CallbackAPIVersion.VERSION2, client_id="soak", clean_session=False)
    client.reconnect_delay_set(1, 1)
    client.on_message = lambda _c, _d, message: received.mqtt.update([json.loads(message.payload)["id"]])
    client.on_connect = lambda c, *_: c.subscribe("bgsub/events", qos=1)
    client.connect("127.0.0.1", port)
    client.loop_start()
    try:
        yield
    finally:
        client.disconnect()
        client.loop_stop()


def metrics(port: int) -> dict[str, float]:
    """Return the metrics of the watch, by name and labels."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as answer:
        lines = answer.read().decode().splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}


def sample(pid: int, begin_s: float, counts: dict[str, float]) -> None:
    """Print a line on the state of the watch."""
    folder = Path(f"/proc/{pid}")
    resident = int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    files, threads = (len(list((folder / name).iterdir())) for name in ("fd", "task"))
    ticks = (folder / "stat").read_text().rpartition(")")[2].split()
    cpu_s = (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")
    total = [sum(value for name, value in counts.items() if name.startswith(prefix)) for prefix in _SHOWN]
    print(
        f"{(time.monotonic() - begin_s) / 60:>6.1f} {resident:>7.1f} {files:>5} {threads:>7} {cpu_s:>7.1f} "
        + " ".join(f"{value:>8.0f}" for value in total),
        flush=True,
    )


_SHOWN = ("bgsub_camera_up", "bgsub_frames_total", "bgsub_events_total", "bgsub_delivery_pending")


@contextlib.contextmanager
def running(folder: Path, cameras: dict[str, RtspServer], webhook: int, broker: int) -> Iterator[tuple[int, int]]:
    """Yield process and port of a watch, which is ended by SIGTERM."""
    text = f'output = "out"\nsave_every_minutes = 1\n[clips]\n[webhook]\nurl = "http://127.0.0.1:{webhook}/hook"\n'
    text += f'timeout_s = 3\n[mqtt]\nhost = "127.0.0.1"\nport = {broker}\ndiscovery = ""\n'
    text += "[defaults]\nstall_timeout_s = 4\n"
    for name, server in cameras.items():
        text += f'[cameras.{name}]\nsource = "rtsp://127.0.0.1:{server.port}/live"\n'
    (folder / "cameras.toml").write_text(text)
    port = free_port()
    command = [sys.executable, "-m", "bgsub", "watch", folder / "cameras.toml", "-q", "--metrics", str(port)]
    with (folder / "watch.log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            yield process.pid, port
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                print(f"\nthe watch ended with {process.wait(90)} after SIGTERM (143 is right)")
            except subprocess.TimeoutExpired:
                process.kill()
                print("\nthe watch did not end after SIGTERM")


def soak(folder: Path, minutes: float, count: int, seed: int) -> None:
    """Run everything, and print what came of it."""
    images = folder / "images"
    images.mkdir()
    for i in range(LOOP):
        cv2.imwrite(str(images / f"{i:04d}.png"), frame(i, [(FIRST, LAST)]).repeat(2, 0).repeat(2, 1))
    (folder / "broker").mkdir()
    received, stop, begin_s = Received(), threading.Event(), time.monotonic()
    broker, webhook = Broker(folder / "broker"), free_port()
    cameras = {f"camera{i}": RtspServer(images, RATE_HZ, log=folder / f"camera{i}.log") for i in range(count)}
    ends = threading.Event()  # of cameras: before that of the others, so that everything can be delivered
    threads = [
        _thread(disturb_webhook, webhook, _chance(seed, "webhook"), stop, received),
        _thread(disturb_broker, broker, _chance(seed, "broker"), stop, received.failures),
    ]
    threads += [
        _thread(disturb_camera, server, _chance(seed, name), ends, received.failures)
        for name, server in cameras.items()
    ]
    print("minute      MB files threads   CPU s       up   frames   events     wait")
    with subscribed(broker.port, received), running(folder, cameras, webhook, broker.port) as (pid, port):
        _wait(lambda: metrics(port)['bgsub_delivery_pending{to="mqtt"}'] >= 0, 120)
        for thread in threads:
            thread.start()
        for i in range(1, 16):
            time.sleep(max(0.0, begin_s + minutes * 60 * i / 15 - time.monotonic()))
            sample(pid, begin_s, metrics(port))
        ends.set()
        for thread in threads[2:]:
            thread.join()
        for server in cameras.values():
            server.stop()
        time.sleep(12)
        with contextlib.suppress(TimeoutError):
            _wait(lambda: _pending(metrics(port)) == 0, 150)
        counts = metrics(port)
        sample(pid, begin_s, counts)
        stop.set()
        for thread in threads:
            thread.join()
    broker.stop()
    report(folder, list(cameras), counts, received)


def report(folder: Path, cameras: list[str], counts: dict[str, float], received: Received) -> None:
    """Print how events compare with what the cameras sent and with what arrived."""
    events: list[dict[str, Any]] = [json.loads(line) for line in (folder / "out/events.jsonl").read_text().splitlines()]
    ids = [one["id"] for one in events]
    print("disturbed:", ", ".join(f"{name} {times}" for name, times in sorted(received.failures.items())))
    sequence = [one["sequence"] for one in events]
    print(f"events: {len(events)}, of which ids differ: {len(set(ids))}, numbers rise by one: {_is_row(sequence)}")
    clips = [folder / "out" / name for one in events for name in one["clips"]]
    print(
        f"clips: {len(clips)}, missing or empty: {sum(not (clip.exists() and clip.stat().st_size) for clip in clips)}"
    )
    for name, got in (("webhook", received.webhook), ("mqtt", received.mqtt)):
        repeats = sum(got.values()) - len(got)
        lost, strange = len(set(ids) - set(got)), len(set(got) - set(ids))
        print(f"{name}: {len(got)} events, lost {lost}, not in events.jsonl {strange}, sent again {repeats}")
    for camera in cameras:
        sent, frames = crossings(camera, folder / f"{camera}.log")
        mine = [_span(one) for one in events if one["camera"] == camera]
        whole = [one for one in sent if one.whole]
        hits = [sum(_meets(one, span) for span in mine) for one in whole]
        false = sum(not any(_meets(one, span) for one in sent) for span in mine)
        looked = int(counts[f'bgsub_frames_total{{camera="{camera}"}}'])
        dropped = int(counts[f'bgsub_frames_dropped_total{{camera="{camera}"}}'])
        print(
            f"{camera}: sent {frames} frames, looked at {looked}, dropped {dropped}; {len(sent)} crossings, "
            f"{len(whole)} sent whole: {hits.count(1)} are one event, {hits.count(0)} none, "
            f"{sum(hit > 1 for hit in hits)} several; events without a crossing {false}"
        )


def _span(event: dict[str, Any]) -> tuple[float, float]:
    start, end = (datetime.datetime.fromisoformat(event[name]["clock"]).timestamp() for name in ("start", "end"))
    return start, end


def _meets(crossing: Crossing, span: tuple[float, float]) -> bool:
    return span[0] <= crossing.end_s + _TOLERANCE_S and crossing.start_s <= span[1] + _TOLERANCE_S


def _is_row(numbers: list[int]) -> bool:
    return all(b == a + 1 for a, b in pairwise(numbers))


def _pending(counts: dict[str, float]) -> float:
    return sum(value for name, value in counts.items() if name.startswith("bgsub_delivery_pending"))


def _chance(seed: int, name: str) -> random.Random:
    return random.Random(f"{seed} {name}")  # noqa: S311 - repeatable, not secret


def _thread(target: Callable[..., None], *arguments: object) -> threading.Thread:
    return threading.Thread(target=target, args=arguments, name=target.__name__)


def _wait(condition: Callable[[], bool], timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while True:
        with contextlib.suppress(OSError, KeyError):
            if condition():
                return
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.5)


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--cameras", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for all that is written; else a temporary one")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        soak(folder.resolve(), options.minutes, options.cameras, options.seed)


if __name__ == "__main__":
    main()
