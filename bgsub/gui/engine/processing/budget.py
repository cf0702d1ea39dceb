"""Memory for what is kept of past frames."""

from dataclasses import dataclass, replace

__all__ = ["FRAME_BYTES", "RESULT_BYTES", "SNAPSHOT_BYTES", "Budget"]

RESULT_BYTES, SNAPSHOT_BYTES, FRAME_BYTES = 64 * 2**20, 160 * 2**20, 64 * 2**20
"""Memory for past masks, for copies of models (or two of them, where one is larger) and for frames."""

_SNAPSHOT_INTERVAL_S = 4.0


@dataclass(frozen=True, slots=True)
class Budget:
    """Memory for what is kept of past frames."""

    results: int = RESULT_BYTES
    snapshots: int = SNAPSHOT_BYTES
    frames: int = FRAME_BYTES
    snapshot_interval_s: float = _SNAPSHOT_INTERVAL_S
    least_snapshots: int = 2
    """Copies of models that are kept even if they are larger."""

    def shared(self, sources: int) -> "Budget":
        """Return the memory of each of several sources, which have as much as one all together.

        Examples
        --------
        >>> Budget(frames=100).shared(4).frames
        25
        """
        if sources <= 1:
            return self
        return replace(
            self,
            results=self.results // sources,
            snapshots=self.snapshots // sources,
            frames=self.frames // sources,
            least_snapshots=0,
        )
