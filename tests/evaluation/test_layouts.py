import math
import pickle

import cv2  # noqa: TID251 - files as a user would have them
import numpy as np
import pytest

from bgsub._input import frame_size
from bgsub.detectors import create
from bgsub.errors import DatasetError
from bgsub.evaluation import Counts, evaluate, find_sequences
from bgsub.evaluation.datasets.backgrounds import (
    compare_backgrounds,
    evaluate_background,
    find_background_sequences,
)
from bgsub.evaluation.datasets.cdnet import CDNET_2014, missing_videos
from bgsub.evaluation.datasets.lasiesta import read_colours
from bgsub.evaluation.datasets.layouts import LAYOUTS
from bgsub.evaluation.datasets.results import ResultFolder

SIZE = (4, 6)
EMPTY = np.zeros(SIZE, np.uint8)
HALF = np.where(np.arange(24).reshape(SIZE) < 12, np.uint8(255), np.uint8(0))


def write(path, image=EMPTY):
    path.parent.mkdir(parents=True, exist_ok=True)
    assert cv2.imwrite(str(path), image)
    return path


def frames(folder, form, numbers):
    for number in numbers:
        write(folder / form.format(number), np.full((*SIZE, 3), 10, np.uint8))


class Answer:
    """A model that gives the same mask for each frame."""

    def __init__(self, mask):
        self.mask = mask

    def apply(self, frame):
        return self.mask


class TestCDnet:
    def make(self, root, names):
        for name in names:
            frames(root / name / "input", "in{:06d}.jpg", (1, 2))
            write(root / name / "groundtruth" / "gt000002.png", HALF)

    def test_has_53_videos_in_11_categories(self):
        assert len(CDNET_2014) == 11
        assert sum(map(len, CDNET_2014.values())) == 53

    def test_missing_videos_are_named(self, tmp_path):
        official = [f"{category}/{video}" for category, videos in CDNET_2014.items() for video in videos]
        self.make(tmp_path, [name for name in official if name not in ("thermal/park", "PTZ/zoomInZoomOut")])
        assert missing_videos(find_sequences(tmp_path)) == ["PTZ/zoomInZoomOut", "thermal/park"]

    def test_other_data_sets_miss_nothing(self, tmp_path):
        self.make(tmp_path, ["mine/street"])
        assert missing_videos(find_sequences(tmp_path)) == []


class TestLasiesta:
    COLOURS = (((0, 0, 0), 0), ((255, 0, 0), 255), ((0, 255, 0), 255), ((255, 255, 0), 255), ((255, 255, 255), 255),
               ((128, 128, 128), 170))  # fmt: skip

    def make(self, folder, name="I_SI_01", suffix="-GT"):
        frames(folder / name, name + "-{}.bmp", (1, 2, 10))
        image = np.zeros((*SIZE, 3), np.uint8)
        for column, (colour, _) in enumerate(self.COLOURS):
            image[:, column] = colour[::-1]
        for number in (1, 2, 10):
            write(folder / f"{name}{suffix}" / f"{name}-GT_{number}.png", image)

    @pytest.mark.parametrize("suffix", ["-GT", "_GT"])
    def test_colours_are_labels(self, tmp_path, suffix):
        self.make(tmp_path / "I_SI_01", suffix=suffix)
        self.make(tmp_path / "O_CL_02", "O_CL_02", suffix)
        first, second = find_sequences(tmp_path)
        assert (first.identity, second.identity) == ("I_SI/I_SI_01", "O_CL/O_CL_02")
        assert first.family == "LASIESTA"
        assert first.scored == first.numbers == [1, 2, 10]
        labels = first.read_labels(10, SIZE)
        np.testing.assert_array_equal(labels, np.tile([label for _, label in self.COLOURS], (4, 1)))
        assert pickle.loads(pickle.dumps(first)).read_labels(10, SIZE).shape == SIZE  # noqa: S301

    def test_other_colours_are_refused(self, tmp_path):
        image = np.zeros((*SIZE, 3), np.uint8)
        image[1, 1] = 1, 2, 3
        path = write(tmp_path / "a.png", image)
        with pytest.raises(DatasetError, match=r"the colour \(3, 2, 1\), which is no label of LASIESTA"):
            read_colours(path)

    def test_a_folder_with_labels_only_is_named(self, tmp_path):
        self.make(tmp_path)
        for path in (tmp_path / "I_SI_01").iterdir():
            path.unlink()
        with pytest.raises(DatasetError, match="I_SI_01 holds no numbered images"):
            find_sequences(tmp_path)


class TestHandSegmented:
    def test_wallflower_scores_one_frame(self, tmp_path):
        folder = tmp_path / "WavingTrees"
        frames(folder, "b{:05d}.bmp", range(6))
        write(folder / "hand_segmented_00003.BMP", HALF)
        (folder / "script.txt").write_text("")
        (sequence,) = find_sequences(tmp_path)
        assert (sequence.identity, sequence.scored, sequence.unlabelled) == ("Wallflower/WavingTrees", [3], 0)
        assert sequence.numbers == [0, 1, 2, 3]
        (row,) = evaluate([sequence], lambda _: Answer(HALF)).rows
        assert row.counts == Counts(tp=12, tn=12)
        assert pickle.loads(pickle.dumps(sequence)).scored == [3]  # noqa: S301

    def test_i2r_masks_lie_among_the_frames(self, tmp_path):
        frames(tmp_path / "Campus", "trees{}.bmp", range(1000, 1010))
        for number in (1003, 1006):
            write(tmp_path / "Campus" / f"gt_new_trees{number}.bmp", HALF)
        (sequence,) = find_sequences(tmp_path)
        assert (sequence.identity, sequence.scored) == ("I2R/Campus", [1003, 1006])
        assert sequence.numbers == list(range(1000, 1007))
        assert set(np.unique(sequence.read_labels(1003, SIZE))) == {0, 255}

    def test_i2r_masks_lie_beside_the_frames(self, tmp_path):
        frames(tmp_path / "Campus", "trees{}.bmp", range(1000, 1004))
        write(tmp_path / "Campus" / "Ground_truth" / "gt_new_trees1002.bmp", HALF)
        (sequence,) = find_sequences(tmp_path)
        assert sequence.scored == [1002]

    def test_i2r_masks_of_all_videos_share_a_folder(self, tmp_path):
        for video, stem, number in (
            ("Hall", "airport", 1656),
            ("Escalator", "airport", 2424),
            ("Bootstrap", "b0", 1021),
        ):
            frames(tmp_path / video, stem + "{}.bmp", (number - 1, number))
        for name in ("airport1656", "Escalator2424", "b01021"):
            write(tmp_path / "GroundTruth" / f"gt_new_{name}.bmp", HALF)
        found = {sequence.name: sequence.scored for sequence in find_sequences(tmp_path)}
        assert found == {"Bootstrap": [1021], "Escalator": [2424], "Hall": [1656]}

    def test_labels_of_frames_that_are_not_there_are_named(self, tmp_path):
        frames(tmp_path, "b{:05d}.bmp", (1, 2))
        write(tmp_path / "hand_segmented_00007.BMP", HALF)
        with pytest.raises(DatasetError, match=r"has no frame 7, which hand_segmented_00007.BMP labels"):
            find_sequences(tmp_path)
        (tmp_path / "hand_segmented_00007.BMP").unlink()
        frames(tmp_path / "i2r" / "Lobby", "SwitchLight{}.bmp", (1, 2))
        write(tmp_path / "i2r" / "GroundTruth" / "gt_new_Curtain1.bmp", HALF)
        with pytest.raises(DatasetError, match="no labels called gt_new_Lobby or gt_new_SwitchLight"):
            find_sequences(tmp_path)


class TestSearch:
    def test_layouts_can_be_mixed(self, tmp_path):
        TestCDnet().make(tmp_path, ["cdnet/baseline/highway"])
        TestLasiesta().make(tmp_path / "lasiesta" / "I_SI_01")
        frames(tmp_path / "wallflower" / "Bootstrap", "b{:05d}.bmp", range(3))
        write(tmp_path / "wallflower" / "Bootstrap" / "hand_segmented_00002.BMP", HALF)
        assert [sequence.identity for sequence in find_sequences(tmp_path)] == [
            "baseline/highway",
            "I_SI/I_SI_01",
            "Wallflower/Bootstrap",
        ]

    def test_the_first_layout_claims_a_folder_and_another_can_be_asked_for(self, tmp_path):
        TestCDnet().make(tmp_path, ["a"])
        frames(tmp_path / "a", "b{:05d}.bmp", range(3))
        write(tmp_path / "a" / "hand_segmented_00001.BMP", HALF)
        (sequence,) = find_sequences(tmp_path)
        assert sequence.scored == [2]
        (sequence,) = find_sequences(tmp_path, layout="wallflower")
        assert sequence.scored == [1]

    def test_a_folder_without_sequences_is_reported_with_the_known_forms(self, tmp_path):
        with pytest.raises(DatasetError, match=r"none of its folders has input/ and groundtruth/; or NAME/ and"):
            find_sequences(tmp_path)
        with pytest.raises(DatasetError, match=r"none of its folders has NAME/ and NAME-GT/$"):
            find_sequences(tmp_path, layout="lasiesta")
        with pytest.raises(ValueError, match=f"layout must be one of {', '.join(LAYOUTS)}, got 'x'"):
            find_sequences(tmp_path, layout="x")

    def test_wrong_sequences_of_any_layout_can_be_left_out(self, tmp_path):
        TestCDnet().make(tmp_path, ["a/one"])
        frames(tmp_path / "b", "b{:05d}.bmp", (1, 2))
        write(tmp_path / "b" / "hand_segmented_00007.BMP", HALF)
        wrong = []
        assert len(find_sequences(tmp_path, on_error=lambda folder, error: wrong.append(folder.name))) == 1
        assert wrong == ["b"]


class TestImages:
    def test_too_large_images_are_refused_before_they_are_decoded(self, tmp_path, monkeypatch):
        TestCDnet().make(tmp_path, ["a"])
        monkeypatch.setenv(frame_size._VARIABLE, "20")
        (sequence,) = find_sequences(tmp_path)
        with pytest.raises(DatasetError, match=r"more than 20 pixels|is no file of the size"):
            sequence.read_input(1)

    @pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n", b"BM", b"P5 100000000 1 255 "])
    def test_damaged_images_raise_no_error_of_opencv(self, tmp_path, content):
        TestCDnet().make(tmp_path, ["a"])
        path = tmp_path / "a" / "groundtruth" / "gt000002.png"
        path.write_bytes(content)
        (sequence,) = find_sequences(tmp_path)
        with pytest.raises(DatasetError, match=r"gt000002.png"):
            sequence.read_labels(2, SIZE)


class TestBackgrounds:
    def test_measures_by_hand(self):
        truth = np.full((5, 5), 100, np.uint8)
        estimate = truth.copy()
        estimate[1:4, 2] = estimate[2, 1:4] = 121
        estimate[0, 0] = 120
        measures = compare_backgrounds(estimate, truth)
        assert measures.age == pytest.approx((5 * 21 + 20) / 25)
        assert (measures.peps, measures.pceps) == (5 / 25, 1 / 25)
        assert measures.psnr == pytest.approx(10 * math.log10(255**2 * 25 / (5 * 21**2 + 20**2)))
        assert compare_backgrounds(truth, truth).psnr == math.inf
        with pytest.raises(ValueError, match=r"estimate must have the size of truth, \(5, 5\), got \(4, 5\)"):
            compare_backgrounds(truth[1:], truth)

    def test_colour_counts_by_luminance(self):
        blue = np.zeros((3, 3, 3), np.uint8)
        blue[..., 0] = 100
        assert compare_backgrounds(blue, np.zeros_like(blue)).age == pytest.approx(11.4)

    def test_a_learned_background_is_compared_with_the_most_similar_truth(self, tmp_path):
        folder = tmp_path / "basic" / "511"
        frames(folder / "input", "in{:06d}.jpg", range(1, 6))
        write(folder / "GT_background1.jpg", np.full((*SIZE, 3), 90, np.uint8))
        write(folder / "GT_background2.jpg", np.full((*SIZE, 3), 12, np.uint8))
        (sequence,) = find_background_sequences(tmp_path)
        assert sequence.identity == "basic/511"
        assert evaluate_background(sequence, create("mog2")).age == pytest.approx(2, abs=0.5)

    def test_missing_parts_are_named(self, tmp_path):
        with pytest.raises(DatasetError, match=r"both input/ and GT_background1.jpg"):
            find_background_sequences(tmp_path)
        with pytest.raises(DatasetError, match="no such folder"):
            find_background_sequences(tmp_path / "x")
        write(tmp_path / "v" / "GT_background1.jpg")
        (tmp_path / "v" / "input").mkdir()
        with pytest.raises(DatasetError, match="input holds no numbered images"):
            find_background_sequences(tmp_path)
        frames(tmp_path / "v" / "input", "in{}.png", (1, 2))
        write(tmp_path / "v" / "GT_background1.jpg", np.zeros((2, 2), np.uint8))
        (sequence,) = find_background_sequences(tmp_path)
        with pytest.raises(DatasetError, match="must have the size of the frames of"):
            evaluate_background(sequence, create("mog2"))


class TestResults:
    @pytest.fixture
    def sequence(self, tmp_path):
        folder = tmp_path / "data" / "baseline" / "highway"
        frames(folder / "input", "in{:06d}.jpg", range(1, 5))
        for number in (2, 3, 4):
            write(folder / "groundtruth" / f"gt{number:06d}.png", HALF)
        return find_sequences(tmp_path / "data")[0]

    @pytest.mark.parametrize("home", ["results/baseline/highway", "baseline/highway", "highway", "."])
    @pytest.mark.parametrize("form", ["bin{:06d}.png", "{}.bmp", "mask-{:03d}.JPG"])
    def test_masks_are_found_by_number(self, tmp_path, sequence, home, form):
        folder = tmp_path / "out"
        for number in (2, 4):
            write(folder / home / form.format(number), HALF)
        results = ResultFolder(folder)
        assert results.missing(sequence) == [3]
        np.testing.assert_array_equal(results.read(sequence, 4, SIZE), HALF)
        with pytest.raises(DatasetError, match="no mask of frame 3 of baseline/highway"):
            results.read(sequence, 3, SIZE)
        with pytest.raises(DatasetError, match="must have the size of its frame, 9x9, but has 6x4"):
            results.read(sequence, 4, (9, 9))

    def test_shadow_of_127_is_background(self, tmp_path, sequence):
        write(tmp_path / "out" / "bin000002.png", np.full(SIZE, 127, np.uint8))
        assert not ResultFolder(tmp_path / "out").read(sequence, 2, SIZE).any()

    def test_doubtful_and_missing_folders_are_reported(self, tmp_path, sequence):
        with pytest.raises(DatasetError, match="no results at"):
            ResultFolder(tmp_path / "x")
        write(tmp_path / "out" / "bin000002.png")
        write(tmp_path / "out" / "bin2.png")
        with pytest.raises(DatasetError, match=r"two images of number 2: bin000002.png and bin2.png"):
            ResultFolder(tmp_path / "out").missing(sequence)
        (tmp_path / "empty").mkdir()
        assert ResultFolder(tmp_path / "empty").missing(sequence) == [2, 3, 4]
