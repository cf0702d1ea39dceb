"""Settings of a watch: what is wrong is named with file, entry and value, and no secret is repeated."""

import re
from pathlib import Path

import pytest

from bgsub.errors import ConfigError
from bgsub.watching import read_settings
from tests.watching.made import write_settings

CAMERA = '[cameras.yard]\nsource = "a.mkv"\n'
SECRET = "hunter2"  # noqa: S105 - of nothing


def test_the_example_of_the_documentation_is_read(tmp_path, monkeypatch):
    text = (Path(__file__).parents[2] / "docs" / "watch.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "cameras.toml").write_text(example, encoding="utf-8")
    for name in re.findall(r'(?:auth|token) = "([^":]+)"', example):
        (tmp_path / name).write_text(f"viewer:{SECRET}\n")
    for name in re.findall(r'"env:(\w+)"', example):
        monkeypatch.setenv(name, f"viewer:{SECRET}")
    settings = read_settings(tmp_path / "cameras.toml")
    assert len(settings.cameras) >= 3
    assert settings.webhook
    assert settings.mqtt
    assert settings.clips
    assert any(camera.folder for camera in settings.cameras)
    assert any(camera.scan.regions for camera in settings.cameras)
    assert SECRET not in repr(settings)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"cameras must be 1 to 64 tables \[cameras.NAME\], got 0"),
        ("colour = 1\n" + CAMERA, "the file has no entry 'colour'; it may have"),
        ("[cameras.yard]\n", "cameras.yard.source or folder is to be given, one of both"),
        (CAMERA + 'folder = "b"\n', "one of both"),
        (CAMERA + "rate_hz = 0\n", "cameras.yard.rate_hz must be at least 0.1 and at most 1000, got 0"),
        (CAMERA + 'rate_hz = "fast"\n', "cameras.yard.rate_hz must be a number, got 'fast'"),
        (CAMERA + "largest_px = 6.5\n", "largest_px must be a whole number from 16 to 32768, got 6.5"),
        (CAMERA + "clips = 1\n", "cameras.yard.clips must be true or false, got 1"),
        (CAMERA + 'sensitivity = "much"\n', "sensitivity must be one of low, normal, high, got 'much'"),
        (CAMERA + "[cameras.yard.rules]\nmin_length = 1\n", "cameras.yard.rules.min_length is no rule; there are"),
        (CAMERA + "[cameras.yard.rules]\nmin_length_s = -1\n", "min_length_s must be a number, at least 0, got -1"),
        (CAMERA + "[cameras.yard.regions]\ndoor = 5\n", "cameras.yard.regions.door must be text, such as"),
        (CAMERA + '[cameras.yard.regions]\ndoor = "0,0 1,1"\n', "cameras.yard.regions.door is wrong: .*3 corners"),
        (CAMERA + '[cameras.yard.regions]\n"a/b" = "0,0 1,1 2,0"\n', "cameras.yard.regions.a/b must be named by"),
        (CAMERA + 'roi = "gone.png"\n', "cameras.yard.roi is wrong: .*no such file"),
        (CAMERA + 'detector = "none"\n', "cameras.yard: .*none"),
        (CAMERA + "parameters = { slots = -1 }\n", "cameras.yard: slots must"),
        (CAMERA + 'auth = "file"\n', "cameras.yard.auth applies to addresses"),
        ('[cameras."a b"]\nsource = "a.mkv"\n', "the camera 'a b' must be named by"),
        ("[cameras]\nyard = 3\n", "cameras.yard must be a table, got 3"),
        ("events_size = 5\n" + CAMERA, "events_size must be text, got 5"),
        ('events_size = "much"\n' + CAMERA, "events_size must be a size like 500M or 20G"),
        ("[clips]\nmax_length_s = 1\n" + CAMERA, "clips.max_length_s must be at least 5"),
        ('[mqtt]\nhost = "mqtt://a"\n' + CAMERA, "mqtt.host must be a name without"),
        ('[mqtt]\nhost = "a"\ntopic = "a/#"\n' + CAMERA, "mqtt.topic must be letters, digits"),
        ('[mqtt]\nhost = "a"\nport = 70000\n' + CAMERA, "mqtt.port must be a whole number from 1 to 65535, got 70000"),
        ("[webhook]\n" + CAMERA, "webhook.url is missing"),
        ("[cameras.yard\n", "is no valid TOML"),
        ("x = " + "[" * 5000, "nested too deeply|is no valid TOML"),
    ],
)
def test_what_is_wrong_is_one_line_that_names_it(tmp_path, text, message):
    path = write_settings(tmp_path, text)
    with pytest.raises(ConfigError, match=message) as caught:
        read_settings(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        f'[webhook]\nurl = "ftp://me:{SECRET}@host/x"\n' + CAMERA,
        f'[webhook]\nurl = "https://host/ {SECRET}"\n' + CAMERA,
        f'[webhook]\nurl = "https://host/"\nauth = "me:{SECRET}"\n' + CAMERA,
        f'[webhook]\nurl = "https://host/"\ntoken = "{SECRET}"\n' + CAMERA,
        f'[mqtt]\nhost = "me:{SECRET}@host"\n' + CAMERA,
        f'[mqtt]\nhost = "host"\nauth = "me:{SECRET}"\n' + CAMERA,
        f'[cameras.yard]\nsource = "rtsp://host/live"\nauth = "me:{SECRET}"\n',
        f'[cameras.yard]\nsource = ["rtsp://me:{SECRET}@host/live"]\n',
    ],
)
def test_secrets_in_the_wrong_place_are_not_repeated(tmp_path, text):
    with pytest.raises(ConfigError) as caught:
        read_settings(write_settings(tmp_path, text))
    error = caught.value
    while error is not None:
        assert SECRET not in str(error)
        error = error.__context__


def test_credentials_come_from_files_and_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("YARD", f"me:{SECRET}")
    (tmp_path / "door.auth").write_text(f"you:{SECRET}\n")
    text = '[defaults]\nsource = "rtsp://host/live"\n[cameras.yard]\nauth = "env:YARD"\n'
    text += '[cameras.door]\nauth = "door.auth"\n'
    one, two = read_settings(write_settings(tmp_path, text)).cameras
    assert (one.auth, two.auth) == (f"me:{SECRET}", f"you:{SECRET}")


def test_a_missing_or_endless_file_is_one_line(tmp_path):
    with pytest.raises(ConfigError, match=r"cannot read the settings .*gone\.toml: No such file"):
        read_settings(tmp_path / "gone.toml")
    with pytest.raises(ConfigError, match="is larger than"):
        read_settings("/dev/zero")


def test_names_are_relative_to_the_file(tmp_path):
    settings = read_settings(write_settings(tmp_path, CAMERA))
    assert settings.output == tmp_path / "out"
    assert settings.cameras[0].source == str(tmp_path / "a.mkv")
