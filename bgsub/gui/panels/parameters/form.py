"""A form generated from a detector's parameters: ranges, units, meanings."""

import textwrap
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
    QToolButton,
    QWidget,
)

from bgsub.detectors.base import Detector
from bgsub.detectors.parameters import Parameter, defaults
from bgsub.gui.panels.parameters.words import Words, range_in_words, words_of
from bgsub.gui.widgets.fields import tame_fields

__all__ = ["ParameterForm", "ParameterInput"]

_LARGEST_INT = 2**31 - 1
_LARGEST_FLOAT = 1e9
_DECIMALS = 6
_SLIDER_STEPS = 200
_FIRST_VALUE = 100.0  # proposed for a parameter that was automatic
_SLIDABLE = 1000.0  # widest range in which a slider can be aimed


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
    """Edits one parameter: a check box for automatic values, a field for the value, and a slider.

    Parameters
    ----------
    parameter : Parameter
        Range, unit and meaning.
    value : any
        Initial value.
    words : Words
        Plain name and effect.
    """

    changed = pyqtSignal(object)
    """The user set another value."""

    def __init__(self, parameter: Parameter, value: Any, words: Words) -> None:
        super().__init__()
        self.parameter = parameter
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self.is_set: QCheckBox | None = None
        self.editor = self._make_editor()
        if parameter.optional:
            self.is_set = QCheckBox()
            self.is_set.setToolTip("Set a custom value; otherwise it is chosen automatically")
            self.is_set.toggled.connect(self._toggle)
            self._layout.addWidget(self.is_set)
        self._layout.addWidget(self.editor, 1)
        self.slider = self._make_slider()
        if self.slider is not None:
            self._layout.addWidget(self.slider, 1)
        self.default = QToolButton()
        self.default.setText("↺")
        self.default.setAutoRaise(True)
        self.default.setToolTip(f"{words.label}: back to the default")
        policy = self.default.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.default.setSizePolicy(policy)
        self.default.clicked.connect(self._use_default)
        self._layout.addWidget(self.default)
        self.setToolTip(describe(parameter, words))
        self.editor.setAccessibleName(words.label)
        self.editor.setAccessibleDescription(words.effect)
        if self.slider is not None:
            self.slider.setAccessibleName(words.label)
        tame_fields(self)
        self._show(value)
        self._listen()

    @property
    def value(self) -> Any:
        """The value, in the type of the parameter; None for automatic."""
        if self.is_set is not None and not self.is_set.isChecked():
            return None
        editor = self.editor
        if isinstance(editor, QComboBox):
            return editor.currentData()
        if isinstance(editor, QCheckBox):
            return editor.isChecked()
        if isinstance(editor, QSpinBox | QDoubleSpinBox):
            return self.parameter.kind(editor.value())
        raise TypeError(f"unknown editor {editor!r}")

    def set_value(self, value: Any) -> None:
        """Show a value, without a signal."""
        if value != self.value:  # most stay as they are, and the image of a changed one waits for the rest
            self._show(value)

    def _show(self, value: Any) -> None:
        editor = self.editor
        with QSignalBlocker(editor):
            if self.is_set is not None:
                with QSignalBlocker(self.is_set):
                    self.is_set.setChecked(value is not None)
                editor.setEnabled(value is not None)
            if isinstance(editor, QComboBox) and value is not None:
                editor.setCurrentIndex(editor.findData(value))
            elif isinstance(editor, QCheckBox):
                editor.setChecked(bool(value))
            elif isinstance(editor, QSpinBox | QDoubleSpinBox):
                editor.setSpecialValueText("automatic" if value is None else "")
                _set(editor, editor.minimum() if value is None else value)
        self._update_slider()
        self.default.setVisible(self.is_changed)

    @property
    def is_changed(self) -> bool:
        """Whether the value differs from the default."""
        return bool(self.value != self.parameter.default)

    def _use_default(self) -> None:
        self.set_value(self.parameter.default)
        self._report()

    def _make_editor(self) -> QWidget:
        parameter = self.parameter
        if parameter.choices:
            box = QComboBox()
            for choice in parameter.choices:
                box.addItem(choice, choice)
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
        slider.valueChanged.connect(self._use_slider)
        return slider

    def _listen(self) -> None:
        editor = self.editor
        if isinstance(editor, QComboBox):
            editor.currentIndexChanged.connect(self._report)
        elif isinstance(editor, QCheckBox):
            editor.toggled.connect(self._report)
        elif isinstance(editor, QSpinBox | QDoubleSpinBox):
            editor.valueChanged.connect(self._report)

    def _toggle(self, on: bool) -> None:
        self.editor.setEnabled(on)
        editor = self.editor
        if on and isinstance(editor, QSpinBox | QDoubleSpinBox) and editor.value() == editor.minimum():
            with QSignalBlocker(editor):
                _set(editor, min(max(_FIRST_VALUE, editor.minimum()), editor.maximum()))
                editor.setSpecialValueText("")
        self._report()

    def _report(self) -> None:
        self._update_slider()
        self.default.setVisible(self.is_changed)
        self.changed.emit(self.value)

    def _update_slider(self) -> None:
        slider = getattr(self, "slider", None)
        if slider is None or not isinstance(self.editor, QSpinBox | QDoubleSpinBox):
            return
        low, width = self.parameter.low, self.parameter.high - self.parameter.low
        with QSignalBlocker(slider):
            slider.setValue(round((self.editor.value() - low) / width * slider.maximum()))
        slider.setEnabled(self.editor.isEnabled())

    def _use_slider(self, step: int) -> None:
        low, width = self.parameter.low, self.parameter.high - self.parameter.low
        if self.slider is not None and isinstance(self.editor, QSpinBox | QDoubleSpinBox):
            value = low + width * step / self.slider.maximum()
            _set(self.editor, round(value, 3))


class ParameterForm(QWidget):
    """Edits all parameters of a detector."""

    changed = pyqtSignal(str, object)
    """The user set a parameter: name and value."""
    rebuilt = pyqtSignal()
    """There are other fields now."""

    def __init__(self) -> None:
        super().__init__()
        self._form = QFormLayout(self)
        self._form.setContentsMargins(0, 0, 0, 0)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._kind: type[Detector] | None = None
        self.inputs: dict[str, ParameterInput] = {}
        """By the parameter's name."""
        self.labels: dict[str, QLabel] = {}
        """By the parameter's name."""
        self.experts: QToolButton | None = None
        """Shows or hides the parameters for experts, if there are any."""

    def show_parameters(self, kind: type[Detector], values: Mapping[str, Any]) -> None:
        """Show a detector's parameters; those missing in `values` have their defaults."""
        shown = defaults(kind)
        shown |= {name: value for name, value in values.items() if name in shown}
        if kind is self._kind:
            for name, entry in self.inputs.items():
                entry.set_value(shown[name])
                self._mark(name)
            return
        self._kind = kind
        while self._form.rowCount():
            self._form.removeRow(0)
        self.inputs, self.labels, self.experts = {}, {}, None
        basic = [parameter for parameter in kind.PARAMETERS if parameter.group == "basic"]
        for parameter in basic:
            self._add(parameter, shown[parameter.name])
        if len(basic) < len(kind.PARAMETERS):
            self.experts = QToolButton()
            self.experts.setText("For experts")
            self.experts.setCheckable(True)
            self.experts.setAutoRaise(True)
            self.experts.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            self.experts.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            self.experts.setToolTip("Show or hide values that seldom need a change")
            self.experts.toggled.connect(self._show_experts)
            self._form.addRow(self.experts)
        for parameter in kind.PARAMETERS:
            if parameter.group == "expert":
                self._add(parameter, shown[parameter.name])
        experts = [entry for entry in self.inputs.values() if entry.parameter.group == "expert"]
        if self.experts is not None:
            self.experts.setChecked(any(entry.is_changed for entry in experts))
            self._show_experts(self.experts.isChecked())
        tame_fields(self)
        self.rebuilt.emit()

    @property
    def fields(self) -> list[QWidget]:
        """All that takes the focus, from top to bottom."""
        parts: list[QWidget | None] = []
        for group in ("basic", "expert"):
            parts += [self.experts] if group == "expert" else []
            for entry in self.inputs.values():
                if entry.parameter.group == group:
                    parts += [entry.is_set, entry.editor, entry.slider, entry.default]
        return [part for part in parts if part is not None]

    def _show_experts(self, on: bool) -> None:
        if self.experts is not None:
            self.experts.setArrowType(Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow)
        for entry in self.inputs.values():
            if entry.parameter.group == "expert":
                self._form.setRowVisible(entry, on)

    def _add(self, parameter: Parameter, value: Any) -> None:
        words = words_of("" if self._kind is None else self._kind.name, parameter)
        entry = ParameterInput(parameter, value, words)
        entry.changed.connect(lambda changed, name=parameter.name: self._report(name, changed))
        label = self.labels[parameter.name] = QLabel(words.label + (" ⟳" if parameter.shapes_state else ""))
        label.setToolTip(describe(parameter, words))
        label.setBuddy(entry.editor)
        self._form.addRow(label, entry)
        self.inputs[parameter.name] = entry
        self._mark(parameter.name)

    def _report(self, name: str, value: Any) -> None:
        self._mark(name)
        self.changed.emit(name, value)

    def _mark(self, name: str) -> None:
        """Write the names of changed parameters in bold, besides their buttons for the default."""
        label = self.labels[name]
        font = label.font()
        font.setBold(self.inputs[name].is_changed)
        label.setFont(font)


def _set(editor: QSpinBox | QDoubleSpinBox, value: float) -> None:
    if isinstance(editor, QSpinBox):
        editor.setValue(round(value))
    else:
        editor.setValue(value)


def describe(parameter: Parameter, words: Words) -> str:
    """Return the tool tip of a parameter."""
    unit = f" {parameter.unit}" if parameter.unit else ""
    meaning = f"{parameter.meaning[:1].upper()}{parameter.meaning[1:]}. {parameter.note}".rstrip()
    lines = [f"{words.label} ({parameter.name})", *textwrap.wrap(words.effect, 80)]
    if meaning != words.effect:
        lines += textwrap.wrap(meaning, 80)
    if words.usual is not None:
        lines.append(f"Usual: {words.usual[0]:g} to {words.usual[1]:g}{unit}.")
    if phrase := range_in_words(parameter):
        lines.append(f"Allowed: {phrase}.")
    lines.append(f"Default: {_value_in_words(parameter.default)}{unit if parameter.default is not None else ''}.")
    if parameter.shapes_state:
        lines.append("⟳ A change begins with a new model.")
    return "\n".join(lines)


def _value_in_words(value: Any) -> str:
    if value is None:
        return "automatic"
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, int | float) else str(value)
