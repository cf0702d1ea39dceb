"""Everything by keyboard: pins, polygons, order of the focus, names for screen readers; and contrast, measured."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QComboBox,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QSlider,
    QTabWidget,
    QToolButton,
    QTreeWidget,
    QWidget,
)

from bgsub.config import Config
from bgsub.gui import panes
from bgsub.gui.commands import CommandId
from bgsub.gui.engine.cameras import read_cameras
from bgsub.gui.help.dialogs import GuideDialog
from bgsub.gui.messages import Level
from bgsub.gui.tabs.camera_grid import CameraGrid
from bgsub.gui.tabs.camera_sessions import CameraSessions
from bgsub.gui.widgets.images.frame_view import FrameView
from bgsub.gui.widgets.images.keyboard import KeyboardCursor
from bgsub.gui.widgets.record_dialog import RecordDialog
from bgsub.gui.widgets.theme import DARK, LIGHT, Colours
from bgsub.gui.window.main_window import PanelId
from tests.gui.conftest import EASY
from tests.gui.window.test_window import trigger


@pytest.fixture
def played(window, qtbot):
    window.grid.choose((panes.INPUT, panes.MASK))
    window.open(EASY)
    session = window.session
    qtbot.waitUntil(lambda: session.view.processed == 40 and not session.view.playing)
    window.grid.views[0].setFocus()
    return window


def press(window, qtbot, *keys: Qt.Key) -> None:
    for key in keys:
        qtbot.keyClick(window.grid.views[0], key)


def test_a_cursor_stays_inside_the_image():
    cursor = KeyboardCursor(0, 5)
    assert cursor.moved(Qt.Key.Key_Up, (10, 8), fast=False) == cursor
    assert cursor.moved(Qt.Key.Key_Right, (10, 8), fast=True) == KeyboardCursor(0, 7)
    assert cursor.moved(Qt.Key.Key_Down, (10, 8), fast=True) == KeyboardCursor(8, 5)
    assert not cursor.can_follow(Qt.Key.Key_A)


def test_a_pixel_is_pinned_by_the_keyboard(played, qtbot):
    arrows = [Qt.Key.Key_Right] * 3 + [Qt.Key.Key_Up] * 2
    press(played, qtbot, *arrows)
    assert "x 35, y 22" in played.status.pixel.text()
    press(played, qtbot, Qt.Key.Key_Return)
    assert played.session.settings.pinned_pixels == ((22, 35),)


def test_a_polygon_is_drawn_by_the_keyboard(played, qtbot):
    played.drawing.toggle_region()
    played.grid.views[0].setFocus()
    press(played, qtbot, Qt.Key.Key_Return)
    press(played, qtbot, *[Qt.Key.Key_Right] * 12, Qt.Key.Key_Return)
    press(played, qtbot, *[Qt.Key.Key_Down] * 11, Qt.Key.Key_Return)
    qtbot.keyClick(played.grid.views[0], Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    region = played.session.settings.region
    assert region.include == (((32.5, 24.5), (44.5, 24.5), (44.5, 35.5)),)
    press(played, qtbot, Qt.Key.Key_Delete)
    region = played.session.settings.region
    assert region is None or len(region.include) < 1 or len(region.include[0]) < 3


def test_return_closes_the_polygon_that_the_mouse_has_drawn(played, qtbot):
    played.drawing.toggle_region()
    view = played.grid.views[0]
    corners = ((30, 12), (58, 12), (58, 40))
    for x, y in corners:
        at = view.to_pane(KeyboardCursor(y, x).centre).toPoint()
        qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=at)
    press(played, qtbot, Qt.Key.Key_Return)
    (polygon,) = played.session.settings.region.include
    assert polygon == pytest.approx(np.array(corners) + 0.5, abs=1)


def test_a_pane_is_reached_by_tab_and_zoomed(played, qtbot):
    view = played.grid.views[0]
    assert view.focusPolicy() & Qt.FocusPolicy.TabFocus
    trigger(played, CommandId.ZOOM_IN)
    assert played.grid.viewport.zoom == pytest.approx(1.5)
    for _ in range(40):
        qtbot.keyClick(view, Qt.Key.Key_Right)
    at = view.to_pane(KeyboardCursor(24, 63).centre)
    assert view.rect().contains(QPoint(round(at.x()), round(at.y())))
    trigger(played, CommandId.ZOOM_OUT)
    assert played.grid.viewport.zoom == pytest.approx(1.0)


def test_the_tool_bar_takes_the_focus(window):
    buttons = [button for button in window.menus.toolbar.findChildren(QToolButton) if button.isVisible()]
    assert len(buttons) >= 11
    assert all(button.focusPolicy() & Qt.FocusPolicy.TabFocus for button in buttons)


@pytest.mark.parametrize("detector", ["adaptive", "norma", "mog2"])
def test_tab_goes_through_the_detector_panel_as_it_is_seen(window, detector, qapp):
    window.session.change(config=Config(detector))
    window.show_panel(PanelId.DETECTOR)
    qapp.processEvents()
    panel = window.detector
    inside = panel.widget()
    chain, widget = [], panel.editor.detector
    while True:
        if widget.isVisible() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus and inside.isAncestorOf(widget):
            chain.append(widget)
        widget = widget.nextInFocusChain()
        if widget is panel.editor.detector:
            break
    tops = [part.mapTo(inside, QPoint(0, part.height() // 2)).y() for part in chain]
    assert len(chain) > 10
    assert all(later >= earlier - 3 for earlier, later in pairwise(tops))


_FIELDS = (
    *(QAbstractButton, QComboBox, QAbstractSpinBox, QSlider, QTreeWidget, QListWidget, QLineEdit),
    *(QPlainTextEdit, QTabWidget, FrameView),
)


def lacking(top: QWidget, has) -> list[str]:
    """The controls in a window that lack something."""
    found = []
    for widget in top.findChildren(QWidget):
        if not isinstance(widget, _FIELDS) or widget.focusPolicy() == Qt.FocusPolicy.NoFocus:
            continue
        if isinstance(widget.parent(), QLineEdit | QComboBox | QAbstractSpinBox):
            continue  # a part of a field that has a name
        if not has(widget):
            found.append(f"{type(widget).__name__} {widget.objectName()} in {type(widget.parent()).__name__}")
    return found


def is_named(widget: QWidget) -> bool:
    """Whether a screen reader has a name for a control."""
    text = widget.text() if isinstance(widget, QAbstractButton) else ""
    return bool(widget.accessibleName() or text) or widget in {
        label.buddy() for label in widget.window().findChildren(QLabel)
    }


def is_explained(widget: QWidget) -> bool:
    """Whether What's this says something about a control, or about what it is a part of."""
    own = {"ScrollLeftButton", "ScrollRightButton", "qt_toolbar_ext_button"}  # Qt's, with texts of the system
    within: QWidget | None = widget
    while within is not None and not within.isWindow():
        if within.whatsThis() or within.toolTip():
            return True
        within = within.parentWidget()
    return widget.objectName() in own or isinstance(widget.parent(), QDialogButtonBox)


@pytest.fixture(params=["window", "record", "guide", "learners", "grid"])
def top(request, window, theme, tmp_path):
    """Each window and dialog with controls."""
    if request.param == "window":
        yield window
        return
    if request.param == "learners":
        pytest.importorskip("sklearn", reason="the page of the learners needs scikit-learn")
        window.show_learners()
        yield window.learners
        return
    if request.param == "grid":
        path = tmp_path / "cameras.toml"
        path.write_text(f'output = "{tmp_path.as_posix()}/out"\n[cameras.yard]\nsource = "{EASY}"\n')
        made = CameraGrid(path, CameraSessions(read_cameras(path)), theme)
        yield made
        made.cameras.close()
    else:
        made = RecordDialog(window, tmp_path, "street") if request.param == "record" else GuideDialog(window)
        yield made
    made.deleteLater()


def test_every_control_has_a_name_and_an_explanation(top):
    assert lacking(top, is_named) == []
    assert lacking(top, is_explained) == []


def test_texts_of_buttons_are_their_names_and_tips_describe_them(window):
    freeze, truth = window.detector.freeze, window.compare.truth
    assert (freeze.accessibleName(), freeze.text()) == ("", "Freeze")
    assert truth.accessibleDescription() == truth.toolTip() != ""
    assert all(dock.widget().accessibleName() == dock.windowTitle() for dock in window.docks.values())


def test_the_page_of_the_learners_fits_the_screen(window):
    pytest.importorskip("sklearn", reason="the page of the learners needs scikit-learn")
    window.show_learners()
    room = window.screen().availableGeometry().size()
    assert window.learners.width() <= room.width()
    assert window.learners.height() <= room.height()


def test_every_panel_and_every_action_has_a_name(window):
    assert all(dock.windowTitle() for dock in window.docks.values())
    assert all(action.text() for action in window.menus.actions.values())


def test_screen_readers_learn_what_is_written_on_the_image(played, qtbot):
    view, session = played.grid.views[0], played.session
    session.toggle_frozen()
    qtbot.waitUntil(lambda: "norma is frozen: it does not learn. Arrows move" in view.accessibleDescription())
    session.toggle_frozen()
    qtbot.waitUntil(lambda: view.accessibleDescription() == "Arrows move a cursor, Return does what a click does")
    session.close_source()
    qtbot.waitUntil(lambda: not session.view.runs)


def test_screen_readers_learn_position_and_state(played, qtbot):
    transport, session = played.transport, played.session
    assert transport.play.accessibleName() == "Play"
    assert transport.slider.accessibleDescription() == "0:01.5 / 0:01.6, frame 40"
    session.seek(9)
    qtbot.waitUntil(lambda: transport.slider.accessibleDescription() == "0:00.3 / 0:01.6, frame 10")
    session.change(speed=0.25, loop=True)
    session.play()
    qtbot.waitUntil(lambda: transport.play.accessibleName() == "Pause")
    session.notify(Level.WARNING, "The disk is nearly full.")
    assert played.notices.accessibleName() == "warning: The disk is nearly full."
    assert played.events.list.accessibleDescription() == played.events.state.text()


# Contrast, after WCAG 2.2: 4.5 for text, 3 for what is drawn


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_that_of_the_standard():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("front", "back", "least"),
    [
        ("text", "window", 4.5),
        ("text", "field", 4.5),
        ("text", "raised", 4.5),
        ("faint", "window", 4.5),
        ("faint", "base", 4.5),
        ("faint", "canvas", 4.5),
        ("threshold", "window", 4.5),
        ("on_accent", "accent", 4.5),
        ("on_notice", "info", 4.5),
        ("on_notice", "warning", 4.5),
        ("on_notice", "error", 4.5),
        ("accent", "window", 3),
        ("curve_a", "base", 3),
        ("curve_b", "base", 3),
        ("curve_b", "window", 3),
        ("threshold", "base", 3),
        ("recording", "window", 3),
    ],
)
def test_colours_have_enough_contrast(colours: Colours, front: str, back: str, least: float):
    values = dataclasses.asdict(colours)
    assert contrast(values[front], values[back]) >= least
