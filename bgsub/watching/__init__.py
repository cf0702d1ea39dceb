"""Cameras watched live: from streams and growing folders to events, delivered wherever they are wanted."""

from bgsub.watching.run import watch
from bgsub.watching.settings import (
    CameraSettings,
    ClipSettings,
    MqttSettings,
    WatchSettings,
    WebhookSettings,
    read_settings,
)

__all__ = [
    "CameraSettings",
    "ClipSettings",
    "MqttSettings",
    "WatchSettings",
    "WebhookSettings",
    "read_settings",
    "watch",
]
