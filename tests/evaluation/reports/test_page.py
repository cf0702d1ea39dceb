"""The page of a report: well formed, loading nothing, safe from any name, and bounded in size."""

import base64
import dataclasses
import hashlib
import math
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import cv2  # noqa: TID251 - embedded images are read by a peer
import numpy as np
import pytest

from bgsub.errors import ReportError, SinkError
from bgsub.evaluation import Report, draw_errors, page_html, write_page
from bgsub.evaluation.reports.page.sections import pareto_front
from bgsub.evaluation.reports.page.svg import Series, chart, colour
from tests.evaluation.reports.made_reports import HOSTILE, make_report, make_row, make_sample

VOID = {"meta", "img", "br"}


class Checked(HTMLParser):
    """Parses a page, checks that its elements are closed in order, and keeps elements, texts and attributes."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts, self.ids = [], [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def with_samples(report, count=2):
    rows = [
        dataclasses.replace(row, samples=tuple(make_sample(number, seed=number) for number in range(1, count + 1)))
        for row in report.rows
    ]
    return Report(rows, report.provenance)


def embedded(page):
    """The images of a page."""
    found = re.findall(r'src="data:image/\w+;base64,([^"]*)"', page)
    return [cv2.imdecode(np.frombuffer(base64.b64decode(data), np.uint8), cv2.IMREAD_COLOR) for data in found]


def test_a_page_has_every_part():
    report = with_samples(make_report(("adaptive", "mog2", "knn")))
    report = Report([dataclasses.replace(row, parameters={"width": 30.0}) for row in report.rows], report.provenance)
    page = page_html(report, baseline="mog2", title="Street & co")
    checked = Checked(page)
    assert checked.ids == ["means", "pairs", "pareto", "tables", "videos", "all", "provenance"]
    assert "3 models on 12 videos with 120 scored frames." in checked.texts
    assert checked.tags.count("svg") == 1 + 12
    assert checked.tags.count("img") == 12 * 2 * 5
    text = " ".join(checked.texts)
    for part in ("Street & co", "time / mog2", "By family", "machine.cpus", "width", "true positive", "mean of videos"):
        assert part in text


def test_without_a_baseline_all_pairs_are_compared():
    assert "time / " not in page_html(make_report(("a", "b", "c")))
    pairs = page_html(make_report(("a", "b", "c"))).split('id="pairs"')[1].split("<details>")[0]
    assert pairs.count("<tr><td") == 3
    many = page_html(make_report([f"m{index}" for index in range(8)], videos=5)).split('id="pairs"')[1]
    assert "13 more pairs are left out: choose a baseline." in many


def test_nothing_is_loaded_and_only_its_own_script_may_run():
    page = page_html(with_samples(make_report()), baseline="mog2")
    checked = Checked(page)
    for tag, name, value in checked.attributes:
        assert tag not in ("link", "iframe", "object", "base")
        assert not name.startswith("on")
        if name in ("src", "href"):
            assert value.startswith("data:image/")
    without_names = page.replace("http://www.w3.org/2000/svg", "")
    assert "http:" not in without_names
    assert "https:" not in without_names
    assert "url(" not in page
    [script] = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in page
    assert "default-src 'none'" in page


def test_hostile_names_are_text():
    name = HOSTILE.replace("/", "")
    rows = [
        make_row(model, f"{name}{index}/{name}", 60 + index, 1, 40 - index, family=name, knob=float(index))
        for model in (name, f"{name}2")
        for index in range(6)
    ]
    rows[3] = dataclasses.replace(rows[3], error=name)
    rows = [dataclasses.replace(row, parameters={name: name}, samples=(make_sample(1),)) for row in rows]
    page = page_html(Report(rows, {name: [name, {name: name}]}), baseline=name, title=name)
    harmless = Checked(page_html(Report([dataclasses.replace(rows[0], model="m")], {}), title="x"))
    checked = Checked(page)
    assert set(checked.tags) - {"ul", "li", "title", "polyline"} <= set(harmless.tags) | {
        "dl",
        "dt",
        "dd",
        "h3",
        "details",
        "summary",
    }
    assert checked.tags.count("script") == 1
    assert not set("\x1b\u202e\udce4") & set(page)
    assert any("alert(1)" in text for text in checked.texts)


def test_images_show_input_truth_and_errors():
    report = with_samples(make_report(("one", "two"), videos=1, categories=1), count=1)
    sample = report.rows[0].samples[0]
    frame, truth, one, two = embedded(page_html(report, image_width=40))
    assert frame.shape == truth.shape == (30, 40, 3)
    np.testing.assert_array_equal(truth[..., 0], sample.labels)
    np.testing.assert_array_equal(one, draw_errors(sample.labels, sample.mask))
    np.testing.assert_array_equal(two, one)


def test_images_are_bounded_and_every_video_keeps_its_first_samples():
    report = with_samples(make_report(videos=4), count=5)
    everything = page_html(report)
    size = sum(map(len, re.findall(r'src="([^"]*)"', everything)))
    page = page_html(report, image_bytes=size // 2)
    found = re.findall(r'src="([^"]*)"', page)
    assert size // 3 < sum(map(len, found)) <= size // 2
    left_out = int(re.search(r"(\d+) samples are left out", page)[1])
    assert len(found) == 4 * (20 - left_out)
    kept = [video.count("<img") // 4 for video in page.split("<summary>c")[1:]]
    assert len(kept) == 4
    assert max(kept) - min(kept) <= 1
    assert embedded(page_html(report, image_bytes=0)) == []


def test_a_model_without_a_sample_leaves_its_cell_empty():
    report = with_samples(make_report(("one", "two"), videos=1), count=1)
    rows = [report.rows[0], dataclasses.replace(report.rows[1], samples=())]
    assert len(embedded(page_html(Report(rows)))) == 3


def test_generated_families_have_curves():
    rows = [
        make_row(model, f"snow/{knob}", 90 - 10 * knob - index, 1, 10 + 10 * knob + index, knob=float(knob))
        for index, model in enumerate(("one", "two"))
        for knob in range(5)
    ]
    page = page_html(Report(rows))
    section = page.split('id="knobs"')[1].split("</section>")[0]
    assert section.count("<polyline") == 2
    assert "parameter of snow" in section
    one = page_html(Report([dataclasses.replace(row, knob=1.0) for row in rows]))
    assert 'id="knobs"' not in one


def test_a_single_model_and_failures_have_a_page_as_well():
    page = page_html(Report([make_row("m", "a/b", 60, 1, 40)]))
    assert Checked(page).ids == ["means", "pareto", "tables", "videos", "all"]
    failed = [make_row("m", "a/b", 0, 0, 0, hz=math.nan, error="cannot read a/b"), make_row("n", "a/b", 60, 1, 40)]
    assert "m failed on a/b: cannot read a/b" in Checked(page_html(Report(failed), baseline="n")).texts


def test_pages_are_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "page.html"
    write_page(make_report(), path, baseline="mog2")
    assert path.read_text(encoding="utf-8") == page_html(make_report(), baseline="mog2")
    with pytest.raises(SinkError, match="cannot write"):
        write_page(make_report(), tmp_path / "no" / "page.html")
    with pytest.raises(ValueError, match="baseline must be one of adaptive, mog2, got knn"):
        write_page(make_report(), path, baseline="knn")
    with pytest.raises(ValueError, match="report must have rows"):
        write_page(Report([]), path)
    with pytest.raises(ValueError, match=r"image_width must be in \[16, 4096\], got 1"):
        write_page(make_report(), path, image_width=1)
    with pytest.raises(ValueError, match="image_bytes must not be negative, got -1"):
        write_page(make_report(), path, image_bytes=-1)
    with pytest.raises(ReportError, match="two rows of adaptive"):
        write_page(Report(make_report().rows * 2), path)


class TestChart:
    def draw(self, *series, **options):
        text = chart(series, x_label="x < 1", y_label="y & z", **options)
        return ElementTree.fromstring(text)  # noqa: S314 - our own text

    def points(self, svg):
        lines = svg.iter("{http://www.w3.org/2000/svg}polyline")
        return [[tuple(map(float, pair.split(","))) for pair in line.get("points").split()] for line in lines]

    def test_values_are_where_the_axes_say(self):
        svg = self.draw(Series("a", [0, 10], [0, 1], colour(0)), Series("b", [5], [0.5], colour(1), line=False))
        [[(x0, y0), (x1, y1)]] = self.points(svg)
        [dot] = svg.iter("{http://www.w3.org/2000/svg}circle")
        assert x0 < x1
        assert y1 < y0
        assert float(dot.get("cx")) == pytest.approx((x0 + x1) / 2, abs=0.11)
        assert float(dot.get("cy")) == pytest.approx((y0 + y1) / 2, abs=0.11)
        labels = {text.text: text for text in svg.iter("{http://www.w3.org/2000/svg}text")}
        assert {"0", "5", "10", "0.5", "1", "x < 1", "y & z", "b"} <= set(labels)
        assert float(labels["10"].get("x")) == pytest.approx(x1, abs=0.11)

    def test_unknown_values_interrupt_a_line(self):
        svg = self.draw(Series("a", [1, 2, 3, 4, 5, 6], [1, 2, math.nan, 3, math.inf, 4], colour(0)))
        assert [len(line) for line in self.points(svg)] == [2]
        assert len(list(svg.iter("{http://www.w3.org/2000/svg}circle"))) == 2

    def test_logarithmic_axes_space_factors_evenly(self):
        [[(x0, _), (x1, _), (x2, _)]] = self.points(self.draw(Series("a", [1, 10, 100], [1, 2, 3], "#000"), x_log=True))
        assert x1 - x0 == pytest.approx(x2 - x1, abs=0.11)
        assert self.points(self.draw(Series("a", [0, 1, 2], [1, 2, 3], "#000"), x_log=True))[0][0][0] < x2

    @pytest.mark.parametrize("x", [[1, 1], [0, 0], [-1e14, 1e14], [5e-324, 1e-323], [1e14, 1e14 + 0.02], [1, 1e308]])
    @pytest.mark.parametrize("log", [False, True])
    def test_any_range_can_be_drawn(self, x, log):
        text = chart([Series("a", x, x, "#000")], x_label="x", y_label="y", x_log=log)
        assert "nan" not in text
        assert "inf" not in text
        assert len(text) < 50_000
        assert (text == "") == (log and max(x) < 1e-300)

    def test_nothing_to_draw_is_no_chart(self):
        assert chart([Series("a", [1], [math.nan], "#000")], x_label="x", y_label="y") == ""
        assert chart([], x_label="x", y_label="y") == ""

    def test_models_beyond_eight_have_colours(self):
        assert len({colour(index) for index in range(40)}) == 40


def test_the_front_has_the_points_that_none_beats():
    rng = np.random.default_rng(0)
    points = [tuple(point) for point in rng.random((60, 2)).tolist()]
    expected = [
        index
        for index, (cost, value) in enumerate(points)
        if not any(
            other_cost <= cost and other >= value
            for other_cost, other in points
            if (other_cost, other) != (cost, value)
        )
    ]
    assert sorted(pareto_front(points)) == expected
    assert pareto_front([(1.0, 0.5), (1.0, 0.7)]) == [1]
