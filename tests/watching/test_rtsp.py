"""Cameras by RTSP, from a real server on loopback, lost and back, with a password."""

import contextlib
import json
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import av
import numpy as np
import pytest

import bgsub
from bgsub._opencv import cv2
from tests.scanning.made import frame
from tests.watching.made import events, until, watching, write_settings
from tests.watching.servers.cameras import RtspServer, has_rtsp_server

RATE_HZ, LOOP, FIRST, LAST = 15, 120, 60, 95
"""A square crosses the frame from the first to the last of these frames, in each round of eight seconds."""


pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("no_leaked_threads"),
    pytest.mark.skipif(
        not has_rtsp_server(),
        reason="needs the packages gir1.2-gst-rtsp-server-1.0 python3-gi gstreamer1.0-plugins-good and -ugly",
    ),
]


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    for i in range(LOOP):
        large = np.repeat(np.repeat(frame(i, [(FIRST, LAST)]), 2, 0), 2, 1)
        assert cv2.imwrite(str(folder / f"{i:04d}.png"), large)
    return folder


@contextlib.contextmanager
def serving(images, auth=""):
    server = RtspServer(images, RATE_HZ, auth)
    try:
        yield server
    finally:
        server.stop()


def health(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=10) as answer:
            return json.load(answer)["cameras"]
    except urllib.error.HTTPError as error:
        return json.load(error)["cameras"]


def frames_looked_at(port):
    """Return how many frames of each camera were looked at since the start."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    found = (re.fullmatch(r'bgsub_frames_total\{camera="(\w+)"\} (\d+)', line) for line in lines)
    return {match[1]: int(match[2]) for match in found if match}


def square(image):
    """Return whether the bright square is in an image."""
    return image[80:84].mean(axis=(0, 2)).max() > 140


def test_a_camera_that_is_lost_and_back_goes_on_and_disturbs_no_other(images, tmp_path, caplog):
    secret, ports = "hunter2", []
    with serving(images, f"viewer:{secret}") as yard, serving(images) as door:
        (tmp_path / "yard.auth").write_text(f"viewer:{secret}\n")
        text = "[clips]\n[defaults]\nstall_timeout_s = 2\n"
        text += f'[cameras.yard]\nsource = "rtsp://127.0.0.1:{yard.port}/live"\nauth = "yard.auth"\n'
        text += f'[cameras.door]\nsource = "rtsp://127.0.0.1:{door.port}/live"\n'

        def count(camera):
            return sum(one["camera"] == camera for one in events(tmp_path))

        with watching(write_settings(tmp_path, text), port=0, on_port=ports.append):
            until(lambda: count("yard") and count("door"), 40)
            frames_before = count("yard")
            door.stop()
            until(lambda: not health(ports[0])["door"]["available"], 20)
            assert health(ports[0])["yard"]["available"]
            lost_at = count("door")
            until(lambda: count("yard") > frames_before, 40)
            assert count("door") == lost_at
            door.start()
            until(lambda: health(ports[0])["door"]["available"], 60)
            until(lambda: count("door") > lost_at, 40)
            seen = count("yard")
            until(lambda: count("yard") > seen, 40)
            looked_at = frames_looked_at(ports[0])
            while_watching = events(tmp_path)  # at the end more may come, which the end cuts short
    for one in while_watching:
        assert 1.5 < one["duration_s"] < 4.5
        assert one["start"]["file"].startswith("rtsp://127.0.0.1:")
        assert one["start"]["clock"][-6] in "+-"
    check_clips(tmp_path, while_watching)
    assert secret not in caplog.text
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes()
    assert set(looked_at) == {"yard", "door"}
    for name, frames in looked_at.items():  # a model that began again when its camera was back has seen fewer
        assert bgsub.load(tmp_path / "out" / "models" / f"{name}.npz").frames_seen >= frames


def check_clips(folder, complete):
    """Each event has a clip that begins before it and goes on after it, as the camera sent it."""
    for one in complete:
        (name,) = one["clips"]
        with av.open(str(folder / "out" / name)) as container:
            assert container.streams.video[0].codec_context.name == "h264"
            images = [image.to_ndarray(format="bgr24") for image in container.decode(video=0)]
        seen = [square(image) for image in images]
        assert not any(seen[:12])  # 1.5 s of pre-roll, from a key frame on
        assert not any(seen[-12:])
        assert sum(seen) >= (LAST - FIRST) - 6
    kept = {path.name for path in (folder / "out" / "clips").iterdir()}
    assert kept == {Path(name).name for one in events(folder) for name in one["clips"]}


def test_a_signal_completes_the_clip_and_reports_the_event(images, tmp_path):
    with serving(images) as server:
        text = f'[clips]\n[cameras.yard]\nsource = "rtsp://127.0.0.1:{server.port}/live"\n'
        path = write_settings(tmp_path, text)
        process = subprocess.Popen(
            [sys.executable, "-m", "bgsub", "watch", path, "-q"], stderr=subprocess.PIPE, text=True
        )
        try:
            until(lambda: list((tmp_path / "out").glob("clips/.*")), 60)  # something moves
            time.sleep(1)
            process.terminate()
            _, error = process.communicate(timeout=30)
        finally:
            process.kill()
            process.wait()
    assert process.returncode == 143
    assert error.endswith("bgsub: interrupted; outputs written so far are closed and complete\n")
    (one,) = events(tmp_path)
    assert one["duration_s"] >= 0.5
    (name,) = one["clips"]
    with av.open(str(tmp_path / "out" / name)) as container:
        seen = [square(image.to_ndarray(format="bgr24")) for image in container.decode(video=0)]
    assert not any(seen[:12])
    assert sum(seen) >= 10
    assert not list((tmp_path / "out" / "clips").glob(".*"))
