"""Speed of detectors beside OpenCV's, on generated scenes or on real content, and where the time goes."""

from bgsub.bench.benchmark import CLIP_ROUNDS, SCENE_ROUNDS, bench, count_steps
from bgsub.bench.clips import Clip, ClipSource, make_frames, open_clip, scene_clip, sequence_clip
from bgsub.bench.profiles import StageRow, profile
from bgsub.bench.report import Mean, Report
from bgsub.bench.specs import DetectorSpec, default_specs, parse
from bgsub.bench.stage_times import StageTimes, stages
from bgsub.bench.turns import Row

__all__ = [
    "CLIP_ROUNDS",
    "SCENE_ROUNDS",
    "Clip",
    "ClipSource",
    "DetectorSpec",
    "Mean",
    "Report",
    "Row",
    "StageRow",
    "StageTimes",
    "bench",
    "count_steps",
    "default_specs",
    "make_frames",
    "open_clip",
    "parse",
    "profile",
    "scene_clip",
    "sequence_clip",
    "stages",
]
