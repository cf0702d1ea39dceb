"""Save and load settings files, which `bgsub run --config` accepts, too."""

from dataclasses import replace
from pathlib import Path

from PyQt6.QtWidgets import QWidget

from bgsub._files import write_text
from bgsub.config import Config
from bgsub.gui.messages import Level
from bgsub.gui.session import Session
from bgsub.gui.widgets.dialogs import ask_open, ask_save
from bgsub.roi import open_region

__all__ = ["load_preset", "read_preset", "save_preset", "write_preset"]

_FILTER = "Settings (*.toml)"


def write_preset(session: Session, path: Path) -> None:
    """Write the detector's settings; a region goes to a separate file beside them.

    Raises
    ------
    SinkError, ConfigError
        If a file cannot be written.
    """
    settings = session.settings
    config, region = settings.config, settings.region
    if settings.frozen:
        config = replace(config, learning_rate=0.0)
    if region is not None and region.image is None:
        beside = path.with_suffix(".roi.json")
        region.save(beside)
        config = replace(config, roi=str(beside))
    write_text(path, config.to_toml())


def read_preset(session: Session, path: Path) -> None:
    """Use the settings of a file, with its region.

    Raises
    ------
    ConfigError
        If a file is missing or invalid; nothing changes then.
    """
    config = Config.from_toml(path)
    region = open_region(config.roi) if config.roi else None
    session.set_region(region)
    session.configure(config)
    session.mark_saved()


def load_preset(session: Session, parent: QWidget) -> None:
    """Ask for a settings file and use it."""
    path = ask_open(parent, "Load preset", _FILTER)
    if path is not None and session.attempt(lambda: read_preset(session, path)):
        session.notify(Level.INFO, f"The settings of {path.name} are in use.")


def save_preset(session: Session, parent: QWidget) -> None:
    """Ask for a name and write the settings."""
    path = ask_save(parent, "Save preset", "preset.toml", _FILTER)
    if path is not None and session.attempt(lambda: write_preset(session, path)):
        session.mark_saved()
        session.notify(Level.INFO, f"Saved. The same on the command line: bgsub run SOURCE --config {path}")
