"""The pipeline: what a step does, what a run does, and what is left when one fails."""

import threading
import time
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bgsub.detectors import create, load
from bgsub.errors import ModelFileError, SinkError, SourceError
from bgsub.evaluation import PipelineModel
from bgsub.frames import Packet, Result, VideoInfo
from bgsub.pipeline import Pipeline, run
from bgsub.postprocess import RAW, Postprocess
from bgsub.roi import Region
from bgsub.video.sinks import BackgroundImage, MaskVideo, OverlayVideo, PngSequence, SavedModel, Sink, StatsCsv
from bgsub.video.sources import FrameSource, open_source
from tests.video.moving_square import SIZE, square_frame

pytestmark = pytest.mark.usefixtures("no_leaked_threads")

COUNT, BROKEN = 20, 12
LEFT = Region(include=(((0, 0), (31, 0), (31, 47), (0, 47)),))


class Squares(FrameSource):
    """Frames of the moving square, then the end or an error."""

    def __init__(self, count: int = COUNT, error: BaseException | None = None, live: bool = False) -> None:
        self.count, self.error, self.index, self.closed = count, error, 0, 0
        self.alive: list[weakref.ref[np.ndarray]] = []
        self._info = VideoInfo("squares", SIZE, 25.0, count, live)

    @property
    def info(self) -> VideoInfo:
        return self._info

    def read(self) -> Packet | None:
        if self.index == self.count:
            if self.error is not None:
                raise self.error
            return None
        made = packet(self.index)
        self.index += 1
        self.alive = [frame for frame in self.alive if frame() is not None] + [weakref.ref(made.frame)]
        return made

    def close(self) -> None:
        self.closed += 1


class Recorder(Sink):
    """Remembers what it gets; raises at a frame if told so."""

    def __init__(self, error: BaseException | None = None, act: Callable[[], None] = lambda: None) -> None:
        self.error, self.act, self.indices, self.closed = error, act, list[int](), 0

    def write(self, result: Result) -> None:
        self.act()
        if self.error is not None and result.packet.index == BROKEN:
            raise self.error
        self.indices.append(result.packet.index)

    def close(self) -> None:
        self.closed += 1


def packet(index: int) -> Packet:
    return Packet(index, index / 25, square_frame(index), index + 1)


def pipeline(**settings: Any) -> Pipeline:
    return Pipeline(create("norma", threads=1, warmup=0, learn_every=1), **settings)


def masks(made: Pipeline, count: int = COUNT) -> np.ndarray:
    return np.array([made.step(packet(index)).mask for index in range(count)])


class TestStep:
    def test_is_the_detector_then_the_post_processing(self) -> None:
        post = Postprocess(median=3, min_area=5)
        detector = create("norma", threads=1, warmup=0, learn_every=1)
        expected = [post(detector.apply(square_frame(index))) for index in range(COUNT)]
        np.testing.assert_array_equal(masks(pipeline(postprocess=post)), expected)
        assert np.any(expected[1:])

    def test_result_carries_packet_timings_and_score_if_wanted(self) -> None:
        made, asked = pipeline(), pipeline(want_score=True)
        for index in range(3):
            given = packet(index)
            plain, scored = made.step(given, 1.5), asked.step(given)
        assert plain.packet is given
        assert plain.score is None
        assert plain.timings.wait_ms == 1.5
        assert plain.timings.detect_ms > 0
        assert scored.score is not None
        assert scored.score.dtype == np.float32
        np.testing.assert_array_equal(scored.score > 0, last_score(3) > 0)

    def test_warmup_learns_without_foreground(self) -> None:
        plain, warm = masks(pipeline()), masks(pipeline(warmup=7))
        assert plain[:7].any()
        assert not warm[:7].any()
        np.testing.assert_array_equal(warm[7:], plain[7:])

    def test_learning_rate_of_zero_keeps_the_model(self, tmp_path: Path) -> None:
        learned = pipeline()
        masks(learned)
        learned.detector.save(tmp_path / "model.npz")
        frozen = Pipeline(learned.detector, learning_rate=0.0, postprocess=RAW)
        first, second = masks(frozen), masks(frozen)
        np.testing.assert_array_equal(first, second)
        again = load(tmp_path / "model.npz", threads=1)
        scores = np.array([again.score(square_frame(index)) for index in range(COUNT)])
        np.testing.assert_array_equal(first > 0, scores > 0)

    def test_nothing_outside_the_region_even_after_a_median(self) -> None:
        class Everything:
            """Says foreground all over, as no detector with a region does."""

            shape, roi, reports_shadows = None, None, False

            def apply(self, frame: np.ndarray, *_: object, **__: object) -> np.ndarray:
                return np.full(frame.shape[:2], 255, np.uint8)

        made = Pipeline(Everything(), postprocess=Postprocess(median=9), region=LEFT)  # type: ignore[arg-type]
        np.testing.assert_array_equal(made.step(packet(0)).mask, LEFT.mask(SIZE))
        inside = masks(pipeline(region=LEFT, postprocess=Postprocess(median=9)))
        assert inside[:, :, :32].any()
        assert not inside[:, :, 32:].any()

    @pytest.mark.parametrize(
        ("frame", "kind"),
        [
            (np.zeros((30, 40, 3), np.uint8), "40x30 colour uint8"),
            (np.zeros(SIZE, np.uint8), "64x48 grey uint8"),
            (np.zeros((*SIZE, 3), np.uint16), "64x48 colour uint16"),
        ],
    )
    def test_model_of_other_frames_is_one_error_with_both(self, tmp_path: Path, frame: np.ndarray, kind: str) -> None:
        learned = pipeline()
        masks(learned, 2)
        learned.detector.save(tmp_path / "model.npz")
        made = Pipeline(load(tmp_path / "model.npz"), region=LEFT)
        with pytest.raises(ModelFileError, match=f"64x48 colour uint8 frames, these are {kind}; learn a new model"):
            made.step(Packet(0, 0.0, frame, 1))

    def test_change_of_size_in_the_middle_is_a_value_error(self) -> None:
        made = pipeline()
        made.step(packet(0))
        with pytest.raises(ValueError, match="must stay uint8"):
            made.step(Packet(1, 0.0, np.zeros((30, 40, 3), np.uint8), 2))

    def test_model_for_evaluation_gives_the_same_masks_and_scores(self) -> None:
        model = PipelineModel(pipeline())
        np.testing.assert_array_equal([model.apply(square_frame(index)) for index in range(COUNT)], masks(pipeline()))
        np.testing.assert_array_equal(model.score(square_frame(COUNT)), last_score(COUNT + 1))
        assert model.memory_bytes == 48 * 64 * 61


def last_score(count: int) -> np.ndarray:
    detector = create("norma", threads=1, warmup=0, learn_every=1)
    for index in range(count - 1):
        detector.learn(square_frame(index))
    return detector.score(square_frame(count - 1))


class TestRun:
    def test_every_sink_gets_every_result_and_is_closed(self) -> None:
        source, sinks, seen = Squares(), [Recorder(), Recorder()], list[int]()
        summary = run(source, pipeline(), sinks, progress=lambda result: seen.append(result.packet.index))
        for sink in sinks:
            assert sink.indices == seen == list(range(COUNT))
            assert sink.closed == 1
        assert source.closed >= 1
        assert (summary.frames, summary.dropped) == (COUNT, 0)
        share = (masks(pipeline()) > 0).mean()
        assert summary.foreground == pytest.approx(share)
        assert summary.first_mask_s is not None
        assert 0 < summary.first_mask_s <= summary.elapsed_s

    def test_source_without_frames_gives_an_empty_summary(self) -> None:
        summary = run(Squares(0), pipeline(), [])
        assert (summary.frames, summary.foreground, summary.first_mask_s) == (0, 0.0, None)

    def test_dropped_frames_of_a_live_source_are_counted(self) -> None:
        recorder = Recorder(act=lambda: time.sleep(0.01))
        summary = run(Squares(live=True), pipeline(), [recorder], depth=2)
        assert summary.dropped > 0
        assert summary.frames + summary.dropped == COUNT

    def test_slow_sink_does_not_make_the_queue_grow(self) -> None:
        source, most = Squares(60), list[int]()

        def look() -> None:
            time.sleep(0.002)
            most.append(sum(frame() is not None for frame in source.alive))

        run(source, pipeline(), [Recorder(act=look)], depth=3)
        # 3 in the queue, one the source has just made, one here and the one before, whose name is still bound
        assert 4 <= max(most) <= 6

    def test_without_a_queue_all_happens_on_the_callers_thread(self) -> None:
        threads, seen = set[int](), list[int]()
        expected, source, sink = masks(pipeline()), Squares(), Recorder(act=lambda: threads.add(threading.get_ident()))
        sink.any_thread = True
        made = pipeline()
        step = made.step

        def kept(*packet: Any) -> Result:
            result = step(*packet)
            np.testing.assert_array_equal(result.mask, expected[result.packet.index])
            return result

        made.step = kept  # type: ignore[method-assign]
        summary = run(source, made, [sink], depth=0, progress=lambda result: seen.append(result.packet.index))
        assert threads == {threading.get_ident()}
        assert sink.indices == seen == list(range(COUNT))
        assert (source.closed, sink.closed, summary.frames) == (1, 1, COUNT)

    def test_without_a_queue_stop_and_errors_close_all(self) -> None:
        source, sink = Squares(), Recorder()
        assert run(source, pipeline(), [sink], depth=0, stop=lambda: len(sink.indices) >= 3).frames == 3
        assert (source.closed, sink.closed) == (1, 1)
        source, sink = Squares(), Recorder(OSError("disk"))
        with pytest.raises(OSError, match="disk"):
            run(source, pipeline(), [sink], depth=0)
        assert (source.closed, sink.closed) == (1, 1)

    def test_wrong_depth_closes_source_and_sinks(self) -> None:
        source, sink = Squares(), Recorder()
        with pytest.raises(ValueError, match="depth must be"):
            run(source, pipeline(), [sink], depth=-1)
        assert (source.closed, sink.closed) == (1, 1)


def failing_detector(error: BaseException) -> Pipeline:
    made = pipeline()
    apply = made.detector.apply

    def broken(frame: np.ndarray, *rest: Any, **named: Any) -> np.ndarray:
        if (frame == square_frame(BROKEN)).all():
            raise error
        return apply(frame, *rest, **named)

    made.detector.apply = broken  # type: ignore[method-assign]
    return made


def raise_at(error: BaseException) -> Callable[[Result], None]:
    def progress(result: Result) -> None:
        if result.packet.index == BROKEN - 1:
            raise error

    return progress


FAILURES: dict[str, tuple[BaseException, Callable[[FrameSource, Pipeline, Sequence[Sink], BaseException], Any]]] = {
    "source": (SourceError("torn"), lambda _, made, sinks, error: run(Squares(BROKEN, error), made, sinks)),
    "detector": (
        ZeroDivisionError("broken"),
        lambda source, _, sinks, error: run(source, failing_detector(error), sinks),
    ),
    "sink": (SinkError("full"), lambda source, made, sinks, error: run(source, made, [Recorder(error), *sinks])),
    "progress": (
        RuntimeError("gone"),
        lambda source, made, sinks, error: run(source, made, sinks, progress=raise_at(error)),
    ),
    "interrupt": (
        KeyboardInterrupt(),
        lambda source, made, sinks, error: run(source, made, sinks, progress=raise_at(error)),
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failure_reaches_the_caller_and_leaves_complete_outputs(name: str, tmp_path: Path) -> None:
    error, fail = FAILURES[name]
    source, made, recorder = Squares(), pipeline(), Recorder()
    sinks = [
        recorder,
        MaskVideo(tmp_path / "masks.mkv"),
        OverlayVideo(tmp_path / "overlay.mp4"),
        PngSequence(tmp_path / "bins"),
        BackgroundImage(tmp_path / "background.png", lambda: square_frame(0)),
        SavedModel(tmp_path / "model.npz", lambda path: path.write_bytes(b"model")),
        StatsCsv(tmp_path / "stats.csv"),
    ]
    with pytest.raises(type(error)) as caught:
        fail(source, made, sinks, error)
    assert caught.value is error
    assert recorder.closed == 1
    assert recorder.indices == list(range(BROKEN))
    assert source.closed >= 1 or name == "source"
    for video in ("masks.mkv", "overlay.mp4"):
        with open_source(tmp_path / video) as written:
            assert len(list(written)) == BROKEN
    assert len(list((tmp_path / "bins").iterdir())) == BROKEN
    assert len((tmp_path / "stats.csv").read_text().splitlines()) == BROKEN + 1
    assert (tmp_path / "background.png").is_file()
    assert (tmp_path / "model.npz").is_file()


def test_sink_that_fails_to_close_does_not_keep_the_others_open() -> None:
    class Stuck(Recorder):
        def close(self) -> None:
            raise SinkError("full at the end")

    before, after = Recorder(), Recorder()
    with pytest.raises(SinkError, match="full at the end"):
        run(Squares(), pipeline(), [before, Stuck(), after])
    assert (before.closed, after.closed) == (1, 1)
