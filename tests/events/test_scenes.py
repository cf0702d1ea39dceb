"""Events of the detector: none where nothing happens, and those that were marked by eye."""

import json
from pathlib import Path

import numpy as np
import pytest

from bench.events.__main__ import compare
from bench.events.quiet import make_quiet
from bgsub.config import Config
from bgsub.events import Event, EventMachine, Measure, SceneChange
from bgsub.frames import Packet, Result
from bgsub.scanning import scan
from tests.data import shared_data

TRUTH = json.loads((Path(__file__).resolve().parents[2] / "bench" / "events" / "truth.json").read_text())["videos"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("noise", 0),
        ("leaves", 0),
        ("water", 0),
        ("clouds", 0),
        ("switches", 1),
        ("flicker", 0),
        ("knocks", 1),
    ],
)
def test_nothing_happens_where_nothing_happens(kind, changes):
    config = Config()
    pipeline = config.make_pipeline(config.make_detector(rate_hz=25.0), want_score=True)
    machine, measure, found = EventMachine(), Measure(min_area=0.0005), []
    for packet in make_quiet(kind, seed=3, size=(180, 320), frames=450).frames():
        found += machine.see(measure(pipeline.step(packet)))
    found += machine.finish()
    assert [one for one in found if isinstance(one, Event)] == []
    assert len([one for one in found if isinstance(one, SceneChange)]) == changes


@pytest.mark.parametrize(("penumbra_px", "events"), [(40, 0), (1, 1)])
def test_a_shadow_that_comes_in_with_a_wide_penumbra_is_no_event(penumbra_px, events):
    """The mask is the darkest part alone, as where the detector has learned the rest of the penumbra."""
    ground = np.random.default_rng(3).uniform(60, 180, (180, 320, 1)).astype(np.float32).repeat(3, 2)
    y, x = np.mgrid[:180, :320]
    machine, measure, found = EventMachine(), Measure(min_area=0.0005), []
    for i in range(60):
        depth = np.clip((2.5 * i - np.hypot(320 - x, 180 - y)) / penumbra_px, 0, 1)  # from the corner
        frame = np.rint(ground * (1 - 0.35 * depth[..., None])).astype(np.uint8)
        mask = np.where(depth > 0.6, 255, 0).astype(np.uint8)
        result = Result(Packet(i, 0.16 * i, frame, i + 1), mask, np.full(mask.shape, 0.5, np.float32))
        found += machine.see(measure(result))
    found += machine.finish()
    assert len([one for one in found if isinstance(one, Event)]) == events


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(TRUTH))
def test_events_marked_by_eye_are_found(name, tmp_path):
    video = shared_data() / "video" / name
    if not video.is_file():
        pytest.skip(f"no {name} in the data")
    result = scan([video], tmp_path / "out")
    found = [(event.event.start.time_s, event.event.end.time_s) for event in result.events]
    score = compare([tuple(span) for span in TRUTH[name]], found)
    assert (score.met, score.false, score.fragments) == (score.true, 0, 0)
    assert all(abs(error) < 1 for error in score.errors_s)
