"""The detector: choice, parameters, learning, post-processing of its masks, presets and the command line."""

import math
import shlex
from dataclasses import replace
from itertools import pairwise
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
from bgsub.frames import VideoInfo
from bgsub.gui.messages import Level
from bgsub.gui.panels.parameters.form import ParameterForm
from bgsub.gui.panels.parameters.history import SettingsHistory
from bgsub.gui.panels.parameters.presets import load_preset, save_preset
from bgsub.gui.panels.parameters.scenes import SCENES
from bgsub.gui.session import Session
from bgsub.postprocess import RAW

__all__ = ["ConfigEditor", "DetectorPanel"]

_BACK_S = 4.0


class ConfigEditor(QWidget):
    """Edits one `Config`: the detector with its parameters and its post-processing."""

    changed = pyqtSignal(object)
    """The user made another `Config`."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self._config = config
        self._rate_hz: float | None = None
        self.detector = QComboBox()
        for name in DETECTORS.available():
            self.detector.addItem(name, name)
        self.detector.setToolTip("Detector; another one begins with a new model")
        self.summary = QLabel()
        self.summary.setWordWrap(True)
        self.summary.setProperty("faint", True)
        self.form = ParameterForm()
        self.error = QLabel()
        self.error.setWordWrap(True)
        self.error.setProperty("wrong", True)
        self.error.hide()
        self.defaults = QPushButton("Defaults")
        self.defaults.setToolTip("Reset every parameter and the post-processing to the defaults of the detector")
        self.median = QSpinBox()
        self.median.setRange(1, 999)
        self.median.setSingleStep(2)
        self.median.setSuffix(" px")
        self.median.setKeyboardTracking(False)
        self.median.setToolTip("Side of a median filter on the mask, odd; 1 for none.\nAllowed: odd, 1 to 999 px.")
        self.fill_holes = QCheckBox()
        self.fill_holes.setToolTip("Whether background enclosed by foreground becomes foreground.")
        self.min_area = QSpinBox()
        self.min_area.setRange(0, 10_000_000)
        self.min_area.setSuffix(" px")
        self.min_area.setKeyboardTracking(False)
        self.min_area.setToolTip("Area of the smallest foreground region to keep; 0 for all.")
        self.detector.currentIndexChanged.connect(self._choose)
        self.form.changed.connect(self._set_parameter)
        self.defaults.clicked.connect(lambda: self._use(Config(self._config.detector)))
        self.median.valueChanged.connect(lambda value: self._set_postprocess(median=value if value % 2 else value + 1))
        self.fill_holes.toggled.connect(lambda on: self._set_postprocess(fill_holes=on))
        self.min_area.valueChanged.connect(lambda value: self._set_postprocess(min_area=value))
        self._lay_out()
        self.show_config(config)

    @property
    def config(self) -> Config:
        """The configuration shown."""
        return self._config

    def show_config(self, config: Config) -> None:
        """Show another configuration, without a signal."""
        self._config = config
        kind = detector_class(config.detector)
        with QSignalBlocker(self.detector):
            self.detector.setCurrentIndex(self.detector.findData(config.detector))
        self.summary.setText((kind.__doc__ or "").strip().partition("\n")[0])
        measured = {} if self._rate_hz is None else {"rate_hz": self._rate_hz}
        self.form.show_parameters(kind, {**measured, **config.parameters})
        post = config.with_postprocess().postprocess or RAW
        for box, value in ((self.median, post.median), (self.min_area, post.min_area)):
            with QSignalBlocker(box):
                box.setValue(value)
        with QSignalBlocker(self.fill_holes):
            self.fill_holes.setChecked(post.fill_holes)
        self.error.hide()

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self.detector, 1)
        top.addWidget(self.defaults)
        parameters = QGroupBox("Parameters")
        inner = QVBoxLayout(parameters)
        inner.addWidget(self.form)
        inner.addWidget(self.error)
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
        """Insert a widget between the choice of the detector and its parameters."""
        self._layout.insertWidget(2, widget)

    def set_rate(self, rate_hz: float | None) -> None:
        """Show the frame rate of the source as that of the detector, unless one was set."""
        self._rate_hz = rate_hz
        self.show_config(self._config)

    def _choose(self) -> None:
        self._use(Config(self.detector.currentData(), learning_rate=self._config.learning_rate))

    def _set_parameter(self, name: str, value: Any) -> None:
        try:
            self._use(replace(self._config, parameters={**self._config.parameters, name: value}))
        except ValueError as error:
            self.error.setText(f"{error}; the previous value stays in use")
            self.error.show()

    def _set_postprocess(self, **changed: Any) -> None:
        self._use(self._config.with_postprocess(**changed))

    def _use(self, config: Config) -> None:
        self.show_config(config)
        self.changed.emit(config)


class DetectorPanel(QScrollArea):
    """Controls the main detector: what it is, how it learns, and presets of it.

    Parameters
    ----------
    session : Session
        Receives the choices.
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
        self.reset.setToolTip("Forget the model and begin with a new one (R)")
        self.reset.clicked.connect(session.reset)
        self.automatic_rate = QCheckBox("automatic rate")
        self.automatic_rate.setToolTip("Let the detector decide how fast it learns")
        self.rate = QDoubleSpinBox()
        self.rate.setRange(0, 1)
        self.rate.setDecimals(4)
        self.rate.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)
        self.rate.setKeyboardTracking(False)
        self.rate.setToolTip("Share of the model that each frame replaces: 0.01 remembers about 100 frames.")
        self.automatic_rate.toggled.connect(self._set_rate)
        self.rate.valueChanged.connect(self._set_rate)
        self.back = QPushButton("Apply to the last")
        self.back.setToolTip(
            "Return the model to some seconds before the frame shown and process them again with these settings "
            "(Shift+Backspace); what was detected since is replaced"
        )
        self.back.clicked.connect(self.apply_back)
        self.back_s = QDoubleSpinBox()
        self.back_s.setRange(0.1, 600)
        self.back_s.setDecimals(1)
        self.back_s.setValue(_BACK_S)
        self.back_s.setSuffix(" s")
        self.back_s.setToolTip("How far back settings are applied")
        self.scene = QComboBox()
        self.scene.setPlaceholderText("Begin with a kind of scene…")
        self.scene.setToolTip("Use settings for a kind of scene, to begin with; Ctrl+Alt+Z returns to the present ones")
        for scene in SCENES:
            self.scene.addItem(scene.label, scene.id)
            self.scene.setItemData(self.scene.count() - 1, scene.advice, Qt.ItemDataRole.ToolTipRole)
        self.scene.setCurrentIndex(-1)
        self.scene.activated.connect(self._use_scene)
        self.keep = QPushButton("Keep as B")
        self.keep.setToolTip("Keep these settings as the second detector, and go on tuning the first")
        self.keep.clicked.connect(lambda: session.change(other=session.settings.config))
        self.history = QPushButton("Earlier settings")
        self.history.setToolTip("List the changes of settings, and return to any of them")
        self.history.setMenu(SettingsHistory(session, self))
        self.load = QPushButton("Load preset…")
        self.load.setToolTip("Use settings from a file of bgsub run --config")
        self.save = QPushButton("Save preset…")
        self.save.setToolTip("Write the settings to a file for bgsub run --config")
        self.copy = QPushButton("Copy as command line")
        self.copy.setToolTip("Copy the equivalent `bgsub run` command")
        self.load.clicked.connect(lambda: load_preset(session, self))
        self.save.clicked.connect(lambda: save_preset(session, self))
        self.copy.clicked.connect(self.copy_command)
        self.state = QLabel("No model yet")
        self.state.setProperty("faint", True)
        self._lay_out()
        session.configured.connect(self._show_settings)
        session.changed.connect(self._show_settings)
        session.viewed.connect(self._show_state)
        session.opened.connect(self._use_rate)
        self._show_settings()

    def apply_back(self) -> None:
        """Process the last seconds again with the present settings."""
        self._session.rerun(self.back_s.value())

    def _use_rate(self, _: str, info: VideoInfo) -> None:
        self.editor.set_rate(info.rate_hz)

    def copy_command(self) -> None:
        """Copy the equivalent command line to the clipboard."""
        clipboard = QApplication.clipboard()
        if clipboard is not None:
            clipboard.setText(command_line(self._session))
            self._session.notify(Level.INFO, "The command line was copied to the clipboard.")

    def _lay_out(self) -> None:
        inside = QWidget()
        layout = QVBoxLayout(inside)
        learning = QGroupBox("Learning")
        grid = QGridLayout(learning)
        grid.addWidget(self.freeze, 0, 0)
        grid.addWidget(self.reset, 0, 1)
        grid.addWidget(self.automatic_rate, 1, 0)
        grid.addWidget(self.rate, 1, 1)
        grid.addWidget(self.back, 2, 0)
        grid.addWidget(self.back_s, 2, 1)
        presets = QGridLayout()
        presets.addWidget(self.load, 0, 0)
        presets.addWidget(self.save, 0, 1)
        presets.addWidget(self.copy, 1, 0)
        presets.addWidget(self.keep, 1, 1)
        presets.addWidget(self.history, 2, 0)
        self.editor.insert(learning)
        self.editor.insert(self.scene)
        layout.addWidget(self.editor)
        layout.addLayout(presets)
        layout.addWidget(self.state)
        layout.addStretch(1)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(inside.minimumSizeHint().width() + 24)
        self.editor.form.rebuilt.connect(self._order_focus)
        self._order_focus()

    def _order_focus(self) -> None:
        """Let Tab follow what is seen."""
        editor = self.editor
        order = [editor.detector, editor.defaults, self.scene, self.freeze, self.reset, self.automatic_rate, self.rate]
        order += [self.back, self.back_s, *editor.form.fields, editor.median, editor.fill_holes, editor.min_area]
        order += [self.load, self.save, self.copy, self.keep, self.history]
        for first, second in pairwise(order):
            QWidget.setTabOrder(first, second)

    def _use_scene(self, index: int) -> None:
        scene = SCENES[index]
        self._session.change(config=scene.config(self._session.settings.config))
        self._session.notify(Level.INFO, f"{scene.label}: {scene.advice}")
        self.scene.setCurrentIndex(-1)  # it names what to begin with, not what was made of it

    def _set_rate(self) -> None:
        rate = -1.0 if self.automatic_rate.isChecked() else self.rate.value()
        self._session.change(config=replace(self.editor.config, learning_rate=rate))

    def _show_settings(self) -> None:
        settings = self._session.settings
        if settings.config != self.editor.config:
            self.editor.show_config(settings.config)
        can_freeze = self._session.can_freeze
        self.freeze.setEnabled(can_freeze)
        name = settings.config.detector
        tip = "Stop learning until released (F)" if can_freeze else f"The detector {name} cannot be frozen"
        self.freeze.setToolTip(tip)
        for widget, value in (
            (self.freeze, settings.frozen),
            (self.automatic_rate, settings.config.learning_rate < 0),
        ):
            with QSignalBlocker(widget):
                widget.setChecked(value)
        self.rate.setEnabled(settings.config.learning_rate >= 0)
        if settings.config.learning_rate >= 0:
            with QSignalBlocker(self.rate):
                self.rate.setValue(settings.config.learning_rate)

    def _show_state(self) -> None:
        runs = self._session.view.runs
        if not runs:
            self.state.setText("No model yet")
            return
        memory = runs[0].memory_bytes
        size = "of unknown size" if memory is None else f"{memory / 2**20:.1f} MiB"
        pace = "" if math.isnan(runs[0].ms) else f"{runs[0].ms:.2f} ms per frame, "
        self.state.setText(f"{pace}model {size}")


def command_line(session: Session) -> str:
    """Return the `bgsub run` command equivalent to the settings of the window."""
    settings = session.settings
    source = session.source or "SOURCE"
    arguments = settings.config.to_arguments()
    if settings.frozen:
        arguments += ["--learning-rate", "0"]
    arguments += [*_part_arguments(session), *settings.counting.to_arguments()]
    region = settings.region
    if region is not None and region.image is None:
        if len(region.include) == 1 and not region.exclude:
            arguments += ["--roi", " ".join(f"{x:g},{y:g}" for x, y in region.include[0])]
        else:
            arguments += ["--roi", "region.json"]
    if session.scale != 1:
        arguments += ["--scale", f"{session.scale:g}"]
    stem = Path(source).stem if "://" not in source and ":" not in source else "out"
    return shlex.join(["bgsub", "run", source, "-o", f"{stem}-mask.mkv", *arguments])


def _part_arguments(session: Session) -> list[str]:
    """Return the options for the part that is repeated, in times of the source."""
    part, view = session.settings.part, session.view
    if part is None:
        return []
    origin_s = 0.0 if view.result is None else view.result.packet.time_s - view.time_s
    ends = zip(("--start", "--end"), part, strict=True)
    return [text for name, time_s in ends if 0 < time_s < math.inf for text in (name, f"{origin_s + time_s:.3f}s")]
