"""Reports keep what was measured: stored, read back and merged."""

import json
import math

import cv2  # noqa: TID251 - a peer as a user would have it
import numpy as np
import pytest

from bgsub.errors import ReportError
from bgsub.evaluation import (
    Counts,
    Report,
    Roc,
    contact_sheet,
    draw_errors,
    evaluate,
    find_sequences,
    measure_over_time,
)
from bgsub.video.sources.synthetic import SyntheticScene, write_sample
from tests.evaluation.reports.made_reports import HOSTILE, make_report, make_row, make_sample


def stored(report, **options):
    return Report.from_json(json.loads(json.dumps(report.to_json(**options), allow_nan=False)))


def assert_same(one, other):
    assert one == other  # everything but the timelines, which are arrays
    for first, second in zip(one.rows, other.rows, strict=True):
        np.testing.assert_array_equal(first.timeline, second.timeline)


class TestStored:
    def test_counts_and_numbers_come_back_to_the_bit(self):
        rows = [
            make_row("m", "a/b", 2**53 + 1, 2, 3, hz=1 / 3, tn=2**62, unlabelled=4, family="f", data="0123", knob=0.1),
            make_row(
                "m", "a/c", 0, 0, 0, memory_bytes=None, parameters={"width": 30.0, "n": [1, None], "x": {"y": "z"}}
            ),
            make_row(HOSTILE, "a/d", 1, 2, 3, error="cannot read x"),
            *make_report().rows,
        ]
        report = Report(rows, {"command": ["bgsub", "evaluate"], "machine": {"cpus": 2, "load": 0.25}})
        again = stored(report)
        assert_same(again, report)
        assert again.rows[4].timeline.dtype == np.int64
        assert again.to_json() == report.to_json()

    def test_an_evaluation_comes_back_with_thinned_curves_and_without_samples(self, tmp_path):
        write_sample(tmp_path / "a/one", SyntheticScene(size=(48, 64), frames=15, rate_hz=5.0))

        class Brightness:
            def apply(self, frame):
                return np.where(frame[..., 0] > 128, np.uint8(255), np.uint8(0))

            def score(self, frame):
                return frame[..., 0].astype(np.float32) / 128 - 1

        [row] = evaluate(find_sequences(tmp_path), lambda s: Brightness(), roc=True, samples=2).rows
        [again] = stored(Report([row])).rows
        assert (again.counts, again.model_hz, again.total_hz) == (row.counts, row.model_hz, row.total_hz)
        assert (len(row.samples), again.samples) == (2, ())
        np.testing.assert_array_equal(again.timeline, row.timeline)
        assert (again.roc.auc, again.roc.best_f) == (row.roc.auc, row.roc.best_f)
        assert again.roc.thresholds[0] == math.inf
        assert np.trapezoid(again.roc.tpr, again.roc.fpr) == pytest.approx(row.roc.auc, abs=1e-3)

    def test_a_missing_class_leaves_an_empty_curve(self):
        nothing = Roc(np.zeros(1), np.full(1, math.nan), np.zeros(1), math.nan, math.nan, math.nan)
        [row] = stored(Report([make_row("m", "a/b", 0, 1, 0, roc=nothing)])).rows
        assert len(row.roc.fpr) == 0
        assert math.isnan(row.roc.auc)

    def test_timelines_can_be_left_out(self):
        report = make_report()
        assert all(row.timeline is None for row in stored(report, timelines=False).rows)
        assert len(json.dumps(report.to_json(timelines=False))) < len(json.dumps(report.to_json()))

    def test_parameters_of_any_kind_are_stored_as_json_knows_them(self):
        values = {"array": np.arange(2), "n": np.float32(0.5), "inf": math.inf, "pair": (1, 2), "object": Counts()}
        [row] = stored(Report([make_row("m", "a/b", 1, 1, 1, parameters=values)])).rows
        assert row.parameters == {"array": [0, 1], "n": 0.5, "inf": None, "pair": [1, 2], "object": str(Counts())}

    def test_reports_without_the_newer_entries_are_read(self):
        data = make_report().to_json()
        del data["version"], data["provenance"]
        for row in data["rows"]:
            for name in ("knob", "error", "timeline", "unlabelled", "family", "data"):
                del row[name]
        assert [row.counts for row in Report.from_json(data).rows] == [row.counts for row in make_report().rows]

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("tp", -1, "tp of a row must be a whole number of at least 0, got -1"),
            ("tp", True, "tp of a row must be a whole number"),
            ("tp", 2**63, "tp of a row must be a whole number"),
            ("fn", 1.5, "fn of a row must be a whole number, got 1.5"),
            ("model", None, "model of a row must be a text, got None"),
            ("model_hz", "fast", "model_hz of a row must be a finite number, got 'fast'"),
            ("total_hz", 10**400, "total_hz of a row must be a finite number"),
            ("knob", math.inf, "knob of a row must be a finite number, got inf"),
            ("memory_bytes", "1", "memory_bytes of a row must be a whole number"),
            ("parameters", [], "parameters of a row must be an object"),
            ("timeline", {"number": [1]}, "timeline tp of a row must be a list, got None"),
            ("timeline", {name: [1.5] for name in ("number", "tp", "fp", "fn", "tn")}, "must be a list of numbers"),
            ("timeline", {name: [2**64] for name in ("number", "tp", "fp", "fn", "tn")}, "number that is too large"),
            ("roc", {"fpr": [0], "tpr": [0, 1], "thresholds": [1]}, "the lists of roc must have one length"),
            ("roc", {"fpr": [0], "tpr": ["x"], "thresholds": [1]}, "roc tpr of a row must be a list of numbers"),
        ],
    )
    def test_wrong_values_are_named(self, name, value, message):
        data = make_report().to_json()
        data["rows"][1][name] = value
        with pytest.raises(ReportError, match=message) as caught:
            Report.from_json(data)
        assert len(str(caught.value)) < 250

    @pytest.mark.parametrize("data", [None, [], {}, {"rows": 1}, {"rows": [1]}, {"rows": [], "provenance": 1}])
    def test_other_data_are_refused(self, data):
        with pytest.raises(ReportError, match="the file is no report"):
            Report.from_json(data)

    def test_later_versions_and_deep_nesting_are_refused(self):
        with pytest.raises(ReportError, match="the report has version 2, not 1"):
            Report.from_json({"version": 2, "rows": []})
        deep: dict = {}
        for _ in range(500):
            deep = {"a": deep}
        with pytest.raises(ReportError, match="nested more than 20 deep"):
            Report.from_json({"rows": [], "provenance": deep})

    def test_files_are_read_and_wrong_ones_named(self, tmp_path):
        path = tmp_path / "report.json"
        path.write_text(json.dumps(make_report().to_json()))
        assert_same(Report.read(path), make_report())
        for content, message in (
            (b"{", "it is no JSON"),
            (b"[" * 100_000, "it is no JSON"),
            (b"\xff", "it is no JSON"),
        ):
            path.write_bytes(content)
            with pytest.raises(ReportError, match=f"cannot read .*report.json: {message}"):
                Report.read(path)
        path.write_text("[]")
        with pytest.raises(ReportError, match=r"cannot read .*report.json: the file is no report"):
            Report.read(path)
        with pytest.raises(ReportError, match=r"cannot read .*none.json: No such file"):
            Report.read(tmp_path / "none.json")


class TestMerge:
    def test_rows_follow_each_other_and_common_provenance_stays(self):
        both = make_report()
        parts = [Report([row for row in both.rows if row.model == name], both.provenance) for name in both.models]
        assert_same(Report.merge(*parts), both)
        other = Report(parts[1].rows, {"version": "2.0"})
        assert Report.merge(parts[0], other).provenance == {"merged": [both.provenance, {"version": "2.0"}]}
        assert Report.merge(parts[0], Report(parts[1].rows)).provenance == both.provenance
        assert Report.merge() == Report([])

    def test_duplicates_are_refused_or_the_later_replaces_the_earlier(self):
        first, second = make_row("m", "a/b", 60, 1, 40), make_row("m", "a/b", 70, 1, 30)
        middle = make_row("n", "a/b", 50, 1, 50)
        with pytest.raises(ReportError, match="two reports have rows of m on a/b"):
            Report.merge(Report([first]), Report([second]))
        merged = Report.merge(Report([first, middle]), Report([second]), replace=True)
        assert [row.counts.tp for row in merged.rows] == [70, 50]

    @pytest.mark.parametrize("other", [{"fn": 41}, {"tn": 5}, {"data": "2"}, {"data": "2", "error": "no memory"}])
    def test_videos_of_other_data_are_refused(self, other):
        rows = [
            make_row("m", "a/b", 60, 1, 40, data="1"),
            make_row("n", "a/b", **{"tp": 60, "fp": 1, "fn": 40, **other}),
        ]
        with pytest.raises(ReportError, match="a/b was evaluated on other data for n than before"):
            Report.merge(Report(rows[:1]), Report(rows[1:]))

    def test_failures_agree_with_all_labels(self):
        rows = [make_row("m", "a/b", 60, 1, 40), make_row("n", "a/b", 0, 0, 0, error="out of memory")]
        assert Report.merge(Report(rows[:1]), Report(rows[1:])).models == ["m", "n"]


class TestTimeline:
    def test_each_scored_frame_is_counted(self, tmp_path):
        write_sample(tmp_path, SyntheticScene(size=(48, 64), frames=30, rate_hz=10.0))
        [row] = evaluate(find_sequences(tmp_path), lambda s: cv2.createBackgroundSubtractorMOG2()).rows
        assert row.timeline.shape == (row.scored, 5)
        assert row.timeline.dtype == np.int64
        assert (np.diff(row.timeline[:, 0]) > 0).all()
        assert Counts(*row.timeline[:, 1:].sum(axis=0).tolist()) == row.counts

    def test_neighbouring_frames_are_pooled(self):
        rng = np.random.default_rng(0)
        timeline = np.column_stack([np.arange(1001), rng.integers(0, 50, (1001, 4))])
        numbers, values = measure_over_time(timeline, "precision", points=200)
        assert numbers.shape == values.shape == (200,)
        first = timeline[:6].sum(axis=0)
        assert (numbers[0], values[0]) == (2.5, first[1] / (first[1] + first[2]))
        everything = timeline.sum(axis=0)
        assert measure_over_time(timeline, "precision", points=1)[1] == everything[1] / (everything[1] + everything[2])
        assert [len(part) for part in measure_over_time(timeline[:0])] == [0, 0]
        with pytest.raises(ValueError, match="points must be at least 1, got 0"):
            measure_over_time(timeline, points=0)

    def test_failures_have_no_measures(self):
        row = make_row("m", "a/b", 60, 1, 40, error="cannot read")
        assert all(math.isnan(value) for value in row.measures().values())
        assert math.isnan(Report([row]).means("m")[-1].measures["f_measure"])


class TestErrorColours:
    def test_each_kind_of_pixel_has_its_colour(self):
        labels = np.array([[255, 255, 0, 0, 50, 50, 85, 170]], np.uint8)
        mask = np.array([[255, 0, 255, 0, 255, 127, 255, 0]], np.uint8)
        white, blue, red, black, grey = (255, 255, 255), (255, 170, 60), (40, 40, 230), (0, 0, 0), (110, 110, 110)
        expected = [white, blue, red, black, red, black, grey, grey]
        assert [tuple(pixel) for pixel in draw_errors(labels, mask)[0].tolist()] == expected

    def test_a_contact_sheet_shows_them(self):
        sample = make_sample(3)
        report = Report([make_row("m", "a/b", 60, 1, 40, samples=(sample,))])
        sheet = contact_sheet(report, width=40, errors=True)
        expected = draw_errors(sample.labels, sample.mask)
        np.testing.assert_array_equal(sheet[22:-1, 80:119], expected[:-1, :-1])
        assert (contact_sheet(report, width=40)[22:-1, 80:119, 0] == sample.mask[:-1, :-1]).all()

    def test_pixels_outside_the_region_are_not_scored(self, tmp_path):
        write_sample(tmp_path, SyntheticScene(size=(48, 64), frames=10))
        roi = np.zeros((48, 64), np.uint8)
        roi[:, :20] = 255
        assert cv2.imwrite(str(find_sequences(tmp_path)[0].folder / "ROI.bmp"), roi)
        [row] = evaluate(find_sequences(tmp_path), lambda s: cv2.createBackgroundSubtractorMOG2(), samples=2).rows
        assert all((sample.labels[:, 20:] == 85).all() for sample in row.samples)
        assert any((sample.labels[:, :20] != 85).any() for sample in row.samples)
