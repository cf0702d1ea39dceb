"""The cameras of a watch as sessions that go on side by side; no widgets."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from bgsub.frames import Frame
from bgsub.gui.engine.cameras import WatchedCamera
from bgsub.gui.engine.processing.budget import Budget
from bgsub.gui.messages import Level, Notice
from bgsub.gui.panes import OVERLAY
from bgsub.gui.session import Session
from bgsub.gui.workspace import Workspace

__all__ = ["CameraSession", "CameraSessions"]

_KEPT = ("config", "other", "frozen", "region", "sampling", "counting", "pinned_pixels", "truth")
"""Settings that a session file keeps if they are not those of the camera's file."""
_FIRST_PAUSE_MS, _LONGEST_PAUSE_MS = 1000, 30_000


class CameraSession(QObject):
    """One camera: opened again whenever it is lost, without an effect on any other.

    Parameters
    ----------
    camera : WatchedCamera
        What to show.
    budget : Budget
        Memory for past frames.
    saved : Workspace, optional
        Settings of a session file, which take the place of those of the camera.
    """

    changed = pyqtSignal()
    """There is another image or state."""

    def __init__(self, camera: WatchedCamera, budget: Budget, saved: Workspace | None = None) -> None:
        super().__init__()
        self.camera, self._saved = camera, saved
        own = camera.settings
        settings = own if saved is None else replace(saved.settings, event_search=own.event_search)
        self.session = Session(camera.opener, settings, budget)
        """Shows the camera; closed by `CameraSessions`."""
        self._failure = ""
        self._is_fitted = False
        self._pause_ms = _FIRST_PAUSE_MS
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.session.retry)
        self.session.mark_saved()
        self.session.opened.connect(self._fit)
        self.session.noticed.connect(self._note)
        self.session.viewed.connect(self.changed)
        self.session.change(panes=(OVERLAY,))

    @property
    def name(self) -> str:
        """Name of the camera in its file."""
        return self.camera.name

    @property
    def image(self) -> Frame | None:
        """Latest image with its foreground, (H, W, 3) BGR or (H, W) grey uint8; None before the first."""
        return self.session.view.images.get(OVERLAY)

    @property
    def trouble(self) -> str:
        """Why the camera delivers nothing; empty if it does."""
        return self._failure or self.session.view.trouble or ""

    @property
    def state(self) -> str:
        """What the camera does, in a few words."""
        view = self.session.view
        if self.trouble:
            again = "; it is tried again" if self.camera.may_return else ""
            return f"no signal: {self.trouble}{again}"
        if view.opening or not view.serial:
            return "opening…"
        if not view.runs:
            return "preparing…"
        if not view.playing:
            return "paused"
        moves = view.live is not None and view.live.active
        where = ", ".join(filter(None, view.live.active)) if view.live is not None else ""
        return f"{view.rate_hz:.0f} frames/s" + (f", moves{': ' if where else ''}{where}" if moves else "")

    @property
    def workspace(self) -> Workspace:
        """What a session file holds of it: settings, but neither source nor password."""
        return Workspace(settings=self.session.settings)

    @property
    def is_changed(self) -> bool:
        """Whether its settings differ from those of its file."""
        if not self._is_fitted:
            return self._saved is not None
        own = self.camera.fitted(self.camera.settings, self.session.scale)
        return any(getattr(own, name) != getattr(self.session.settings, name) for name in _KEPT)

    def open(self) -> None:
        """Open the camera."""
        self.session.open(self.camera.source)

    def stop_retrying(self) -> None:
        """Leave the camera as it is."""
        self._timer.stop()

    def _fit(self) -> None:
        """Use the regions of the file once the size of the frames is known; later changes of them stay."""
        self._failure, self._pause_ms = "", _FIRST_PAUSE_MS
        if not self._is_fitted:
            self._is_fitted = True
            self.session.attempt(self._use_regions)
        self.changed.emit()

    def _use_regions(self) -> None:
        fitted = self.camera.fitted(self.session.settings, self.session.scale)
        region = fitted.region if self._saved is None else self.session.settings.region
        self.session.change(region=region, event_search=fitted.event_search)
        self.session.mark_saved()

    def _note(self, notice: Notice) -> None:
        if notice.level is not Level.ERROR or not notice.can_retry:
            return
        self._failure = notice.text
        if self.camera.may_return:
            self._timer.start(self._pause_ms)
            self._pause_ms = min(2 * self._pause_ms, _LONGEST_PAUSE_MS)
        self.changed.emit()


class CameraSessions:
    """All cameras of a watch, which share the memory that one source has.

    Parameters
    ----------
    cameras : sequence of WatchedCamera
        What to show.
    budget : Budget, optional
        Memory for past frames of all of them together.
    saved : mapping of str to Workspace, optional
        Settings of a session file for some of them, by name.
    """

    def __init__(
        self,
        cameras: Sequence[WatchedCamera],
        budget: Budget | None = None,
        saved: Mapping[str, Workspace] = MappingProxyType({}),
    ) -> None:
        share = (budget or Budget()).shared(len(cameras))
        self._sessions = [CameraSession(camera, share, saved.get(camera.name)) for camera in cameras]

    def __iter__(self) -> Iterator[CameraSession]:
        return iter(self._sessions)

    def __len__(self) -> int:
        return len(self._sessions)

    def use_budget(self, budget: Budget) -> None:
        """Keep less of past frames from now on, or more: all cameras together as much as this."""
        for one in self._sessions:
            one.session.use_budget(budget.shared(len(self._sessions)))

    def open(self) -> None:
        """Open all cameras."""
        for one in self._sessions:
            one.open()

    @property
    def unsaved(self) -> list[CameraSession]:
        """The cameras whose settings were changed and not saved."""
        return [one for one in self._sessions if one.session.has_unsaved_tuning]

    def close(self) -> None:
        """Close all cameras and join their threads: all are asked to end before any is waited for."""
        for one in self._sessions:
            one.stop_retrying()
            one.session.ask_to_close()
        for one in self._sessions:
            one.session.close()
