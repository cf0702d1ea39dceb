"""The parts of a scan: which files, when they were recorded, settings, and numbers as bytes."""

import datetime
from pathlib import Path

import numpy as np
import pytest

from bgsub.config import Config
from bgsub.errors import ConfigError, SourceError
from bgsub.events import EventRules, Observation, Seen
from bgsub.frames import VideoInfo
from bgsub.scanning import QUICK, ScanSettings, find_files
from bgsub.scanning.analyse import find_parts
from bgsub.scanning.clock import parse_time, time_in_name
from bgsub.scanning.numbers import NumberWriter, read_numbers
from tests.scanning.made import write


def test_files_are_found_in_folders_below_and_by_patterns_in_natural_order(tmp_path):
    names = ["b/10.mp4", "b/9.MP4", "a.avi", "b/.hidden.mp4", ".trash/x.mp4", "b/notes.txt", "out/clips/c.mp4"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    def found(*places, **options):
        return [str(Path(file).relative_to(tmp_path)) for file in find_files(places, **options)]

    assert found(tmp_path, without=tmp_path / "out") == ["a.avi", "b/9.MP4", "b/10.mp4"]
    assert found(tmp_path / "b" / "*.txt") == ["b/notes.txt"]
    assert found(tmp_path / "**" / "*.mp4", without=tmp_path / "out") == ["b/10.mp4"]
    assert found(tmp_path / "b" / "10.mp4", tmp_path / "b") == ["b/10.mp4", "b/9.MP4"]


@pytest.mark.parametrize("place", ["rtsp://admin:secret@10.0.0.7/live", "http://admin:sec?ret@10.0.0.7/*.mp4"])
def test_an_address_is_refused_without_its_password(place):
    with pytest.raises(SourceError) as caught:
        find_files([place])
    assert "10.0.0.7" in str(caught.value) or "..." in str(caught.value)
    assert "bgsub watch" in str(caught.value)
    assert "sec" not in str(caught.value)


def test_places_without_a_video_are_refused(tmp_path):
    with pytest.raises(SourceError, match="holds no video"):
        find_files([tmp_path])
    with pytest.raises(SourceError, match=r"no file matches .*\*\.mp4"):
        find_files([tmp_path / "*.mp4"])
    with pytest.raises(SourceError, match="no such file or folder"):
        find_files([tmp_path / "none.mp4"])
    with pytest.raises(SourceError, match="nothing to scan"):
        find_files([])
    with pytest.raises(ValueError, match="places must be a sequence"):
        find_files("film.mp4")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("20261122_080500.mp4", (2026, 11, 22, 8, 5, 0)),
        ("cam-2026-11-22T08-05-07.mkv", (2026, 11, 22, 8, 5, 7)),
        ("NVR_ch1_main_20261122080507_20261122081007.dav", (2026, 11, 22, 8, 5, 7)),
        ("2026-11-22 08.05.mp4", (2026, 11, 22, 8, 5, 0)),
        ("20261322_080500.mp4", None),
        ("film.mp4", None),
        ("1234567890123456.mp4", None),
    ],
)
def test_times_in_names(name, expected):
    assert time_in_name(f"folder/{name}") == (None if expected is None else datetime.datetime(*expected))


def test_times_by_a_pattern():
    assert time_in_name("22.11.26 8h05.mp4", "%d.%m.%y %Hh%M") == datetime.datetime(2026, 11, 22, 8, 5)
    assert time_in_name("cam1/2026-11-22/08.05.mp4", "%Y-%m-%d/%H.%M") == datetime.datetime(2026, 11, 22, 8, 5)
    assert time_in_name("x1795334700.mp4", "x%s") == datetime.datetime(2026, 11, 22, 8, 5)
    assert time_in_name("other.mp4", "%Y%m%d") is None
    for wrong in ("%H%M", "%Y%m%d%Y", "%Q%Y%m%d"):
        with pytest.raises(ValueError, match="the name pattern"):
            time_in_name("", wrong)
    assert parse_time(" 2026-11-22 08:05 ") == datetime.datetime(2026, 11, 22, 8, 5)
    with pytest.raises(ValueError, match="must be like 2026-11-22"):
        parse_time("yesterday")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scale": 0.0}, "scale must be in"),
        ({"skip": 0}, "skip must be at least 1"),
        ({"largest_px": 4}, "largest_px must be at least 16"),
        ({"rate_hz": 0.0}, "rate_hz must be positive"),
        ({"chunk_s": 0.1}, "chunk_s must be at least 1 s"),
        ({"overlap_s": -1.0}, "overlap_s must not be negative"),
        ({"continuous": True, "chunk_s": 60.0}, "divides single files"),
        ({"regions": {"": "0,0 9,0 9,9"}}, "regions must have names"),
        ({"regions": {str(i): "0,0 9,0 9,9" for i in range(33)}}, "at most 32, got 33"),
        ({"name_pattern": "%H"}, "must have %Y"),
        ({"start_time": "soon"}, "got 'soon'"),
    ],
)
def test_settings_are_checked(changed, message):
    with pytest.raises(ValueError, match=message):
        ScanSettings(**changed)


def test_regions_that_cannot_be_read_are_refused():
    with pytest.raises(ConfigError, match="cannot read the region"):
        ScanSettings(regions={"door": "none.json"})


def test_whatever_decides_the_events_is_in_the_digest(tmp_path):
    region = tmp_path / "door.json"
    region.write_text('{"include": [[[0, 0], [9, 0], [9, 9]]]}')
    different = [
        ScanSettings(),
        ScanSettings(Config("norma")),
        ScanSettings(rules=EventRules(min_length_s=1)),
        ScanSettings(regions={"door": str(region)}),
        ScanSettings(regions={"yard": str(region)}),
        ScanSettings(skip=2),
        ScanSettings(**QUICK),
        ScanSettings(continuous=True),
        ScanSettings(chunk_s=60),
        ScanSettings(start_time="2026-11-22"),
    ]
    assert len({one.digest() for one in different}) == len(different)
    before = different[3].digest()
    region.write_text('{"include": [[[0, 0], [9, 0], [9, 8]]]}')
    assert different[3].digest() != before


def test_sampling_follows_the_size_and_the_rate_of_the_source():
    info = VideoInfo("", (1080, 1920), 25.0)
    assert ScanSettings().sampling(info) == (pytest.approx(1 / 6), 4)
    assert ScanSettings(**QUICK).sampling(info) == (pytest.approx(1 / 8), 6)
    assert ScanSettings(skip=1).sampling(info) == (pytest.approx(1 / 6), 1)
    assert ScanSettings(rate_hz=12.5, largest_px=640).sampling(info) == (pytest.approx(1 / 3), 2)
    # From file to file, each n-th frame of each file would not be each n-th frame of all.
    assert ScanSettings(continuous=True).sampling(info) == (pytest.approx(1 / 6), 1)
    assert ScanSettings(scale=0.5, skip=3).sampling(info) == (0.5, 3)
    assert ScanSettings().sampling(VideoInfo("", (120, 160), 5.0)) == (1.0, 1)


def test_long_files_are_divided_with_overlap(tmp_path):
    path = str(write(tmp_path / "a.avi", range(1, 231)))
    parts, info, failure = find_parts(path, ScanSettings(chunk_s=6, overlap_s=2))
    assert failure == ""
    assert info.count == 230
    assert [(part.first, part.last, part.learn_from) for part in parts] == [
        (1, 60, 1),
        (61, 120, 41),
        (121, 180, 101),
        (181, None, 161),
    ]
    assert len(find_parts(path, ScanSettings(chunk_s=20))[0]) == 1


def test_numbers_come_back_as_they_were():
    writer = NumberWriter(["door", "yard"])
    seen = [Seen((0.25, 0.5, 0.125, 0.25), 0.03125, 0.5, 0.25, ("yard",)), Seen((0, 0, 1, 1), 1, 0, 0, ())]
    first = Observation(7, 1.5, seen, 0.5, 0.25, 99.5, 0.125, 1.5, shares={"door": 0.0, "yard": 0.5})
    writer.add(first, 1.5)
    writer.add(Observation(9, 1.6, [], aspect=1.5), 1.6)
    back = list(read_numbers(writer.to_bytes(), ["door", "yard"], file=3, offset_s=10.0))
    assert [(one.number, one.file) for one in back] == [(7, 3), (9, 3)]
    assert back[0].time_s == 11.5
    assert back[0].objects == seen
    assert (back[0].shares, back[0].light, back[0].shift, back[0].aspect) == (first.shares, 99.5, 0.125, 1.5)
    assert list(read_numbers(NumberWriter([]).to_bytes(), [])) == []
    with pytest.raises(SourceError, match="damaged"):
        list(read_numbers(writer.to_bytes()[:100], ["door", "yard"]))


def test_the_same_numbers_are_the_same_bytes():
    def made():
        writer = NumberWriter([])
        for i in range(50):
            writer.add(Observation(i, i / 25, [Seen((0.1, 0.2, 0.3, np.float32(0.4)), 0.05)]), i / 25)
        return writer.to_bytes()

    assert made() == made()
