"""Clips of a stream while it passes: kept for events, dropped for nothing, divided where they are long, and bounded."""

import datetime
import os

import av
import pytest

from bgsub.events import Event, EventRules, Moment
from bgsub.watching import ClipSettings
from bgsub.watching.cameras.recorder import Recorder, remove_oldest
from tests.scanning.made import RATE_HZ, write

BEGIN = datetime.datetime(2026, 11, 22, 8, tzinfo=datetime.UTC)


@pytest.fixture(scope="module")
def packets(tmp_path_factory):
    """Yield a stream, and its packets one by one: a key frame per second, for 60 s."""
    path = write(tmp_path_factory.mktemp("stream") / "a.ts", range(1, 601), codec="mpeg4")
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        yield stream, [packet for packet in container.demux(stream) if packet.size]


def run(recorder, packets, moving, events=()):
    """Pass all packets; something counts from `moving[0]` to `moving[1]` s; events are reported when that is over."""
    stream, sent = packets
    recorder.ring.begin(stream)
    names, reported = [], not events
    first = sent[0].pts * sent[0].time_base
    for packet in sent:
        time_s = float(packet.pts * packet.time_base - first)
        recorder.ring.add(packet, -float(first))
        since_s = moving[0] if moving[0] <= time_s <= moving[1] else None
        if time_s > moving[1] and not reported:
            reported = True
            names = [recorder.name_clips(one) for one in events]
        recorder.see(time_s, since_s, BEGIN + datetime.timedelta(seconds=time_s))
    recorder.finish()
    return names


def make_event(start_s, end_s):
    start, end = (Moment(0, round(time_s * RATE_HZ), time_s) for time_s in (start_s, end_s))
    return Event("", start, end, start, 0.1, (), (0, 0, 1, 1), 1, 0.5)


def length_s(path):
    with av.open(str(path)) as container:
        times = [frame.time for frame in container.decode(video=0)]
    return times[-1] - times[0]


def test_a_clip_has_the_time_around_its_event(packets, tmp_path):
    recorder = Recorder(tmp_path, "yard", EventRules(before_s=2, after_s=3), ClipSettings())
    ((name,),) = run(recorder, packets, (20, 26), [make_event(20, 25)])
    assert name.startswith("yard-20261122T0800")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert 2 + 5 + 3 - 0.2 <= length_s(tmp_path / name) <= 2 + 5 + 3 + 1.5  # it begins with a key frame


def test_events_of_several_regions_share_a_clip(packets, tmp_path):
    recorder = Recorder(tmp_path, "yard", EventRules(), ClipSettings())
    one, other = run(recorder, packets, (20, 26), [make_event(20, 23), make_event(21, 25)])
    assert one == other
    assert len(list(tmp_path.iterdir())) == 1


def test_what_was_no_event_leaves_nothing(packets, tmp_path):
    recorder = Recorder(tmp_path, "yard", EventRules(), ClipSettings())
    run(recorder, packets, (20, 26))
    assert list(tmp_path.iterdir()) == []


def test_long_clips_go_on_in_another_file(packets, tmp_path):
    recorder = Recorder(tmp_path, "yard", EventRules(), ClipSettings(max_length_s=10))
    (names,) = run(recorder, packets, (10, 45), [make_event(10, 44)])
    assert sorted(names) == sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == 4
    assert all(length_s(tmp_path / name) < 14 for name in names)
    assert sum(length_s(tmp_path / name) for name in names) >= 1.5 + 34 + 2 - 0.5


def test_memory_is_bounded_and_a_clip_has_what_is_left(packets, tmp_path):
    most = 20_000
    recorder = Recorder(tmp_path, "yard", EventRules(before_s=30), ClipSettings(memory_bytes=most))
    ((name,),) = run(recorder, packets, (50, 55), [make_event(50, 54)])
    assert recorder.ring.size <= most
    assert length_s(tmp_path / name) >= 5


def test_a_clip_that_cannot_be_written_is_reported_and_recording_goes_on(packets, tmp_path, caplog):
    recorder = Recorder(tmp_path / "gone", "yard", EventRules(), ClipSettings())
    run(recorder, packets, (20, 26), [make_event(20, 25)])
    assert recorder.failures == 1
    assert "cannot write the clip" in caplog.text


def test_the_oldest_clips_are_removed(tmp_path):
    for i in range(6):
        (tmp_path / f"{i}.mp4").write_bytes(bytes(100))
        os.utime(tmp_path / f"{i}.mp4", (i, i))
    (tmp_path / ".hidden.mp4").write_bytes(bytes(1000))
    remove_oldest(tmp_path, 350)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".hidden.mp4", "3.mp4", "4.mp4", "5.mp4"]
