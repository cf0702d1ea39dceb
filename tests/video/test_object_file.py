"""Files of objects in each format."""

import csv
import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bgsub.errors import SinkError
from bgsub.frames import Packet, Result
from bgsub.objects import Line, ObjectFinder, ObjectLimits
from bgsub.roi import open_region
from bgsub.video.sinks import ObjectFile
from tests.objects.made import SIZE, masked

pytestmark = pytest.mark.usefixtures("no_leaked_threads")

BOXES = [
    [(0, 10, 12, 20), (100, 50, 30, 40)],
    [],
    [(4, 10, 12, 20)],
    [(6, 10, 12, 20), (104, 50, 30, 40), (160, 100, 1, 1)],
]


def results():
    score = np.full(SIZE, 0.25, np.float32)
    for index, boxes in enumerate(BOXES):
        mask = masked(*boxes)
        yield Result(Packet(index, index / 8 + 0.5, mask, index + 7), mask, score)


def written(path: Path, **options) -> str:
    with ObjectFile(path, **options) as sink:
        for result in results():
            sink.write(result)
    return path.read_text()


def finder():
    return ObjectFinder(
        limits=ObjectLimits(min_area=2),
        regions={"left, lower": open_region("0,0 60,0 60,119 0,119"), "all": open_region("0,0 199,0 199,119 0,119")},
        lines={"gate": Line((9, 119), (9, 0), margin=0)},
    )


def test_json_lines_hold_everything(tmp_path):
    lines = [json.loads(line) for line in written(tmp_path / "o.jsonl", finder=finder()).splitlines()]
    assert [line["index"] for line in lines] == [0, 0, 2, 3, 3]
    assert lines[0] == {
        "index": 0,
        "number": 7,
        "time_s": 0.5,
        "id": 1,
        "age": 1,
        "box": [0, 10, 12, 20],
        "area": 240,
        "centroid": [5.5, 19.5],
        "score": 0.25,
        "regions": ["left, lower", "all"],
        "border": True,
    }
    assert [line["id"] for line in lines] == [1, 2, 1, 1, 2]
    assert lines[3]["age"] == 3


def test_csv_is_the_same_as_a_table(tmp_path):
    lines = [json.loads(line) for line in written(tmp_path / "o.jsonl", finder=finder()).splitlines()]
    rows = list(csv.DictReader(written(tmp_path / "o.csv", finder=finder()).splitlines()))
    assert len(rows) == len(lines)
    for row, line in zip(rows, lines, strict=True):
        for name in ("index", "number", "time_s", "id", "age", "area", "score"):
            assert float(row[name]) == line[name]
        assert [int(row[name]) for name in ("x", "y", "width", "height")] == line["box"]
        assert [float(row[name]) for name in ("centroid_x", "centroid_y")] == line["centroid"]
        assert [name for name in row["regions"].split(";") if name] == line["regions"]
        assert bool(int(row["border"])) == line["border"]


def test_mot_counts_frames_and_pixels_from_1(tmp_path):
    assert written(tmp_path / "o.txt").splitlines() == [
        "1,1,1,11,12,20,1,-1,-1,-1",
        "1,2,101,51,30,40,1,-1,-1,-1",
        "3,1,5,11,12,20,1,-1,-1,-1",
        "4,1,7,11,12,20,1,-1,-1,-1",
        "4,2,105,51,30,40,1,-1,-1,-1",
        "4,3,161,101,1,1,1,-1,-1,-1",
    ]


def test_coco_has_an_image_for_each_frame_and_an_annotation_for_each_object(tmp_path):
    found = json.loads(written(tmp_path / "o.json"))
    assert [image["id"] for image in found["images"]] == [1, 2, 3, 4]
    assert found["images"][2] == {"id": 3, "file_name": "000009.jpg", "width": 200, "height": 120, "time_s": 0.75}
    assert found["categories"] == [{"id": 1, "name": "object", "supercategory": ""}]
    annotations = found["annotations"]
    assert [one["id"] for one in annotations] == [1, 2, 3, 4, 5, 6]
    assert [one["image_id"] for one in annotations] == [1, 1, 3, 4, 4, 4]
    assert annotations[1] == {
        "id": 2,
        "image_id": 1,
        "category_id": 1,
        "bbox": [100, 50, 30, 40],
        "area": 1200,
        "iscrowd": 0,
        "segmentation": [[100, 50, 100, 89, 129, 89, 129, 50]],
        "track_id": 2,
        "score": 0.25,
    }
    assert annotations[5]["segmentation"] == [[160, 100, 161, 100, 161, 101, 160, 101]]  # one pixel has no outline


def test_files_without_objects_can_be_read(tmp_path):
    mask = np.zeros(SIZE, np.uint8)
    for suffix in (".jsonl", ".csv", ".txt", ".json"):
        with ObjectFile(tmp_path / f"o{suffix}") as sink:
            sink.write(Result(Packet(0, 0.0, mask, 1), mask))
    assert (tmp_path / "o.jsonl").read_text() == (tmp_path / "o.txt").read_text() == ""
    assert len((tmp_path / "o.csv").read_text().splitlines()) == 1
    found = json.loads((tmp_path / "o.json").read_text())
    assert (len(found["images"]), found["annotations"]) == (1, [])


def test_results_without_scores_have_none(tmp_path):
    mask = masked((10, 10, 20, 20))
    for suffix in (".jsonl", ".csv", ".json"):
        with ObjectFile(tmp_path / f"o{suffix}") as sink:
            sink.write(Result(Packet(0, 0.0, mask, 1), mask))
    assert json.loads((tmp_path / "o.jsonl").read_text())["score"] is None
    assert next(csv.DictReader((tmp_path / "o.csv").read_text().splitlines()))["score"] == ""
    assert json.loads((tmp_path / "o.json").read_text())["annotations"][0]["score"] is None


def test_sinks_that_share_a_finder_count_once(tmp_path):
    shared = finder()
    sinks = [ObjectFile(tmp_path / f"o{suffix}", finder=shared) for suffix in (".jsonl", ".csv")]
    for result in results():
        for sink in sinks:
            sink.write(result)
    for sink in sinks:
        sink.close()
    assert shared.counts == {
        "tracks": 2,
        "lines": {"gate": {"left_to_right": 1, "right_to_left": 0}},
        "regions": {
            "left, lower": {"entered": 1, "left": 0, "inside": 1},
            "all": {"entered": 2, "left": 0, "inside": 2},
        },
    }
    assert (tmp_path / "o.jsonl").read_text() == written(tmp_path / "again.jsonl", finder=finder())


def test_unknown_suffix_is_refused(tmp_path):
    with pytest.raises(SinkError, match=r"must end in \.jsonl or \.csv or \.txt or \.json"):
        ObjectFile(tmp_path / "o.xml")


def test_writing_after_the_end_is_refused(tmp_path):
    for suffix in (".jsonl", ".json"):
        sink = ObjectFile(tmp_path / f"o{suffix}")
        sink.close()
        with pytest.raises(SinkError, match="it is closed"):
            sink.write(next(results()))
    assert not list(tmp_path.iterdir())


BROKEN = """
import os, resource, signal, sys
from bgsub.errors import SinkError
from tests.video.test_object_file import ObjectFile, results

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sink = ObjectFile(sys.argv[1])
if sys.argv[2] != "kill":
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    for _ in range(300):
        for result in results():
            sink.write(result)
    if sys.argv[2] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    sink.close()
except SinkError as error:
    sink.close()
    print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has neither SIGKILL nor a limit on file sizes")
@pytest.mark.parametrize("end", ["kill", "20000", "120000"])
def test_coco_is_written_whole_or_not_at_all(tmp_path, end):
    command = [sys.executable, "-c", BROKEN, str(tmp_path / "o.json"), end]
    folder = Path(__file__).parents[2]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=folder)
    assert done.stderr == ""
    if end == "kill":
        assert done.returncode == -signal.SIGKILL
        assert {path.name for path in tmp_path.iterdir()} <= {".o.json.lock"}  # which locks nothing any more
    else:
        assert "cannot write" in done.stdout
        assert "o.json" in done.stdout
        assert not list(tmp_path.iterdir())
    with ObjectFile(tmp_path / "o.json") as sink:
        for result in results():
            sink.write(result)
    assert [path.name for path in tmp_path.iterdir()] == ["o.json"]


def test_pycocotools_reads_the_annotations(tmp_path):
    coco = pytest.importorskip("pycocotools.coco", reason="pycocotools is not installed")
    written(tmp_path / "o.json")
    data = coco.COCO(str(tmp_path / "o.json"))
    assert sorted(data.getImgIds()) == [1, 2, 3, 4]
    assert len(data.getAnnIds(imgIds=[4])) == 3
    for one in data.loadAnns(data.getAnnIds()):
        drawn = int(data.annToMask(one).sum())  # a polygon through the middles of the outermost pixels
        assert one["area"] - 2 * sum(one["bbox"][2:]) <= drawn <= one["area"]


def test_motmetrics_reads_the_boxes(tmp_path):
    motmetrics = pytest.importorskip("motmetrics", reason="motmetrics is not installed")
    written(tmp_path / "o.txt")
    table = motmetrics.io.loadtxt(str(tmp_path / "o.txt"), fmt="mot15-2D")
    assert table.loc[(1, 2)][["X", "Y", "Width", "Height"]].tolist() == [100, 50, 30, 40]
    assert len(table) == 6
