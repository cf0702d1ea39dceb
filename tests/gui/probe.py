"""The only place where the viewer's tests look behind its public interface."""

from collections.abc import Callable

from bgsub.gui.engine.engine import Engine
from bgsub.gui.panes.registry import _panes
from bgsub.gui.session import Session


def engine_of(session: Session) -> Engine:
    """The engine on the worker's thread; reading numbers of it is safe."""
    return session._worker.engine


def post(session: Session, command: Callable[[Engine], object]) -> None:
    """Let the worker call something, as the session's own commands do."""
    session._post(command)


def count_wake_ups(session: Session) -> list[int]:
    """A list that grows with every wake-up of the window's thread."""
    wake_ups: list[int] = []
    session._ready.connect(lambda: wake_ups.append(1))
    return wake_ups


def let_worker_run(session: Session, seconds: float) -> None:
    """Wait while no event is processed."""
    session._worker._thread.join(seconds)


PANES = _panes
"""The registry, for tests that register panes or change labels and put everything back."""
