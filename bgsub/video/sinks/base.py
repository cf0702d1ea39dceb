"""The base class of all sinks, and how a sink becomes an option of the command line."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Protocol, Self

from bgsub.frames import Frame, Result

if TYPE_CHECKING:  # it is compiled code, for which help must not wait
    from bgsub.objects import ObjectFinder

__all__ = ["Model", "ModelCopy", "RunContext", "Sink", "SinkOption", "SinkSetting", "model_of"]


class ModelCopy(Protocol):
    """A copy of a detector's model, which later frames leave as it is."""

    def save(self, path: Path) -> None:
        """Write it to a file."""


class Model(Protocol):
    """The part of a detector that sinks need."""

    @property
    def name(self) -> str:
        """Name of the detector."""

    @property
    def can_save(self) -> bool:
        """Whether `save` is possible at all."""

    def background_image(self) -> Frame:
        """Return the most likely background, of the frames' shape and dtype."""

    def save(self, path: Path) -> None:
        """Write the whole model to a file."""

    def snapshot(self) -> ModelCopy:
        """Return a copy of the whole model."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """The run whose results a sink will get."""

    rate_hz: float = 25.0
    """Nominal frame rate of the source."""
    force: bool = False
    """Whether existing outputs may be overwritten."""
    model: Model | None = None
    """The detector; None where there is none, as when results are replayed."""
    save_interval_s: float = 0.0
    """Seconds between two saves of the model while the run goes on; 0 for only at the end."""
    objects: "ObjectFinder | None" = None
    """What finds the objects of the run; None for all objects, with no limits."""


@dataclass(frozen=True, slots=True)
class SinkSetting:
    """A setting of a sink beside its path: text, one of some choices."""

    name: str
    """Name of the keyword argument, and of the option behind that of the sink: ``style`` of ``--overlay-style``."""
    choices: tuple[str, ...]
    default: str
    help: str = ""
    """One line for the command line."""


@dataclass(frozen=True, slots=True)
class SinkOption:
    """An option of `bgsub run`, whose value is the path to write to. Several sinks may share one."""

    name: str
    """Its name without dashes in front, such as ``save-model``."""
    help: str
    """Description of the output, without a full stop; those of sinks that share the option are joined by "or"."""
    short: str = ""
    """A short name, such as ``-o``."""
    example: str = ""
    """Example of its use for messages; ``--name`` if empty."""
    settings: tuple[SinkSetting, ...] = ()

    @property
    def usage(self) -> str:
        """The option as a message proposes it."""
        return self.example or f"--{self.name}"


class Sink(ABC):
    """An output that receives results one by one.

    A sink creates nothing before its first result, and its output stays readable whatever happens: it is closed
    after an error too.

    For the command line and the viewer to offer it, a subclass also provides `option`, `suffixes` or `accepts`, and
    `from_path` if its constructor needs more than the path and `force`. It is registered by one line in
    `bgsub/video/sinks/registry.py`, or by another package as an entry point of the group `bgsub.sinks`.
    """

    any_thread: ClassVar[bool] = False
    """Whether a run may call `write` on another thread than its caller's, never two at once."""
    needs_model: ClassVar[bool] = False
    """Whether it writes the state of the detector, and not only the results it receives."""
    wants_score: ClassVar[bool] = False
    """Whether it uses the scores of results, which a run computes only for those who do."""
    continuous: ClassVar[bool] = False
    """Whether it plays in time, as a video does: a recorder gives it times without jumps when the user seeks."""
    option: ClassVar[SinkOption | None] = None
    """The option of `bgsub run` that makes it."""
    suffixes: ClassVar[tuple[str, ...]] = ()
    """Endings of the file names that it writes, the usual one first; empty for a folder."""

    @classmethod
    def accepts(cls, path: Path) -> bool:
        """Return whether this sink can write to such a path; by default whether it has one of the suffixes."""
        return path.suffix.lower() in cls.suffixes

    @classmethod
    def from_path(cls, path: Path, run: RunContext, **settings: str) -> "Sink":
        """Make the sink for a run; by default the constructor gets path, `force` and the settings of its option.

        Raises
        ------
        SinkError
            If the output exists or cannot be written.
        UnsupportedError
            If the detector of the run cannot provide the contents.
        """
        return cls(path, force=run.force, **settings)  # type: ignore[call-arg]

    @abstractmethod
    def write(self, result: Result) -> None:
        """Write one result.

        Raises
        ------
        SinkError
            If it cannot be written; the part before stays readable.
        """

    def close(self) -> None:  # noqa: B027 - a sink may have nothing to finish
        """Finish the output. Closing twice is allowed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def model_of(run: RunContext) -> Model:
    """Return the detector of a run, for a sink that needs it.

    Raises
    ------
    ValueError
        If the run has none.
    """
    if run.model is None:
        raise ValueError("run must have a model for a sink that writes its state, got None")
    return run.model
