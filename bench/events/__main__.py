"""Events of `bgsub scan` and of DVR-Scan against those marked by eye, and on scenes in which nothing happens."""

import argparse
import json
import re
import resource
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.events.quiet import SCENES, make_quiet
from bgsub.config import Config
from bgsub.events import Event, EventMachine, Measure
from bgsub.frames import VideoInfo
from bgsub.scanning import QUICK, ScanSettings, scan
from bgsub.video.sources.synthetic.families.stage import RATE_HZ

Span = tuple[float, float]


@dataclass(frozen=True)
class Score:
    """How found events compare with true ones."""

    true: int
    found: int
    met: int
    """True events that some found one overlaps."""
    false: int
    """Found events that overlap no true one."""
    fragments: int
    """Found events beyond the first of a true one, and true ones beyond the first of a found one."""
    errors_s: tuple[float, ...]
    """Differences of starts and ends, of pairs that overlap each other alone."""

    def __str__(self) -> str:
        recall = self.met / self.true if self.true else 1.0
        precision = (self.found - self.false) / self.found if self.found else 1.0
        worst = max((abs(error) for error in self.errors_s), default=0.0)
        within = sum(abs(error) <= 0.5 for error in self.errors_s)
        return (
            f"{self.true} true, {self.found} found, recall {recall:.2f}, precision {precision:.2f}, "
            f"{self.fragments} fragments, {within} of {2 * self.true} ends within 0.5 s, worst {worst:.2f} s"
        )


def compare(true: list[Span], found: list[Span]) -> Score:
    """Compare found events with true ones."""

    def meet(one: Span, other: Span) -> bool:
        return one[0] <= other[1] and other[0] <= one[1]

    of_true = [[event for event in found if meet(span, event)] for span in true]
    of_found = [[span for span in true if meet(span, event)] for event in found]
    fragments = sum(max(0, len(events) - 1) for events in of_true) + sum(max(0, len(spans) - 1) for spans in of_found)
    errors = [
        error
        for span, events in zip(true, of_true, strict=True)
        if len(events) == 1 and sum(meet(events[0], other) for other in true) == 1
        for error in (events[0][0] - span[0], events[0][1] - span[1])
    ]
    met = sum(bool(events) for events in of_true)
    return Score(len(true), len(found), met, sum(not spans for spans in of_found), fragments, tuple(errors))


def by_bgsub(video: Path, settings: ScanSettings) -> list[Span]:
    """Return the events that `bgsub scan` finds, in seconds of the file."""
    with tempfile.TemporaryDirectory() as folder:
        result = scan([video], folder, settings)
    return [(event.event.start.time_s, event.event.end.time_s) for event in result.events]


def by_dvr_scan(program: str, video: Path, first_s: float) -> list[Span]:
    """Return the events of DVR-Scan's defaults, without the 1.5 s and 2 s that it adds around each.

    It counts time from the first frame, which need not be at 0.
    """
    command = [program, "-i", str(video), "--scan-only", "--quiet"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    times = [
        3600 * int(hours) + 60 * int(minutes) + float(seconds)
        for hours, minutes, seconds in re.findall(r"(\d\d):(\d\d):(\d\d\.\d+)", done.stdout)
    ]
    pairs = zip(times[::2], times[1::2], strict=True)
    spans = [(first_s + start + (1.5 if start > 0 else 0.0), first_s + end - 2.0) for start, end in pairs]
    return [(start, max(start, end)) for start, end in spans]  # at the end of a file it adds less


def quiet_scene(kind: str, frames: int, size: tuple[int, int], seed: int) -> str:
    """Return what is found in a scene in which nothing happens, of a size that scans leave as it is."""
    config = Config()
    _, step = ScanSettings().sampling(VideoInfo(kind, size, RATE_HZ))
    pipeline = config.make_pipeline(config.make_detector(rate_hz=RATE_HZ / step, threads=1), want_score=True)
    machine, measure = EventMachine(), Measure(min_area=EventMachine().rules.min_area)
    found = []
    for packet in make_quiet(kind, seed=seed, size=size, frames=frames).frames(step):
        found += machine.see(measure(pipeline.step(packet)))
    found += machine.finish()
    events = [one for one in found if isinstance(one, Event)]
    where = ", ".join(f"{event.start.time_s:.1f} to {event.end.time_s:.1f} s" for event in events[:5])
    changes = len(found) - len(events)
    return f"{len(events)} events{f' ({where})' if events else ''}, {changes} changes of the scene"


def _cpu_s() -> float:
    here, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return here.ru_utime + here.ru_stime + children.ru_utime + children.ru_stime


def _timed(label: str, function, *arguments) -> list[Span]:
    begin = _cpu_s()
    found = function(*arguments)
    print(f"  {label}: {_cpu_s() - begin:.1f} s of CPU time")
    return found


def main() -> None:
    """Print a line for each video and each scene."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="?", help="folder with the videos of truth.json")
    parser.add_argument("--dvr-scan", help="program to compare with, such as venv/bin/dvr-scan")
    parser.add_argument("--quiet-minutes", type=float, default=0.0, help="length of each scene without events")
    parser.add_argument("--quiet-size", default="320x180", help="WIDTHxHEIGHT of these scenes")
    parser.add_argument("--quiet-seed", type=int, default=0, help="other scenes of the same kinds")
    parser.add_argument("--quiet", choices=SCENES, nargs="+", default=SCENES, help="which of them")
    options = parser.parse_args()
    truth = json.loads((Path(__file__).parent / "truth.json").read_text())
    if options.data is not None:
        quick = ScanSettings(**QUICK)
        scan(["synthetic:easy?frames=40"], tempfile.mkdtemp())  # compiles, or loads, before anything is timed
        for name, spans in truth["videos"].items():
            video = options.data / name
            true = [(float(start), float(end)) for start, end in spans]
            print(name)
            found = {
                "bgsub": _timed("bgsub", by_bgsub, video, ScanSettings()),
                "bgsub --quick": _timed("bgsub --quick", by_bgsub, video, quick),
            }
            if options.dvr_scan:
                first_s = truth["first_frame_s"].get(name, 0.0)
                found["dvr-scan"] = _timed("dvr-scan", by_dvr_scan, options.dvr_scan, video, first_s)
            for label, events in found.items():
                print(f"  {label}: {compare(true, events)}")
                print("   ", " ".join(f"{start:.2f}-{end:.2f}" for start, end in events))
    frames = round(options.quiet_minutes * 60 * RATE_HZ)
    width, height = (int(side) for side in options.quiet_size.split("x"))
    for kind in options.quiet if frames else ():
        begin = time.process_time()
        found = quiet_scene(kind, frames, (height, width), options.quiet_seed)
        print(f"{kind}: {found} ({time.process_time() - begin:.0f} s of CPU time)", flush=True)


if __name__ == "__main__":
    main()
