"""Manners of input fields: the wheel needs the focus, Return and Escape leave a field, and readers know its name."""

from PyQt6.QtCore import QEvent, QObject, Qt
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QScrollBar,
    QSpinBox,
    QWidget,
)

__all__ = ["tame_fields"]

_RETURN = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class _Manners(QObject):
    """Filters the events of fields."""

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        if a1 is None or not isinstance(a0, QWidget):
            return False
        if a1.type() == QEvent.Type.Wheel and not a0.hasFocus():
            a1.ignore()  # the panel around it scrolls instead
            return True
        if isinstance(a0, QAbstractSpinBox) and isinstance(a1, QKeyEvent) and a1.type() == QEvent.Type.KeyPress:
            return _leave(a0, a1)
        return False


def _leave(box: QAbstractSpinBox, event: QKeyEvent) -> bool:
    """Leave a number field by Return, which takes its value over, or Escape, which does not."""
    if event.key() in _RETURN:
        box.interpretText()
    elif event.key() == Qt.Key.Key_Escape:
        line = box.lineEdit()
        if line is not None and isinstance(box, QSpinBox | QDoubleSpinBox):
            line.setText(f"{box.prefix()}{box.textFromValue(box.value())}{box.suffix()}")  # type: ignore[arg-type]
    else:
        return False
    box.clearFocus()
    return True


_manners = _Manners()


def tame_fields(parent: QWidget) -> None:
    """Give all fields in a widget their manners; screen readers get tool tips, as names where there is no text."""
    for field in parent.findChildren(QWidget):
        has_text = isinstance(field, QAbstractButton | QLabel) and bool(field.text())
        if field.toolTip() and has_text and not field.accessibleDescription():
            field.setAccessibleDescription(field.toolTip())
        elif field.toolTip() and not has_text and not field.accessibleName():
            field.setAccessibleName(field.toolTip().partition("\n")[0])
        if not field.whatsThis() and field.toolTip():
            field.setWhatsThis(field.toolTip())
        is_field = isinstance(field, QAbstractSpinBox | QComboBox | QAbstractSlider)
        if not is_field or isinstance(field, QScrollBar):
            continue
        if field.focusPolicy() == Qt.FocusPolicy.WheelFocus:
            field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        field.installEventFilter(_manners)
