"""Contribution of each mechanism of the adaptive detector: F and time without it, and with more or fewer slots.

python -m bench.detectors.ablation DATASET ... [--only NAME ...]

Removes one mechanism at a time, evaluates all sequences of the data sets, which may be generated
("generated:all?size=160x120"), and prints F per sequence, or per family of generated ones, the mean of all of them, and
milliseconds per frame at 640x480 on one thread as a share of MOG2's on the same frames.
"""

import argparse
import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from bgsub._jit.majority import CELL, IN_LARGE, IN_MIDDLE, LARGEST
from bgsub._numba import find_team
from bgsub._opencv import cv2
from bgsub.bench import make_frames
from bgsub.detectors.adaptive import detector as adaptive
from bgsub.detectors.adaptive import (
    exposure,
    final_mask,
    forgetting,
    ghosts,
    lighting,
    model,
    reduced,
    shadows,
)
from bgsub.detectors.adaptive._jit.outlines import faint as faint_votes
from bgsub.detectors.adaptive._jit.outlines.edges import weigh_outlines
from bgsub.detectors.adaptive.camera import follower, shaking
from bgsub.detectors.adaptive.camera.offsets import Found
from bgsub.detectors.adaptive.camera.shifts import STILL
from bgsub.evaluation import Sequence, evaluate, open_datasets
from bgsub.evaluation.datasets.generated import GeneratedSequence

_NEVER = 1e9
_NOWHERE = Found(STILL, 0.0, 0.0, 0.0)


class LearnsEverywhere(adaptive.Adaptive):
    """Learns foreground, too."""

    def _find_forgotten(self, final: Any) -> Iterator[Any]:
        return iter(())

    def _update(self, learning: Any) -> None:
        final = self._final.masked.mask
        kept = final.copy()
        final[:] = 0
        super()._update(learning)
        final[:] = kept


class SearchesEvenly(adaptive.Adaptive):
    """Searches for ghosts as often whatever moves."""

    def _are_ghosts_due(self, turnover: Any, longest: int) -> bool:
        return bool(self._scalars["frames"] % longest == 0)


def never_static(dynamics: Any, age: int, sides: Any, threads: int, grids: Any) -> None:
    """Use the large square everywhere."""
    grids.static[:], grids.faint_static[:], grids.broad_static[:] = 0, 0, 0


def never_broad(dynamics: Any, age: int, sides: Any, threads: int, grids: Any) -> None:
    """Use smaller squares as if their regions had no size."""
    final_mask.find_static(dynamics, age, sides, threads, grids)
    grids.broad_static[:] = 0


def small_or_large(dynamics: Any, age: int, sides: Any, threads: int, grids: Any) -> None:
    """Use large squares where small ones do not count."""
    final_mask.find_static(dynamics, age, sides, threads, grids)
    grids.static[grids.static == IN_MIDDLE] = 0


def none_restless(levels: Any, least: float) -> Any:
    """Judge each cell by all of its neighbourhood, whether it is restless there or not."""
    return np.zeros_like(levels)


def all_restless(cells: Any, recent: Any, onset_rates: Any, restless: Any, age: int) -> None:
    """Let what is always there count as a false alarm everywhere."""
    final_mask.follow_onsets(cells, recent, onset_rates, np.full_like(restless, 255), age)


def weigh_bright_outlines(
    points: Any, ends: Any, mask: Any, frame: Any, background: Any, unit: Any, *others: Any
) -> None:
    """Compare edges of the mean of all channels."""
    grey = (planes.astype(np.float32).sum(0, keepdims=True) for planes in (frame, background))
    weigh_outlines(points, ends, mask, *grey, unit, *others)


def nothing_tiny(found: Any, seen: Any, static: Any, broad: Any, region: Any, sides: Any, *others: Any) -> None:
    """Leave what is faint only."""
    final_mask.find_masks(found, seen, static, broad, region, sides, *others)
    _, _, masked, _ = others
    cells, voted, faint = masked.cells, masked.faint, seen.faint
    voted[:] = cv2.medianBlur(faint, min(sides.small, LARGEST))
    padded = np.zeros((CELL * cells.shape[0], CELL * cells.shape[1]), np.uint8)
    padded[: faint.shape[0], : faint.shape[1]] = voted
    cells[~padded.reshape(cells.shape[0], CELL, cells.shape[1], CELL).any((1, 3))] &= ~faint_votes.IN_FAINT


def faint_far_away(found: Any, seen: Any, static: Any, broad: Any, region: Any, sides: Any, *others: Any) -> None:
    """Treat whatever is clear as if it were large."""
    final_mask.find_masks(found, seen, static, broad, region, sides, *others)
    fill, threads, masked, _ = others
    cells = masked.cells & ~faint_votes.IN_FAINT
    marked, rule = cells | IN_LARGE, final_mask.make_rule(sides, fill)
    final = faint_votes.Found(masked.mask, masked.occupied_rows, seen.raw, seen.distance)
    team, side = find_team(found.shape, threads), min(sides.small, LARGEST)
    faint_votes.vote_on_faint(team, seen.faint, final, rule.clear, static, rule.far, side, marked, masked.faint)
    masked.cells[:] = cells | (marked & faint_votes.IN_FAINT)


def no_details(*given: Any) -> None:
    """Show no details, since nowhere do smaller squares count, only the final mask without its gaps."""
    masked, pictures, static, *others = given
    final_mask.find_details(masked, pictures, np.zeros_like(static), *others)


# name, constants of modules to change, parameters, class
Variant = tuple[str, dict[tuple[Any, str], Any], dict[str, Any], type[adaptive.Adaptive]]
_PLAIN: type[adaptive.Adaptive] = adaptive.Adaptive
_EQUAL = np.float32(0.999)
_NOT_WIDENED: dict[tuple[Any, str], Any] = {(adaptive, "_FLICKER_S"): _NEVER, (adaptive, "_FLICKER_FRAMES"): _NEVER}
VARIANTS: list[Variant] = [
    ("all of it, 3 slots", {}, {}, _PLAIN),
    ("1 slot", {}, {"slots": 1}, _PLAIN),
    ("2 slots", {}, {"slots": 2}, _PLAIN),
    ("4 slots", {}, {"slots": 4}, _PLAIN),
    ("8 slots", {}, {"slots": 8}, _PLAIN),
    ("shadows are foreground", {}, {"shadows": True}, _PLAIN),
    ("only equal colours are projected", dict.fromkeys([(adaptive, "TAU"), (model, "TAU")], _EQUAL), {}, _PLAIN),
    ("base width whatever the noise", {(exposure, "LEAST_BASE"): 1.0}, {}, _PLAIN),
    ("codecs are not recognised", {(exposure, "_CODEC_SIGMAS"): 0.0}, {}, _PLAIN),
    ("grey levels whatever the light", {(exposure, "_ORDINARY"): 1e-3}, {}, _PLAIN),
    ("fog is light of the scene", {(exposure, "_BELOW"): _NEVER}, {}, _PLAIN),
    ("grey is a colour, too", {(exposure, "_FEW_COLOURED"): -1.0}, {}, _PLAIN),
    ("one width for all pixels", {(adaptive, "_FACTOR_RATE"): 0.0}, {}, _PLAIN),
    ("widths grow no faster at the start", {(adaptive, "_EARLY"): 0.0}, {}, _PLAIN),
    ("blinking foreground is not widened", _NOT_WIDENED, {}, _PLAIN),
    ("or only after six seconds", {(adaptive, "_FLICKER_FRAMES"): _NEVER}, {}, _PLAIN),
    ("raw foreground that stays does not widen", {(adaptive, "_LINGERING"): -0.1}, {}, _PLAIN),
    ("squares tell nothing", {(reduced, "_FIRST_LIMIT"): _NEVER}, {}, _PLAIN),
    ("squares know no hue", {(reduced, "_count_features"): lambda channels: channels}, {}, _PLAIN),
    ("no smoothing, holes or ghosts", {}, {"smoothing": 1, "fill": False, "ghosts": False}, _PLAIN),
    ("calm ground counts for the tree in it", {(final_mask, "_find_restless"): none_restless}, {}, _PLAIN),
    ("large square only", {(adaptive, "find_static"): never_static}, {}, _PLAIN),
    ("no middle square", {(adaptive, "find_static"): small_or_large}, {}, _PLAIN),
    ("broad regions do not count", {(adaptive, "find_static"): never_broad}, {}, _PLAIN),
    ("nothing faint or tiny", {(final_mask, "_AGAIN"): -1.0}, {}, _PLAIN),
    ("nothing tiny", {(adaptive, "find_masks"): nothing_tiny}, {}, _PLAIN),
    ("nothing faint beside what is clear, but small", {(adaptive, "find_masks"): faint_far_away}, {}, _PLAIN),
    ("small square everywhere", {(final_mask, "_ONSETS"): _NEVER, (final_mask, "_YOUNG"): 0}, {}, _PLAIN),
    ("the background is restless everywhere", {(adaptive, "follow_onsets"): all_restless}, {}, _PLAIN),
    ("small squares of 5 in reduced frames", {(final_mask, "_REDUCED_SMALL_PX"): 5}, {}, _PLAIN),
    ("large frames are not reduced", {(reduced, "_SQUARED_SIDES"): _NEVER}, {}, _PLAIN),
    ("small square where widths are low", {(final_mask, "_YOUNG"): _NEVER}, {}, _PLAIN),
    ("outlines never follow small squares alone", {(final_mask, "_HOLES"): -1.0}, {}, _PLAIN),
    ("always where they count", {(final_mask, "_HOLES"): 1.0, (final_mask, "_FINE_HOLES"): 1.0}, {}, _PLAIN),
    ("the calmest spot is calm, not a third", {(final_mask, "_CALM"): 0.0}, {}, _PLAIN),
    ("holes are not filled", {}, {"fill": False}, _PLAIN),
    ("no details", {(adaptive, "find_details"): no_details}, {}, _PLAIN),
    ("what sways is shown", {(final_mask, "_DISPLACED"): 2.0}, {}, _PLAIN),
    ("gaps are not opened", {(adaptive, "_GAP_PX"): 0}, {}, _PLAIN),
    ("only gaps of five pixels", {(adaptive, "_GAP_PX"): 5}, {}, _PLAIN),
    ("ghosts are not searched for", {}, {"ghosts": False}, _PLAIN),
    ("ghosts are searched for every 0.16 s only", {}, {}, SearchesEvenly),
    ("only whole regions can be ghosts", {(ghosts, "_ARC"): 2.0}, {}, _PLAIN),
    ("what has just come is a ghost as easily", {(ghosts, "_YOUNG"): 1.0}, {}, _PLAIN),
    ("edges count whatever texture is around", {(ghosts, "_APART_PX"): _NEVER}, {}, _PLAIN),
    ("edges of brightness, not of colour", {(ghosts, "weigh_outlines"): weigh_bright_outlines}, {}, _PLAIN),
    ("shadows count in outlines of ghosts", {(ghosts, "_is_ghost_without_shadows"): lambda *_: True}, {}, _PLAIN),
    ("old backgrounds are given up, too", {(forgetting, "_OLD"): _NEVER}, {}, _PLAIN),
    ("what is given up is forgotten", {(forgetting, "_KEPT_S"): 0.0}, {}, _PLAIN),
    ("widths begin narrow in ghosts", {(forgetting, "average_around"): lambda *given: given[-1]}, {}, _PLAIN),
    ("foreground is learned", {}, {}, LearnsEverywhere),
    ("no gain of the whole scene", {(exposure, "_ENOUGH"): 2.0}, {}, _PLAIN),
    ("colours never help", {(shadows, "_MOSTLY"): 0.0, (shadows, "_SELDOM"): 0.0}, {}, _PLAIN),
    ("votes on shadow in larger squares", {(shadows, "_SIDE_PX"): 15}, {}, _PLAIN),
    ("half is a majority whatever the colours", {(shadows, "_CAUTION"): 0.0}, {}, _PLAIN),
    ("shadows may take three quarters of the light", {(shadows, "_DARKEST"): np.float32(0.25)}, {}, _PLAIN),
    ("shadows never take more than two thirds", {(shadows, "_CHANCE"): np.float32(_NEVER)}, {}, _PLAIN),
    ("shadows may lack the texture of the ground", {(shadows, "_FLAT"): np.float32(0.0)}, {}, _PLAIN),
    ("lone shadows may be dark", {(shadows, "_DARK"): 0.0}, {}, _PLAIN),
    ("lone shadows may be sharp", {(shadows, "_SHARP"): _NEVER}, {}, _PLAIN),
    ("shadows may lie between", {(shadows, "_BETWEEN"): 1.0}, {}, _PLAIN),
    ("a shaking camera is not steadied", {(shaking, "find_offset"): lambda *_: _NOWHERE}, {}, _PLAIN),
    ("a knocked camera is not followed", {(follower, "is_sudden"): lambda *_: False}, {}, _PLAIN),
    ("another view is not noticed", {(follower, "_LASTING"): 2.0}, {}, _PLAIN),
    ("views are not recalled", {(follower, "_KNOWN"): _NEVER}, {}, _PLAIN),
    ("shadows of walkers are light", {(forgetting, "_SHADE_S"): 0.0}, {}, _PLAIN),
    ("brighter regions are light at once", {(lighting, "_AT_ONCE"): -1.0}, {}, _PLAIN),
    ("what is new and stands out may be a ghost", {(ghosts, "_stands_out"): lambda *_: False}, {}, _PLAIN),
    ("wrong ghosts are not taken back", {(forgetting, "take_back"): lambda *_: 0}, {}, _PLAIN),
    ("beams fall between parts of things", {(lighting, "_without_gaps"): lambda found, _: found}, {}, _PLAIN),
    ("beams are foreground", {(forgetting, "find_highlights"): lambda *_: None}, {}, _PLAIN),
    ("no search for changed light", {(forgetting, "find_relit"): lambda *_: None}, {}, _PLAIN),
    ("no restart after a flood", {(forgetting, "_FLOOD"): 2.0}, {}, _PLAIN),
]


@contextmanager
def changed(constants: dict[tuple[Any, str], Any]) -> Iterator[None]:
    """Change constants of modules temporarily."""
    with ExitStack() as stack:
        for (module, name), value in constants.items():
            stack.enter_context(patch.object(module, name, value))
        yield


def share_of_mog2(make: Callable[[], Any]) -> float:
    """Time a detector beside MOG2, taking turns."""
    frames = list(itertools.islice(itertools.cycle(make_frames((480, 640))), 120))
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        model, yardstick = make(), cv2.createBackgroundSubtractorMOG2()
        for frame in frames[:60]:
            model.apply(frame)
            yardstick.apply(frame)
        return statistics.median(
            _seconds(model, frames[start : start + 4]) / _seconds(yardstick, frames[start : start + 4])
            for start in range(60, 120, 4)
        )
    finally:
        cv2.setNumThreads(before)


def _seconds(model: Any, frames: list[Any]) -> float:
    model.apply(frames[0])  # brings the state into the caches
    start = time.perf_counter()
    for frame in frames[1:]:
        model.apply(frame)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print one line per variant."""
    names = [name for name, *_ in VARIANTS]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME", help="of variants")
    options = parser.parse_args()
    sequences = [sequence for where in options.datasets for sequence in open_datasets(where)]
    columns = [_column(sequence) for sequence in sequences]
    titles = list(dict.fromkeys(columns))
    print(f"{'':50}" + "".join(f" {title[:9]:>9}" for title in titles) + "      mean  of MOG2", flush=True)
    for name, constants, parameters, kind in VARIANTS:
        if name not in options.only:
            continue
        with changed(constants):
            report = evaluate(sequences, lambda _, k=kind, p=parameters: k(**p))  # type: ignore[misc]
            cost = share_of_mog2(lambda k=kind, p=parameters: k(**p, threads=1))  # type: ignore[misc]
        scores = [row.counts.f_measure for row in report.rows]
        means = [statistics.fmean(itertools.compress(scores, [each == title for each in columns])) for title in titles]
        cells = "".join(f" {mean:9.3f}" for mean in means)
        print(f"{name:50}{cells} {statistics.fmean(scores):9.3f} {cost:8.2f}", flush=True)


def _column(sequence: Sequence) -> str:
    """Return the name of a sequence, or the family of a generated one."""
    return sequence.family.partition(":")[2] if isinstance(sequence, GeneratedSequence) else sequence.name


if __name__ == "__main__":
    main()
