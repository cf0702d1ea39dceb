"""Decide whether `bgsub` did what it promises: exit code, one line, no crash, readable outputs."""

import csv
import json
import math
from pathlib import Path

import numpy as np

import bgsub
from bgsub.errors import BgsubError
from bgsub.video.sources import open_source

__all__ = ["judge"]

_NEVER = ("Traceback", "unexpected", "Fatal Python error", "not enough memory", "the system refuses")


def judge(status: int, allowed: tuple[int, ...], out: str, err: str, outputs: Path, *, interrupted: bool) -> str:
    """Return the fault of a run, empty if there is none.

    Parameters
    ----------
    status : int
        Exit code.
    allowed : tuple of int
        Exit codes that are right.
    out, err : str
        What it printed.
    outputs : Path
        Folder it wrote to.
    interrupted : bool
        Whether it got a signal, which may come before anything is written.
    """
    if status not in allowed:
        return f"exit code {status}"
    for text in _NEVER:
        if text in err:
            return f"printed {text!r}"
    explained = [line for line in err.splitlines() if line.startswith(("bgsub: error: ", "Error: "))]
    if len(explained) != (status in (1, 2)):
        return f"explained {len(explained)} errors"
    try:
        counts = _count(outputs)
    except (BgsubError, ValueError, KeyError) as error:
        return f"an output is not readable: {error}"
    if len(set(counts.values())) > 1:
        return f"outputs differ in length: {counts}"
    if status == 0 and out and not interrupted:
        summary = json.loads(out)
        if counts and summary["frames"] not in counts.values():
            return f"the summary has {summary['frames']} frames, outputs have {counts}"
    return ""


def _count(outputs: Path) -> dict[str, int]:
    """Read every output, and return the number of frames in each that has some."""
    counts = {}
    for path in sorted(outputs.iterdir()):
        if path.suffix == ".mkv":
            with open_source(path) as source:
                times = [packet.time_s for packet in source if path.stem != "mask" or _is_mask(packet.frame)]
            if any(not math.isfinite(time_s) for time_s in times):
                raise ValueError(f"{path.name} has no times")
            counts[path.name] = len(times)
        elif path.suffix == ".csv":
            with path.open(newline="") as file:
                rows = list(csv.DictReader(file))
            counts[path.name] = len(rows)
            if any(not math.isfinite(float(row["time_s"])) for row in rows):
                raise ValueError(f"{path.name} has no times")
        elif path.name == "model.npz":
            bgsub.load(path)
        else:
            raise ValueError(f"{path.name} was left behind")
    return counts


def _is_mask(frame: np.ndarray) -> bool:
    if not np.isin(frame, (0, 255)).all():
        raise ValueError("a mask has values between 0 and 255")
    return True
