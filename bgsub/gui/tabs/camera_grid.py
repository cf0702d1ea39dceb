"""All cameras of a watch at once, each with its name and state; a click opens one with all its panels."""

import math
from pathlib import Path

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from bgsub.gui.panes import OVERLAY
from bgsub.gui.tabs.camera_sessions import CameraSession, CameraSessions
from bgsub.gui.widgets.images.frame_view import FrameView
from bgsub.gui.widgets.images.viewport import Viewport
from bgsub.gui.widgets.theme import Theme

__all__ = ["CameraGrid", "CameraTile"]

_LEAST_TILE = QSize(200, 150)
_USUAL_ASPECT = 16 / 9
_HEAD_PX = 30


class CameraTile(QFrame):
    """The image of one camera under its name and state.

    Parameters
    ----------
    camera : CameraSession
        What is shown.
    theme : Theme
        Colours.
    """

    chosen = pyqtSignal()
    """The user wants to see this camera alone."""

    def __init__(self, camera: CameraSession, theme: Theme) -> None:
        super().__init__()
        self._camera, self._theme = camera, theme
        self.name = QPushButton(camera.name)
        self.name.setToolTip(f"Show {camera.name} with all panels")
        self.name.clicked.connect(self.chosen)
        self.state = QLabel()
        self.state.setTextFormat(Qt.TextFormat.PlainText)
        self.state.setMinimumWidth(1)
        self.view = FrameView(Viewport())
        self.view.show_pane(OVERLAY)
        self.view.setAccessibleName(f"Image of {camera.name}")
        self.view.set_usage("Return shows this camera with all panels")
        self.view.clicked.connect(self.chosen)
        head = QHBoxLayout()
        head.addWidget(self.name)
        head.addWidget(self.state, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2, 2, 2, 2)
        layout.setSpacing(2)
        layout.addLayout(head)
        layout.addWidget(self.view, 1)
        camera.changed.connect(self.show_camera)
        theme.changed.connect(self._paint)
        self._paint()
        self.show_camera()

    def show_camera(self) -> None:
        """Show the latest image and state."""
        camera = self._camera
        state, trouble = camera.state, camera.trouble
        if state != self.state.text():
            self.state.setText(state)
            self.state.setToolTip(state)
            self._colour_state(wrong=bool(trouble))
        self.view.show_image(camera.image, state)
        self.view.show_captions(("no signal: the last image",) if trouble and camera.image is not None else ())

    def _colour_state(self, *, wrong: bool) -> None:
        style = self.state.style()
        if style is not None and wrong != bool(self.state.property("wrong")):
            self.state.setProperty("wrong", wrong)
            style.unpolish(self.state)  # else the style sheet does not see another value
            style.polish(self.state)

    def _paint(self) -> None:
        self.view.set_canvas(self._theme.colours.canvas)


class CameraGrid(QScrollArea):
    """Shows all cameras, in as many columns as give the largest images.

    Parameters
    ----------
    path : Path
        Their file.
    cameras : CameraSessions
        What is shown.
    theme : Theme
        Colours.
    """

    chosen = pyqtSignal(int)
    """The user wants to see the camera of this index alone."""

    def __init__(self, path: Path, cameras: CameraSessions, theme: Theme) -> None:
        super().__init__()
        self.path, self.cameras = path, cameras
        self.tiles = [CameraTile(camera, theme) for camera in cameras]
        self._columns = 0
        inside = QWidget()
        self._grid = QGridLayout(inside)
        self._grid.setContentsMargins(6, 6, 6, 6)
        self._grid.setSpacing(6)
        for index, tile in enumerate(self.tiles):
            tile.setMinimumSize(_LEAST_TILE)
            tile.chosen.connect(lambda index=index: self.chosen.emit(index))
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._place(self._best_columns())

    @property
    def columns(self) -> int:
        """Cameras in a row."""
        return self._columns

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        super().resizeEvent(a0)
        self._place(self._best_columns())

    def leave(self) -> None:
        """Make no images while another tab is shown."""
        for camera in self.cameras:
            camera.session.change(panes=())

    def enter(self) -> None:
        """Make images again."""
        for camera in self.cameras:
            camera.session.change(panes=(OVERLAY,))

    def _best_columns(self) -> int:
        """Return the number of columns with the largest images that need no more width than there is."""
        count, width, height = len(self.tiles), max(1, self.width()), max(1, self.height())
        widest = max(1, min(count, width // _LEAST_TILE.width()))

        def image_width(columns: int) -> float:
            rows = math.ceil(count / columns)
            return min(width / columns, max(1, height / rows - _HEAD_PX) * _USUAL_ASPECT)

        return max(range(1, widest + 1), key=image_width)

    def _place(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        for tile in self.tiles:
            self._grid.removeWidget(tile)
        rows = math.ceil(len(self.tiles) / columns)
        for index, tile in enumerate(self.tiles):
            self._grid.addWidget(tile, index // columns, index % columns)
        for line in range(len(self.tiles)):
            self._grid.setColumnStretch(line, 1 if line < columns else 0)
            self._grid.setRowStretch(line, 1 if line < rows else 0)
