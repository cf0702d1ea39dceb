"""Tables of models side by side: values and means by hand, the same in every format, whatever the names."""

import csv
import json
import math
import re

import pytest

from bgsub.errors import ReportError
from bgsub.evaluation import COLUMNS, FORMATS, Report, side_by_side, table_json, table_markdown, table_text
from tests.evaluation.reports.made_reports import HOSTILE, make_report, make_row


def by_label(table):
    return {f"{line.category}/{line.label}" if line.category else line.label: line for line in table.lines}


def values(line, column=0):
    return [cells[column].value for cells in line.cells]


@pytest.fixture
def small():
    """Two categories, and families across them; the second model failed once and lacks a video."""
    rows = [
        make_row("one", "a/x", 60, 0, 40, hz=100, family="f"),
        make_row("one", "b/y", 90, 0, 10, hz=25, family="g"),
        make_row("one", "a/z", 40, 0, 60, hz=50, family="g"),
        make_row("two", "a/x", 80, 0, 20, hz=200, family="f"),
        make_row("two", "a/z", 0, 0, 0, family="g", error="out of memory"),
    ]
    return Report(rows, {"machine": {"cpu": "x86"}})


class TestSideBySide:
    def test_values_and_means_by_hand(self, small):
        lines = by_label(side_by_side(small, ["recall"]))
        assert list(lines) == ["a/x", "a/z", "b/y", "a", "b", "f", "g", "mean of categories", "mean of videos"]
        assert values(lines["a/x"]) == [0.6, 0.8]
        assert values(lines["a"]) == pytest.approx([0.5, 0.8])
        assert values(lines["g"])[0] == pytest.approx(0.65)
        assert values(lines["mean of categories"])[0] == pytest.approx((0.5 + 0.9) / 2)
        assert values(lines["mean of videos"])[0] == pytest.approx((0.6 + 0.9 + 0.4) / 3)
        assert math.isnan(values(lines["b/y"])[1])
        assert [cells[0].text for cells in lines["a/z"].cells] == ["0.400", "failed"]

    def test_means_are_those_of_the_report(self):
        report = make_report()
        lines = by_label(side_by_side(report, ["f_measure", "pwc"]))
        for index, model in enumerate(report.models):
            for mean in report.means(model):
                found = [cell.value for cell in lines[mean.over].cells[index]]
                assert found == pytest.approx([mean.measures["f_measure"], mean.measures["pwc"]])

    def test_families_that_are_the_categories_are_not_repeated(self):
        assert {line.kind for line in side_by_side(make_report()).lines} == {
            "video",
            "category",
            "categories",
            "videos",
        }

    def test_the_best_value_is_marked_where_values_can_be_compared(self, small):
        lines = by_label(side_by_side(small, ["recall", "fnr", "ms"]))
        assert [[cell.best for cell in cells] for cells in lines["a/x"].cells] == [[False] * 3, [True] * 3]
        assert not any(cell.best for cells in lines["b/y"].cells for cell in cells)  # nothing to compare with
        assert [[cell.best for cell in cells] for cells in lines["mean of videos"].cells] == [[False] * 3] * 2
        assert [[cell.partial for cell in cells] for cells in lines["a"].cells] == [[False] * 3, [True] * 3]
        assert [[cell.partial for cell in cells] for cells in lines["b"].cells] == [[False] * 3] * 2

    def test_videos_that_no_model_has_a_value_for_leave_means_comparable(self):
        rows = [make_row(m, "a/x", tp, 1, 100 - tp) for m, tp in (("one", 60), ("two", 70))]
        rows += [make_row(m, "a/still", 0, 0, 0) for m in ("one", "two")]  # F is 0 / 0
        mean = by_label(side_by_side(Report(rows)))["mean of videos"]
        assert [(cells[0].best, cells[0].partial) for cells in mean.cells] == [(False, False), (True, False)]

    def test_values_that_look_equal_are_both_best(self):
        rows = [make_row("one", "a/x", 6000, 1, 4000), make_row("two", "a/x", 6001, 1, 3999)]
        assert [cells[0].best for cells in side_by_side(Report(rows)).lines[0].cells] == [True, True]

    def test_times_have_geometric_means_and_a_baseline(self, small):
        lines = by_label(side_by_side(small, ["ms", "relative_time"], baseline="two"))
        assert values(lines["a/x"]) == [10.0, 5.0]
        assert values(lines["a/x"], 1) == [2.0, 1.0]
        assert values(lines["mean of videos"])[0] == pytest.approx((10 * 40 * 20) ** (1 / 3))
        assert values(lines["mean of videos"], 1) == [2.0, 1.0]
        assert values(lines["mean of categories"])[0] == pytest.approx(math.sqrt(math.sqrt(10 * 20) * 40))

    def test_unknown_speed_and_memory_are_unknown(self):
        rows = [make_row("one", f"a/{hz}", 1, 1, 1, hz=hz, memory_bytes=None) for hz in (0.0, math.nan, math.inf)]
        lines = side_by_side(Report(rows), ["ms", "memory_mb", "auc"]).lines
        assert {cell.text for line in lines for cells in line.cells for cell in cells} == {"-"}

    def test_wrong_arguments_are_named(self, small):
        with pytest.raises(ValueError, match=r"measure must be one of recall, .*, got speed"):
            side_by_side(small, ["speed"])
        with pytest.raises(ValueError, match="measures must name at least one column"):
            side_by_side(small, [])
        with pytest.raises(ValueError, match="baseline must be one of one, two, got three"):
            side_by_side(small, baseline="three")
        with pytest.raises(ValueError, match="baseline must name a model for relative_time, got none"):
            side_by_side(small, ["relative_time"])
        with pytest.raises(ReportError, match="the report has two rows of one on a/x"):
            side_by_side(Report([*small.rows, small.rows[0]]))


class TestText:
    def test_five_models_on_53_videos_fit_a_terminal(self):
        report = make_report([f"model{i}" for i in range(5)], videos=53, categories=11)
        lines = table_text(side_by_side(report)).splitlines()
        assert max(map(len, lines)) <= 80
        assert len(lines) == 2 + 11 + 53 + 1 + 11 + 2

    def test_columns_are_aligned_and_marks_explained(self, small):
        text = table_text(side_by_side(small, ["recall", "precision"]))
        lines = text.splitlines()
        ends = [match.end() for match in re.finditer(r"(Re|Pr)(?= |$)", lines[1])]
        assert len(ends) == 4
        numbers = [line for line in lines if re.search(r"\d\.\d{3}", line)]
        assert len(numbers) == 9
        for line in numbers:
            assert all(line[end - 1 : end].isdigit() or line[end - 1 : end] in ("d", "-", "") for end in ends)
        assert "~ mean without videos that another model has" in text
        assert "two failed on a/z: out of memory" in text

    def test_letters_stand_for_long_names(self):
        text = table_text(side_by_side(make_report(["a name of many letters", "b"])))
        assert re.match(r"F +A +B *$", text.splitlines()[0])
        assert text.endswith("A: a name of many letters\nB: b")

    def test_an_empty_report_has_an_empty_table(self):
        for write in FORMATS.values():
            assert isinstance(write(side_by_side(Report([]))), str)


class TestFormats:
    @pytest.mark.parametrize("name", FORMATS)
    def test_every_format_names_every_video_and_model(self, name):
        report = make_report()
        text = FORMATS[name](side_by_side(report, ["f_measure", "ms"]))
        for row in report.rows:
            assert row.sequence in text
            assert row.model in text

    def test_markdown_has_one_cell_per_column_and_provenance(self, small):
        text = table_markdown(side_by_side(small, ["recall", "pwc"]))
        table, _, notes = text.partition("\n\n")
        assert {line.count("|") for line in table.splitlines()} == {6}
        assert "| a/x | 0.600 | 4.00 | **0.800** | **2.00** |" in table
        assert "- machine.cpu: x86" in notes
        assert "- two failed on a/z\\: out of memory" in notes

    def test_latex_has_one_cell_per_column_and_balanced_groups(self, small):
        text = FORMATS["latex"](side_by_side(small, ["recall", "pwc"]))
        body = [line for line in text.splitlines() if line.endswith("\\\\")]
        assert [line.count("&") for line in body] == [2] + [4] * 10
        assert "\\textbf{0.800} & \\textbf{2.00}" in text
        assert "\\cmidrule(lr){2-3} \\cmidrule(lr){4-5}" in text
        assert text.count("{") == text.count("}")

    def test_csv_has_all_digits_and_empty_cells(self, small):
        rows = list(csv.DictReader(FORMATS["csv"](side_by_side(small, ["f_measure"])).splitlines()))
        assert float(rows[0]["one f_measure"]) == small.rows[0].measures()["f_measure"]
        assert [row["two f_measure"] for row in rows[1:3]] == ["", ""]
        assert rows[0]["kind"] == "video"
        assert rows[-1]["label"] == "mean of videos"

    def test_json_is_strict_and_complete(self, small):
        data = json.loads(json.dumps(table_json(side_by_side(small, ["recall", "ms"])), allow_nan=False))
        assert data["lines"][0]["values"]["two"] == {"recall": 0.8, "ms": 5.0}
        assert data["lines"][0]["best"] == {"recall": ["two"], "ms": ["two"]}
        assert data["lines"][1]["values"]["two"] == {"recall": None, "ms": None}
        assert data["failures"] == [{"model": "two", "video": "a/z", "error": "out of memory"}]
        assert data["provenance"] == {"machine": {"cpu": "x86"}}

    @pytest.mark.parametrize("name", ["text", "markdown", "latex"])
    def test_hostile_names_are_escaped(self, name):
        names = HOSTILE.replace("/", "")
        rows = [make_row(model, f"{names}/{names}", 60, 1, 40, error=names) for model in (names, "x")]
        text = FORMATS[name](side_by_side(Report(rows, {names: {names: names}}), ["f_measure", "pwc"]))
        assert not set("\x1b\u202e\udce4\r") & set(text)
        text.encode()
        if name == "markdown":
            table = text.partition("\n\n")[0].splitlines()
            assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {6}
            assert not re.search(r"(?<!\\)[<`_$]", text)
        if name == "latex":
            bare = re.sub(r"\\[&%$#_{}]", "", "\n".join(line for line in text.splitlines() if line[:1] != "%"))
            assert bare.count("{") == bare.count("}")
            assert not set("#_~|") & set(bare)
            assert all(line.count("&") == 4 for line in bare.splitlines() if line.startswith("<"))


def test_the_long_table_shows_hostile_names_on_one_line():
    text = Report([make_row(HOSTILE, f"{HOSTILE.replace('/', '')}/b", 60, 1, 40)]).to_table()
    assert len(text.splitlines()) == 5
    assert not set("\x1b\u202e\udce4") & set(text)


def test_csv_of_names_that_are_not_unicode_can_be_encoded():
    report = Report([make_row("caf\udce9", "a/b\udcff", 60, 1, 40)])
    for text in (report.to_csv(), FORMATS["csv"](side_by_side(report))):
        assert "caf?" in text.encode().decode()


def test_every_column_reads_a_row():
    row = make_row("m", "a/b", 60, 1, 40)
    assert COLUMNS["ms"].value(row) == 20.0
    assert COLUMNS["memory_mb"].value(row) == 1.0
    assert {name for name, column in COLUMNS.items() if math.isnan(column.value(row))} == {"auc", "best_f"}
    assert [name for name, column in COLUMNS.items() if column.better < 0] == [
        "fpr",
        "fnr",
        "pwc",
        "ms",
        "relative_time",
        "memory_mb",
    ]
