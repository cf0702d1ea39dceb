"""The panels around the panes, by stable ids."""

import enum
from collections.abc import Mapping

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QDockWidget, QMainWindow, QWidget

__all__ = ["PANEL_LABELS", "PanelId", "make_docks"]


class PanelId(enum.StrEnum):
    """Stable names of the panels, also in the saved layout."""

    DETECTOR = "detector"
    COMPARE = "compare"
    INSPECTOR = "inspector"
    REGION = "region"
    EVENTS = "events"
    TRUTH = "truth"
    COUNTING = "counting"
    PLOTS = "plots"


PANEL_LABELS = {
    PanelId.DETECTOR: "Detector",
    PanelId.COMPARE: "Compare",
    PanelId.INSPECTOR: "Inspector",
    PanelId.REGION: "Region",
    PanelId.EVENTS: "Events",
    PanelId.TRUTH: "Truth",
    PanelId.COUNTING: "Counts",
    PanelId.PLOTS: "Plots",
}


def make_docks(window: QMainWindow, panels: Mapping[PanelId, QWidget]) -> dict[PanelId, QDockWidget]:
    """Put the panels into docks: the plots below, all others as tabs at the right."""
    right, bottom = Qt.DockWidgetArea.RightDockWidgetArea, Qt.DockWidgetArea.BottomDockWidgetArea
    docks: dict[PanelId, QDockWidget] = {}
    for panel, widget in panels.items():
        dock = docks[panel] = QDockWidget(PANEL_LABELS[panel], window)
        dock.setObjectName(panel)
        widget.setAccessibleName(PANEL_LABELS[panel])  # the area that scrolls takes the focus, too
        dock.setWidget(widget)
        window.addDockWidget(bottom if panel is PanelId.PLOTS else right, dock)
    for panel in [panel for panel in docks if panel not in (PanelId.DETECTOR, PanelId.PLOTS)]:
        window.tabifyDockWidget(docks[PanelId.DETECTOR], docks[panel])
    docks[PanelId.DETECTOR].raise_()
    window.resizeDocks([docks[PanelId.PLOTS]], [190], Qt.Orientation.Vertical)
    window.resizeDocks([docks[PanelId.DETECTOR]], [360], Qt.Orientation.Horizontal)
    return docks
