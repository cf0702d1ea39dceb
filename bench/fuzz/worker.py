"""The process that runs cases one after the other; it may crash, hang or run out of memory."""

import contextlib
import json
import os
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.fuzz.judge import judge
from bgsub.cli import main
from bgsub.errors import ModelFileError
from bgsub.learners import load

__all__ = ["serve"]

_MOST_GROWTH = 2**30  # bytes by which one small case may raise the peak


def serve(memory_bytes: int) -> None:
    """Read cases from standard input, one JSON object per line, and answer each by a line on standard output."""
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    with Path(os.devnull).open() as null:
        os.dup2(null.fileno(), 0)
    for line in requests:
        fault, status = _run(json.loads(line))
        print(json.dumps({"fault": fault, "status": status}), file=answers, flush=True)


def _run(case: dict[str, Any]) -> tuple[str, int]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with _into(out.fileno(), 1), _into(err.fileno(), 2):
            status = _call(case["arguments"])
            sys.stdout.flush()
            sys.stderr.flush()
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    fault = judge(status, tuple(case["allowed"]), *texts, Path(case["outputs"]), interrupted=False)
    if not fault and grown > _MOST_GROWTH:
        fault = f"took {grown >> 20} MiB"
    return (f"{fault}: {texts[1].strip()[-500:]}" if fault else ""), status


def _call(arguments: list[str]) -> int:
    if arguments[0] != "learner":
        return main(arguments)
    try:
        load(arguments[1])
    except ModelFileError as error:
        print(f"bgsub: error: {error}", file=sys.stderr)
        return 1
    return 0


@contextlib.contextmanager
def _into(file: int, descriptor: int) -> Any:
    """Let a descriptor lead to a file for a while."""
    kept = os.dup(descriptor)
    os.dup2(file, descriptor)
    try:
        yield
    finally:
        os.dup2(kept, descriptor)
        os.close(kept)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
