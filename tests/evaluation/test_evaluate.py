import csv
import json
import logging
import math
import subprocess
import sys

import cv2  # noqa: TID251 - files and peers as a user would have them
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from bgsub.errors import DatasetError, SinkError, UnsupportedError
from bgsub.evaluation import (
    Counts,
    GroundTruth,
    Report,
    RocCounter,
    contact_sheet,
    count_pixels,
    evaluate,
    find_sequences,
    mean_measures,
    plot_roc,
    scored_pixels,
)
from bgsub.video.sources.synthetic import SyntheticScene, write_sample
from tests.data import shared_data
from tests.evaluation.made import plain, write_sequence


class Script:
    """Answers each frame with the next prepared mask; remembers what it saw."""

    def __init__(self, masks, score=None):
        self.masks, self.seen, self.order = list(masks), [], []
        if score is not None:
            self.score = lambda frame: self.order.append("score") or score

    def apply(self, frame):
        self.order.append("apply")
        self.seen.append(frame)
        return self.masks[(len(self.seen) - 1) % len(self.masks)]


class TestMeasures:
    def test_counts_and_measures_by_hand(self):
        labels = np.array([[255, 255, 255, 170], [0, 0, 50, 85], [0, 50, 255, 255]], np.uint8)
        mask = np.array([[255, 127, 255, 255], [255, 0, 255, 255], [0, 127, 255, 0]], np.uint8)
        counts = count_pixels(mask, *scored_pixels(labels, None))
        assert counts == Counts(tp=3, fp=2, fn=2, tn=3)
        assert counts.measures() == pytest.approx(
            {
                "recall": 3 / 5,
                "specificity": 3 / 5,
                "fpr": 2 / 5,
                "fnr": 2 / 5,
                "pwc": 40.0,
                "f_measure": 6 / 10,
                "precision": 3 / 5,
            }
        )
        roi = np.array([[255, 255, 0, 255], [255, 255, 255, 255], [0, 0, 0, 0]], np.uint8)
        assert count_pixels(mask, *scored_pixels(labels, roi)) == Counts(tp=1, fp=2, fn=1, tn=1)

    def test_counts_add_up(self):
        assert Counts(1, 2, 3, 4) + Counts(10, 20, 30, 40) == Counts(11, 22, 33, 44)

    def test_nothing_over_nothing_is_nan_and_left_out_of_means(self):
        empty, silent, full = Counts().measures(), Counts(tn=5).measures(), Counts(tp=1, fp=1, tn=1).measures()
        assert all(math.isnan(value) for value in empty.values())
        assert [name for name, value in silent.items() if math.isnan(value)] == [
            "recall",
            "fnr",
            "f_measure",
            "precision",
        ]
        means = mean_measures([silent, full])
        assert means["f_measure"] == pytest.approx(2 / 3)
        assert means["specificity"] == 0.75
        assert math.isnan(mean_measures([silent])["recall"])


class TestRocCounter:
    def test_agrees_with_the_exact_area_and_best_f(self):
        rng = np.random.default_rng(0)
        positive = rng.random(20_000) < 0.2
        score = rng.normal(0, 1, 20_000) + 1.5 * positive
        score[::7] *= 1000
        score[:50] = -1e6
        score = score.astype(np.float32)
        counter = RocCounter()
        for part in range(4):
            counter.add(score[part::4], positive[part::4], ~positive[part::4])
        roc = counter.roc()
        assert roc.auc == pytest.approx(roc_auc_score(positive, score), abs=1e-4)
        exact = max(
            2 * np.sum(positive & (score >= t)) / (np.sum(score >= t) + positive.sum()) for t in np.sort(score)[::20]
        )
        assert roc.best_f == pytest.approx(exact, abs=1e-3)
        detected = score >= roc.best_threshold
        assert 2 * np.sum(detected & positive) / (detected.sum() + positive.sum()) == pytest.approx(roc.best_f)
        assert (roc.fpr[0], roc.tpr[0], roc.fpr[-1], roc.tpr[-1]) == (0, 0, 1, 1)
        assert (np.diff(roc.fpr) >= 0).all()
        assert (np.diff(roc.thresholds) < 0).all()

    def test_zero_has_one_sign(self):
        counter = RocCounter()
        counter.add(np.array([0.0, -0.0], np.float32), np.array([True, False]), np.array([False, True]))
        assert counter.roc().auc == 0.5

    def test_missing_class_gives_nan(self):
        counter = RocCounter()
        counter.add(np.zeros(3, np.float32), np.zeros(3, bool), np.ones(3, bool))
        roc = counter.roc()
        assert math.isnan(roc.auc)
        assert math.isnan(roc.best_f)

    def test_nan_score_raises(self):
        with pytest.raises(ValueError, match="score must not be NaN, got 1"):
            RocCounter().add(np.array([np.nan], np.float32), np.array([True]), np.array([False]))


class TestFindSequences:
    def test_finds_all_below_and_names_the_category(self, tmp_path):
        for name in ("b/two", "a/one", "a/three"):
            write_sequence(tmp_path / name, plain(2))
        found = find_sequences(tmp_path)
        assert [(s.category, s.name) for s in found] == [("a", "one"), ("a", "three"), ("b", "two")]
        assert [s.name for s in find_sequences(tmp_path / "b" / "two")] == ["two"]

    def test_relative_path_knows_its_category(self, tmp_path, monkeypatch):
        write_sequence(tmp_path / "cat" / "seq", plain(1))
        monkeypatch.chdir(tmp_path / "cat" / "seq")
        assert find_sequences(".")[0].category == "cat"

    def test_numbers_come_from_the_names(self, tmp_path):
        write_sequence(tmp_path / "s", plain(4), first=1300, interval=(1301, 1302))
        [sequence] = find_sequences(tmp_path)
        assert list(sequence.numbers) == [1300, 1301, 1302, 1303]
        assert sequence.scored == [1301, 1302]

    def test_without_interval_every_frame_is_scored(self, tmp_path):
        write_sequence(tmp_path / "s", plain(3), first=0)
        assert find_sequences(tmp_path)[0].scored == [0, 1, 2]

    def test_labels_are_needed_only_where_frames_are_scored(self, tmp_path):
        folder = write_sequence(tmp_path / "s", plain(3), interval=(2, 3))
        (folder / "groundtruth" / "gt000001.png").unlink()
        assert find_sequences(tmp_path)[0].scored == [2, 3]

    def test_frames_without_labels_are_not_scored_but_counted(self, tmp_path):
        folder = write_sequence(tmp_path / "s", plain(6), interval=(2, 6))
        for number in (3, 4):
            (folder / "groundtruth" / f"gt00000{number}.png").unlink()
        (sequence,) = find_sequences(tmp_path)
        assert (sequence.scored, sequence.unlabelled) == ([2, 5, 6], 2)
        script = Script([plain(1)[0]])
        (row,) = evaluate([sequence], {"hit": lambda _: script}).rows
        assert (row.frames, row.scored, row.unlabelled, row.counts) == (6, 3, 2, Counts(tp=18, tn=54))
        assert len(script.seen) == 6

    def test_wrong_sequences_can_be_left_out(self, tmp_path):
        for name in "abc":
            write_sequence(tmp_path / name, plain(3))
        (tmp_path / "b" / "temporalROI.txt").write_text("x")
        wrong = []
        found = find_sequences(tmp_path, on_error=lambda folder, error: wrong.append((folder.name, str(error))))
        assert [sequence.name for sequence in found] == ["a", "c"]
        assert len(wrong) == 1
        assert wrong[0][0] == "b"
        assert "must hold two frame numbers" in wrong[0][1]

    @pytest.mark.parametrize(
        ("damage", "message"),
        [
            (lambda f: (f / "temporalROI.txt").write_text("1 two"), "must hold two frame numbers"),
            (lambda f: (f / "temporalROI.txt").write_text("1"), "must hold two frame numbers"),
            (lambda f: (f / "temporalROI.txt").write_text("3 1"), "the first frame before the last, got 3 1"),
            (lambda f: (f / "temporalROI.txt").write_text("1 9"), "has no frame 9, which temporalROI.txt asks for"),
            (lambda f: [p.unlink() for p in (f / "groundtruth").iterdir()], "no labels for any frame from 1 to 3"),
            (lambda f: (f / "input/x2.jpg").touch(), "two images of number 2"),
            (lambda f: [p.unlink() for p in (f / "input").iterdir()], "holds no numbered images"),
        ],
    )
    def test_missing_and_wrong_files_are_named(self, tmp_path, damage, message):
        damage(write_sequence(tmp_path / "s", plain(3), interval=(1, 3)))
        with pytest.raises(DatasetError, match=message) as caught:
            find_sequences(tmp_path)
        assert "\n" not in str(caught.value)

    def test_folder_without_sequences_is_reported(self, tmp_path):
        with pytest.raises(DatasetError, match="no sequence in"):
            find_sequences(tmp_path)
        with pytest.raises(DatasetError, match="no such folder"):
            find_sequences(tmp_path / "nowhere")


class TestEvaluate:
    def test_all_frames_are_shown_and_the_interval_is_scored_with_both_ends(self, tmp_path):
        write_sequence(tmp_path / "s", plain(5), first=7, interval=(8, 10))
        hit = plain(1)[0]
        miss = np.zeros_like(hit)
        script = Script([hit, miss, hit, np.full_like(hit, 127), hit])
        row = evaluate(find_sequences(tmp_path), lambda sequence: script).rows[0]
        assert [frame[0, 0, 0] for frame in script.seen] == [10, 11, 12, 13, 14]
        assert row.counts == Counts(tp=6, fp=0, fn=12, tn=54)
        assert (row.frames, row.scored, row.memory_bytes, row.roc, row.samples) == (5, 3, None, None, ())
        assert row.model_hz >= row.total_hz > 0

    def test_roi_selects_pixels(self, tmp_path):
        roi = np.zeros((4, 6), np.uint8)
        roi[:2, :3] = 255
        write_sequence(tmp_path / "s", plain(2), roi=roi)
        full = np.full((4, 6), 255, np.uint8)
        assert evaluate(find_sequences(tmp_path), lambda s: Script([full])).rows[0].counts == Counts(6, 6, 0, 0)

    def test_roi_of_another_size_is_resized_and_reported(self, tmp_path, caplog):
        roi = np.zeros((4, 12), np.uint8)
        roi[:, :6] = 255
        write_sequence(tmp_path / "s", plain(1), roi=roi)
        full = np.full((4, 6), 255, np.uint8)
        with caplog.at_level(logging.WARNING):
            counts = evaluate(find_sequences(tmp_path), lambda s: Script([full])).rows[0].counts
        assert counts == Counts(tp=3, fp=9, fn=0, tn=0)
        assert "ROI.bmp is 12x4, the frames are 6x4: it is resized" in caplog.text

    def test_palette_labels_are_expanded(self, tmp_path):
        image = pytest.importorskip("PIL.Image")
        folder = write_sequence(tmp_path / "s", plain(1))
        for bits in (8, 1):
            truth = image.fromarray((plain(1)[0] > 0).astype(np.uint8), mode=None)
            truth = truth.convert("P")
            truth.putpalette([0, 0, 0, 255, 255, 255])
            truth.save(folder / "groundtruth" / "gt000001.png", bits=bits)
            hit = plain(1)[0]
            assert evaluate(find_sequences(tmp_path), lambda s, m=hit: Script([m])).rows[0].counts == Counts(
                6, 0, 0, 18
            )

    def test_grey_jpegs_stay_grey(self, tmp_path):
        write_sequence(tmp_path / "s", plain(2), suffix=".jpg", grey=True)
        script = Script([plain(1)[0]])
        evaluate(find_sequences(tmp_path), lambda s: script)
        assert {frame.shape for frame in script.seen} == {(4, 6)}

    def test_postprocess_gets_a_binary_mask(self, tmp_path):
        write_sequence(tmp_path / "s", plain(1))
        raw = np.array([[0, 127, 255] * 2] * 4, np.uint8)
        got = []
        report = evaluate(
            find_sequences(tmp_path), lambda s: Script([raw]), postprocess=lambda m: got.append(m) or 255 - m
        )
        assert set(np.unique(got[0])) == {0, 255}
        assert report.rows[0].counts == Counts(tp=4, fp=12, fn=2, tn=6)

    def test_score_is_asked_before_the_frame_is_learned(self, tmp_path):
        write_sequence(tmp_path / "s", plain(3), interval=(2, 3))
        score = np.zeros((4, 6), np.float32)
        score[0] = 1
        score[1] = 1
        script = Script([plain(1)[0]], score)
        row = evaluate(find_sequences(tmp_path), lambda s: script, roc=True).rows[0]
        assert script.order == ["apply", "score", "apply", "score", "apply"]
        assert row.roc.auc == pytest.approx(1 - 0.5 / 3)
        assert row.roc.best_f == pytest.approx(2 * 12 / (12 + 24))

    def test_models_without_a_score_have_no_curve(self, tmp_path):
        write_sequence(tmp_path / "s", plain(1))

        class Refuses(Script):
            def score(self, frame):
                raise UnsupportedError("KNN has no score")

        makers = {"none": lambda s: Script([plain(1)[0]]), "refuses": lambda s: Refuses([plain(1)[0]])}
        assert [row.roc for row in evaluate(find_sequences(tmp_path), makers, roc=True).rows] == [None, None]

    @pytest.mark.parametrize("memory", [1234, lambda: 1234])
    def test_memory_is_reported(self, tmp_path, memory):
        write_sequence(tmp_path / "s", plain(1))
        script = Script([plain(1)[0]])
        script.memory_bytes = memory
        assert evaluate(find_sequences(tmp_path), lambda s: script).rows[0].memory_bytes == 1234

    def test_progress_counts_frames(self, tmp_path):
        write_sequence(tmp_path / "s", plain(3))
        calls = []
        evaluate(find_sequences(tmp_path), lambda s: Script([plain(1)[0]]), progress=lambda *call: calls.append(call))
        assert [(name, done, total) for name, _, done, total in calls] == [("model", i, 3) for i in (1, 2, 3)]

    def test_mask_of_another_size_raises(self, tmp_path):
        write_sequence(tmp_path / "s", plain(1))
        with pytest.raises(ValueError, match=r"the mask of model must have the frame's shape \(4, 6\), got \(2, 2\)"):
            evaluate(find_sequences(tmp_path), lambda s: Script([np.zeros((2, 2), np.uint8)]))
        with pytest.raises(ValueError, match="got NoneType"):
            evaluate(find_sequences(tmp_path), lambda s: Script([None]))
        with pytest.raises(ValueError, match="samples must not be negative, got -1"):
            evaluate([], lambda s: None, samples=-1)

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("input/in000002.png", b"not a picture", "in000002.png is not a readable image"),
            ("groundtruth/gt000002.png", b"", "gt000002.png is not a readable image"),
            ("groundtruth/gt000002.png", None, "gt000002.png must have the size of its frame, 6x4, but has 3x2"),
        ],
    )
    def test_damaged_files_are_named(self, tmp_path, name, content, message):
        folder = write_sequence(tmp_path / "s", plain(2))
        if content is None:
            cv2.imwrite(str(folder / name), np.zeros((2, 3), np.uint8))
        else:
            (folder / name).write_bytes(content)
        with pytest.raises(DatasetError, match=message):
            evaluate(find_sequences(tmp_path), lambda s: Script([plain(1)[0]]))

    @pytest.mark.parametrize(
        ("other", "message"),
        [
            (np.zeros((4, 6), np.uint8), "is 6x4, grey, uint8 but the sequence began with 6x4, colour, uint8"),
            (np.zeros((2, 3, 3), np.uint8), "is 3x2, colour, uint8 but the sequence began with"),
        ],
    )
    def test_frame_of_another_kind_is_named(self, tmp_path, other, message):
        folder = write_sequence(tmp_path / "s", plain(3))
        for path in (folder / "input").iterdir():
            cv2.imwrite(str(path), np.zeros((4, 6, 3), np.uint8))
        cv2.imwrite(str(folder / "input/in000002.png"), other)
        with pytest.raises(DatasetError, match=f"in000002.png {message}"):
            evaluate(find_sequences(tmp_path), lambda s: Script([plain(1)[0]] * 3))

    def test_file_lost_after_the_search_is_named(self, tmp_path):
        folder = write_sequence(tmp_path / "s", plain(2))
        sequences = find_sequences(tmp_path)
        (folder / "input/in000001.png").unlink()
        with pytest.raises(DatasetError, match=r"cannot read .*in000001.png: No such file"):
            evaluate(sequences, lambda s: Script([plain(1)[0]]))


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Report:
    root = tmp_path_factory.mktemp("data")
    for name in ("a/one", "a/two", "b/three"):
        write_sample(root / name, SyntheticScene(size=(48, 64), frames=15, rate_hz=5.0, seed=len(name)))
    truths = {s.name: s for s in find_sequences(root)}

    def oracle(sequence):
        labels = [sequence.read_labels(number, (48, 64)) for number in sequence.numbers]
        script = Script([np.where(truth == 255, np.uint8(255), np.uint8(0)) for truth in labels])
        script.score = lambda frame: labels[len(script.seen)].astype(np.float32) / 255
        return script

    assert len(truths) == 3
    makers = {"oracle": oracle, "mog2": lambda s: cv2.createBackgroundSubtractorMOG2()}
    return evaluate(find_sequences(root), makers, roc=True, samples=2)


class TestReport:
    def test_means_over_videos_and_categories(self, report):
        assert report.models == ["oracle", "mog2"]
        assert all(row.counts.f_measure == 1.0 for row in report.rows if row.model == "oracle")
        f = [row.counts.f_measure for row in report.rows if row.model == "mog2"]
        means = {mean.over: mean.measures["f_measure"] for mean in report.means("mog2")}
        assert means == pytest.approx(
            {
                "a": (f[0] + f[1]) / 2,
                "b": f[2],
                "mean of categories": ((f[0] + f[1]) / 2 + f[2]) / 2,
                "mean of videos": sum(f) / 3,
            }
        )

    def test_table_is_aligned(self, report):
        lines = report.to_table().splitlines()
        assert len(lines) == 1 + 2 * (3 + 4)
        assert lines[0].split()[:4] == ["model", "category", "sequence", "Re"]
        end = lines[0].index("PWC") + 3
        assert all(line[end - 1].isdigit() and line[end] == " " for line in lines[1:])

    def test_json_is_strict(self, report):
        data = json.loads(json.dumps(report.to_json(), allow_nan=False))
        assert len(data["rows"]) == 6
        assert data["rows"][0]["roc"]["fpr"][-1] == 1.0
        assert data["rows"][0]["auc"] == 1.0
        assert data["rows"][3]["auc"] is None
        assert [mean["over"] for mean in data["means"][:4]] == ["a", "b", "mean of categories", "mean of videos"]
        assert Report([]).to_json() == {"version": 1, "provenance": {}, "rows": [], "means": []}

    def test_csv_reads_back(self, report):
        rows = list(csv.DictReader(report.to_csv().splitlines()))
        assert [row["sequence"] for row in rows] == ["one", "two", "three"] * 2
        assert int(rows[4]["tp"]) == report.rows[4].counts.tp
        assert float(rows[4]["f_measure"]) == report.rows[4].counts.f_measure
        assert rows[4]["auc"] == ""

    def test_contact_sheet_has_a_line_per_sample(self, report, tmp_path):
        sheet = contact_sheet(report, tmp_path / "sheet.png", width=64)
        assert sheet.shape == (22 + 3 * 2 * 48, 64 * 4, 3)
        np.testing.assert_array_equal(cv2.imread(str(tmp_path / "sheet.png")), sheet)
        sample = report.rows[0].samples[1]
        assert sample.number == 15
        bottom = sheet[22 + 48 : 22 + 96]
        np.testing.assert_array_equal(bottom[:-1, 64:127, 0], sample.labels[:-1, :-1])
        np.testing.assert_array_equal(bottom[:-1, 128:191, 2], sample.mask[:-1, :-1])
        with pytest.raises(ValueError, match="report must have samples"):
            contact_sheet(Report([]))
        with pytest.raises(SinkError, match="cannot write"):
            contact_sheet(report, tmp_path / "no" / "sheet.png")

    def test_roc_is_plotted(self, report, tmp_path):
        plot_roc(report, tmp_path / "roc.png")
        assert cv2.imread(str(tmp_path / "roc.png")) is not None
        with pytest.raises(ValueError, match="evaluate with roc=True"):
            plot_roc(Report(report.rows[3:]), tmp_path / "roc.png")
        with pytest.raises(SinkError, match="cannot write"):
            plot_roc(report, tmp_path / "no" / "roc.png")

    def test_plot_without_matplotlib_says_what_to_install(self):
        code = (
            "import sys; sys.modules['matplotlib'] = None\n"
            "import numpy as np\n"
            "from bgsub.evaluation import Counts, Report, Roc, Row, plot_roc\n"
            "roc = Roc(np.array([0., 1.]), np.array([0., 1.]), np.array([1., 0.]), 0.5, 0.5, 0.5)\n"
            "plot_roc(Report([Row('m', 'c', 's', Counts(), 1, 1, 1.0, 1.0, None, roc)]), 'x.png')"
        )
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert "DependencyError: plots need matplotlib" in run.stderr
        assert run.stderr.rstrip().endswith("run: pip install 'bgsub[plot]'")


@pytest.mark.slow
def test_mog2_on_a_real_sequence_is_as_measured_elsewhere():
    folder = shared_data() / "cdnet" / "cameraJitter" / "traffic"
    report = evaluate(find_sequences(folder), lambda s: cv2.createBackgroundSubtractorMOG2())
    assert report.rows[0].counts.f_measure == pytest.approx(0.580, abs=0.01)


class TestGroundTruth:
    def test_labels_of_a_sequence_are_read_by_number_within_its_interval(self, tmp_path):
        roi = np.full((4, 6), 255, np.uint8)
        roi[:, 0] = 0
        folder = write_sequence(tmp_path / "street", plain(5), first=3, interval=(4, 6), roi=roi)
        truth = GroundTruth(folder)
        assert truth.numbers == [4, 5, 6]
        assert truth.read(3, (4, 6)) is None
        assert truth.read(99, (4, 6)) is None
        labels, region = truth.read(5, (4, 6))
        assert np.array_equal(labels, plain(1)[0])
        assert np.array_equal(region, roi)

    def test_a_bare_folder_of_labels_is_enough(self, tmp_path):
        folder = write_sequence(tmp_path / "street", plain(3))
        (folder / "groundtruth").rename(tmp_path / "labels")
        truth = GroundTruth(tmp_path / "labels")
        assert truth.numbers == [1, 2, 3]
        assert truth.read(1, (4, 6))[1] is None

    def test_wrong_folders_say_what_is_missing(self, tmp_path):
        with pytest.raises(DatasetError, match="no such folder"):
            GroundTruth(tmp_path / "nowhere")
        with pytest.raises(DatasetError, match="choose a folder like groundtruth/"):
            GroundTruth(tmp_path)
        truth = GroundTruth(write_sequence(tmp_path / "street", plain(2)))
        with pytest.raises(DatasetError, match="must have the size of its frame"):
            truth.read(1, (8, 8))
