"""The picture of an event whose frames are no longer kept."""

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtGui import QPixmap
from PyQt6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QVBoxLayout, QWidget

__all__ = ["MomentDialog"]

_SHOWN = QSize(960, 720)


class MomentDialog(QDialog):
    """Shows the picture of an event, enlarged, with what it is.

    Parameters
    ----------
    parent : QWidget
        Above which it is shown.
    title : str
        When the event was.
    picture : bytes, optional
        JPEG of its peak, with boxes round the objects.
    """

    def __init__(self, parent: QWidget, title: str, picture: bytes | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.text = QLabel(
            "The frames of this event are no longer kept. This is its peak, with boxes round the objects."
            if picture
            else "Neither the frames of this event nor a picture of it are kept any more."
        )
        self.text.setWordWrap(True)
        self.image = QLabel()
        self.image.setAccessibleName(f"Picture of the event at {title}")
        pixmap = QPixmap()
        if picture is not None and pixmap.loadFromData(picture, "JPEG"):
            keep, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            self.image.setPixmap(pixmap.scaled(_SHOWN, keep, smooth))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(self.image, 1)
        layout.addWidget(self.text)
        layout.addWidget(buttons)
