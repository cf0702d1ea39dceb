import cv2  # noqa: TID251 - an independent look at the files
import numpy as np
import pytest

from bgsub.errors import SinkError, SourceError
from bgsub.video.sources.position import Position
from bgsub.video.sources.synthetic import SCENES, SyntheticScene, SyntheticSource, open_synthetic, write_sample

SMALL = {"size": (90, 120), "frames": 60, "rate_hz": 10.0}
STILL = dict.fromkeys(("water", "tree", "slow_light", "sudden_light", "walkers", "stopper"), False)


@pytest.fixture(scope="module")
def scene() -> SyntheticScene:
    return SyntheticScene(**SMALL, seed=4)


def test_same_seed_gives_the_same_bits_and_another_seed_another_scene(scene):
    for i in (0, 37):
        again = SyntheticScene(**SMALL, seed=4).frame(i)
        for first, second in zip(scene.frame(i), again, strict=True):
            np.testing.assert_array_equal(first, second)
    assert (SyntheticScene(**SMALL, seed=5).frame(0)[0] != scene.frame(0)[0]).mean() > 0.5


def test_frames_can_be_asked_for_in_any_order(scene):
    sequential = [scene.frame(i) for i in range(scene.frames)]
    for i in np.random.default_rng(0).permutation(scene.frames)[:20]:
        frame, labels = scene.frame(int(i))
        np.testing.assert_array_equal(frame, sequential[i][0])
        np.testing.assert_array_equal(labels, sequential[i][1])


def test_frame_and_labels_have_their_types(scene):
    frame, labels = scene.frame(40)
    assert (frame.shape, frame.dtype) == ((90, 120, 3), np.uint8)
    assert (labels.shape, labels.dtype) == ((90, 120), np.uint8)
    assert set(np.unique(labels)) == {0, 50, 170, 255}


@pytest.mark.parametrize("size", [(32, 32), (33, 97), (97, 33)])
def test_small_and_odd_sizes_are_drawn(size):
    scene = SyntheticScene(size=size, frames=10)
    assert [scene.frame(i)[0].shape for i in range(10)] == [(*size, 3)] * 10


def test_labels_agree_with_pixels_that_differ_from_the_empty_scene():
    scene = SyntheticScene(size=(180, 240), frames=60, rate_hz=10.0, noise=0.0)
    moving = differing = wrong = shadow = shadow_darker = 0
    for i in range(scene.empty_frames, 60, 3):
        frame, labels = scene.frame(i)
        empty = scene.background(i)
        change = np.abs(frame.astype(int) - empty).max(axis=2)
        moving += np.sum(labels == 255)
        differing += np.sum((labels == 255) & (change > 6))
        wrong += np.sum((labels == 0) & (change > 10))
        shadow += np.sum(labels == 50)
        shadow_darker += np.sum((labels == 50) & (frame <= empty).all(axis=2) & (change > 0))
    assert moving > 5000
    assert differing / moving > 0.97
    assert wrong / moving < 0.02  # dim leaves before a figure
    assert shadow > 1000
    assert shadow_darker / shadow > 0.98


def test_first_fifth_is_empty(scene):
    assert scene.empty_frames == 12
    assert not any(scene.frame(i)[1].any() for i in range(12))
    np.testing.assert_array_equal(scene.frame(5)[0], scene.background(5))
    assert sum((scene.frame(i)[1] == 255).any() for i in range(12, 60)) > 40


def test_noise_is_the_only_change_where_every_effect_is_off():
    still = SyntheticScene(**SMALL, **STILL, noise=0.0)
    np.testing.assert_array_equal(still.frame(0)[0], still.frame(50)[0])
    noisy = SyntheticScene(**SMALL, **STILL, noise=3.0)
    difference = noisy.frame(7)[0].astype(float) - still.frame(7)[0]
    assert difference.std() == pytest.approx(3.0, rel=0.1)
    assert (noisy.frame(8)[0] != noisy.frame(7)[0]).mean() > 0.5


@pytest.mark.parametrize(("effect", "columns"), [("water", slice(60, 120)), ("tree", slice(0, 45))])
def test_water_and_tree_move_where_they_stand(effect, columns):
    scene = SyntheticScene(**SMALL, **{**STILL, effect: True}, noise=0.0)
    frames = np.array([scene.background(i) for i in range(12)], float)
    moving = frames.std(axis=0).max(axis=2) > 4
    assert moving.mean() > 0.01
    assert moving[:, columns].sum() == moving.sum()
    assert not moving[int(0.6 * 90) :].any()


def test_light_drifts_and_drops_once():
    drift = SyntheticScene(**SMALL, **{**STILL, "slow_light": True})
    means = np.array([drift.background(i).mean() for i in range(60)])
    assert np.ptp(means) > 10
    assert np.abs(np.diff(means)).max() < 3
    drop = SyntheticScene(**SMALL, **{**STILL, "sudden_light": True})
    steps = np.diff([drop.background(i).mean() for i in range(60)])
    assert np.flatnonzero(np.abs(steps) > 3).tolist() == [37]
    assert steps[37] < -15


def test_somebody_stops_and_goes_on():
    scene = SyntheticScene(**SMALL, **{**STILL, "stopper": True})
    middles = []
    for i in range(60):
        columns = np.nonzero((scene.frame(i)[1] == 255).any(axis=0))[0]
        middles.append(columns.mean() if len(columns) else np.nan)
    middles = np.array(middles)
    standing = middles[24:44]
    assert np.ptp(standing) < 2
    assert middles[16] < standing.mean() - 10
    assert middles[54] > standing.mean() + 20


def test_tree_hides_who_walks_behind_it():
    scene = SyntheticScene(size=(180, 240), frames=200, rate_hz=10.0, seed=0, noise=0.0)
    crown = (slice(0, 70), slice(25, 50))
    behind = [i for i in range(200) if (scene.frame(i)[1][60:75] == 255).any()]
    assert behind
    assert max((scene.frame(i)[1][crown] == 255).mean() for i in behind) < 0.2


@pytest.mark.parametrize("name", SCENES)
def test_named_scenes_open(name):
    source = open_synthetic(f"{name}?frames=4&size=64x48&rate=12.5&seed=2&noise=1")
    assert (source.info.size, source.info.rate_hz, source.info.count) == ((48, 64), 12.5, 4)
    packets = list(source)
    assert [(p.index, p.number, p.time_s) for p in packets] == [(i, i + 1, i / 12.5) for i in range(4)]
    np.testing.assert_array_equal(packets[3].frame, source.scene.frame(3)[0])


def test_scene_without_a_name_has_everything():
    assert open_synthetic("").info.size == (240, 320)


def test_source_starts_at_the_position_asked_for(scene):
    source = SyntheticSource(scene)
    source.seek(Position(time_s=5.8))
    assert [(p.index, p.number) for p in source] == [(0, 59), (1, 60)]
    source = SyntheticSource(scene)
    source.seek(Position(number=61))
    assert source.read() is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("beach", "no scene 'beach', there are walkers, water, tree, light, stop, easy"),
        ("tree?sed=1", "no setting 'sed', there are frames, noise, rate, seed, size"),
        ("tree?seed=x", "seed=x is not understood"),
        ("tree?size=320", "size=320 is not understood"),
        ("tree?size=3x3", "size must be at least 32"),
        ("tree?frames=0", "frames must be at least 1, got 0"),
        ("tree?rate=nan", "rate_hz must be in .1e-06, 1e.06., got nan"),
        ("tree?seed=-1", "seed must not be negative, got -1"),
        ("tree?noise=-1", "noise must be in .0, 255., got -1.0"),
    ],
)
def test_wrong_text_is_explained_in_one_line(text, message):
    with pytest.raises(SourceError, match=message) as caught:
        open_synthetic(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("i", [-1, 60])
def test_frame_that_is_not_there_raises(scene, i):
    with pytest.raises(ValueError, match=r"i must be in \[0, 60\)"):
        scene.frame(i)


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
def test_sample_has_the_benchmark_layout(tmp_path, suffix):
    scene = SyntheticScene(size=(48, 64), frames=10)
    folder = write_sample(tmp_path / "new" / "walk", scene, suffix=suffix)
    assert sorted(p.name for p in folder.iterdir()) == ["ROI.bmp", "groundtruth", "input", "temporalROI.txt"]
    assert (folder / "temporalROI.txt").read_text().split() == ["3", "10"]
    assert [p.name for p in sorted((folder / "input").iterdir())] == [f"in{i:06d}{suffix}" for i in range(1, 11)]
    frame, labels = scene.frame(6)
    stored = cv2.imread(str(folder / "input" / f"in000007{suffix}"))
    if suffix == ".png":
        np.testing.assert_array_equal(stored, frame)
    np.testing.assert_array_equal(cv2.imread(str(folder / "groundtruth/gt000007.png"), cv2.IMREAD_UNCHANGED), labels)
    assert (cv2.imread(str(folder / "ROI.bmp"), cv2.IMREAD_GRAYSCALE) == 255).all()


def test_sample_is_overwritten_only_by_force(tmp_path):
    long, short = (SyntheticScene(size=(48, 64), frames=frames) for frames in (4, 2))
    write_sample(tmp_path / "s", long)
    with pytest.raises(SinkError, match="the folder is not empty"):
        write_sample(tmp_path / "s", short)
    write_sample(tmp_path / "s", short, force=True)
    assert len(list((tmp_path / "s" / "input").iterdir())) == 2
    (tmp_path / "file").write_text("")
    with pytest.raises(SinkError, match="cannot write the sample"):
        write_sample(tmp_path / "file" / "s", short)
    with pytest.raises(ValueError, match="suffix must be"):
        write_sample(tmp_path / "t", short, suffix=".gif")
