"""What is known of a watch at present: as a line, as JSON, and as metrics."""

from collections.abc import Iterable, Sequence
from typing import Any

from bgsub.watching.cameras.status import CameraStatus
from bgsub.watching.delivery.event_log import EventLog
from bgsub.watching.delivery.worker import Delivery

__all__ = ["health", "metrics_text", "status_line"]


def status_line(cameras: Sequence[CameraStatus], deliveries: Sequence[Delivery], log: EventLog) -> str:
    """Return one line for a terminal."""
    parts = []
    for camera in cameras:
        moving = [region or "motion" for region, moves in camera.motion.items() if moves]
        state = f"{camera.rate_hz:.0f}/s" if camera.available else "failed" if camera.failed else "waiting"
        parts.append(" ".join([camera.name, state, *moving]))
    parts.append(f"{sum(camera.events for camera in cameras)} events")
    parts += [f"{one.pending} for {one.name}" for one in deliveries if one.pending]
    if log.trouble:
        parts.append("events cannot be written")
    return " | ".join(parts)


def health(
    cameras: Sequence[CameraStatus], deliveries: Sequence[Delivery], log: EventLog
) -> tuple[bool, dict[str, Any]]:
    """Return whether all cameras deliver and all events get where they are wanted, and the details."""
    seen = {
        camera.name: {
            "source": camera.address,
            "available": camera.available,
            "trouble": camera.trouble,
            "silent_s": None if camera.silent_s is None else round(camera.silent_s, 1),
            "motion": [region for region, moves in camera.motion.items() if moves],
        }
        for camera in cameras
    }
    delivered = {one.name: {"pending": one.pending, "trouble": one.trouble} for one in deliveries}
    well = all(one["available"] for one in seen.values()) and not any(one["trouble"] for one in delivered.values())
    return well and log.trouble is None, {
        "ok": well and log.trouble is None,
        "cameras": seen,
        "deliveries": delivered,
        "events": {"waiting": log.waiting, "trouble": log.trouble},
    }


def metrics_text(cameras: Sequence[CameraStatus], deliveries: Sequence[Delivery], log: EventLog) -> str:
    """Return the metrics in the text format of Prometheus."""
    lines: list[str] = []

    def add(name: str, kind: str, what: str, values: Iterable[tuple[str, float]]) -> None:
        values = list(values)
        if values:
            lines.extend([f"# HELP bgsub_{name} {what}", f"# TYPE bgsub_{name} {kind}"])
            lines.extend(f"bgsub_{name}{labels} {value:.16g}" for labels, value in values)

    def of_cameras(attribute: str) -> list[tuple[str, float]]:
        return [(f'{{camera="{one.name}"}}', float(getattr(one, attribute))) for one in cameras]

    def of_deliveries(attribute: str) -> list[tuple[str, float]]:
        return [(f'{{to="{one.name}"}}', float(getattr(one, attribute))) for one in deliveries]

    add("camera_up", "gauge", "Whether frames arrive.", of_cameras("available"))
    add("frames_total", "counter", "Frames that were looked at.", of_cameras("frames"))
    add("frames_dropped_total", "counter", "Frames that arrived too fast.", of_cameras("dropped"))
    add("frame_rate_hertz", "gauge", "Frames per second of the last ten seconds.", of_cameras("rate_hz"))
    add("events_total", "counter", "Events found.", of_cameras("events"))
    add("scene_changes_total", "counter", "Changes of the whole scene.", of_cameras("scene_changes"))
    add("source_failures_total", "counter", "Streams and files that broke off.", of_cameras("failures"))
    last = [(f'{{camera="{one.name}"}}', one.last_frame_s) for one in cameras if one.last_frame_s is not None]
    add("last_frame_timestamp_seconds", "gauge", "When the last frame arrived.", last)
    motion = [
        (f'{{camera="{one.name}",region="{region}"}}', float(moves))
        for one in cameras
        for region, moves in one.motion.items()
    ]
    add("motion", "gauge", "Whether something moves; the empty region is the whole frame.", motion)
    kept = [(f'{{camera="{one.name}"}}', float(one.recorder.ring.size)) for one in cameras if one.recorder]
    add("packets_bytes", "gauge", "Encoded packets in memory, from which clips begin.", kept)
    add("delivered_total", "counter", "Events acknowledged by the receiver.", of_deliveries("delivered"))
    add("delivery_failures_total", "counter", "Attempts that failed.", of_deliveries("failures"))
    add("delivery_refused_total", "counter", "Events that the receiver will never take.", of_deliveries("refused"))
    add("delivery_dropped_total", "counter", "Events removed before they were delivered.", of_deliveries("dropped"))
    add("delivery_pending", "gauge", "Events that wait to be delivered.", of_deliveries("pending"))
    add("events_unwritten", "gauge", "Events in memory because the disk is full.", [("", float(log.waiting))])
    add("events_lost_total", "counter", "Events lost because it stayed full.", [("", float(log.lost))])
    return "\n".join(lines) + "\n"
