"""The cameras of a watch as sessions without any widget: settings, regions, lost cameras, memory and threads."""

import threading
import time
from pathlib import Path

import numpy as np
import pytest

from bgsub.errors import ConfigError, SourceError
from bgsub.gui.engine.cameras import WatchedCamera, is_watch_file, read_cameras
from bgsub.gui.engine.processing.budget import Budget
from bgsub.gui.engine.processing.snapshots import Snapshots
from bgsub.gui.events.finder import EventSearch
from bgsub.gui.messages import Sampling, Settings
from bgsub.gui.panes import OVERLAY
from bgsub.gui.tabs import camera_sessions
from bgsub.gui.tabs.camera_sessions import CameraSessions
from tests.gui.conftest import FAST
from tests.gui.driving import Driver, Scripted, frames, opener
from tests.gui.probe import engine_of

TEXT = """
output = "out"
[defaults]
largest_px = 32
rate_hz = 5
sensitivity = "high"
[cameras.yard]
source = "rtsp://me:secret@127.0.0.1:9/live"
threads = 2
roi = "0,0 64,0 64,48 0,48"
[cameras.yard.regions]
door = "8,8 40,8 40,40 8,40"
[cameras.drive]
source = "drive.mp4"
detector = "mog2"
[cameras.barn]
folder = "barn"
"""


@pytest.fixture
def watch_file(tmp_path: Path) -> Path:
    path = tmp_path / "cameras.toml"
    path.write_text(TEXT)
    return path


def test_each_camera_has_its_own_settings(watch_file):
    yard, drive, barn = read_cameras(watch_file)
    assert [camera.name for camera in (yard, drive, barn)] == ["yard", "drive", "barn"]
    assert yard.settings.sampling == Sampling(1.0, 32, 5.0)
    assert yard.settings.config.parameters["threads"] == 2
    assert yard.may_return
    assert "secret" not in repr(yard)
    assert drive.settings.config.detector == "mog2"
    assert "threads" not in drive.settings.config.parameters
    assert drive.source == str(watch_file.parent / "drive.mp4")
    assert not drive.may_return
    assert barn.may_return
    with pytest.raises(SourceError, match="there is no folder"):
        barn.opener(barn.source, start=None)


def test_regions_are_those_of_the_frames_that_are_processed(watch_file):
    yard = read_cameras(watch_file)[0]
    fitted = yard.fitted(yard.settings, 0.5)
    assert fitted.region.include[0][2] == (32.0, 24.0)
    assert fitted.event_search.regions["door"].include[0][0] == (4.0, 4.0)
    assert fitted.event_search.rules == yard.settings.event_search.rules


def test_a_file_of_cameras_is_told_from_a_session(watch_file, tmp_path):
    assert is_watch_file(watch_file)
    session = tmp_path / "a.session.toml"
    session.write_text("version = 1")
    assert not is_watch_file(session)
    with pytest.raises(ConfigError, match="missing"):
        is_watch_file(tmp_path / "missing.toml")
    wrong = tmp_path / "wrong.toml"
    wrong.write_text('output = "out"\n[cameras.yard]\nsauce = "a.mp4"')
    with pytest.raises(ConfigError, match="source"):
        read_cameras(wrong)


# Sessions


class Live(Scripted):
    """A live source that does not end until it is closed."""

    def __init__(self, items: list, **values) -> None:
        super().__init__(items, live=True, **values)
        self.closed = False

    def read(self):
        time.sleep(0.005)
        if self.closed:
            return None
        if self.index == len(self.items):
            self.items.extend(self.items[:20])
        return super().read()

    def interrupt(self) -> None:
        self.closed = True


def camera(name: str, open_it=lambda *_, start=None: Live(frames(40)), **values) -> WatchedCamera:
    settings = Settings(config=FAST.config, event_search=EventSearch(), sampling=Sampling(largest_px=16))
    return WatchedCamera(name, "any", open_it, settings, **values)


@pytest.fixture
def run(qtbot, no_leaked_threads):
    made = []

    def begin(*cameras: WatchedCamera, budget: Budget | None = None) -> CameraSessions:
        sessions = CameraSessions(cameras, budget)
        made.append(sessions)
        sessions.open()
        return sessions

    yield begin
    for sessions in made:
        sessions.close()


def test_cameras_go_on_side_by_side(run, qtbot):
    sessions = run(camera("yard", roi="0,0 32,0 32,12 0,12", regions={"door": "2,2 20,2 20,20"}), camera("drive"))
    yard, drive = sessions
    qtbot.waitUntil(lambda: all(one.image is not None for one in sessions) and "frames/s" in yard.state)
    assert yard.session.size == (12, 16)
    qtbot.waitUntil(lambda: yard.session.settings.region is not None)
    assert yard.session.settings.region.include[0][1] == (16.0, 0.0)
    assert set(yard.session.settings.event_search.regions) == {"door"}
    assert drive.session.settings.region is None
    assert sessions.unsaved == []
    drive.session.toggle_frozen()
    drive.session.configure(drive.session.settings.config, saved=False)
    assert not yard.session.settings.frozen


def test_a_lost_camera_says_so_is_tried_again_and_leaves_the_others_alone(run, qtbot, monkeypatch):
    monkeypatch.setattr(camera_sessions, "_FIRST_PAUSE_MS", 20)
    tries = []

    def fail(*_, start=None):
        tries.append(threading.current_thread().name)
        if len(tries) < 4:
            raise SourceError("cannot open the camera: connection refused; check the address")
        return Live(frames(40))

    sessions = run(camera("yard", fail), camera("drive"))
    yard, drive = sessions
    qtbot.waitUntil(lambda: "no signal: cannot open the camera" in yard.state)
    assert "tried again" in yard.state
    before = drive.session.view.processed
    qtbot.waitUntil(lambda: drive.session.view.processed > before + 5)
    qtbot.waitUntil(lambda: yard.image is not None and not yard.trouble)
    assert len(tries) == 4


def test_a_file_that_cannot_be_opened_is_not_tried_again(run, qtbot, monkeypatch):
    monkeypatch.setattr(camera_sessions, "_FIRST_PAUSE_MS", 1)
    tries = []

    def fail(*_, start=None):
        tries.append(1)
        raise SourceError("no such file; check the path")

    (one,) = run(camera("yard", fail, may_return=False))
    qtbot.waitUntil(lambda: "no such file" in one.state)
    qtbot.wait(100)
    assert "tried again" not in one.state
    assert len(tries) == 1


def test_a_silent_camera_keeps_its_last_image(run, qtbot):
    source = Live(frames(40))
    (one,) = run(camera("yard", lambda *_, start=None: source))
    qtbot.waitUntil(lambda: one.image is not None)
    source.lost = "nothing was received for 5 s"
    qtbot.waitUntil(lambda: one.trouble == "nothing was received for 5 s")
    assert one.image is not None


def test_regions_that_the_user_changes_stay_when_the_camera_returns(run, qtbot):
    opened = []

    def open_it(*_, start=None) -> Live:
        opened.append(Live(frames(40)))
        return opened[-1]

    (one,) = run(camera("yard", open_it, roi="0,0 32,0 32,12 0,12"))
    qtbot.waitUntil(lambda: one.session.settings.region is not None)
    one.session.set_region(None)
    one.session.retry()
    qtbot.waitUntil(lambda: len(opened) == 2 and opened[1].index > 3)
    assert one.session.settings.region is None


def test_a_region_file_that_has_gone_is_reported(run, qtbot, tmp_path):
    (one,) = run(camera("yard", roi=str(tmp_path / "gone.json")))
    notices = []
    one.session.noticed.connect(notices.append)
    qtbot.waitUntil(lambda: any("gone.json" in notice.text for notice in notices))
    qtbot.waitUntil(lambda: one.image is not None)


def test_closing_frees_all_threads(qtbot, no_leaked_threads):
    before = {thread for thread in threading.enumerate() if thread.name.startswith("bgsub-")}
    sessions = CameraSessions([camera(str(number)) for number in range(8)])
    sessions.open()
    qtbot.waitUntil(lambda: all(one.image is not None for one in sessions))
    own = {thread for thread in threading.enumerate() if thread.name.startswith("bgsub-")} - before
    assert len([thread for thread in own if "band" not in thread.name]) <= 2 * 8  # a worker and a capture thread each
    sessions.close()
    assert not any(thread.is_alive() for thread in own if "band" not in thread.name)


# Memory


def test_several_sources_share_the_memory_of_one():
    budget = Budget(results=90, snapshots=60, frames=30)
    assert budget.shared(1) == budget
    assert budget.shared(3) == Budget(results=30, snapshots=20, frames=10, least_snapshots=0)


def test_cameras_keep_no_more_than_their_share(run, qtbot):
    sessions = run(*(camera(str(number)) for number in range(2)), budget=Budget(2000, 4000, 4000, 0.01))
    qtbot.waitUntil(lambda: all(one.session.view.processed > 30 for one in sessions))
    for one in sessions:
        results, snapshots, recent = engine_of(one.session).work.kept_bytes
        assert results <= 1000 + 600
        assert snapshots <= 2000
        assert recent <= 2000


def test_less_memory_is_kept_to_from_the_next_frame_on(no_leaked_threads):
    driver = Driver(opener(frames(60)), FAST)
    driver.engine.open("any")
    driver.until(lambda: driver.engine.progress.processed == 30)
    assert driver.engine.work.kept_bytes[2] > 4 * 24 * 32 * 3
    driver.engine.work.use_budget(Budget(1, 1, 4 * 24 * 32 * 3).shared(2))
    driver.settle()
    assert driver.engine.work.kept_bytes[2] <= 2 * 24 * 32 * 3
    assert driver.engine.work.kept_bytes[1] == 0
    driver.engine.close()


def test_snapshots_that_have_no_room_are_not_taken_again_with_each_frame():
    class Heavy:
        def __init__(self, time_s: float) -> None:
            self.time_s, self.nbytes = time_s, 100

    snapshots = Snapshots(50, 4.0, least=0)
    taken = []
    for index in range(200):
        time_s = index / 25
        if snapshots.is_due(time_s):
            taken.append(time_s)
            snapshots.add(Heavy(time_s))
    assert taken == [0.0, 4.0]
    assert len(snapshots) == 0
    assert snapshots.is_due(1.0)  # after a jump back


def test_no_image_is_made_for_a_session_without_panes(make_session, qtbot):
    session = make_session()
    session.open("synthetic:easy?frames=40&size=64x48")
    session.change(panes=())
    qtbot.waitUntil(lambda: session.view.processed == 40)
    assert session.view.images == {}
    assert isinstance(session.view.result.mask, np.ndarray)
    session.change(panes=(OVERLAY,))
    qtbot.waitUntil(lambda: OVERLAY in session.view.images)
