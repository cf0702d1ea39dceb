"""The detector: which one, its parameters, its learning, what is done to its masks, presets and the command line."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QSignalBlocker, Qt, pyqtSignal
from PyQt6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QGridLayout,
    QGroupBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from bgsub.config import Config
from bgsub.detectors import DETECTORS, detector_class
from bgsub.gui.messages import Level
from bgsub.gui.panels.parameter_form import ParameterForm
from bgsub.gui.panels.presets import load_preset, save_preset
from bgsub.gui.session import Session
from bgsub.postprocess import RAW

__all__ = ["ConfigEditor", "DetectorPanel"]


class ConfigEditor(QWidget):
    """Edits one `Config`: the detector with its parameters and its post-processing."""

    changed = pyqtSignal(object)
    """The person made another `Config`."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self._config = config
        self._rate_hz: float | None = None
        self.detector = QComboBox()
        self.detector.addItems(list(DETECTORS))
        self.detector.setToolTip("Which detector; another one begins with a new model")
        self.summary = QLabel()
        self.summary.setWordWrap(True)
        self.summary.setProperty("faint", True)
        self.form = ParameterForm()
        self.wrong = QLabel()
        self.wrong.setWordWrap(True)
        self.wrong.setProperty("wrong", True)
        self.wrong.hide()
        self.usual = QPushButton("Defaults")
        self.usual.setToolTip("Set every parameter and the post-processing back to what suits the detector")
        self.median = QSpinBox()
        self.median.setRange(1, 999)
        self.median.setSingleStep(2)
        self.median.setSuffix(" px")
        self.median.setKeyboardTracking(False)
        self.median.setToolTip("Side of a median filter on the mask, odd; 1 for none.\nAllowed: odd, 1 to 999 px.")
        self.fill_holes = QCheckBox()
        self.fill_holes.setToolTip("Whether background that foreground encloses becomes foreground.")
        self.min_area = QSpinBox()
        self.min_area.setRange(0, 10_000_000)
        self.min_area.setSuffix(" px")
        self.min_area.setKeyboardTracking(False)
        self.min_area.setToolTip("Area of the smallest foreground region that stays; 0 for all.")
        self.detector.currentTextChanged.connect(self._choose)
        self.form.changed.connect(self._set)
        self.usual.clicked.connect(lambda: self._take(Config(self._config.detector)))
        self.median.valueChanged.connect(lambda value: self._post(median=value if value % 2 else value + 1))
        self.fill_holes.toggled.connect(lambda on: self._post(fill_holes=on))
        self.min_area.valueChanged.connect(lambda value: self._post(min_area=value))
        self._lay_out()
        self.show_config(config)

    @property
    def config(self) -> Config:
        """What is shown."""
        return self._config

    def show_config(self, config: Config) -> None:
        """Show another configuration without telling that it changed."""
        self._config = config
        kind = detector_class(config.detector)
        with QSignalBlocker(self.detector):
            self.detector.setCurrentText(config.detector)
        self.summary.setText((kind.__doc__ or "").strip().splitlines()[0])
        measured = {} if self._rate_hz is None else {"rate_hz": self._rate_hz}
        self.form.show_parameters(kind, {**measured, **config.parameters})
        post = config.with_postprocess().postprocess or RAW
        for box, value in ((self.median, post.median), (self.min_area, post.min_area)):
            with QSignalBlocker(box):
                box.setValue(value)
        with QSignalBlocker(self.fill_holes):
            self.fill_holes.setChecked(post.fill_holes)
        self.wrong.hide()

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self.detector, 1)
        top.addWidget(self.usual)
        parameters = QGroupBox("Parameters")
        inner = QVBoxLayout(parameters)
        inner.addWidget(self.form)
        inner.addWidget(self.wrong)
        post = QGroupBox("Post-processing of the mask")
        rows = QFormLayout(post)
        rows.addRow("median", self.median)
        rows.addRow("fill holes", self.fill_holes)
        rows.addRow("smallest area", self.min_area)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.addLayout(top)
        self._layout.addWidget(self.summary)
        self._layout.addWidget(parameters)
        self._layout.addWidget(post)

    def insert(self, widget: QWidget) -> None:
        """Put a widget between the choice of the detector and its parameters."""
        self._layout.insertWidget(2, widget)

    def set_rate(self, rate_hz: float | None) -> None:
        """Show the frame rate of the source for that of the detector, unless one was given."""
        self._rate_hz = rate_hz
        self.show_config(self._config)

    def _choose(self, name: str) -> None:
        self._take(Config(name, learning_rate=self._config.learning_rate))

    def _set(self, name: str, value: Any) -> None:
        try:
            self._take(replace(self._config, parameters={**self._config.parameters, name: value}))
        except ValueError as error:
            self.wrong.setText(f"{error}; the value before stays in use")
            self.wrong.show()

    def _post(self, **changed: Any) -> None:
        self._take(self._config.with_postprocess(**changed))

    def _take(self, config: Config) -> None:
        self.show_config(config)
        self.changed.emit(config)


class DetectorPanel(QScrollArea):
    """The panel of the main detector.

    Parameters
    ----------
    session : Session
        What it controls.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.editor = ConfigEditor(session.settings.config)
        self.editor.changed.connect(lambda config: session.change(config=config))
        self.freeze = QPushButton("Freeze")
        self.freeze.setCheckable(True)
        self.freeze.toggled.connect(lambda on: session.change(frozen=on))
        self.reset = QPushButton("Reset")
        self.reset.setToolTip("Forget what was learned and begin anew (R)")
        self.reset.clicked.connect(session.reset)
        self.own_pace = QCheckBox("own pace")
        self.own_pace.setToolTip("Let the detector decide how fast it learns")
        self.rate = QDoubleSpinBox()
        self.rate.setRange(0, 1)
        self.rate.setDecimals(4)
        self.rate.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)
        self.rate.setKeyboardTracking(False)
        self.rate.setToolTip("Share of the model that one frame replaces: 0.01 remembers about 100 frames.")
        self.own_pace.toggled.connect(self._pace)
        self.rate.valueChanged.connect(self._pace)
        self.load = QPushButton("Load preset…")
        self.save = QPushButton("Save preset…")
        self.copy = QPushButton("Copy as command line")
        self.copy.setToolTip("Copy the `bgsub run` command that does the same")
        self.load.clicked.connect(lambda: load_preset(session, self))
        self.save.clicked.connect(lambda: save_preset(session, self))
        self.copy.clicked.connect(self.copy_command)
        self.state = QLabel("No model yet")
        self.state.setProperty("faint", True)
        self._lay_out()
        session.configured.connect(self._take)
        session.changed.connect(self._take)
        session.viewed.connect(self._show)
        session.opened.connect(lambda _, info: self.editor.set_rate(info.rate_hz))
        self._take()

    def copy_command(self) -> None:
        """Put the command line that does the same on the clipboard."""
        clipboard = QApplication.clipboard()
        if clipboard is not None:
            clipboard.setText(command_line(self._session))
            self._session.notify(Level.INFO, "The command line is on the clipboard.")

    def _lay_out(self) -> None:
        inside = QWidget()
        layout = QVBoxLayout(inside)
        learning = QGroupBox("Learning")
        grid = QGridLayout(learning)
        grid.addWidget(self.freeze, 0, 0)
        grid.addWidget(self.reset, 0, 1)
        grid.addWidget(self.own_pace, 1, 0)
        grid.addWidget(self.rate, 1, 1)
        presets = QGridLayout()
        presets.addWidget(self.load, 0, 0)
        presets.addWidget(self.save, 0, 1)
        presets.addWidget(self.copy, 1, 0, 1, 2)
        self.editor.insert(learning)
        layout.addWidget(self.editor)
        layout.addLayout(presets)
        layout.addWidget(self.state)
        layout.addStretch(1)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(inside.minimumSizeHint().width() + 24)

    def _pace(self) -> None:
        rate = -1.0 if self.own_pace.isChecked() else self.rate.value()
        self._session.change(config=replace(self.editor.config, learning_rate=rate))

    def _take(self) -> None:
        settings = self._session.settings
        if settings.config != self.editor.config:
            self.editor.show_config(settings.config)
        can_freeze = detector_class(settings.config.detector).can_freeze
        self.freeze.setEnabled(can_freeze)
        tip = "Learn nothing more until it is released (F)" if can_freeze else "OpenCV's knn cannot be frozen"
        self.freeze.setToolTip(tip)
        for widget, value in (
            (self.freeze, settings.frozen),
            (self.own_pace, settings.config.learning_rate < 0),
        ):
            with QSignalBlocker(widget):
                widget.setChecked(value)
        self.rate.setEnabled(settings.config.learning_rate >= 0)
        if settings.config.learning_rate >= 0:
            with QSignalBlocker(self.rate):
                self.rate.setValue(settings.config.learning_rate)

    def _show(self) -> None:
        lanes = self._session.view.lanes
        if not lanes:
            self.state.setText("No model yet")
            return
        memory = lanes[0].memory_bytes
        size = "memory not told" if memory is None else f"{memory / 2**20:.1f} MiB"
        self.state.setText(f"{lanes[0].ms:.2f} ms a frame, model {size}")


def command_line(session: Session) -> str:
    """Return the `bgsub run` command that does what the window does."""
    settings = session.settings
    source = session.source or "SOURCE"
    arguments = settings.config.to_arguments()
    if settings.frozen:
        arguments += ["--learning-rate", "0"]
    region = settings.region
    if region is not None and region.image is None:
        if len(region.include) == 1 and not region.exclude:
            arguments += ["--roi", " ".join(f"{x:g},{y:g}" for x, y in region.include[0])]
        else:
            arguments += ["--roi", "region.json"]
    stem = Path(source).stem if "://" not in source and ":" not in source else "out"
    return shlex.join(["bgsub", "run", source, "-o", f"{stem}-mask.mkv", *arguments])
