"""Rows of a report as plain values for JSON, and back."""

import math
import sys
from collections.abc import Mapping
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub.errors import ReportError
from bgsub.evaluation.metrics import Counts
from bgsub.evaluation.reports.rows import Row
from bgsub.evaluation.roc import Roc, thin_out

__all__ = ["cells", "plain", "row_from_json", "row_to_json"]

_CURVE_POINTS = 200
_DEEPEST = 20
_COUNTS = ("tp", "fp", "fn", "tn")
_TIMELINE = ("number", *_COUNTS)
_CURVE = ("auc", "best_f", "best_threshold")


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON knows it: NaN and infinity become None, arrays and tuples lists, other objects text.

    Raises
    ------
    ReportError
        If the value is nested too deeply.
    """
    if depth > _DEEPEST:
        raise ReportError(f"parameters and provenance must not be nested more than {_DEEPEST} deep; leave such out")
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(item, depth + 1) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, depth + 1) for item in value]
    return str(value)


def cells(row: Row) -> dict[str, Any]:
    """Return the single values of a row by name, with its measures."""
    return {
        "model": row.model,
        "category": row.category,
        "sequence": row.sequence,
        "family": row.family,
        **{name: getattr(row.counts, name) for name in _COUNTS},
        **row.measures(),
        "frames": row.frames,
        "scored": row.scored,
        "unlabelled": row.unlabelled,
        "model_hz": row.model_hz,
        "total_hz": row.total_hz,
        "memory_bytes": row.memory_bytes,
        "data": row.data,
        **{name: None if row.roc is None else getattr(row.roc, name) for name in _CURVE},
        "knob": row.knob,
        "error": row.error,
    }


def row_to_json(row: Row, *, timelines: bool) -> dict[str, Any]:
    """Return a row as plain dicts and lists, without its samples; its curve is thinned out."""
    entry = {name: plain(value) for name, value in cells(row).items()}
    if row.parameters:
        entry["parameters"] = plain(row.parameters)
    if row.roc is not None:
        entry["roc"] = thin_out(row.roc, _CURVE_POINTS)
    if timelines and row.timeline is not None:
        entry["timeline"] = dict(zip(_TIMELINE, row.timeline.T.tolist(), strict=True))
    return entry


def row_from_json(entry: Any) -> Row:
    """Return the row that `row_to_json` stored.

    Raises
    ------
    ReportError
        If a value is missing or of another kind.
    """
    if not isinstance(entry, Mapping):
        raise ReportError(_problem(f"a row must be an object, got {type(entry).__name__}"))
    texts = {name: _value(entry, name, str, "a text") for name in ("model", "category", "sequence")}
    row_counts = {name: _count(entry, name) for name in (*_COUNTS, "frames", "scored")}
    memory, knob = entry.get("memory_bytes"), entry.get("knob")
    return Row(
        **texts,
        counts=Counts(*(row_counts[name] for name in _COUNTS)),
        frames=row_counts["frames"],
        scored=row_counts["scored"],
        model_hz=_number(entry, "model_hz"),
        total_hz=_number(entry, "total_hz"),
        memory_bytes=None if memory is None else _count(entry, "memory_bytes"),
        roc=_roc(entry),
        unlabelled=_count(entry, "unlabelled") if "unlabelled" in entry else 0,
        family=_value(entry, "family", str, "a text") if "family" in entry else "",
        data=_value(entry, "data", str, "a text") if "data" in entry else "",
        knob=None if knob is None else _number(entry, "knob"),
        parameters=plain(_value(entry, "parameters", Mapping, "an object")) if "parameters" in entry else {},
        error=_value(entry, "error", str, "a text") if "error" in entry else "",
        timeline=_timeline(entry),
    )


def _problem(reason: str) -> str:
    return f"the file is no report: {reason}; write it again with bgsub evaluate --json"


def _value(entry: Mapping[str, Any], name: str, kind: type, words: str) -> Any:
    value = entry.get(name)
    if not isinstance(value, kind):
        raise ReportError(_problem(f"{name} of a row must be {words}, got {value!r:.40}"))
    return value


def _count(entry: Mapping[str, Any], name: str) -> int:
    value: int = _value(entry, name, int, "a whole number")
    if isinstance(value, bool) or not 0 <= value < 2**63:
        raise ReportError(_problem(f"{name} of a row must be a whole number of at least 0, got {value!r:.40}"))
    return value


def _number(entry: Mapping[str, Any], name: str) -> float:
    """Return a number, NaN where it is None."""
    value = entry.get(name)
    if value is None:
        return math.nan
    if type(value) not in (int, float) or abs(value) > sys.float_info.max:
        raise ReportError(_problem(f"{name} of a row must be a finite number, got {value!r:.40}"))
    return float(value)


def _array(values: Any, name: str, dtype: type) -> NDArray[Any]:
    if not isinstance(values, list):
        raise ReportError(_problem(f"{name} of a row must be a list, got {values!r:.40}"))
    if not {type(value) for value in values} <= ({int} if dtype is np.int64 else {int, float, NoneType}):
        raise ReportError(_problem(f"{name} of a row must be a list of numbers"))
    try:
        return np.array([math.inf if value is None else value for value in values], dtype)
    except OverflowError:
        raise ReportError(_problem(f"{name} of a row holds a number that is too large")) from None


def _columns(entry: Mapping[str, Any], name: str, columns: tuple[str, ...], dtype: type) -> list[NDArray[Any]]:
    """Return the lists of an object as arrays of one length."""
    stored: Mapping[str, Any] = _value(entry, name, Mapping, "an object")
    arrays = [_array(stored.get(column), f"{name} {column}", dtype) for column in columns]
    if len({len(array) for array in arrays}) != 1:
        raise ReportError(_problem(f"the lists of {name} must have one length"))
    return arrays


def _roc(entry: Mapping[str, Any]) -> Roc | None:
    if "roc" not in entry:
        return None
    fpr, tpr, thresholds = _columns(entry, "roc", ("fpr", "tpr", "thresholds"), np.float64)
    auc, best_f, best_threshold = (_number(entry, name) for name in _CURVE)
    return Roc(fpr, tpr, thresholds, auc, best_f, best_threshold)


def _timeline(entry: Mapping[str, Any]) -> NDArray[np.int64] | None:
    if "timeline" not in entry:
        return None
    return np.stack(_columns(entry, "timeline", _TIMELINE, np.int64), axis=1)
