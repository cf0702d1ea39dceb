"""What the window shows while nothing is open: where to begin."""

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

__all__ = ["StartPage"]

_STEPS = (
    ("1", "Open a video, a folder of images, a camera or a stream; or drop a file here."),
    ("2", "Pause where something is wrong, and click the pixel: the inspector says which step decided."),
    ("3", "Change a setting: the frame is processed again at once."),
    ("4", "Save the settings for bgsub run, or the whole session."),
)


class StartPage(QWidget):
    """Offers sources, the last session, an example and the guide."""

    def __init__(self) -> None:
        super().__init__()
        title = QLabel("What moves, and why?")
        font = title.font()
        font.setPointSizeF(font.pointSizeF() * 1.6)
        title.setFont(font)
        self.open_file = QPushButton("Open a video…")
        self.open_file.setToolTip("Open a file (Ctrl+O)")
        self.open_folder = QPushButton("Open a folder…")
        self.open_folder.setToolTip("Open a folder of images (Ctrl+Shift+O)")
        self.open_address = QPushButton("Open an address…")
        self.open_address.setToolTip("Open a stream by its address (Ctrl+L); cameras are in the tool bar")
        self.example = QPushButton("Try the example")
        self.example.setToolTip("Open a generated scene with people, a tree and water")
        self.resume = QPushButton("Continue the last session")
        self.resume.setToolTip("Return to the frame and the settings at which the viewer was closed (Ctrl+Shift+R)")
        self.guide = QPushButton("How to tune")
        self.guide.setToolTip("Read the guide to tuning")
        buttons = QGridLayout()
        for index, button in enumerate(
            (self.open_file, self.resume, self.open_folder, self.example, self.open_address, self.guide)
        ):
            buttons.addWidget(button, index // 2, index % 2)
        steps = QGridLayout()
        steps.setHorizontalSpacing(10)
        steps.setColumnStretch(1, 1)
        for row, (number, text) in enumerate(_STEPS):
            label = QLabel(text)
            label.setWordWrap(True)
            steps.addWidget(QLabel(f"<b>{number}</b>"), row, 0, Qt.AlignmentFlag.AlignTop)
            steps.addWidget(label, row, 1)
        inside = QVBoxLayout()
        inside.addWidget(title)
        inside.addSpacing(10)
        inside.addLayout(steps)
        inside.addSpacing(14)
        inside.addLayout(buttons)
        column = QWidget()
        column.setLayout(inside)
        column.setMaximumWidth(620)
        across = QHBoxLayout()  # not aligned, since only then a layout asks labels for their height
        across.addStretch(1)
        across.addWidget(column, 8)
        across.addStretch(1)
        layout = QVBoxLayout(self)
        layout.addStretch(2)
        layout.addLayout(across)
        layout.addStretch(3)
