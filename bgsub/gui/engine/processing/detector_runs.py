"""The main detector and the one compared with it, on the same frames."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bgsub.config import Config
from bgsub.detectors.base import Detector
from bgsub.errors import BgsubError
from bgsub.evaluation import count_pixels, scored_pixels
from bgsub.frames import Frame, Mask, Packet, Result
from bgsub.gui.engine.notices import Notices
from bgsub.gui.engine.processing.detector_run import DetectorRun, RunState
from bgsub.gui.engine.tuning.candidates import differences
from bgsub.gui.messages import DetectorRunView, Settings
from bgsub.gui.painted_truth import Truth
from bgsub.gui.panes import Needs, Side
from bgsub.roi import Region

__all__ = ["DetectorRuns"]

_NAMED = 2  # values in the names of two runs of the same detector


class DetectorRuns:
    """The main detector and, while two are compared, the second one, both on the same frames.

    Parameters
    ----------
    settings : Settings
        Initial settings.
    notices : Notices
        Reports what a detector cannot do.
    """

    def __init__(self, settings: Settings, notices: Notices) -> None:
        self._notices = notices
        self._runs = [DetectorRun(config) for config in (settings.config, settings.other) if config is not None]

    def __iter__(self) -> Iterator[DetectorRun]:
        return iter(self._runs)

    @property
    def main(self) -> DetectorRun:
        """The main detector, A."""
        return self._runs[Side.A]

    @property
    def second(self) -> DetectorRun | None:
        """The detector compared with it, B."""
        return self._runs[Side.B] if len(self._runs) > 1 else None

    @property
    def detectors(self) -> list[Detector]:
        """The models, A first."""
        return [run.detector for run in self._runs]

    def configure(self, settings: Settings, rate_hz: float | None) -> None:
        """Use other configurations; values that do not go together are reported and not used."""
        try:
            self.main.configure(settings.config)
            if settings.other is None:
                del self._runs[1:]
            elif self.second is None:
                self._runs.append(DetectorRun(settings.other, rate_hz))
            else:
                self.second.configure(settings.other)
        except (BgsubError, ValueError) as error:
            self._notices.error(error)

    def restart(self, rate_hz: float | None) -> None:
        """Begin with new models for a new source; a model that was just loaded stays."""
        self._runs = [run if run.is_loaded else DetectorRun(run.config, rate_hz) for run in self._runs]

    @property
    def can_be_kept(self) -> bool:
        """Whether all models can be copied."""
        return all(detector.can_save for detector in self.detectors)

    def states(self) -> tuple[RunState, ...]:
        """Return copies of all runs."""
        return tuple(run.state() for run in self._runs)

    def restore(self, states: Sequence[RunState], rate_hz: float | None, *, but: Collection[int] = ()) -> None:
        """Return to a state of all runs, but those at some indices."""
        del self._runs[len(states) :]
        while len(self._runs) < len(states):
            self._runs.append(DetectorRun(states[len(self._runs)].config, rate_hz))
        for index, (run, state) in enumerate(zip(self._runs, states, strict=True)):
            if index not in but:
                run.restore(state)

    def are_copied(self, states: Sequence[RunState]) -> bool:
        """Whether `restore` has all its copies."""
        return all(run.is_copied(state) for run, state in zip(self._runs, states, strict=False))

    def copy_ahead(self, states: Sequence[RunState]) -> None:
        """Make the copies that `restore` needs, while nothing else is to be done."""
        for run, state in zip(self._runs, states, strict=False):
            run.copy_ahead(state)

    def load(self, path: Path, frame: Frame | None) -> Config | None:
        """Continue with a saved model as A, and return its configuration; None if it cannot be used."""
        try:
            return self.main.load(path, frame)
        except (BgsubError, ValueError) as error:
            self._notices.error(error)
            return None

    def reset(self) -> None:
        """Forget all models."""
        for run in self._runs:
            run.reset()

    def restart_counts(self) -> None:
        """Count right and wrong pixels from zero."""
        for run in self._runs:
            run.restart_counts()

    def prepare(self, frame: Frame, region: Region | None) -> None:
        """Renew models that learned frames of another size or type, and confine all to the region."""
        for run in self._runs:
            learned = run.detector.shape, run.detector.dtype
            if run.detector.shape is not None and learned != (frame.shape, frame.dtype):
                run.reset()
                self._notices.warn(
                    f"The frames are {frame.shape[1]}x{frame.shape[0]} now: {run.detector.name} learns a new model."
                )
        try:
            for run in self._runs:
                run.confine(region, (frame.shape[0], frame.shape[1]))
        except (BgsubError, ValueError) as error:
            self._notices.refuse(error, region)

    def step(self, packet: Packet, settings: Settings, known: Mapping[int, Result], *, score: bool) -> list[Result]:
        """Process one frame with each detector whose result is not known, with scores for panes that need them.

        With `score`, something else needs that of the main detector.
        """
        return [
            known[side]
            if side in known
            else run.step(
                packet,
                frozen=settings.frozen,
                want_score=_is_needed(Needs.SCORE, side, settings) or (score and run is self.main),
                want_stages=_is_needed(Needs.STAGES, side, settings),
            )
            for side, run in enumerate(self._runs)
        ]

    def learn(self, packet: Packet, settings: Settings) -> None:
        """Let each detector learn one frame."""
        self.prepare(packet.frame, settings.region)
        for run in self._runs:
            run.learn(packet)

    def restart_pipelines(self) -> None:
        """Begin with the first frame again, and keep the models."""
        for run in self._runs:
            run.restart_pipeline()

    def compare(self, results: list[Result], truth: Truth | None) -> Mask | None:
        """Compare the masks of a frame with its labels, (H, W) uint8, and return these, if there are any."""
        found = self._read_truth(results[0], truth)
        selected = None if found is None else scored_pixels(*found)
        for run, result in zip(self._runs, results, strict=False):
            run.frame_counts = None if selected is None else count_pixels(result.mask, *selected)
        return None if found is None else found[0]

    def count(self, results: list[Result], truth: Truth | None, known: Collection[int] = ()) -> Mask | None:
        """Compare masks as `compare` does, and add to the counts so far, but to those of the runs at some indices."""
        labels = self.compare(results, truth)
        for index, run in enumerate(self._runs):
            if index not in known:
                run.count()
        return labels

    def _read_truth(self, result: Result, truth: Truth | None) -> tuple[Mask, Mask | None] | None:
        """Return labels and region of a frame, both (H, W) uint8, if there are any."""
        if truth is None:
            return None
        height, width = result.mask.shape
        try:
            return truth.read(result.packet.number, (height, width))
        except BgsubError as error:
            self._notices.refuse(error, truth)
            return None

    def peek(self, packet: Packet) -> list[Result]:
        """Judge one frame by the models as they are, without learning."""
        return [run.peek(packet) for run in self._runs]

    def views(self, results: list[Result], *, scored: bool) -> tuple[DetectorRunView, ...]:
        """Return summaries for the window."""
        views = [run.view(result, scored=scored) for run, result in zip(self._runs, results, strict=False)]
        return tuple(replace(view, name=name) for view, name in zip(views, self._names(), strict=False))

    def _names(self) -> list[str]:
        """Return what the runs are called: by their detectors, and two of the same one by what differs."""
        names = [run.detector.name for run in self._runs]
        if self.second is None or names[0] != names[1]:
            return names
        found = differences(self.main.config, self.second.config)[:_NAMED]
        for name, *values in found:
            names = [f"{known} {name.lstrip('.')} {value}" for known, value in zip(names, values, strict=True)]
        return names


def _is_needed(need: Needs, side: int, settings: Settings) -> bool:
    """Return whether something shown needs this of the detector on a side."""
    if need is Needs.STAGES and side == Side.A and settings.pinned_pixels:
        return True
    return any(pane.side == side and need in pane.needs for pane in settings.panes)
