"""Compiled functions as plain Python, with one of them replaced by a wrong one, which a test must notice."""

import importlib
import importlib.util
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

_JIT = "bgsub.detectors._jit."


def plain(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return a second copy of a module of compiled functions, in which they and what they call are plain Python.

    `sys.modules` is left alone: the compiled ones stay in use.
    """
    ring, module = _load("ring", monkeypatch), _load(name, monkeypatch)
    for attribute in set(ring.__all__) & set(vars(module)):
        setattr(module, attribute, getattr(ring, attribute))
    return module


def _load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    importlib.import_module(_JIT + name)  # so that the modules it imports are compiled ones
    spec = importlib.util.find_spec(_JIT + name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with monkeypatch.context() as patch:
        for compiler in ("banded", "compiled", "compiled_views", "part", "inlined", "shared"):
            patch.setattr(f"bgsub._numba.{compiler}", lambda function: function)
        patch.setattr("bgsub._numba.prefetch", lambda row: None)
        spec.loader.exec_module(module)
    return module


def break_function(module: ModuleType, name: str, wrong: Callable[[Any], Any]) -> None:
    """Replace a function that the module's functions call by `wrong` of the right one."""
    setattr(module, name, wrong(getattr(module, name)))
