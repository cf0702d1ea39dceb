"""Evaluate a whole pipeline, post-processing included."""

from bgsub.frames import Frame, Mask, Packet, Score
from bgsub.pipeline import Pipeline

__all__ = ["PipelineModel"]


class PipelineModel:
    """A pipeline as a model for `evaluate`: frames in, final masks out.

    Parameters
    ----------
    pipeline : Pipeline
        The steps applied to each frame.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._frames = 0

    def apply(self, image: Frame) -> Mask:
        """Return the final mask, (H, W) uint8, of the next frame."""
        packet = Packet(self._frames, float(self._frames), image, self._frames + 1)
        self._frames += 1
        return self._pipeline.step(packet).mask

    def score(self, image: Frame) -> Score:
        """Return the detector's score, (H, W) float32, without learning."""
        return self._pipeline.detector.score(image)

    @property
    def memory_bytes(self) -> int | None:
        """Size of the model's state; None where it is unknown."""
        return self._pipeline.detector.memory_bytes
