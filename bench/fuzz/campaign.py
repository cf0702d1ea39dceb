"""Run many cases in worker processes under watch, and keep the inputs of those that fail."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench.fuzz.cases import Case, make_case
from bench.fuzz.judge import judge
from bench.fuzz.seeds import make_seeds

__all__ = ["Outcome", "run_campaign"]

_START_S = 120.0  # of the first case of a worker, which may compile kernels


@dataclass
class Outcome:
    """Counts of a campaign."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    """Cases by kind and exit code."""
    faults: dict[int, str] = field(default_factory=dict)
    """Descriptions by the number of the case."""


class _Worker:
    """A worker process, started again after it has died or was stopped."""

    def __init__(self, memory_bytes: int, limit_s: float) -> None:
        self._command = [sys.executable, "-m", "bench.fuzz.worker", str(memory_bytes)]
        self._limit_s = limit_s
        self._process: subprocess.Popen[str] | None = None

    def run(self, case: Case) -> tuple[str, int]:
        """Return the fault of a case, if any, and its exit code."""
        fresh = self._process is None
        if self._process is None:
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        request = {"arguments": case.arguments, "allowed": case.allowed, "outputs": str(case.outputs)}
        print(json.dumps(request), file=process.stdin, flush=True)
        ready, _, _ = select.select([process.stdout], [], [], _START_S if fresh else self._limit_s)
        answer = process.stdout.readline() if ready else ""
        if answer:
            found = json.loads(answer)
            return found["fault"], found["status"]
        self.stop()
        return ("hangs" if not ready else f"crashes with status {process.returncode}"), process.returncode

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def run_campaign(
    count: int,
    seed: int,
    folder: Path,
    *,
    first: int = 0,
    memory_bytes: int = 8 * 2**30,
    limit_s: float = 30.0,
    progress: Callable[[int, Outcome], None] | None = None,
) -> Outcome:
    """Run `count` cases.

    Parameters
    ----------
    count, seed : int
        Number of cases, and the seed that determines them.
    folder : Path
        Where inputs are made; those of failing cases stay in `failed/NUMBER`, with the arguments.
    first : int
        Number of the first case.
    memory_bytes : int
        Limit of the address space of the worker.
    limit_s : float
        Time after which a case counts as hanging.
    progress : callable, optional
        Called after each case.
    """
    seeds, outcome, worker = make_seeds(folder / "seeds"), Outcome(), _Worker(memory_bytes, limit_s)
    try:
        for number in range(first, first + count):
            kept = folder / "failed" / str(number)
            shutil.rmtree(kept, ignore_errors=True)
            case = make_case(number, seed, seeds, kept)
            fault, status = worker.run(case) if case.signal_after_s is None else _interrupt(case, number, limit_s)
            outcome.statuses[case.kind, status] += 1
            if fault:
                outcome.faults[number] = f"{case.kind}: {fault}"
                (kept / "case.json").write_text(json.dumps({"arguments": case.arguments, "fault": fault}, indent=1))
            else:
                shutil.rmtree(kept)
            if progress is not None:
                progress(number, outcome)
    finally:
        worker.stop()
    return outcome


def _interrupt(case: Case, number: int, limit_s: float) -> tuple[str, int]:
    """Run a case in a process of its own, which gets a signal at some moment after its first output."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bgsub", *case.arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONFAULTHANDLER": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
    )
    deadline = time.monotonic() + _START_S
    while not any(case.outputs.iterdir()) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(case.signal_after_s or 0)
    process.send_signal(signal.SIGINT if np.random.default_rng(number).random() < 0.5 else signal.SIGTERM)
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # the fault handler prints where each thread is
        _, err = process.communicate()
        return f"does not end after a signal:\n{err}", -1
    fault = judge(process.returncode, case.allowed, out, err, case.outputs, interrupted=True)
    return (f"{fault}: {err.strip()[-500:]}" if fault else ""), process.returncode
