"""Dialogs of the help menu: the guide to tuning, and about the program."""

import platform
from importlib.metadata import PackageNotFoundError, metadata
from importlib.resources import as_file, files

from PyQt6.QtCore import PYQT_VERSION_STR, QT_VERSION_STR, Qt
from PyQt6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QTextBrowser, QVBoxLayout, QWidget

from bgsub import __version__
from bgsub._opencv import cv2

__all__ = ["AboutDialog", "GuideDialog", "licences"]

_PACKAGES = ("numpy", "numba", "opencv-python-headless", "opencv-python", "av", "PyQt6", "pyqtgraph", "scikit-learn")


def licences() -> list[tuple[str, str, str]]:
    """Return name, version and licence of the packages that the viewer uses, as they state them."""
    found = []
    for name in _PACKAGES:
        try:
            stated = metadata(name)
        except PackageNotFoundError:
            continue
        found.append((name, stated["Version"], _licence(stated)))
    return found


def _licence(stated: object) -> str:
    get = stated.get  # type: ignore[attr-defined]
    expression = get("License-Expression") or ""
    classifiers = [
        line.rpartition("::")[2].strip()
        for line in stated.get_all("Classifier") or []  # type: ignore[attr-defined]
        if line.startswith("License")
    ]
    text = str(expression or "; ".join(dict.fromkeys(classifiers)) or get("License") or "not stated")
    return text.strip().splitlines()[0][:80]


class GuideDialog(QDialog):
    """Shows the guide to tuning, with its pictures."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("How to tune a detector")
        self.page = QTextBrowser()
        self.page.setOpenExternalLinks(True)
        guide = files("bgsub.gui.help") / "guide.md"
        with as_file(guide) as path:
            self.page.setSearchPaths([str(path.parent)])
            self.page.setMarkdown(path.read_text(encoding="utf-8"))
        _fill(self, self.page)
        self.resize(760, 680)


class AboutDialog(QDialog):
    """Names versions and licences, which a report of a defect should state."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("About bgsub")
        rows = [
            ("bgsub", __version__, "MIT; together with PyQt6 under the GPL 3"),
            ("Python", platform.python_version(), "PSF-2.0"),
            ("Qt", QT_VERSION_STR, "LGPL-3.0 or GPL"),
            *licences(),
        ]
        cells = "".join(f"<tr><td><b>{name}</b></td><td>{one}</td><td>{text}</td></tr>" for name, one, text in rows)
        self.label = QLabel(
            f"<p>Finds what moves in front of a background that changes.</p><table cellspacing=6>{cells}</table>"
            f"<p>OpenCV {cv2.__version__}, PyQt {PYQT_VERSION_STR}, {platform.platform()}</p>"
        )
        self.label.setTextFormat(Qt.TextFormat.RichText)
        self.label.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        _fill(self, self.label)


def _fill(dialog: QDialog, content: QWidget) -> None:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.close)
    layout = QVBoxLayout(dialog)
    layout.addWidget(content, 1)
    layout.addWidget(buttons)
