"""A form made from a detector's description of its parameters: ranges, units, meanings."""

from collections.abc import Mapping
from typing import Any

from PyQt6.QtCore import QLocale, QSignalBlocker, Qt, pyqtSignal
from PyQt6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QSlider,
    QSpinBox,
    QWidget,
)

from bgsub.detectors.base import Detector
from bgsub.detectors.parameters import Parameter, defaults

__all__ = ["ParameterForm", "ParameterInput"]

_LARGEST_INT = 2**31 - 1
_LARGEST_FLOAT = 1e9
_DECIMALS = 6
_SLIDER_STEPS = 200
_FIRST_VALUE = 100.0  # of a parameter that was automatic
_SLIDABLE = 1000.0  # widest range that a slider can be aimed at


class _ShortDoubleSpinBox(QDoubleSpinBox):
    """Shows numbers without trailing zeros."""

    def __init__(self) -> None:
        super().__init__()
        self.setLocale(QLocale.c())
        self.setDecimals(_DECIMALS)
        self.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)

    def textFromValue(self, v: float) -> str:
        return f"{v:.{_DECIMALS}f}".rstrip("0").rstrip(".") or "0"


class ParameterInput(QWidget):
    """The widgets of one parameter.

    Parameters
    ----------
    parameter : Parameter
        What it is.
    value : any
        To begin with.
    """

    changed = pyqtSignal(object)
    """The person set another value."""

    def __init__(self, parameter: Parameter, value: Any) -> None:
        super().__init__()
        self.parameter = parameter
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._given: QCheckBox | None = None
        self._editor = self._make_editor()
        if parameter.optional:
            self._given = QCheckBox()
            self._given.setToolTip("Set a value of one's own; otherwise it is chosen automatically")
            self._given.toggled.connect(self._toggle)
            self._layout.addWidget(self._given)
        self._layout.addWidget(self._editor, 1)
        self.slider = self._make_slider()
        if self.slider is not None:
            self._layout.addWidget(self.slider, 1)
        self.setToolTip(describe(parameter))
        self.set_value(value)
        self._listen()

    @property
    def value(self) -> Any:
        """What is set, in the parameter's kind; None for automatic."""
        if self._given is not None and not self._given.isChecked():
            return None
        editor = self._editor
        if isinstance(editor, QComboBox):
            return editor.currentText()
        if isinstance(editor, QCheckBox):
            return editor.isChecked()
        if isinstance(editor, QSpinBox | QDoubleSpinBox):
            return self.parameter.kind(editor.value())
        raise TypeError(f"unknown editor {editor!r}")

    def set_value(self, value: Any) -> None:
        """Show a value without telling that it changed."""
        editor = self._editor
        with QSignalBlocker(editor):
            if self._given is not None:
                with QSignalBlocker(self._given):
                    self._given.setChecked(value is not None)
                editor.setEnabled(value is not None)
            if isinstance(editor, QComboBox):
                editor.setCurrentText(str(value))
            elif isinstance(editor, QCheckBox):
                editor.setChecked(bool(value))
            elif isinstance(editor, QSpinBox | QDoubleSpinBox):
                editor.setSpecialValueText("automatic" if value is None else "")
                _set(editor, editor.minimum() if value is None else value)
        self._slide()

    def _make_editor(self) -> QWidget:
        parameter = self.parameter
        if parameter.choices:
            box = QComboBox()
            box.addItems(parameter.choices)
            return box
        if parameter.kind is bool:
            return QCheckBox()
        unit = f" {parameter.unit}" if parameter.unit else ""
        if parameter.kind is int:
            whole = QSpinBox()
            whole.setLocale(QLocale.c())
            whole.setRange(
                int(max(parameter.low, -_LARGEST_INT)) + parameter.low_open,
                int(min(parameter.high, _LARGEST_INT)) - parameter.high_open,
            )
            whole.setSuffix(unit)
            whole.setKeyboardTracking(False)
            return whole
        real = _ShortDoubleSpinBox()
        smallest = 10.0**-_DECIMALS
        real.setRange(
            max(parameter.low, -_LARGEST_FLOAT) + smallest * parameter.low_open,
            min(parameter.high, _LARGEST_FLOAT) - smallest * parameter.high_open,
        )
        real.setSuffix(unit)
        real.setKeyboardTracking(False)
        return real

    def _make_slider(self) -> QSlider | None:
        parameter = self.parameter
        width = parameter.high - parameter.low
        if parameter.kind not in (int, float) or parameter.choices or not width <= _SLIDABLE:
            return None
        slider = QSlider(Qt.Orientation.Horizontal)
        slider.setRange(0, int(width) if parameter.kind is int else _SLIDER_STEPS)
        slider.setMinimumWidth(60)
        slider.valueChanged.connect(self._slid)
        return slider

    def _listen(self) -> None:
        editor = self._editor
        if isinstance(editor, QComboBox):
            editor.currentTextChanged.connect(self._tell)
        elif isinstance(editor, QCheckBox):
            editor.toggled.connect(self._tell)
        elif isinstance(editor, QSpinBox | QDoubleSpinBox):
            editor.valueChanged.connect(self._tell)

    def _toggle(self, given: bool) -> None:
        self._editor.setEnabled(given)
        editor = self._editor
        if given and isinstance(editor, QSpinBox | QDoubleSpinBox) and editor.value() == editor.minimum():
            with QSignalBlocker(editor):
                _set(editor, min(max(_FIRST_VALUE, editor.minimum()), editor.maximum()))
                editor.setSpecialValueText("")
        self._tell()

    def _tell(self) -> None:
        self._slide()
        self.changed.emit(self.value)

    def _slide(self) -> None:
        slider = getattr(self, "slider", None)
        if slider is None or not isinstance(self._editor, QSpinBox | QDoubleSpinBox):
            return
        low, width = self.parameter.low, self.parameter.high - self.parameter.low
        with QSignalBlocker(slider):
            slider.setValue(round((self._editor.value() - low) / width * slider.maximum()))
        slider.setEnabled(self._editor.isEnabled())

    def _slid(self, place: int) -> None:
        low, width = self.parameter.low, self.parameter.high - self.parameter.low
        if self.slider is not None and isinstance(self._editor, QSpinBox | QDoubleSpinBox):
            value = low + width * place / self.slider.maximum()
            _set(self._editor, round(value, 3))


class ParameterForm(QWidget):
    """All parameters of a detector."""

    changed = pyqtSignal(str, object)
    """The person set a parameter: name and value."""

    def __init__(self) -> None:
        super().__init__()
        self._form = QFormLayout(self)
        self._form.setContentsMargins(0, 0, 0, 0)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._kind: type[Detector] | None = None
        self.inputs: dict[str, ParameterInput] = {}
        """By the parameter's name."""

    def show_parameters(self, kind: type[Detector], values: Mapping[str, Any]) -> None:
        """Show a detector's parameters, those not given with their defaults."""
        every = defaults(kind)
        every |= {name: value for name, value in values.items() if name in every}
        if kind is self._kind:
            for name, entry in self.inputs.items():
                entry.set_value(every[name])
            return
        self._kind = kind
        while self._form.rowCount():
            self._form.removeRow(0)
        self.inputs = {}
        for parameter in kind.PARAMETERS:
            entry = ParameterInput(parameter, every[parameter.name])
            entry.changed.connect(lambda value, name=parameter.name: self.changed.emit(name, value))
            label = QLabel(parameter.name + (" ⟳" if parameter.shapes_state else ""))
            label.setToolTip(describe(parameter))
            self._form.addRow(label, entry)
            self.inputs[parameter.name] = entry


def _set(editor: QSpinBox | QDoubleSpinBox, value: float) -> None:
    if isinstance(editor, QSpinBox):
        editor.setValue(round(value))
    else:
        editor.setValue(value)


def describe(parameter: Parameter) -> str:
    """Return what a tool tip says of a parameter."""
    unit = f" {parameter.unit}" if parameter.unit else ""
    text = f"{parameter.meaning[:1].upper()}{parameter.meaning[1:]}.\nAllowed: {parameter.range_text}{unit}."
    return text + ("\n⟳ A change begins with a new model." if parameter.shapes_state else "\nActs on the next frame.")
