"""Settings of a watch, and the TOML file that holds them."""

import dataclasses
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from bgsub._input.tables import Table, read_toml
from bgsub._input.texts import read_text
from bgsub.config import Config
from bgsub.errors import ConfigError
from bgsub.events import EventRules, Sensitivity
from bgsub.roi import open_region
from bgsub.scanning import ScanSettings
from bgsub.video._credentials import SCHEMES, read_auth
from bgsub.video._text import public_name

__all__ = ["CameraSettings", "ClipSettings", "MqttSettings", "WatchSettings", "WebhookSettings", "read_settings"]

_MOST_BYTES = 2**20
_MOST_CAMERAS = 64
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)B?\s*", re.IGNORECASE)
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}

Existing = Literal["skip", "read"]


@dataclass(frozen=True, slots=True)
class CameraSettings:
    """One camera: where its frames come from, and what is an event in them."""

    name: str
    """Letters, digits, - and _; also the name of its files and topics."""
    source: str = field(repr=False)
    """Address, file, camera or, with `folder`, folder of segments. It may hold a password."""
    scan: ScanSettings
    """Detector, rules, regions and sampling."""
    folder: bool = False
    """Whether the source is a folder that grows."""
    existing: Existing = "skip"
    """Whether segments that are there at the first start are read."""
    settle_s: float = 5.0
    """Time for which a segment must not have changed to be complete."""
    auth: str | None = field(default=None, repr=False)
    """``user:password`` of a stream."""
    stall_timeout_s: float = 5.0
    clips: bool = True
    """Whether clips are cut out, where the settings of the watch ask for clips."""
    threads: int = 1
    """Threads of the detector."""

    @property
    def address(self) -> str:
        """The source as it may be shown."""
        return public_name(self.source)


@dataclass(frozen=True, slots=True)
class ClipSettings:
    """How clips are kept."""

    max_bytes: int = 10 * 10**9
    """Most bytes of all clips together: the oldest are removed."""
    max_length_s: float = 300.0
    """Longer clips go on in another file."""
    memory_bytes: int = 64 * 10**6
    """Most bytes of packets that are held for one camera, from which clips begin."""


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """An address to which events are posted."""

    url: str = field(repr=False)
    auth: str | None = field(default=None, repr=False)
    """``user:password`` for basic authentication."""
    token: str | None = field(default=None, repr=False)
    """For bearer authentication."""
    timeout_s: float = 10.0
    """Longest time for one request."""


@dataclass(frozen=True, slots=True)
class MqttSettings:
    """A broker to which events and states are published."""

    host: str
    port: int = 1883
    tls: bool = False
    auth: str | None = field(default=None, repr=False)
    topic: str = "bgsub"
    """First level of all topics."""
    discovery: str = "homeassistant"
    """First level of the topics by which Home Assistant finds devices; empty for none."""
    ca: str | None = None
    """File of certificates that the broker's is checked by; those of the system by default."""


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """Everything that a watch does."""

    output: Path
    """Folder of all outputs."""
    cameras: tuple[CameraSettings, ...]
    save_every_s: float = 300.0
    """Time between two saves of a model."""
    log_bytes: int = 100 * 10**6
    """Size at which events.jsonl begins again; one such file before it is kept."""
    clips: ClipSettings | None = None
    webhook: WebhookSettings | None = None
    mqtt: MqttSettings | None = None


def read_settings(path: str | Path) -> WatchSettings:
    """Read a file of settings.

    Relative names in it are relative to its folder.

    Raises
    ------
    ConfigError
        If the file is missing or wrong; the message names file, entry and value, but no secret.
    """
    table = read_toml(path, _MOST_BYTES)
    folder = Path(path).resolve().parent
    output = folder / table.text("output")
    save_every_s = 60 * table.number("save_every_minutes", 5.0, least=0.01)
    log_bytes = _size(table, "events_size", "100M", least=10_000)
    clips = _clips(table.table("clips")) if "clips" in table else None
    webhook = _webhook(table.table("webhook"), folder) if "webhook" in table else None
    mqtt = _mqtt(table.table("mqtt"), folder) if "mqtt" in table else None
    usual = table.table("defaults").values()
    cameras = []
    for name, one in table.table("cameras").tables():
        if not _NAME.fullmatch(name):
            raise ConfigError(f"{path}: the camera {name!r} must be named by up to 40 letters, digits, - and _")
        merged = Table({**usual, **one.values()}, str(path), f"cameras.{name}")
        cameras.append(_camera(name, merged, folder))
        merged.finish()
    table.finish()
    if not 1 <= len(cameras) <= _MOST_CAMERAS:
        raise ConfigError(f"{path}: cameras must be 1 to {_MOST_CAMERAS} tables [cameras.NAME], got {len(cameras)}")
    return WatchSettings(output, tuple(cameras), save_every_s, log_bytes, clips, webhook, mqtt)


def _camera(name: str, table: Table, folder: Path) -> CameraSettings:
    if ("source" in table) == ("folder" in table):
        raise table.error("source", "or folder is to be given, one of both")
    grows = "folder" in table
    source = str(folder / table.text("folder")) if grows else _source(table, folder)
    is_address = not grows and source.partition("://")[0].lower() in SCHEMES
    auth = _auth(table, folder) if is_address else None
    if "auth" in table and not is_address:
        raise table.error("auth", "applies to addresses that begin with rtsp, rtsps, http or https")
    return CameraSettings(
        name=name,
        source=source,
        scan=_scan(table, folder, grows),
        folder=grows,
        existing=table.text("existing", "skip", choices=get_args(Existing)),  # type: ignore[arg-type]
        settle_s=table.number("settle_s", 5.0, least=0, most=3600),
        auth=auth,
        stall_timeout_s=table.number("stall_timeout_s", 5.0, least=0.1, most=600),
        clips=table.flag("clips", True),
        threads=table.whole("threads", 1, least=1, most=256),
    )


def _source(table: Table, folder: Path) -> str:
    text = table.text("source", secret=True)
    if text == "-":
        raise table.error("source", "must not be standard input")
    beside = folder / text
    return str(beside) if ":" not in text and not text.isdigit() and "\n" not in text else text


def _scan(table: Table, folder: Path, grows: bool) -> ScanSettings:
    config = _config(table, folder)
    sensitivity = table.text("sensitivity", "normal", choices=get_args(Sensitivity))
    rules = table.table("rules").values()
    regions = {name: _region(table, f"regions.{name}", text, folder) for name, text in _regions(table).items()}
    try:
        found = EventRules.from_sensitivity(sensitivity, **rules)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        known = ", ".join(one.name for one in dataclasses.fields(EventRules))
        unknown = next((name for name in rules if name not in known.split(", ")), None)
        if unknown is not None:
            raise table.error(f"rules.{unknown}", f"is no rule; there are {known}") from None
        raise table.error("rules", f"are wrong: {error}") from None
    rate_hz = table.number("rate_hz", least=0.1, most=1000) if "rate_hz" in table else None
    return ScanSettings(
        config=config,
        rules=found,
        regions=regions,
        largest_px=table.whole("largest_px", 640, least=16, most=2**15),
        rate_hz=rate_hz,
        skip=1 if rate_hz is None else None,
        continuous=grows,
    )


def _config(table: Table, folder: Path) -> Config:
    given: dict[str, Any] = {}
    for name in ("detector", "learning_rate", "warmup"):
        if (value := table.raw(name)) is not None:
            given[name] = value
    parameters, post = table.table("parameters").values(), table.table("postprocess").values()
    if "roi" in table:
        given["roi"] = _region(table, "roi", table.text("roi"), folder)
    else:
        table.raw("roi")
    try:
        config = Config(**given, parameters=parameters)
        return config.with_postprocess(**post) if post else config
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{table.file}: {table.where}: {error}") from None


def _regions(table: Table) -> Mapping[str, Any]:
    regions = table.table("regions").values()
    for name in regions:
        if not _NAME.fullmatch(name):
            raise table.error(f"regions.{name}", "must be named by up to 40 letters, digits, - and _")
    if len(regions) > 32:
        raise table.error("regions", f"must be at most 32, got {len(regions)}")
    return regions


def _region(table: Table, key: str, text: Any, folder: Path) -> str:
    if not isinstance(text, str) or not text.strip():
        raise table.error(key, "must be text, such as '10,10 310,10 160,230', or the name of a file", text)
    found = text if re.fullmatch(r"[-\d.,\s]+", text) else str(folder / text)
    try:
        open_region(found)
    except ConfigError as error:
        raise table.error(key, f"is wrong: {error}") from None
    return found


def _clips(table: Table) -> ClipSettings:
    made = ClipSettings(
        _size(table, "max_size", "10G"),
        table.number("max_length_s", 300.0, least=5, most=86400),
        _size(table, "memory", "64M", least=10**6),
    )
    table.finish()
    return made


def _webhook(table: Table, folder: Path) -> WebhookSettings:
    url = table.text("url", secret=True)
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        valid = False
    if not valid or re.search(r"[\s\x00-\x1f\x7f-\U0010ffff]", url):
        raise table.error("url", "must be an address like https://host/path")
    auth = _auth(table, folder)
    if "auth" in table and "token" in table:
        raise table.error("token", "and auth exclude each other")
    token = _secret(table, "token", folder) if "token" in table else None
    made = WebhookSettings(url, auth, token, table.number("timeout_s", 10.0, least=0.1, most=600))
    table.finish()
    return made


def _mqtt(table: Table, folder: Path) -> MqttSettings:
    tls = table.flag("tls", False)
    made = MqttSettings(
        host=_plain(table, "host"),
        port=table.whole("port", 8883 if tls else 1883, least=1, most=65535),
        tls=tls,
        auth=_auth(table, folder),
        topic=_topic(table, "topic", "bgsub"),
        discovery=_topic(table, "discovery", "homeassistant"),
        ca=str(folder / table.text("ca")) if "ca" in table else None,
    )
    table.finish()
    return made


def _plain(table: Table, key: str, *default: str) -> str:
    text = table.text(key, *default, secret=True)
    if re.search(r"[\s/@?#]", text):
        raise table.error(key, "must be a name without spaces or any of /@?#; credentials are given as auth")
    return text


def _topic(table: Table, key: str, default: str) -> str:
    raw = table.raw(key, default)
    if raw == "" and key == "discovery":
        return ""
    text = table.text(key, default)
    if not re.fullmatch(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*", text):
        raise table.error(key, "must be letters, digits, - and _, with / between levels", text)
    return text


def _auth(table: Table, folder: Path) -> str | None:
    """Return the credentials in the file or the variable that an entry names."""
    if "auth" not in table:
        table.raw("auth")
        return None
    where = table.text("auth", secret=True)
    from_variable = where.startswith("env:")
    found, reason = None, "the variable is not set" if from_variable else "the file cannot be read"
    try:
        found = read_auth(where if from_variable else str(folder / where))
    except ConfigError as error:
        reason = str(error) if from_variable else reason
    # Raised outside the handler: the text may be the password itself, put here by mistake.
    if found is None:
        raise table.error("auth", f"must name a file, or a variable by env:NAME, that holds user:password; {reason}")
    return found


def _secret(table: Table, key: str, folder: Path) -> str:
    """Return the first line of the file or the variable that an entry names, whatever its form."""
    where = table.text(key, secret=True)
    try:
        text = os.environ.get(where[4:], "") if where.startswith("env:") else read_text(folder / where, 2**12)
    except (OSError, ValueError):
        text = ""
    line = text.partition("\n")[0].strip()
    if not line or not line.isascii() or not line.isprintable():
        raise table.error(key, "must name a file, or a variable by env:NAME, whose first line is the token")
    return line


def _size(table: Table, key: str, default: str, *, least: int = 0) -> int:
    text = table.text(key, default)
    match = _SIZE.fullmatch(text)
    size = round(float(match[1]) * _UNITS[match[2].upper()]) if match else -1
    if size < least:
        raise table.error(key, f"must be a size like 500M or 20G, at least {least} bytes", text)
    return size
