"""What the user asks of the worker, as calls that return at once."""

from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QObject

from bgsub.frames import Frame
from bgsub.gui.engine.processing.budget import Budget
from bgsub.gui.engine.recorder import Outputs
from bgsub.gui.messages import View

__all__ = ["SessionCommands"]


class SessionCommands(QObject):
    """Commands to play, step, learn and write; the worker obeys them between two frames."""

    @property
    @abstractmethod
    def view(self) -> View:
        """Latest view."""

    @abstractmethod
    def _post(self, command: Callable[[Any], None]) -> None:
        """Let the worker call something with its engine."""

    def toggle(self) -> None:
        """Play or pause."""
        if self.view.playing:
            self.pause()
        else:
            self.play()

    def play(self) -> None:
        """Let frames follow each other."""
        self._post(lambda engine: engine.play())

    def pause(self) -> None:
        """Hold the image."""
        self._post(lambda engine: engine.pause())

    def step(self, frames: int = 1) -> None:
        """Go one frame forward (1) or back (-1), and pause."""
        self._post(lambda engine: engine.step(frames))

    def seek(self, index: int) -> None:
        """Go to a 0-based frame index in a file."""
        self._post(lambda engine: engine.seek(index))

    def show_moment(self, elapsed_s: float) -> None:
        """Hold what a live source showed at a time since its first frame; `moment` reports whether it is kept."""
        self._post(lambda engine: engine.show_moment(elapsed_s))

    def rerun(self, back_s: float) -> None:
        """Process the last seconds up to the frame shown again with the present settings; 0 for this frame alone.

        The models return to where they were before, and what was detected later is forgotten.
        """
        self._post(lambda engine: engine.rerun(back_s))

    def learn_first(self) -> None:
        """Learn from all of a file, or of the part that is repeated, and begin again with that model."""
        self._post(lambda engine: engine.learn_first())

    def use_budget(self, budget: Budget) -> None:
        """Keep less of past frames from now on, or more."""
        self._post(lambda engine: engine.work.use_budget(budget))

    def reset(self) -> None:
        """Forget the models."""
        self._post(lambda engine: engine.reset())

    def restart_counts(self) -> None:
        """Count right and wrong pixels from zero."""
        self._post(lambda engine: engine.restart_counts())

    def restart_objects(self) -> None:
        """Count objects from zero."""
        self._post(lambda engine: engine.restart_objects())

    def load_model(self, path: str | Path) -> None:
        """Continue with a saved model."""
        self._post(lambda engine: engine.load_model(Path(path)))

    def save_model(self, path: str | Path) -> None:
        """Save the model in its state after the present frame."""
        self._post(lambda engine: engine.save_model(Path(path)))

    def record(self, outputs: Outputs) -> None:
        """Begin to record."""
        self._post(lambda engine: engine.record(outputs))

    def stop_recording(self) -> None:
        """Finish the files being recorded."""
        self._post(lambda engine: engine.stop_recording())

    def save_image(self, path: str | Path, image: Frame) -> None:
        """Write one image as PNG."""
        self._post(lambda engine: engine.recorder.save_images({Path(path): image}))

    def save_panes(self, folder: str | Path, name: str) -> None:
        """Write the image of each pane as PNG, named after the id of the pane."""
        images = {Path(folder) / f"{name}-{pane.id}.png": image for pane, image in self.view.images.items()}
        if images:
            self._post(lambda engine: engine.recorder.save_images(images))

    def export(self, path: str | Path) -> None:
        """Write the statistics of the frames so far as a table."""
        self._post(lambda engine: engine.recorder.export(engine.history, Path(path)))
