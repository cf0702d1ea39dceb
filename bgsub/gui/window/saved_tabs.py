"""A session file: one source, or all tabs of a window with the cameras of a watch; no Qt."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import tomli_w

from bgsub._files import write_text
from bgsub._input.tables import Table, read_toml
from bgsub.errors import ConfigError
from bgsub.gui.workspace import Workspace, describe_workspace, parse_table

__all__ = ["SavedCameras", "SavedTabs", "parse_session", "read_session", "session_text", "write_session"]

_ONE, _SEVERAL = 1, 2
"""Versions of the file; one tab is written as before there were several, so that earlier versions can read it."""
_MOST_BYTES = 2**26
_MOST_TABS = 100


@dataclass(frozen=True, slots=True)
class SavedCameras:
    """The cameras of a file of `bgsub watch`, side by side in a tab."""

    watch: str
    """Path of that file; addresses and passwords stay there."""
    opened: tuple[str, ...] = ()
    """Names of the cameras that were also open with all panels."""
    changed: Mapping[str, Workspace] = field(default_factory=lambda: MappingProxyType({}))
    """Settings of the cameras that have others than the file says, by name."""


@dataclass(frozen=True, slots=True)
class SavedTabs:
    """Everything that a session file holds."""

    tabs: tuple[Workspace | SavedCameras, ...]
    shown: int = 0
    """0-based position of the tab that was shown."""
    camera: str = ""
    """Name of the camera that was shown with all panels, of the cameras in that tab; empty for all of them."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to continue."""
        return not any(isinstance(tab, SavedCameras) or tab.source for tab in self.tabs)


def session_text(saved: SavedTabs) -> str:
    """Return a session as TOML, which `parse_session` reads."""
    first = saved.tabs[0] if len(saved.tabs) == 1 else None
    if isinstance(first, Workspace):
        return tomli_w.dumps({"version": _ONE, **describe_workspace(first)})
    values: dict[str, Any] = {"version": _SEVERAL, "shown": saved.shown}
    if saved.camera:
        values["camera"] = saved.camera
    values["tabs"] = [_describe(tab) for tab in saved.tabs]
    return tomli_w.dumps(values)


def write_session(saved: SavedTabs, path: Path) -> None:
    """Write a session file.

    Raises
    ------
    ConfigError
        If the file cannot be written.
    """
    write_text(path, session_text(saved), ConfigError, what="session")


def read_session(path: Path) -> SavedTabs:
    """Read a session file.

    Raises
    ------
    ConfigError
        If it is missing or wrong, or names ground truth that is not there; the message names file and entry.
    """
    return _parse(read_toml(path, _MOST_BYTES))


def parse_session(text: str, name: str) -> SavedTabs:
    """Read a session from text, called `name` in messages.

    Raises
    ------
    ConfigError
        As `read_session`.
    """
    try:
        return _parse(Table(tomllib.loads(text), name))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{name} is no valid TOML: {error}") from error


def _describe(tab: Workspace | SavedCameras) -> dict[str, Any]:
    if isinstance(tab, Workspace):
        return describe_workspace(tab)
    values: dict[str, Any] = {"watch": tab.watch, "opened": list(tab.opened)}
    if tab.changed:
        values["changed"] = {name: describe_workspace(workspace) for name, workspace in tab.changed.items()}
    return values


def _parse(table: Table) -> SavedTabs:
    version = table.whole("version", least=1)
    if version == _ONE:
        return SavedTabs((parse_table(table),))
    if version != _SEVERAL:
        raise table.error("version", f"must be {_ONE} or {_SEVERAL}; the file is of another version of bgsub")
    entries = table.raw("tabs", [])
    if not isinstance(entries, list) or not 1 <= len(entries) <= _MOST_TABS:
        raise table.error("tabs", f"must be a list of 1 to {_MOST_TABS} tables")
    if not all(isinstance(entry, dict) for entry in entries):
        raise table.error("tabs", "must be a list of tables")
    tabs = tuple(_parse_tab(Table(entry, table.file, f"tabs[{index}]")) for index, entry in enumerate(entries))
    saved = SavedTabs(tabs, table.whole("shown", 0, most=len(tabs) - 1), table.text("camera", ""))
    table.finish()
    return saved


def _parse_tab(table: Table) -> Workspace | SavedCameras:
    if "watch" not in table:
        return parse_table(table)
    opened = table.raw("opened", [])
    if not isinstance(opened, list) or not all(isinstance(name, str) for name in opened):
        raise table.error("opened", "must be a list of names of cameras", opened)
    changed = {name: parse_table(inner) for name, inner in table.table("changed").tables()}
    saved = SavedCameras(table.text("watch"), tuple(dict.fromkeys(opened)), MappingProxyType(changed))
    table.finish()
    return saved
