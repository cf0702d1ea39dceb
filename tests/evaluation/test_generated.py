import hashlib
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import cv2  # noqa: TID251 - a peer as a user would have it
import numpy as np
import pytest

from bgsub.errors import DatasetError, SourceError
from bgsub.evaluation import evaluate
from bgsub.evaluation.datasets import open_datasets
from bgsub.evaluation.datasets.generated import FAMILIES, GeneratedSequence, generate
from bgsub.video.sources.open import open_source
from bgsub.video.sources.synthetic import SyntheticScene, open_generated
from bgsub.video.sources.synthetic.families import make_scene

SMALL = {"size": (90, 120), "frames": 150}
HARD = {name: family.values[-1] for name, family in FAMILIES.items()}


def scene(family, knob=None, seed=0, size=(90, 120), frames=150):
    if FAMILIES[family].knob == "standing" and knob is None:
        knob = 1
    return make_scene(family, HARD[family] if knob is None else knob, seed, size, max(frames, 200))


def digest_of(sequence):
    return sequence.digest()


@pytest.mark.parametrize("family", FAMILIES)
class TestEveryFamily:
    def test_same_parameters_give_the_same_bits_in_any_order(self, family):
        first, second = scene(family), scene(family)
        for i in (120, 3, 60):
            image, labels = first.frame(i)
            np.testing.assert_array_equal(second.frame(i)[0], image)
            np.testing.assert_array_equal(second.frame(i)[1], labels)
        np.testing.assert_array_equal(first.frame(3)[0], second.frame(3)[0])

    def test_another_seed_is_another_scene(self, family):
        one, other = scene(family), scene(family, seed=1)
        assert (one.frame(0)[0] != other.frame(0)[0]).mean() > 0.4
        assert any((one.frame(i)[1] != other.frame(i)[1]).any() for i in range(40, 150, 10))

    def test_frames_and_labels_have_their_types(self, family):
        made = scene(family)
        image, labels = made.frame(100)
        assert image.shape == ((90, 120) if family == "thermal" else (90, 120, 3))
        assert image.dtype == labels.dtype == np.uint8
        assert labels.shape == (90, 120)
        seen = set(np.unique([made.frame(i)[1] for i in range(0, made.frames, 5)]))
        assert {0, 255} <= seen <= {0, 50, 170, 255}
        assert (50 in seen) == family.endswith("shadow")

    def test_values_go_from_easy_to_hard_within_the_limits(self, family):
        described = FAMILIES[family]
        low, high = described.limits
        assert all(low <= value <= high for value in described.values)
        assert list(described.values) in (sorted(described.values), sorted(described.values, reverse=True))
        assert len(described.values) >= 4

    def test_the_empty_part_has_no_objects(self, family):
        made = scene(family)
        assert made.empty_frames == FAMILIES[family].empty_frames(made.frames)
        if FAMILIES[family].starts_empty:
            assert not any(made.frame(i)[1].any() for i in range(made.empty_frames))

    def test_small_and_odd_sizes_are_drawn(self, family):
        for size in ((32, 33), (35, 120), (120, 35)):
            made = scene(family, size=size)
            assert [made.frame(i)[1].shape for i in (0, 100, 199)] == [size] * 3

    def test_values_out_of_the_limits_are_refused(self, family):
        described = FAMILIES[family]
        with pytest.raises(ValueError, match=f"{described.knob} of {family} must be in"):
            generate(family, described.limits[1] + 1)


class TestKnobs:
    """Each knob does what it says."""

    def test_noise_has_its_standard_deviation(self):
        made = scene("noise", 6)
        difference = made.frame(0)[0].astype(float) - made.frame(1)[0]
        assert difference.std() == pytest.approx(6 * 2**0.5, rel=0.1)

    def test_light_falls_by_its_depth(self):
        for family in ("slow_light", "sudden_light"):
            made = scene(family, 40)
            means = np.array([made.frame(i)[0].mean() for i in range(made.frames)])
            assert means.min() / means[0] == pytest.approx(0.6, abs=0.06)
            jump = np.abs(np.diff(means)).max()
            assert (jump > 20) == (family == "sudden_light")

    def test_camera_moves_by_its_amplitude(self):
        made = scene("jitter", 4)
        reference = made.frame(0)[0].mean(axis=2).astype(np.float32)
        shifts = [cv2.phaseCorrelate(reference, made.frame(i)[0].mean(axis=2).astype(np.float32))[0] for i in range(30)]
        assert 3 < np.abs(shifts).max() < 8.5
        assert np.std(shifts) > 1.5

    @pytest.mark.parametrize("family", ["water", "foliage"])
    def test_the_background_moves_more_with_the_knob(self, family):
        def motion(knob):
            made = scene(family, knob)
            return np.std([made.frame(i)[0].astype(float) for i in range(0, 30, 3)], axis=0).mean()

        gentle, strong = (motion(FAMILIES[family].values[n]) for n in (0, -1))
        assert strong > 1.4 * gentle

    @pytest.mark.parametrize("family", ["hard_shadow", "soft_shadow"])
    def test_shadows_take_their_share_of_the_light(self, family):
        bright, dark = scene(family, 0, frames=200), scene(family, 50, frames=200)
        ratios = []
        for i in range(60, 200, 10):
            shadow = dark.frame(i)[1] == 50
            before, after = (made.frame(i)[0].astype(float).mean(axis=2)[shadow] for made in (bright, dark))
            ratios += list(after / np.maximum(before, 1))
        assert np.min(ratios) > 0.3
        assert np.percentile(ratios, 5) < (0.62 if family == "hard_shadow" else 0.8)
        assert np.mean(ratios) < 0.95

    @pytest.mark.parametrize("family", ["camouflage", "thermal"])
    def test_objects_differ_by_the_contrast(self, family):
        made, empty = scene(family, 20), scene(family, 0)
        differences = []
        for i in range(60, 200, 10):
            image, labels = made.frame(i)
            change = image.astype(float) - empty.frame(i)[0]
            differences += list(np.abs(change.reshape(90, 120, -1).mean(axis=2)[labels == 255]))
        assert np.median(differences) == pytest.approx(20, abs=1)

    @pytest.mark.parametrize(("family", "axis"), [("small", 0), ("small", 1), ("thin", 1)])
    def test_objects_have_their_size(self, family, axis):
        def largest(knob):
            made = scene(family, knob, size=(240, 320))
            sizes = []
            for i in range(45, 200, 15):
                count, _, stats, _ = cv2.connectedComponentsWithStats((made.frame(i)[1] == 255).astype(np.uint8))
                sizes += [stats[n][3 if axis == 0 else 2] for n in range(1, count)]
            return np.median(sizes)

        assert largest(8) == pytest.approx(8, abs=1.5)
        assert largest(3) == pytest.approx(3, abs=1.5)

    def test_objects_stand_as_long_as_asked(self):
        made = scene("stop_and_go", 3, frames=400)
        masks = np.array([made.frame(i)[1] == 255 for i in range(400)])
        longest = np.zeros(masks.shape[1:], int)
        run = np.zeros_like(longest)
        for mask in masks:
            run = np.where(mask, run + 1, 0)
            longest = np.maximum(longest, run)
        assert 75 <= np.percentile(longest[longest > 0], 99) <= 120

    def test_ghosts_stand_unlabelled_and_leave(self):
        made = scene("ghost", 1, frames=300)
        first = made.frame(0)[1]
        assert (first == 170).mean() > 0.01
        assert not (first == 255).any()
        assert (made.frame(40)[1] == 255).any()
        behind = first == 170
        assert (made.frame(120)[1][behind] == 0).mean() > 0.5

    def test_compression_loses_detail(self):
        fine, coarse = (scene("compression", quality).frame(5)[0].astype(float) for quality in (100, 5))
        assert 3 < np.abs(fine - coarse).mean() < 30


class TestLabels:
    def test_labels_agree_with_pixels_that_differ_from_the_scene_without_objects(self):
        made = make_scene("hard_shadow", 50, 3, (180, 240), 200)
        made.effects = ()
        empty = make_scene("hard_shadow", 50, 3, (180, 240), 200)
        empty.effects, empty.actors = (), ()
        wrong = moving = differing = 0
        for i in range(50, 200, 6):
            image, labels = made.frame(i)
            change = np.abs(image.astype(int) - empty.frame(i)[0]).max(axis=2)
            wrong += np.sum((labels == 0) & (change > 8))
            moving += np.sum(labels == 255)
            differing += np.sum((labels == 255) & (change > 6))
        assert moving > 5000
        assert differing / moving > 0.95
        assert wrong == 0


class TestSequence:
    def test_is_a_sequence_of_parameters(self):
        sequence = generate("noise", 4, seed=3, **SMALL)
        assert sequence.identity == "generated:noise/sigma=4&seed=3&size=120x90&frames=150"
        assert (sequence.numbers[0], sequence.numbers[-1], sequence.scored[0]) == (1, 150, 31)
        assert sequence.unlabelled == 0
        assert sequence.read_roi((90, 120)) is None
        with pytest.raises(ValueError, match=r"size must be that of the scene, \(90, 120\), got \(9, 9\)"):
            sequence.read_labels(40, (9, 9))
        image, labels = make_scene("noise", 4, 3, **SMALL).frame(99)
        np.testing.assert_array_equal(sequence.read_input(100), image)
        np.testing.assert_array_equal(sequence.read_labels(100, (90, 120)), labels)

    def test_the_name_opens_it_again(self):
        sequence = generate("water", 12.5, seed=7, **SMALL)
        assert open_datasets(f"{sequence.category}?{sequence.name}") == [sequence]

    def test_reading_gives_arrays_of_its_own(self):
        sequence = generate("noise", 4, **SMALL)
        before = sequence.read_input(50)
        sequence.read_input(50)[:] = 0
        np.testing.assert_array_equal(sequence.read_input(50), before)

    def test_pickles_small_with_frames_drawn_later(self):
        sequence = generate("foliage", 2, **SMALL)
        sequence.read_input(10)
        data = pickle.dumps(sequence)
        assert len(data) < 500
        assert pickle.loads(data) == sequence  # noqa: S301

    def test_digest_depends_on_knob_and_seed(self):
        digests = {generate("noise", knob, seed, **SMALL).digest() for knob in (2, 3) for seed in (0, 1)}
        assert len(digests) == 4
        assert generate("noise", 2, 0, **SMALL).digest() in digests

    @pytest.mark.slow
    def test_other_processes_draw_the_same_frames(self):
        sequences = [generate(family, family_knob, **SMALL) for family, family_knob in (("water", 20), ("noise", 4))]
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            assert list(pool.map(digest_of, sequences)) == [s.digest() for s in sequences]

    def test_evaluation_reads_it(self):
        easy, hard = (generate("noise", sigma, **SMALL) for sigma in (1, 20))
        report = evaluate([easy, hard], {"mog2": lambda _: cv2.createBackgroundSubtractorMOG2(detectShadows=False)})
        first, second = (row.counts.f_measure for row in report.rows)
        assert first > 0.7
        assert first > second + 0.1


class TestRate:
    @pytest.mark.parametrize("family", ["noise", "small", "stop_and_go"])
    def test_things_take_the_same_time_whatever_the_rate(self, family):
        seconds = []
        for rate_hz in (10, 60):
            made = make_scene(family, 5, size=(90, 120), frames=20 * rate_hz, rate_hz=rate_hz)
            seconds.append([sum(actor.is_on_the_way(i) for i in range(made.frames)) / rate_hz for actor in made.actors])
        np.testing.assert_allclose(*seconds, atol=0.15)

    def test_the_rate_is_that_of_the_source_and_a_part_of_the_name(self):
        text = "generated:water?height=20&seed=0&size=64x48&frames=30&rate=60"
        (sequence,) = open_datasets(text)
        assert str(sequence.scene) == text
        with open_source(text) as source:
            assert source.info.rate_hz == 60
            assert next(iter(source)).time_s == 0
            assert next(iter(source)).time_s == pytest.approx(1 / 60)


class TestText:
    def test_values_seeds_and_families_are_spread(self):
        found = open_datasets("generated:noise?sigma=2,8&seed=0,1&size=64x48&frames=20")
        assert all(isinstance(sequence, GeneratedSequence) for sequence in found)
        assert [(s.scene.knob, s.scene.seed) for s in found] == [(2, 0), (2, 1), (8, 0), (8, 1)]
        assert {(s.scene.size, s.scene.frames) for s in found} == {((48, 64), 20)}
        assert [s.scene.knob for s in open_datasets("generated:jitter")] == list(FAMILIES["jitter"].values)
        assert open_datasets("generated:noise?knob=3") == open_datasets("generated:noise?sigma=3")
        assert {s.scene.family for s in open_datasets("generated:all")} == set(FAMILIES)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("beach", "no family 'beach', there are all, noise, slow_light"),
            ("noise?sgma=1", "no setting 'sgma', there are sigma, knob, seed, size, frames, rate"),
            ("noise?rate=0", r"rate must be in \[1, 240\] frames/s, got 0"),
            ("noise?rate=nan", "rate must be in"),
            ("noise?sigma=x", "sigma=x is not understood"),
            ("noise?sigma=nan", "sigma of noise must be in"),
            ("noise?sigma=99", r"sigma of noise must be in \[0, 60\], got 99"),
            ("noise?size=320", "size=320 is not understood"),
            ("noise?size=3x3", "size must be at least 32"),
            ("noise?frames=2", "frames must be at least 20, got 2"),
            ("noise?seed=-1", "seed must not be negative, got -1"),
            ("stop_and_go?standing=8&frames=100", "frames must be at least 358, got 100"),
            ("all?knob=3", "a knob needs one family, not all"),
        ],
    )
    def test_wrong_text_is_explained_in_one_line(self, text, message):
        for opener, error in ((open_datasets, DatasetError), (open_generated, SourceError)):
            with pytest.raises(error, match=message) as caught:
                opener(f"generated:{text}")
            assert "\n" not in str(caught.value)

    def test_unknown_family_is_named(self):
        for maker in (generate, make_scene):
            with pytest.raises(ValueError, match=r"family must be one of noise, .*, got 'sea'"):
                maker("sea", 1)

    def test_folders_are_searched(self, tmp_path):
        with pytest.raises(DatasetError, match="no sequence in"):
            open_datasets(tmp_path)


class TestSource:
    def test_the_same_text_is_a_source(self):
        text = "generated:water?height=20&size=64x48&frames=30"
        (sequence,) = open_datasets(text)
        with open_source(text) as source:
            packets = list(source)
        assert [packet.number for packet in packets] == sequence.numbers
        np.testing.assert_array_equal(packets[20].frame, sequence.read_input(21))

    def test_a_source_is_one_scene(self):
        with pytest.raises(
            SourceError, match=r"these are 6 scenes; choose one, such as generated:noise\?sigma=1&seed=0"
        ):
            open_generated("generated:noise")


@pytest.mark.skipif(cv2.__version__ < "5", reason="earlier versions of OpenCV draw and blur otherwise")
def test_named_scenes_are_as_they_were():
    """The first frames and labels of the street are the same as in earlier versions."""
    digest = hashlib.sha256()
    for parameters in ({}, {"size": (60, 80), "seed": 3, "frames": 50}):
        street = SyntheticScene(**parameters)
        for i in (0, 40, street.frames // 2 + 11, street.frames - 9):
            for image in street.frame(i):
                digest.update(image.tobytes())
    assert digest.hexdigest() == "3582de0d74d8f24353901b31b098a0267630595d2824a5d4e2d4ddbbc100fb41"


def test_the_documentation_lists_the_usual_values():
    text = (Path(__file__).parents[2] / "docs" / "evaluation" / "datasets.md").read_text(encoding="utf-8")
    for family in FAMILIES.values():
        values = ", ".join(f"{value:g}" for value in family.values)
        assert f"| `{family.name}` | `{family.knob}` | {family.unit} | {values} |" in text
