"""Objects in the packages supervision and trackers, where these are installed."""

import sys

import numpy as np
import pytest

from bgsub.errors import DependencyError
from bgsub.objects import Tracker, find_objects
from tests.objects.made import found, masked


def test_detections_have_the_boxes_scores_and_ids():
    supervision = pytest.importorskip("supervision", reason="supervision is not installed")
    mask = masked((10, 20, 30, 40), (100, 50, 20, 30))
    score = np.where(np.arange(200) < 60, 0.25, -3).astype(np.float32) * np.ones((120, 1), np.float32)
    detections = find_objects(mask, score=score).to_supervision()
    assert isinstance(detections, supervision.Detections)
    assert detections.xyxy.tolist() == [[10, 20, 40, 60], [100, 50, 120, 80]]
    assert detections.confidence.tolist() == [0.25, 0]
    assert detections.tracker_id is None
    assert detections.data["area"].tolist() == [1200, 600]
    assert detections[detections.area > 1000].data["centroid"].tolist() == [[24.5, 39.5]]
    tracked = Tracker(min_age=1).update(find_objects(mask)).to_supervision()
    assert tracked.tracker_id.tolist() == [1, 2]
    assert tracked.confidence.tolist() == [1, 1]


def test_no_objects_are_empty_detections():
    supervision = pytest.importorskip("supervision", reason="supervision is not installed")
    detections = found().to_supervision()
    assert len(detections) == 0
    assert detections.xyxy.shape == (0, 4)
    assert len(supervision.Detections.merge([detections, found((1, 2, 3, 4)).to_supervision()])) == 1


@pytest.mark.parametrize("name", ["ByteTrackTracker", "SORTTracker", "OCSORTTracker"])
def test_trackers_follow_them(name):
    pytest.importorskip("supervision", reason="supervision is not installed")
    trackers = pytest.importorskip("trackers", reason="trackers is not installed")
    tracker = getattr(trackers, name)()
    ids = []
    for i in range(20):
        detections = tracker.update(found((10 + 3 * i, 20, 30, 40), (150 - 2 * i, 70, 20, 30)).to_supervision())
        ids.append(sorted(detections.tracker_id.tolist()))
    assert len(ids[-1]) == 2
    assert ids[-1] == ids[10]
    assert min(ids[-1]) >= 0


def test_missing_supervision_is_named_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "supervision", None)
    with pytest.raises(DependencyError, match=r"detections need supervision .*pip install 'bgsub\[supervision\]'"):
        found((1, 2, 3, 4)).to_supervision()
