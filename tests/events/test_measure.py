"""From masks to numbers."""

import numpy as np
import pytest

from bgsub.errors import ConfigError
from bgsub.events import Measure
from bgsub.events.surroundings import Surroundings
from bgsub.frames import Packet, Result
from bgsub.roi import open_region


def result(frame, mask=None, score=None, number=1):
    mask = np.zeros(frame.shape[:2], np.uint8) if mask is None else mask
    return Result(Packet(number - 1, (number - 1) / 25, frame, number), mask, score)


def grey(value=100, size=(120, 160)):
    return np.full((*size, 3), value, np.uint8)


def test_objects_are_in_shares_of_the_frame():
    mask = np.zeros((120, 160), np.uint8)
    mask[30:60, 40:80] = 255
    mask[100, 100] = 255
    score = np.where(mask > 0, np.float32(0.5), np.float32(-1))
    regions = {"left": open_region("0,0 79,0 79,119 0,119"), "right": open_region("80,0 159,0 159,119 80,119")}
    one = Measure(regions, min_area=0.001)(result(grey(), mask, score, number=5), file=2)
    (seen,) = one.objects
    assert seen.box == pytest.approx((0.25, 0.25, 0.25, 0.25))
    assert (seen.area, seen.score, seen.regions) == (0.0625, 0.5, ("left",))
    assert (one.number, one.time_s, one.file, one.light, one.aspect) == (5, 0.16, 2, 100.0, pytest.approx(4 / 3))
    assert one.foreground == pytest.approx(1201 / 19200)
    assert one.shares == {"left": pytest.approx(1200 / 9600), "right": pytest.approx(1 / 9600)}


def test_a_detector_without_scores_has_objects_of_score_1():
    mask = np.zeros((120, 160), np.uint8)
    mask[30:60, 40:80] = 255
    assert Measure()(result(grey(), mask)).objects[0].score == 1.0


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float32])
def test_brightness_is_in_grey_levels_of_every_type(kind):
    frame = np.full((48, 64), {np.uint8: 51, np.uint16: 51 * 257, np.float32: 0.2}[kind], kind)
    assert Measure()(result(frame)).light == pytest.approx(51, abs=0.01)


def test_spread_tells_thin_foreground_everywhere_from_one_object():
    everywhere, one = np.zeros((160, 160), np.uint8), np.zeros((160, 160), np.uint8)
    everywhere[::10] = 255
    one[:50, :50] = 255
    assert Measure()(result(grey(size=(160, 160)), everywhere)).spread == 1.0
    assert Measure()(result(grey(size=(160, 160)), one)).spread < 0.2


@pytest.mark.parametrize("size", [(64, 96), (45, 83), (181, 320), (9, 11)])
def test_spread_is_the_share_of_cells_with_2_percent_of_foreground(size):
    random = np.random.default_rng(size)
    for share in (0.001, 0.01, 0.02, 0.05):
        mask = np.where(random.random(size) < share, np.uint8(255), np.uint8(0))
        fine = np.repeat(np.repeat(mask, 8, axis=0), 8, axis=1)  # cells of whole pixels
        cells = fine.reshape(8, size[0], 8, size[1]).mean(axis=(1, 3))
        assert Measure()(result(grey(size=size), mask)).spread == (cells > 255 * 0.02).mean()


def test_the_shift_of_the_image_is_measured_where_there_are_several_objects():
    random = np.random.default_rng(0)
    scene = np.kron(random.integers(0, 255, (40, 60)).astype(np.uint8), np.ones((8, 8), np.uint8))
    mask = np.zeros((240, 320), np.uint8)
    for x in range(20, 300, 60):
        mask[100:120, x : x + 20] = 255
    measure = Measure()
    measure(result(scene[:240, :320], mask))
    assert measure(result(scene[:240, :320].copy(), mask, number=2)).shift == pytest.approx(0, abs=1e-3)
    moved = measure(result(scene[:240, 10:330].copy(), mask, number=3)).shift
    assert moved == pytest.approx(10 / 400, rel=0.15)
    assert measure(result(scene[:240, :320].copy(), number=4)).shift == 0.0


def test_objects_of_noise_are_limited():
    mask = np.zeros((240, 320), np.uint8)
    mask[::4, ::4] = 255
    mask[101:110, 101:110] = 255
    one = Measure()(result(grey(size=(240, 320)), mask))
    assert len(one.objects) == 64
    assert max(seen.area for seen in one.objects) > 80 / (240 * 320)


def test_a_change_around_an_object_as_in_it_is_diffuse():
    wide, sharp = np.full((72, 128), 100.0, np.float32), np.full((72, 128), 100.0, np.float32)
    surroundings = Surroundings()
    surroundings.see(wide, 0.0)
    wide[20:60, 20:70] = 70
    surroundings.see(wide, 0.04)
    assert surroundings.diffuse((35 / 128, 30 / 72, 20 / 128, 20 / 72)) > 0.6
    other = Surroundings()
    other.see(sharp, 0.0)
    assert other.diffuse((0.3, 0.4, 0.15, 0.3)) == 0.0
    sharp[30:50, 35:55] = 70
    other.see(sharp, 0.04)
    assert other.diffuse((35 / 128, 30 / 72, 20 / 128, 20 / 72)) < 0.1
    other.see(sharp * 0.5, 0.08)  # exposure: everywhere alike
    assert other.diffuse((35 / 128, 30 / 72, 20 / 128, 20 / 72)) < 0.1


def _ramp(width):
    """A picture of textured ground, and the same under a shadow whose edge is so many cells wide."""
    random = np.random.default_rng(2)
    ground = random.uniform(60, 180, (72, 128)).astype(np.float32)
    shade = np.clip((np.arange(128) - 70) / width, 0, 1)
    noise = random.normal(0, 0.5, (72, 128))
    return ground, (ground * (1 - 0.35 * shade) + noise).astype(np.float32)


@pytest.mark.parametrize(("width", "light"), [(30, True), (12, True), (1, False)])
def test_a_change_without_an_edge_is_light(width, light):
    ground, shaded = _ramp(width)
    surroundings = Surroundings()
    surroundings.see(ground, 0.0)
    surroundings.see(shaded, 0.04)
    # The box begins where the shadow does, so that nothing has changed on its side away from the border.
    assert (surroundings.diffuse((70 / 128, 0.2, 58 / 128, 0.8)) == 1.0) == light


def test_a_thing_without_texture_of_its_own_has_an_edge():
    ground, _ = _ramp(12)
    surroundings = Surroundings()
    surroundings.see(ground, 0.0)
    darker = ground.copy()
    darker[20:60, 50:80] *= 0.8  # the texture of the ground, as through smoke or under a hard shadow
    surroundings.see(darker, 0.04)
    assert surroundings.diffuse((50 / 128, 20 / 72, 30 / 128, 40 / 72)) < 0.3


def test_what_is_remembered_goes_on():
    random = np.random.default_rng(1)
    frames = [random.integers(0, 255, (120, 160, 3)).astype(np.uint8) for _ in range(6)]
    mask = np.zeros((120, 160), np.uint8)
    mask[30:60, 40:80] = 255
    whole, first, second = Measure(), Measure(), Measure()
    expected = [whole(result(frame, mask, number=i + 1)) for i, frame in enumerate(frames)]
    assert first.state() == {}
    found = [first(result(frame, mask, number=i + 1)) for i, frame in enumerate(frames[:3])]
    second.restore(first.state())
    found += [second(result(frame, mask, number=i + 4)) for i, frame in enumerate(frames[3:])]
    assert found == expected


def test_a_region_outside_the_frame_is_refused():
    with pytest.raises(ConfigError, match="leaves nothing"):
        Measure({"door": open_region("500,500 600,500 600,600")})(result(grey()))
