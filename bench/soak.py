"""A long run and many ends: memory over time, and what signals leave behind.

    python -m bench.soak [--frames N] [--size WIDTHxHEIGHT] [--sink-ms MS] [--kills M] [--seed S]

First N frames of a generated scene go through `bgsub.run` into all outputs and a sink that sleeps; memory, open files
and threads are sampled ten times. Then M processes of `bgsub run` get SIGINT, SIGTERM, SIGHUP or SIGKILL in turn after
a random time, some of them twice, and their outputs are read back. Linux only (/proc).
"""

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import bgsub
from bgsub.frames import Result
from bgsub.video.sinks import RunContext
from bgsub.video.sinks.model import SavedModel

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
OUTPUTS = ("-o", "m.mkv", "--overlay", "o.mp4", "--stats", "s.csv", "--save-model", "g.npz", "--save-every", "0.02")
START_S, END_S = 120.0, 30.0  # longest waits for a process to begin and to end


class Sampler(bgsub.Sink):
    """Sleeps for each result, and samples the process ten times in the run."""

    def __init__(self, frames: int, sink_ms: float) -> None:
        self.every, self.pause_s = max(frames // 10, 1), sink_ms / 1e3

    def write(self, result: Result) -> None:
        """Wait; sample."""
        time.sleep(self.pause_s)
        index = result.packet.index
        if index == 0:
            print(f"{'frame':>10} {'s':>8} {'MB':>8} {'files':>6} {'threads':>8}")
            self.begin_s = time.perf_counter()
        if index % self.every == 0:
            resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            files = len(list(Path("/proc/self/fd").iterdir()))
            elapsed_s = time.perf_counter() - self.begin_s
            print(f"{index:>10} {elapsed_s:>8.1f} {resident / 1e6:>8.1f} {files:>6} {threading.active_count():>8}")


def soak(frames: int, size: str, sink_ms: float) -> None:
    """Run many frames in this process."""
    source = bgsub.open_source(f"synthetic:walkers?frames={frames}&size={size}")
    model = bgsub.create()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sinks = [
            bgsub.MaskVideo(folder / "m.mkv"),
            bgsub.OverlayVideo(folder / "o.mp4"),
            bgsub.StatsCsv(folder / "s.csv"),
            SavedModel.from_path(folder / "g.npz", RunContext(model=model, save_interval_s=5.0)),
            Sampler(frames, sink_ms),
        ]
        summary = bgsub.run(source, bgsub.Pipeline(model), sinks)
    print(f"{summary.frames} frames in {summary.elapsed_s:.1f} s\n")


def rows(path: Path) -> int:
    """Whole lines of a table without its head; -1 if its last line is torn."""
    text = path.read_text() if path.exists() else ""
    return max(text.count("\n") - 1, 0) if text.endswith("\n") or not text else -1


def frames_of(path: Path) -> str:
    """Number of frames that can be read, with a mark if the file ends in an error."""
    count, mark = 0, ""
    try:
        with bgsub.open_source(str(path)) as source:
            for _ in source:
                count += 1
    except bgsub.BgsubError:
        mark = "!"
    return f"{count}{mark}"


def seen(path: Path) -> str:
    """Frames that a saved model has seen."""
    try:
        return str(bgsub.load(path).frames_seen) if path.exists() else "none"
    except bgsub.BgsubError:
        return "broken"


def kill_one(number: signal.Signals, again: bool, wait_s: float, size: str) -> str:
    """Start a run, end it by a signal, and return a line on what it left."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [sys.executable, "-m", "bgsub", "run", f"synthetic:walkers?frames=10000000&size={size}", *OUTPUTS]
        begin_s = time.monotonic()
        with subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as process:
            while rows(folder / "s.csv") < 1 and process.poll() is None and time.monotonic() < begin_s + START_S:
                time.sleep(0.05)
            time.sleep(wait_s)
            process.send_signal(number)
            if again:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(1.1)
                process.send_signal(number)
            try:
                _, message = process.communicate(timeout=END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                message = "it did not end"
        hidden = sum(file.name.startswith(".") for file in folder.iterdir())
        return (
            f"{number.name:<8} {'twice' if again else 'once':<6} {wait_s:>5.2f} {process.returncode:>4} "
            f"{rows(folder / 's.csv'):>6} {frames_of(folder / 'm.mkv'):>6} {frames_of(folder / 'o.mp4'):>8} "
            f"{seen(folder / 'g.npz'):>6} {hidden:>6}  {message.strip().removeprefix('bgsub: ')}"
        )


def main() -> None:
    """Parse, soak, kill."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=20_000)
    parser.add_argument("--size", default="320x240")
    parser.add_argument("--sink-ms", type=float, default=2.0)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup the processes started here would ignore it, too
    if options.frames:
        soak(options.frames, options.size, options.sink_ms)
    chance = random.Random(options.seed)  # noqa: S311 - repeatable, not secret
    if options.kills:
        print("signal   sent   after   rc   rows  masks  overlay  model hidden  message")
    for index in range(options.kills):
        number = SIGNALS[index % len(SIGNALS)]
        again = number != signal.SIGKILL and index // len(SIGNALS) % 2 == 1
        print(kill_one(number, again, chance.uniform(0.05, 3.0), options.size), flush=True)


if __name__ == "__main__":
    main()
